import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { findLane, findUser } from '#server/database/queries/index.ts'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { methods } from './database-methods.ts'
import {
  type RunStatement,
  schemaFaults,
  statementFaults,
  tablesOfTenants,
  tellPlans,
  toldPlan,
} from './distributable.ts'
import { takeOffRowLevelSecurity } from './mutation-walk.ts'
import { idsOf, seededTenants, updateOf } from './seeded-tenants.ts'

/** What is said here holds for a database that is spread by tenant: distributed.test.ts tries it on one, where there is one. */

const b = idsOf('B')
let database: TestDatabase
let owner: pg.Client
let tables: ReadonlySet<string>
let app: TestApp
let tells = false
const told: RunStatement[] = []

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  tables = await tablesOfTenants(owner)
  // The conditions of the queries alone are looked at: the walls would tie every table to the tenant.
  await takeOffRowLevelSecurity(database)
  tells = await tellPlans(database, inject('databaseCluster').makerUrl)
  const emit = pg.Client.prototype.emit
  vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...values) {
    const plan = event === 'notice' ? toldPlan((values[0] as unknown as Error).message) : null
    if (plan !== null) told.push(plan)
    return emit.call(this, event, ...values)
  })
  app = await appOn(database)
})
afterAll(async () => {
  await app.close()
  await owner.end()
  await database.drop()
})

const toldFaults = () => [
  ...new Set(told.splice(0).flatMap((statement) => statementFaults(statement, tables))),
]

test('the schema can be spread by tenant', async () => {
  expect(tables.size).toBeGreaterThan(15)
  expect(await schemaFaults(owner)).toEqual([])
})

test.each([
  ['create table planted (planted_id integer primary key)', 'planted has no tenant'],
  ['create table planted (tenant_id integer, planted_id integer unique)', 'planted has no primary key'],
  [
    'create table planted (planted_id integer, tenant_id integer, primary key (planted_id, tenant_id))',
    'planted_pkey does not begin with the tenant',
  ],
  ['create unique index planted on lanes (lane_ref)', 'planted does not begin with the tenant'],
  ['alter table lanes add foreign key (created_by) references instances', null],
  [
    'alter table lanes add unique (tenant_id, lane_number, lane_id), add constraint planted foreign key (tenant_id, created_by) references users deferrable',
    'planted of lanes does more than a foreign key may here',
  ],
  [
    `create function planted() returns trigger language plpgsql as 'begin return new; end';
     create trigger planted before insert on lanes for each row execute function planted()`,
    'lanes has the trigger planted',
  ],
  ['alter table lanes add planted bigserial', 'lanes.planted counts on by itself'],
  [
    `create function planted(a integer) returns bigint language sql as 'select count(*) from public.lanes where tenant_id = a'`,
    'the function planted asks lanes in the language sql',
  ],
])('a planted fault in the schema is found: %s', async (statement, fault) => {
  await owner.query('begin')
  try {
    if (fault === null) {
      await expect(owner.query(statement)).rejects.toThrow()
      return
    }
    await owner.query(statement)
    expect((await schemaFaults(owner)).join('\n')).toContain(fault)
  } finally {
    await owner.query('rollback')
  }
})

class TakenBack extends Error {}

async function inTenantB(work: (transaction: TenantTransaction) => Promise<unknown>): Promise<void> {
  await app.database
    .inTenant(tenantId(b.tenant), async (transaction) => {
      await work(transaction)
      throw new TakenBack()
    })
    .catch((error: unknown) => {
      if (!(error instanceof TakenBack)) throw error
    })
}

test('every table in every statement of every function of the database is tied to one tenant', async (context) => {
  if (!tells) context.skip('only a superuser may ask for the plans of statements')
  const tenants = await seededTenants(app)
  try {
    await tenants.seed('B')
    const [lane, user] = await app.database.inTenant(tenantId(b.tenant), async (transaction) => [
      await findLane(transaction, tenantId(b.tenant), b.laneRef),
      await findUser(transaction, tenantId(b.tenant), b.person),
    ])
    if (lane === null || user === null) throw new Error('B has not been seeded.')
    const given = {
      database: app.database,
      tenant: tenantId(b.tenant),
      of: b,
      lane,
      user,
      requestDigest: createHash('sha256').update(`${tenants.sentAtSeconds}.`).update(updateOf(b)).digest(),
      fingerprint: createHash('sha256').update('row of B').digest(),
      now: new Date(tenants.sentAtSeconds * 1000),
    }
    const faults: Record<string, readonly string[]> = {}
    const statements: Record<string, number> = {}
    for (const [name, method] of Object.entries(methods)) {
      told.length = 0
      await inTenantB(async (transaction) => {
        if (method.importIs !== undefined) {
          await sql`update imports set status = ${method.importIs}, finished_at = null where tenant_id = ${b.tenant}`.execute(
            transaction,
          )
        }
        // A row that is there already is refused after its statement was planned.
        await method.call({ ...given, transaction }).catch(() => {})
      })
      statements[name] = told.length
      const found = toldFaults()
      if (found.length > 0) faults[name] = found
      if (method.commits === true) await tenants.seed('B')
    }
    expect(faults).toEqual({})
    // Each has told at least one statement of its own beside the opening of its transaction.
    expect(Object.entries(statements).filter(([, count]) => count < 2)).toEqual([])
  } finally {
    await tenants.close()
  }
}, 60_000)

test.each([
  [`select count(*) from lanes where origin_key = 'dallas|TX'`, 'lanes is not tied to a tenant'],
  [
    `select u.name from lanes l join users u on u.user_id = l.created_by where l.tenant_id = ${b.tenant}`,
    'users is not tied to a tenant',
  ],
  [`update lanes set miles = 1 where lane_id = 1`, 'lanes is not tied to a tenant'],
  [
    `select (select count(*) from users) from lanes where tenant_id = ${b.tenant}`,
    'users is not tied to a tenant',
  ],
  [
    `insert into quote_changes select ${b.tenant}, version, '{}' from unnest('{8,9}'::bigint[]) as version`,
    'quote_changes is filled from rows that are not of a tenant',
  ],
  [
    `with one as (insert into quote_changes values (${b.tenant}, 8, '{}')) select count(*) from lanes where tenant_id = ${b.tenant}`,
    'quote_changes is written within another statement',
  ],
  [
    `select count(*) from lanes, instances where tenant_id = ${b.tenant}`,
    'instances is put together with the rows of a tenant',
  ],
])('a planted statement is found: %s', async (statement, fault) => {
  if (!tells) return
  told.length = 0
  await inTenantB((transaction) => sql.raw(statement).execute(transaction))
  expect(toldFaults().join('\n')).toContain(fault)
})

test('a statement that ties one table by another is right', async (context) => {
  if (!tells) context.skip('only a superuser may ask for the plans of statements')
  told.length = 0
  await inTenantB((transaction) =>
    sql`select u.name from lanes l left join users u on u.tenant_id = l.tenant_id and u.user_id = l.created_by
        where l.tenant_id = ${b.tenant}`.execute(transaction),
  )
  expect(told.length).toBeGreaterThan(0)
  expect(toldFaults()).toEqual([])
})
