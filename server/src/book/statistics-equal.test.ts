import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problem } from '#contract/errors.ts'
import type { PerformanceSums } from '#engine/performance.ts'
import {
  PERFORMANCE_GROUPINGS,
  type PerformanceGrouping,
} from '#engine/quote-statistics/performance-groups.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import {
  countedQuotes,
  idsBehind,
  landedMarginCents,
  lostToCostCents,
  lostToRateCents,
  marginComparable,
  marginLanded,
  monthSums,
  newestPoints,
  quotedMarginCents,
  readBasisCounts,
  shipmentSums,
  tooLowCents,
} from '#testing/sums-in-sql.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOfQuotes, matching, type QuoteFilter, readTenantQuotes } from '../database/queries/index.ts'
import type { Tables } from '../database/schema/index.ts'
import { type TenantId, tenantId, withViewer } from '../database/session/index.ts'
import { convertedBookings, countedMiles } from '../quotes/index.ts'
import { type Books, BrokerageBook, statisticsOf, statisticsOfSome } from './index.ts'
import { openQuotes } from './quote-rows.ts'

let app: TestApp
let owner: pg.Client

beforeAll(async () => {
  app = await testApp({ now: Date.UTC(2026, 2, 10) })
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  await owner.query(countedQuotes)
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
    // The queries of this test take stored miles as they are.
    miles: countedMiles({
      origin_key: from[0],
      destination_key: to[0],
      miles: pick([null, 100 + random() * 1500]),
    }),
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
    mode: random() < 0.1 ? pick(['truckload', 'ltl', 'drayage']) : null,
    stops: random() < 0.05 ? 'Memphis, TN' : null,
    cancelled_at: random() < 0.05 ? new Date(at) : null,
    voided_at: random() < 0.05 ? new Date(at) : null,
    created_at: new Date(at),
  }
}

interface Brokerage {
  readonly tenant: MadeTenant
  readonly own: TenantId
  /** A person from whom the customers Zulu and Éclair are hidden. */
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
  await makeQuote(app, tenant, { customer: 'Zulu' })
  await as('POST', '/api/customers/decisions', { name: 'Alpha', other: 'Alpha Inc', decision: 'same' })
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
  const prices = `period,series,value\n${weeks.join('\n')}`
  await call(app, 'POST', '/api/fuel/diesel-prices', { token: tenant.owner, file: prices })
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
    `insert into quotes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination, equipment,
       updated_at, void_reason, ${columns.join(', ')})
     select ${own}, 80000000000 + nth, 'random-' || nth, known.request_id, 1 + nth, 1,
       ${nameOf('origin')}, ${nameOf('destination')}, 'V',
       made.created_at, case when made.voided_at is not null then 'a mistake' end,
       ${columns.map((name) => `made.${name}`).join(', ')}
     from (select request_id from quotes where tenant_id = ${own} limit 1) as known,
       rows from (json_to_recordset($1::json) as (${columns.map((name) => `${name} ${typeOf(name)}`).join(', ')}))
         with ordinality as made (${columns.join(', ')}, nth)`,
    [JSON.stringify(quotes)],
  )
  await owner.query('commit')
  return { tenant, own, memberId }
}

/** The place of an end as people write it. */
const nameOf = (end: 'origin' | 'destination') =>
  `initcap(split_part(made.${end}_key, '|', 1)) || ', ' || made.${end}_state`

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
  { rateType: 'contract' },
  { rateType: 'spot' },
  { customerName: ' ALPHA' },
  { customerName: 'Zulu' },
  { quotedBy: 1, booked: true },
  { originKey: 'dallas|TX', destinationKey: 'macon|GA' },
]

