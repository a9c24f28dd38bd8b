import { beforeAll, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeServiceToken,
  pushSigned,
  requireStatus,
  setColumns,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Promise: only direct truckloads are in the statistics of a lane. Other loads are saved, counted apart and shown. */

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const customer_name = 'Harvest Table Foods'
/** Loads on the same lane whose rates would move every number of it. */
const others = [
  { mode: 'ltl', quoted_rate: 240 },
  { mode: 'intermodal', quoted_rate: 9_000 },
  { mode: 'drayage', quoted_rate: 310 },
  { mode: 'partial', quoted_rate: 700 },
  { stops: ['Memphis, TN', 'Birmingham, AL'], quoted_rate: 5_100 },
  { mode: 'ltl', stops: ['Memphis, TN'], quoted_rate: 410 },
] as const

async function pushed(by: Integration, quotes: readonly object[], first = 1) {
  const items = quotes.map((quote, nth) => ({
    external_id: `L-${first + nth}`,
    ...lane,
    customer_name,
    estimated_cost: 1_800,
    quoted_at: '2026-02-01T12:00:00Z',
    outcome: nth % 2 === 0 ? 'won' : 'lost',
    ...quote,
  }))
  const pushing = { ...by, token: await makeServiceToken(app, by.tenant.owner, 'quotes:write') }
  const { body } = await pushSigned(app, pushing, pushQuotes, { quotes: items })
  expect(body.failed).toBe(0)
}

const query = new URLSearchParams({ origin: lane.origin, destination: lane.destination })
/** The answers about the lane: to an integration, to a person, and of statistics. */
async function numbersOf({ token, tenant }: Integration) {
  const asked = [
    [`/api/integrations/insights/markup?${query}&proposed_rate=2100`, token],
    [`/api/integrations/insights/markup?${query}&equipment=V&proposed_rate=2100`, token],
    [`/api/integrations/insights/lane?${query}`, token],
    [`/api/advice/markup?${query}&proposed_rate=2100&include=estimate,optimum,curve`, tenant.owner],
    ['/api/performance?by=lane', tenant.owner],
    [`/api/lane-record?${query}`, tenant.owner],
  ] as const
  const found = []
  for (const [path, of] of asked) {
    const body = requireStatus(path, await call(app, 'GET', path, { token: of }), 200)
    // Sealing draws a random number.
    const { basis = {}, advice: _, ...rest } = body
    const { other_modes, ...counts } = basis
    found.push({ path, rest, counts, other_modes })
  }
  return found
}

test('other loads change no number of a lane and are counted apart; undone, they count again', async () => {
  const by = await makeIntegration(app)
  const direct = [2_000, 2_100, 2_200, 2_300, 2_150].map((quoted_rate) => ({ quoted_rate }))
  await pushed(by, direct)
  const before = await numbersOf(by)
  await pushed(by, others, 100)
  const after = await numbersOf(by)
  expect(after.map(({ rest, counts }) => ({ rest, counts }))).toEqual(
    before.map(({ rest, counts }) => ({ rest, counts })),
  )
  const counted = after.flatMap(({ path, other_modes }) =>
    other_modes === undefined ? [] : [[path, other_modes]],
  )
  expect(counted).toEqual([
    ['/api/performance?by=lane', others.length],
    [`/api/lane-record?${query}`, others.length],
  ])
  // A quote whose mode was a mistake counts once it is corrected.
  await pushed(by, [{ mode: 'truckload', quoted_rate: 240 }], 100)
  const corrected = await numbersOf(by)
  expect(corrected[0]?.rest.rate_band.floor).toBe(240)
  expect(corrected[4]?.other_modes).toBe(others.length - 1)
})

test('a lane with other loads only is not found, and says how many there are', async () => {
  const by = await makeIntegration(app)
  await pushed(by, others)
  const path = `/api/integrations/insights/markup?${query}&proposed_rate=2100`
  const plain = await call(app, 'GET', path, { token: by.token })
  expect(plain.body).toMatchObject({ found: false, confidence: 'none' })
  const { body } = await call(app, 'GET', `${path}&include=basis`, { token: by.token })
  expect(body.basis.other_modes).toBe(others.length)
})

test('lists, exports and the shipments select loads by their mode, and show mode and stops', async () => {
  const by = await makeIntegration(app)
  await pushed(by, [{ quoted_rate: 2_000 }, ...others])
  const listed = async (mode: string) => {
    const { body } = await call(app, 'GET', `/api/lanes?mode=${mode}`, { token: by.tenant.owner })
    return (body.lanes as { quoted_rate: number }[]).map((one) => one.quoted_rate).sort((a, b) => a - b)
  }
  expect(await listed('ltl')).toEqual([240, 410])
  expect(await listed('multi_stop')).toEqual([410, 5_100])
  expect(await listed('truckload')).toEqual([2_000, 5_100])
  const { status } = await call(app, 'GET', '/api/lanes?mode=air', { token: by.tenant.owner })
  expect(status).toBe(422)
  const file = await call(app, 'GET', '/api/lanes/export?mode=multi_stop', { token: by.tenant.owner })
  expect(file.body.split('\r\n')[0]).toContain(',Mode,Stops')
  expect(file.body).toContain('Memphis, TN; Birmingham, AL')
})

test('another load has no estimate and no forecast, and a sentence why', async () => {
  const by = await makeIntegration(app)
  const { owner } = by.tenant
  await pushed(
    by,
    [2_000, 2_100, 2_200, 2_300, 2_150].map((quoted_rate) => ({ quoted_rate })),
  )
  const sent = [{ ...lane, quoted_rate: 2_100 }, ...others.map((one) => ({ ...lane, ...one }))]
  const asked = { customer: customer_name, lanes: sent }
  const answer = await call(app, 'POST', '/api/advice/lanes', { token: owner, body: asked })
  const body = requireStatus('advice', answer, 200)
  const [direct, ...rest] = body.results
  expect(direct.not_priced).toBeUndefined()
  expect(direct.estimate).not.toBeNull()
  expect(rest.map(({ estimate, optimum }: typeof direct) => [estimate, optimum])).toEqual(
    others.map(() => [null, null]),
  )
  expect(rest[0].not_priced).toBe(
    'An LTL load is saved, not priced: the history of a lane is that of its direct truckloads.',
  )
  // The advice on one load is not that on another.
  const save = (quote: object) =>
    call(app, 'POST', '/api/quote-requests', { token: owner, body: { customer_name, lanes: [quote] } })
  const mixed = await save({ ...sent[5], advice: direct.advice })
  expect([mixed.status, mixed.body.errors[0].detail]).toEqual([
    422,
    expect.stringContaining('another mode or other stops'),
  ])
  const saved = requireStatus('save', await save({ ...sent[5], advice: rest[4].advice }), 201)
  expect(saved.lanes[0]).toMatchObject({
    stops: others[4].stops,
    mode: null,
    forecast: null,
    expected_cost: null,
  })
  const again = await call(app, 'POST', `/api/lanes/${saved.lanes[0].lane_ref}/requote`, {
    token: owner,
    body: { quoted_rate: 5_000 },
  })
  expect(again.body).toMatchObject({
    stops: others[4].stops,
    forecast: null,
    expected_cost: null,
    warnings: [],
  })
})

test.each([
  ['eleven stops', { stops: Array.from({ length: 11 }, () => 'Memphis, TN') }, '/stops'],
  ['a city twice', { stops: ['Memphis, TN', 'memphis tn'] }, '/stops/1'],
  ['an unknown mode', { mode: 'airplane' }, '/mode'],
  ['LTL as equipment', { equipment: 'LTL' }, '/equipment'],
])('advice on %s is refused with its field', async (_, load, pointer) => {
  const by = await makeIntegration(app)
  const asked = { lanes: [{ ...lane, quoted_rate: 2_000, ...load }] }
  const { body } = await call(app, 'POST', '/api/advice/lanes', { token: by.tenant.owner, body: asked })
  expect(body.results[0]).toMatchObject({ status: 422, errors: [{ pointer }] })
})

test('a change of mode and stops is in the history, and a rollback restores both', async () => {
  const by = await makeIntegration(app)
  const { owner } = by.tenant
  await pushed(by, [{ stops: ['Memphis, TN'], quoted_rate: 2_100, outcome: 'pending' }])
  await pushed(by, [{ mode: 'ltl', quoted_rate: 2_100, outcome: 'pending' }])
  const { body: list } = await call(app, 'GET', '/api/lanes', { token: owner })
  const [quote] = list.lanes
  expect(quote).toMatchObject({ mode: 'ltl', stops: [], miles: 856.9 })
  const path = `/api/lanes/${quote.lane_ref}`
  const { body: history } = await call(app, 'GET', `${path}/changes`, { token: owner })
  const [change] = history.changes
  expect([change.before, change.after]).toMatchObject([
    { mode: null, stops: 'Memphis, TN' },
    { mode: 'ltl', stops: null },
  ])
  const undone = { change_id: change.change_id }
  requireStatus('rollback', await call(app, 'POST', `${path}/rollback`, { token: owner, body: undone }), 200)
  const { body: restored } = await call(app, 'GET', path, { token: owner })
  expect(restored).toMatchObject({ mode: null, stops: ['Memphis, TN'] })
})

test('a quote from before modes, with its mode as its equipment, is a load of that mode', async () => {
  const by = await makeIntegration(app)
  const { owner } = by.tenant
  await pushed(by, [{ quoted_rate: 2_000 }, { quoted_rate: 260 }])
  const columns = { equipment: 'LTL', equipment_code: 'LTL' }
  const listed = async (mode: string) =>
    (await call(app, 'GET', `/api/lanes?mode=${mode}`, { token: owner })).body.lanes
  const [old] = (await listed('truckload')).filter(
    ({ quoted_rate: rate }: { quoted_rate: number }) => rate === 260,
  )
  await setColumns(app, by.tenant, old.lane_id, columns)
  expect(await listed('ltl')).toMatchObject([{ mode: 'ltl', equipment: 'LTL', quoted_rate: 260 }])
  const path = `/api/integrations/insights/markup?${query}&proposed_rate=2100`
  const { body } = await call(app, 'GET', path, { token: by.token })
  expect(body.rate_band).toEqual({ floor: 2_000, median: 2_000, ceiling: 2_000 })
})
