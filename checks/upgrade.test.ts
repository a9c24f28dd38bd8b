import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { migrate, migrationNames } from '#server/database/schema/index.ts'
import { secretKey } from '#server/security/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { cloneDatabase, type TestDatabase } from '#testing/cloned-database.ts'
import { databaseUrl } from '#testing/database-cluster.ts'
import { call, pushUpdate } from '#testing/make.ts'
import { withClient } from '#testing/with-client.ts'
import { textOf } from './repository.ts'
import { schemaFile, schemaSql } from './schema-sql.ts'

/**
 * Dumps of databases that earlier versions wrote: two brokerages of invented names, with quotes, outcomes, a booking, an
 * import, people, tokens, secrets and an event endpoint. Each was made by running that commit. The JSON file has what the
 * clients of the brokerages hold.
 */
const folder = 'server/testing/earlier-databases'

interface Held {
  readonly password: string
  readonly tenants: readonly {
    readonly email: string
    readonly token: string
    readonly secret: string
    readonly lane_refs: readonly string[]
    readonly update: { readonly bytes: string; readonly at: number; readonly answer: unknown }
  }[]
}

type Row = Readonly<Record<string, unknown>>
type Rows = ReadonlyMap<string, readonly Row[]>

let database: TestDatabase
beforeEach(async () => {
  // Clones an empty database.
  database = await cloneDatabase({ ...inject('databaseCluster'), template: 'template0' })
})
afterEach(() => database.drop())

/** Sees the rows of all brokerages. */
const asSuperuser = <T>(work: (client: pg.Client) => Promise<T>) =>
  withClient(databaseUrl(inject('databaseCluster').makerUrl, database.name), work)

const dumpOf = (version: string) => gunzipSync(readFileSync(`${folder}/${version}.sql.gz`)).toString()

async function load(version: string): Promise<Held> {
  const dump = dumpOf(version)
  await withClient(database.ownerUrl, (owner) => owner.query(`set check_function_bodies = off; ${dump}`))
  return JSON.parse(readFileSync(`${folder}/${version}.json`, 'utf8'))
}

function allRows(): Promise<Rows> {
  return asSuperuser(async (client) => {
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

/** Tables of running instances, of migrations, and of statistics that this version computes. */
const notCopied = [
  'schema_migrations',
  'instances',
  'tenant_windows',
  'quote_changes',
  'counted_lanes',
  'lane_days',
  'lane_rates',
  'quote_months',
  'quote_miles',
]
/** Columns that have a new form, that are computed, or that say when a row changed last. */
const changed = [
  'search_text',
  'changed_in',
  'floor_margin_pct',
  'floor_margin_cents',
  'floor_rate_per_mile_cents',
  'won_quotes',
  'decided_quotes',
]

/** The rows of a table with only the columns of `as`, in a stable order. */
function sorted(rows: readonly Row[], as: Row | undefined, without: readonly string[]): string[] {
  const columns = Object.keys(as ?? {}).filter((column) => !without.includes(column))
  return rows
    .map((row) => JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]]))))
    .toSorted()
}

/** An address belongs to a person since the invitation was accepted: 0053-addresses-at-acceptance.sql removes the others. */
const isAccepted = (rows: Rows, { tenant_id, user_id }: Row) =>
  rows
    .get('users')
    ?.some(
      (user) => user.tenant_id === tenant_id && user.user_id === user_id && user.status !== 'invited',
    ) === true

function expectSameRows(before: Rows, after: Rows, without: readonly string[] = []): number {
  let compared = 0
  for (const [table, rows] of before) {
    if (notCopied.includes(table)) continue
    const first = rows[0]
    const left = [...changed, ...without]
    const kept = table === 'sign_in_emails' ? rows.filter((row) => isAccepted(before, row)) : rows
    expect(sorted(after.get(table) ?? [], first, left), table).toEqual(sorted(kept, first, left))
    compared += rows.length
  }
  return compared
}

/** The terms that floors of a brokerage become, and those of the rule that `write-earlier-database.ts` makes. */
const floorTerms = { minimum: { margin_pct: 8, margin: 150, rate_per_mile: 1.75 } }
const ruleTerms = { minimum: { margin_pct: 9 } }
/** `floors`: the version had floors instead of rules. `rules`: the terms of the rules of each brokerage afterwards. */
const cases = [
  {
    version: '475fd30',
    key: 'fixture key of 475fd30, 32 bytes',
    floors: true,
    rules: [[floorTerms], []],
    without: ['signed_at'],
  },
  {
    version: '156cc5da',
    key: 'fixture key of 156cc5da, 32 byte',
    floors: true,
    rules: [[floorTerms], []],
    without: [],
  },
  {
    version: 'e88213ee',
    key: 'fixture key of e88213ee, 32 byte',
    floors: false,
    rules: [[], []],
    without: [],
  },
  {
    version: '1.0.0',
    key: 'fixture key of 1.0.0, 32 bytes..',
    floors: false,
    rules: [[ruleTerms], [ruleTerms]],
    without: [],
  },
] as const

