import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from './test-database.ts'

const made: TestDatabase[] = []

afterAll(async () => {
  for (const database of made) await database.drop()
})

async function newDatabase(): Promise<TestDatabase> {
  const database = await testDatabase()
  made.push(database)
  return database
}

async function ask(options: pg.ClientConfig, question: string): Promise<unknown[]> {
  const client = new pg.Client(options)
  await client.connect()
  try {
    return (await client.query(question)).rows
  } finally {
    await client.end()
  }
}

test('a test database is migrated, and its tables are not the service role’s own', async () => {
  const database = await newDatabase()
  const tables = await ask(
    database.service,
    "select distinct tableowner as owner from pg_tables where schemaname = 'public'",
  )
  expect(tables).toEqual([{ owner: 'lanewise_owner' }])
})

test('neither role can go round row-level security', async () => {
  const database = await newDatabase()
  const powers =
    'select rolsuper or rolbypassrls or rolcreaterole as any from pg_roles where rolname = current_user'
  expect(await ask(database.owner, powers)).toEqual([{ any: false }])
  expect(await ask(database.service, powers)).toEqual([{ any: false }])
})

test('what one test writes another does not see', async () => {
  const [first, second] = await Promise.all([newDatabase(), newDatabase()])
  await ask(first.owner, 'create table seen_by_one (id int)')
  await expect(ask(second.owner, 'select from seen_by_one')).rejects.toThrow('does not exist')
})

test('a dropped database is gone, even while somebody is connected', async () => {
  const database = await testDatabase()
  const client = new pg.Client(database.service)
  client.on('error', () => {})
  await client.connect()
  await database.drop()
  await expect(ask(database.service, 'select 1')).rejects.toThrow('does not exist')
})
