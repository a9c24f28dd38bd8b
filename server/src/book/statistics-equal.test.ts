import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PERFORMANCE_GROUPINGS, PERFORMANCE_RANKS } from '#engine/quote-statistics/performance-groups.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type LaneFilter, performance, readBasisCounts } from '../database/queries/index.ts'
import { type TenantId, tenantId, withViewer } from '../database/session/index.ts'
import { type Books, BrokerageBook, statisticsOf } from './index.ts'
import { openQuotes } from './quote-rows.ts'

let app: TestApp
let owner: pg.Client

beforeAll(async () => {
  app = await testApp({ now: Date.UTC(2026, 2, 10) })
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
})

const places = [
  ['dallas|TX', 'TX', 'Dallas, TX'],
  ['fort worth|TX', 'TX', 'Dallas, TX'],
  ['atlanta|GA', 'GA', 'Atlanta, GA'],
  ['macon|GA', 'GA', null],
] as const
const customers = [
  'Harvest Table Foods',
  'harvest  table foods',
  ' Brook & Sons ',
  'Éclair 田中',
  'ÉCLAIR 田中',
  'Zulu',
  'Alpha Inc',
  'Alpha',
  '𝔊othic Foods',
  '\ufb01ne Foods',
] as const
const carriers = [
  'Bluebonnet Carriers',
  'BLUEBONNET carriers',
  'Ridge & Sons',
  'ΣΊΣΥΦΟΣ',
  null,
  null,
] as const

const day = 86_400_000
const start = Date.UTC(2025, 8, 1)

/** A quote with random amounts on random terms, of a random customer, in one of the outcomes. */
function randomQuote(random: () => number, memberId: number) {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const cents = (most: number) => Math.floor(random() * most)
  const amount = () => 60_000 + cents(300_000)
  const [from, to] = [pick(places), pick(places)]
  const at = start + Math.floor(random() * 200 * day)
  const outcome = pick(['won', 'won', 'lost', 'pending', 'expired'])
  const isBooked = outcome === 'won' && random() < 0.8
  const terms = (of: 'quoted' | 'customer' | 'truck') => ({
    [`${of}_basis`]: pick([null, null, 'linehaul', 'all_in']),
    [`${of}_currency`]: pick([null, null, null, 'USD', 'CAD']),
    [`${of}_fuel_cents`]: pick([null, null, 0, cents(60_000)]),
    [`${of}_accessorials_cents`]: pick([null, null, 0, cents(60_000)]),
  })
  return {
    origin_key: from[0],
    origin_state: from[1],
    origin_market: from[2],
    destination_key: to[0],
    destination_state: to[1],
    destination_market: to[2],
    equipment_code: pick(['V', 'R', 'F']),
    quoted_customer_name: pick(customers),
    customer_name: random() < 0.15 ? pick(customers) : null,
    quoted_rate_cents: random() < 0.03 ? 0 : amount(),
    estimated_cost_cents: pick([null, 0, amount()]),
    expected_cost_cents: pick([null, 0, amount()]),
    expected_basis: pick([null, 'linehaul', 'all_in']),
    market_rate_cents: pick([null, amount()]),
    miles: pick([null, 100 + random() * 1500]),
    outcome,
    outcome_source: outcome === 'expired' ? 'lanewise' : null,
    decided_at: outcome === 'pending' ? null : new Date(at + cents(5 * day)),
    customer_rate_cents: isBooked && random() < 0.9 ? amount() : null,
    truck_cost_cents: isBooked && random() < 0.9 ? amount() : null,
    carrier_name: isBooked ? pick(carriers) : null,
    ...terms('quoted'),
    ...terms('customer'),
    ...terms('truck'),
    created_by: pick([1, 1, memberId, null]),
    import_id: random() < 0.2 ? 1 : null,
    rate_type: pick([null, 'spot', 'contract']),
    cancelled_at: random() < 0.05 ? new Date(at) : null,
    voided_at: random() < 0.05 ? new Date(at) : null,
    created_at: new Date(at),
  }
}

interface Brokerage {
  readonly tenant: MadeTenant
  readonly own: TenantId
  /** Sees neither Zulu nor Éclair. */
  readonly memberId: number
}

