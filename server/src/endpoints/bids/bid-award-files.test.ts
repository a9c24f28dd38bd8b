import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pushBidAwards } from '#contract/bid-awards.ts'
import { pushedItemsMax } from '#contract/limits.ts'
import { tenantId } from '#server/database/session/index.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makePricedBid,
  pushSigned,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const file = `Lane ID,Origin,Destination,Equipment,Loads/Week,Bid Rate
A,"Dallas, TX","Atlanta, GA",V,1,2150
B,"Houston, TX","Memphis, TN",V,2,1500
C,"Houston, TX","Memphis, TN",R,1,1900
D,"Reno, NV","Boise, ID",,1,1200
`

let app: TestApp
let broker: Integration
let bid: number

beforeAll(async () => {
  app = await testApp()
  broker = await makeIntegration(app, 'quotes:write read')
})
afterAll(() => app.close())
beforeEach(async () => {
  bid = await makePricedBid(app, broker.tenant.owner, file)
})

const get = async (path: string) => (await call(app, 'GET', path, { token: broker.tenant.owner })).body
const awards = async () =>
  (await get(`/api/bids/${bid}/lanes`)).lanes.map(
    ({ award }: { award: { state: string; rate: number; loads: number } | null }) =>
      award === null ? null : [award.state, award.rate, award.loads],
  )
const nothing = [null, null, null, null]

