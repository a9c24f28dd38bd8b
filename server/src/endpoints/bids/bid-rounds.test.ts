import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makeLane, makePricedBid, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let tenant: MadeTenant
let first: number
beforeAll(async () => {
  app = await testApp()
  tenant = await makeTenant(app)
  for (const rate of [2000, 2100, 2200]) {
    await makeLane(app, tenant, { rate, outcome: rate < 2150 ? 'won' : 'lost', rateType: 'contract' })
  }
  first = await makePricedBid(app, tenant.owner, firstFile)
})
afterAll(() => app.close())

const firstFile = `Lane,Origin,Destination,Equipment,Annual Volume,Bid Rate
H-1,"Dallas, TX","Atlanta, GA",V,104,
H-2,Dallas Dock 7,"Memphis, TN",V,52,
H-3,"Reno, NV","Boise, ID",R,26,
`
/** H-1 has fewer loads, H-2 its text of before, H-3 is gone, H-4 is new, and H-5 has no ID but the work of nothing. */
const secondFile = `Lane,Origin,Destination,Equipment,Annual Volume,Rank,Target,Bid Rate
H-4,"Chicago, IL","Miami, FL",V,10,,,
H-2,Dallas Dock 7,"Memphis, TN",V,52,#1,,
h-1,"Dallas, TX","Atlanta, GA",V,52,3rd of 9,2000,
`

const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
const post = (path: string, body: object) => call(app, 'POST', path, { token: tenant.owner, body })
const lanesOf = async (bid: number) => (await get(`/api/bids/${bid}/lanes`)).lanes

async function upload(file: string, query: Record<string, string>) {
  const search = new URLSearchParams({ name: 'Round 2', customer: 'Harvest Table Foods', ...query })
  const response = await fetch(`${app.url}/api/bids?${search}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: file,
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('the next round of a bid', () => {
  test('joins its lanes, keeps rates and chosen places, and says what the shipper changed and tells', async () => {
    const named = await post(`/api/bids/${first}/places`, {
      end: 'origin',
      sent: 'Dallas Dock 7',
      place: 'Dallas, TX',
    })
    expect(named.status).toBe(200)
    await expect
      .poll(async () => (await get(`/api/bids/${first}`)).pricing.is_running, { timeout: 60_000 })
      .toBe(false)
    const before = await lanesOf(first)
    const rates = [2150, 1400, 900]
    const cells = rates.map((rate, at) => ({ lane: at + 1, version: before[at].version, rate }))
    expect((await post(`/api/bids/${first}/rates`, { cells })).status).toBe(200)

    const { status, body } = await upload(secondFile, { follows: String(first) })
    expect([status, body.detail]).toEqual([201, undefined])
    const second = body.bid_id
    expect(body).toMatchObject({ previous_bid_id: first, contract_months: 12, unknown_places: 0 })
    await expect
      .poll(async () => (await get(`/api/bids/${second}`)).pricing.is_running, { timeout: 60_000 })
      .toBe(false)
    const lanes = await lanesOf(second)
    expect(lanes).toMatchObject([
      { lane_id: 'H-4', rank: null, previous_rate: null },
      { lane_id: 'H-2', rank: 1, previous_rate: 1400, rate: 1400, origin: 'Dallas, TX' },
      { lane_id: 'h-1', rank: 3, previous_rate: 2150, rate: 2150, target: 2000, loads: 52 },
    ])
    expect(await get(`/api/bids/${second}/round`)).toEqual({
      previous: { bid_id: first, name: expect.any(String), stage: 'open' },
      counts: { joined: 2, added: 1, removed: 1, changed: 1 },
      added: [{ lane: 1, origin: 'Chicago, IL', destination: 'Miami, FL' }],
      removed: [{ lane: 3, origin: 'Reno, NV', destination: 'Boise, ID', rate: 900 }],
      changed: [{ lane: 3, field: 'loads', before: 104, after: 52 }],
      feedback: { ranked: 2, first: 1, targeted: 1, above_target: 1, to_target: 150 * 52 },
    })

    // No cost is known on the lane, so that nothing says whether the target has a margin.
    const met = await post(`/api/bids/${second}/strategy-previews`, { strategy: 'meet_target', pct: 5 })
    expect(met.body).toMatchObject({ changed: 0, not_known: 3 })
    const all = await post(`/api/bids/${second}/strategy-previews`, { strategy: 'meet_target', pct: 100 })
    expect([all.status, all.body.errors[0].pointer]).toEqual([422, '/pct'])
  })

  test('of another customer, or of no bid, is refused, and nothing is stored', async () => {
    const count = (await get('/api/bids')).bids.length
    const unknown = await upload(secondFile, { follows: '9999' })
    expect([unknown.status, unknown.body.errors[0]]).toEqual([
      422,
      expect.objectContaining({ parameter: 'follows', detail: expect.stringContaining('no bid 9999') }),
    ])
    const other = await upload(secondFile, { follows: String(first), customer: 'Somebody Else' })
    expect([other.status, other.body.errors[0].detail]).toEqual([
      422,
      `follows must be a bid of Somebody Else; bid ${first} is of Harvest Table Foods.`,
    ])
    expect((await get('/api/bids')).bids).toHaveLength(count)
  })

  test('is a first round after the round before was removed', async () => {
    const made = await upload(secondFile, { follows: String(first) })
    const path = `/api/bids/${made.body.bid_id}`
    expect((await call(app, 'GET', `/api/bids/${first}/round`, { token: tenant.owner })).status).toBe(409)
    expect((await call(app, 'DELETE', `/api/bids/${first}`, { token: tenant.owner })).status).toBe(200)
    expect((await get(path)).previous_bid_id).toBeNull()
    const round = await call(app, 'GET', `${path}/round`, { token: tenant.owner })
    expect([round.status, round.body.detail]).toEqual([409, expect.stringContaining('first round')])
  })
})
