import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { readConfig } from '#server/configuration/index.ts'
import { prepareWorkers, rebalance, tablesOnCoordinator } from '#server/database/schema/index.ts'
import { databaseSafetyFaults, transferFaults } from '#server/database/session/index.ts'
import { eraseTenant, exportTenant } from '#server/operations/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { citusUrl, distributedDatabase, makeOnNode } from '#testing/citus-database.ts'
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
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

/**
 * Promise: shards move to a worker that is added while the service works. No acknowledged update is lost, no answer is an
 * error except 503 with Retry-After for a write of a brokerage that moves, and brokerages stay isolated.
 *
 * How: a third worker joins a cluster of two workers, while two instances are under load. The tests build on each other. The cluster
 * belongs to this file, because the tests stop workers.
 */
describe.skipIf(citusUrl === undefined)('a Citus cluster that grows', () => {
  let cluster: CitusCluster
  let third: CitusNode
  let database: TestDatabase
  let apps: readonly [TestApp, TestApp]
  let tenants: SeededTenants
  let coordinator: pg.Client
  const brokerages: Brokerage[] = []

  interface Brokerage {
    readonly integration: Integration
    readonly ref: string
    /** The rate of the last update that was acknowledged. */
    acknowledged: number
    sent: number
  }

  const superuser = () => ({
    connectionString: nodeUrl(cluster.coordinator),
    // With this setting, a move waits for the locks of `pausing`.
    options: '-c citus.running_under_citus_test_suite=on',
  })
  function nodeUrl({ host, port }: CitusNode, user = 'postgres') {
    return `postgres://${user}@${host}:${port}/${database.name}`
  }
  async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const quiet = { onMove: () => {}, onMoved: () => {}, stopped: () => false }
  async function shardOf({ integration }: Brokerage) {
    const { rows } = await coordinator.query<{ shard: string }>(
      `select get_shard_id_for_distribution_column('tenants'::regclass, $1::integer) as shard`,
      [integration.tenant.id],
    )
    return Number(rows[0]?.shard)
  }
  async function onAnotherShard(than: Brokerage | undefined) {
    for (const brokerage of brokerages)
      if (than !== undefined && (await shardOf(brokerage)) !== (await shardOf(than))) return brokerage
    return undefined
  }
  const distributedTables = () =>
    tenants.tables.filter((table) => !(tablesOnCoordinator as readonly string[]).includes(table))

  /** Returns the objects that an interrupted transfer left on the workers. */
  async function leftovers() {
    const { rows } = await coordinator.query<{ left: string }>(`
      select result as left from run_command_on_workers($$
        select string_agg(name, ', ') from (
          select rolname from pg_roles where rolname like 'citus\\_shard%'
          union all select slot_name from pg_replication_slots
          union all select subname from pg_subscription
          union all select pubname from pg_publication
        ) as found (name)
      $$) where result <> ''`)
    return rows
  }

  async function makeBrokerage(): Promise<Brokerage> {
    const [app] = apps
    const integration = await makeIntegration(app, 'integrations:write quotes:write')
    const { lane_ref: ref } = await makeQuote(app, integration.tenant)
    await call(app, 'POST', '/api/event-endpoints', {
      token: integration.tenant.owner,
      body: { url: 'https://example.com/hook' },
    })
    return { integration, ref, acknowledged: 0, sent: 1000 }
  }

  let seconds = 0
  /** Sends an update with the next rate, and notes whether it was acknowledged. */
  async function update(brokerage: Brokerage, at: TestApp) {
    const rate = ++brokerage.sent
    const body = { lane_ref: brokerage.ref, customer_rate: rate, truck_cost: 900 }
    const answer = await pushUpdate(
      at,
      brokerage.integration,
      body,
      // All updates take their time from one instance, because each instance has its own clock.
      Math.floor(apps[0].now / 1000) - 250 + Math.floor(++seconds / 20),
    )
    if (answer.status === 200) brokerage.acknowledged = rate
    return answer
  }
  const reads = ({ ref, integration: { token, tenant } }: Brokerage) => [
    { path: '/api/lanes', token: tenant.owner },
    { path: `/api/lanes/${ref}/changes`, token: tenant.owner },
    {
      path: '/api/integrations/insights/markup?origin=Dallas,%20TX&destination=Atlanta,%20GA&proposed_rate=1900',
      token,
    },
  ]

  /** Writes and reads for every brokerage until `over`. Returns each answer that was not 200. */
  async function load(over: AbortSignal) {
    const others: { what: string; id: number; status: number; retryAfter: string | null }[] = []
    let answers = 0
    const keep = (what: string, { integration }: Brokerage, answer: Awaited<ReturnType<typeof call>>) => {
      answers++
      if (answer.status !== 200) {
        const retryAfter = answer.headers.get('retry-after')
        others.push({ what, id: integration.tenant.id, status: answer.status, retryAfter })
      }
    }
    await Promise.all(
      brokerages.flatMap((brokerage, nth) => [
        (async () => {
          for (let turn = nth; !over.aborted; turn++)
            keep('update', brokerage, await update(brokerage, apps[turn % 2 === 0 ? 0 : 1]))
        })(),
        (async () => {
          for (let turn = nth; !over.aborted; turn++) {
            const { path, token } = reads(brokerage)[turn % 3] ?? { path: '', token: '' }
            keep('read', brokerage, await call(apps[turn % 2 === 0 ? 0 : 1], 'GET', path, { token }))
          }
        })(),
      ]),
    )
    return { others, answers }
  }

  async function lostUpdates() {
    const lost: string[] = []
    for (const { integration, ref, acknowledged, sent } of brokerages) {
      const { body } = await call(apps[1], 'GET', `/api/lanes/${ref}`, { token: integration.tenant.owner })
      if (!(body.customer_rate >= acknowledged && body.customer_rate <= sent))
        lost.push(`${integration.tenant.id}: ${body.customer_rate}, acknowledged ${acknowledged}`)
    }
    return lost
  }

  beforeAll(async () => {
    cluster = await startCitusCluster(2)
    database = await distributedDatabase(cluster.url)
    const app = await appOn(database)
    apps = [app, await appOn(database, { secretKeys: [app.secretKey] })]
    tenants = await seededTenants(app)
    await tenants.seed('A')
    await tenants.seed('B')
    for (let nth = 0; nth < 8; nth++) brokerages.push(await makeBrokerage())
    coordinator = new pg.Client(superuser())
    await coordinator.connect()
    third = await cluster.makeWorker()
    await makeOnNode(`postgres://postgres@${third.host}:${third.port}/postgres`, database.name)
  })
  afterAll(async () => {
    await tenants?.close()
    await coordinator?.end()
    for (const app of apps ?? []) await app.close()
    cluster?.remove()
  })

  /** Stops every move before it copies (`copying`) or before it makes the copy valid, until `work` is done. */
  async function pausing<T>(at: 'copying' | 'ending', work: () => Promise<T>): Promise<T> {
    const keys = at === 'copying' ? [55_152, 44_000] : [44_000, 55_152]
    return on(superuser().connectionString, async (client) => {
      // The tests of Citus stop a move with the same locks.
      await client.query('select pg_advisory_lock($1, $2)', keys)
      return await work()
    })
  }
  const untilPaused = () =>
    expect
      .poll(async () => {
        const { rows } = await coordinator.query<{ waits: number }>(
          `select count(*)::int as waits from pg_locks where locktype = 'advisory' and not granted and mode = 'ShareLock'`,
        )
        return rows[0]?.waits
      })
      .toBe(1)

  test('a role that is no superuser is refused, and so is a cluster whose disks a transfer could fill', async () => {
    await expect(rebalance(database.owner, quiet)).rejects.toThrow('lanewise_owner is not a superuser')
    const [worker] = cluster.workers
    if (worker === undefined) throw new Error('no worker')
    const limit = (size: string) =>
      on(nodeUrl(worker), async (client) => {
        await client.query(`alter system set max_slot_wal_keep_size = '${size}'`)
        await client.query('select pg_reload_conf()')
      })
    await limit('-1')
    try {
      await expect
        .poll(async () => transferFaults(await apps[0].database.workers()), { timeout: 60_000 })
        .toEqual([expect.stringContaining(`${worker.port} has no max_slot_wal_keep_size`)])
      await expect(rebalance(superuser(), quiet)).rejects.toThrow('has no max_slot_wal_keep_size')
    } finally {
      await limit('1GB')
    }
    await expect
      .poll(async () => transferFaults(await apps[0].database.workers()), { timeout: 60_000 })
      .toEqual([])
  })

  test('a role that an interrupted transfer left with BYPASSRLS is reported, and the next run takes it away', async () => {
    const [worker] = cluster.workers
    if (worker === undefined) throw new Error('no worker')
    const role = 'citus_shard_move_subscription_role_99'
    const onWorker = (statement: string) =>
      on(nodeUrl(worker), (client) => client.query(`set citus.enable_ddl_propagation = off; ${statement}`))
    const found = async () => transferFaults(await apps[0].database.workers())
    await onWorker(`create role ${role} bypassrls`)
    try {
      await expect
        .poll(found, { timeout: 60_000 })
        .toEqual([
          `The worker ${worker.host}:${worker.port} has the role ${role} with BYPASSRLS, for a transfer of shards.`,
        ])
      expect(await rebalance(superuser(), quiet)).toBe(0)
      await expect.poll(found, { timeout: 60_000 }).toEqual([])
    } finally {
      await onWorker(`drop role ${role}`)
    }
  })

  test('two workers with the same number of shards are balanced: nothing moves', async () => {
    expect(await rebalance(superuser(), quiet)).toBe(0)
  })

  test('a canceled move is undone, and a second operator is refused', async () => {
    await coordinator.query('select citus_add_node($1, $2)', [third.host, third.port])
    // Citus lets everybody call the functions that it creates on a new worker.
    expect((await databaseSafetyFaults(apps[0].database)).join('\n')).toContain('for everybody')
    await prepareWorkers(superuser())
    expect(await databaseSafetyFaults(apps[0].database)).toEqual([])
    const canceling = new AbortController()
    await pausing('ending', async () => {
      const canceled = expect(rebalance(superuser(), { ...quiet, cancel: canceling.signal })).rejects.toThrow(
        'canceled and undone',
      )
      await untilPaused()
      await expect(rebalance(superuser(), quiet)).rejects.toThrow('Another npm run rebalance')
      canceling.abort()
      await canceled
    })
    expect(await leftovers()).toEqual([])
  })

  test('a worker that is lost in the middle of a move stops the move and nothing else', async () => {
    const left: string[] = []
    const paused = await pausing('copying', async () => {
      const failed = expect(
        rebalance(superuser(), { ...quiet, onLeftover: (fault) => left.push(fault) }),
      ).rejects.toThrow()
      await untilPaused()
      third.stop('kill')
      await expect(rebalance(superuser(), quiet)).rejects.toThrow(`${third.port} does not answer`)
      for (const brokerage of brokerages) expect((await update(brokerage, apps[0])).status).toBe(200)
      return { failed }
    })
    await paused.failed
    expect(left).toEqual([expect.stringContaining(`BYPASSRLS on ${third.host}:${third.port}: `)])
    third.start()
    expect(await lostUpdates()).toEqual([])
  })

  test('under load, shards move, and a brokerage is exported and erased meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lanewise-rebalance-'))
    // The brokerages, one on each shard, exist before the load: a sign-up hashes a password.
    const spare: Brokerage[] = []
    for (
      const shards = new Set<number>();
      shards.size < 4;
      shards.add(await shardOf(spare.at(-1) as Brokerage))
    )
      spare.push(await makeBrokerage())
    const over = new AbortController()
    const loading = load(over.signal)
    let erased: Brokerage | undefined
    const moved: number[] = []
    try {
      const moving = await pausing('copying', async () => {
        const rebalancing = rebalance(superuser(), { ...quiet, onMove: ({ shard }) => moved.push(shard) })
        await untilPaused()
        for (const brokerage of spare) if ((await shardOf(brokerage)) === moved[0]) erased = brokerage
        if (erased === undefined) throw new Error('no brokerage on the shard')
        const around = {
          config: {
            ...readConfig({}),
            databaseUrl: database.serviceUrl,
            migrationDatabaseUrl: database.ownerUrl,
          },
          remark: () => {},
        }
        const id = String(erased.integration.tenant.id)
        const now = Date.now()
        const keys = [apps[0].secretKey] as const
        await exportTenant(around, id, {
          folder: join(folder, id),
          keys,
          moveKey: null,
          passwords: false,
          now,
        })
        const { name } = await eraseTenant(around, id, { now })
        await eraseTenant(around, id, { now, confirmed: name })
        // Not awaited, because the move cannot end before the pause does.
        return { rebalancing }
      })
      expect(await moving.rebalancing).toBe(1)
    } finally {
      over.abort()
      await rm(folder, { recursive: true, force: true })
    }
    const { others, answers } = await loading
    const movedIds: number[] = []
    for (const brokerage of brokerages)
      if ((await shardOf(brokerage)) === moved[0]) movedIds.push(brokerage.integration.tenant.id)
    expect(
      others.filter(
        ({ what, id, status, retryAfter }) =>
          !(what === 'update' && status === 503 && retryAfter !== null && movedIds.includes(id)),
      ),
    ).toEqual([])
    expect(answers).toBeGreaterThan(100)
    expect(await lostUpdates()).toEqual([])
    expect(await leftovers()).toEqual([])
    // A superuser sees the rows of all brokerages, on every worker.
    for (const table of distributedTables()) {
      const { rows } = await coordinator.query<{ count: number }>(
        `select count(*)::int as count from ${table} where tenant_id = $1`,
        [erased?.integration.tenant.id],
      )
      expect(rows, table).toEqual([{ count: 0 }])
    }
    expect(await rebalance(superuser(), quiet)).toBe(0)
  })

  test('while the last changes of a shard are copied, only writes of its brokerages get 503, with Retry-After', async () => {
    const [moving, other] = [brokerages[0], await onAnotherShard(brokerages[0])]
    if (moving === undefined || other === undefined) throw new Error('no such brokerage')
    const push = ({ integration }: Brokerage) =>
      pushSigned(
        apps[0],
        integration,
        pushQuotes,
        { quotes: [quoteToPush('one'), quoteToPush('two')] },
        Math.floor(apps[0].now / 1000),
      )
    await on(superuser().connectionString, async (client) => {
      await client.query('begin')
      // At its end, a move takes this exclusive lock on all shards of the group.
      await client.query(
        `select lock_shard_metadata(7, array_agg(other.shardid)) from pg_dist_shard as own
         join pg_dist_shard as other on other.shardminvalue = own.shardminvalue
         where own.shardid = get_shard_id_for_distribution_column('tenants'::regclass, $1::integer)`,
        [moving.integration.tenant.id],
      )
      const answer = await update(moving, apps[0])
      expect([answer.status, answer.headers.get('retry-after'), answer.body.code]).toEqual([
        503,
        '2',
        'unavailable',
      ])
      expect(answer.body.detail).toContain('being moved')
      for (const { path, token } of reads(moving))
        expect((await call(apps[1], 'GET', path, { token })).status, path).toBe(200)
      expect(await update(other, apps[1])).toMatchObject({ status: 200 })
      // A push inserts several rows.
      const pushed = await push(other)
      expect(pushed).toMatchObject({ status: 200, body: { failed: 0 } })
      await client.query('rollback')
    })
    expect((await update(moving, apps[1])).status).toBe(200)
  })

  test('brokerages are isolated on every worker, through the coordinator and on each shard', async () => {
    expect(await databaseSafetyFaults(apps[0].database)).toEqual([])
    const [a, b] = [idsOf('A').tenant, idsOf('B').tenant]
    const seen = async (client: pg.Client, table: string, tenant: number | null) => {
      await client.query('begin')
      try {
        if (tenant !== null) await client.query(`select enter_tenant('${tenant}', 0, 0, 0)`)
        const { rows } = await client.query<{ own: number; others: number }>(
          `select count(*) filter (where tenant_id = $1)::int as own,
             count(*) filter (where tenant_id <> $1)::int as others from ${table}`,
          [a],
        )
        return rows[0]
      } finally {
        await client.query('rollback')
      }
    }
    await on(database.serviceUrl, async (client) => {
      for (const table of distributedTables()) {
        const own = await seen(client, table, a)
        expect(own?.own, table).toBeGreaterThan(0)
        expect(own?.others, table).toBe(0)
        expect(await seen(client, table, null), table).toEqual({ own: 0, others: 0 })
        for (const change of [`update ${table} set tenant_id = ${b}`, `delete from ${table}`]) {
          await client.query(`begin; select enter_tenant('${a}', 0, 0, 0)`)
          const done = await client.query(`${change} where tenant_id = ${b}`).then(
            ({ rowCount }) => rowCount,
            ({ message }: Error) => message,
          )
          await client.query('rollback')
          expect([
            0,
            `permission denied for table ${table}`,
            'modifying the partition value of rows is not allowed',
          ]).toContain(done)
        }
      }
    })
    for (const worker of [...cluster.workers, third]) {
      const { rows: shards } = await coordinator.query<{ shard: string }>(
        'select shard_name as shard from citus_shards where nodeport = $1',
        [worker.port],
      )
      expect(shards.length).toBeGreaterThan(0)
      await on(nodeUrl(worker, 'lanewise_service'), async (client) => {
        for (const { shard } of shards) {
          expect(await seen(client, shard, null), shard).toEqual({ own: 0, others: 0 })
          expect((await seen(client, shard, a))?.others, shard).toBe(0)
        }
        // The service is no member of a role with BYPASSRLS, such as those that transfers use.
        const { rows } = await client.query(
          `select rolname from pg_roles where rolbypassrls and pg_has_role(current_user, oid, 'member')`,
        )
        expect(rows).toEqual([])
      })
    }
  })
})
