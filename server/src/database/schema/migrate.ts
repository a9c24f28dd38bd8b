import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { withDatabaseClient } from '../hosts/index.ts'
import { distributeNewTables } from './distribution.ts'
import { refuseEarlierSchema } from './earlier-schema.ts'

const folder = new URL('./migrations/', import.meta.url)
/** The number of an advisory lock, so that only one process migrates at a time. */
export const migrationLock = 7_205_913

/**
 * How long a migration waits for a lock. Requests for the same table queue behind it, so with a longer wait the service would
 * stop answering for as long as another transaction holds the lock.
 */
const lockWaitMs = 500
/** The same while a vacuum runs: PostgreSQL ends an automatic one for a lock that was waited for as long as deadlock_timeout. */
const vacuumLockWaitMsMax = 1_500
/** After a lock timeout, the migration lets other transactions run for this long, and tries again. */
const betweenTriesMs = 500
const triesMax = 120
const lockNotAvailable = '55P03'
/** The code of a notice by which a migration says what it dropped. */
const droppedNotice = 'LW001'

/** The names of migrations that were renumbered before the first release, by the names under which databases may have them. */
const renumbered: Readonly<Record<string, string>> = {
  '0078-words-of-imports.sql': '0077-words-of-imports.sql',
  '0081-withdrawn-quotes.sql': '0078-withdrawn-quotes.sql',
}
const presentName = (name: string) => renumbered[name] ?? name

/** A newer version has migrated the database. An old program cannot know what a new column means. */
export class NewerSchema extends Error {
  constructor(unknown: readonly string[]) {
    const more = unknown.length > 1 ? ` and ${unknown.length - 1} more` : ''
    super(
      `A newer version of Lanewise has migrated the database (it has ${unknown.at(-1)}${more}): start that version, or restore the backup from before its upgrade.`,
    )
    this.name = 'NewerSchema'
  }
}

export interface Migration {
  readonly name: string
  readonly sql: string
}

/** The names of the migrations that ship with this version, in order. */
export async function migrationNames(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort()
}

/** The migrations that ship with this version, in order. */
export async function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    (await migrationNames()).map(async (name) => ({
      name,
      sql: await readFile(new URL(name, folder), 'utf8'),
    })),
  )
}

/**
 * Upgrades a database to this version. Each migration is one transaction, or builds one index.
 *
 * @throws EarlierSchema if the database was created by a version from before the baseline
 * @throws NewerSchema
 */
export async function migrate(
  ownerConnection: pg.ClientConfig,
  log: (line: string) => void = () => {},
  migrations?: readonly Migration[],
): Promise<void> {
  await applyMissing(ownerConnection, log, migrations ?? (await readMigrations()))
}

async function applyMissing(
  ownerConnection: pg.ClientConfig,
  log: (line: string) => void,
  migrations: readonly Migration[],
): Promise<void> {
  return withDatabaseClient(ownerConnection, async (client) => {
    client.on('notice', ({ code, message }) => {
      if (code === droppedNotice) log(String(message))
    })
    // A timeout of the role or the database would end a long migration, or the wait for one, each time.
    await client.query('set statement_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [migrationLock])
    const found = await appliedMigrations(client)
    const applied = found.map(presentName)
    const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
    if (unknown.length > 0) throw new NewerSchema(unknown)
    for (const name of found.filter((one) => presentName(one) !== one))
      await client.query('update schema_migrations set name = $2 where name = $1', [name, presentName(name)])
    for (const migration of migrations.filter(({ name }) => !applied.includes(name))) {
      await apply(client, migration, log)
      log(`migrated ${migration.name}`)
    }
  })
}

/** A migration that is this one statement runs outside a transaction, so that requests write while it reads the table. */
const concurrentIndex = /^create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)\s+on\s[^;]*;?$/i

async function apply(client: pg.Client, migration: Migration, log: (line: string) => void): Promise<void> {
  const index = concurrentIndex.exec(migration.sql.replaceAll(/--.*/g, '').trim())?.[1]
  if (index === undefined) return applyInTransaction(client, migration, log)
  log(`${migration.name} builds an index: it waits for every transaction that has begun before`)
  try {
    // An earlier try that was ended leaves an invalid index.
    await client.query(`drop index concurrently if exists ${index}`)
    await client.query(migration.sql)
    await markApplied(client, migration)
  } catch (error) {
    throw failed(migration, error)
  }
}

const markApplied = (client: pg.Client, { name }: Migration) =>
  client.query('insert into schema_migrations (name) values ($1)', [name])

const failed = ({ name }: Migration, error: unknown) =>
  new Error(
    `Migration ${name} failed: ${(error as Error).message}. Nothing of it was applied: start again.`,
    {
      cause: error,
    },
  )

async function applyInTransaction(
  client: pg.Client,
  migration: Migration,
  log: (line: string) => void,
): Promise<void> {
  let waitMs = lockWaitMs
  for (let tries = 1; ; tries++) {
    // With 'sequential', a transaction on Citus may both alter a distributed table and change its rows.
    await client.query(
      `begin; set local lock_timeout = ${waitMs}; set local citus.multi_shard_modify_mode = 'sequential'`,
    )
    try {
      await client.query(migration.sql)
      await distributeNewTables(client)
      await markApplied(client, migration)
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      if ((error as { code?: string }).code !== lockNotAvailable || tries === triesMax)
        throw failed(migration, error)
      if (tries === 1) log(`${migration.name} is waiting for a lock on a table`)
      await delay(betweenTriesMs)
      waitMs = await nextLockWait(client)
    }
  }
}

/** How long to wait for a lock that was not available: a vacuum of a long table may hold it for hours. */
async function nextLockWait(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(`
    select 200 + setting::integer as ms from pg_settings
    where name = 'deadlock_timeout'
      and exists (select from pg_stat_progress_vacuum where datname = current_database())`)
  return Math.min(rows[0]?.ms ?? lockWaitMs, vacuumLockWaitMsMax)
}

/**
 * The migrations that the database has. An empty database has none: the first migration creates the table.
 *
 * @throws EarlierSchema
 */
async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `select to_regclass('public.schema_migrations') is not null as exists`,
  )
  if (tables[0]?.exists !== true) return []
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
  const applied = rows.map((row) => row.name)
  refuseEarlierSchema(applied)
  return applied
}

/**
 * The migrations of this version that a database does not have yet. A start without the owner's rights checks them.
 *
 * @throws EarlierSchema
 */
export async function missingMigrations(connection: pg.ClientConfig): Promise<string[]> {
  const applied = await migrationsOf(connection)
  return (await migrationNames()).filter((name) => !applied.includes(name))
}

/**
 * The migrations of a database that this version does not know: a newer version migrated it.
 *
 * @throws EarlierSchema
 */
export async function unknownMigrations(connection: pg.ClientConfig): Promise<string[]> {
  const known = await migrationNames()
  return (await migrationsOf(connection)).filter((name) => !known.includes(name))
}

async function migrationsOf(connection: pg.ClientConfig): Promise<string[]> {
  return withDatabaseClient(connection, appliedMigrations)
}
