import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { type Database, openDatabase } from '../../session/index.ts'
import { seeInstance } from './instances.ts'

let made: TestDatabase
let database: Database
let owner: pg.Client
const [ours, theirs] = [randomUUID(), randomUUID()]

beforeAll(async () => {
  made = await testDatabase()
  database = await openDatabase({ connection: made.service, deadlines: testDeadlines })
  owner = new pg.Client(made.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner?.end()
  await database?.close()
  await made?.drop()
})
beforeEach(() => owner.query('delete from instances'))

/** Two instances that joined an hour ago, and renewed their registrations these seconds ago. */
async function seenAgo(oursS: number, theirsS: number): Promise<void> {
  await owner.query(
    `insert into instances select id, now() - interval '1 hour', clock_timestamp() - make_interval(secs => ago)
     from unnest($1::uuid[], $2::float8[]) as one (id, ago)`,
    [
      [ours, theirs],
      [oursS, theirsS],
    ],
  )
}
const see = () => database.outsideTenants((transaction) => seeInstance(transaction, ours))
/** Which instances joined an hour ago, and were seen within the last second. */
async function continued(): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>(
    `select instance_id as id from instances
     where seen_at > clock_timestamp() - interval '1 second' and joined_at < now() - interval '10 minutes'`,
  )
  return rows.map(({ id }) => (id === ours ? 'ours' : 'theirs')).sort()
}

test('after an outage, the registrations of all instances that ran until then continue', async () => {
  await seenAgo(60, 58.5)
  expect(await see()).toEqual({ others: true })
  expect(await continued()).toEqual(['ours', 'theirs'])
})

test('an instance that another one may have seen expire joins again', async () => {
  await seenAgo(15, 1)
  await see()
  expect(await continued()).toEqual([])
  await owner.query('delete from instances')
  // The registration of the other one was valid until after ours had expired for it; then the database was away.
  await seenAgo(64, 60)
  expect(await see()).toEqual({ others: false })
  expect(await continued()).toEqual([])
})
