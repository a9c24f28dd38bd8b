import pg from 'pg'
import {
  EarlierSchema,
  earlierIn,
  firstUpgradable,
  lastOfBaseline,
  upgradableFrom,
} from './earlier-schema.ts'
import type { Migration } from './migration.ts'

/** Where the tables of the earlier version are while their rows are copied. The transaction that creates it drops it. */
const earlier = 'lanewise_earlier'

/** Tables that are not copied. */
const leftBehind: ReadonlySet<string> = new Set([
  // Written by the migrations themselves.
  'schema_migrations',
  // Of running instances, and there are none.
  'instances',
  'tenant_windows',
  // Counts and changes that this version computes from the quotes.
  'counted_lanes',
  'lane_days',
  'lane_rates',
  'quote_changes',
  'quote_miles',
  'quote_months',
])

/** Columns that are not copied by their name: `table.column`. */
const columnsLeftBehind: ReadonlySet<string> = new Set([
  'tenant_facts.won_quotes',
  'tenant_facts.decided_quotes',
  // The transaction that changed a brokerage last: this one, so that every cache is read anew.
  'tenant_facts.changed_in',
  // Converted to a pricing rule.
  'tenants.floor_margin_pct',
  'tenants.floor_margin_cents',
  'tenants.floor_rate_per_mile_cents',
])

/** The members of the minimum of a pricing rule, and the floor that each comes from. */
const floorOf = [
  ['pct', 'floor_margin_pct'],
  ['cents', 'floor_margin_cents'],
  ['rateCentsPerMile', 'floor_rate_per_mile_cents'],
] as const

/** The floors of a brokerage as a rule for all quotes. A floor of 0 was none. */
const ruleOfFloors = `case when coalesce(nullif(floor_margin_pct, 0), nullif(floor_margin_cents, 0),
    nullif(floor_rate_per_mile_cents, 0)) is null then '[]'::jsonb
  else jsonb_build_array(jsonb_build_object('ruleId', 1, 'conditions', '{}'::jsonb, 'isOn', true, 'changedBy', null,
    'changedAt', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'terms', jsonb_build_object('minimum', jsonb_strip_nulls(jsonb_build_object(
      ${floorOf.map(([member, column]) => `'${member}', nullif(${column}, 0)`).join(', ')}))))) end`

/** Before 0028-stamps.sql, a booking field had one signed time, and no list of them by sender. */
const stampsOfTimes = `coalesce((select jsonb_object_agg(key, jsonb_build_array(
    jsonb_build_object('sender', null, 'signed', value, 'effective', value))) from jsonb_each(signed_at)), '{}')`

interface Column {
  readonly name: string
  readonly type: string
  readonly generated: boolean
  /** A row needs a value: there is neither null nor a default. */
  readonly required: boolean
}
type Tables = ReadonlyMap<string, readonly Column[]>

/** A table of both versions. */
interface SharedTable {
  readonly name: string
  /** The columns that are copied, and the SQL expression of each over the earlier table. */
  readonly columns: ReadonlyMap<string, string>
  readonly types: ReadonlyMap<string, string>
}

/**
 * Brings a database of a version before the baseline to this version: creates the tables of the baseline beside the earlier
 * ones, copies every row, compares all of them, drops the earlier tables, and applies the later migrations. It is one transaction of the caller, so that a failure, a
 * power cut or a kill leaves the database as it was.
 *
 * @throws EarlierSchema with the reason if it cannot be upgraded; the message names the table and column
 */
