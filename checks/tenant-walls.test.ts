import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'

/** Tables of the installation, not of a tenant. A new one belongs here only after somebody asked what it gives away. */
const withoutTenant = ['installation', 'schema_migrations', 'sign_in_emails']

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

async function rows<Row extends object>(question: string): Promise<Row[]> {
  return (await owner.query<Row>(question)).rows
}

const ourTables = `
  select c.oid, c.relname as table, c.relrowsecurity as walled, c.relforcerowsecurity as forced
  from pg_class c
  where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    and c.relname <> all (array['${withoutTenant.join("','")}'])`

/** The names of the columns of an index or a constraint. */
const named = (table: string, columns: string) =>
  `(select array_agg(a.attname::text order by a.attnum) from pg_attribute a where a.attrelid = ${table} and a.attnum = any (${columns}))`

test('the reviewed tables without a tenant exist, and no others', async () => {
  const found = await rows<{ table: string }>(`
    select c.relname as table from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and not exists (select 1 from pg_attribute a
                      where a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull and not a.attisdropped)`)
  // sign_in_emails carries a tenant_id, as its answer: it is asked before the tenant is known.
  expect([...found.map(({ table }) => table), 'sign_in_emails'].sort()).toEqual(withoutTenant)
})

test('the tenant is part of every primary key, and of every other unique index', async () => {
  const indexes = await rows<{ table: string; index: string; columns: string[] }>(`
    select t.table, i.indexrelid::regclass::text as index, ${named('t.oid', 'i.indkey::int2[]')} as columns
    from (${ourTables}) t join pg_index i on i.indrelid = t.oid where i.indisunique`)
  expect(indexes.length).toBeGreaterThan(10)
  expect(indexes.filter(({ columns }) => !columns.includes('tenant_id'))).toEqual([])
})

test('every table of a tenant has a primary key', async () => {
  const without = await rows(`
    select t.table from (${ourTables}) t
    where not exists (select 1 from pg_index i where i.indrelid = t.oid and i.indisprimary)`)
  expect(without).toEqual([])
})

test('the tenant is part of every foreign key, on both sides: no row points at another tenant’s', async () => {
  const keys = await rows<{ name: string; columns: string[]; referenced: string[] }>(`
    select k.conname as name, ${named('k.conrelid', 'k.conkey')} as columns,
           ${named('k.confrelid', 'k.confkey')} as referenced
    from pg_constraint k join (${ourTables}) t on t.oid = k.conrelid where k.contype = 'f'`)
  expect(keys.length).toBeGreaterThan(5)
  const open = keys.filter(
    ({ columns, referenced }) => !columns.includes('tenant_id') || !referenced.includes('tenant_id'),
  )
  expect(open).toEqual([])
})

test('row-level security is on, forced on the owner too, and decides reads and writes alike', async () => {
  const tables = await rows<{ table: string; walled: boolean; forced: boolean; walls: number }>(`
    select t.table, t.walled, t.forced,
           (select count(*)::int from pg_policy p
            where p.polrelid = t.oid and p.polcmd = '*' and p.polpermissive
              and p.polqual is not null and p.polwithcheck is not null) as walls
    from (${ourTables}) t`)
  expect(tables.filter(({ walled, forced, walls }) => !walled || !forced || walls !== 1)).toEqual([])
})

test('any further policy is for the owner alone', async () => {
  const further = await rows<{ policy: string; roles: string[] }>(`
    select p.polname as policy, (select array_agg(r::regrole::text) from unnest(p.polroles) r) as roles
    from pg_policy p where p.polname <> 'tenant_wall'`)
  expect(further.filter(({ roles }) => roles.some((role) => role !== 'lanewise_owner'))).toEqual([])
})

test('the service role owns nothing, cannot truncate, and cannot read which address signs in where', async () => {
  const powers = await rows<{ table: string; power: string }>(`
    select c.relname as table, p.power
    from pg_class c cross join (values ('TRUNCATE'), ('TRIGGER'), ('REFERENCES')) p (power)
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and has_table_privilege('lanewise_service', c.oid, p.power)
    union all
    select c.relname, 'owner' from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relowner = 'lanewise_service'::regrole
    union all
    select 'sign_in_emails', p.power
    from (values ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) p (power)
    where has_table_privilege('lanewise_service', 'sign_in_emails', p.power)`)
  expect(powers).toEqual([])
})

test('what is append-only for the service stays so: the audit log, the changes of lanes and the log of signed updates', async () => {
  const changeable = await rows(`
    select t.table, p.power
    from (values ('audit_log'), ('lane_changes'), ('shipment_updates')) t ("table")
    cross join (values ('UPDATE'), ('DELETE')) p (power)
    where has_table_privilege('lanewise_service', t.table, p.power)`)
  expect(changeable).toEqual([])
})

test('what steps over the walls is three functions with a fixed search path', async () => {
  const found = await rows<{ name: string; path: string[] | null; everyone: boolean }>(`
    select p.proname as name, p.proconfig as path, has_function_privilege('public', p.oid, 'EXECUTE') as everyone
    from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace order by p.proname`)
  expect(found.map(({ name }) => name)).toEqual(['claim_sign_in', 'release_sign_in', 'sign_in_of'])
  for (const { path, everyone } of found) {
    expect(path).toEqual(['search_path=pg_catalog, public'])
    expect(everyone).toBe(false)
  }
})

test('there are no views: a view would look with the rights of its owner', async () => {
  const views = await rows(`
    select c.relname from pg_class c
    where c.relkind in ('v', 'm') and c.relnamespace = 'public'::regnamespace`)
  expect(views).toEqual([])
})

test('the service can neither change the key of the identifiers nor claim an address for another tenant', async () => {
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
