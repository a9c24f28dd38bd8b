import type pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'

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
  return withDatabaseClient(connection, async (client) => {
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
  })
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

interface QuoteKey {
  readonly lane_id: number
  readonly request_id: number
}

/**
 * The rows with the rank of each quote and of each request in place of its random number, in the order of their texts. A quote and a
 * request can have the same number, so the column decides which of the two a number is.
 */
export function withRanks(all: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const quotes = new Map<string, string>()
  const requests = new Map<string, string>()
  const rank = (row: string) =>
    row
      .replaceAll(
        /"(lane_id|superseded_by)": (\d+)/g,
        (_, column, id) => `"${column}": ${quotes.get(id) ?? 'L'}`,
      )
      .replaceAll(/"request_id": (\d+)/g, (_, id) => `"request_id": ${requests.get(id) ?? 'R'}`)
      // The first part of a lane_ref, however few digits it has, and not the year of a date.
      .replaceAll(/(?<![\w-])(?!\d{4}-\d\d-\d\d)\d+(?=-\d+-\d+)/g, (id) => requests.get(id) ?? 'R')
  const ranked = (all.get('quotes') ?? [])
    .map((row) => ({ key: JSON.parse(row) as QuoteKey, sorted: rank(row) }))
    .sort((a, b) => (a.sorted < b.sorted ? -1 : 1))
  for (const [nth, { key }] of ranked.entries()) {
    quotes.set(String(key.lane_id), `quote ${nth}`)
    if (!requests.has(String(key.request_id))) requests.set(String(key.request_id), `request ${nth}`)
  }
  return new Map([...all].map(([table, rows]) => [table, rows.map(rank).sort()]))
}
