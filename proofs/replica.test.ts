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
/** A clock that the test moves on. */
let ahead = 0
const told: string[] = []
const monotonic = () => performance.now() + ahead

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
          warn: (_fields, message) => told.push(message),
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
/** Lets the time pass in which nobody looks again. */
async function lookAgain(byMs = 1_001): Promise<void> {
  ahead += byMs
  await replica.look()
}
async function until(what: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await what()); tries++) {
    if (tries === 200) throw new Error('It did not come to pass.')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Waits until the replica itself shows so many quotes: as long as it lags, the primary does. */
const replicaShows = (quotes: number) =>
  until(async () => {
    await lookAgain()
    const before = replica.counts().replica
    return (await quotesShown()) === quotes && replica.counts().replica > before
  })

test('long reads are asked of the replica, which does not write', async () => {
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

test('what a person has just done is in what is shown next, where that is promised', async () => {
  await replicaShows(1)
  await servers.ask('select pg_wal_replay_pause()')
  const { lane_ref: ref } = await makeLane(app, acme.tenant)
  const list = await call(app, 'GET', '/api/lanes', { token: acme.tenant.owner })
  expect(list.body.lanes.map((lane: { lane_ref: string }) => lane.lane_ref)).toContain(ref)
})

test('one that is too far behind is not asked, though it takes itself for current; it is again when it has caught up', async () => {
  // Within the bound it is asked, and does not know of the last quote yet.
  await lookAgain()
  expect(await quotesShown()).toBe(1)
  await lookAgain(replicaBehindMaxMs)
  expect(await quotesShown()).toBe(2)
  const { status, replica: check } = await readiness()
  expect([status, check?.status]).toEqual([200, 'failed'])
  expect(check?.detail).toContain('more than 5 seconds behind')
  await servers.ask('select pg_wal_replay_resume()')
  await replicaShows(2)
})

test('one that is gone costs no answer, and is asked again when it is back', async () => {
  await servers.kill()
  expect(await quotesShown()).toBe(2)
  await lookAgain()
  const { status, replica: check } = await readiness()
  expect([status, check?.status]).toEqual([200, 'failed'])
  await servers.start()
  await until(async () => {
    await lookAgain(5_001)
    return replica.state().up
  })
  expect(await quotesShown()).toBe(2)
  expect(told).toContain('the replica answers stale reads')
}, 60_000)

test('what is no replica of this database, or is no wall, is not read from', async () => {
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