/** An upgrade of fewer migrations ends before it can be interrupted. */
const interruptibleMin = 10
const names = await migrationNames()
const missingIn = (version: string) => {
  const dump = dumpOf(version)
  return names.filter((name) => !dump.includes(`'${name}'`)).length
}

describe.each(cases)('the database of $version', ({ version, key, floors, rules, without }) => {
  test('gets the schema of this version and keeps every row of every brokerage', async () => {
    await load(version)
    const before = await allRows()
    const said: string[] = []
    await migrate(database.owner, (line) => said.push(line))
    const after = await allRows()
    expect(expectSameRows(before, after, without)).toBeGreaterThan(100)
    expect(after.get('lane_versions')).toHaveLength(after.get('lanes')?.length ?? 0)
    await withClient(database.ownerUrl, async (owner) => {
      expect(await schemaSql(owner)).toBe(textOf(schemaFile))
      const { rows } = await owner.query(`select from pg_namespace where nspname = 'lanewise_earlier'`)
      expect(rows).toEqual([])
    })
    // Again: nothing to do.
    const again: string[] = []
    await migrate(database.owner, (line) => again.push(line))
    expect(again).toEqual([])
  })

  test.skipIf(missingIn(version) < interruptibleMin)(
    'keeps every row in an interrupted upgrade, which can be repeated',
    async () => {
      await load(version)
      const before = await allRows()
      let ending: Promise<unknown> | undefined
      const interrupted = migrate(database.owner, () => {
        // The first line of the upgrade: its transaction has copied a table and goes on.
        ending ??= asSuperuser((client) =>
          client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
          ),
        )
      })
      await expect(interrupted).rejects.toThrow()
      await ending
      // The later database has each migration in a transaction of its own: those before the interruption stay.
      if (floors) expect(await allRows()).toEqual(before)
      await migrate(database.owner)
      expect(expectSameRows(before, await allRows(), without)).toBeGreaterThan(100)
    },
  )

  test('serves its people, tokens and TMS as before, with new numbers after the last ones', async () => {
    const { tenants, password } = await load(version)
    await migrate(database.owner)
    const at = tenants[0]?.update.at ?? 0
    const installationKey = secretKey(Buffer.from(key).toString('base64'))
    if (installationKey === null) throw new Error('The key of the dump is not a key.')
    const app = await appOn(database, { secretKeys: [installationKey], now: (at + 60) * 1000 })
    try {
      for (const [index, { email, token, secret, lane_refs, update }] of tenants.entries()) {
        const signedIn = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
        expect(signedIn.status).toBe(200)
        const owner: string = signedIn.body.token
        const repeated = await pushUpdate(app, { token, secret }, JSON.parse(update.bytes), update.at)
        expect(repeated.status).toBe(200)
        expect(repeated.body).toEqual(update.answer)
        const next = { lane_ref: lane_refs[2], customer_rate: 2500, truck_cost: 2100 }
        expect(await pushUpdate(app, { token, secret }, next)).toMatchObject({ status: 200 })
        const { body: followed } = await call(app, 'GET', '/api/integrations/quotes', { token })
        expect(followed.quotes).toHaveLength(12)
        const made = await call(app, 'POST', '/api/quote-requests', {
          token: owner,
          body: {
            customer_name: 'Harvest Table Foods',
            lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2100 }],
          },
        })
        expect(made.status).toBe(201)
        const { body } = await call(app, 'GET', '/api/pricing-rules', { token: owner })
        expect(body.rules).toMatchObject((rules[index] ?? []).map((terms) => ({ on: true, terms })))
      }
    } finally {
      await app.close()
    }
  })
})

describe('an upgrade that is refused changes nothing', () => {
  async function refused(reason: RegExp): Promise<void> {
    const before = await allRows()
    await expect(migrate(database.owner)).rejects.toThrow(reason)
    expect(await allRows()).toEqual(before)
  }

  test('a column that this version does not have is named', async () => {
    await load('156cc5da')
    await withClient(database.ownerUrl, (owner) =>
      owner.query(`alter table users add column nickname text default 'Ollie'`),
    )
    await refused(/no column users.nickname, and 4 rows have a value there. Nothing was changed/)
  })

  test('a table that this version does not have is named', async () => {
    await load('156cc5da')
    await withClient(database.ownerUrl, (owner) => owner.query('create table rebates as select 1 as amount'))
    await refused(/no table rebates, and it has 1 rows there/)
  })

  test('a row that this version cannot hold is named by its table and constraint', async () => {
    await load('156cc5da')
    await asSuperuser((client) =>
      client.query(`alter table lanes drop constraint lanes_outcome_source_check;
        update lanes set outcome_source = 'fax' where outcome = 'lost'`),
    )
    await refused(/A row of the table lanes does not fit \(lanes_outcome_source_check\)/)
  })

  test('an open connection of an instance is named', async () => {
    await load('156cc5da')
    await withClient(database.serviceUrl, () => refused(/1 connection.*stop every instance/))
  })
})