function filterOf(own: TenantId, { customerName, from, to, ...selection }: QuoteSelection): QuoteFilter {
  return {
    ...selection,
    ...(customerName === undefined ? {} : { customer: { tenant: own, name: customerName } }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  }
}

type GroupOfDatabase = Record<string, string | number> & { key: string }

/** The sums of each group of a selection from the rows of the view that converts amounts in SQL. */
async function sumsOfDatabase(
  own: TenantId,
  by: PerformanceGrouping,
  selection: QuoteSelection,
): Promise<Map<string, GroupOfDatabase>> {
  const keys = {
    lane: sql`origin_key || '>' || destination_key || '>' || equipment_code`,
    customer: sql`coalesce(merged.main_key, quotes.customer_key)`,
    rep: sql`coalesce(case when import_id is null or rep_name is not null then created_by end::text, '')`,
    carrier: sql`coalesce(lower(carrier_name), '')`,
    equipment: sql`equipment_code`,
    month: sql`date_trunc('month', created_at at time zone 'America/Chicago')::text`,
  }
  const written = {
    customer: sql`btrim(coalesce(customer_name, quoted_customer_name))`,
    carrier: sql`coalesce(carrier_name, '')`,
  }
  const where = (condition: RawBuilder<unknown>) => sql`filter (where ${condition})`
  const compared = where(marginComparable)
  const low = sql`${tooLowCents(own, rules)} > 0`
  const sum = (cents: RawBuilder<unknown>, filter = sql``) =>
    sql`coalesce(sum(${cents}) ${filter}, 0)::bigint`
  const { rows } = await app.database.inTenant(own, (transaction) =>
    sql<GroupOfDatabase>`
      select ${keys[by]} as key, ${by in written ? sql`mode() within group (order by ${written[by as 'customer']} collate "C")` : sql`''`} as written,
        count(*) as quotes, count(*) ${where(sql`outcome = 'won'`)} as won, count(*) ${where(sql`outcome = 'lost'`)} as lost,
        count(*) ${where(marginLanded)} as shipments,
        ${sum(sql`customer_rate_cents`, where(marginLanded))} as "customerRateCents",
        ${sum(sql`truck_cost_cents`, where(marginLanded))} as "truckCostCents",
        count(*) ${compared} as "comparableShipments", ${sum(landedMarginCents, compared)} as "comparableMarginCents",
        ${sum(quotedMarginCents, compared)} as "quotedMarginCents", ${sum(lostToCostCents, compared)} as "lostToCostCents",
        ${sum(lostToRateCents, compared)} as "lostToRateCents", count(${tooLowCents(own, rules)}) as "quotesWithCost",
        count(*) ${where(low)} as "quotedTooLow", count(*) ${where(sql`${low} and outcome = 'won'`)} as "quotedTooLowWon",
        ${sum(tooLowCents(own, rules), where(sql`${low} and outcome = 'won'`))} as "quotedTooLowCents",
        (extract(epoch from max(created_at)) * 1000)::bigint as "lastQuotedAt"
      from counted_lanes as quotes
      left join customer_aliases as merged on merged.tenant_id = ${own} and merged.customer_key = quotes.customer_key
        and merged.merged_into is not null
      where quotes.tenant_id = ${own}
        and ${matching(filterOf(own, selection), own)(expressionBuilder<Tables, 'quotes'>())}
      group by 1`.execute(transaction),
  )
  return new Map(rows.map((row) => [row.key, row]))
}

/** The sums of groups added up. */
function totalOf(groups: readonly GroupOfDatabase[]): Record<string, number> {
  const names = Object.keys(performanceTotalNames)
  return Object.fromEntries(
    names.map((name) => [name, groups.reduce((sum, group) => sum + Number(group[name]), 0)]),
  )
}

const performanceTotalNames: Readonly<Record<keyof PerformanceSums, true>> = {
  quotes: true,
  won: true,
  lost: true,
  shipments: true,
  customerRateCents: true,
  truckCostCents: true,
  comparableShipments: true,
  comparableMarginCents: true,
  quotedMarginCents: true,
  lostToCostCents: true,
  lostToRateCents: true,
  quotesWithCost: true,
  quotedTooLow: true,
  quotedTooLowWon: true,
  quotedTooLowCents: true,
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

/** A service whose memory is too small for the book. */
const withoutMemory = {
  books: { read: () => Promise.reject(problem('unavailable', 'Its quotes do not fit into memory.')) },
  get database() {
    return app.database
  },
}

const brokerages = [
  { seed: 1, isMixed: true, basis: 'all_in' },
  { seed: 2, isMixed: true, basis: 'linehaul' },
  { seed: 3, isMixed: false, basis: 'all_in' },
] as const

// Performance takes most of the time. Here, each grouping and each selection occur, and a third of their pairs.
describe('a brokerage with random quotes', () => equalForAll(brokerages[0], 3))
describe.each(brokerages)('a brokerage with random quotes (seed $seed)', { tags: 'long' }, (brokerage) =>
  equalForAll(brokerage, 1),
)

/** With `step` 3, performance is compared for every third pair of a selection and a grouping. */
function equalForAll({ seed, isMixed, basis }: (typeof brokerages)[number], step: number): void {
  let brokerage: Brokerage
  beforeAll(async () => {
    brokerage = await randomBrokerage(seed, { isMixed })
    await call(app, 'PATCH', '/api/tenant', { token: brokerage.tenant.owner, body: { default_basis: basis } })
  })

  test('performance from the book equals sums of the database over its rows, to the cent', async () => {
    const { own, memberId } = brokerage
    const { statistics, settings } = await opened(own)
    expect(settings.mixed).toBe(isMixed)
    let rows = 0
    for (const viewer of [null, { userId: memberId }]) {
      for (const [nth, selection] of selections.entries()) {
        for (const by of PERFORMANCE_GROUPINGS.filter((_, at) => (at + nth) % step === 0)) {
          const found = await withViewer(viewer, async () => {
            const order = { rank: 'quotes', direction: 'desc', cursor: null, limit: 1_000 } as const
            const page = await (await statistics()).performance(by, selection, order)
            return { page, sums: await sumsOfDatabase(own, by, selection) }
          })
          const ofBook = found.page.rows.map(({ parts: _, rank: __, ...row }) => [row.key, row])
          expect([by, selection, viewer, Object.fromEntries(ofBook)]).toEqual([
            by,
            selection,
            viewer,
            Object.fromEntries(found.sums),
          ])
          expect(found.page.totals).toEqual(totalOf([...found.sums.values()]))
          rows += ofBook.length
        }
      }
    }
    expect(rows).toBeGreaterThan(500 / step)
  })

  test('margin gaps from the book are the rows of the database whose margin is below the quoted one', async () => {
    const { own, memberId } = brokerage
    const { statistics } = await opened(own)
    const shortfall = sql<number>`${quotedMarginCents} - ${landedMarginCents}`
    for (const viewer of [null, { userId: memberId }]) {
      for (const selection of selections) {
        const { pages, rows } = await withViewer(viewer, async () => {
          const first = await (await statistics()).marginGaps(selection, { cursor: null, limit: 5 })
          const cursor = first.gaps.at(-1) ?? null
          const rest = await (await statistics()).marginGaps(selection, { cursor, limit: 1_000 })
          const { rows } = await app.database.inTenant(own, (transaction) =>
            sql<{ quoteId: number; cents: number }>`
              select lane_id as "quoteId", ${shortfall} as cents from counted_lanes as quotes
              where tenant_id = ${own} and ${marginComparable}
                and ${matching({ ...filterOf(own, selection), booked: true }, own)(expressionBuilder<Tables, 'quotes'>())}
              order by 2 desc, 1 desc`.execute(transaction),
          )
          return { pages: cursor === null ? [first] : [first, rest], rows }
        })
        const below = rows.filter(({ cents }) => cents > 0)
        expect(
          pages.flatMap(({ gaps }) => gaps.map(({ quoteId, shortfallCents: cents }) => ({ quoteId, cents }))),
        ).toEqual(below)
        expect(pages[0]).toMatchObject({
          compared: rows.length,
          below: below.length,
          shortfallCents: below.reduce((sum, { cents }) => sum + cents, 0),
        })
      }
    }
    expect((await (await statistics()).marginGaps({}, { cursor: null, limit: 9 })).below).toBeGreaterThan(9)
  })

  test('the counts of converted quotes, and of those that cannot be, equal those of the SQL', async () => {
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
    expect(all.notDirect).toBeGreaterThan(3)
    if (isMixed) {
      expect(
        Math.min(...Object.values(all.convertedBy), all.notConverted, all.notConvertedInCad),
      ).toBeGreaterThan(3)
    }
  })

  test('the quotes behind a figure are the rows of the database that count in it', async () => {
    const { own, memberId } = brokerage
    const { statistics } = await opened(own)
    for (const figure of [
      'lost_to_cost',
      'lost_to_rate',
      'landed_vs_quoted',
      'quoted_too_low',
      'booked_at_a_loss',
    ] as const) {
      for (const viewer of [null, { userId: memberId }]) {
        for (const selection of selections) {
          const filter = filterOf(own, selection)
          const [ids, rows] = await withViewer(viewer, async () => [
            await (await statistics()).behind(figure, selection),
            await app.database.inTenant(own, (transaction) =>
              idsBehind(transaction, own, figure, { filter, rules }),
            ),
          ])
          expect([figure, viewer, selection, ids.toSorted((one, other) => one - other)]).toEqual([
            figure,
            viewer,
            selection,
            rows,
          ])
        }
      }
      expect((await (await statistics()).behind(figure, {})).length).toBeGreaterThan(9)
    }
  })

  test('the totals of shipments equal the sums of the database, by a selection and by ids', async () => {
    const { own, memberId } = brokerage
    const { statistics } = await opened(own)
    for (const viewer of [null, { userId: memberId }]) {
      for (const selection of selections) {
        const filter = { ...filterOf(own, selection), booked: true }
        const found = await withViewer(viewer, async () => {
          const quoteIds = await app.database.inTenant(own, (transaction) =>
            idsOfQuotes(transaction, own, filter),
          )
          const [selected, listed] = [
            await (await statistics()).shipments(selection),
            await (await statistics()).shipments({ quoteIds }),
          ]
          expect(listed).toEqual(selected)
          const { basis: _, ...converted } = await app.database.inTenant(own, (transaction) =>
            readBasisCounts(transaction, own, filter),
          )
          const totals = await app.database.inTenant(own, (transaction) =>
            shipmentSums(transaction, own, filter),
          )
          return [selected, { totals, converted }]
        })
        expect([selection, viewer, found[0]]).toEqual([selection, viewer, found[1]])
      }
    }
    const booked = () =>
      app.database.inTenant(own, (transaction) => idsOfQuotes(transaction, own, { booked: true }))
    const withoutBook = await statisticsOfSome(withoutMemory, own, booked)
    expect(await withoutBook.shipments({})).toEqual(await (await statistics()).shipments({}))
    const { totals } = await (await statistics()).shipments({})
    expect(Math.min(...Object.values(totals).map(Math.abs))).toBeGreaterThan(3)
  })

  test('the record of a lane equals the rows of the database: its months, its newest quotes, and what was converted', async () => {
    const { own, memberId } = brokerage
    const { statistics } = await opened(own)
    const pair = { originKey: 'dallas|TX', destinationKey: 'macon|GA' }
    for (const viewer of [null, { userId: memberId }]) {
      for (const asked of [{}, { equipmentCode: 'R' }, { rateType: 'spot' }] as const) {
        const [all, shown] = [
          { ...pair, ...asked, equipmentCode: undefined },
          { ...pair, ...asked },
        ]
        const { equipmentCode: _, ...ofPair } = all
        await withViewer(viewer, async () => {
          const { months, points } = await (await statistics()).laneRecord(shown, 12)
          const converted = await (await statistics()).converted(shown)
          await app.database.inTenant(own, async (transaction) => {
            expect(months).toEqual(await monthSums(transaction, own, ofPair, 'America/Chicago'))
            expect(points.map(({ booked: _, quotedAt: __, ...point }) => point)).toEqual(
              await newestPoints(transaction, own, shown, 12),
            )
            const { basis: _, ...counts } = await readBasisCounts(transaction, own, shown)
            expect(converted).toEqual(counts)
          })
          expect(months.length).toBeGreaterThan(2)
          const withoutBook = await statisticsOfSome(withoutMemory, own, () =>
            app.database.inTenant(own, (transaction) => idsOfQuotes(transaction, own, pair)),
          )
          expect(await withoutBook.laneRecord(shown, 12)).toEqual({ months, points })
          expect(await withoutBook.converted(shown)).toEqual(converted)
        })
      }
    }
  })

  test('the quotes of a test on history, and the margins of lanes, have the amounts that the database converts', async () => {
    const { own } = brokerage
    await app.database.inTenant(own, async (transaction) => {
      const { rows } = await sql<Record<string, number | string | null>>`
        select lane_id as "quoteId", coalesce(customer_rate_cents, quoted_rate_cents) as "rateCents",
          coalesce(truck_cost_cents, estimated_cost_cents) as "costCents", truck_cost_cents as "truckCostCents",
          quoted_rate_cents as "quotedRateCents", outcome, rate_type as "rateType",
          coalesce(nullif(estimated_cost_cents, 0), nullif(expected_cost_cents, 0)) as "quotedCostCents"
        from counted_lanes where tenant_id = ${own} order by created_at, lane_id`.execute(transaction)
      const names = Object.keys(rows[0] ?? {})
      const read = await readTenantQuotes(transaction, own, {
        since: null,
        max: 10_000,
        perReadMax: 100,
        milesOf: countedMiles,
      })
      expect(
        read.map((quote) => Object.fromEntries(names.map((name) => [name, quote[name as 'quoteId']]))),
      ).toEqual(rows.map((row) => ({ ...row, rateType: row.rateType ?? 'spot' })))
      expect(read.length).toBeGreaterThan(200)

      const quotes = await transaction.selectFrom('quotes').selectAll().where('tenant_id', '=', own).execute()
      const direct = quotes.filter(
        ({ mode, stops }) => (mode ?? 'truckload') === 'truckload' && stops === null,
      )
      const booked = await convertedBookings(transaction, own, direct, basis)
      const { rows: converted } = await sql<{ quoteId: number; revenueCents: number; costCents: number }>`
        select lane_id as "quoteId", customer_rate_cents as "revenueCents", truck_cost_cents as "costCents"
        from counted_lanes
        where tenant_id = ${own} and customer_rate_cents is not null and truck_cost_cents is not null
        order by 1`.execute(transaction)
      expect(
        [...booked]
          .map(([quoteId, { revenueCents, costCents }]) => ({ quoteId, revenueCents, costCents }))
          .toSorted((one, other) => one.quoteId - other.quoteId),
      ).toEqual(converted)
      expect(booked.size).toBeGreaterThan(50)
    })
  })
}
