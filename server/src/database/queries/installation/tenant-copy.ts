import pg from 'pg'
import { withDatabaseClient } from '../../hosts/index.ts'
import type { Identifiers, TenantId } from '../../session/index.ts'
import { tenantTables } from './operators.ts'

const sentByOneInstallation =
  'event endpoints, their secrets, and events to send: created anew at the destination, so that two installations never send the same event'

/**
 * Tables that are not copied with a tenant, and why. All other tables with a tenant are copied: the list of tables and
 * columns comes from the catalog, so that a new one cannot be forgotten.
 */
export const tablesLeftBehind: Readonly<Record<string, string>> = {
  daily_counts: 'counts of a day: they begin anew at the destination',
  sign_in_networks:
    'hashed with the key of this installation: each network is known again after a sign-in from it',
  tenant_windows: 'the times of requests in the last second: outdated when they arrive',
  event_endpoints: sentByOneInstallation,
  event_secrets: sentByOneInstallation,
  events: sentByOneInstallation,
  event_deliveries: sentByOneInstallation,
  expiry_notices: sentByOneInstallation,
}
export const columnsLeftBehind: Readonly<Record<string, readonly string[]>> = {
  // The column is a transaction id of the source database.
  tenant_facts: ['changed_in'],
}

/** How many rows are read, written, and compared at a time. */
export const rowsAtOnce = 1_000

/**
 * Added to the versions of a copied tenant. Processes cache data of a tenant by its versions. An installation that had and
 * erased this tenant before may have cached higher versions than those that arrive.
 */
const versionsAhead = 1_000_000

/** A table and the columns of it that are copied. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
}

/** Access to the rows of one tenant in one transaction of the table owner. A row is a line of JSON with one member per column. */
export interface TenantCopy {
  /** In an order in which each table follows those that it references. */
  readonly tables: readonly CopiedTable[]
  /** The newest migration of the database. */
  readonly schema: string
  /** The rows of a table in batches, always in the same order. `instead` replaces columns with SQL expressions. */
  rows(table: CopiedTable, instead?: Readonly<Record<string, string>>): AsyncGenerator<readonly string[]>
  /** Inserts rows. If the database rejects one, inserts none and returns the rejected row. */
  insert(table: CopiedTable, lines: readonly string[]): Promise<RowRefused | null>
  /** The name of an existing brokerage with this id, or of a table with rows of it; null if there is none. */
  present(): Promise<string | null>
  /** Reserves the ids of copied quotes and requests, so that they are not assigned again. Returns how many were assigned before. */
  take(identifiers: Identifiers, quoteIds: readonly number[], requestIds: readonly number[]): Promise<number>
  /** Revokes the signing secrets, which cannot be decrypted at the destination. Returns how many were active. */
  revokeSecrets(now: Date): Promise<number>
  /** Derives what later versions save beside the rows of an export from before the baseline. */
  completeEarlier(): Promise<void>
  /** Invalidates everything that processes have cached for this tenant. Call it last. */
  moveVersions(): Promise<void>
}

export interface RowRefused {
  /** The position in the inserted rows, from 0. */
  readonly index: number
  readonly why: string
}

/**
 * Runs `work` with all rows of a tenant in one transaction: `read` sees a consistent snapshot, `write` inserts all rows or
 * none. Requires the connection of the table owner.
 */
export async function copyingTenant<T>(
  ownerConnection: pg.ClientConfig,
  tenant: TenantId,
  kind: 'read' | 'write',
  work: (copy: TenantCopy) => Promise<T>,
): Promise<T> {
  return withDatabaseClient({ ...ownerConnection, connectionTimeoutMillis: 5_000 }, async (client) => {
    await client.query(
      kind === 'read'
        ? 'begin isolation level repeatable read read only'
        : 'begin isolation level read committed',
    )
    // Fix the text format of values, whatever the settings of the server or the role.
    await client.query(`select set_config('app.tenant_id', '${Number(tenant)}', true),
      set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
      set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true)`)
    const result = await work(await openTenantCopy(client, tenant))
    await client.query('commit')
    return result
  })
}

/**
 * Updates the planner statistics of tables that have just grown. PostgreSQL would do so itself some minutes later, but plans
 * queries for small tables until then.
 */
export async function analyzeTables(
  ownerConnection: pg.ClientConfig,
  tables: readonly string[],
): Promise<void> {
  return withDatabaseClient({ ...ownerConnection, connectionTimeoutMillis: 5_000 }, async (client) => {
    for (const table of tables) await client.query(`analyze ${quoted(table)}`)
  })
}

