import Papa from 'papaparse'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AnswerOf } from '#contract/endpoint.ts'
import { type getPerformance, type listMarginGaps, performanceGroupings } from '#contract/performance.ts'
import type { Quote } from '#contract/quote.ts'
import { updateTenant } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import {
  backtestReport,
  call,
  type MadeTenant,
  makePerson,
  makeQuote,
  makeTenant,
  setColumns,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

type Performance = AnswerOf<typeof getPerformance>
type Row = Performance['rows'][number]
type Gaps = AnswerOf<typeof listMarginGaps>

const floors = { margin_pct: 8, margin: 150, rate_per_mile: 1.9 }

let app: TestApp
let acme: MadeTenant
let reps: readonly string[]
let quotes: Quote[]

/** Random numbers from 0 to 1, the same in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

const cities = ['Dallas, TX', 'Atlanta, GA', 'Chicago, IL', 'St. Louis, MO']
const carriers = ['Bluebonnet Carriers', 'BLUEBONNET carriers', 'Ridge & Sons', null]
const customers = ['Harvest Table Foods', 'harvest table foods', 'Brook & Sons', 'Éclair 田中']

/** Quotes by two reps over four months: some won, some partly booked, some with a higher cost than expected. */
async function fill(tenant: MadeTenant, tokens: readonly string[]): Promise<void> {
  const random = numbers(7)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  for (let n = 0; n < 40; n++) {
    const quotedAt = new Date(Date.UTC(2025, 10, 6) + n * 3 * 86_400_000)
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: pick(tokens),
      body: {
        customer_name: pick(customers),
        lanes: Array.from({ length: 3 }, () => ({
          origin: pick(cities),
          destination: pick(cities),
          equipment: pick(['V', 'R', 'Reefer']),
          quoted_rate: (150_000 + Math.floor(random() * 100_000)) / 100,
          ...(random() < 0.7 ? { estimated_cost: (120_000 + Math.floor(random() * 50_000)) / 100 } : {}),
        })),
      },
    })
    const id = tenantId(tenant.id)
    for (const quote of made.body.lanes) {
      const fate = random()
      const outcome = fate < 0.4 ? 'won' : fate < 0.8 ? 'lost' : 'pending'
      const isBooked = outcome === 'won' && random() < 0.8
      await app.database.inTenant(id, (transaction) =>
        transaction
          .updateTable('quotes')
          .set({
            outcome,
            created_at: quotedAt,
            decided_at: outcome === 'pending' ? null : quotedAt,
            customer_rate_cents: isBooked ? Math.round(quote.quoted_rate * 100 - random() * 9_000) : null,
            truck_cost_cents: isBooked && random() < 0.8 ? 120_000 + Math.floor(random() * 60_000) : null,
            carrier_name: isBooked ? pick(carriers) : null,
          })
          .where('tenant_id', '=', id)
          .where('lane_id', '=', quote.lane_id)
          .execute(),
      )
    }
  }
}

beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.UTC(2026, 2, 10)
  acme = await makeTenant(app)
  await call(app, 'PATCH', '/api/tenant', {
    token: acme.owner,
    body: { time_zone: 'America/Chicago', floors },
  })
  reps = [acme.owner, (await makePerson(app, acme, 'member')).token]
  await fill(acme, reps)
  quotes = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call(app, 'GET', `/api/lanes?limit=200${next}`, { token: acme.owner })
    quotes.push(...body.lanes)
    cursor = body.next_cursor
  }
})

async function performance(query: string, token = acme.owner): Promise<Performance> {
  const { status, body } = await call(app, 'GET', `/api/performance?${query}`, { token })
  expect([query, status]).toEqual([query, 200])
  return body
}

async function gaps(query = '', token = acme.owner): Promise<Gaps> {
  const { status, body } = await call(app, 'GET', `/api/performance/margin-gaps?${query}`, { token })
  expect([query, status]).toEqual([query, 200])
  return body
}

