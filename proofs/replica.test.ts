import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '#server/database/schema/index.ts'
import {
  type Database,
  openDatabase,
  openReplica,
  type Replica,
  replicaBehindMaxMs,
  replicaFaults,
  replicaReads,
  tenantId,
} from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, makeLane } from '#testing/make.ts'
import { testDatabase } from '#testing/test-database.ts'
import { type WithReplica, withReplica } from './own-replica.ts'

let servers: WithReplica
let app: TestApp
let acme: Integration
let replica: Replica
/** Added to the replica's clock, in milliseconds. */
let clockOffset = 0
const warnings: string[] = []
const monotonic = () => performance.now() + clockOffset

beforeAll(async () => {
  servers = await withReplica((primary) => migrate({ connectionString: primary.url('owner') }))
  await servers.start()
  const service = servers.primary.url('service')
  app = await appOn(
    {
      name: 'lanewise',
      ownerUrl: servers.primary.url('owner'),
      owner: { connectionString: servers.primary.url('owner') },
      serviceUrl: service,
      service: { connectionString: service },
      drop: async () => {},
    },
    {
      replica: (primary) => {
        replica = replicaReads({
          connection: { connectionString: servers.url('service') },
          primary,
          monotonic,
          warn: (_fields, message) => warnings.push(message),
        })
        return replica
      },
    },
  )
  acme = await makeIntegration(app)
}, 120_000)
afterAll(async () => {
  await app?.close()
  await servers?.remove()
}, 60_000)

const quotesShown = async () => {
  const { status, body } = await call(app, 'GET', '/api/performance?by=customer', {
    token: acme.tenant.owner,
  })
  expect(status).toBe(200)
  return body.totals.quotes as number
}
const readiness = async () => {
  app.now = Date.now()
  const answer = await call(app, 'GET', '/readyz')
  const checks: { name: string; status: string; detail?: string }[] = answer.body.checks
  return { status: answer.status, replica: checks.find(({ name }) => name === 'replica') }
}
/** Advances the clock past the interval between two checks of the replica, and checks it. */
async function checkReplica(byMs = 1_001): Promise<void> {
  clockOffset += byMs
  await replica.look()
}
async function until(what: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await what()); tries++) {
    if (tries === 800) throw new Error('The condition was not met within 20 s.')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Waits until the replica itself returns this number of quotes. While it lags, the primary serves the read. */
const replicaShows = (quotes: number) =>
  until(async () => {
    await checkReplica()
    const before = replica.counts().replica
    return (await quotesShown()) === quotes && replica.counts().replica > before
  })

test('long reads go to the replica, which refuses writes', async () => {
  await makeLane(app, acme.tenant)
  await replicaShows(1)
  const before = replica.counts().replica
  expect(await quotesShown()).toBe(1)
  expect(replica.counts().replica).toBe(before + 1)
  expect(await readiness()).toEqual({ status: 200, replica: { name: 'replica', status: 'ok' } })
  const write = replica.inTenant(tenantId(acme.tenant.id), (transaction) =>
    sql`update tenants set name = 'other' where tenant_id = ${acme.tenant.id}`.execute(transaction),
  )
  await expect(write).rejects.toThrow()
  const exported = replica.counts().replica
  expect((await call(app, 'GET', '/api/lanes/export', { token: acme.tenant.owner })).status).toBe(200)
  expect(replica.counts().replica).toBe(exported + 1)
})

test('a list that promises read-your-writes shows the caller’s own change while the replica lags', async () => {
  await replicaShows(1)
  await servers.ask('select pg_wal_replay_pause()')
  const { lane_ref: ref } = await makeLane(app, acme.tenant)
  const list = await call(app, 'GET', '/api/lanes', { token: acme.tenant.owner })
  expect(list.body.lanes.map((lane: { lane_ref: string }) => lane.lane_ref)).toContain(ref)
})

test('a replica that lags too far is not used, even if it reports itself as current; it is used again once it has caught up', async () => {
  // Within the allowed lag the replica is used, and it does not have the last quote yet.
  await checkReplica()
  expect(await quotesShown()).toBe(1)
  await checkReplica(replicaBehindMaxMs)
  expect(await quotesShown()).toBe(2)
  const { status, replica: check } = await readiness()
  expect([status, check?.status]).toEqual([200, 'failed'])
  expect(check?.detail).toContain('more than 5 seconds behind')
  await servers.ask('select pg_wal_replay_resume()')
  await replicaShows(2)
})

test('while the replica is down reads succeed, and it is used again once it is back', async () => {
  await servers.kill()
  expect(await quotesShown()).toBe(2)
  await checkReplica()
  const { status, replica: check } = await readiness()
  expect([status, check?.status]).toEqual([200, 'failed'])
  await servers.start()
  await until(async () => {
    await checkReplica(5_001)
    return replica.state().up
  })
  expect(await quotesShown()).toBe(2)
  expect(warnings).toContain('the replica answers stale reads')
}, 60_000)

test('a database that is not a replica of this one, or a role that bypasses row-level security, is refused', async () => {
  const opened: Database[] = []
  const faultsOf = async (connectionString: string) => {
    const database = await openReplica({ connectionString })
    opened.push(database)
    return (await replicaFaults(app.database, database)).join(' ')
  }
  const elsewhere = await testDatabase()
  try {
    await (await openDatabase({ connection: elsewhere.service })).close()
    expect(await faultsOf(servers.url('service'))).toBe('')
    expect(await faultsOf(servers.url('superuser'))).toContain(
      'is a superuser, which row-level security does not restrict',
    )
    expect(await faultsOf(elsewhere.serviceUrl)).toContain('of another installation')
  } finally {
    await Promise.all(opened.map((database) => database.close()))
    await elsewhere.drop()
  }
  const itself = replicaReads({
    connection: { connectionString: servers.primary.url('service') },
    primary: app.database,
    monotonic,
    warn: () => {},
  })
  expect((await itself.look()).detail).toContain('is not a replica')
  await itself.close()
})
