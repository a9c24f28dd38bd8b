import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makeLane, makePricedBid, makeTenant, setColumns } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const weekMs = 7 * 86_400_000
const start = Date.UTC(2026, 0, 5, 15)

let app: TestApp
let tenant: MadeTenant
let bid: number

const file = `Lane,Origin,Destination,Equipment,Annual Volume,Bid Rate
A,"Dallas, TX","Atlanta, GA",V,52,2150
B,"Houston, TX","Memphis, TN",,104,1500
C,"Reno, NV","Atlanta, GA",V,52,3000
`

const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
const post = (path: string, body: object) => call(app, 'POST', path, { token: tenant.owner, body })
const award = (cells: object[]) => post(`/api/bids/${bid}/awards`, { cells })
const change = (body: object) => call(app, 'PATCH', `/api/bids/${bid}`, { token: tenant.owner, body })
const lanes = async () => (await get(`/api/bids/${bid}/lanes`)).lanes
const standing = () => get(`/api/bids/${bid}/standing`)

const places = {
  A: { origin: 'Dallas, TX', destination: 'Atlanta, GA' },
  B: { origin: 'Houston, TX', destination: 'Memphis, TN' },
}

/** Moves the clock, and signs in again: the session has ended by then. */
async function at(moment: number) {
  app.now = moment
  const { email, password } = tenant
  const { body } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  tenant = { ...tenant, owner: body.token }
}

/** A contract load of a lane in a week of the contract, with its cost if it was booked. */
async function load(lane: 'A' | 'B', week: number, cost?: number, customer = 'Harvest Table Foods') {
  await at(start + week * weekMs + 60_000)
  const made = await makeLane(app, tenant, { ...places[lane], customer, rate: 2150, rateType: 'contract' })
  if (cost === undefined) return
  await setColumns(app, tenant, made.lane_id, {
    truck_cost_cents: 100 * cost,
    customer_rate_cents: 215_000,
    booked_at: new Date(app.now),
  })
}

beforeAll(async () => {
  app = await testApp({ now: start - 9 * weekMs })
  tenant = await makeTenant(app)
  for (const rate of [2000, 2100, 2200, 2300]) {
    const made = await makeLane(app, tenant, {
      ...places.A,
      rate,
      outcome: rate < 2150 ? 'won' : 'lost',
      rateType: 'contract',
    })
    if (rate < 2150) await setColumns(app, tenant, made.lane_id, { truck_cost_cents: 180_000 })
  }
  await at(start - weekMs)
  bid = await makePricedBid(app, tenant.owner, file)
})
afterAll(() => app.close())

