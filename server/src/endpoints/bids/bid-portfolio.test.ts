import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, makeLane, makePerson, makePricedBid, makeTenant, setColumns } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const root = new URL('../../../../', import.meta.url)

let app: TestApp
let token: string
let viewer: string
let bid: number
let path: string
let folder: string

const get = async (address: string) => (await call(app, 'GET', address, { token })).body
const post = (address: string, body: object, by = token) => call(app, 'POST', address, { token: by, body })
const choose = (limits: object, by = token) => post(`/api/bids/${bid}/portfolios`, limits, by)

/** Two lanes out of Texas and one out of Georgia, with contract quotes and costs, and one whose loads are not known. */
const file = `Lane,Origin,Destination,Equipment,Loads/Week,Bid Rate
A,"Dallas, TX","Atlanta, GA",V,4,
B,"Houston, TX","Memphis, TN",V,6,
C,"Atlanta, GA","Chicago, IL",V,3,
D,"Dallas, TX","Atlanta, GA",V,some,
`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-certificate-'))
  app = await testApp()
  const tenant = await makeTenant(app)
  token = tenant.owner
  viewer = (await makePerson(app, tenant, 'viewer')).token
  const lanes = [
    ['Dallas, TX', 'Atlanta, GA', 1_900],
    ['Houston, TX', 'Memphis, TN', 1_400],
    ['Atlanta, GA', 'Chicago, IL', 1_700],
  ] as const
  for (const [origin, destination, cost] of lanes) {
    for (const [markup, outcome] of [
      [1.02, 'won'],
      [1.06, 'won'],
      [1.1, 'won'],
      [1.14, 'lost'],
      [1.2, 'lost'],
      [1.3, 'lost'],
    ] as const) {
      const rate = Math.round(cost * markup)
      const { lane_id } = await makeLane(app, tenant, {
        origin,
        destination,
        rate,
        outcome,
        rateType: 'contract',
      })
      if (outcome === 'won') await setColumns(app, tenant, lane_id, { truck_cost_cents: cost * 100 })
    }
  }
  bid = await makePricedBid(app, token, file)
  path = `/api/bids/${bid}`
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await app.close()
})

describe('rates that are chosen together', () => {
  test('earn at least what each lane alone would, keep the caps, and are proven', async () => {
    const { status, body } = await choose({})
    expect([status, body.state, body.lanes, body.left_out]).toEqual([200, 'chosen', 3, 1])
    expect(body.chosen.bound).toBe(body.chosen.expected_margin)
    expect(body.chosen.lane_by_lane).toBe(body.chosen.expected_margin)
    const capped = await choose({
      caps: [{ end: 'origin', place: 'TX', loads_per_week: 2 }],
      frontier_points: 4,
    })
    const { chosen, limits, frontier } = capped.body
    expect(chosen.expected_margin).toBeLessThan(body.chosen.expected_margin)
    expect(chosen.expected_margin).toBeGreaterThanOrEqual(chosen.lane_by_lane)
    expect(chosen.bound).toBeGreaterThanOrEqual(chosen.expected_margin)
    expect(limits).toMatchObject([{ limit: 'region', place: 'origin TX' }])
    expect(limits[0].used).toBeLessThanOrEqual(2)
    expect(limits[0].price).toBeGreaterThan(0)
    expect(frontier.length).toBeGreaterThan(1)
    for (const point of frontier) {
      expect(point.expected_margin).toBeLessThanOrEqual(chosen.bound)
      expect(point.bound).toBeGreaterThanOrEqual(point.expected_margin)
    }
  })

  test('count what the shipper tenders', async () => {
    const all = (await choose({})).body.chosen
    const half = (await choose({ tendered_pct: 50 })).body.chosen
    expect(half.expected_margin).toBeCloseTo(all.expected_margin / 2, 0)
    expect(half.expected_loads).toBeCloseTo(all.expected_loads / 2, 1)
  })

  test('are saved as one change, with the sums that were shown, and one undo reverts them', async () => {
    const { body } = await choose({ caps: [{ end: 'origin', place: 'US-SC', loads_per_week: 1.5 }] })
    const cells = body.rates.map(
      ({ lane, version, after }: Record<'lane' | 'version' | 'after', number>) => ({
        lane,
        version,
        rate: after,
      }),
    )
    const saved = await post(`${path}/rates`, { cells, words: 'Rates chosen together' })
    expect(saved.body.totals).toEqual(body.after)
    const { changes } = await get(`${path}/changes`)
    expect(changes[0]).toMatchObject({ words: 'Rates chosen together', cells: cells.length })
    const undone = await post(`${path}/changes/${changes[0].change}/undo`, {})
    expect(undone.body.totals).toEqual(body.before)
  })

  test('have a certificate, which a program without the service verifies, and which no changed amount passes', async () => {
    const limits = { caps: [{ end: 'origin', place: 'TX', loads_per_week: 2 }], lane_margin_pct_min: 3 }
    const { body } = await post(`/api/bids/${bid}/portfolio-certificates`, limits)
    const certificate = Buffer.from(body.base64, 'base64').toString()
    const { chosen } = (await choose(limits)).body
    const verify = (text: string) => {
      const name = join(folder, 'certificate.json')
      writeFileSync(name, text)
      return execFileSync(process.execPath, ['recipes/verify-portfolio.mjs', name], {
        cwd: root,
        encoding: 'utf8',
        stdio: 'pipe',
      })
    }
    expect(JSON.parse(certificate).marginCents).toBe(Math.round(100 * chosen.expected_margin))
    expect(verify(certificate)).toContain('VERIFIED: expected margin')
    const raised = JSON.parse(certificate)
    raised.marginCents += 1
    expect(() => verify(JSON.stringify(raised))).toThrow('NOT VERIFIED')
  })

  test('are none for limits that cannot be kept, and wrong limits are named', async () => {
    const { body } = await choose({ loads_min: 100_000 })
    expect(body).toMatchObject({ state: 'impossible', chosen: null, rates: [], after: body.before })
    expect(body.most_loads).toBeGreaterThan(0)
    const cap = { end: 'origin', place: 'TX', loads_per_week: 2 }
    const wrong = [
      [{ caps: [cap, cap] }, '/caps/1/place'],
      [{ loads_min: 5, loads_max: 4 }, '/loads_min'],
      [{ caps: [{ ...cap, place: 'Texas' }] }, '/caps/0/place'],
      [{ margin_pct_min: 120 }, '/margin_pct_min'],
    ] as const
    for (const [limits, pointer] of wrong) {
      const answer = await choose(limits)
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
    }
    expect((await choose({}, viewer)).status).toBe(403)
  })
})