export async function upgradeEarlier(
  client: pg.ClientBase,
  applied: readonly string[],
  migrations: readonly Migration[],
  log: (line: string) => void,
): Promise<void> {
  const found = earlierIn(applied) ?? ''
  const refuse = (why: string): never => {
    throw new EarlierSchema(found, `${why} Nothing was changed.`)
  }
  if (!applied.some((name) => upgradableFrom.has(name))) {
    refuse(`It lacks ${firstUpgradable}: upgrade it first with a version that has that migration.`)
  }
  await client.query('set local statement_timeout = 0')
  await refuseDistributed(client, refuse)
  await refuseSessions(client, refuse)
  await setAside(client, refuse)
  await run(
    client,
    migrations.filter(({ name }) => name <= lastOfBaseline),
  )
  const forced = await stopForcing(client)
  const tables = await sharedTables(client, applied, refuse)
  for (const table of tables) await copyRows(client, table, refuse)
  for (const table of tables)
    log(`${table.name}: ${await compareRows(client, table, refuse)} rows, all equal`)
  await compareFloors(client, refuse)
  await completeRows(client)
  await copySequences(client)
  for (const name of forced) await client.query(`alter table public.${quoted(name)} force row level security`)
  await client.query(`drop schema ${earlier} cascade`)
  // They may change rows.
  await run(
    client,
    migrations.filter(({ name }) => name > lastOfBaseline),
  )
}

async function run(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  for (const { name, sql } of migrations) {
    await client.query(sql)
    await client.query('insert into schema_migrations (name) values ($1)', [name])
  }
}

type Refuse = (why: string) => never

async function refuseDistributed(client: pg.ClientBase, refuse: Refuse): Promise<void> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as is_there`,
  )
  if (rows[0]?.is_there !== true) return
  const { rowCount } = await client.query('select from pg_dist_partition limit 1')
  if (rowCount !== 0) {
    refuse(
      'It is distributed over a Citus cluster: restore a backup of it into one PostgreSQL server and upgrade it there.',
    )
  }
}

/** Instances of the earlier version would write rows that are not copied. */
async function refuseSessions(client: pg.ClientBase, refuse: Refuse): Promise<void> {
  const { rows } = await client.query<{ sessions: number }>(
    `select count(*)::integer as sessions from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
     where a.datname = current_database() and a.pid <> pg_backend_pid()
       and not r.rolsuper and pg_has_role(r.oid, 'lanewise_service', 'member')`,
  )
  const sessions = rows[0]?.sessions ?? 0
  if (sessions > 0) {
    refuse(
      `${sessions} connection(s) of lanewise_service are open: stop every instance of the earlier version (and the connections of a pooler) first.`,
    )
  }
}

const notOfExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

/** Moves everything of the earlier version to a schema of its own. */
async function setAside(client: pg.ClientBase, refuse: Refuse): Promise<void> {
  try {
    await client.query(`create schema ${earlier}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    refuse(
      'Its owner may not create a schema in it. As a superuser, run: grant create on database DATABASE to OWNER.',
    )
  }
  // Sequences of a column move with their table. A view or function moves, too: other objects may depend on it.
  const { rows } = await client.query<{ what: string }>(
    // Functions first: their names contain the types of the tables.
    `select format('function %s', p.oid::regprocedure) as what, 1 as turn from pg_proc p
     where p.pronamespace = 'public'::regnamespace and ${notOfExtension('pg_proc', 'p.oid')}
     union all
     select format('%s %s', case c.relkind when 'r' then 'table' when 'v' then 'view' else 'sequence' end, c.oid::regclass), 2
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'S') and ${notOfExtension('pg_class', 'c.oid')}
       and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i') and c.relkind = 'S')
     order by turn`,
  )
  for (const { what } of rows) await client.query(`alter ${what} set schema ${earlier}`)
}

async function tablesIn(client: pg.ClientBase, schema: string): Promise<Tables> {
  const { rows } = await client.query<{ table: string; columns: Column[] }>(
    `select c.relname as table, json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
       'generated', a.attgenerated <> '', 'required', a.attnotnull and not a.atthasdef) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = $1::regnamespace and c.relkind = 'r' group by c.relname`,
    [schema],
  )
  return new Map(rows.map(({ table, columns }) => [table, columns]))
}