describe('an award', () => {
  test('has its own rate and loads, or those of the lane, and is in the history', async () => {
    const early = await call(app, 'GET', `/api/bids/${bid}/standing`, { token: tenant.owner })
    expect([early.status, early.body.detail]).toEqual([409, expect.stringContaining('first day')])
    const [a, b, c] = await lanes()
    const said = await award([
      { lane: 1, version: a.version, state: 'awarded', rate: 2140, loads: 104 },
      { lane: 2, version: b.version, state: 'awarded' },
      { lane: 3, version: c.version, state: 'lost' },
    ])
    expect(said.body).toMatchObject({ awarded: 2, lost: 1 })
    expect((await lanes()).map(({ award: one }: { award: object }) => one)).toEqual([
      { state: 'awarded', rate: 2140, loads: 104 },
      { state: 'awarded', rate: b.rate, loads: 104 },
      { state: 'lost', rate: null, loads: null },
    ])
    const { changes } = await get(`/api/bids/${bid}/changes?lane=1`)
    expect(changes[0]).toMatchObject({
      kind: 'awards',
      words: 'Lanes: 2 awarded, 1 lost',
      of_lane: { before: null, after: 'awarded at $2,140' },
    })
    expect((await post(`/api/bids/${bid}/changes/${changes[0].change}/undo`, {})).status).toBe(409)
    const late = await award([{ lane: 1, version: a.version, state: 'lost' }])
    expect([late.status, late.body.errors[0].pointer]).toEqual([409, '/cells/0/rate'])
    const unknown = await award([{ lane: 9, version: 0, state: 'lost' }])
    expect([unknown.status, unknown.body.detail]).toEqual([422, expect.stringContaining('no lane 9')])
    expect((await lanes())[0].award.state).toBe('awarded')
  })

  test('of a contract that began shows promised, tendered and booked loads by lane and week', async () => {
    expect((await change({ starts_on: '2026-01-05' })).body.starts_on).toBe('2026-01-05')
    await load('A', 0, 1800)
    await load('A', 0)
    await load('A', 2, 1800)
    await load('A', 2, 1800, 'Somebody Else')
    const found = await standing()
    expect(found).toMatchObject({ week: 3, weeks: 52, volume: { promised: 12, tendered: 3, booked: 2 } })
    expect(found.by_week.map((one: { tendered: number }) => one.tendered)).toEqual([2, 0, 1])
    expect(found.lanes).toMatchObject([
      { lane: 1, rate: 2140, volume: { promised: 6, tendered: 3, booked: 2 } },
      { lane: 2, volume: { promised: 6, tendered: 0 } },
    ])
    expect(found.tendered).toMatchObject({ lanes: 2, ghost_lanes: 1, own: 0.25 })
  })

  test('whose costs stay above the forecast of the bid is told, with the dollars that are left', async () => {
    for (let week = 3; week < 16; week++) await load('A', week, 2160)
    const [lane, ghost] = (await standing()).lanes
    expect(lane.costs).toMatchObject({ state: 'rising' })
    expect(lane.costs.since_week).toBeGreaterThan(2)
    expect(lane.costs.since_week).toBeLessThan(9)
    expect(lane.costs.rise_pct_low).toBeGreaterThan(0)
    expect(lane.costs.extra_cost).toBeGreaterThan(0)
    expect(lane.costs.margin).toBeLessThan(lane.costs.planned_margin)
    expect(lane.costs.quotes.length).toBeGreaterThan(5)
    expect(ghost.costs?.state ?? 'too_few').toBe('too_few')
  })

  test('can be open again, and a wrong first day is refused', async () => {
    const [, b] = await lanes()
    expect((await award([{ lane: 2, version: b.version, state: 'open' }])).body).toMatchObject({ awarded: 1 })
    expect((await lanes())[1].award).toBeNull()
    const wrong = await change({ starts_on: '2026-02-30' })
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/starts_on'])
  })

  test('is offered for quotes of its customer and lane while its contract is in force', async () => {
    const asked = (more: Record<string, string> = {}) =>
      new URLSearchParams({ ...places.A, customer: 'harvest table foods', ...more })
    const ratesOf = async (more?: Record<string, string>) =>
      (await get(`/api/awarded-rates?${asked(more)}`)).rates
    const rate = {
      bid_id: bid,
      lane: 1,
      equipment: 'V',
      rate: 2140,
      starts_on: '2026-01-05',
      ends_on: '2027-01-04',
    }
    expect(await ratesOf({ equipment: 'Van', pickup_date: '2026-06-01' })).toMatchObject([rate])
    expect(await ratesOf({ origin: '75201' })).toMatchObject([rate])
    expect(await ratesOf({ pickup_date: '2027-01-04' })).toMatchObject([rate])
    for (const no of [
      { pickup_date: '2027-01-05' },
      { pickup_date: '2026-01-04' },
      { equipment: 'Reefer' },
      { customer: 'Somebody Else' },
      { origin: 'Reno, NV' },
      { origin: 'Houston, TX', destination: 'Memphis, TN' },
    ]) {
      expect(await ratesOf(no), JSON.stringify(no)).toEqual([])
    }
    const wrong = await call(app, 'GET', `/api/awarded-rates?${asked({ origin: 'Dallas' })}`, {
      token: tenant.owner,
    })
    expect([wrong.status, wrong.body.errors[0].parameter]).toEqual([422, 'origin'])
  })
})