interface ColumnRow {
  readonly table: string
  readonly name: string
  /** The position in the primary key, from 0; null if the column is not in it. */
  readonly in_key: number | null
  readonly is_text: boolean
}

async function openTenantCopy(client: pg.Client, tenant: TenantId): Promise<TenantCopy> {
  const tableNames = (await tenantTables(client)).toReversed()
  const { rows: columns } = await client.query<ColumnRow>(
    `select c.oid::regclass::text as table, a.attname as name,
       array_position(i.indkey::int2[], a.attnum) as in_key, a.attcollation <> 0 as is_text
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     join pg_index i on i.indrelid = c.oid and i.indisprimary
     where c.oid = any($1::regclass[]) order by c.oid, a.attnum`,
    [tableNames],
  )
  const columnsOf = Map.groupBy(columns, ({ table }) => table)
  const tables = tableNames
    .filter((name) => tablesLeftBehind[name] === undefined)
    .map((name) => copiedTable(name, columnsOf.get(name) ?? []))
  const { rows: migrations } = await client.query<{ name: string }>(
    'select name from schema_migrations order by name desc limit 1',
  )
  return new ClientTenantCopy({ client, tenant, tables, schema: migrations[0]?.name ?? '' })
}

interface OrderedTable extends CopiedTable {
  /** SQL expressions to order the rows by. */
  readonly order: readonly string[]
}

/**
 * Orders rows by creation time, then by primary key, so that rows that are read together are next to each other. Text is
 * ordered by code points (`collate "C"`), because the default collation differs between databases.
 */
function copiedTable(name: string, columns: readonly ColumnRow[]): OrderedTable {
  const copied = columns
    .map((column) => column.name)
    .filter((column) => columnsLeftBehind[name]?.includes(column) !== true)
  if (copied.length === 0) throw new Error(`The table ${name} has no primary key, so its rows have no order.`)
  const key = columns
    .filter(({ in_key }) => in_key !== null)
    .sort((one, other) => (one.in_key ?? 0) - (other.in_key ?? 0))
    .map((column) => `${quoted(column.name)}${column.is_text ? ' collate "C"' : ''}`)
  const hasCreationTime = columns.some((column) => column.name === 'created_at')
  return { name, columns: copied, order: hasCreationTime ? ['created_at', ...key] : key }
}

class ClientTenantCopy implements TenantCopy {
  readonly tables: readonly OrderedTable[]
  readonly schema: string
  readonly #client: pg.Client
  readonly #tenant: TenantId

  constructor(parts: {
    readonly client: pg.Client
    readonly tenant: TenantId
    readonly tables: readonly OrderedTable[]
    readonly schema: string
  }) {
    this.#client = parts.client
    this.#tenant = parts.tenant
    this.tables = parts.tables
    this.schema = parts.schema
  }

  async *rows(
    { name, columns }: CopiedTable,
    instead: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<readonly string[]> {
    const order = this.tables.find((table) => table.name === name)?.order ?? []
    const values = columns.map((column) => {
      const expression = instead[column]
      return expression === undefined ? quoted(column) : `${expression} as ${quoted(column)}`
    })
    await this.#client.query(
      `declare copied no scroll cursor for
       select row_to_json(r)::text as line
       from (select ${values.join(', ')} from ${name} where tenant_id = ${Number(this.#tenant)}
             order by ${order.join(', ')}) r`,
    )
    for (;;) {
      const { rows } = await this.#client.query<{ line: string }>(`fetch ${rowsAtOnce} from copied`)
      if (rows.length > 0) yield rows.map(({ line }) => line)
      if (rows.length < rowsAtOnce) break
    }
    await this.#client.query('close copied')
  }

