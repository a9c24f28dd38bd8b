import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { comparableRows, firstDifference } from '#testing/comparable-rows.ts'
import { databaseUrl } from '#testing/database-cluster.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { type Database, openDatabase } from './database/session/index.ts'
import { firstStart } from './first-start.ts'
import { giveSampleAccess } from './sample/index.ts'
import { type SecretKeys, secretKey, tokens } from './security/index.ts'
import type { Progress } from './start-progress.ts'

/** Open transactions, slow functions called while one was open, and the number of slow calls. */
const open = vi.hoisted(() => ({ transactions: 0, computing: [] as string[], calls: 0 }))

/** Notes each call of a function that takes long, in a transaction or not. */
const noting = vi.hoisted(
  () =>
    <Call extends (...values: never[]) => unknown>(name: string, call: Call): Call =>
      ((...values: never[]) => {
        open.calls++
        if (open.transactions > 0) open.computing.push(name)
        return call(...values)
      }) as Call,
)

vi.mock(import('./sample/index.ts'), async (original) => {
  const real = await original()
  return { ...real, prepareSample: noting('prepareSample', real.prepareSample) }
})
vi.mock(import('./quotes/index.ts'), async (original) => {
  const real = await original()
  return { ...real, lanePlaces: noting('lanePlaces', real.lanePlaces) }
})
vi.mock(import('./security/index.ts'), async (original) => {
  const real = await original()
  return { ...real, hashPassword: noting('hashPassword', real.hashPassword) }
})

const { inject } = await import('vitest')
const now = Date.UTC(2026, 10, 20, 18)
const key = secretKey(randomBytes(32).toString('base64'))
if (key === null) throw new Error('No key.')
const secretKeys: SecretKeys = [key]
const config = { databaseUrl: null, sampleBrokerage: true }
const access = { tokens: tokens(secretKeys), secretKeys, now }

const databases: TestDatabase[] = []
const opened: Database[] = []
let undisturbed: Awaited<ReturnType<typeof rowsOf>>

async function emptyDatabase(): Promise<{ own: TestDatabase; database: Database }> {
  const own = await testDatabase()
  const database = await openDatabase({ connection: own.service, deadlines: testDeadlines })
  databases.push(own)
  opened.push(database)
  return { own, database: watched(database) }
}

function watched(database: Database): Database {
  const counting =
    <Values extends unknown[], T>(run: (...values: Values) => Promise<T>) =>
    async (...values: Values) => {
      open.transactions++
      return run(...values).finally(() => open.transactions--)
    }
  return {
    ...database,
    inTenant: counting(database.inTenant) as Database['inTenant'],
    outsideTenants: counting(database.outsideTenants) as Database['outsideTenants'],
  }
}

const rowsOf = ({ name }: TestDatabase) =>
  comparableRows({ connectionString: databaseUrl(inject('databaseCluster').makerUrl, name) })

/** The progress of a start that ends after writing this many pieces of the sample brokerage. */
function endingAfter(pieces: number): Progress {
  let left = pieces
  return {
    say: () => {},
    step: (name) => {
      if (name.startsWith('writing') && left-- === 0) throw new Error('killed')
    },
    stop: () => {},
  }
}
const quiet = endingAfter(Number.POSITIVE_INFINITY)

beforeAll(async () => {
  const { own, database } = await emptyDatabase()
  await firstStart(database, config, secretKeys, now, quiet)
  expect(await giveSampleAccess(database, access)).toMatchObject({ email: 'owner@sample.example' })
  undisturbed = await rowsOf(own)
})
afterAll(async () => {
  for (const database of opened) await database.close()
  for (const own of databases) await own.drop()
})

test('no transaction is open while the sample brokerage is computed', () => {
  expect(undisturbed.get('quotes')?.length).toBeGreaterThan(11_000)
  expect(open.calls).toBeGreaterThan(11_000)
  expect(open.computing).toEqual([])
})

/** Ends first starts on a new database after these numbers of pieces, and then finishes one. */
async function endFirstStarts(ends: readonly number[]): Promise<void> {
  const { own, database } = await emptyDatabase()
  const empty = await rowsOf(own)
  for (const pieces of ends) {
    await expect(
      firstStart(database, config, secretKeys, now, endingAfter(pieces)),
      `after ${pieces} pieces`,
    ).rejects.toThrow('killed')
    expect(firstDifference(await rowsOf(own), empty), `after ${pieces} pieces`).toBeNull()
  }
  await firstStart(database, config, secretKeys, now, quiet)
  // Here the process may end, too: the next start finds the brokerage, and credentials that nobody has seen.
  await firstStart(database, config, secretKeys, now, quiet)
  expect(await giveSampleAccess(database, access)).toMatchObject({ company: 'Meridian Fox Freight (sample)' })
  expect(await giveSampleAccess(database, access)).toBeNull()
  expect(firstDifference(await rowsOf(own), undisturbed)).toBeNull()
}

test('a first start that ends in the middle leaves nothing; the next writes the rows of an undisturbed one, and shows credentials once', () =>
  endFirstStarts([9]))

test(
  'a first start that ends before any piece, or before the last one, leaves nothing either',
  {
    tags: 'long',
  },
  () => endFirstStarts([0, 1, 9, 19]),
)
