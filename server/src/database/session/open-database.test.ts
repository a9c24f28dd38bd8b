import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { DatabaseUnavailable } from './database-failures.ts'
import { type Database, openDatabase } from './open-database.ts'
import { tenantId } from './tenant.ts'

let ownDatabase: TestDatabase
let database: Database
const tenant = tenantId(7)

beforeAll(async () => {
  ownDatabase = await testDatabase()
  // One connection: whatever a transaction leaves behind, the next one meets.
  database = await openDatabase({ connection: ownDatabase.service, connectionsMax: 1 })
})

afterAll(async () => {
  await database.close()
  await ownDatabase.drop()
})

const settingNow = () =>
  database.outsideTenants(async (transaction) => {
    const { rows } = await sql<{ tenant: string | null }>`
      select nullif(current_setting('app.tenant_id', true), '') as tenant
    `.execute(transaction)
    return rows[0]?.tenant ?? null
  })

/** Ends the connection under a transaction, as an operator or a failover does. */
async function terminate(pid: number): Promise<void> {
  const other = new pg.Client(ownDatabase.service)
  await other.connect()
  await other.query('select pg_terminate_backend($1)', [pid])
  await other.end()
  await delay(50)
}

test('a connection that dies between two statements fails its own request, not the process', async () => {
  const work = database.inTenant(tenant, async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    await terminate(rows[0]?.pid ?? 0)
    await sql`select 1`.execute(transaction)
  })
  await expect(work).rejects.toThrow(DatabaseUnavailable)
  expect(await settingNow()).toBeNull()
})

test('a transaction that the database rolled back is never reported as committed', async () => {
  const work = database.inTenant(tenant, async (transaction) => {
    await sql`select 1 / 0`.execute(transaction).catch(() => {})
    return 'kept'
  })
  await expect(work).rejects.toThrow(/rolled back/)
})

test('nothing of a tenant is left on its connection, whichever way the transaction ended', async () => {
  await database.inTenant(tenant, async () => {})
  expect(await settingNow()).toBeNull()
  await expect(
    database.inTenant(tenant, async () => {
      throw new Error('a mistake of ours')
    }),
  ).rejects.toThrow('a mistake of ours')
  expect(await settingNow()).toBeNull()
  await expect(
    database.inTenant(tenant, (transaction) => sql`select 1 / 0`.execute(transaction)),
  ).rejects.toThrow('division by zero')
  expect(await settingNow()).toBeNull()
})

const digest = Buffer.alloc(32, 7)

test('nothing of a tenant is left on a connection by a function that was called on it, nor by one that failed', async () => {
  expect(await database.callInTenant(tenant, 'find_booking', [digest, '1-1-1'])).toBeNull()
  expect(await settingNow()).toBeNull()
  await expect(database.callInTenant(tenant, 'book_shipment', [digest, '1-1-1', 'no json'])).rejects.toThrow(
    'json',
  )
  expect(await settingNow()).toBeNull()
})

test.each([
  ['book_shipment', [digest, '1-1-1', '{"lane_id": 1, "seen": "1"}'], true],
  ['find_booking', [digest, '1-1-1'], false],
] as const)(
  'when the answer of %s is lost, that it may have been done is said as it is',
  async (name, values, writes) => {
    const told: unknown[] = []
    const own = await openDatabase({ connection: ownDatabase.service, connectionsMax: 1 })
    own.onVersionsMoved((of, versions) => told.push([of, versions]))
    const holder = new pg.Client(ownDatabase.owner)
    const watcher = new pg.Client(ownDatabase.service)
    await Promise.all([holder.connect(), watcher.connect()])
    try {
      await holder.query('begin; lock table lanes, shipment_updates in access exclusive mode')
      const lost = own.callInTenant(tenant, name, values).catch((error: unknown) => error)
      // By itself: together with others it does not wait for a lock.
      const waiting = `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'select ${name}(%'`
      let pid: number | undefined
      while (pid === undefined) pid = (await watcher.query<{ pid: number }>(waiting)).rows[0]?.pid
      await terminate(pid)
      const error = await lost
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      expect((error as DatabaseUnavailable).outcomeUnknown).toBe(writes)
      expect(told).toEqual(writes ? [[tenant, null]] : [])
    } finally {
      await holder.query('rollback')
      await Promise.all([holder.end(), watcher.end(), own.close()])
    }
  },
)

test('a function that does not end is ended by the database, and not only given up by us', async () => {
  const asOwner = new pg.Client(ownDatabase.owner)
  await asOwner.connect()
  try {
    const { rows } = await asOwner.query<{ text: string }>(
      `select pg_get_functiondef('claim_deliveries(integer, integer, integer, integer)'::regprocedure) as text`,
    )
    const text = rows[0]?.text ?? ''
    await asOwner.query(text.replace(/\bbegin\b/, 'begin perform pg_catalog.pg_sleep(60);'))
    await expect(database.callInTenant(tenant, 'claim_deliveries', [1, 1, 1])).rejects.toThrow(
      DatabaseUnavailable,
    )
    // The connection of one that was only given up is closed, and its backend sleeps on.
    const stillAtWork = async () => {
      const { rowCount } = await asOwner.query(
        `select from pg_stat_activity where datname = current_database()
           and query like 'select claim_deliveries(%' and state = 'active'`,
      )
      return rowCount
    }
    await expect.poll(stillAtWork, { timeout: 5_000 }).toBe(0)
    await asOwner.query(text)
  } finally {
    await asOwner.end()
  }
})