const inCents = (dollars: number | null) => Math.round((dollars ?? 0) * 100)
const quotedCost = (quote: Quote) => quote.estimated_cost ?? quote.expected_cost?.amount ?? null

/** The lowest rate of a quote with a known cost, in cents. */
const lowestRate = (quote: Quote) => {
  const cost = inCents(quotedCost(quote))
  return Math.max(
    cost,
    Math.ceil(cost / (1 - floors.margin_pct / 100)),
    cost + 100 * floors.margin,
    Math.ceil((quote.miles ?? 0) * 100 * floors.rate_per_mile),
  )
}
const tooLow = (quote: Quote) =>
  quotedCost(quote) === null ? 0 : Math.max(0, lowestRate(quote) - inCents(quote.quoted_rate))
const lostTo = {
  cost: (quote: Quote) => Math.max(0, inCents(quote.truck_cost) - inCents(quotedCost(quote))),
  rate: (quote: Quote) => Math.max(0, inCents(quote.quoted_rate) - inCents(quote.customer_rate)),
}

/** The expected figures: sums over quotes that the API returned. */
function recomputed(some: readonly Quote[]) {
  const won = some.filter((quote) => quote.outcome === 'won').length
  const lost = some.filter((quote) => quote.outcome === 'lost').length
  const shipments = some.filter((quote) => quote.margin !== null)
  const comparable = shipments.filter((quote) => quotedCost(quote) !== null)
  const sum = (of: readonly Quote[], cents: (quote: Quote) => number) =>
    of.length === 0 ? null : of.reduce((total, quote) => total + cents(quote), 0) / 100
  const margin = sum(shipments, (quote) => inCents(quote.margin))
  const rate = sum(shipments, (quote) => inCents(quote.customer_rate))
  const withCost = some.filter((quote) => quotedCost(quote) !== null)
  const quotedMargin = (quote: Quote) => inCents(quote.quoted_rate) - inCents(quotedCost(quote))
  return {
    quotes: some.length,
    won,
    lost,
    pending: some.length - won - lost,
    decided: won + lost,
    win_rate_pct: won + lost === 0 ? null : Math.round((1000 * won) / (won + lost)) / 10,
    shipments: shipments.length,
    customer_rate: rate,
    truck_cost: sum(shipments, (quote) => inCents(quote.truck_cost)),
    margin,
    margin_pct: margin === null || rate === null ? null : Number(((100 * margin) / rate).toFixed(1)),
    comparable_shipments: comparable.length,
    quoted_margin: sum(comparable, quotedMargin),
    landed_vs_quoted: sum(comparable, (quote) => inCents(quote.margin) - quotedMargin(quote)),
    lost_to_cost: sum(comparable, lostTo.cost),
    lost_to_rate: sum(comparable, lostTo.rate),
    gained: sum(
      comparable,
      (quote) => inCents(quote.margin) - quotedMargin(quote) + lostTo.cost(quote) + lostTo.rate(quote),
    ),
    quotes_with_cost: withCost.length,
    quoted_too_low: withCost.filter((quote) => tooLow(quote) > 0).length,
    quoted_too_low_won: withCost.filter((quote) => tooLow(quote) > 0 && quote.outcome === 'won').length,
    quoted_too_low_amount: sum(withCost, (quote) => (quote.outcome === 'won' ? tooLow(quote) : 0)),
  }
}

const chicagoMonth = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Chicago' })
const keyOf: Record<Performance['by'], (quote: Quote) => string> = {
  lane: (quote) => `${quote.origin} to ${quote.destination}, ${quote.equipment}`,
  customer: (quote) => quote.customer_name.toLowerCase(),
  rep: (quote) => String(quote.quoted_by?.user_id ?? ''),
  carrier: (quote) => (quote.carrier_name ?? '').toLowerCase(),
  equipment: (quote) => quote.equipment,
  month: (quote) => chicagoMonth.format(new Date(quote.created_at)).slice(0, 7),
}

