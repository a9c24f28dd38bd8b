import { execFileSync } from 'node:child_process'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { ask } from './connection.ts'
import { DatabaseUnavailable, ProcessUnavailable } from './database-failures.ts'
import { usualDeadlines } from './deadlines.ts'
import { fairConnections } from './fair-connections.ts'
import { type Database, openDatabase } from './open-database.ts'
import { RequestDeadline, withDeadline } from './request-deadline.ts'
import { tenantId } from './tenant.ts'

/** Promise: a process that was too busy or stopped uses the answers that it has got, and never blames the database. */

let ownDatabase: TestDatabase
let database: Database
let client: pg.Client
const [ours, second, third] = [tenantId(7), tenantId(8), tenantId(9)] as const

beforeAll(async () => {
  ownDatabase = await testDatabase()
  database = await openDatabase({ connection: ownDatabase.service, deadlines: testDeadlines })
  client = new pg.Client(ownDatabase.service)
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.close()
  await ownDatabase.drop()
})

/** Stops this process, as a busy event loop does, until the database has answered the statement of `client`. */
function stopUntilAnswered(pid: number): void {
  const program = `
    import pg from 'pg'
    const client = new pg.Client(JSON.parse(process.env.CONNECTION))
    await client.connect()
    const idle = () => client.query("select from pg_stat_activity where pid = ${pid} and state = 'idle' and query like '%answered%'")
    while ((await idle()).rowCount === 0);
    await client.end()`
  const env = { ...process.env, CONNECTION: JSON.stringify(ownDatabase.service) }
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { env })
}

const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error)

/** A transaction that outlasts every deadline of the tests. */
const sleeping = () => database.inTenant(ours, (transaction) => sql`select pg_sleep(60)`.execute(transaction))

test('an answer that arrived while this process was stopped counts; what is left of the deadline is its own fault', async () => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const deadline = new RequestDeadline(50)
  const asked = withDeadline(deadline, () =>
    ask(client as unknown as pg.PoolClient, { answerMs: 50 }, "select 'answered' as value"),
  )
  stopUntilAnswered(rows[0]?.pid ?? 0)
  expect((await asked).rows).toEqual([{ value: 'answered' }])
  expect(deadline.leftMs).toBeLessThan(0)
  expect(await failureOf(withDeadline(deadline, sleeping))).toMatchObject({
    name: 'ProcessUnavailable',
    message: 'The service is busy and could not answer in time.',
  })
})

test('a database that does not answer an idle process is to blame itself', { tags: 'long' }, async () => {
  // A long deadline: beside busy programs, a transaction can take a second to begin, and this process would be blamed for it.
  const failure = await failureOf(withDeadline(new RequestDeadline(10_000), sleeping))
  expect(failure).toBeInstanceOf(DatabaseUnavailable)
  expect(failure).not.toBeInstanceOf(ProcessUnavailable)
})

test.each([
  ['the database answers others meanwhile', true, 'ProcessUnavailable'],
  ['the database answers nobody', false, 'DatabaseUnavailable'],
])('a request that waits in vain for one of the connections, while %s', async (_what, answers, name) => {
  const pool = { options: { max: 1 }, connect: async () => ({ release() {} }) } as unknown as pg.Pool
  const connections = fairConnections(pool, usualDeadlines)
  const first = await connections.lend(second)
  const next = connections.lend(third)
  const waiting = withDeadline(new RequestDeadline(20), () => connections.lend(ours))
  if (answers) first.release()
  expect(await failureOf(waiting)).toMatchObject({ name })
  if (!answers) first.release()
  ;(await next).release()
})
