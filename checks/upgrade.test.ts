import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { migrate, migrationNames } from '#server/database/schema/index.ts'
import { importedLines, importTenant } from '#server/operations/index.ts'
import { secretKey } from '#server/security/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { cloneDatabase, type TestDatabase } from '#testing/cloned-database.ts'
import { databaseUrl } from '#testing/database-cluster.ts'
import { allRows, keptRows } from '#testing/kept-rows.ts'
import { call, makeQuote, pushUpdate } from '#testing/make.ts'
import { testApp } from '#testing/test-app.ts'
import { textOf } from './repository.ts'
import { schemaFile, schemaSql } from './schema-sql.ts'

/**
 * Promise: a database of an earlier version is brought to this version in place, and keeps every row.
 *
 * How: a dump that running commit 69d4e95d wrote: two brokerages of invented names, with quotes, outcomes, offers, bookings, an import,
 * pushes, rules, an approval, customers, people, tokens, secrets, events and a sealed pilot. The JSON file has what their clients hold.
 */
const earlier = 'server/testing/earlier-databases/69d4e95d'
const earlierKey = Buffer.from('fixture key of an earlier version').subarray(0, 32)

interface Held {
  readonly password: string
  readonly tenants: readonly {
    readonly email: string
    readonly token: string
    readonly secret: string
    readonly lane_refs: readonly string[]
    readonly update: { readonly sent: Record<string, unknown>; readonly at: number; readonly answer: unknown }
  }[]
}

let database: TestDatabase
let held: Held
beforeEach(async () => {
  database = await cloneDatabase({ ...inject('databaseCluster'), template: 'template0' })
  const dump = gunzipSync(readFileSync(`${earlier}.sql.gz`)).toString()
  await withDatabaseClient({ connectionString: database.ownerUrl }, (owner) =>
    owner.query(`set check_function_bodies = off; ${dump}`),
  )
  held = JSON.parse(textOf(`${earlier}.json`))
})
afterEach(() => database.drop())

/** Connects as a superuser, who sees the rows of all brokerages. */
const databaseUrlOf = ({ name }: TestDatabase) => databaseUrl(inject('databaseCluster').makerUrl, name)

const rowsNow = () => allRows(databaseUrlOf(database))

/** The folder that `npm run tenant -- export` of 0.2.0 (commit 156cc5da) wrote, with the key of its installation. */
const earlierExport = 'server/testing/earlier-databases/export-0.2.0'
const exportKey = 'fixture key of 156cc5da, 32 byte'

test('an export of 0.2.0 arrives with one command: floors are a rule, and earlier offers are superseded', async () => {
  const installationKey = secretKey(Buffer.from(exportKey).toString('base64'))
  if (installationKey === null) throw new Error('The key of the export is not a key.')
  const app = await testApp({ secretKeys: [installationKey] })
  try {
    const { serviceUrl: databaseUrl, ownerUrl: migrationDatabaseUrl } = app.testDatabase
    const config = { databaseUrl, migrationDatabaseUrl, dataDirectory: '/nowhere', deadlineFactor: 30 }
    const keys = { keys: [installationKey] as const, moveKey: null, withoutSecrets: false }
    const around = { config, remark: () => {} }
    const imported = await importTenant(around, { folder: earlierExport, ...keys, now: app.now })
    expect(imported).toMatchObject({ name: 'Fixture Freight', suspended: true, liveTokens: 1 })
    expect(importedLines(imported).join('\n')).toMatch(/its floors are the first pricing rule now/)
    const [quotes, tenants] = await withDatabaseClient(
      { connectionString: databaseUrlOf(app.testDatabase) },
      async (client) => [
        (await client.query('select * from quotes')).rows,
        (await client.query('select pricing_rules from tenants')).rows,
      ],
    )
    const minimum = { pct: 8, cents: 15_000, rateCentsPerMile: 175 }
    expect(tenants).toMatchObject([{ pricing_rules: [{ ruleId: 1, isOn: true, terms: { minimum } }] }])
    const offers = (quotes ?? []).filter(({ superseded_by: by }) => by !== null)
    expect(offers.map(({ quoted_rate_cents: cents, superseded_as: as }) => [cents, as]).toSorted()).toEqual([
      [110_000, 'replaced'],
      [210_000, 'refused'],
    ])
  } finally {
    await app.close()
  }
})

