import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { messageTimeouts } from './connection.ts'
import { DatabaseUnavailable } from './database-failures.ts'
import { usualDeadlines } from './deadlines.ts'
import { type Database, openDatabase } from './open-database.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import { tenantId } from './tenant.ts'
import { WriteCheck } from './write-check.ts'

let ownDatabase: TestDatabase
let database: Database
const tenant = tenantId(7)

beforeAll(async () => {
  ownDatabase = await testDatabase()
  // With one connection, anything that a transaction leaves behind is visible to the next one.
  database = await openDatabase({
    connection: ownDatabase.service,
    deadlines: testDeadlines,
    connectionsMax: 1,
  })
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

/** Closes the connection of a running transaction, as an operator or a failover does. */
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

test('a transaction waits 1.5 seconds for a lock', async () => {
  const usual = await openDatabase({ connection: ownDatabase.service })
  const [row] = await usual.inTenant(tenant, async (transaction) => {
    const { rows } = await sql<{ lock: string }>`select current_setting('lock_timeout') as lock`.execute(
      transaction,
    )
    return rows
  })
  await usual.close()
  expect(row?.lock).toBe('1500ms')
})

test.each([
  ['of 2 s', 2_000, 1_500],
  ['of a minute', 60_000, 1_500],
  ['of a second', 1_000, 750],
  ['of none', 0, 1_500],
])(
  'a call that is a single message waits less for a lock than the statement timeout %s of its role',
  (_, roleMs, lockMs) => {
    expect(messageTimeouts(usualDeadlines, roleMs)).toMatchObject({ lockMs })
  },
)

test('a transaction that the database rolled back is never reported as committed', async () => {
  const work = database.inTenant(tenant, async (transaction) => {
    await sql`select 1 / 0`.execute(transaction).catch(() => {})
    return 'kept'
  })
  await expect(work).rejects.toThrow(/rolled back/)
})

test('no tenant setting is left on a connection, however the transaction ended', async () => {
  await database.inTenant(tenant, async () => {})
  expect(await settingNow()).toBeNull()
  await expect(
    database.inTenant(tenant, async () => {
      throw new Error('a bug in the work')
    }),
  ).rejects.toThrow('a bug in the work')
  expect(await settingNow()).toBeNull()
  await expect(
    database.inTenant(tenant, (transaction) => sql`select 1 / 0`.execute(transaction)),
  ).rejects.toThrow('division by zero')
  expect(await settingNow()).toBeNull()
})

test('a brokerage has four statements running in the database, also after requests stopped waiting', async () => {
  const many = await openDatabase({
    connection: ownDatabase.service,
    deadlines: testDeadlines,
    connectionsMax: 20,
  })
  const watching = new pg.Client(ownDatabase.service)
  await watching.connect()
  const requests: Promise<unknown>[] = []
  let most = 0
  // Each request gives up on a statement that the database ends much later.
  for (let nth = 0; nth < 24; nth++) {
    const request = withDeadline(new RequestDeadline(400), () =>
      many.inTenant(tenant, async (transaction) => {
        await sql`set local statement_timeout = '1s'; select pg_sleep(1.9)`.execute(transaction)
      }),
    )
    requests.push(expect(request).rejects.toThrow(DatabaseUnavailable))
    await delay(80)
    const { rows } = await watching.query(
      "select count(*)::int as count from pg_stat_activity where state = 'active' and query like '%pg_sleep(1.9)%' and pid <> pg_backend_pid() and datname = current_database()",
    )
    most = Math.max(most, rows[0].count)
  }
  await Promise.all(requests)
  await watching.end()
  await many.close()
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(4)
})

/** A socket that sends nothing more from the first message on that contains `word`. */
class DeafSocket extends Socket {
  readonly #word: string
  #isDeaf = false
  constructor(word: string) {
    super()
    this.#word = word
  }
  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.#isDeaf ||= chunk.includes(this.#word)
    if (this.#isDeaf) done()
    else super._write(chunk, encoding, done)
  }
}

const backend = (on: Database) =>
  on.inTenant(tenant, async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    return rows[0]?.pid
  })

test('a connection whose request gave up serves the next transaction as soon as the database has ended the statement', async () => {
  const before = await backend(database)
  const work = withDeadline(new RequestDeadline(300), () =>
    database.inTenant(tenant, (transaction) =>
      sql`set local statement_timeout = '800ms'; select pg_sleep(60)`.execute(transaction),
    ),
  )
  await expect(work).rejects.toThrow(DatabaseUnavailable)
  expect(await settingNow()).toBeNull()
  expect(await backend(database)).toBe(before)
})

test('a connection is closed if the database does not answer at all after a request gave up', async () => {
  const sockets = [new DeafSocket('unheard')]
  const own = await openDatabase({
    connection: { ...ownDatabase.service, stream: (): Duplex => sockets.pop() ?? new Socket() },
    connectionsMax: 1,
  })
  const before = await backend(own)
  const work = withDeadline(new RequestDeadline(2_000), () =>
    own.inTenant(tenant, (transaction) => sql`select 'unheard'`.execute(transaction)),
  )
  await expect(work).rejects.toThrow(DatabaseUnavailable)
  const after = await backend(own)
  await own.close()
  expect(after).toBeGreaterThan(0)
  expect(after).not.toBe(before)
})

const digest = Buffer.alloc(32, 7)

test('no tenant setting is left on a connection by a function call, whether it succeeds or fails', async () => {
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
  'if the answer of %s is lost, its outcome is unknown only if the function writes',
  async (name, values, writes) => {
    const reported: unknown[] = []
    const own = await openDatabase({
      connection: ownDatabase.service,
      deadlines: testDeadlines,
      connectionsMax: 1,
    })
    own.onVersionsMoved((of, versions) => reported.push([of, versions]))
    const holder = new pg.Client(ownDatabase.owner)
    const watcher = new pg.Client(ownDatabase.service)
    await Promise.all([holder.connect(), watcher.connect()])
    try {
      await holder.query('begin; lock table quotes, shipment_updates in access exclusive mode')
      const lost = own.callInTenant(tenant, name, values).catch((error: unknown) => error)
      // The call is sent alone: calls in a batch do not wait for locks.
      const waiting = `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'select ${name}(%'`
      let pid: number | undefined
      while (pid === undefined) pid = (await watcher.query<{ pid: number }>(waiting)).rows[0]?.pid
      await terminate(pid)
      const error = await lost
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      expect((error as DatabaseUnavailable).outcomeUnknown).toBe(writes)
      expect(reported).toEqual(writes ? [[tenant, null]] : [])
    } finally {
      await holder.query('rollback')
      await Promise.all([holder.end(), watcher.end(), own.close()])
    }
  },
)

test('a function that does not end is ended by the database, not only abandoned by the service', async () => {
  const asOwner = new pg.Client(ownDatabase.owner)
  await asOwner.connect()
  const own = await openDatabase({
    // Replaces the statement timeout of the role.
    connection: { ...ownDatabase.service, options: '-c statement_timeout=500' },
    deadlines: testDeadlines,
    connectionsMax: 1,
  })
  try {
    const { rows } = await asOwner.query<{ text: string }>(
      `select pg_get_functiondef('claim_deliveries(integer, integer, integer, integer)'::regprocedure) as text`,
    )
    const text = rows[0]?.text ?? ''
    await asOwner.query(text.replace(/\bbegin\b/, 'begin perform pg_catalog.pg_sleep(600);'))
    const before = await backend(own)
    const call = withDeadline(new RequestDeadline(300), () =>
      own.callInTenant(tenant, 'claim_deliveries', [1, 1, 1]),
    )
    await expect(call).rejects.toThrow(DatabaseUnavailable)
    // If the service only abandoned the call, PostgreSQL would continue to run the function.
    const stillRunning = async () => {
      const { rowCount } = await asOwner.query(
        `select from pg_stat_activity where datname = current_database()
           and query like 'select claim_deliveries(%' and state = 'active'`,
      )
      return rowCount
    }
    expect(await backend(own)).toBe(before)
    expect(await stillRunning()).toBe(0)
    await asOwner.query(text)
  } finally {
    await own.close()
    await asOwner.end()
  }
})

test('opening waits for a machine that is too busy to connect or to answer, and not for one that refuses', async () => {
  class SilentSocket extends Socket {
    override connect() {
      return this
    }
  }
  const busy = [new SilentSocket(), new DeafSocket('begin')]
  let sockets = 0
  const slow = await openDatabase({
    connection: {
      ...ownDatabase.service,
      stream: (): Duplex => busy[sockets++] ?? new Socket(),
    },
  })
  await slow.close()
  expect(sockets).toBeGreaterThan(2)

  let refused = 0
  const refusing = openDatabase({
    connection: {
      host: '127.0.0.1',
      port: 1,
      stream: () => {
        refused++
        return new Socket()
      },
    },
  })
  await expect(refusing).rejects.toThrow(DatabaseUnavailable)
  expect(refused).toBe(1)
})

test('a ping says why writes cannot work, and tries a write only after one was refused', async () => {
  expect((await database.ping()).writesRefused).toBeNull()
  const readOnly = await openDatabase({
    connection: { ...ownDatabase.service, options: '-c default_transaction_read_only=on' },
    deadlines: testDeadlines,
    like: database,
  })
  expect((await readOnly.ping()).writesRefused).toMatch(/^The database is read-only/)
  await readOnly.close()

  const check = new WriteCheck()
  let isFull = true
  let trials = 0
  const inTransaction: Database['outsideTenants'] = (work) => {
    trials += 1
    return isFull ? Promise.reject(full()) : database.outsideTenants(work)
  }
  expect([await check.reason(false, inTransaction), trials]).toEqual([null, 0])
  check.see(full())
  expect(await check.reason(false, inTransaction)).toBe(
    'The database refuses writes: its disk is full, or fails.',
  )
  isFull = false
  expect([await check.reason(false, inTransaction), trials]).toEqual([null, 2])
  expect([await check.reason(false, inTransaction), trials]).toEqual([null, 2])
  const left = await database.outsideTenants((transaction) =>
    sql`select 1 from pg_class where relname = 'write_trial'`.execute(transaction),
  )
  expect(left.rows).toEqual([])
})

const full = () =>
  new DatabaseUnavailable(Object.assign(new Error('could not extend file'), { code: '53100' }))
