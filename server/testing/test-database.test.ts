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

async function query(options: pg.ClientConfig, text: string): Promise<unknown[]> {
  const client = new pg.Client(options)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('a test database is migrated, and the service role does not own its tables', async () => {
  const database = await newDatabase()
  const tables = await query(
    database.service,
    "select distinct tableowner as owner from pg_tables where schemaname = 'public'",
  )
  expect(tables).toEqual([{ owner: 'lanewise_owner' }])
})

test('neither role can bypass row-level security', async () => {
  const database = await newDatabase()
  const powers =
    'select rolsuper or rolbypassrls or rolcreaterole as any from pg_roles where rolname = current_user'
  expect(await query(database.owner, powers)).toEqual([{ any: false }])
  expect(await query(database.service, powers)).toEqual([{ any: false }])
})

test('a test database does not contain the tables of another one', async () => {
  const [first, second] = await Promise.all([newDatabase(), newDatabase()])
  await query(first.owner, 'create table seen_by_one (id int)')
  await expect(query(second.owner, 'select from seen_by_one')).rejects.toThrow('does not exist')
})

test('drop() removes a database that has an open connection', { tags: 'long' }, async () => {
  const database = await testDatabase()
  const client = new pg.Client(database.service)
  client.on('error', () => {})
  await client.connect()
  await database.drop()
  await expect(query(database.service, 'select 1')).rejects.toThrow('does not exist')
})
