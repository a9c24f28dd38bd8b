import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

const folder = new URL('./migrations/', import.meta.url)
/** Any fixed number: two processes that migrate at once take turns by it. */
const migrationLock = 7_205_913

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
): Promise<void> {
  const migrations = await readMigrations()
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
      await client.query('begin')
      try {
        await client.query(migration.sql)
        await client.query('insert into schema_migrations (name) values ($1)', [migration.name])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw new Error(`Migration ${migration.name} failed.`, { cause: error })
      }
      log(`migrated ${migration.name}`)
    }
  } finally {
    await client.end()
  }
}

async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
  return rows.map((row) => row.name)
}

/** The migrations of this version that a database does not have yet; what a start without owner rights checks. */
export async function missingMigrations(connection: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query<{ present: boolean }>(
      `select to_regclass('schema_migrations') is not null as present`,
    )
    const applied = rows[0]?.present === true ? await appliedMigrations(client) : []
    return (await migrationNames()).filter((name) => !applied.includes(name))
  } finally {
    await client.end()
  }
}
