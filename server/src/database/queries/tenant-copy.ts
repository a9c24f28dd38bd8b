import pg from 'pg'
import type { Identifiers, TenantId } from '../session/index.ts'
import { tenantTables } from './operators.ts'

const sentFromOnePlace =
  'addresses for events, their secrets and what waits to be sent: made anew where it arrives, so that never two installations send'

/**
 * What is not copied with a tenant, and why. Everything else that names a tenant is: which tables and columns there are is
 * asked of the catalogue, so that a new one cannot be forgotten.
 */
export const tablesLeftBehind: Readonly<Record<string, string>> = {
  quote_changes:
    'what processes here follow; where it arrives the versions go on from far above, and they read all quotes',
  tenant_windows: 'the times of the last second’s requests: of the installation, and old when they arrive',
  event_endpoints: sentFromOnePlace,
  event_secrets: sentFromOnePlace,
  events: sentFromOnePlace,
  event_deliveries: sentFromOnePlace,
}
export const columnsLeftBehind: Readonly<Record<string, readonly string[]>> = {
  // Counts the transactions of the database it is in.
  tenant_facts: ['changed_in'],
}

/** How many rows are read, written and compared at once. */
export const rowsAtOnce = 1_000

/**
 * What processes remember of a tenant is good for its versions. An installation that had this one before, and erased it,
 * may remember versions beyond those that arrive: they go on from far above.
 */
const versionsAhead = 1_000_000

/** A table of tenants, as it is copied. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** The rows of one tenant, in one transaction of the owner of the tables. Rows are lines of JSON, a member a column. */
export interface TenantCopy {
  /** Each after those it points at. */
  readonly tables: readonly CopiedTable[]
  /** The newest migration of the database. */
  readonly schema: string
  /** The rows of a table, always in the same order, some at a time. With `instead`, some columns as these expressions. */
  rows(table: CopiedTable, instead?: Readonly<Record<string, string>>): AsyncGenerator<readonly string[]>
  /** Writes rows; when one cannot be written, says which of them. */
  insert(table: CopiedTable, lines: readonly string[]): Promise<RowRefused | null>
  /** The name of the brokerage that has this number here, or of a table that holds rows of it; null when there is none. */
  present(): Promise<string | null>
  /** Numbers that arrived with lanes and requests: never given again here. Answers how many had been given before. */
  take(identifiers: Identifiers, laneIds: readonly number[], requestIds: readonly number[]): Promise<number>
  /** Signing secrets that open no more are revoked. Answers how many lived. */
  revokeSecrets(now: Date): Promise<number>
  /** The last thing: whatever was remembered of this tenant here is remembered no more. */
  moveVersions(): Promise<void>
}

/** A row that the database does not take. */
export interface RowRefused {
  /** Its place among those that were to be written, from 0. */
  readonly index: number
  readonly why: string
}

/**
 * Runs `work` with all rows of a tenant in one transaction: to `read` a state of one moment, or to `write` what is there
 * as a whole or not at all. Only the owner of the tables may.
 */
export async function copyingTenant<T>(
  ownerConnection: pg.ClientConfig,
  tenant: TenantId,
  kind: 'read' | 'write',
  work: (copy: TenantCopy) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...ownerConnection, connectionTimeoutMillis: 5_000 })
  // Without a listener a connection that is lost between two statements would end the process: the next one fails.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(
      kind === 'read'
        ? 'begin isolation level repeatable read read only'
        : 'begin isolation level read committed',
    )
    // One form for each value, whatever the server or the role is set to.
    await client.query(`select set_config('app.tenant_id', '${Number(tenant)}', true),
      set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
      set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`)
    const result = await work(await tenantCopy(client, tenant))
    await client.query('commit')
    return result
  } finally {
    // Without a commit the end of the connection takes everything back.
    await client.end()
  }
}

/**
 * Lets PostgreSQL look at tables that have many rows more than a moment ago: until it does, it reads them as if they were
 * small. It would by itself, some minutes later.
 */