/** A brokerage with a fuel schedule, exchange rates, merged and hidden customers, rules, and random quotes. */
async function randomBrokerage(seed: number, { isMixed }: { isMixed: boolean }): Promise<Brokerage> {
  const tenant = await makeTenant(app)
  const own = tenantId(tenant.id)
  const { id: memberId } = await makePerson(app, tenant, 'member')
  const as = async (method: string, path: string, body: object) => {
    const answer = await call(app, method, path, { token: tenant.owner, body })
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body])
  }
  await makeLane(app, tenant, { customer: 'Zulu' })
  await as('POST', '/api/customers/merges', { from: 'Alpha', into: 'Alpha Inc' })
  await as('PATCH', '/api/customers/record', { name: 'Brook & Sons', tier: 'Gold' })
  await as('POST', '/api/teams', {
    name: 'Far',
    members: [1],
    customers: ['Zulu', 'éclair 田中', 'Alpha Inc'],
  })
  await as('POST', '/api/teams', { name: 'Near', members: [1, memberId], customers: ['Alpha Inc'] })
  await as('PATCH', '/api/tenant', { time_zone: 'America/Chicago', expired_counts_as_lost: seed % 2 === 0 })
  await as('POST', '/api/exchange-rates', {
    rates: [0, 40, 60, 150].map((n) => ({
      day: new Date(start + n * day).toISOString().slice(0, 10),
      usd_per_cad: 0.7 + n / 3_000,
    })),
  })
  await as('PATCH', '/api/fuel/schedule', {
    periods: [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }],
  })
  await as('PATCH', '/api/fuel/schedule', {
    customer: 'Harvest Table Foods',
    periods: [{ from: '2025-10-01', base_price: 1.1, miles_per_gallon: 5.5 }],
  })
  const weeks = Array.from({ length: 15 }, (_, n) => {
    const monday = new Date(start + 7 * n * day).toISOString().slice(0, 10)
    return `${monday},EMD_EPD2D_PTE_NUS_DPG,${3.5 + n / 100}`
  })
  await as('POST', '/api/fuel/diesel-prices', { text: `period,series,value\n${weeks.join('\n')}` })
  const random = seededNumbers(seed)
  const quotes = Array.from({ length: 500 }, () => randomQuote(random, memberId)).map((quote) =>
    isMixed
      ? quote
      : Object.fromEntries(
          Object.entries(quote).filter(
            ([name]) => !/_(basis|currency|fuel_cents|accessorials_cents)$/.test(name),
          ),
        ),
  )
  const columns = Object.keys(quotes[0] ?? {})
  await owner.query('begin')
  await owner.query(`select enter_tenant('${own}', 0, 0, 0)`)
  await owner.query(
    `insert into imports (tenant_id, import_id, file_name, status, dry_run, columns, ignored_columns, created_at, progress_at)
     values ($1, 1, 'x.csv', 'done', false, '[]', '[]', now(), now())`,
    [own],
  )
  await owner.query(
    `insert into lanes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination, equipment,
       updated_at, void_reason, ${columns.join(', ')})
     select ${own}, 80000000000 + nth, 'random-' || nth, known.request_id, 1 + nth, 1, made.origin_key, made.destination_key, 'V',
       made.created_at, case when made.voided_at is not null then 'a mistake' end,
       ${columns.map((name) => `made.${name}`).join(', ')}
     from (select request_id from lanes where tenant_id = ${own} limit 1) as known,
       rows from (json_to_recordset($1::json) as (${columns.map((name) => `${name} ${typeOf(name)}`).join(', ')}))
         with ordinality as made (${columns.join(', ')}, nth)`,
    [JSON.stringify(quotes)],
  )
  await owner.query('commit')
  return { tenant, own, memberId }
}

function typeOf(column: string): string {
  if (/_at$/.test(column)) return 'timestamptz'
  if (/_cents$|_id$|created_by/.test(column)) return 'integer'
  return column === 'miles' ? 'float8' : 'text'
}

const rules: readonly PricingRule[] = [
  { ruleId: 1, conditions: {}, terms: { minimum: { pct: 7.5, centsPerMile: 20 } } },
  {
    ruleId: 2,
    conditions: { customer: { key: 'alpha', text: 'Alpha' } },
    terms: { minimum: { cents: 30_000 } },
  },
  { ruleId: 3, conditions: { tier: 'GOLD', milesOver: 800 }, terms: { minimum: { rateCentsPerMile: 210 } } },
  {
    ruleId: 4,
    conditions: { origin: { kind: 'market', key: 'Dallas, TX', text: 'Dallas, TX' }, rateType: 'contract' },
    terms: { minimum: { pct: 15 } },
  },
  { ruleId: 5, conditions: { equipment: 'R', milesTo: 900 }, terms: { minimum: { pct: 3, cents: 5_000 } } },
  { ruleId: 6, conditions: { rep: { userId: 2, text: 'x' } }, terms: { minimum: { pct: 25 } } },
  {
    ruleId: 7,
    conditions: { team: { teamId: 2, text: 'Near' }, milesOver: 1200 },
    terms: { minimum: { pct: 1 } },
  },
  { ruleId: 8, conditions: { confidenceAtMost: 'low' }, terms: { minimum: { pct: 50 } } },
  {
    ruleId: 9,
    conditions: { destination: { kind: 'state', key: 'GA', text: 'GA' } },
    terms: { target: { pct: 9 } },
  },
]

const selections: readonly QuoteSelection[] = [
  {},
  { from: start + 30.5 * day, to: start + 120 * day },
  { equipmentCode: 'R' },
  { customerName: ' ALPHA' },
  { customerName: 'Zulu' },
  { quotedBy: 1, booked: true },
  { originKey: 'dallas|TX', destinationKey: 'macon|GA' },
]