/** The tables of both versions, each after those that it references. */
async function sharedTables(
  client: pg.ClientBase,
  applied: readonly string[],
  refuse: Refuse,
): Promise<SharedTable[]> {
  const [before, now] = [await tablesIn(client, earlier), await tablesIn(client, 'public')]
  const kept = [...before.keys()].filter((name) => !leftBehind.has(name))
  for (const name of kept) await refuseUnknown(client, name, { before, now, refuse })
  const { rows: references } = await client.query<{ from: string; to: string }>(
    `select distinct f.relname as from, t.relname as to from pg_constraint k
     join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conrelid <> k.confrelid`,
  )
  return inOrder(
    kept.filter((name) => now.has(name)),
    references,
  ).map((name) => {
    const there = before.get(name) ?? []
    const columns = (now.get(name) ?? []).filter(
      ({ name: column, generated }) =>
        !generated &&
        !columnsLeftBehind.has(`${name}.${column}`) &&
        there.some((known) => known.name === column),
    )
    const expressions = new Map(columns.map(({ name: column }) => [column, quoted(column)]))
    if (name === 'lanes' && !applied.includes('0028-stamps.sql') && isBeforeStamps(applied)) {
      expressions.set('signed_at', stampsOfTimes)
    }
    if (name === 'tenants' && there.some(({ name: column }) => column === 'floor_margin_pct')) {
      expressions.set('pricing_rules', ruleOfFloors)
    }
    const types = new Map((now.get(name) ?? []).map((column) => [column.name, column.type]))
    return { name, columns: expressions, types }
  })
}

/** Only databases whose migrations begin with 0001-facts.sql can lack 0028-stamps.sql: the baseline contains it. */
const isBeforeStamps = (applied: readonly string[]) => applied.includes('0001-facts.sql')

/**
 * Lets the owner see and write the rows of all brokerages in this transaction. Returns the tables of this version whose
 * row-level security must be forced again.
 */
async function stopForcing(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select relnamespace::regnamespace::text as schema, relname as name from pg_class
     where relnamespace in ('public'::regnamespace, '${earlier}'::regnamespace) and relkind = 'r' and relforcerowsecurity`,
  )
  for (const { schema, name } of rows)
    await client.query(`alter table ${schema}.${quoted(name)} no force row level security`)
  return rows.filter(({ schema }) => schema === 'public').map(({ name }) => name)
}

/** Refuses a table or a column with values that this version has no place for, and a value that it needs and nobody has. */
async function refuseUnknown(
  client: pg.ClientBase,
  table: string,
  { before, now, refuse }: { before: Tables; now: Tables; refuse: Refuse },
): Promise<void> {
  const rowsWith = async (condition: string) => {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from ${earlier}.${quoted(table)} where ${condition}`,
    )
    return Number(rows[0]?.count)
  }
  const there = before.get(table) ?? []
  const here = now.get(table)
  if (here === undefined) {
    const rows = await rowsWith('true')
    if (rows > 0) refuse(`This version has no table ${table}, and it has ${rows} rows there.`)
    return
  }
  for (const { name } of there) {
    if (here.some((column) => column.name === name) || columnsLeftBehind.has(`${table}.${name}`)) continue
    const rows = await rowsWith(`${quoted(name)} is not null`)
    if (rows > 0) refuse(`This version has no column ${table}.${name}, and ${rows} rows have a value there.`)
  }
  const lacking = here.find(
    ({ name, required, generated }) =>
      required && !generated && !there.some((column) => column.name === name),
  )
  if (lacking !== undefined && (await rowsWith('true')) > 0)
    refuse(`It has no column ${table}.${lacking.name}, which every row needs.`)
}

/** Sorts tables so that each follows those that it references. */
function inOrder(
  names: readonly string[],
  references: readonly { readonly from: string; readonly to: string }[],
): string[] {
  const sorted: string[] = []
  const place = (name: string, path: readonly string[]) => {
    if (sorted.includes(name) || path.includes(name)) return
    for (const { from, to } of references) {
      if (from === name && names.includes(to)) place(to, [...path, name])
    }
    sorted.push(name)
  }
  for (const name of names.toSorted()) place(name, [])
  return sorted
}

