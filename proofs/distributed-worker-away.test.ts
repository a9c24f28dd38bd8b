import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { distribute, migrate, notSpread, readMigrations } from '#server/database/schema/index.ts'
import { openDatabase, type TenantId } from '#server/database/session/index.ts'
import { readiness } from '#server/watching/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { citusDatabase, citusUrl, distributedDatabase } from '#testing/citus-database.ts'
import { eventReceiver, sendEventsTo } from '#testing/event-receiver.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import type { TestDatabase } from '#testing/test-database.ts'
import { type CitusCluster, type CitusNode, startCitusCluster } from './citus-cluster.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

// This file stops a worker, so it has a cluster of its own.
describe.skipIf(citusUrl === undefined)('a worker of a Citus cluster goes away and comes back', () => {
  let cluster: CitusCluster
  let database: TestDatabase
  let app: TestApp
  let other: TestApp

  beforeAll(async () => {
    cluster = await startCitusCluster(2)
    database = await distributedDatabase(cluster.url)
    app = await appOn(database)
    other = await appOn(database, { secretKeys: [app.secretKey] })
  })
  afterAll(async () => {
    await app?.close()
    await other?.close()
    cluster?.remove()
  })

  const portOf = ({ tenant }: Integration) =>
    app.database.outsideTenants(async (transaction) => {
      const { rows } = await sql<{ port: number }>`
        select nodeport as port from pg_dist_placement join pg_dist_node using (groupid)
        where shardid = get_shard_id_for_distribution_column('tenants'::regclass, ${tenant.id}::integer)
      `.execute(transaction)
      return rows[0]?.port
    })

  const workersCheck = async () =>
    (await readiness({ database: app.database, clock: Date.now, migrations: [] })).find(
      ({ name }) => name === 'workers',
    )

  const markupOf = async (at: TestApp, { token }: Integration) => {
    const path =
      '/api/integrations/insights/markup?origin=Dallas,%20TX&destination=Atlanta,%20GA&proposed_rate=1900'
    return (await call(at, 'GET', path, { token })).status
  }

  test('its brokerages get 503, the others are answered as usual, and readiness names the worker', async () => {
    const [first, second] = cluster.workers
    // A hash decides the worker of each brokerage. So the test makes brokerages until both workers have one.
    const made: { brokerage: Integration; ref: string; port: number | undefined }[] = []
    while (new Set(made.map(({ port }) => port)).size < 2) {
      const brokerage = await makeIntegration(app, 'integrations:write quotes:write')
      const { lane_ref: ref } = await makeQuote(app, brokerage.tenant)
      made.push({ brokerage, ref, port: await portOf(brokerage) })
    }
    const quote = quoteToPush('ended', { valid_until: new Date(app.now - 86_400_000).toISOString() })
    for (const { brokerage } of made)
      await pushSigned(app, brokerage, pushQuotes, { quotes: [quote] }, Math.floor(app.now / 1000))
    const away = made.find(({ port }) => port === first?.port)
    const there = made.find(({ port }) => port === second?.port)
    if (first === undefined || away === undefined || there === undefined) throw new Error('no such brokerage')
    const onFirst = made.filter(({ port }) => port === first.port).length
    for (const at of [app, other]) {
      for (const { brokerage } of [away, there]) expect(await markupOf(at, brokerage)).toBe(200)
    }
    expect(await workersCheck()).toMatchObject({ holds: true })
    let seconds = Math.floor(app.now / 1000)
    const update = (at: TestApp, { brokerage, ref }: typeof away, rate: number) =>
      pushUpdate(at, brokerage, { lane_ref: ref, customer_rate: rate, truck_cost: 1000 }, ++seconds)

    first.stop('kill')
    const statuses: number[] = []
    for (let nth = 0; nth < 10; nth++) {
      statuses.push((await update(app, there, 2000 + nth)).status)
      statuses.push(await markupOf(other, there.brokerage))
    }
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
    // Tasks for all brokerages continue for the brokerages of the other worker.
    expect(await app.expireQuotes()).toBe(made.length - onFirst)
    // Answers that an instance remembers are valid for one second at most.
    for (const at of [app, other]) await expect.poll(() => markupOf(at, away.brokerage)).toBe(503)
    expect((await update(app, away, 3000)).status).toBe(503)
    // One instance learns what the other commits, although a worker is away.
    const { next } = await other.database.changedTenants(null)
    expect((await update(app, there, 2500)).status).toBe(200)
    const ids = [away, there].map(({ brokerage }) => brokerage.tenant.id as TenantId)
    const changed = await other.database.changedTenants(next, () => ids)
    expect(changed.tenants.map(([tenant]) => tenant)).toEqual([there.brokerage.tenant.id])
    expect([...(changed.covered ?? [])]).toEqual([there.brokerage.tenant.id])

    await expect.poll(workersCheck).toEqual({
      name: 'workers',
      holds: false,
      optional: true,
      detail: `The worker ${first.host}:${first.port} does not answer: ${onFirst} of ${made.length} brokerages get 503.`,
    })

    first.start()
    await expect.poll(() => markupOf(other, away.brokerage)).toBe(200)
    expect((await update(app, away, 3000)).status).toBe(200)
    await expect.poll(workersCheck).toMatchObject({ holds: true, detail: null })
    expect((await other.database.changedTenants(next)).covered).toBeUndefined()
  })

  test('an instance starts with a warning while a worker is away, sends events of the others, and stops if the worker comes back unsafe', async () => {
    const [first, second] = cluster.workers
    if (first === undefined || second === undefined) throw new Error('no worker')
    const receiver = await eventReceiver()
    const services = serviceProcesses({
      url: (role) => (role === 'owner' ? database.ownerUrl : database.serviceUrl),
    })
    const env = { EVENTS: 'on', EVENTS_ALLOW_PRIVATE: '127.0.0.1', LOG_LEVEL: 'warn' }
    const coordinatorUrl = new URL(cluster.url)
    coordinatorUrl.pathname = `/${database.name}`
    const onShard = (change: string) => changeOnShard(coordinatorUrl.href, first, 'audit_log', change)
    try {
      const before = await services.start({ env })
      const made = new Map<number | undefined, { brokerage: Integration; ref: string }>()
      while (made.size < 2) {
        const brokerage = await makeIntegration(asApp(before.url))
        const { lane_ref: ref } = await makeQuote(asApp(before.url), brokerage.tenant)
        await sendEventsTo(asApp(before.url), brokerage.tenant, receiver.url, { types: ['lane.booked'] })
        made.set(await portOf(brokerage), { brokerage, ref })
      }
      await before.end('SIGTERM')
      await onShard('disable row level security')
      first.stop('kill')

      const service = await services.start({ env })
      expect(service.printed()).toContain(`The worker ${first.host}:${first.port} cannot be checked`)
      const update = ({ brokerage, ref }: { brokerage: Integration; ref: string }) =>
        pushUpdate(
          asApp(service.url),
          brokerage,
          { lane_ref: ref, customer_rate: 2000, truck_cost: 1500 },
          Math.floor(Date.now() / 1000),
        )
      const [there, away] = [made.get(second.port), made.get(first.port)]
      if (there === undefined || away === undefined) throw new Error('no such brokerage')
      expect((await update(there)).status).toBe(200)
      expect((await update(away)).status).toBe(503)
      await receiver.until((all) => all.length === 1)
      expect(receiver.received[0]?.event).toMatchObject({
        type: 'lane.booked',
        data: { lane: { lane_ref: there.ref } },
      })

      first.start()
      const { code } = await new Promise<{ code: number | null }>((resolve) => {
        if (service.child.exitCode !== null) resolve({ code: service.child.exitCode })
        service.child.once('exit', (exitCode) => resolve({ code: exitCode }))
      })
      expect(code).toBe(1)
      expect(service.printed()).toMatch(
        new RegExp(`The worker ${first.host}:${first.port}: Row-level security is not .* audit_log_`),
      )
      await onShard('enable row level security')
    } finally {
      first.stop('kill')
      first.start()
      await services.remove()
      await receiver.close()
    }
  })

  test('a coordinator that is killed and started again loses nothing acknowledged, and no instance needs a restart', async () => {
    const brokerage = await makeIntegration(app)
    const { lane_ref: ref } = await makeQuote(app, brokerage.tenant)
    const rateAt = async (at: TestApp) =>
      (await call(at, 'GET', `/api/lanes/${ref}`, { token: brokerage.tenant.owner })).body.customer_rate
    let seconds = Math.floor(app.now / 1000)
    const update = (rate: number) =>
      pushUpdate(app, brokerage, { lane_ref: ref, customer_rate: rate, truck_cost: 1000 }, ++seconds)
    for (let rate = 2001; rate <= 2010; rate++) expect((await update(rate)).status).toBe(200)
    cluster.coordinator.stop('kill')
    expect((await update(3000)).status).toBe(503)
    cluster.coordinator.start()
    for (const at of [app, other]) {
      await expect.poll(() => markupOf(at, brokerage), { message: 'the instance answers again' }).toBe(200)
      expect(await rateAt(at)).toBe(2010)
    }
    expect((await update(2500)).status).toBe(200)
    await expect.poll(() => rateAt(other)).toBe(2500)
  })

  test('a worker that is lost in the middle of npm run distribute or of a migration leaves a database with which both go on', async () => {
    const [, second] = cluster.workers
    if (second === undefined) throw new Error('no worker')
    const undistributed = await citusDatabase(cluster.url)
    const options = { shards: 4, stopped: () => false }
    let tables = 0
    const broken = distribute(undistributed.owner, {
      ...options,
      onTable: () => {
        if (++tables === 3) second.stop('kill')
      },
    })
    await expect(broken).rejects.toThrow()
    second.start()
    const moved: unknown[] = []
    await distribute(undistributed.owner, { ...options, onTable: (table) => moved.push(table.moved) })
    expect(moved.filter((rows) => rows === 'before')).toHaveLength(3)

    const planted = {
      name: '9999-planted.sql',
      sql: 'create table planted (tenant_id integer not null references tenants, note text, primary key (tenant_id))',
    }
    const migrations = [...(await readMigrations()), planted]
    second.stop('kill')
    await expect(migrate(undistributed.owner, () => {}, migrations)).rejects.toThrow(
      '9999-planted.sql failed',
    )
    second.start()
    await migrate(undistributed.owner, () => {}, migrations)
    const service = await openDatabase({ connection: undistributed.service })
    expect(await service.outsideTenants(notSpread)).toEqual([])
    await service.close()
  })
})

/** Changes a shard of a table on one worker, behind the back of Citus. */
async function changeOnShard(
  coordinatorUrl: string,
  { host, port }: Pick<CitusNode, 'host' | 'port'>,
  table: string,
  change: string,
): Promise<void> {
  const coordinator = new pg.Client({ connectionString: coordinatorUrl })
  await coordinator.connect()
  const { rows } = await coordinator.query<{ shard: string }>(
    'select shard_name as shard from citus_shards where table_name::text = $1 and nodeport = $2 order by 1 limit 1',
    [table, port],
  )
  const { database, user } = coordinator
  await coordinator.end()
  const worker = new pg.Client({ host, port, database: database ?? '', user: user ?? '' })
  await worker.connect()
  try {
    await worker.query(
      'set citus.enable_ddl_propagation = off; set citus.enable_manual_changes_to_shards = on',
    )
    await worker.query(`alter table ${rows[0]?.shard} ${change}`)
  } finally {
    await worker.end()
  }
}
