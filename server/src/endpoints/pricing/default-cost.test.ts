import { beforeAll, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushSigned,
  pushUpdate,
  quoteToPush,
  requireStatus,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Promise: a cost that only the default curve gives is a cost in no place: not in the rules, the record, the forecast or statistics. */

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const lane = { origin: 'Denver, CO', destination: 'Chicago, IL', equipment: 'V' }
/** Far below any cost of the lane. */
const quoted_rate = 500

/** A brokerage with few loads, all on one lane. */
async function brokerage(): Promise<Integration> {
  const by = await makeIntegration(app)
  for (const rate of [2_000, 2_100, 2_200]) {
    const { lane_ref } = await makeQuote(app, by.tenant, { rate })
    await pushUpdate(app, by, { lane_ref, customer_rate: rate, truck_cost: rate - 300 })
  }
  await makeQuote(app, by.tenant, { rate: 2_500, outcome: 'lost' })
  const rule = { conditions: {}, terms: { minimum: { margin_pct: 10 } } }
  const made = await call(app, 'POST', '/api/pricing-rules', { token: by.tenant.owner, body: rule })
  requireStatus('a rule', made, 201)
  return by
}

async function performanceOf({ tenant }: Integration) {
  const { body } = await call(app, 'GET', '/api/performance?by=lane', { token: tenant.owner })
  type Row = { lane: { origin: string }; quotes_with_cost: number; quoted_too_low: number }
  return (body.rows as Row[]).find((row) => row.lane.origin === lane.origin)
}

test('advice, the saved and the pushed quote, its forecast and its statistics have no cost', async () => {
  const by = await brokerage()
  const { owner: token } = by.tenant
  const quote = { ...lane, quoted_rate }
  const asked = await call(app, 'POST', '/api/advice/lanes', { token, body: { lanes: [quote] } })
  const [shown] = requireStatus('advice', asked, 200).results
  expect(shown.estimate.flags).toContain('default_cost_curve')
  expect(shown.rules.minimum.missing).toBe('cost')
  expect(shown.warnings).not.toContainEqual(expect.objectContaining({ code: 'below_cost' }))

  const request = { customer_name: 'Harvest Table Foods', lanes: [quote] }
  const made = await call(app, 'POST', '/api/quote-requests', { token, body: request })
  const [saved] = requireStatus('a quote', made, 201).lanes
  expect(saved).toMatchObject({ expected_cost: null, expected_basis: null })
  expect(saved.forecast).toMatchObject({ cost: null, cost_from: null })
  const again = await call(app, 'POST', `/api/lanes/${saved.lane_ref}/requote`, {
    token,
    body: { quoted_rate: 510 },
  })
  expect(requireStatus('a requote', again, 201)).toMatchObject({ expected_cost: null })
  const pushing = { ...by, token: await makeServiceToken(app, token, 'quotes:write') }
  const pushed = await pushSigned(app, pushing, pushQuotes, { quotes: [quoteToPush('T-1', quote)] })
  const [{ lane_ref }] = requireStatus('a push', pushed, 200).results
  const read = await call(app, 'GET', `/api/lanes/${lane_ref}`, { token })
  expect(read.body).toMatchObject({ expected_cost: null })
  expect(await performanceOf(by)).toMatchObject({ quotes: 2, quotes_with_cost: 0, quoted_too_low: 0 })
})

test('from the first load of the lane on, all of them have its cost', async () => {
  const by = await brokerage()
  const { owner: token } = by.tenant
  const first = await makeQuote(app, by.tenant, { ...lane, rate: 2_000 })
  await pushUpdate(app, by, { lane_ref: first.lane_ref, customer_rate: 2_000, truck_cost: 1_700 })
  const body = { customer_name: 'Harvest Table Foods', lanes: [{ ...lane, quoted_rate }] }
  const asked = await call(app, 'POST', '/api/advice/lanes', { token, body: { lanes: body.lanes } })
  const [shown] = requireStatus('advice', asked, 200).results
  const made = await call(app, 'POST', '/api/quote-requests', { token, body })
  const [saved] = requireStatus('a quote', made, 201).lanes
  const { amount } = shown.estimate.expected_cost
  expect(shown.warnings).toContainEqual(expect.objectContaining({ code: 'below_cost' }))
  expect([saved.expected_cost.amount, saved.forecast.cost]).toEqual([amount, amount])
  expect(await performanceOf(by)).toMatchObject({ quotes_with_cost: 1, quoted_too_low: 1 })
})
