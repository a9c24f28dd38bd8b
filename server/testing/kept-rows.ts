import { withDatabaseClient } from '#server/database/hosts/index.ts'

type Row = Readonly<Record<string, unknown>>
/** The rows of every table, by its name. */
export type Rows = ReadonlyMap<string, readonly Row[]>

/** Tables with a new name since 69d4e95d. */
const renamedTables: Readonly<Record<string, string>> = {
  lanes: 'quotes',
  lane_changes: 'quote_changes',
  lane_versions: 'quote_versions',
}
/** Tables that were dropped since then, with the migration that says why. */
const droppedTables = {
  market_keys: '0068-without-market-keys.sql',
  pilots: '0069-forecast-of-each-quote.sql',
  pilot_entries: '0069-forecast-of-each-quote.sql',
  calibration_checks: '0069-forecast-of-each-quote.sql',
}
/**
 * Columns that were dropped or converted. A recorded forecast of the pilot is the forecast of its quote, and events of pilots are no longer
 * among the types that an address gets.
 */
const otherColumns = [
  'tenants.market_calls_per_day',
  'lanes.advice',
  'event_endpoints.event_types',
  'imports.is_sample',
]
/** Counters of what was dropped. */
const isDropped = ({ counter }: Row) => counter === 'pilot' || counter === 'market-call'

/** Reads every row of a database. The role must see the rows of all brokerages. */
export async function allRows(connectionString: string): Promise<Rows> {
  return withDatabaseClient({ connectionString }, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    )
    const found = new Map<string, Row[]>()
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: Row }>(`select to_jsonb(t) as row from public.${name} t`)
      found.set(
        name,
        rows.map(({ row }) => row),
      )
    }
    return found
  })
}

/** Returns the rows with only these columns, as texts in a stable order. */
const sorted = (rows: readonly Row[], columns: readonly string[]) =>
  rows
    .map((row) => JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]]))))
    .toSorted()

/** Compares every row of every table that was not dropped by an upgrade: how many were compared, and the tables with other rows. */
export function keptRows(before: Rows, after: Rows): { compared: number; faults: string[] } {
  let compared = 0
  const faults: string[] = []
  for (const [table, rows] of before) {
    if (table in droppedTables || table === 'schema_migrations') continue
    const columns = Object.keys(rows[0] ?? {}).filter((name) => !otherColumns.includes(`${table}.${name}`))
    const kept = sorted(
      rows.filter((row) => !isDropped(row)),
      columns,
    )
    const now = sorted(after.get(renamedTables[table] ?? table) ?? [], columns)
    const at = kept.findIndex((row, nth) => row !== now[nth])
    if (at !== -1) faults.push(`${table}: ${kept[at]} became ${now[at]}`)
    else if (now.length !== kept.length) faults.push(`${table}: ${now.length - kept.length} rows more`)
    compared += kept.length
  }
  return { compared, faults }
}
