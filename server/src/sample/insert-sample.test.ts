import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type SampleAccess, sampleMaker } from './insert-sample.ts'

let app: TestApp
let access: SampleAccess
let owner: { token: string }

beforeAll(async () => {
  app = await testApp({ resumeBidsEveryMs: 100 })
  const { database, tokens, secretKey, now } = app
  const maker = await sampleMaker(database, { tokens, secretKeys: [secretKey], now })
  access = await database.inTenant(maker.tenant, (transaction) => maker.insert(transaction))
  const { email, password } = access
  const { body } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  owner = { token: body.token }
})
afterAll(() => app.close())

test('the token reads the busiest lane, and the secret pushes a booking of the open quote', async () => {
  const { origin, destination } = access.busyLane
  const query = new URLSearchParams({ origin, destination })
  const lane = await call(app, 'GET', `/api/integrations/insights/lane?${query}`, { token: access.token })
  expect(lane.status).toBe(200)
  expect(lane.body.summary).toContain('decided quotes')
  const { lane_ref, quoted_rate_cents: cents } = access.openLane
  const booking = { lane_ref, customer_rate: cents / 100, truck_cost: Math.floor(0.85 * cents) / 100 }
  expect(await pushUpdate(app, access, booking)).toMatchObject({ status: 200, body: { updated: true } })
})

test('the bid of the largest customer has only known places, and the service prices its lanes', async () => {
  const { body: listed } = await call(app, 'GET', '/api/bids', owner)
  expect(listed.bids).toEqual([
    expect.objectContaining({ stage: 'open', unknown_places: 0, rated: 0, due_at: expect.any(String) }),
  ])
  const path = `/api/bids/${listed.bids[0].bid_id}`
  await expect
    .poll(async () => (await call(app, 'GET', path, owner)).body.pricing.is_running, { timeout: 60_000 })
    .toBe(false)
  const { body: bid } = await call(app, 'GET', path, owner)
  expect(bid).toMatchObject({ duplicates: 0, lines_skipped: 0 })
  const { body } = await call(app, 'GET', `${path}/lanes`, owner)
  expect(body.lanes.length).toBeGreaterThan(15)
  for (const lane of body.lanes) {
    expect(lane).toMatchObject({ problems: [], loads: expect.any(Number), target: expect.any(Number) })
    expect(lane.priced.suggested, lane.lane_id).toBeGreaterThan(lane.priced.expected_cost)
  }
})