describe('200', () => {
  test.each(performanceGroupings)('by %s: each row is the sum of its quotes', async (by) => {
    const { rows, rows_total, totals } = await performance(`by=${by}&limit=200`)
    const groups = Map.groupBy(quotes, keyOf[by])
    expect([rows.length, rows_total]).toEqual([groups.size, groups.size])
    for (const row of rows) {
      const name = by === 'lane' ? row.label : row.key
      expect(row).toMatchObject(recomputed(groups.get(name) ?? []))
    }
    expect(totals).toMatchObject(recomputed(quotes))
  })

  test.each(performanceGroupings)('by %s: the rows add up to the totals', async (by) => {
    const query = `by=${by}&limit=200&equipment=R&from=2025-11-20&to=2026-02-10`
    const { rows, totals } = await performance(query)
    const added = (field: keyof Row) =>
      rows.reduce((sum, row) => sum + Math.round(Number(row[field] ?? 0) * 100), 0) / 100
    for (const field of [
      'quotes',
      'won',
      'lost',
      'pending',
      'decided',
      'shipments',
      'customer_rate',
      'truck_cost',
      'margin',
      'comparable_shipments',
      'quoted_margin',
      'landed_vs_quoted',
      'lost_to_cost',
      'lost_to_rate',
      'gained',
      'quotes_with_cost',
      'quoted_too_low',
      'quoted_too_low_won',
      'quoted_too_low_amount',
    ] as const) {
      expect([field, added(field)]).toEqual([field, totals[field]])
    }
    expect(totals.quotes).toBe(
      quotes.filter(
        (quote) =>
          quote.equipment === 'R' && quote.created_at >= '2025-11-20' && quote.created_at < '2026-02-10',
      ).length,
    )
  })

  test('rows have readable labels: places, the customer as written, the rep, the month', async () => {
    const { rows: byLane } = await performance('by=lane&limit=1')
    expect(byLane[0]?.label).toBe(
      `${byLane[0]?.lane?.origin} to ${byLane[0]?.lane?.destination}, ${byLane[0]?.lane?.equipment}`,
    )
    const { rows: byRep } = await performance('by=rep')
    expect(byRep.map((row) => row.label).sort()).toEqual(['A member', 'Olive Quay'])
    const { rows: byCustomer } = await performance('by=customer')
    expect(byCustomer.map((row) => row.label).sort()).toEqual([
      'Brook & Sons',
      'Harvest Table Foods',
      'Éclair 田中',
    ])
    const { rows: byCarrier } = await performance('by=carrier')
    expect(byCarrier.map((row) => row.label).sort()).toEqual([
      'Bluebonnet Carriers',
      'No carrier',
      'Ridge & Sons',
    ])
    const months = await performance('by=month')
    expect(months.rows.map((row) => row.label)).toEqual([
      'March 2026',
      'February 2026',
      'January 2026',
      'December 2025',
      'November 2025',
    ])
    expect(months.rows[0]).toMatchObject({ key: '2026-03', lane: null })
  })

  test.each([
    ['quotes', 'quotes'],
    ['win_rate', 'win_rate_pct'],
    ['margin', 'margin'],
    ['margin_pct', 'margin_pct'],
    ['landed_vs_quoted', 'landed_vs_quoted'],
    ['lost_to_cost', 'lost_to_cost'],
    ['lost_to_rate', 'lost_to_rate'],
    ['quoted_too_low', 'quoted_too_low_amount'],
  ] as const)('pages by %s have every row once, in order, rows without a value last', async (sort, field) => {
    const { rows_total, totals } = await performance('by=lane&limit=1')
    for (const order of ['desc', 'asc'] as const) {
      const rows: Row[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`
        const page = await performance(`by=lane&sort=${sort}&order=${order}&limit=4${next}`)
        expect([page.rows_total, page.totals]).toEqual([rows_total, totals])
        rows.push(...page.rows)
        cursor = page.next_cursor
      }
      expect(new Set(rows.map((row) => row.key)).size).toBe(rows_total)
      const values = rows.map((row) => row[field])
      const known = values.filter((value) => value !== null)
      expect(values).toEqual([
        ...known.toSorted((a, b) => (order === 'desc' ? b - a : a - b)),
        ...Array(values.length - known.length).fill(null),
      ])
    }
  })

  test('a win rate has its confidence range, and the period is echoed', async () => {
    const { totals, from, to } = await performance('by=equipment&from=2025-12-01&to=2026-01-01T00:00:00Z')
    expect([from, to]).toEqual(['2025-12-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'])
    expect(totals.win_rate_interval?.low_pct).toBeLessThan(totals.win_rate_pct ?? 0)
    expect(totals.win_rate_interval?.high_pct).toBeGreaterThan(totals.win_rate_pct ?? 100)
    const none = await performance('by=equipment&to=2000-01-01')
    expect([none.rows, none.rows_total, none.next_cursor]).toEqual([[], 0, null])
    expect(none.totals).toMatchObject({
      quotes: 0,
      win_rate_pct: null,
      win_rate_interval: null,
      margin: null,
    })
  })

  test('it can be filtered by customer in any case, and by rep', async () => {
    const { totals } = await performance('by=lane&customer=HARVEST%20TABLE%20FOODS')
    expect(totals).toMatchObject(
      recomputed(quotes.filter((quote) => /^harvest table foods$/i.test(quote.customer_name))),
    )
    const rep = await performance('by=customer&quoted_by=1')
    expect(rep.totals).toMatchObject(recomputed(quotes.filter((quote) => quote.quoted_by?.user_id === 1)))
  })

  test('margin gaps are the shipments with less margin than quoted, largest first, with the cause', async () => {
    const found: Gaps['gaps'] = []
    let cursor: string | null = ''
    let totals: Gaps['totals'] | null = null
    while (cursor !== null) {
      const page: Gaps = await gaps(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
      found.push(...page.gaps)
      totals = page.totals
      cursor = page.next_cursor
    }
    const comparable = quotes.filter((quote) => quote.margin !== null && quotedCost(quote) !== null)
    const below = comparable
      .map((quote) => {
        const quoted = inCents(quote.quoted_rate) - inCents(quotedCost(quote))
        const [lower, dearer] = [
          inCents(quote.customer_rate) < inCents(quote.quoted_rate),
          inCents(quote.truck_cost) > inCents(quotedCost(quote)),
        ]
        return {
          lane: quote,
          quoted_margin: quoted / 100,
          margin: quote.margin,
          shortfall: (quoted - inCents(quote.margin)) / 100,
          compared: {
            quoted_rate: quote.quoted_rate,
            expected_cost: quotedCost(quote),
            customer_rate: quote.customer_rate,
            truck_cost: quote.truck_cost,
          },
          because: lower && dearer ? 'both' : lower ? 'rate' : 'cost',
        }
      })
      .filter((gap) => gap.shortfall > 0)
      .toSorted((a, b) => b.shortfall - a.shortfall || b.lane.lane_id - a.lane.lane_id)
    expect(found).toEqual(below)
    expect(new Set(found.map((gap) => gap.because)).size).toBeGreaterThan(1)
    expect(totals).toEqual({
      shipments_compared: comparable.length,
      below: below.length,
      shortfall: below.reduce((sum, gap) => sum + inCents(gap.shortfall), 0) / 100,
    })
  })

  test('lost and gained amounts add up to the difference between landed and quoted margin', async () => {
    const { rows, totals } = await performance('by=carrier')
    for (const row of [...rows, totals]) {
      const parts = inCents(row.gained) - inCents(row.lost_to_cost) - inCents(row.lost_to_rate)
      expect(parts).toBe(inCents(row.landed_vs_quoted))
    }
    expect([totals.lost_to_cost, totals.lost_to_rate, totals.quoted_too_low_amount].every(Number)).toBe(true)
  })

  test('the quotes behind a figure can be listed and exported, by carrier in any case, too', async () => {
    const compared = (quote: Quote) => quote.margin !== null && quotedCost(quote) !== null
    const isBooked = (quote: Quote) => quote.customer_rate !== null
    const isBehind = {
      lost_to_cost: (quote: Quote) => compared(quote) && lostTo.cost(quote) > 0,
      lost_to_rate: (quote: Quote) => compared(quote) && lostTo.rate(quote) > 0,
      quoted_too_low: (quote: Quote) => tooLow(quote) > 0,
      booked_at_a_loss: (quote: Quote) => (quote.margin ?? 0) < 0,
    }
    for (const [finding, isListed] of Object.entries(isBehind)) {
      for (const carrier of [null, 'bluebonnet CARRIERS']) {
        const query = `finding=${finding}${carrier === null ? '' : `&carrier=${encodeURIComponent(carrier)}`}`
        const { body } = await call(app, 'GET', `/api/lanes?limit=200&${query}`, { token: acme.owner })
        // The totals of pages with one of several quotes.
        const totals = await Promise.all(
          ['lanes', 'shipments'].map(async (list) => {
            const path = `/api/${list}?limit=1&${query}`
            return (await call(app, 'GET', path, { token: acme.owner })).body.total
          }),
        )
        const expected = quotes.filter(
          (quote) =>
            isListed(quote) &&
            (carrier === null || quote.carrier_name?.toLowerCase() === carrier.toLowerCase()),
        )
        const refs = (some: readonly Quote[]) => some.map((quote) => quote.lane_ref).sort()
        expect([query, body.total, refs(body.lanes)]).toEqual([query, expected.length, refs(expected)])
        expect([query, ...totals]).toEqual([query, expected.length, expected.filter(isBooked).length])
        expect(expected.length).toBeGreaterThan(0)
        const csv = await app.inject({
          url: `/api/lanes/export?${query}`,
          headers: { authorization: `Bearer ${acme.owner}` },
        })
        expect(Papa.parse(csv.body.trim()).data).toHaveLength(1 + expected.length)
      }
    }
  })

  test.each(performanceGroupings)(
    'the export by %s has every row in order, with the same figures',
    async (by) => {
      const csv = await app.inject({
        url: `/api/performance/export?by=${by}&sort=margin&order=asc`,
        headers: { authorization: `Bearer ${acme.owner}` },
      })
      expect(csv.headers['content-disposition']).toContain(`lanewise-performance-by-${by}-2026-03-10.csv`)
      const { data } = Papa.parse<Record<string, string>>(csv.body.slice(1), {
        header: true,
        skipEmptyLines: true,
      })
      const { rows } = await performance(`by=${by}&sort=margin&order=asc&limit=200`)
      const amount = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))
      expect(
        data.map((line) => [line.Quotes, line.Margin, line['Lost to cost'], line['Lost to rate']]),
      ).toEqual(
        rows.map((row) => [
          String(row.quotes),
          amount(row.margin),
          amount(row.lost_to_cost),
          amount(row.lost_to_rate),
        ]),
      )
    },
  )

  test('months begin at midnight in the time zone of the brokerage, before and after daylight-saving time', async () => {
    const other = await makeTenant(app)
    const at = [
      '2026-03-01T05:59:59Z',
      '2026-03-01T06:00:00Z',
      '2026-04-01T04:59:59Z',
      '2026-04-01T05:00:00Z',
    ]
    for (const time of at) {
      const quote = await makeQuote(app, other, { outcome: 'won' })
      await app.database.inTenant(tenantId(other.id), (transaction) =>
        transaction
          .updateTable('quotes')
          .set({ created_at: new Date(time) })
          .where('tenant_id', '=', tenantId(other.id))
          .where('lane_id', '=', quote.lane_id)
          .execute(),
      )
    }
    const months = async (zone: string) => {
      await call(app, 'PATCH', '/api/tenant', { token: other.owner, body: { time_zone: zone } })
      const { rows } = await performance('by=month&order=asc', other.owner)
      return rows.map((row) => [row.key, row.quotes])
    }
    expect(await months('America/Chicago')).toEqual([
      ['2026-02', 1],
      ['2026-03', 2],
      ['2026-04', 1],
    ])
    expect(await months('UTC')).toEqual([
      ['2026-03', 2],
      ['2026-04', 2],
    ])
    const record = await call(
      app,
      'GET',
      '/api/lane-record?origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V',
      { token: other.owner },
    )
    expect(record.body.months.map((month: { month: string }) => month.month)).toEqual(['2026-03', '2026-04'])
  })

  test('the figures do not change when another quote has an amount that must be converted', async () => {
    const tenant = await makeTenant(app)
    const id = tenantId(tenant.id)
    const expired = await makeQuote(app, tenant, { customer: 'harvest table foods' })
    await setColumns(app, tenant, expired.lane_id, { outcome: 'expired', decided_at: new Date() })
    for (const outcome of ['won', 'lost'] as const) await makeQuote(app, tenant, { outcome })
    const won = await makeQuote(app, tenant, { outcome: 'won', origin: 'Chicago, IL' })
    await setColumns(app, tenant, won.lane_id, { customer_rate_cents: 190_000, truck_cost_cents: 170_000 })
    const other = await makeQuote(app, tenant)
    await setColumns(app, tenant, other.lane_id, { voided_at: new Date(), void_reason: 'test' })
    const figures = async () => {
      const all = performanceGroupings.map((by) => performance(`by=${by}`, tenant.owner))
      return (await Promise.all(all)).map(({ basis: _, ...answer }) => answer)
    }
    for (const expiredCountsAsLost of [true, false]) {
      await app.database.inTenant(id, (transaction) =>
        updateTenant(transaction, id, { expired_counts_as_lost: expiredCountsAsLost }),
      )
      await setColumns(app, tenant, other.lane_id, { quoted_currency: null })
      const unmixed = await figures()
      await setColumns(app, tenant, other.lane_id, { quoted_currency: 'CAD' })
      expect(await figures()).toEqual(unmixed)
      expect(unmixed[0]?.totals).toMatchObject({ quotes: 4, won: 2, lost: expiredCountsAsLost ? 2 : 1 })
    }
  })

  test('a viewer reads it, and sees nothing of another brokerage', async () => {
    const other = await makeTenant(app)
    const viewer = await makePerson(app, other, 'viewer')
    await makeQuote(app, other, { outcome: 'won' })
    for (const by of performanceGroupings) {
      const { rows, totals } = await performance(`by=${by}`, viewer.token)
      expect([rows.length, totals.quotes, totals.shipments]).toEqual([1, 1, 0])
    }
    expect((await gaps('', viewer.token)).totals).toEqual({ shipments_compared: 0, below: 0, shortfall: 0 })
    expect((await performance('by=lane')).totals.quotes).toBe(quotes.length)
  })
})

describe('401', () => {
  test('it requires a sign-in', async () => {
    expect((await call(app, 'GET', '/api/performance?by=lane')).status).toBe(401)
    expect((await call(app, 'GET', '/api/performance/margin-gaps')).status).toBe(401)
    expect((await call(app, 'GET', '/api/performance/export?by=lane')).status).toBe(401)
  })
})

describe('422', () => {
  test('an invalid query, and a cursor of another query', async () => {
    const page = await performance('by=lane&limit=2')
    const gap = await gaps('limit=1')
    const text = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url')
    for (const query of [
      '?by=mood',
      '?sort=quotes',
      '?by=lane&sort=mood',
      '?by=lane&order=up',
      '?by=lane&limit=201',
      '?by=lane&from=yesterday',
      '?by=lane&equipment=%20',
      `?by=customer&cursor=${page.next_cursor}`,
      `?by=lane&order=asc&cursor=${page.next_cursor}`,
      `?by=lane&sort=margin&cursor=${page.next_cursor}`,
      `?by=lane&cursor=${text(['lane.quotes.desc', 'x', 1, 'a'])}`,
      `?by=lane&cursor=${text(['lane.quotes.desc', 1, 1, 'a\0'])}`,
      '/export?by=mood',
      '/margin-gaps?limit=0',
      `/margin-gaps?cursor=${page.next_cursor}`,
      `/margin-gaps?cursor=${text(['gap', 'x', 1])}`,
      `?by=lane&cursor=${gap.next_cursor}`,
    ]) {
      const { status } = await call(app, 'GET', `/api/performance${query}`, { token: acme.owner })
      expect([query, status]).toEqual([query, 422])
    }
  })
})

test('a rate is too low for the rule that applies to its quote, which the engine and SQL select alike', async () => {
  const tenant = await makeTenant(app)
  const rep = await makePerson(app, tenant, 'member')
  const as = (token: string, method: 'POST' | 'PATCH', path: string, body: object) =>
    call(app, method, path, { token, body })
  const { teams } = (await as(tenant.owner, 'POST', '/api/teams', { name: 'East', members: [rep.id] })).body
  const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  const quote = (customer_name: string, over: object = {}, token = tenant.owner) =>
    as(token, 'POST', '/api/quote-requests', {
      customer_name,
      lanes: [{ ...lane, quoted_rate: 2000, estimated_cost: 1500, ...over }],
    })
  await quote('Any')
  await quote('Merged Foods')
  await quote('Main Foods')
  await quote('Tier Foods')
  await quote('Any', { equipment: 'R' })
  await quote('Any', { origin: 'Laredo, TX' })
  await quote('Any', { destination: 'Houston, TX' })
  await quote('Any', {}, rep.token)
  await as(tenant.owner, 'POST', '/api/customers/decisions', {
    name: 'Merged Foods',
    other: 'Main Foods',
    decision: 'same',
  })
  await as(tenant.owner, 'PATCH', '/api/customers/record', { name: 'Tier Foods', tier: 'A' })
  const conditions = [
    {},
    { customer: 'merged foods' },
    { tier: 'a' },
    { equipment: 'R' },
    { origin: 'Laredo, TX' },
    { origin: 'Laredo, TX', area: 'market' },
    { origin: 'TX', destination: 'TX' },
    { rep_id: rep.id },
    { team_id: teams[0].team_id },
    { miles_to: 400 },
    { miles_over: 400, rate_type: 'spot' },
    { rate_type: 'contract' },
  ]
  for (const one of conditions) {
    const rule = { conditions: one, terms: { minimum: { margin: 600 } } }
    const tested = (await backtestReport(app, tenant.owner, { rule })).body.rule
    const added = await as(tenant.owner, 'POST', '/api/pricing-rules', rule)
    const found = await call(app, 'GET', '/api/performance?by=equipment', { token: tenant.owner })
    expect([one, found.body.totals.quoted_too_low]).toEqual([one, tested.applies])
    await call(app, 'DELETE', `/api/pricing-rules/${added.body.rule_id}`, { token: tenant.owner })
  }
  // The most specific rule decides.
  const all = { conditions: {}, terms: { minimum: { margin: 600 } } }
  await as(tenant.owner, 'POST', '/api/pricing-rules', all)
  const main = { conditions: { customer: 'Main Foods' }, terms: { minimum: { margin: 100 } } }
  await as(tenant.owner, 'POST', '/api/pricing-rules', main)
  const { totals } = (await call(app, 'GET', '/api/performance?by=equipment', { token: tenant.owner })).body
  expect([totals.quotes, totals.quoted_too_low]).toEqual([8, 6])
  const listed = await call(app, 'GET', '/api/lanes?finding=quoted_too_low', { token: tenant.owner })
  expect(listed.body.total).toBe(6)
})
