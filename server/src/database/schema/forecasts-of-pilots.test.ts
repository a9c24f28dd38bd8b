import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { call, makeQuote, makeTenant } from '#testing/make.ts'
import { sinceQuotes } from '#testing/since-quotes.ts'
import { countedQuotes } from '#testing/sums-in-sql.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { migrate, readMigrations } from './migrate.ts'

const name = '0069-forecast-of-each-quote.sql'
const pilots = new URL('./migrations/0014-sealed-pilot.sql', import.meta.url)

let database: TestDatabase
let app: TestApp
let owner: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  app = await appOn(database)
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
  await database.drop()
})

test('the migration keeps the forecast of each quote, and drops the rest of the pilot', async () => {
  const tenant = await makeTenant(app)
  const { id, owner: token } = tenant
  const [piloted, shown, none] = [
    await makeQuote(app, tenant),
    await makeQuote(app, tenant),
    await makeQuote(app, tenant),
  ]
  const asTenant = async (statement: string, values: unknown[] = []) => {
    await owner.query(`select set_config('app.tenant_id', $1, false)`, [String(id)])
    return (await owner.query(statement, values)).rows
  }
  // Restores the form of the version before, which had the view.
  await owner.query(countedQuotes)
  await owner.query('alter table quotes rename column forecast to advice')
  await owner.query('alter view counted_lanes rename column forecast to advice')
  await owner.query(sinceQuotes(await readFile(pilots, 'utf8')))
  const advice = {
    win_probability: 0.4,
    low: 0.3,
    high: 0.6,
    going_rate: 2000,
    best_rate: null,
    trust: 'fair',
  }
  await asTenant('update quotes set advice = null')
  await asTenant('update quotes set advice = $1 where lane_id = any($2)', [
    advice,
    [piloted.lane_id, shown.lane_id],
  ])
  await asTenant(
    `insert into pilots (tenant_id, active, started_at, started_by, sealed_version) values ($1, true, now(), 1, 0)`,
    [id],
  )
  const forecast = {
    quoted_as: '2100',
    cost: 1700,
    cost_from: 'expected',
    probability: 0.25,
    interval_80: [0.2, 0.35],
    lane_won: 1,
    lane_decided: 2,
    all_won: 29,
    all_decided: 98,
    going_rate: 2050,
    best_rate: 2200,
    model: '0.2.0 abc',
    late: null,
  }
  const entries = [
    ['forecast', { ...forecast, probability: 0.9 }],
    ['forecast', forecast],
    ['forecast', { ...forecast, probability: 0.1, late: 'quoted_long_before' }],
    ['outcome', { outcome: 'won' }],
  ] as const
  for (const [nth, [kind, body]] of entries.entries()) {
    await asTenant(
      `insert into pilot_entries (tenant_id, entry_number, at, kind, lane_id, body, hash)
       values ($1, $2, '2026-03-01T12:00:00.5Z', $3, $4, $5, sha256('x'))`,
      [id, nth + 1, kind, piloted.lane_id, JSON.stringify(body)],
    )
  }
  await asTenant(
    `insert into event_endpoints (tenant_id, endpoint_id, url, event_types, state, created_by, created_at)
     values ($1, 1, 'https://hooks.example.com/', '{pilot.head,quote.created}', 'active', 1, now())`,
    [id],
  )
  await owner.query('delete from schema_migrations where name = $1', [name])

  await migrate(
    { connectionString: database.ownerUrl },
    () => {},
    (await readMigrations()).map((each) =>
      each.name === name ? { name, sql: sinceQuotes(each.sql) } : each,
    ),
  )

  const of = async ({ lane_ref }: { lane_ref: string }) =>
    (await call(app, 'GET', `/api/lanes/${lane_ref}`, { token })).body.forecast
  expect(await of(piloted)).toEqual({
    made_at: '2026-03-01T12:00:00.500Z',
    win_probability: 0.25,
    low: 0.2,
    high: 0.35,
    cost: 1700,
    cost_from: 'expected',
    going_rate: 2050,
    best_rate: 2200,
    lane_win_rate: expect.closeTo(0.4, 9),
    quoted_as: '2100',
    model: '0.2.0 abc',
  })
  expect(await of(shown)).toMatchObject({
    win_probability: 0.4,
    low: 0.3,
    going_rate: 2000,
    lane_win_rate: null,
    quoted_as: null,
  })
  expect(await of(none)).toBeNull()
  const { body } = await call(app, 'GET', '/api/event-endpoints', { token })
  expect(body.endpoints).toMatchObject([{ event_types: ['quote.created'] }])
  const { rows } = await owner.query(
    `select relname from pg_class where relname in ('pilots', 'pilot_entries', 'calibration_checks')`,
  )
  expect(rows).toEqual([])
})
