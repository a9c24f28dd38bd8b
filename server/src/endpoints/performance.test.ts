import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnswerOf } from '#contract/endpoint.ts'
import type { Lane } from '#contract/lane.ts'
import { type getPerformance, type listMarginGaps, performanceGroupings } from '#contract/performance.ts'
import { tenantId } from '#server/database/session/index.ts'
import { call, type MadeTenant, makeLane, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

type Performance = AnswerOf<typeof getPerformance>
type Row = Performance['rows'][number]
type Gaps = AnswerOf<typeof listMarginGaps>

let app: TestApp
let acme: MadeTenant
let reps: readonly string[]
let lanes: Lane[]

/** Random numbers from 0 to 1, the same in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

const cities = ['Dallas, TX', 'Atlanta, GA', 'Chicago, IL', 'St. Louis, MO']
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
    for (const lane of made.body.lanes) {
      const fate = random()
      const outcome = fate < 0.4 ? 'won' : fate < 0.8 ? 'lost' : 'pending'
      const isBooked = outcome === 'won' && random() < 0.8
      await app.database.inTenant(id, (transaction) =>
        transaction
          .updateTable('lanes')
          .set({
            outcome,
            created_at: quotedAt,
            decided_at: outcome === 'pending' ? null : quotedAt,
            customer_rate_cents: isBooked ? Math.round(lane.quoted_rate * 100 - random() * 9_000) : null,
            truck_cost_cents: isBooked && random() < 0.8 ? 120_000 + Math.floor(random() * 60_000) : null,
          })
          .where('tenant_id', '=', id)
          .where('lane_id', '=', lane.lane_id)
          .execute(),
      )
    }
  }
}

beforeAll(async () => {
  app = await testApp({ now: Date.UTC(2026, 2, 10) })
  acme = await makeTenant(app)
  reps = [acme.owner, (await makePerson(app, acme, 'member')).token]
  await fill(acme, reps)
  lanes = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call(app, 'GET', `/api/lanes?limit=200${next}`, { token: acme.owner })
    lanes.push(...body.lanes)
    cursor = body.next_cursor
  }
})
afterAll(() => app.close())

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
const quotedCost = (lane: Lane) => lane.estimated_cost ?? lane.expected_cost?.amount ?? null

/** The figures of some lanes, added up from the lanes in the API. */
function recomputed(some: readonly Lane[]) {
  const won = some.filter((lane) => lane.outcome === 'won').length
  const lost = some.filter((lane) => lane.outcome === 'lost').length
  const shipments = some.filter((lane) => lane.margin !== null)
  const comparable = shipments.filter((lane) => quotedCost(lane) !== null)
  const sum = (of: readonly Lane[], cents: (lane: Lane) => number) =>
    of.length === 0 ? null : of.reduce((total, lane) => total + cents(lane), 0) / 100
  const margin = sum(shipments, (lane) => inCents(lane.margin))
  const rate = sum(shipments, (lane) => inCents(lane.customer_rate))
  const quotedMargin = (lane: Lane) => inCents(lane.quoted_rate) - inCents(quotedCost(lane))
  return {
    quotes: some.length,
    won,
    lost,
    pending: some.length - won - lost,
    decided: won + lost,
    win_rate_pct: won + lost === 0 ? null : Math.round((1000 * won) / (won + lost)) / 10,
    shipments: shipments.length,
    customer_rate: rate,
    truck_cost: sum(shipments, (lane) => inCents(lane.truck_cost)),
    margin,
    margin_pct: margin === null || rate === null ? null : Number(((100 * margin) / rate).toFixed(1)),
    comparable_shipments: comparable.length,
    quoted_margin: sum(comparable, quotedMargin),
    landed_vs_quoted: sum(comparable, (lane) => inCents(lane.margin) - quotedMargin(lane)),
  }
}

const folded = (equipment: string) => (equipment === 'Reefer' ? 'R' : equipment)
const keyOf: Record<Performance['by'], (lane: Lane) => string> = {
  lane: (lane) => `${lane.origin} to ${lane.destination}, ${folded(lane.equipment)}`,
  customer: (lane) => lane.customer_name.toLowerCase(),
  rep: (lane) => String(lane.quoted_by?.user_id ?? ''),
  equipment: (lane) => folded(lane.equipment),
  month: (lane) => lane.created_at.slice(0, 7),
}

describe('200', () => {
  test.each(performanceGroupings)('by %s: each row is the sum of its lanes', async (by) => {
    const { rows, rows_total, totals } = await performance(`by=${by}&limit=200`)
    const groups = Map.groupBy(lanes, keyOf[by])
    expect([rows.length, rows_total]).toEqual([groups.size, groups.size])
    for (const row of rows) {
      const name = by === 'lane' ? row.label : row.key
      expect(row).toMatchObject(recomputed(groups.get(name) ?? []))
    }
    expect(totals).toMatchObject(recomputed(lanes))
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
    ] as const) {
      expect([field, added(field)]).toEqual([field, totals[field]])
    }
    expect(totals.quotes).toBe(
      lanes.filter(
        (lane) =>
          folded(lane.equipment) === 'R' && lane.created_at >= '2025-11-20' && lane.created_at < '2026-02-10',
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
  ] as const)('pages by %s meet every row once, in order, rows without it last', async (sort, field) => {
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
      recomputed(lanes.filter((lane) => /^harvest table foods$/i.test(lane.customer_name))),
    )
    const rep = await performance('by=customer&quoted_by=1')
    expect(rep.totals).toMatchObject(recomputed(lanes.filter((lane) => lane.quoted_by?.user_id === 1)))
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
    const comparable = lanes.filter((lane) => lane.margin !== null && quotedCost(lane) !== null)
    const below = comparable
      .map((lane) => {
        const quoted = inCents(lane.quoted_rate) - inCents(quotedCost(lane))
        const [lower, dearer] = [
          inCents(lane.customer_rate) < inCents(lane.quoted_rate),
          inCents(lane.truck_cost) > inCents(quotedCost(lane)),
        ]
        return {
          lane,
          quoted_margin: quoted / 100,
          margin: lane.margin,
          shortfall: (quoted - inCents(lane.margin)) / 100,
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

  test('a viewer reads it, and sees nothing of another brokerage', async () => {
    const other = await makeTenant(app)
    const viewer = await makePerson(app, other, 'viewer')
    await makeLane(app, other, { outcome: 'won' })
    for (const by of performanceGroupings) {
      const { rows, totals } = await performance(`by=${by}`, viewer.token)
      expect([rows.length, totals.quotes, totals.shipments]).toEqual([1, 1, 0])
    }
    expect((await gaps('', viewer.token)).totals).toEqual({ shipments_compared: 0, below: 0, shortfall: 0 })
    expect((await performance('by=lane')).totals.quotes).toBe(lanes.length)
  })
})

describe('401', () => {
  test('it requires a sign-in', async () => {
    expect((await call(app, 'GET', '/api/performance?by=lane')).status).toBe(401)
    expect((await call(app, 'GET', '/api/performance/margin-gaps')).status).toBe(401)
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
