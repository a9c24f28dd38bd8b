import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { prepareImport, recordsOf, rolledBack } from './call-method.ts'
import { citusFaults, type KnownFunctions, knownFunctions, readTree } from './citus-rules.ts'
import { methods } from './database-methods.ts'
import {
  type ExecutedStatement,
  schemaFaults,
  sendPlansAsNotices,
  statementFaults,
  statementInNotice,
  tenantTables,
} from './distributable.ts'
import { disableRowLevelSecurity } from './mutation-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { seededTenants } from './seeded-tenants.ts'

/**
 * Promise: the schema and all statements of the service also work in a database that is distributed by tenant (Citus).
 *
 * How: on an ordinary PostgreSQL, the test checks the catalog for what Citus does not support. Then it calls every database
 * function and checks the plan of every executed statement: each table must be restricted to one tenant. Row-level security
 * is disabled, because its conditions would restrict every table. `distributed.test.ts` runs on a real Citus cluster.
 *
 * Faults that it finds: each `test.each` below plants one in the schema or in a statement.
 */

const b = idsOf('B')
const tenantB = tenantId(b.tenant)
let database: TestDatabase
let owner: pg.Client
let tables: ReadonlySet<string>
let app: TestApp
/** Whether the database reports its plans. It does not if the tests have no superuser. */
let hasPlans = false
const executed: ExecutedStatement[] = []
/** The parse trees of the executed statements that write. */
const trees = new Set<string>()
let known: KnownFunctions

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  tables = await tenantTables(owner)
  known = await knownFunctions(owner, tables)
  await disableRowLevelSecurity(database)
  hasPlans = await sendPlansAsNotices(database, inject('databaseCluster').makerUrl)
  const emit = pg.Client.prototype.emit
  vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...values) {
    const statement = event === 'notice' ? statementInNotice((values[0] as unknown as Error).message) : null
    if (statement !== null) executed.push(statement)
    const { message, detail } = (values[0] ?? {}) as { message?: string; detail?: string }
    // 2, 3 and 4 are update, insert and delete.
    if (
      event === 'notice' &&
      message === 'rewritten parse tree:' &&
      /\{QUERY :commandType [234] /.test(detail ?? '')
    )
      trees.add(detail ?? '')
    return emit.call(this, event, ...values)
  })
  app = await appOn(database)
})
afterAll(async () => {
  await app.close()
  await owner.end()
  await database.drop()
})

/** Runs `work` as tenant B in a transaction that is rolled back, and returns the faults in the statements it executed. */
async function faultsIn(work: (transaction: TenantTransaction) => Promise<unknown>) {
  executed.length = 0
  trees.clear()
  await rolledBack(app.database, tenantB, work)
  const faults = new Set([
    ...executed.flatMap((statement) => statementFaults(statement, tables)),
    ...[...trees].flatMap((tree) => citusFaults(readTree(tree), known)),
  ])
  return { faults: [...faults], statements: executed.length }
}

test('the schema can be distributed by tenant', async () => {
  expect(tables.size).toBeGreaterThan(15)
  expect(await schemaFaults(owner)).toEqual([])
})

