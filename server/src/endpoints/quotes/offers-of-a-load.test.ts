import { beforeAll, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let ours: Integration
let owner: string

beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  owner = ours.tenant.owner
})

const places = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const post = (path: string, body: object) => call(app, 'POST', path, { token: owner, body })
const get = async (path: string) => (await call(app, 'GET', path, { token: owner })).body

/** A load that was quoted at these rates, one after the other. */
async function offered(...rates: number[]): Promise<string[]> {
  const [first = 2000, ...later] = rates
  const body = { customer_name: 'Harvest', lanes: [{ ...places, quoted_rate: first }] }
  const refs = [(await post('/api/quote-requests', body)).body.lanes[0].lane_ref as string]
  for (const quoted_rate of later) {
    const again = await post(`/api/lanes/${refs[0]}/requote`, { quoted_rate })
    expect(again.status).toBe(201)
    refs.push(again.body.lane_ref)
  }
  return refs
}
const mark = (ref: string | undefined, outcome: string) => post(`/api/lanes/${ref}/outcome`, { outcome })
const quotes = (refs: readonly string[]) => Promise.all(refs.map((ref) => get(`/api/lanes/${ref}`)))
/** The outcome of each offer, and the number of the offer that supersedes it. */
const standing = async (refs: readonly string[]) =>
  (await quotes(refs)).map(({ outcome, superseded_by }) => [
    outcome,
    superseded_by === null ? null : refs.indexOf(superseded_by) + 1,
  ])
const book = (ref: string | undefined, more: object = {}) =>
  pushUpdate(app, ours, { lane_ref: ref, customer_rate: 1900, truck_cost: 1500, ...more })

describe('one load is won once', () => {
  test('by the last offer only: an earlier one cannot be marked, and the load needs no further offer', async () => {
    const refs = await offered(2000, 1900)
    const refused = await mark(refs[0], 'won')
    expect([refused.status, refused.body.code]).toEqual([409, 'state-conflict'])
    expect(refused.body.detail).toContain(`Quote ${refs[1]} is a later offer for the load`)
    const { body } = await post('/api/lane-outcomes', { lanes: [{ lane_ref: refs[0], outcome: 'won' }] })
    expect(body.results[0]).toMatchObject({ status: 409, detail: refused.body.detail })
    expect((await mark(refs[1], 'won')).status).toBe(200)
    for (const ref of refs) {
      const again = await post(`/api/lanes/${ref}/requote`, { quoted_rate: 1850 })
      expect(again.status).toBe(409)
      expect(again.body.detail).toContain(`Quote ${refs[1]}`)
    }
    expect(await standing(refs)).toEqual([
      ['pending', 2],
      ['won', null],
    ])
  })

  test('an earlier offer can be lost or pending, and a lost load can be offered again', async () => {
    const refs = await offered(2000, 1900)
    expect((await mark(refs[0], 'lost')).status).toBe(200)
    expect((await mark(refs[1], 'lost')).status).toBe(200)
    const again = await post(`/api/lanes/${refs[1]}/requote`, { quoted_rate: 1850 })
    refs.push(again.body.lane_ref)
    expect(await standing(refs)).toEqual([
      ['lost', 3],
      ['lost', 3],
      ['pending', null],
    ])
  })
})

describe('void and restore', () => {
  test('of the last offer: the one before counts, and is superseded again', async () => {
    const refs = await offered(2000, 1900, 1800)
    await mark(refs[2], 'lost')
    await post(`/api/lanes/${refs[2]}/void`, { reason: 'Typo' })
    expect(await standing(refs)).toEqual([
      ['pending', 2],
      ['pending', null],
      ['lost', null],
    ])
    expect((await mark(refs[1], 'won')).status).toBe(200)
    await post(`/api/lanes/${refs[2]}/restore`, {})
    // An earlier offer won the load, so the restored one does not count.
    expect(await standing(refs)).toEqual([
      ['pending', 2],
      ['won', null],
      ['lost', 2],
    ])
    await mark(refs[1], 'pending')
    expect(await standing(refs)).toEqual([
      ['pending', 3],
      ['pending', 3],
      ['lost', null],
    ])
  })

  test('of earlier offers changes nothing for the last one, also if all of them are void', async () => {
    const refs = await offered(2000, 1900, 1800)
    for (const ref of refs.slice(0, 2)) await post(`/api/lanes/${ref}/void`, { reason: 'Typo' })
    expect(await standing(refs)).toEqual([
      ['pending', null],
      ['pending', null],
      ['pending', null],
    ])
    expect((await mark(refs[2], 'won')).status).toBe(200)
  })
})