async function send(text: string, query = '', token = broker.tenant.owner) {
  const answer = await fetch(`${app.url}/api/bids/${bid}/award-files?file_name=letter.csv${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
    body: text,
  })
  return {
    status: answer.status,
    body: (await answer.json()) as { errors: { detail: string }[]; changed: number },
  }
}

test('a change of the awards is one event, by hand, by file and by push; a repetition is none', async () => {
  const { tenant } = broker
  const added = await call(app, 'POST', '/api/event-endpoints', {
    token: tenant.owner,
    body: { url: 'https://hooks.example.com/', event_types: ['bid.awarded'] },
  })
  expect(added.status).toBe(201)
  const byHand = await call(app, 'POST', `/api/bids/${bid}/awards`, {
    token: tenant.owner,
    body: { cells: [{ lane: 1, version: 0, state: 'awarded', rate: 2100 }] },
  })
  expect(byHand.status).toBe(200)
  await send('Lane ID,Award\nB,lost\nC,yes\n')
  await send('Lane ID,Award\nB,lost\nC,yes\n')
  app.now += 2_000
  const push = { bid_id: bid, awards: [{ lane_id: 'D', state: 'lost' as const }] }
  expect((await pushSigned(app, broker, pushBidAwards, push)).status).toBe(200)
  await pushSigned(app, broker, pushBidAwards, push)
  const events = await app.database.inTenant(tenantId(tenant.id), (transaction) =>
    transaction.selectFrom('events').select(['type', 'about']).orderBy('event_number').execute(),
  )
  const about = { bid_id: bid, name: 'RFP 2027', customer_name: 'Harvest Table Foods' }
  expect(events.map((event) => [event.type, event.about])).toEqual([
    ['bid.awarded', { bid: { ...about, change: 1, changed: 1, awarded: 1, lost: 0 } }],
    ['bid.awarded', { bid: { ...about, change: 2, changed: 2, awarded: 2, lost: 1 } }],
    ['bid.awarded', { bid: { ...about, change: 3, changed: 1, awarded: 2, lost: 2 } }],
  ])
})

describe("the awards of a shipper's file", () => {
  test('are those of its words, rates and loads, as one change of the history', async () => {
    const answer = await send(
      'Award letter 2027\n\nLane ID,Award Status,Awarded Rate,Awarded Loads Per Week\nA,Awarded,"$2,100",2\nB,not awarded,,\nC,,,\nd,Yes,,\n',
    )
    expect(answer).toMatchObject({ status: 200, body: { changed: 3, awarded: 2, lost: 1 } })
    expect(await awards()).toEqual([
      ['awarded', 2100, 104],
      ['lost', null, null],
      null,
      ['awarded', null, 52],
    ])
    const { changes } = await get(`/api/bids/${bid}/changes`)
    expect(changes[0]).toMatchObject({
      kind: 'awards',
      words: 'Lanes of letter.csv: 2 awarded, 1 lost',
      cells: 3,
    })
    const again = await send('Lane ID,Award\nA,lost\n')
    expect(again.body).toMatchObject({ changed: 1, awarded: 1, lost: 2 })
    expect((await send('Lane ID,Award\nA,lost\n')).body).toMatchObject({ change: null, changed: 0 })
  })

  test('name lanes by their places and equipment, and say shares of the loads', async () => {
    const answer = await send(
      'Origin,Destination,Equipment,Award %\n"Houston, TX","Memphis, TN",Reefer,60 %\n"Dallas, TX",Atlanta GA,,0\n',
    )
    expect(answer.status).toBe(200)
    expect(await awards()).toEqual([['lost', null, null], null, ['awarded', null, 31], null])
  })

  test('are all its lines if no column says it; the others are lost if the person says so', async () => {
    expect((await send('Lane ID\nA\nD\n', '&others=lost')).body).toMatchObject({ awarded: 2, lost: 2 })
    expect((await awards()).map((award: [string]) => award[0])).toEqual([
      'awarded',
      'lost',
      'lost',
      'awarded',
    ])
  })

  test.each([
    ['Lane ID,Award\nX,awarded\n', 'Line 2: The bid has no lane "X".'],
    ['Lane ID,Award\nA,awarded\nA,lost\n', 'Line 3: Line 2 is about the same lane.'],
    [
      'Lane ID,Award\nA,backup\n',
      'Line 2: Award must be a word such as awarded or lost, or a percentage; it is "backup".',
    ],
    ['Lane ID,Award,Awarded Rate\nA,awarded,cheap\n', 'Awarded Rate must be'],
    ['Lane ID,Award %\nA,160 %\n', 'a percentage from 0 to 100'],
    [
      'Origin,Destination,Award\n"Houston, TX","Memphis, TN",yes\n',
      'The bid has several lanes from Houston, TX to Memphis, TN',
    ],
    [
      'Origin,Destination,Award\n"Reno, NV","Miami, FL",yes\n',
      'The bid has no lane from Reno, NV to Miami, FL.',
    ],
    ['Origin,Destination,Award\nNowhere,"Miami, FL",yes\n', 'an origin and a destination that are known'],
    ['Award,Rate\nyes,2000\n', 'must have a column with the lane ID'],
    ['Lane ID,Award\nA,\n', 'The file says of no lane what became of it.'],
    ['', 'header'],
  ])('422: %j changes nothing, and says which line', async (text, detail) => {
    const { status, body } = await send(text)
    expect(status).toBe(422)
    expect(body.errors.map((error: { detail: string }) => error.detail).join(' ')).toContain(detail)
    expect(await awards()).toEqual(nothing)
  })

  test('422: every wrong line is named', async () => {
    const { body } = await send('Lane ID,Award\nX,awarded\nA,awarded\nY,awarded\n')
    expect(body.errors).toHaveLength(2)
    expect(await awards()).toEqual(nothing)
  })

  test('403 for a viewer, 404 for another brokerage', async () => {
    const viewer = await makePerson(app, broker.tenant, 'viewer')
    expect((await send('Lane ID\nA\n', '', viewer.token)).status).toBe(403)
    const other = await makeIntegration(app)
    expect((await send('Lane ID\nA\n', '', other.tenant.owner)).status).toBe(404)
    expect(await awards()).toEqual(nothing)
  })
})

describe('pushed awards', () => {
  const push = (items: readonly unknown[], at = Math.floor(app.now / 1000)) =>
    pushSigned(app, broker, pushBidAwards, { bid_id: bid, awards: items }, at)

  test('have a result for each item; a wrong item does not affect the others, and the same call changes nothing', async () => {
    const items = [
      { lane_id: 'A', state: 'awarded', rate: 2100, loads: 60 },
      { lane_id: 'X', state: 'awarded' },
      { origin: 'Houston, TX', destination: 'Memphis, TN', state: 'lost' },
      { origin: 'Houston, TX', destination: 'Memphis, TN', equipment: 'r', state: 'lost' },
      { state: 'awarded' },
      { lane_id: 'A', state: 'lost' },
      { lane_id: 'B', state: 'maybe' },
      5,
    ]
    const { status, body } = await push(items)
    expect(status).toBe(200)
    expect(body).toMatchObject({ updated: 2, unchanged: 0, failed: 6 })
    expect(body.results.map((one: { status: number; detail?: string }) => one.detail ?? one.status)).toEqual([
      200,
      'The bid has no lane "X".',
      'The bid has several lanes from Houston, TX to Memphis, TN: name the lane by its ID.',
      200,
      'lane_id is missing: send it, or origin and destination.',
      'Item 0 of this call is about the same lane.',
      expect.stringContaining('state must be one of awarded, lost, open'),
      expect.stringContaining('must be a JSON object'),
    ])
    expect(await awards()).toEqual([['awarded', 2100, 60], null, ['lost', null, null], null])
    expect((await push(items)).body).toMatchObject({ updated: 0, unchanged: 2, failed: 6 })
    const { changes } = await get(`/api/bids/${bid}/changes`)
    expect(changes).toHaveLength(1)
    expect(changes[0]).toMatchObject({
      words: 'Lanes by another system: 1 awarded, 1 lost',
      changed_by: null,
    })
  })

  test('end in the same state in every order of delivery, also when they were signed in the same second', async () => {
    const now = Math.floor(app.now / 1000)
    const early = () => push([{ lane_id: 'A', state: 'lost' }], now - 60)
    const late = () => push([{ lane_id: 'A', state: 'awarded', rate: 2000 }], now - 30)
    const same = () => push([{ lane_id: 'A', state: 'awarded', rate: 2050 }], now - 30)
    const ends = new Set<string>()
    for (const order of [
      [early, late, same],
      [late, same, early],
      [same, early, late],
      [same, late, early],
    ]) {
      bid = await makePricedBid(app, broker.tenant.owner, file)
      for (const one of order) expect((await one()).status).toBe(200)
      ends.add(JSON.stringify((await awards())[0]))
    }
    expect([...ends]).toEqual([JSON.stringify(['awarded', 2050, 52])])
  })

  test('that repeat what is stored still hold back an older award that comes later', async () => {
    const now = Math.floor(app.now / 1000)
    const first = () => push([{ lane_id: 'A', state: 'lost' }], now - 90)
    const between = () => push([{ lane_id: 'A', state: 'awarded', rate: 2000 }], now - 60)
    const last = () => push([{ lane_id: 'A', state: 'lost' }], now - 30)
    for (const order of [
      [first, between, last],
      [first, last, between],
      [last, first, between],
    ]) {
      bid = await makePricedBid(app, broker.tenant.owner, file)
      for (const one of order) expect((await one()).status).toBe(200)
      expect((await awards())[0]).toEqual(['lost', null, null])
    }
    bid = await makePricedBid(app, broker.tenant.owner, file)
    await push([{ lane_id: 'A', state: 'open' }], now - 30)
    await between()
    expect((await awards())[0]).toBe(null)
  })

  test('that are older than a repetition by a person change nothing', async () => {
    const now = Math.floor(app.now / 1000)
    await push([{ lane_id: 'A', state: 'lost' }], now - 90)
    await send('Lane ID,Award\nA,lost\n')
    await push([{ lane_id: 'A', state: 'awarded', rate: 2000 }], now - 60)
    expect((await awards())[0]).toEqual(['lost', null, null])
  })

  test('change nothing that a person said later, and can open a lane again', async () => {
    await send('Lane ID,Award\nA,awarded\n')
    const before = Math.floor(app.now / 1000) - 60
    expect((await push([{ lane_id: 'A', state: 'lost' }], before)).body.results[0].result).toBe('kept')
    expect((await awards())[0][0]).toBe('awarded')
    app.now += 5_000
    expect((await push([{ lane_id: 'A', state: 'open' }])).body.updated).toBe(1)
    expect(await awards()).toEqual(nothing)
  })

  test('are refused for the bid of another brokerage, too many items, and without a signature', async () => {
    const other = await makeIntegration(app, 'quotes:write')
    const item = { lane_id: 'A', state: 'awarded' }
    const foreign = await pushSigned(app, other, pushBidAwards, { bid_id: bid, awards: [item] })
    expect(foreign.status).toBe(404)
    expect((await push([])).status).toBe(422)
    expect((await push(Array(pushedItemsMax + 1).fill(item))).status).toBe(422)
    const unsigned = await call(app, 'POST', '/api/integrations/bids/awards', {
      token: broker.token,
      body: { bid_id: bid, awards: [item] },
    })
    expect(unsigned.status).toBe(401)
    expect(await awards()).toEqual(nothing)
  })
})

describe('systems read', () => {
  const read = (path: string, token = broker.token) => call(app, 'GET', path, { token })

  test('bids with stage, value and deadline, and their lanes with awards, page by page', async () => {
    await send('Lane ID,Award,Awarded Rate\nA,awarded,2000\n')
    const list = await read('/api/integrations/bids')
    expect(list.status).toBe(200)
    expect(list.body.bids[0]).toMatchObject({ bid_id: bid, stage: 'open', lanes: 4, due_at: null })
    const page = await read(`/api/integrations/bids/${bid}/lanes?after=0`)
    expect(page.body.lanes[0]).toMatchObject({ lane_id: 'A', award: { state: 'awarded', rate: 2000 } })
    expect(page.body.next_after).toBeNull()
    expect((await read(`/api/integrations/bids/${bid}/lanes?after=3`)).body.lanes).toHaveLength(1)
  })

  test('404 for a bid of another brokerage, 403 without the scope', async () => {
    const other = await makeIntegration(app, 'read')
    expect((await read(`/api/integrations/bids/${bid}/lanes`, other.token)).status).toBe(404)
    const writer = await makeIntegration(app, 'quotes:write')
    expect((await read('/api/integrations/bids', writer.token)).status).toBe(403)
  })
})