test.each([
  ['create table planted (planted_id integer primary key)', 'planted has no tenant_id'],
  ['create table planted (tenant_id integer, planted_id integer unique)', 'planted has no primary key'],
  [
    'create table planted (planted_id integer, tenant_id integer, primary key (planted_id, tenant_id))',
    'planted_pkey does not start with tenant_id',
  ],
  ['create unique index planted on lanes (lane_ref)', 'planted does not start with tenant_id'],
  [
    `alter table instances add planted integer unique;
     alter table lanes add constraint planted foreign key (created_by) references instances (planted)`,
    'planted of lanes does not reference the same tenant',
  ],
  [
    'alter table lanes add unique (tenant_id, lane_number, lane_id), add constraint planted foreign key (tenant_id, created_by) references users deferrable',
    'planted of lanes uses a foreign key option',
  ],
  [
    `create function planted() returns trigger language plpgsql as 'begin return new; end';
     create trigger planted before insert on lanes for each row execute function planted()`,
    'lanes has the trigger planted',
  ],
  [
    'create policy planted on lanes as restrictive using (lane_id > 0)',
    'lanes has the restrictive policy planted, which Citus makes permissive',
  ],
  ['alter table lanes add planted bigserial', 'lanes.planted is filled from a sequence'],
  [
    `create function planted(a integer) returns bigint language sql as 'select count(*) from public.lanes where tenant_id = a'`,
    'the function planted queries lanes in language sql',
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

test('every table in every statement of every database function is restricted to one tenant', async (context) => {
  if (!hasPlans) context.skip('only a superuser can read the plans of statements')
  const tenants = await seededTenants(app)
  try {
    await tenants.seed('B')
    const records = await recordsOf('B', app, tenants)
    const faultsByName: Record<string, readonly string[]> = {}
    const withoutStatement: string[] = []
    for (const [name, method] of Object.entries(methods)) {
      const { faults, statements } = await faultsIn(async (transaction) => {
        await prepareImport(method, transaction, 'B')
        // Some calls fail because the row exists already. Their statements have been planned by then.
        await method.call({ ...records, tenant: tenantB, transaction }).catch(() => {})
      })
      if (faults.length > 0) faultsByName[name] = faults
      // The first statement opens the transaction.
      if (statements < 2) withoutStatement.push(name)
      if (method.commits === true) await tenants.seed('B')
    }
    expect(faultsByName).toEqual({})
    expect(withoutStatement).toEqual([])
  } finally {
    await tenants.close()
  }
})

test.each([
  [`select count(*) from lanes where origin_key = 'dallas|TX'`, 'lanes is not restricted to a tenant'],
  [
    `select u.name from lanes l join users u on u.user_id = l.created_by where l.tenant_id = ${b.tenant}`,
    'users is not restricted to a tenant',
  ],
  [`update lanes set miles = 1 where lane_id = 1`, 'lanes is not restricted to a tenant'],
  [
    `select (select count(*) from users) from lanes where tenant_id = ${b.tenant}`,
    'users is not restricted to a tenant',
  ],
  [
    `insert into lane_versions select ${b.tenant}, lane, 8, now() from unnest('{8,9}'::bigint[]) as lane`,
    'lane_versions is filled from rows that belong to no tenant',
  ],
  [
    `with one as (insert into lane_versions values (${b.tenant}, 8, 8, now())) select count(*) from lanes where tenant_id = ${b.tenant}`,
    'lane_versions is written by a statement inside another statement',
  ],
  [
    `select count(*) from lanes, instances where tenant_id = ${b.tenant}`,
    'instances is joined with rows of a tenant',
  ],
  [
    `update lanes set booked_at = case when miles > 1 then '2026-01-01'::text::timestamptz else booked_at end where tenant_id = ${b.tenant}`,
    'lanes: a function that is not immutable in CASE or COALESCE',
  ],
  [
    `update lanes set valid_until = coalesce(valid_until, now()) where tenant_id = ${b.tenant}`,
    'lanes: a function that is not immutable in CASE or COALESCE',
  ],
  [
    `update lanes set valid_until = created_at + interval '1 day' where tenant_id = ${b.tenant}`,
    'lanes: a stable function of a column',
  ],
  [
    `update lanes set updated_at = clock_timestamp() where tenant_id = ${b.tenant}`,
    'lanes: a volatile function in an update',
  ],
  [
    `insert into lane_versions select tenant_id, 8, 8, clock_timestamp() from tenants where tenant_id = ${b.tenant}`,
    'lane_versions: a volatile function in an insert from a query',
  ],
  [
    `insert into lane_versions values (${b.tenant}, (select 8), 8, now())`,
    'lane_versions: a subquery in the values of an insert',
  ],
  [
    `update lanes set miles = 1 where tenant_id = ${b.tenant} returning now()`,
    'lanes: a function that is not immutable in returning',
  ],
])('a planted statement is found: %s', async (statement, fault) => {
  if (!hasPlans) return
  const { faults } = await faultsIn((transaction) => sql.raw(statement).execute(transaction))
  expect(faults.join('\n')).toContain(fault)
})

test('a table that is joined by tenant_id to a restricted table is accepted', async (context) => {
  if (!hasPlans) context.skip('only a superuser can read the plans of statements')
  const { faults, statements } = await faultsIn((transaction) =>
    sql`select u.name from lanes l left join users u on u.tenant_id = l.tenant_id and u.user_id = l.created_by
        where l.tenant_id = ${b.tenant}`.execute(transaction),
  )
  expect(statements).toBeGreaterThan(0)
  expect(faults).toEqual([])
})
