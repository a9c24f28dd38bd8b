import type pg from 'pg'
import { DatabaseClient } from '../database/hosts/index.ts'
import {
  databaseName,
  type EmbeddedConnection,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../embedded-postgres/index.ts'
import { CommandRefused } from './command-database.ts'

/** The number of rows of each table. */
export type RowsOfTables = ReadonlyMap<string, number>

/** Tables whose rows come and go while the service runs. They are read in a copy, and their numbers are not compared. */
const passing: ReadonlySet<string> = new Set([
  'event_deliveries',
  'events',
  'expiry_notices',
  'instances',
  'integration_calls',
  'sessions',
  'sign_in_networks',
  'tenant_windows',
])

/** Reads every row of every table of the embedded database, as a superuser, and counts them. */
export async function rowsOfTables(postgres: EmbeddedConnection): Promise<RowsOfTables> {
  const client: pg.Client = new DatabaseClient(postgres.connection(databaseName, 'superuser'))
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ table: string; quoted: string }>(
      `select relname as table, oid::regclass::text as quoted from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p' order by 1`,
    )
    const counted = new Map<string, number>()
    for (const { table, quoted } of tables) {
      const { rows } = await client.query<{ rows: string }>(`select count(*) as rows from ${quoted}`)
      counted.set(table, Number(rows[0]?.rows))
    }
    return counted
  } finally {
    await client.end()
  }
}

async function countedAndStopped(postgres: EmbeddedPostgres): Promise<RowsOfTables> {
  try {
    return await rowsOfTables(postgres)
  } finally {
    await postgres.stop()
  }
}

/**
 * Starts PostgreSQL on a copy, as a restore does, reads all of its rows, and stops it again. The copy has the state of a moment
 * between the two counts of the source.
 *
 * @throws CommandRefused when the copy does not start, or has fewer or more rows than the source had
 */
export async function verifyCopy(
  folder: string,
  { before, after }: { before: RowsOfTables; after: RowsOfTables },
): Promise<{ readonly tables: number; readonly rows: number }> {
  const restored = await startEmbeddedPostgres({ directory: folder }).catch((error: unknown) => {
    throw new CommandRefused(
      `The copy does not start: ${error instanceof Error ? error.message : error}. Nothing was kept.`,
    )
  })
  const copy = await countedAndStopped(restored)
  for (const [table, first] of before) {
    const last = after.get(table) ?? first
    const found = copy.get(table) ?? 0
    const isBetween = found >= Math.min(first, last) && found <= Math.max(first, last)
    if (isBetween || passing.has(table)) continue
    throw new CommandRefused(
      `The copy has ${found} rows in ${table}, and the database had ${first} before the copy and ${last} after it. Nothing was kept. If nobody erased a brokerage or undid an import meanwhile, check the disk, and run npm run backup again.`,
    )
  }
  return { tables: copy.size, rows: [...copy.values()].reduce((sum, rows) => sum + rows, 0) }
}
