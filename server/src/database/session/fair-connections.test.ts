import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
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

/** A database with so many connections, and transactions on it that end when they are told to. */
async function workshop(connectionsMax: number) {
  const database = await openDatabase({ connection: ownDatabase.service, connectionsMax })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<unknown>[] = []
  const start = (of: typeof ours, name: string, way = <T>(work: () => Promise<T>) => work()) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    const done = way(() =>
      database.inTenant(of, () => {
        begun.push(name)
        return promise
      }),
    )
    all.push(done.catch(() => {}))
    return done
  }
  return {
    database,
    begun,
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

/** A busy machine takes a while for a connection. */
const soon = <T>(look: () => T) => expect.poll(look, { timeout: 10_000 })

const until = (database: Database, waiting: number) =>
  soon(() => database.connections().waiting).toBe(waiting)

test('a brokerage has four transactions at once, the others follow in their order, and another brokerage does not wait', async () => {
  const { database, begun, start, startAll, end, close } = await workshop(20)
  const names = Array.from({ length: 60 }, (_, at) => `ours ${at}`)
  startAll(ours, names)
  await soon(() => begun.length).toBe(4)
  await until(database, 56)
  void start(theirs, 'theirs')
  await soon(() => begun.toSorted()).toEqual([...names.slice(0, 4), 'theirs'])
  end('ours 2')
  await soon(() => begun.at(-1)).toBe('ours 4')
  expect(database.connections().open).toBeLessThanOrEqual(6)
  await close()
})

test('where all connections are taken, one call of the brokerage with the longest line goes first at most', async () => {
  const { database, begun, start, startAll, end, close } = await workshop(2)
  startAll(ours, ['one', 'two', 'three', 'four', 'five'])
  await soon(() => begun.length).toBe(2)
  void start(theirs, 'theirs')
  await until(database, 4)
  end('one')
  await soon(() => begun.length).toBe(3)
  end('two')
  // The first two began at once, in any order.
  await soon(() => begun.slice(2)).toEqual(['three', 'theirs'])
  await close()
})

test('work behind requests takes half of a brokerage’s share, and requests pass it', async () => {
  const { database, begun, start, end, close } = await workshop(20)
  for (const name of ['import', 'backtest', 'event']) void start(ours, name, runInBackground)
  await soon(() => begun.toSorted()).toEqual(['backtest', 'import'])
  await until(database, 1)
  void start(ours, 'person')
  await soon(() => begun.at(-1)).toBe('person')
  end('import')
  await soon(() => begun.at(-1)).toBe('event')
  await close()
})

test('a request that waits for its own brokerage too long, or finds the line full, is told so; others are answered', async () => {
  const { database, start, startAll, end, begun, close } = await workshop(20)
  const asked = (patienceMs?: number) => (work: () => Promise<unknown>) =>
    withDeadline(new RequestDeadline(patienceMs), work)
  startAll(ours, ['one', 'two', 'three', 'four'])
  await soon(() => begun.length).toBe(4)
  await expect(start(ours, 'impatient', asked(50) as never)).rejects.toThrow(BrokerageBusy)
  expect(database.connections().waiting).toBe(0)
  startAll(
    ours,
    Array.from({ length: waitingPerBrokerageMax }, (_, at) => `waits ${at}`),
  )
  await until(database, waitingPerBrokerageMax)
  await expect(start(ours, 'one too many', asked() as never)).rejects.toThrow(BrokerageBusy)
  void start(theirs, 'theirs')
  await soon(() => begun.at(-1)).toBe('theirs')
  end('one')
  await soon(() => begun.at(-1)).toBe('waits 0')
  await close()
})
