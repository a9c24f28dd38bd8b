import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatDollars } from '#engine/money.ts'
import { appOn } from '#testing/app-on-database.ts'
import {
  call,
  type MadeTenant,
  makePerson,
  makeQuote,
  makeTenant,
  requireStatus,
  setColumns,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/*
 * A person asks one instance for advice and saves at the other one, which has newer numbers. Loads of one lane become dearer in between,
 * so the minimum that was shown is below the current one.
 */

let app: TestApp
let other: TestApp
beforeAll(async () => {
  app = await sharedApp()
  other = await appOn(app.testDatabase, { secretKeys: [app.secretKey] })
})
afterAll(() => other.close())

const customer = 'Harvest Table Foods'
const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const rule = { conditions: {}, terms: { minimum: { margin_pct: 12 }, outside: 'block' } }

const post = (at: TestApp, { owner: token }: Pick<MadeTenant, 'owner'>, path: string, body: object) =>
  call(at, 'POST', path, { token, body })

/** A load that was hauled on the lane, at a truck cost. */
async function haul(tenant: MadeTenant, truckCost: number): Promise<string> {
  const made = await post(app, tenant, '/api/quote-requests', {
    customer_name: 'Blue River Mills',
    lanes: [{ ...lane, quoted_rate: truckCost * 1.5 }],
  })
  const [{ lane_ref, lane_id }] = requireStatus('a load', made, 201).lanes
  await setColumns(app, tenant, lane_id, {
    ...{ truck_cost_cents: truckCost * 100, truck_cost_source: 'tms' },
    ...{ outcome: 'won', decided_at: new Date(app.now) },
  })
  return lane_ref
}

async function brokerage(terms: object = rule.terms): Promise<MadeTenant> {
  app.now = Date.now()
  other.now = app.now
  const tenant = await makeTenant(app)
  for (const cost of [1_500, 1_510, 1_490]) await haul(tenant, cost)
  await makeQuote(app, tenant, { rate: 2_600, outcome: 'lost' })
  requireStatus('a rule', await post(app, tenant, '/api/pricing-rules', { ...rule, terms }), 201)
  return tenant
}

async function advised(tenant: Pick<MadeTenant, 'owner'>, quote: object = {}, for_ = customer) {
  const asked = { customer: for_, lanes: [{ ...lane, ...quote }] }
  const [result] = requireStatus('advice', await post(app, tenant, '/api/advice/lanes', asked), 200).results
  return result
}

/** The advice of `GET /api/advice/markup`. */
async function advisedAlone({ owner: token }: MadeTenant, asked: Readonly<Record<string, string>>) {
  const query = new URLSearchParams({ ...asked, include: 'estimate,rules' })
  return requireStatus('advice', await call(app, 'GET', `/api/advice/markup?${query}`, { token }), 200)
}

/** Advice at the minimum that advice shows. */
async function atMinimum(tenant: MadeTenant) {
  const { rules } = await advised(tenant)
  const quoted_rate: number = rules.minimum.rate
  return { quoted_rate, shown: await advised(tenant, { quoted_rate }) }
}

const quotes = async ({ owner: token }: MadeTenant) =>
  (await call(app, 'GET', '/api/lanes', { token })).body.total as number

const details = (list: readonly { readonly detail: string }[]) => list.map(({ detail }) => detail)

describe('the advice that a save returns', () => {
  test('judges the rate, the cost and the forecast as they were shown, at another instance, after dearer loads', async () => {
    const tenant = await brokerage()
    const { quoted_rate, shown } = await atMinimum(tenant)
    const alone = await advisedAlone(tenant, { ...lane, proposed_rate: String(quoted_rate), customer })
    expect(alone).toMatchObject({ rules: shown.rules, estimate: shown.estimate })
    for (const cost of [2_400, 2_500]) await haul(tenant, cost)
    const body = (more: object) => ({ customer_name: customer, lanes: [{ ...lane, quoted_rate, ...more }] })
    const refused = await post(other, tenant, '/api/quote-requests', body({}))
    expect([refused.status, refused.body.code]).toEqual([422, 'outside-rules'])

    const saved = await post(other, tenant, '/api/quote-requests', body({ advice: shown.advice }))
    const [made] = requireStatus('a quote', saved, 201).lanes
    expect(details(made.warnings)).toEqual(details(shown.warnings))
    expect(made.expected_cost.amount).toBe(shown.estimate.expected_cost.amount)
    expect(made.forecast).toMatchObject({
      win_probability: Math.round(shown.estimate.probability * 1e6) / 1e6,
      going_rate: shown.estimate.reference_rate,
      cost: shown.estimate.expected_cost.amount,
    })

    // A cent below the minimum is refused by the minimum that was shown, whatever cost is entered now.
    const low = {
      quoted_rate: (Math.round(100 * quoted_rate) - 1) / 100,
      estimated_cost: 100,
      advice: shown.advice,
    }
    const below = await post(other, tenant, '/api/quote-requests', body(low))
    expect(details(below.body.errors)[0]).toContain(
      `below the minimum of ${formatDollars(Math.round(100 * quoted_rate))} (`,
    )

    const requote = `/api/lanes/${made.lane_ref}/requote`
    expect((await post(other, tenant, requote, { quoted_rate })).status).toBe(422)
    expect((await post(other, tenant, requote, { quoted_rate, advice: shown.advice })).status).toBe(201)
    // Advice on one rate alone counts as well.
    expect((await post(other, tenant, requote, { quoted_rate, advice: alone.advice })).status).toBe(201)
  })

  test('gives a request for approval the reasons that were shown', async () => {
    const tenant = await brokerage({ ...rule.terms, outside: 'approval' })
    const { rules } = await advised(tenant)
    const quoted_rate = rules.minimum.rate - 10
    const shown = await advised(tenant, { quoted_rate })
    await haul(tenant, 2_400)
    const quote = { ...lane, quoted_rate, advice: shown.advice }
    const asked = await post(other, tenant, '/api/approvals', { customer_name: customer, lanes: [quote] })
    expect(requireStatus('an approval', asked, 201).reasons).toEqual(details(shown.outside_rules))
  })

  test('counts for ten minutes, and as long as the rules stay; a repeated request gets its quote later, too', async () => {
    const tenant = await brokerage()
    const { quoted_rate, shown } = await atMinimum(tenant)
    const quote = { ...lane, quoted_rate, advice: shown.advice }
    const body = { customer_name: customer, lanes: [quote] }
    const repeated = { ...body, request_key: '6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44' }
    other.now = app.now + 10 * 60_000
    const made = requireStatus('a quote', await post(other, tenant, '/api/quote-requests', repeated), 201)
    await haul(tenant, 2_400)
    const before = await quotes(tenant)

    other.now += 1
    const stale = await post(other, tenant, '/api/quote-requests', body)
    expect([stale.status, stale.body.code, stale.body.errors]).toEqual([
      409,
      'state-conflict',
      [{ pointer: '/lanes/0/advice', code: 'changed', detail: stale.body.detail }],
    ])
    expect(stale.body.detail).toMatch(
      /^The advice is older than 10 minutes: it is now a minimum of \$[\d,.]+, an expected cost of \$[\d,.]+, a going rate of .+ Nothing was saved\./,
    )
    const approval = await post(other, tenant, '/api/approvals', body)
    expect([approval.status, approval.body.detail]).toEqual([409, stale.body.detail])
    const requote = `/api/lanes/${made.lanes[0].lane_ref}/requote`
    expect((await post(other, tenant, requote, { quoted_rate, advice: shown.advice })).status).toBe(409)
    const again = requireStatus('it again', await post(other, tenant, '/api/quote-requests', repeated), 201)
    expect(again.lanes[0].lane_ref).toBe(made.lanes[0].lane_ref)

    requireStatus(
      'a rule',
      await post(app, tenant, '/api/pricing-rules', {
        conditions: { equipment: 'V' },
        terms: { minimum: { margin_pct: 9 } },
      }),
      201,
    )
    const changed = await post(app, tenant, '/api/quote-requests', body)
    expect([changed.status, changed.body.detail]).toEqual([
      409,
      expect.stringMatching(/^The pricing rules or the default terms changed since the advice: it is now/),
    ])
    expect(await quotes(tenant)).toBe(before)
  })

  test('of another quote, person or brokerage, or made up, is refused, and nothing is saved', async () => {
    const tenant = await brokerage()
    const stranger = await brokerage()
    const colleague = await makePerson(app, tenant, 'member')
    const quoted_rate = 3_000
    const own = (await advised(tenant, { quoted_rate })).advice as string
    const before = await quotes(tenant)
    const elsewhere: readonly [what: string, advice: string][] = [
      [
        'another destination and another distance',
        (await advised(tenant, { destination: 'Chicago, IL' })).advice,
      ],
      ['another equipment', (await advised(tenant, { equipment: 'R' })).advice],
      ['another rate type', (await advised(tenant, { rate_type: 'contract' })).advice],
      ['another distance', (await advised(tenant, { miles: 800 })).advice],
      ['another customer', (await advised(tenant, {}, 'Blue River Mills')).advice],
      ['another person', (await advised({ owner: colleague.token })).advice],
      ['GET /api/advice/markup for this brokerage', (await advised(stranger)).advice],
      ['GET /api/advice/markup for this brokerage', `${own.slice(0, -4)}AAAA`],
      ['GET /api/advice/markup for this brokerage', own.slice(0, 20)],
      ['GET /api/advice/markup for this brokerage', 'eyJhbGciOiJub25lIn0.e30.'],
    ]
    for (const [what, advice] of elsewhere) {
      const quote = { ...lane, quoted_rate, advice }
      const refused = await post(app, tenant, '/api/quote-requests', {
        customer_name: customer,
        lanes: [quote],
      })
      expect([what, refused.status, refused.body.errors]).toEqual([
        what,
        422,
        [{ pointer: '/lanes/0/advice', code: 'invalid', detail: expect.stringContaining(what) }],
      ])
    }
    expect(await quotes(tenant)).toBe(before)
  })
})

/** A file of quotes on 60 lanes, two thirds of them decided, half of the won ones hauled. */
function file(count: number): string {
  const cities = ['Dallas, TX', 'Atlanta, GA', 'Chicago, IL', 'Memphis, TN', 'Denver, CO', 'Phoenix, AZ']
  const rows = fc
    .sample(fc.tuple(fc.nat(5), fc.nat(4), fc.nat(1), fc.nat(2), fc.integer({ min: 85, max: 120 })), {
      numRuns: count,
      seed: 5,
    })
    .map(([from, step, kind, outcome, pct], nth) => {
      const [origin, destination] = [cities[from], cities[(from + 1 + step) % 6]]
      const rate = Math.round((1_200 + 150 * step + 40 * from) * (pct / 100))
      const ap = outcome === 0 && nth % 2 === 0 ? Math.round(rate * 0.85) : ''
      const quoted = new Date(app.now - (count - nth) * 3_600_000).toISOString()
      return `"${origin}","${destination}",${kind === 0 ? 'V' : 'R'},${customer},${rate},${['won', 'lost', 'pending'][outcome]},${ap},${quoted}`
    })
  return ['origin,destination,equipment,customer,quoted_rate,outcome,truck_cost,quoted_at', ...rows].join(
    '\n',
  )
}

async function imported(tenant: MadeTenant, text: string): Promise<void> {
  const headers = { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' }
  const sent = await fetch(`${app.url}/api/imports`, { method: 'POST', headers, body: text })
  const { import_id } = (await sent.json()) as { import_id: number }
  await expect
    .poll(
      async () => (await call(app, 'GET', `/api/imports/${import_id}`, { token: tenant.owner })).body.status,
      {
        timeout: 120_000,
      },
    )
    .toBe('done')
}

describe('a brokerage of 1,500 quotes, whose models are prepared in the background', () => {
  test('is quoted as was shown over two instances with writes between, and later all say the same', {
    tags: 'long',
    timeout: 900_000,
  }, async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, file(1_500))
    requireStatus('a rule', await post(app, tenant, '/api/pricing-rules', rule), 201)
    const ends = ['Dallas, TX', 'Atlanta, GA', 'Chicago, IL', 'Memphis, TN', 'Denver, CO', 'Phoenix, AZ']
    const instances = [app, other]
    other.now = app.now
    let differed = 0
    for (const [nth, [from, step, isOther]] of fc
      .sample(fc.tuple(fc.nat(5), fc.nat(4), fc.boolean()), { numRuns: 60, seed: 6 })
      .entries()) {
      const [origin, destination] = [ends[from], ends[(from + 1 + step) % 6]]
      const [asks, saves] = isOther ? [other, app] : [app, other]
      const on = { origin, destination, equipment: 'V' }
      const advice = async (quote: object) =>
        requireStatus(
          'advice',
          await post(asks, tenant, '/api/advice/lanes', { customer, lanes: [{ ...on, ...quote }] }),
          200,
        ).results[0]
      const { rules } = await advice({})
      const quoted_rate = rules.minimum.rate
      const shown = await advice({ quoted_rate })
      const lanes = (more: object) => ({ customer_name: customer, lanes: [{ ...on, quoted_rate, ...more }] })
      // A load of another lane, hauled at another cost, moves the market.
      const made = await post(instances[nth % 2] ?? app, tenant, '/api/quote-requests', {
        customer_name: 'Blue River Mills',
        lanes: [{ ...on, origin: destination, destination: origin, quoted_rate: 4_000 }],
      })
      await setColumns(app, tenant, requireStatus('a load', made, 201).lanes[0].lane_id, {
        ...{
          truck_cost_cents: 250_000,
          truck_cost_source: 'tms',
          outcome: 'won',
          decided_at: new Date(app.now),
        },
      })
      const saved = await post(saves, tenant, '/api/quote-requests', lanes({ advice: shown.advice }))
      if (shown.outside_rules.length > 0) {
        // The minimum changed between the two answers, and the second one said so.
        expect(details(saved.body.errors)).toEqual(details(shown.outside_rules))
        differed++
        continue
      }
      const [quote] = requireStatus('a quote', saved, 201).lanes
      expect(quote.expected_cost.amount).toBe(shown.estimate.expected_cost.amount)
      expect(quote.forecast.win_probability).toBe(Math.round(shown.estimate.probability * 1e6) / 1e6)
      expect(quote.forecast.going_rate).toBe(shown.estimate.reference_rate)
      expect(details(quote.warnings)).toEqual(details(shown.warnings))
    }
    // The case must occur, or this test shows nothing.
    expect(differed).toBeGreaterThan(0)
    // Without further writes, both instances and one that starts now come to the same digits.
    const third = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    const all = async (at: TestApp) => {
      const asked = ends.flatMap((origin) =>
        ends
          .filter((end) => end !== origin)
          .map((destination) => ({ origin, destination, equipment: 'V', quoted_rate: 1_500 })),
      )
      const { results } = requireStatus(
        'advice',
        await post(at, tenant, '/api/advice/lanes', { customer, lanes: asked }),
        200,
      )
      return results.map(({ advice: _, ...shown }: { advice: string }) => shown)
    }
    const fresh = await all(third)
    for (const at of instances) {
      await expect.poll(() => all(at), { timeout: 60_000 }).toEqual(fresh)
    }
    await third.close()
  })
})
