import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { withDatabaseClient } from '../database/hosts/index.ts'
import {
  copyRunningCluster,
  databaseName,
  type EmbeddedConnection,
  findPlace,
  makePlace,
  roleNames,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../embedded-postgres/index.ts'
import { CommandRefused, makeRoomFor } from './command-database.ts'

/**
 * Copies the embedded database of a data folder into a new data folder, in its state at the end of the copy. A running
 * service is not delayed. The secret key is not copied. The copy is then started and read: only a copy that has every row of the
 * tables where no row is removed gets its name, and the database the time of its last verified backup.
 *
 * @returns the number of rows of each table of the copy
 * @throws CommandRefused when there is no embedded database, the folder is there already, or the copy is not complete
 * @example await backUp({ dataDirectory: './data', folder: '/backups/2026-11-21', clock: Date.now, remark: console.error })
 */
export async function backUp({
  dataDirectory,
  folder,
  clock,
  remark,
}: {
  dataDirectory: string
  folder: string
  clock: () => number
  remark: (line: string) => void
}): Promise<TableRows> {
  const final = resolve(folder)
  if (existsSync(final)) throw new CommandRefused(`${final} already exists. Name a new folder.`)
  const place = findPlace(dataDirectory)
  if (place === null || !existsSync(place.cluster)) {
    throw new CommandRefused(`There is no embedded database in ${resolve(dataDirectory)}: set DATA_DIR.`)
  }
  const unfinished = `${final}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  makeRoomFor(final)
  mkdirSync(unfinished, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const running = runningEmbeddedPostgres(dataDirectory)
  const started =
    running === null ? await startEmbeddedPostgres({ directory: dataDirectory, log: remark }) : null
  const postgres = running ?? started
  try {
    if (postgres === null) throw new CommandRefused('The embedded database stopped. Run the command again.')
    const before = await inDatabase(postgres, rowsOfTables)
    const copy = makePlace(unfinished)
    if (copy.elsewhere) {
      rmSync(copy.folder, { recursive: true, force: true })
      throw new CommandRefused(
        `PostgreSQL's account cannot enter ${final}: name a folder that it can, such as one in /srv.`,
      )
    }
    await copyRunningCluster(postgres.connection('postgres', 'superuser'), place.cluster, copy.cluster, {
      account: place.account,
      log: true,
      flush: true,
    })
    copyFileSync(place.passwords, copy.passwords)
    const copied = await rowsOfCopy(unfinished, remark)
    const fault = missingRows(before, copied, await inDatabase(postgres, rowsOfTables))
    if (fault !== null) throw new CommandRefused(`The copy is not complete, and was removed: ${fault}`)
    renameSync(unfinished, final)
    await inDatabase(postgres, (client) => recordVerified(client, clock()))
    return copied
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  } finally {
    await started?.stop()
  }
}

/** The number of rows of each table, and whether the service deletes none of them. */
export type TableRows = ReadonlyMap<string, { readonly rows: number; readonly onlyAdded: boolean }>

async function inDatabase<T>(of: EmbeddedConnection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withDatabaseClient(of.connection(databaseName, 'superuser'), work)
}

async function rowsOfTables(client: pg.Client): Promise<TableRows> {
  const { rows: tables } = await client.query<{ table: string; only_added: boolean }>(
    // Some functions delete rows for the service, with the rights of their owner.
    `select oid::regclass::text as table,
            not has_table_privilege($1, oid, 'delete') and not exists (
              select from pg_proc
              where pronamespace = 'public'::regnamespace and prosecdef
                and prosrc ~* ('delete\\s+from\\s+(public\\.)?' || relname || '\\M')
            ) as only_added
     from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p' order by 1`,
    [roleNames.service],
  )
  const found = new Map<string, { rows: number; onlyAdded: boolean }>()
  for (const { table, only_added } of tables) {
    const { rows } = await client.query<{ rows: string }>(`select count(*) as rows from ${table}`)
    found.set(table, { rows: Number(rows[0]?.rows), onlyAdded: only_added })
  }
  return found
}

/** Starts the copy, which replays its write-ahead log, and reads every table. */
async function rowsOfCopy(directory: string, remark: (line: string) => void): Promise<TableRows> {
  const copy = await startEmbeddedPostgres({ directory, log: remark })
  try {
    return await inDatabase(copy, rowsOfTables)
  } finally {
    await copy.stop()
  }
}

/**
 * What a copy lacks, as a sentence; null if nothing. The service writes on during a copy, so only of tables where it deletes
 * nothing is the number of rows known: it lies between those before and after.
 *
 * @example missingRows(before, copied, after) // 'audit_log has 7 rows, and had 8 before.'
 */
export function missingRows(before: TableRows, copied: TableRows, after: TableRows): string | null {
  for (const [table, { rows, onlyAdded }] of before) {
    const copy = copied.get(table)
    if (copy === undefined) return `the table ${table} is missing.`
    if (!onlyAdded) continue
    if (copy.rows < rows) return `${table} has ${copy.rows} rows, and had ${rows} before.`
    const most = after.get(table)?.rows ?? copy.rows
    if (copy.rows > most) return `${table} has ${copy.rows} rows, and the database only ${most}.`
  }
  return null
}

/** Saves the time for `lanewise_backup_verified_timestamp_seconds` as a comment, as the backup script for other databases does. */
async function recordVerified(client: pg.Client, now: number): Promise<void> {
  const { rows } = await client.query<{ known: boolean }>(
    `select to_regclass('installation') is not null as known`,
  )
  if (rows[0]?.known !== true) return
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  await client.query(`comment on table installation is 'backup verified ${time}'`)
}