function filterOf(own: TenantId, { customerName, from, to, ...selection }: QuoteSelection): LaneFilter {
  return {
    ...selection,
    ...(customerName === undefined ? {} : { customer: { tenant: own, name: customerName } }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  }
}

/** The statistics of a brokerage from a book that was just opened. */
async function opened(own: TenantId) {
  const quotes = new BrokerageBook()
  const { versions, settings, days } = await openQuotes(app.database, own, quotes)
  const open = { quotes, versions, days, settings: { ...settings, rules } }
  const books: Pick<Books<BrokerageBook>, 'read'> = { read: async () => open }
  return {
    settings,
    statistics: () => statisticsOf({ books: books as Books<BrokerageBook>, database: app.database }, own),
  }
}

const brokerages = [
  { seed: 1, isMixed: true, basis: 'all_in' },
  { seed: 2, isMixed: true, basis: 'linehaul' },
  { seed: 3, isMixed: false, basis: 'all_in' },
] as const

describe.each(brokerages)('a brokerage with random quotes (seed $seed)', ({ seed, isMixed, basis }) => {
  let brokerage: Brokerage
  beforeAll(async () => {
    brokerage = await randomBrokerage(seed, { isMixed })
    await call(app, 'PATCH', '/api/tenant', { token: brokerage.tenant.owner, body: { default_basis: basis } })
  })

  test('performance from the book equals the SQL over its rows to the cent', async () => {
    const { own, memberId } = brokerage
    const { statistics, settings } = await opened(own)
    expect(settings.mixed).toBe(isMixed)
    let compared = 0
    for (const viewer of [null, { userId: memberId }]) {
      for (const selection of selections) {
        for (const by of PERFORMANCE_GROUPINGS) {
          for (const [nth, rank] of PERFORMANCE_RANKS.entries()) {
            if ((rank === 'month') !== (by === 'month') && rank !== 'quotes') continue
            const direction = nth % 2 === 0 ? ('desc' as const) : ('asc' as const)
            const named = by === 'customer' && rank === 'margin' ? { named: 'FOODS' } : {}
            const order = { rank, direction, cursor: null, limit: 7 }
            const found = await withViewer(viewer, async () => {
              const ofBook = await (await statistics()).performance(by, selection, { ...order, ...named })
              const filter = filterOf(own, selection)
              const ofSql = await app.database.inTenant(own, (transaction) =>
                performance.performanceBy(
                  transaction,
                  own,
                  by,
                  filter,
                  { ...order, ...named },
                  { rules, timeZone: settings.timeZone, expiredCountsAsLost: settings.expiredCountsAsLost },
                ),
              )
              const last = ofBook.rows.at(-1)
              const cursor =
                last === undefined ? null : { rank: last.rank, quotes: last.quotes, key: last.key }
              const next = await (await statistics()).performance(by, selection, {
                ...order,
                ...named,
                cursor,
              })
              const nextOfSql = await app.database.inTenant(own, (transaction) =>
                performance.performanceBy(
                  transaction,
                  own,
                  by,
                  filter,
                  { ...order, ...named, cursor },
                  { rules, timeZone: settings.timeZone, expiredCountsAsLost: settings.expiredCountsAsLost },
                ),
              )
              return { ofBook: [ofBook, next], ofSql: [ofSql, nextOfSql] }
            })
            const comparable = found.ofSql.map((page) => ({
              ...page,
              rows: page.rows.map((row) => {
                const { lastQuotedMs, part_1: _, ...known } = row as typeof row & { part_1?: string }
                return {
                  ...known,
                  parts: known.parts.filter((part, at) => at === 0 || part !== ''),
                  lastQuotedAt: lastQuotedMs,
                }
              }),
            }))
            expect([by, rank, selection, viewer, found.ofBook]).toEqual([
              by,
              rank,
              selection,
              viewer,
              comparable,
            ])
            compared += found.ofBook.length
          }
        }
      }
    }
    expect(compared).toBeGreaterThan(500)
  }, 240_000)

  test('the counts of converted quotes, and of those kept apart, equal those of the SQL', async () => {
    const { own, memberId } = brokerage
    const { statistics } = await opened(own)
    for (const viewer of [null, { userId: memberId }]) {
      for (const selection of selections) {
        const found = await withViewer(viewer, async () => [
          { basis, ...(await (await statistics()).converted(selection)) },
          await app.database.inTenant(own, (transaction) =>
            readBasisCounts(transaction, own, filterOf(own, selection)),
          ),
        ])
        expect([selection, found[0]]).toEqual([selection, found[1]])
      }
    }
    const all = await (await statistics()).converted({})
    if (isMixed) {
      expect(Math.min(...Object.values(all.convertedBy), all.keptApart, all.keptApartInCad)).toBeGreaterThan(
        3,
      )
    }
  })
})
