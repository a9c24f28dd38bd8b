import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { formatDollars } from '#engine/money.ts'
import {
  backtestReport,
  call,
  type MadeTenant,
  makeTenant,
  requireStatus,
  setColumns,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/* All endpoints that appraise a quote must agree. Each quote is sent to all of them, with the same book: before it is saved, and after. */

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const lanes = [
  ['Dallas, TX', 'Atlanta, GA', 800],
  ['Chicago, IL', 'Memphis, TN', 530],
  ['Los Angeles, CA', 'Phoenix, AZ', 390],
  ['Dallas, TX', 'Fort Worth, TX', 40],
  ['Toronto, ON', 'Chicago, IL', 520],
] as const
const customers = ['Harvest Table Foods', 'Blue River Mills', 'Foxlathe Dairy'] as const
const conditions = {}
const terms = {
  minimum: { margin_pct: 12, margin_per_mile: 0.15 },
  maximum: { margin_pct: 45 },
  round_to: 25,
}

const send = (tenant: MadeTenant, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
  call(app, method, path, { token: tenant.owner, ...(body === undefined ? {} : { body }) })

/** A brokerage with quotes won and lost and their truck costs, and one rule. */
async function brokerage(outside: 'warn' | 'approval'): Promise<MadeTenant> {
  const tenant = await makeTenant(app)
  const random = fc.sample(fc.double({ min: 0.85, max: 1.2, noNaN: true }), { numRuns: 60, seed: 7 })
  for (const [nth, factor] of random.entries()) {
    const [origin, destination, miles] = lanes[nth % lanes.length] ?? lanes[0]
    const usual = 300 + 2.4 * miles
    const made = await send(tenant, 'POST', '/api/quote-requests', {
      customer_name: customers[nth % customers.length],
      lanes: [{ origin, destination, equipment: 'V', quoted_rate: Math.round(usual * factor) }],
    })
    const [quote] = requireStatus('a quote', made, 201).lanes
    const outcome = factor < 1.02 ? 'won' : 'lost'
    await send(tenant, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, { outcome })
    if (outcome === 'lost') continue
    const truckCents = Math.round(82 * usual * (1 + (nth % 7) / 100)) + (nth % 100)
    await setColumns(app, tenant, quote.lane_id, { truck_cost_cents: truckCents, truck_cost_source: 'tms' })
  }
  requireStatus(
    'a rule',
    await send(tenant, 'POST', '/api/pricing-rules', { conditions, terms: { ...terms, outside } }),
    201,
  )
  return tenant
}

const quotes = fc.record({
  lane: fc.constantFrom(...lanes),
  customer: fc.constantFrom(...customers),
  /** The rate divided by the usual one. */
  level: fc.double({ min: 0.7, max: 1.6, noNaN: true }),
  cents: fc.integer({ min: 0, max: 99 }),
  cost: fc.option(fc.double({ min: 0.5, max: 1.1, noNaN: true }), { nil: undefined }),
  miles: fc.option(fc.double({ min: 0.1, max: 12, noNaN: true }), { nil: undefined }),
  fuel: fc.option(fc.integer({ min: 20, max: 300 }), { nil: undefined }),
})
type Quote = typeof quotes extends fc.Arbitrary<infer Value> ? Value : never

/** The members of a lane that advice and a quote request have in common. */
function bodyOf({ lane: [origin, destination, usualMiles], level, cents, cost, miles, fuel }: Quote) {
  const usual = 300 + 2.4 * usualMiles
  const amount = (share: number) => Math.round(usual * share) + cents / 100
  return {
    origin,
    destination,
    equipment: 'V',
    ...(cost === undefined ? {} : { estimated_cost: amount(cost) }),
    ...(miles === undefined ? {} : { miles: Math.round(10 * usualMiles * miles) / 10 }),
    ...(fuel === undefined ? {} : { quoted_basis: 'linehaul' as const, quoted_fuel: fuel }),
    quoted_rate: amount(level),
  }
}

const details = (list: readonly { readonly detail: string }[]) => list.map(({ detail }) => detail)
const six = (share: number) => Math.round(share * 1e6) / 1e6

/** The advice on a quote, in the form in which other endpoints are compared with it. */
async function advised(tenant: MadeTenant, quote: Quote, rate?: number) {
  const { quoted_rate, ...lane } = bodyOf(quote)
  const asked = { ...lane, ...(rate === undefined ? {} : { quoted_rate: rate }) }
  const { body } = await send(tenant, 'POST', '/api/advice/lanes', {
    customer: quote.customer,
    lanes: [asked],
  })
  const [found] = body.results
  expect(found.status).toBe(200)
  return found
}

interface Saved {
  readonly ref: string
  readonly minimum: number
  readonly maximum: number
  readonly rate: number
}

/** Asks everything about a quote before and after it is saved. Returns its reference and its minimum if it was saved. */
async function askAll(tenant: MadeTenant, quote: Quote): Promise<Saved | null> {
  const shown = bodyOf(quote)
  const { quoted_rate: rate, miles, quoted_basis: basis, ...plain } = shown
  const at = await advised(tenant, quote, rate)
  const { minimum, maximum } = at.rules
  const comparable = rate + (shown.quoted_fuel ?? 0)

  // Without a rate: the same limits, costs and optimum, and a rate to quote that the rules allow.
  const free = await advised(tenant, quote)
  expect(free.rules).toMatchObject({ minimum, maximum, rate: at.rules.rate })
  // Neither has one if no rate covers the cost.
  expect(free.optimum?.rate).toBe(at.optimum?.rate)
  expect(free.optimum?.floored_rate).toBe(at.optimum?.floored_rate)
  expect(free.estimate.expected_cost).toEqual(at.estimate.expected_cost)
  expect(free.rate).toBe(free.rules.rate)
  expect(free.rules.verdict).toBe('within')
  // Between limits that are close, there may be no multiple of $25.
  const multipleFits = maximum === null || Math.floor(maximum.rate / 25) * 25 >= minimum.rate
  if (multipleFits) expect((100 * free.rate) % 2500).toBeCloseTo(0)

  // Advice on one quote has no typed miles and no terms.
  if (miles === undefined && basis === undefined) {
    const query = new URLSearchParams({
      ...Object.fromEntries(
        Object.entries(plain)
          .filter(([name]) => name !== 'quoted_fuel')
          .map(([name, value]) => [name, String(value)]),
      ),
      customer: quote.customer,
      proposed_rate: String(rate),
      include: 'estimate,optimum,rules,risk',
    })
    const { body: one } = await send(tenant, 'GET', `/api/advice/markup?${query}`)
    expect(one.rules).toEqual(at.rules)
    expect(one.optimum).toEqual(at.optimum)
    expect(one.estimate).toEqual(at.estimate)
    expect(one.risk.cost).toBe(plain.estimated_cost ?? at.estimate.expected_cost.amount)
  }

  // Pasted as a row: nothing is changed, and the warnings are the same.
  const typed = { customer_name: quote.customer, ...shown }
  const { body: pasted } = await send(tenant, 'POST', '/api/pasted-lanes', {
    text: `${Object.keys(typed).join('\t')}\n${Object.values(typed).join('\t')}`,
  })
  expect(pasted.rows[0]).toMatchObject({ quote: typed, errors: [], notes: [] })
  expect(details(pasted.rows[0].warnings)).toEqual(details(at.warnings))

  const body = { customer_name: quote.customer, lanes: [shown] }
  const approval = await send(tenant, 'POST', '/api/approvals', body)
  const outside = details(at.outside_rules)
  if (outside.length > 0) expect(requireStatus('an approval', approval, 201).reasons).toEqual(outside)
  else expect(approval.status).toBe(409)

  const saved = await send(tenant, 'POST', '/api/quote-requests', body)
  if (outside.length > 0) {
    expect(saved.status).toBe(422)
    expect(details(saved.body.errors)).toEqual(outside)
    return null
  }
  const [made] = requireStatus('a quote', saved, 201).lanes
  expect(details(made.warnings)).toEqual(details(at.warnings))
  expect(made.expected_cost.amount).toBe(at.estimate.expected_cost.amount)

  // The forecast that was stored with it.
  const cost =
    shown.estimated_cost === undefined
      ? at.estimate.expected_cost.amount
      : shown.estimated_cost + (shown.quoted_fuel ?? 0)
  expect(made.forecast).toMatchObject({
    cost: Math.round(100 * cost) / 100,
    win_probability: six(at.estimate.probability),
    going_rate: at.estimate.reference_rate,
    best_rate: at.optimum === null ? null : at.rules.rate,
  })

  // Once saved, the quote itself counts in the book, so advice and counter-offer are compared again.
  const counter = Math.round(rate * 93) / 100
  // Sealed advice differs each time.
  const { advice: _, ...after } = await advised(tenant, quote, counter)
  const counter_offer = { refused_rate: rate, counter_rate: counter }
  const named = { ...shown, quoted_rate: counter, counter_offer }
  const asked = { customer: quote.customer, lanes: [named] }
  const answer = requireStatus('advice', await send(tenant, 'POST', '/api/advice/lanes', asked), 200)
  const [countered] = answer.results
  expect(countered).toMatchObject({ ...after, counter_offer: { win_probability: 1 } })

  // Its row in the list of quotes.
  const { body: listed } = await send(tenant, 'GET', `/api/lanes?q=${made.lane_ref}`)
  expect(listed.lanes).toMatchObject([{ lane_ref: made.lane_ref, expected_cost: made.expected_cost }])
  return { ref: made.lane_ref, minimum: minimum.rate, maximum: maximum.rate, rate: comparable }
}

/** The test of the same rule on history has the limits that advice had, and the rates that would have been quoted. */
async function testOnHistory(tenant: MadeTenant, saved: readonly Saved[]): Promise<void> {
  const [rule] = (await send(tenant, 'GET', '/api/pricing-rules')).body.rules
  const removed = await call(app, 'DELETE', `/api/pricing-rules/${rule.rule_id}`, { token: tenant.owner })
  expect(removed.status).toBeLessThan(300)
  const tested = await backtestReport(app, tenant.owner, { rule: { conditions, terms } })
  const { examples } = requireStatus('a test of a rule', tested, 200).rule
  const known = new Map(saved.map((one) => [one.ref, one]))
  const found = (examples as { lane_ref: string; allowed_rate: number; detail: string }[]).flatMap(
    (example) => {
      const one = known.get(example.lane_ref)
      return one === undefined ? [] : [{ ...example, ...one }]
    },
  )
  expect(found.length).toBeGreaterThan(0)
  for (const { allowed_rate, detail, minimum, maximum, rate } of found) {
    const isLow = rate < minimum
    expect(allowed_rate).toBe(isLow ? 25 * Math.ceil(minimum / 25) : 25 * Math.floor(maximum / 25))
    expect(detail).toContain(`of ${formatDollars(Math.round(100 * (isLow ? minimum : maximum)))}`)
  }
}

async function agree(count: number, seed: number): Promise<void> {
  for (const outside of ['warn', 'approval'] as const) {
    const tenant = await brokerage(outside)
    const saved: Saved[] = []
    for (const quote of fc.sample(quotes, { numRuns: Math.ceil(count / 2), seed })) {
      const one = await askAll(tenant, quote)
      if (one !== null) saved.push(one)
    }
    if (outside === 'warn') await testOnHistory(tenant, saved)
  }
}

describe('the distance', () => {
  test('no typed distance, longer or shorter, takes a quote out of a rule for its measured one', async () => {
    const tenant = await makeTenant(app)
    const rule = { conditions: { miles_to: 300 }, terms: { minimum: { margin: 5_000 }, outside: 'block' } }
    requireStatus('a rule', await send(tenant, 'POST', '/api/pricing-rules', rule), 201)
    const far = {
      conditions: { miles_over: 600 },
      terms: { maximum: { margin_per_mile: 1 }, outside: 'block' },
    }
    requireStatus('a rule', await send(tenant, 'POST', '/api/pricing-rules', far), 201)
    const quote = async (destination: string, quoted_rate: number, miles?: number) => {
      const quote = { origin: 'Dallas, TX', destination, equipment: 'V', quoted_rate, estimated_cost: 500 }
      const body = {
        customer_name: 'Harvest Table Foods',
        lanes: [{ ...quote, ...(miles === undefined ? {} : { miles }) }],
      }
      return (await send(tenant, 'POST', '/api/quote-requests', body)).status
    }
    // Dallas to Fort Worth is short, so the minimum applies.
    for (const miles of [undefined, 1, 301, 601, 9_000])
      expect(await quote('Fort Worth, TX', 900, miles)).toBe(422)
    // Dallas to Atlanta is about 857 miles, so the margin is at most that many dollars.
    for (const miles of [undefined, 10, 250, 599, 1_200, 9_000]) {
      expect(await quote('Atlanta, GA', 3_000, miles)).toBe(422)
      expect(await quote('Atlanta, GA', 1_200, miles)).toBe(201)
    }
    // A typed distance within a quarter of the measured one counts.
    expect(await quote('Atlanta, GA', 1_400, 1_000)).toBe(201)
    expect(await quote('Atlanta, GA', 1_400, 700)).toBe(422)
  })
})

describe('one appraisal', () => {
  test('all places say the same to the cent about random quotes', async () => {
    await agree(10, 11)
  })

  test('all places say the same to the cent about a thousand random quotes', {
    tags: 'long',
    timeout: 1_800_000,
  }, async () => {
    await agree(1_000, 12)
  })
})
