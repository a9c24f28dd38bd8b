import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { BrokerageBusy } from './database-failures.ts'
import { waitingPerBrokerageMax } from './fair-connections.ts'
import { type Database, openDatabase } from './open-database.ts'
import { RequestDeadline, runInBackground, withDeadline } from './request-deadline.ts'
import { tenantId } from './tenant.ts'

let ownDatabase: TestDatabase
beforeAll(async () => {
  ownDatabase = await testDatabase()
})
afterAll(() => ownDatabase.drop())

const [ours, theirs] = [tenantId(7), tenantId(8)] as const

/** A database with a pool of `connectionsMax`, and transactions that run until the test ends them. */
async function transactionsOn(connectionsMax: number, transactionsPerBrokerage?: number) {
  const database = await openDatabase({
    connection: ownDatabase.service,
    deadlines: testDeadlines,
    connectionsMax,
    ...(transactionsPerBrokerage === undefined ? {} : { transactionsPerBrokerage }),
  })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<unknown>[] = []
  const start = (of: typeof ours, name: string, way = <T>(work: () => Promise<T>) => work()) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    const done = way(() =>
      database.inTenant(of, () => {
        started.push(name)
        return promise
      }),
    )
    all.push(done.catch(() => {}))
    return done
  }
  return {
    database,
    started,
    start,
    startAll: (of: typeof ours, names: readonly string[]) => {
      for (const name of names) start(of, name).catch(() => {})
    },
    end: (name: string) => ends.get(name)?.(),
    async close() {
      for (const end of ends.values()) end()
      await Promise.all(all)
      expect(database.connections().waiting).toBe(0)
      await database.close()
    },
  }
}

/** Repeats an assertion, because a busy machine takes a while to open a connection. */
const eventually = <T>(look: () => T) => expect.poll(look)

const untilWaiting = (database: Database, waiting: number) =>
  eventually(() => database.connections().waiting).toBe(waiting)

test('a brokerage runs as many transactions at once as the setting says', async () => {
  const { database, started, startAll, close } = await transactionsOn(20, 2)
  startAll(ours, ['one', 'two', 'three'])
  // Each transaction opens its own connection, so they begin in either order.
  await eventually(() => started.toSorted()).toEqual(['one', 'two'])
  await untilWaiting(database, 1)
  startAll(theirs, ['other'])
  await eventually(() => started.toSorted()).toEqual(['one', 'other', 'two'])
  await close()
})

test('a brokerage runs four transactions at once, further ones follow in order, and another brokerage does not wait', async () => {
  const { database, started, start, startAll, end, close } = await transactionsOn(20)
  const names = Array.from({ length: 60 }, (_, at) => `ours ${at}`)
  startAll(ours, names)
  await eventually(() => started.length).toBe(4)
  await untilWaiting(database, 56)
  void start(theirs, 'theirs')
  await eventually(() => started.toSorted()).toEqual([...names.slice(0, 4), 'theirs'])
  end('ours 2')
  await eventually(() => started.at(-1)).toBe('ours 4')
  expect(database.connections().open).toBeLessThanOrEqual(6)
  await close()
})

test('a test brokerage runs its transactions in the share of its brokerage', async () => {
  const { database, started, startAll, end, close } = await transactionsOn(20, 2)
  database.shares.join(theirs, ours)
  startAll(ours, ['one', 'two'])
  await eventually(() => started.length).toBe(2)
  startAll(theirs, ['of the test brokerage'])
  await untilWaiting(database, 1)
  startAll(tenantId(9), ['other'])
  await eventually(() => started.at(-1)).toBe('other')
  end('one')
  await eventually(() => started.at(-1)).toBe('of the test brokerage')
  await close()
})

test('when all connections are in use, a brokerage waits for at most one call of the brokerage with the longest queue', async () => {
  const { database, started, start, startAll, end, close } = await transactionsOn(2)
  startAll(ours, ['one', 'two', 'three', 'four', 'five'])
  await eventually(() => started.length).toBe(2)
  void start(theirs, 'theirs')
  await untilWaiting(database, 4)
  end('one')
  await eventually(() => started.length).toBe(3)
  end('two')
  // The first two started at the same time, in either order.
  await eventually(() => started.slice(2)).toEqual(['three', 'theirs'])
  await close()
})

test('background work takes at most half of a brokerage’s connections, and requests overtake it', async () => {
  const { database, started, start, end, close } = await transactionsOn(20)
  for (const name of ['import', 'backtest', 'event']) void start(ours, name, runInBackground)
  await eventually(() => started.toSorted()).toEqual(['backtest', 'import'])
  await untilWaiting(database, 1)
  void start(ours, 'person')
  await eventually(() => started.at(-1)).toBe('person')
  end('import')
  await eventually(() => started.at(-1)).toBe('event')
  await close()
})

test('a request gets BrokerageBusy if it waits too long for its own brokerage or its queue is full; others are served', async () => {
  const { database, start, startAll, end, started, close } = await transactionsOn(20)
  const within = (waitMs: number) => (work: () => Promise<unknown>) =>
    withDeadline(new RequestDeadline(waitMs), work)
  startAll(ours, ['one', 'two', 'three', 'four'])
  await eventually(() => started.length).toBe(4)
  await expect(start(ours, 'times out', within(50) as never)).rejects.toThrow(BrokerageBusy)
  expect(database.connections().waiting).toBe(0)
  startAll(
    ours,
    Array.from({ length: waitingPerBrokerageMax }, (_, at) => `waits ${at}`),
  )
  await untilWaiting(database, waitingPerBrokerageMax)
  await expect(start(ours, 'one too many', within(2_500) as never)).rejects.toThrow(BrokerageBusy)
  void start(theirs, 'theirs')
  await eventually(() => started.at(-1)).toBe('theirs')
  end('one')
  await eventually(() => started.at(-1)).toBe('waits 0')
  await close()
})
