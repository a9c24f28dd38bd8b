import fc from 'fast-check'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
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

/*
 * A brokerage compares all-in rates and has a fuel schedule. Every quote is a linehaul rate without a fuel charge, so each number about it
 * depends on the distance. Each has a lane and a customer of its own, so statistics of its lane and of its customer are about it alone.
 */

/** The lanes, with their measured miles. */
const lanes = [
  ['Toronto, ON', 'Chicago, IL', 520],
  ['Dallas, TX', 'Atlanta, GA', 857],
  ['Dallas, TX', 'Fort Worth, TX', 40],
  ['Los Angeles, CA', 'Phoenix, AZ', 430],
  ['Chicago, IL', 'Memphis, TN', 580],
  ['Seattle, WA', 'Denver, CO', 1_240],
  // Nobody measured this lane, so typed miles count.
  ['Zzyzx Crossing, TX', 'Atlanta, GA', 700],
] as const

const asked = fc.record({
  rate: fc.integer({ min: 90_000, max: 400_000 }).map((cents) => cents / 100),
  costShare: fc.double({ min: 0.5, max: 0.95, noNaN: true }),
  /** Typed miles divided by the measured ones. A save drops those that are not plausible for the lane, and stores the others. */
  typed: fc.constantFrom(undefined, 0.2, 0.74, 0.9, 1.2, 1.4, 2, 2.4, 6),
})

const send = async (
  app: TestApp,
  tenant: MadeTenant,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
) => {
  const answer = await call(app, method, path, {
    token: tenant.owner,
    ...(body === undefined ? {} : { body }),
  })
  expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body])
  return answer.body
}

async function brokerage(app: TestApp): Promise<MadeTenant> {
  const tenant = await makeTenant(app)
  const day = new Date(app.now).toISOString().slice(0, 10)
  const periods = [{ from: '2020-01-01', base_price: 1.2, miles_per_gallon: 6 }]
  await send(app, tenant, 'PATCH', '/api/fuel/schedule', { periods })
  const text = `period,series,value\n${day},EMD_EPD2D_PTE_NUS_DPG,3.5`
  const loaded = await call(app, 'POST', '/api/fuel/diesel-prices', { token: tenant.owner, file: text })
  expect(loaded.status).toBe(200)
  return tenant
}

const inCents = (dollars: number) => Math.round(dollars * 100)

test.each([{ count: lanes.length, seed: 3 }])(
  'typed miles, near and far off, change no number between the advice and the statistics',
  async ({ count, seed }) => {
    const app = await sharedApp()
    const tenant = await brokerage(app)
    const as = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
      send(app, tenant, method, path, body)
    const low: { readonly ref: string; readonly detail: string }[] = []
    const terms = { minimum: { margin_pct: 60 }, maximum: { margin_pct: 99 } }
    const { rule_id } = await as('POST', '/api/pricing-rules', {
      conditions: {},
      terms: { ...terms, outside: 'warn' },
    })

    for (const [nth, { rate, costShare, typed }] of fc.sample(asked, { numRuns: count, seed }).entries()) {
      const [origin, destination, measured] = lanes[nth % lanes.length] ?? lanes[0]
      const estimated_cost = inCents(rate * costShare) / 100
      const customer_name = `Customer ${nth}`
      const miles = typed === undefined && !origin.startsWith('Zzyzx') ? undefined : measured * (typed ?? 1)
      const quote = {
        ...{
          origin,
          destination,
          equipment: 'V',
          quoted_rate: rate,
          estimated_cost,
          quoted_basis: 'linehaul',
        },
        ...(miles === undefined ? {} : { miles }),
      }
      const advice = await as('POST', '/api/advice/lanes', { customer: customer_name, lanes: [quote] })
      const [shown] = advice.results
      const { plus } = shown.conversion
      const allIn = inCents(rate + plus) / 100
      const details = shown.warnings.map((warning: { detail: string }) => warning.detail)

      const { lanes: made } = await as('POST', '/api/quote-requests', {
        customer_name,
        accept_unknown_places: true,
        lanes: [quote],
      })
      const [saved] = made
      expect(saved.warnings.map((warning: { detail: string }) => warning.detail)).toEqual(details)
      if (saved.forecast !== null) expect(saved.forecast.cost).toBe(inCents(estimated_cost + plus) / 100)
      const fuel = new URLSearchParams({ day: saved.created_at.slice(0, 10), miles: saved.counted_miles })
      expect((await as('GET', `/api/fuel/surcharge?${fuel}`)).surcharge).toBe(plus)
      const [given, minimum] = [allIn, shown.rules.minimum.rate].map((dollars) =>
        formatDollars(inCents(dollars)),
      )
      low.push({ ref: saved.lane_ref, detail: `${given} is below the minimum of ${minimum}` })

      // Statistics of the lane.
      const lane = new URLSearchParams({ origin, destination, equipment: 'V' })
      const insight = await as('GET', `/api/advice/lane?${lane}`)
      expect(insight.history.avg_rate_usd).toBe(allIn)
      const record = await as('GET', `/api/lane-record?${lane}`)
      expect(record.points.map((point: { rate: number }) => point.rate)).toEqual([allIn])

      // Booked: AR linehaul like the quote, AP all-in.
      const ap = inCents(allIn * 0.8)
      await setColumns(app, tenant, saved.lane_id, {
        customer_rate_cents: inCents(rate),
        customer_basis: 'linehaul',
        truck_cost_cents: ap,
        truck_cost_source: 'tms',
        truck_basis: 'all_in',
        outcome: 'won',
        decided_at: new Date(app.now),
      })
      const margin = (inCents(allIn) - ap) / 100
      const { lanes: listed } = await as('GET', `/api/lanes?q=${saved.lane_ref}`)
      expect(listed).toMatchObject([{ margin, counted_miles: saved.counted_miles }])
      const performance = await as(
        'GET',
        `/api/performance?by=customer&customer=${encodeURIComponent(customer_name)}`,
      )
      expect(performance.totals).toMatchObject({ customer_rate: allIn, truck_cost: ap / 100, margin })
      const markup = await as('GET', `/api/advice/markup?${lane}&proposed_rate=${allIn}`)
      expect(markup.rate_band).toEqual({ floor: allIn, median: allIn, ceiling: allIn })
      const csv = await call(app, 'GET', `/api/lanes/export?q=${saved.lane_ref}`, { token: tenant.owner })
      const [row] = Papa.parse<{ Margin: string }>(csv.body, { header: true }).data
      expect(row?.Margin).toBe(margin.toFixed(2))
    }

    // The test of the same rule on these quotes.
    await call(app, 'DELETE', `/api/pricing-rules/${rule_id}`, { token: tenant.owner })
    const tested = requireStatus(
      'a test',
      await backtestReport(app, tenant.owner, { rule: { conditions: {}, terms } }),
      200,
    )
    const told = new Map(
      tested.rule.examples.map((example: { lane_ref: string; detail: string }) => [
        example.lane_ref,
        example.detail,
      ]),
    )
    for (const { ref, detail } of low) expect(told.get(ref)).toContain(detail)
  },
)