export async function lookAtTables(
  ownerConnection: pg.ClientConfig,
  tables: readonly string[],
): Promise<void> {
  const client = new pg.Client({ ...ownerConnection, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    for (const table of tables) await client.query(`analyze ${quoted(table)}`)
  } finally {
    await client.end()
  }
}

async function tenantCopy(client: pg.Client, tenant: TenantId): Promise<TenantCopy> {
  const order = (await tenantTables(client)).toReversed()
  const { rows: columns } = await client.query<{
    table: string
    name: string
    in_key: number | null
    is_text: boolean
  }>(
    `select c.oid::regclass::text as table, a.attname as name,
       array_position(i.indkey::int2[], a.attnum) as in_key, a.attcollation <> 0 as is_text
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     join pg_index i on i.indrelid = c.oid and i.indisprimary
     where c.oid = any($1::regclass[]) order by c.oid, a.attnum`,
    [order],
  )
  const of = Map.groupBy(columns, ({ table }) => table)
  const tables = order
    .filter((name) => tablesLeftBehind[name] === undefined)
    .map((name) => ({
      name,
      columns: (of.get(name) ?? [])
        .map((column) => column.name)
        .filter((column) => columnsLeftBehind[name]?.includes(column) !== true),
    }))
  const bare = tables.find(({ columns: carried }) => carried.length === 0)
  if (bare !== undefined)
    throw new Error(`The table ${bare.name} has no primary key: its rows have no order.`)
  // In the order in which they were made, as they lie where they come from: what is of one time is read together. And the
  // same order everywhere: not every database sorts text by its code points.
  const orderOf = (name: string) => {
    const key = (of.get(name) ?? [])
      .filter(({ in_key }) => in_key !== null)
      .sort((one, other) => (one.in_key ?? 0) - (other.in_key ?? 0))
      .map((column) => `${quoted(column.name)}${column.is_text ? ' collate "C"' : ''}`)
    return of.get(name)?.some((column) => column.name === 'created_at') === true
      ? ['created_at', ...key]
      : key
  }
  const { rows: migrations } = await client.query<{ name: string }>(
    'select name from schema_migrations order by name desc limit 1',
  )

  async function insertAll({ name, columns: carried }: CopiedTable, lines: readonly string[]): Promise<void> {
    const names = carried.map(quoted).join(', ')
    await client.query(
      `insert into ${name} (${names}) select ${names} from json_populate_recordset(null::${name}, $1::json)`,
      [`[${lines.join(',')}]`],
    )
  }

  return {
    tables,
    schema: migrations[0]?.name ?? '',
    async *rows({ name, columns: carried }, instead = {}) {
      const values = carried.map((column) => {
        const expression = instead[column]
        return expression === undefined ? quoted(column) : `${expression} as ${quoted(column)}`
      })
      await client.query(
        `declare copied no scroll cursor for
         select row_to_json(r)::text as line
         from (select ${values.join(', ')} from ${name} where tenant_id = ${Number(tenant)}
               order by ${orderOf(name).join(', ')}) r`,
      )
      for (;;) {
        const { rows } = await client.query<{ line: string }>(`fetch ${rowsAtOnce} from copied`)
        if (rows.length > 0) yield rows.map(({ line }) => line)
        if (rows.length < rowsAtOnce) break
      }
      await client.query('close copied')
    },
    async insert(table, lines) {
      await client.query('savepoint batch')
      try {
        await insertAll(table, lines)
        await client.query('release batch')
        return null
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error
        await client.query('rollback to batch')
        return { index: await firstRefused(lines), why: reason(error) }
      }

      async function firstRefused(all: readonly string[]): Promise<number> {
        for (const [index, line] of all.entries()) {
          try {
            await insertAll(table, [line])
          } catch {
            return index
          }
        }
        return 0
      }
    },
    async present() {
      for (const table of order) {
        if (tablesLeftBehind[table] !== undefined) continue
        const { rowCount } = await client.query(`select from ${table} where tenant_id = $1 limit 1`, [tenant])
        if (rowCount === 0) continue
        const { rows } = await client.query<{ name: string }>(
          'select name from tenants where tenant_id = $1',
          [tenant],
        )
        return rows[0]?.name ?? `rows in ${table}`
      }
      return null
    },
    async take({ laneNumber, requestNumber }, laneIds, requestIds) {
      let givenBefore = 0
      for (const [sequence, numbers] of [
        ['lane_number', laneIds.map(laneNumber)],
        ['request_number', requestIds.map(requestNumber)],
      ] as const) {
        const { rows } = await client.query<{ before: string }>(
          // A place that was given already is never given again.
          `with arrived as (
             select number, place.is_called and number <= place.last_value as given
             from unnest($2::bigint[]) as number, ${sequence} as place
           ), written as (
             insert into taken_numbers select $1, number from arrived where not given on conflict do nothing
           )
           select count(*) filter (where given) as before from arrived`,
          [sequence, numbers],
        )
        givenBefore += Number(rows[0]?.before)
      }
      return givenBefore
    },
    async revokeSecrets(now) {
      const { rowCount } = await client.query(
        'update signing_secrets set revoked_at = $2 where tenant_id = $1 and revoked_at is null',
        [tenant, now],
      )
      return rowCount ?? 0
    },
    async moveVersions() {
      await client.query(
        `update tenant_facts set facts_version = facts_version + $2, access_version = access_version + $2,
           changed_in = pg_current_xact_id()
         where tenant_id = $1`,
        [tenant, versionsAhead],
      )
    },
  }
}

const quoted = (name: string) => pg.escapeIdentifier(name)

function reason({ message, detail }: pg.DatabaseError): string {
  return detail === undefined ? message : `${message}: ${detail}`
}