describe('facts from other systems', () => {
  const push = (external_id: string, outcome: string) =>
    pushSigned(app, ours, pushOutcomes, { outcomes: [{ external_id, outcome }] })

  test('a booking wins the offer that it names, also before a later offer that is won', async () => {
    const refs = await offered(2000, 1900)
    await mark(refs[1], 'won')
    expect((await book(refs[0])).status).toBe(200)
    expect(await standing(refs)).toEqual([
      ['won', null],
      ['won', 1],
    ])
    const { changes } = await get(`/api/lanes/${refs[1]}/changes`)
    expect(changes[0]).toMatchObject({ source: 'lanewise', after: { superseded_by: refs[0] } })
    await pushUpdate(app, ours, { lane_ref: refs[0], cancelled: true })
    expect(await standing(refs)).toEqual([
      ['pending', 2],
      ['won', null],
    ])
  })

  test('of two bookings the last offer counts, and one load is in the figures', async () => {
    const before = (await get('/api/performance?by=month')).totals
    const refs = await offered(2000, 1900)
    await Promise.all([book(refs[0]), book(refs[1], { customer_rate: 1850 })])
    expect(await standing(refs)).toEqual([
      ['won', 2],
      ['won', null],
    ])
    const { totals } = await get('/api/performance?by=month')
    expect([totals.won - before.won, totals.shipments - before.shipments]).toEqual([1, 1])
    const shipments = await get('/api/shipments')
    expect(shipments.totals.shipments).toBe(totals.shipments)
  })

  test('a pushed win of an earlier offer wins the load, until a later one is won, too', async () => {
    const pushed = await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush('LOAD-1', {})] })
    const first = pushed.body.results[0].lane_ref as string
    const again = await post(`/api/lanes/${first}/requote`, { quoted_rate: 1700 })
    const refs = [first, again.body.lane_ref as string]
    await push('LOAD-1', 'won')
    expect(await standing(refs)).toEqual([
      ['won', null],
      ['pending', 1],
    ])
    expect((await mark(refs[1], 'won')).status).toBe(200)
    expect(await standing(refs)).toEqual([
      ['won', 2],
      ['won', null],
    ])
  })
})

describe('counts and the curve', () => {
  test('superseded offers are neither won nor lost in any count, and are in their own list', async () => {
    const fresh = await makeIntegration(app)
    const as = (path: string, body?: object) =>
      call(app, body === undefined ? 'GET' : 'POST', path, {
        token: fresh.tenant.owner,
        ...(body === undefined ? {} : { body }),
      })
    const make = async (rate: number, next: number, outcome: string) => {
      const made = await as('/api/quote-requests', {
        customer_name: 'Harvest',
        lanes: [{ ...places, quoted_rate: rate }],
      })
      const ref = made.body.lanes[0].lane_ref
      const again = await as(`/api/lanes/${ref}/requote`, { quoted_rate: next, counter_rate: 1500 })
      await as(`/api/lanes/${again.body.lane_ref}/outcome`, { outcome })
      return ref as string
    }
    const refs = [
      await make(2400, 2000, 'won'),
      await make(2500, 2100, 'won'),
      await make(2600, 2200, 'lost'),
    ]
    const { totals } = (await as('/api/performance?by=customer')).body
    expect(totals).toMatchObject({ quotes: 3, won: 2, lost: 1 })
    for (const [filter, total, loads] of [
      ['outcome=won&offers=last', 2, 2],
      ['outcome=lost&offers=last', 1, 1],
      ['outcome=lost', 4, 1],
      ['outcome=pending', 0, 0],
      ['offers=superseded', 3, 0],
      ['offers=last', 3, 3],
      ['customer=Harvest', 6, 3],
      ['customer=Harvest&limit=2', 6, 3],
    ] as const) {
      expect((await as(`/api/lanes?${filter}`)).body, filter).toMatchObject({ total, loads })
    }
    // The same count at every place that names the customer's quotes.
    expect((await as('/api/customers?q=harv')).body.customers).toMatchObject([{ quotes: 3 }])
    expect((await as('/api/customers/list')).body.customers).toMatchObject([{ quotes: 3 }])
    expect((await as('/api/customers/record?name=Harvest')).body.totals).toMatchObject({ quotes: 3 })
    const listed = (await as('/api/lanes?offers=superseded')).body.lanes
    expect(listed.map(({ lane_ref }: { lane_ref: string }) => lane_ref).sort()).toEqual(refs.toSorted())
    const lane = (await as('/api/advice/lane?origin=Dallas, TX&destination=Atlanta, GA&equipment=V')).body
    expect(lane.history).toMatchObject({ total_quotes: 3, wins: 2, losses: 1 })
    const ask = async () =>
      (
        await as(
          '/api/advice/markup?origin=Dallas, TX&destination=Atlanta, GA&equipment=V&proposed_rate=2450&include=estimate',
        )
      ).body
    const advice = await ask()
    // Three decided quotes: a low confidence, and refused offers are no losing rates.
    expect(advice).toMatchObject({ confidence: 'low', estimate: { decided: 3, won: 2 } })
    // The refused rates are evidence: without them, the chance at $2,450 is higher.
    const before = advice.estimate.probability
    for (const ref of refs) await as(`/api/lanes/${ref}/void`, { reason: 'Test' })
    expect((await ask()).estimate.probability).toBeGreaterThan(before + 0.02)
  })
})
