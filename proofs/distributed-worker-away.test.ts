import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TenantId } from '#server/database/session/index.ts'
import { readiness } from '#server/watching/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { citusUrl, distributedDatabase } from '#testing/citus-database.ts'
import { call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import type { TestDatabase } from '#testing/test-database.ts'
import { type CitusCluster, startCitusCluster } from './citus-cluster.ts'

// It stops a worker, so it has a cluster of its own.
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
  }, 200_000)
  afterAll(async () => {
    await app?.close()
    await other?.close()
    cluster?.remove()
  }, 60_000)

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
    // The first brokerages of a new database are on both workers sooner or later: a hash decides.
    const made: { brokerage: Integration; ref: string; port: number | undefined }[] = []
    while (new Set(made.map(({ port }) => port)).size < 2) {
      const brokerage = await makeIntegration(app)
      const { lane_ref: ref } = await makeLane(app, brokerage.tenant)
      made.push({ brokerage, ref, port: await portOf(brokerage) })
    }
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
    // What is in memory is valid for at most a second more.
    for (const at of [app, other])
      await expect.poll(() => markupOf(at, away.brokerage), { timeout: 3_000 }).toBe(503)
    expect((await update(app, away, 3000)).status).toBe(503)
    // What the one instance commits is in the memory of the other, although a worker is away.
    const { next } = await other.database.changedTenants(null)
    expect((await update(app, there, 2500)).status).toBe(200)
    const ids = [away, there].map(({ brokerage }) => brokerage.tenant.id as TenantId)
    const changed = await other.database.changedTenants(next, () => ids)
    expect(changed.tenants.map(([tenant]) => tenant)).toEqual([there.brokerage.tenant.id])
    expect([...(changed.covered ?? [])]).toEqual([there.brokerage.tenant.id])

    await expect.poll(workersCheck, { timeout: 5_000 }).toEqual({
      name: 'workers',
      holds: false,
      optional: true,
      detail: `The worker ${first.host}:${first.port} does not answer: ${onFirst} of ${made.length} brokerages get 503.`,
    })

    first.start()
    await expect.poll(() => markupOf(other, away.brokerage), { timeout: 30_000 }).toBe(200)
    expect((await update(app, away, 3000)).status).toBe(200)
    await expect.poll(workersCheck, { timeout: 5_000 }).toMatchObject({ holds: true, detail: null })
    expect((await other.database.changedTenants(next)).covered).toBeUndefined()
  }, 120_000)
})
