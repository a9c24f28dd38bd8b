import pg from 'pg'

/** Columns that are random, or depend on the time of the database. */
const randomColumns = [
  'tenant_id',
  'id_key',
  'key_check',
  'key_names',
  'password_hash',
  'jti',
  'signed_with',
  'sealed',
  'hash',
  'applied_at',
  'changed_at',
  'changed_in',
]

/**
 * All rows of a database as texts, by table, to compare two databases that were filled in the same way. Random columns are left out, and
 * the random numbers of quotes and requests are replaced by their rank. Connect as a superuser: row-level security hides rows from others.
 */
export async function comparableRows(
  connection: pg.ClientConfig,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
    )
    const all = new Map<string, string[]>()
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select (to_jsonb(one) - $1::text[])::text as row from ${client.escapeIdentifier(name)} as one`,
        [randomColumns],
      )
      all.set(
        name,
        rows.map(({ row }) => row),
      )
    }
    return withRanks(all)
  } finally {
    await client.end()
  }
}

/** The first table with different rows, and the first difference; null if all rows are the same. */
export function firstDifference(
  one: ReadonlyMap<string, readonly string[]>,
  other: ReadonlyMap<string, readonly string[]>,
): string | null {
  for (const [table, rows] of one) {
    const others = other.get(table) ?? []
    if (rows.length !== others.length) return `${table} has ${rows.length} and ${others.length} rows`
    const at = rows.findIndex((row, nth) => row !== others[nth])
    if (at >= 0) return `${table} has ${rows[at]} and ${others[at]}`
  }
  return null
}

interface LaneKey {
  readonly lane_id: number
  readonly lane_ref: string
  readonly request_id: number
}

function withRanks(all: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const quotes = (all.get('quotes') ?? []).map((row) => ({ row, key: JSON.parse(row) as LaneKey }))
  const withoutNumbers = ({ row, key }: (typeof quotes)[number]) =>
    row.replaceAll(String(key.request_id), 'R').replaceAll(String(key.lane_id), 'L')
  const ranked = quotes
    .map((quote) => ({ ...quote, sorted: withoutNumbers(quote) }))
    .sort((a, b) => (a.sorted < b.sorted ? -1 : 1))
  const ranks = new Map<string, string>()
  for (const [rank, { key }] of ranked.entries()) {
    ranks.set(String(key.lane_id), `lane ${rank}`)
    if (!ranks.has(String(key.request_id))) ranks.set(String(key.request_id), `request ${rank}`)
  }
  const rank = (row: string) => row.replaceAll(/\d+/g, (digits) => ranks.get(digits) ?? digits)
  return new Map([...all].map(([table, rows]) => [table, rows.map(rank).sort()]))
}
