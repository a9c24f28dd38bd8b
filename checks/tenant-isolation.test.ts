import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tablesWithoutTenant } from '#server/database/schema/index.ts'
import { openDatabase, rowLevelSecurityGaps } from '#server/database/session/index.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'

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

async function rows<Row extends object>(query: string): Promise<Row[]> {
  return (await owner.query<Row>(query)).rows
}

test('the tables without a tenant are exactly the reviewed ones', async () => {
  const found = await rows<{ table: string }>(`
    select c.relname as table from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and not exists (select 1 from pg_attribute a
                      where a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull and not a.attisdropped)`)
  // sign_in_emails counts as without a tenant: its query by e-mail address finds the tenant_id.
  expect([...found.map(({ table }) => table), 'sign_in_emails'].sort()).toEqual(tablesWithoutTenant)
})

test('the catalog shows no way around row-level security', async () => {
  const service = await openDatabase({ connection: database.service, deadlines: testDeadlines })
  try {
    expect(await service.outsideTenants(rowLevelSecurityGaps)).toEqual([])
  } finally {
    await service.close()
  }
})

test('no view shows rows with the rights of its owner: there is none', async () => {
  const views = await rows(`
    select c.relname from pg_class c
    where c.relkind in ('v', 'm') and c.relnamespace = 'public'::regnamespace`)
  expect(views).toEqual([])
})

test('the service role can neither change the key of identifiers nor claim an e-mail address for another tenant', async () => {
  const service = new pg.Client(database.service)
  await service.connect()
  try {
    await expect(service.query(`update installation set id_key = id_key`)).rejects.toThrow(
      'permission denied',
    )
    await service.query('begin')
    await service.query(`select set_config('app.tenant_id', '7', true)`)
    const claim = async (tenant: number) =>
      (
        await service.query<{ claimed: boolean }>(
          `select claim_sign_in('a@example.com', ${tenant}, 1) as claimed`,
        )
      ).rows[0]?.claimed
    expect(await claim(8)).toBe(false)
    expect(await claim(7)).toBe(true)
  } finally {
    await service.end()
  }
})
