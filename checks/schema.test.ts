import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { changeQuoteSql } from './change-quote-sql.ts'
import { textOf } from './repository.ts'
import { schemaFile, schemaSql } from './schema-sql.ts'

let database: TestDatabase
let owner: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await database.drop()
})

test('schema.sql is the schema of a migrated database', async () => {
  expect(await schemaSql(owner), `${schemaFile} is out of date: run "npm run schema"`).toBe(
    textOf(schemaFile),
  )
})

test('change_quote writes the fields of quoteTable and bookingTable', async () => {
  const { rows } = await owner.query<{ body: string }>(
    `select prosrc as body from pg_proc where oid = 'change_quote'::regproc`,
  )
  const body = changeQuoteSql.split('$$')[1]
  expect(
    rows[0]?.body,
    'change_quote is out of date: put the output of "npm run change-quote" into a new migration',
  ).toBe(body)
})

test('every function states in its first comment why it is in the database', async () => {
  const { rows } = await owner.query<{ name: string; body: string }>(
    `select proname as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`,
  )
  expect(rows.length).toBeGreaterThan(20)
  expect(rows.filter(({ body }) => !/^\s*-- In the database/.test(body)).map(({ name }) => name)).toEqual([])
})

test.each([
  ['create materialized view planted as select name from tenants', 'planted'],
  [`create type planted as enum ('a')`, 'planted'],
])('an object that schema.sql cannot show is an error: %s', async (statement, name) => {
  await owner.query('begin')
  try {
    await owner.query(statement)
    await expect(schemaSql(owner)).rejects.toThrow(name)
  } finally {
    await owner.query('rollback')
  }
})