async function copyRows(
  client: pg.ClientBase,
  { name, columns }: SharedTable,
  refuse: Refuse,
): Promise<void> {
  const into = [...columns.keys()].map(quoted).join(', ')
  try {
    await client.query(
      `insert into public.${quoted(name)} (${into}) select ${[...columns.values()].join(', ')} from ${earlier}.${quoted(name)}`,
    )
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    const { column, constraint, message } = error
    const where = column ?? constraint
    refuse(`A row of the table ${name} does not fit${where === undefined ? '' : ` (${where})`}: ${message}.`)
  }
}

/** Writes what the earlier version did not have: a version of each lane, which those who follow changes read. */
async function completeRows(client: pg.ClientBase): Promise<void> {
  await client.query(
    `insert into lane_versions (tenant_id, lane_id, version, changed_at)
     select tenant_id, lane_id, 0, updated_at from lanes
     where not exists (select from lane_versions v where v.tenant_id = lanes.tenant_id and v.lane_id = lanes.lane_id)`,
  )
}

/** Compares all rows of a table with those that it was copied from, in both directions. Returns their number. */
async function compareRows(
  client: pg.ClientBase,
  { name, columns, types }: SharedTable,
  refuse: Refuse,
): Promise<number> {
  const isCompared = ([column]: readonly [string, string]) => `${name}.${column}` !== 'tenants.pricing_rules'
  const compared = [...columns].filter(isCompared)
  // The type json has no equality; its text has.
  const value = (column: string, expression: string) => {
    const type = types.get(column) ?? 'text'
    return `(${expression})::${type === 'json' ? 'text' : type}`
  }
  const before = compared.map(([column, expression]) => value(column, expression)).join(', ')
  const now = compared.map(([column]) => value(column, quoted(column))).join(', ')
  const [from, to] = [`${earlier}.${quoted(name)}`, `public.${quoted(name)}`]
  const { rows } = await client.query<{ copied: string; before: string; differ: string }>(
    `select (select count(*) from ${to}) as copied, (select count(*) from ${from}) as before,
       (select count(*) from (
         (select ${before} from ${from} except all select ${now} from ${to})
         union all (select ${now} from ${to} except all select ${before} from ${from})) d) as differ`,
  )
  const counts = rows[0]
  const isWhole = counts?.differ === '0' && counts.copied === counts.before
  if (counts === undefined || !isWhole) {
    refuse(
      `The table ${name} differs after the copy: ${counts?.before} rows before, ${counts?.copied} after, ${counts?.differ} differ.`,
    )
  }
  return Number(counts?.copied)
}

/** Reads the floors back from the rules. */
async function compareFloors(client: pg.ClientBase, refuse: Refuse): Promise<void> {
  const { rowCount: hasFloors } = await client.query(
    `select from pg_attribute where attrelid = '${earlier}.tenants'::regclass and attname = 'floor_margin_pct' and not attisdropped`,
  )
  if (hasFloors === 0) return
  const { rows } = await client.query<{ tenant_id: number }>(
    `select b.tenant_id from ${earlier}.tenants b left join public.tenants t using (tenant_id) where ${floorOf
      .map(
        ([member, column]) =>
          `(t.pricing_rules -> 0 -> 'terms' -> 'minimum' ->> '${member}')::double precision is distinct from nullif(b.${column}, 0)`,
      )
      .join(' or ')} order by 1 limit 1`,
  )
  const wrong = rows[0]
  if (wrong !== undefined) refuse(`The floors of the brokerage ${wrong.tenant_id} differ from its rule.`)
}

/** Numbers continue after the last one of the earlier version. */
async function copySequences(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select b.relname as name from pg_class b join pg_class t on t.relname = b.relname and t.relkind = 'S'
     where b.relkind = 'S' and b.relnamespace = '${earlier}'::regnamespace and t.relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of rows) {
    await client.query(
      `select setval('public.${quoted(name)}', last_value, is_called) from ${earlier}.${quoted(name)}`,
    )
  }
}

const quoted = (name: string) => pg.escapeIdentifier(name)
