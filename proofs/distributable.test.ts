import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Database, openDatabase, tenantId } from '#server/database/session/index.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { schemaFaults, tenantTables, type WatchedStatements, watchStatements } from './distributable.ts'
import { idsOf } from './seeded-ids.ts'
import { disableRowLevelSecurity } from './tenant-conditions.ts'

/**
 * Promise: the schema also works in a database that is distributed by tenant (Citus), and the test finds a statement that does not.
 *
 * How: on an ordinary PostgreSQL, the test checks the catalog for what Citus does not support, and plants faults in the schema and
 * in statements. `route-walk.test.ts` checks the statements of the service. `distributed.test.ts` runs on a real Citus cluster.
 */

const b = idsOf('B')
let database: TestDatabase
let owner: pg.Client
let service: Database
let watched: WatchedStatements

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  await disableRowLevelSecurity(database)
  watched = await watchStatements(database, inject('databaseCluster').makerUrl)
  service = await openDatabase({ connection: database.service, deadlines: testDeadlines })
})
afterAll(async () => {
  watched.stop()
  await service.close()
  await owner.end()
  await database.drop()
})

/** Executes a statement as tenant B in a transaction that is rolled back, and returns its faults. */
async function faultsIn(statement: string): Promise<readonly string[]> {
  const isDone = new Error('rolled back')
  watched.take()
  await service
    .inTenant(tenantId(b.tenant), async (transaction) => {
      await sql.raw(statement).execute(transaction)
      throw isDone
    })
    .catch((error: unknown) => {
      if (error !== isDone) throw error
    })
  const { faults, statements } = watched.take()
  expect(statements).toBeGreaterThan(1)
  return faults
}

test('the schema can be distributed by tenant', async () => {
  expect((await tenantTables(owner)).size).toBeGreaterThan(15)
  expect(await schemaFaults(owner)).toEqual([])
})

test.each([
  ['create table planted (planted_id integer primary key)', 'planted has no tenant_id'],
  ['create table planted (tenant_id integer, planted_id integer unique)', 'planted has no primary key'],
  [
    'create table planted (planted_id integer, tenant_id integer, primary key (planted_id, tenant_id))',
    'planted_pkey does not start with tenant_id',
  ],
  ['create unique index planted on quotes (lane_ref)', 'planted does not start with tenant_id'],
  [
    `alter table instances add planted integer unique;
     alter table quotes add constraint planted foreign key (created_by) references instances (planted)`,
    'planted of quotes does not reference the same tenant',
  ],
  [
    'alter table quotes add unique (tenant_id, lane_number, lane_id), add constraint planted foreign key (tenant_id, created_by) references users deferrable',
    'planted of quotes uses a foreign key option',
  ],
  [
    `create function planted() returns trigger language plpgsql as 'begin return new; end';
     create trigger planted before insert on quotes for each row execute function planted()`,
    'quotes has the trigger planted',
  ],
  [
    'create policy planted on quotes as restrictive using (lane_id > 0)',
    'quotes has the restrictive policy planted, which Citus makes permissive',
  ],
  ['alter table quotes add planted bigserial', 'quotes.planted is filled from a sequence'],
  [
    `create function planted(a integer) returns bigint language sql as 'select count(*) from public.quotes where tenant_id = a'`,
    'the function planted queries quotes in language sql',
  ],
])('a fault planted in the schema is found: %s', async (statement, fault) => {
  await owner.query('begin')
  try {
    await owner.query(statement)
    expect((await schemaFaults(owner)).join('\n')).toContain(fault)
  } finally {
    await owner.query('rollback')
  }
})

test.each([
  [`select count(*) from quotes where origin_key = 'dallas|TX'`, 'quotes is not restricted to a tenant'],
  [
    `select u.name from quotes l join users u on u.user_id = l.created_by where l.tenant_id = ${b.tenant}`,
    'users is not restricted to a tenant',
  ],
  [`update quotes set miles = 1 where lane_id = 1`, 'quotes is not restricted to a tenant'],
  [
    `select (select count(*) from users) from quotes where tenant_id = ${b.tenant}`,
    'users is not restricted to a tenant',
  ],
  [
    `insert into quote_versions select ${b.tenant}, lane, 8, now() from unnest('{8,9}'::bigint[]) as lane`,
    'quote_versions is filled from rows that belong to no tenant',
  ],
  [
    `with one as (insert into quote_versions values (${b.tenant}, 8, 8, now())) select count(*) from quotes where tenant_id = ${b.tenant}`,
    'quote_versions is written by a statement inside another statement',
  ],
  [
    `select count(*) from quotes, instances where tenant_id = ${b.tenant}`,
    'instances is joined with rows of a tenant',
  ],
  [
    `update quotes set booked_at = case when miles > 1 then '2026-01-01'::text::timestamptz else booked_at end where tenant_id = ${b.tenant}`,
    'quotes: a function that is not immutable in CASE or COALESCE',
  ],
  [
    `update quotes set valid_until = coalesce(valid_until, now()) where tenant_id = ${b.tenant}`,
    'quotes: a function that is not immutable in CASE or COALESCE',
  ],
  [
    `update quotes set valid_until = created_at + interval '1 day' where tenant_id = ${b.tenant}`,
    'quotes: a stable function of a column',
  ],
  [
    `update quotes set updated_at = clock_timestamp() where tenant_id = ${b.tenant}`,
    'quotes: a volatile function in an update',
  ],
  [
    `insert into quote_versions select tenant_id, 8, 8, clock_timestamp() from tenants where tenant_id = ${b.tenant}`,
    'quote_versions: a volatile function in an insert from a query',
  ],
  [
    `insert into quote_versions values (${b.tenant}, (select 8), 8, now())`,
    'quote_versions: a subquery in the values of an insert',
  ],
  [
    `update quotes set miles = 1 where tenant_id = ${b.tenant} returning now()`,
    'quotes: a function that is not immutable in returning',
  ],
])('a planted statement is found: %s', async (statement, fault) => {
  if (!watched.hasPlans) return
  expect((await faultsIn(statement)).join('\n')).toContain(fault)
})

test('a table that is joined by tenant_id to a restricted table is accepted', async (context) => {
  if (!watched.hasPlans) context.skip('only a superuser can read the plans of statements')
  expect(
    await faultsIn(`select u.name from quotes l left join users u on u.tenant_id = l.tenant_id and u.user_id = l.created_by
      where l.tenant_id = ${b.tenant}`),
  ).toEqual([])
})