describe('a database of 69d4e95d', () => {
  test('gets the schema of this version and keeps every row', async () => {
    const before = await rowsNow()
    await migrate(database.owner)
    const after = await rowsNow()
    expect(keptRows(before, after)).toEqual({
      compared: expect.toSatisfy((count) => count > 400),
      faults: [],
    })
    expect(after.get('schema_migrations')?.map(({ name }) => name)).toEqual(await migrationNames())
    const forecasts = (before.get('pilot_entries') ?? []).filter(({ kind }) => kind === 'forecast')
    expect(forecasts.length).toBeGreaterThan(0)
    // The chain of the pilot has the recorded forecasts with a probability.
    const recorded = forecasts.filter(({ body }) => JSON.parse(String(body)).probability !== null)
    const quotes = (after.get('quotes') ?? []).filter(({ forecast }) => forecast !== null)
    expect(new Set(quotes.map(({ lane_id: id }) => id))).toEqual(
      new Set(recorded.map(({ lane_id: id }) => id)),
    )
    await withDatabaseClient({ connectionString: database.ownerUrl }, async (owner) => {
      expect(await schemaSql(owner)).toBe(textOf(schemaFile))
    })
    const again: string[] = []
    await migrate(database.owner, (line) => again.push(line))
    expect(again).toEqual([])
  })

  test('that two versions upgrade at once, or whose upgrade is killed, loses nothing', async () => {
    const before = await rowsNow()
    let killing: Promise<unknown> | undefined
    const interrupted = migrate(database.owner, () => {
      killing ??= withDatabaseClient({ connectionString: inject('databaseCluster').makerUrl }, (maker) =>
        maker.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
          [database.name],
        ),
      )
    })
    await expect(interrupted).rejects.toThrow()
    await killing
    const said: string[] = []
    const log = (line: string) => said.push(line)
    await Promise.all([migrate(database.owner, log), migrate(database.owner, log)])
    const applied = said.filter((line) => line.startsWith('migrated '))
    expect(new Set(applied).size).toBe(applied.length)
    expect(keptRows(before, await rowsNow()).faults).toEqual([])
  })

  test('serves its people, tokens and TMS as before, with new numbers after the last ones', async () => {
    await migrate(database.owner)
    const installationKey = secretKey(earlierKey.toString('base64'))
    if (installationKey === null) throw new Error('The key of the dump is not a key.')
    const at = held.tenants[0]?.update.at ?? 0
    const app = await appOn(database, { secretKeys: [installationKey], now: (at + 60) * 1000 })
    try {
      for (const { email, token, secret, lane_refs: refs, update } of held.tenants) {
        const { password } = held
        const signedIn = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
        expect(signedIn.status).toBe(200)
        const owner: string = signedIn.body.token
        const repeated = await pushUpdate(app, { token, secret }, update.sent, update.at)
        expect(repeated).toMatchObject({ status: 200, body: update.answer })
        const next = { lane_ref: refs[2], customer_rate: 2500, truck_cost: 2100 }
        expect(await pushUpdate(app, { token, secret }, next)).toMatchObject({ status: 200 })
        const { body: followed } = await call(app, 'GET', '/api/integrations/quotes', { token })
        expect(followed.quotes).toHaveLength(15)
        const made = await makeQuote(app, { owner, id: 0, email, password }, { customer: 'New Customer' })
        expect(followed.quotes.map((quote: { lane_ref: string }) => quote.lane_ref)).not.toContain(
          made.lane_ref,
        )
        const { body } = await call(app, 'GET', '/api/pricing-rules', { token: owner })
        expect(body.rules).toMatchObject([{ on: true, terms: { minimum: { margin_pct: 9 } } }])
      }
    } finally {
      await app.close()
    }
  })
})
