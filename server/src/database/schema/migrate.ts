import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const folder = new URL('./migrations/', import.meta.url)
/** Any fixed number: two processes that migrate at once take turns by it. */
const migrationLock = 7_205_913

/**
 * How long a migration waits for a lock. Whoever asks for a table after it waits behind it: a service that answers
 * meanwhile would stand still for as long as some other transaction takes.
 */
const lockWaitMs = 500
/** Then it lets the others go on for so long, and tries again: until whoever holds the lock is done. */
const betweenTriesMs = 500
const triesMax = 120
const lockNotAvailable = '55P03'

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
 * Brings a database to this version. Each migration is one transaction; a database that is newer than this version is
 * refused, because an old program cannot know what a new column means.
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
  const client = new pg.Client(ownerConnection)
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())',
    )
    await client.query('grant select on schema_migrations to lanewise_service')
    const applied = await appliedMigrations(client)
    const unknown = applied.filter((name) => !migrations.some((migration) => migration.name === name))
    if (unknown.length > 0) {
      throw new Error(`The database has migrations that this version does not know: ${unknown.join(', ')}.`)
    }
    for (const migration of migrations.filter(({ name }) => !applied.includes(name))) {
      await apply(client, migration, log)
      log(`migrated ${migration.name}`)
    }
  } finally {
    await client.end()
  }
}

async function apply(
  client: pg.Client,
  { name, sql }: Migration,
  log: (line: string) => void,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    // Where the tables are spread over workers, what changes them and what changes rows may then stand together.
    await client.query(
      `begin; set local lock_timeout = ${lockWaitMs}; set local citus.multi_shard_modify_mode = 'sequential'`,
    )
    try {
      await client.query(sql)
      await client.query('insert into schema_migrations (name) values ($1)', [name])
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      if ((error as { code?: string }).code !== lockNotAvailable || tries === triesMax)
        throw new Error(`Migration ${name} failed.`, { cause: error })
      if (tries === 1) log(`${name} waits for a table that somebody is using`)
      await delay(betweenTriesMs)
    }
  }
}

async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
  return rows.map((row) => row.name)
}

/** The migrations of this version that a database does not have yet; what a start without owner rights checks. */
export async function missingMigrations(connection: pg.ClientConfig): Promise<string[]> {
  const applied = await migrationsOf(connection)
  return (await migrationNames()).filter((name) => !applied.includes(name))
}

/** The migrations of a database that this version does not know: a newer one has been here. */
export async function unknownMigrations(connection: pg.ClientConfig): Promise<string[]> {
  const known = await migrationNames()
  return (await migrationsOf(connection)).filter((name) => !known.includes(name))
}

async function migrationsOf(connection: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query<{ present: boolean }>(
      `select to_regclass('schema_migrations') is not null as present`,
    )
    return rows[0]?.present === true ? await appliedMigrations(client) : []
  } finally {
    await client.end()
  }
}