  async insert(table: CopiedTable, lines: readonly string[]): Promise<RowRefused | null> {
    await this.#client.query('savepoint batch')
    try {
      await this.#insertAll(table, lines)
      await this.#client.query('release batch')
      return null
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      await this.#client.query('rollback to batch')
      return { index: await this.#firstRejected(table, lines), why: reason(error) }
    }
  }

  async present(): Promise<string | null> {
    for (const { name } of this.tables) {
      const { rowCount } = await this.#client.query(`select from ${name} where tenant_id = $1 limit 1`, [
        this.#tenant,
      ])
      if (rowCount === 0) continue
      const { rows } = await this.#client.query<{ name: string }>(
        'select name from tenants where tenant_id = $1',
        [this.#tenant],
      )
      return rows[0]?.name ?? `rows in ${name}`
    }
    return null
  }

  async take(
    { laneNumber, requestNumber }: Identifiers,
    quoteIds: readonly number[],
    requestIds: readonly number[],
  ): Promise<number> {
    const lanes = await this.#takeNumbers('lane_number', quoteIds.map(laneNumber))
    return lanes + (await this.#takeNumbers('request_number', requestIds.map(requestNumber)))
  }

  async revokeSecrets(now: Date): Promise<number> {
    const { rowCount } = await this.#client.query(
      'update signing_secrets set revoked_at = $2 where tenant_id = $1 and revoked_at is null',
      [this.#tenant, now],
    )
    return rowCount ?? 0
  }

  async completeEarlier(): Promise<void> {
    // As 0053-addresses-at-acceptance.sql and 0067-superseded-offers.sql do in a database.
    await this.#client.query(
      `delete from sign_in_emails where tenant_id = $1
         and user_id in (select user_id from users where tenant_id = $1 and status = 'invited')`,
      [this.#tenant],
    )
    await this.#client.query(supersedeOffers, [this.#tenant])
  }

  async moveVersions(): Promise<void> {
    // An old export, from before quotes had versions, contains none.
    await this.#client.query(
      `insert into quote_versions (tenant_id, lane_id, version, changed_at)
       select tenant_id, lane_id, 0, updated_at from quotes
       where tenant_id = $1 and not exists (select from quote_versions where tenant_id = $1)`,
      [this.#tenant],
    )
    await this.#client.query(
      `update tenant_facts set facts_version = facts_version + $2, access_version = access_version + $2,
         changed_in = pg_current_xact_id()
       where tenant_id = $1`,
      [this.#tenant, versionsAhead],
    )
  }

  async #insertAll({ name, columns }: CopiedTable, lines: readonly string[]): Promise<void> {
    const names = columns.map(quoted).join(', ')
    await this.#client.query(
      `insert into ${name} (${names}) select ${names} from json_populate_recordset(null::${name}, $1::json)`,
      [`[${lines.join(',')}]`],
    )
  }

  /** Inserts rows one by one to find the first that the database rejects. The transaction is not usable afterwards. */
  async #firstRejected(table: CopiedTable, lines: readonly string[]): Promise<number> {
    for (const [index, line] of lines.entries()) {
      try {
        await this.#insertAll(table, [line])
      } catch {
        return index
      }
    }
    return 0
  }

  /** Records numbers that the sequence has not assigned yet as taken. Returns how many it had assigned. */
  async #takeNumbers(sequence: string, numbers: readonly number[]): Promise<number> {
    const { rows } = await this.#client.query<{ before: string }>(
      `with arrived as (
         select number, place.is_called and number <= place.last_value as given
         from unnest($2::bigint[]) as number, ${sequence} as place
       ), written as (
         insert into taken_numbers select $1, number from arrived where not given on conflict do nothing
       )
       select count(*) filter (where given) as before from arrived`,
      [sequence, numbers],
    )
    return Number(rows[0]?.before)
  }
}

/** Marks the offers of each load that do not count, with a change in the history of each. */
const supersedeOffers = `
  with offers as (
    select *, outcome = 'won' and coalesce(customer_rate_cents, truck_cost_cents) is not null as is_booked from quotes
    where tenant_id = $1 and voided_at is null and (request_id, lane_number) in (
      select request_id, lane_number from quotes where tenant_id = $1 and quote_count > 1)
  ), counting as (
    select distinct on (request_id, lane_number) request_id, lane_number, lane_ref, lane_id, quote_count, quoted_rate_cents
    from offers order by request_id, lane_number, is_booked desc, (outcome = 'won') desc, quote_count desc
  ), marked as (
    select offers.lane_id, jsonb_build_object('superseded_by', counting.lane_ref, 'superseded_as',
      case when offers.outcome <> 'won' and (offers.outcome = 'lost' or (counting.quote_count > offers.quote_count
        and counting.quoted_rate_cents < offers.quoted_rate_cents)) then 'refused' else 'replaced' end) as next
    from offers join counting using (request_id, lane_number) where offers.lane_id <> counting.lane_id
  )
  select change_quote($1, lane_id, null, next, jsonb_build_object('source', 'lanewise', 'changed_at', clock_timestamp(),
    'rule', 'another_offer_counts', 'before', '{"superseded_by": null, "superseded_as": null}'::jsonb, 'after', next,
    'events', '[]'::jsonb)) from marked`

const quoted = (name: string) => pg.escapeIdentifier(name)

function reason({ message, detail }: pg.DatabaseError): string {
  return detail === undefined ? message : `${message}: ${detail}`
}
