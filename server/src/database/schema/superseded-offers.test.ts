import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, pushUpdate } from '#testing/make.ts'
import { sinceQuotes } from '#testing/since-quotes.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { migrate, readMigrations } from './migrate.ts'

const name = '0067-superseded-offers.sql'

let database: TestDatabase
let app: TestApp
let ours: Integration
let owner: pg.Client

beforeAll(async () => {
  database = await testDatabase()
  app = await appOn(database)
  ours = await makeIntegration(app)
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
  await database.drop()
})

const asTenant = async (statement: string, values: unknown[] = []) => {
  await owner.query('begin')
  await owner.query(`select set_config('app.tenant_id', $1, true)`, [String(ours.tenant.id)])
  const { rows } = await owner.query(statement, values)
  await owner.query('commit')
  return rows
}
const get = async (path: string) => (await call(app, 'GET', path, { token: ours.tenant.owner })).body

/** Offers for one load at these rates, each with its outcome, as a version without superseding saved them. */
async function load(...offers: (readonly [rate: number, outcome: string, more?: string])[]) {
  const post = (path: string, body: object) => call(app, 'POST', path, { token: ours.tenant.owner, body })
  const [[first = 0] = [0]] = offers
  const quote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: first }
  const made = await post('/api/quote-requests', { customer_name: 'Harvest', lanes: [quote] })
  const refs = [made.body.lanes[0].lane_ref as string]
  for (const [quoted_rate] of offers.slice(1))
    refs.push((await post(`/api/lanes/${refs[0]}/requote`, { quoted_rate })).body.lane_ref)
  for (const [nth, [, outcome, more = 'lane_ref = lane_ref']] of offers.entries()) {
    await asTenant(
      `update quotes set outcome = $2, decided_at = case when $2 <> 'pending' then now() end, ${more} where lane_ref = $1`,
      [refs[nth], outcome],
    )
  }
  return refs
}

test('the migration sets which offer counts for the loads of before, with a change in the history of each', async () => {
  const loads = {
    countered: await load([2000, 'lost', 'counter_rate_cents = 180000'], [1900, 'won']),
    twice: await load([2000, 'won'], [1900, 'won']),
    open: await load([2000, 'pending'], [1900, 'pending'], [2100, 'pending']),
    voided: await load([2000, 'lost'], [1900, 'pending', `voided_at = now(), void_reason = 'Typo'`]),
    once: await load([2000, 'won']),
    booked: await load([2000, 'pending'], [1900, 'won']),
  }
  await pushUpdate(app, ours, { lane_ref: loads.booked[0], customer_rate: 2000, truck_cost: 1500 })
  const refs = Object.values(loads).flat()
  await asTenant(`delete from quote_changes where rule = 'another_offer_counts'`)
  await asTenant('update quotes set superseded_by = null, superseded_as = null')
  await asTenant('select advance_versions($1, 1, 0, array(select lane_id from quotes))', [ours.tenant.id])
  await owner.query('delete from schema_migrations where name = $1', [name])

  await migrate(
    { connectionString: database.ownerUrl },
    () => {},
    (await readMigrations()).map((each) =>
      each.name === name ? { name, sql: sinceQuotes(each.sql) } : each,
    ),
  )

  const rows = await asTenant('select lane_ref, superseded_by, superseded_as from quotes')
  const byRef = new Map(rows.map((row) => [row.lane_ref, row]))
  const standing = (of: readonly string[]) =>
    of.map((ref) => {
      const { superseded_by: by, superseded_as: as } = byRef.get(ref) ?? {}
      return by === null ? null : `${as} by ${of.indexOf(by) + 1}`
    })
  expect(Object.fromEntries(Object.entries(loads).map(([what, of]) => [what, standing(of)]))).toEqual({
    countered: ['refused by 2', null],
    twice: ['replaced by 2', null],
    open: ['replaced by 3', 'replaced by 3', null],
    voided: [null, null],
    once: [null],
    booked: [null, 'replaced by 1'],
  })
  const [superseded] = loads.countered
  const { changes } = await get(`/api/lanes/${superseded}/changes`)
  expect(changes[0]).toMatchObject({
    source: 'lanewise',
    rule: 'another_offer_counts',
    after: { superseded_by: loads.countered[1] },
  })
  // The running service counts each load once, too.
  const quotes = await Promise.all(refs.map((ref) => get(`/api/lanes/${ref}`)))
  const counting = quotes.filter((quote) => quote.superseded_by === null && quote.voided_at === null)
  const { totals } = await get('/api/performance?by=month')
  expect(totals).toMatchObject({ quotes: counting.length, won: 4, lost: 1 })

  // The migration wrote what the service derives, so the next change of each load changes nothing else.
  for (const ref of refs) {
    await call(app, 'POST', `/api/lanes/${ref}/void`, { token: ours.tenant.owner, body: { reason: 'Again' } })
    await call(app, 'POST', `/api/lanes/${ref}/restore`, { token: ours.tenant.owner, body: {} })
  }
  const after = await asTenant('select lane_ref, superseded_by, superseded_as from quotes')
  const voided = loads.voided[1]
  const isOther = (row: { lane_ref: string }) => !loads.voided.includes(row.lane_ref)
  expect(new Set(after.filter(isOther))).toEqual(new Set(rows.filter(isOther)))
  expect(after.find(({ lane_ref }) => lane_ref === loads.voided[0])?.superseded_by).toBe(voided)
})
