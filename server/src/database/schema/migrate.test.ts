import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { waitingForLock } from '#testing/waiting-for-lock.ts'
import { EarlierSchema, lastBaselineMigration, refuseEarlierSchema } from './earlier-schema.ts'
import { migrate, migrationNames, missingMigrations, readMigrations, unknownMigrations } from './migrate.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

/** Undoes the last migration of the baseline. That migration locks the table tenants, which writers of tenants lock too. */
async function unmigrate(owner: pg.Client): Promise<string> {
  await owner.query(`
    drop function keep_calls, take_permit, erase_sandbox_rows;
    drop function if exists keep_calls_batch;
    drop table integration_calls, tenant_windows;
    delete from schema_migrations where name = '${lastBaselineMigration}'`)
  return lastBaselineMigration
}

test('a migration that waits for a table lock does not block other transactions, and runs when the table is free', async () => {
  const owner = await connected(database.ownerUrl)
  const [busy, other] = [await connected(database.ownerUrl), await connected(database.ownerUrl)]
  try {
    const name = await unmigrate(owner)
    await busy.query('begin; lock table tenants in row exclusive mode')
    const said: string[] = []
    let done = false
    const migrating = migrate({ connectionString: database.ownerUrl }, (line) => said.push(line)).then(() => {
      done = true
    })
    await expect.poll(() => said).toEqual([`${name} is waiting for a lock on a table`])
    // If the migration kept its place in the lock's queue, these transactions would wait until `busy` ends.
    for (let nth = 0; nth < 6; nth++) {
      await other.query(
        `begin; set local lock_timeout = '60s'; lock table tenants in row exclusive mode; commit`,
      )
      await delay(250)
    }
    expect(done).toBe(false)
    expect(await missingMigrations({ connectionString: database.ownerUrl })).toEqual([name])
    await busy.query('commit')
    await migrating
    expect(said.at(-1)).toBe(`migrated ${name}`)
    expect(await missingMigrations({ connectionString: database.ownerUrl })).toEqual([])
  } finally {
    for (const client of [owner, busy, other]) await client.end()
  }
})

test('concurrent migrations run one after another, and each migration is applied once', async () => {
  const owner = await connected(database.ownerUrl)
  try {
    const name = await unmigrate(owner)
    const said: string[] = []
    const connection = { connectionString: database.ownerUrl }
    await Promise.all([1, 2, 3].map(() => migrate(connection, (line) => said.push(line))))
    expect(said).toEqual([`migrated ${name}`])
  } finally {
    await owner.end()
  }
})

test('a database that a newer version has migrated is refused and not changed', async () => {
  const owner = await connected(database.ownerUrl)
  try {
    await owner.query(`insert into schema_migrations (name) values ('9999-later.sql')`)
    await expect(migrate({ connectionString: database.ownerUrl })).rejects.toThrow(
      'A newer version of Lanewise has migrated the database (it has 9999-later.sql): start that version, or restore the backup from before its upgrade.',
    )
  } finally {
    await owner.query(`delete from schema_migrations where name = '9999-later.sql'`)
    await owner.end()
  }
})

test('a database that has migrations under their earlier numbers gets only those that it lacks', async () => {
  const owner = await connected(database.ownerUrl)
  try {
    // As the first form of 0077-words-of-imports.sql left it.
    await owner.query(`
      update schema_migrations set name = '0078-words-of-imports.sql' where name = '0077-words-of-imports.sql';
      update schema_migrations set name = '0081-withdrawn-quotes.sql' where name = '0078-withdrawn-quotes.sql';
      delete from schema_migrations where name = '0081-columns-of-imports.sql';
      alter table imports drop column causes, drop column refused_rows, drop column refused_rows_saved`)
    const said: string[] = []
    await migrate({ connectionString: database.ownerUrl }, (line) => said.push(line))
    expect(said).toEqual(['migrated 0081-columns-of-imports.sql'])
    const { rows } = await owner.query('select name from schema_migrations order by name')
    expect(rows.map(({ name }) => name)).toEqual(await migrationNames())
    await owner.query('select causes, refused_rows, refused_rows_saved from imports')
  } finally {
    await owner.end()
  }
})

test('a timeout of the owner ends no migration, and a migration that ends at its own timeout changes nothing', async () => {
  const owner = await connected(database.ownerUrl)
  const connection = { connectionString: database.ownerUrl }
  const asked = `create table trial as select current_setting('statement_timeout') as ends_after`
  const long = { name: '9000-long.sql', sql: asked }
  try {
    await owner.query(`alter database ${database.name} set statement_timeout = '1h'`)
    const ended = { ...long, sql: `set local statement_timeout = '10ms'; ${asked}; select pg_sleep(60)` }
    const all = await readMigrations()
    await expect(migrate(connection, () => {}, [...all, ended])).rejects.toThrow(
      /^Migration 9000-long\.sql failed: canceling statement due to statement timeout\. Nothing of it was applied: start again\.$/,
    )
    const { rows } = await owner.query(`select to_regclass('trial') as found`)
    expect(rows).toEqual([{ found: null }])
    await migrate(connection, () => {}, [...all, long])
    const { rows: trial } = await owner.query('select ends_after from trial')
    expect(trial).toEqual([{ ends_after: '0' }])
  } finally {
    await owner.query(
      `alter database ${database.name} reset statement_timeout; drop table trial; delete from schema_migrations where name = '9000-long.sql'`,
    )
    await owner.end()
  }
})

test('while a vacuum runs, a migration waits until PostgreSQL ends an automatic one for it', async () => {
  const owner = await connected(database.ownerUrl)
  const [busy, reader, vacuum] = [
    await connected(database.ownerUrl),
    await connected(database.ownerUrl),
    await connected(database.ownerUrl),
  ]
  const name = '9000-waits.sql'
  try {
    await owner.query('create table trial (nth integer); create table read as select 1 as nth')
    // The vacuum waits for the page that the cursor is on.
    await reader.query('begin; declare reading cursor for select from read; fetch reading')
    const { rows: self } = await vacuum.query<{ pid: number }>('select pg_backend_pid() as pid')
    const vacuumed = vacuum.query('vacuum (freeze) read')
    await expect
      .poll(() => owner.query('select from pg_stat_progress_vacuum where pid = $1', [self[0]?.pid]))
      .toMatchObject({ rowCount: 1 })
    await busy.query('begin; lock table trial')
    const said: string[] = []
    const sql = `alter table trial add column waited text default current_setting('lock_timeout'); insert into trial values (1)`
    const all = [...(await readMigrations()), { name, sql }]
    const migrating = migrate({ connectionString: database.ownerUrl }, (line) => said.push(line), all)
    await expect.poll(() => said).toEqual([`${name} is waiting for a lock on a table`])
    await busy.query('commit')
    await migrating
    const { rows } = await owner.query('select waited from trial')
    expect(rows).toEqual([{ waited: '1200ms' }])
    await reader.query('commit')
    await vacuumed
  } finally {
    for (const client of [busy, reader, vacuum]) await client.end()
    await owner.query(`drop table trial, read; delete from schema_migrations where name = '${name}'`)
    await owner.end()
  }
})

test('an index is built while others write, and a try that was ended before is replaced', async () => {
  const owner = await connected(database.ownerUrl)
  const [busy, other] = [await connected(database.ownerUrl), await connected(database.ownerUrl)]
  const connection = { connectionString: database.ownerUrl }
  const name = '9000-index.sql'
  const build = 'create unique index concurrently trial_by_nth on trial (nth);'
  const all = await readMigrations()
  try {
    await owner.query('create table trial (nth integer); insert into trial values (1), (1)')
    const said: string[] = []
    const built = (sql: string) => migrate(connection, (line) => said.push(line), [...all, { name, sql }])
    await expect(built(build)).rejects.toThrow(
      /^Migration 9000-index\.sql failed: could not create unique index .* Nothing of it was applied: start again\.$/,
    )
    await busy.query('begin; insert into trial values (2)')
    const building = built(`-- Reads the table once.\n${build.replace('unique ', '')}`)
    // The migration waits for `busy`. An index in a transaction would let `other` wait, too.
    await waitingForLock(database.owner)
    await other.query(`set lock_timeout = '60s'; insert into trial values (3)`)
    await busy.query('commit')
    await building
    const { rows } = await owner.query(
      `select indisunique, indisvalid from pg_index where indexrelid = 'trial_by_nth'::regclass`,
    )
    expect(rows).toEqual([{ indisunique: false, indisvalid: true }])
    expect(said.at(-1)).toBe(`migrated ${name}`)
  } finally {
    for (const client of [busy, other]) await client.end()
    await owner.query(`drop table trial; delete from schema_migrations where name = '${name}'`)
    await owner.end()
  }
})

test('a migration that drops saved keys says how many', async () => {
  const owner = await connected(database.ownerUrl)
  try {
    await owner.query(`
      create table market_keys (tenant_id integer not null, secret_id integer not null, primary key (tenant_id, secret_id));
      alter table market_keys enable row level security;
      alter table market_keys force row level security;
      create policy tenant_isolation on market_keys using (tenant_id = current_setting('app.tenant_id')::integer);
      alter table tenants add column market_calls_per_day integer;
      delete from schema_migrations where name = '0068-without-market-keys.sql'`)
    for (const [tenant, key] of [
      [7, 1],
      [7, 2],
      [9, 1],
    ]) {
      await owner.query(`select set_config('app.tenant_id', '${tenant}', false)`)
      await owner.query(
        "insert into tenants (tenant_id, name, created_at) values ($1, 'Blue Mesa', now()) on conflict do nothing",
        [tenant],
      )
      await owner.query('insert into market_keys values ($1, $2)', [tenant, key])
    }
    const said: string[] = []
    await migrate({ connectionString: database.ownerUrl }, (line) => said.push(line))
    expect(said).toEqual([
      'dropped the table market_keys with 3 keys of providers of market rates: push rates instead (docs/market-rates.md)',
      'migrated 0068-without-market-keys.sql',
    ])
    expect(await missingMigrations({ connectionString: database.ownerUrl })).toEqual([])
  } finally {
    await owner.end()
  }
})

describe('a database from before the baseline', () => {
  test.each(['0001-facts.sql', '0035-booking-fields.sql', '0010-usage.sql'])(
    'with the migration %s is refused with the commands that move a brokerage',
    async (name) => {
      const owner = await connected(database.ownerUrl)
      const connection = { connectionString: database.ownerUrl }
      try {
        await owner.query('insert into schema_migrations (name) values ($1)', [name])
        for (const look of [migrate, missingMigrations, unknownMigrations]) {
          const error = await look(connection).then(
            () => null,
            (thrown: unknown) => thrown,
          )
          expect(error).toBeInstanceOf(EarlierSchema)
          expect(String(error)).toMatch(
            new RegExp(`${name}.*npm run tenant -- export NAME FOLDER.*npm run tenant -- import FOLDER`),
          )
        }
      } finally {
        await owner.query('delete from schema_migrations where name = $1', [name])
        await owner.end()
      }
    },
  )

  test('has no migration name in common with this version', async () => {
    for (const name of await migrationNames()) expect(() => refuseEarlierSchema([name])).not.toThrow()
  })
})
