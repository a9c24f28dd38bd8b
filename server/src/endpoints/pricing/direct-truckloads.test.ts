import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performanceGroupings } from '#contract/performance.ts'
import { pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { call, type Integration, makeIntegration, pushSigned, quoteToPush } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/**
 * Promise: loads with stops or of another mode than truckload change no number of a lane, of a customer, of a rep or of the brokerage, and
 * the answers say how many of them are not counted.
 *
 * How: every answer with statistics is read before and after such loads are stored, decided and booked, on the same lane and on others.
 */

const now = Date.UTC(2026, 2, 20)
let app: TestApp
let broker: Integration

const made = <More extends object>(id: string, more: More) => ({ ...quoteToPush(id), ...more })
const cities = ['Atlanta, GA', 'Memphis, TN', 'Denver, CO']
const quotes = Array.from({ length: 90 }, (_, n) =>
  made(`T-${n}`, {
    origin: 'Dallas, TX',
    destination: cities[n % 3],
    equipment: n % 5 === 4 ? 'R' : 'V',
    quoted_rate: 1900 + ((37 * n) % 400),
    estimated_cost: 1700 + ((11 * n) % 150),
    quoted_at: new Date(now - (100 - n) * 86_400_000).toISOString(),
    rate_type: n % 7 === 0 ? 'contract' : 'spot',
    customer_name: n % 2 === 0 ? 'Harvest Table Foods' : 'Blue Mesa Grocers',
    outcome: n % 9 === 0 ? 'pending' : n % 3 === 1 ? 'lost' : 'won',
  }),
)
/** Loads that are no direct truckloads, at rates that would move every number. */
const others = [
  { mode: 'ltl' },
  { stops: ['Shreveport, LA'] },
  { mode: 'partial', equipment: 'R' },
  { mode: 'drayage', destination: 'Memphis, TN' },
  { mode: 'truckload', stops: ['Amarillo, TX', 'Pueblo, CO'], destination: 'Denver, CO' },
  { mode: 'intermodal', origin: 'Chicago, IL', destination: 'Miami, FL', customer_name: 'Only LTL' },
].flatMap((load, n) =>
  (['won', 'lost', 'pending'] as const).map((outcome) =>
    made(`O-${n}-${outcome}`, {
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      quoted_rate: 240 + n,
      estimated_cost: 9000,
      quoted_at: new Date(now - (5 + n) * 86_400_000).toISOString(),
      outcome,
      ...load,
    }),
  ),
)
const book = (ids: readonly string[], amounts: object) =>
  pushSigned(app, broker, pushShipmentUpdates, {
    updates: ids.map((external_id) => ({ external_id, ...amounts })),
  })

beforeAll(async () => {
  app = await testApp({ now })
  broker = await makeIntegration(app, 'quotes:write integrations:write read')
  const pushed = await pushSigned(app, broker, pushQuotes, { quotes })
  expect(pushed.body).toMatchObject({ created: 90, failed: 0 })
  const booked = quotes.flatMap(({ external_id, outcome }) => (outcome === 'won' ? [external_id] : []))
  expect((await book(booked, { customer_rate: 2100, truck_cost: 1750 })).body).toMatchObject({ failed: 0 })
})
afterAll(() => app.close())

const get = async (path: string, query: Record<string, string>, token: string) => {
  const { status, body } = await call(app, 'GET', `${path}?${new URLSearchParams(query)}`, { token })
  expect([path, status, body?.detail]).toEqual([path, 200, undefined])
  return body
}

const period = { from: '2025-11-01', to: '2026-03-31' }
const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA' }

/** Every answer with statistics, without the note about what is not counted. */
async function answers() {
  const read = new Map<string, unknown>()
  const keep = async (path: string, query: Record<string, string>, token: string) => {
    const text = JSON.stringify(await get(path, query, token))
    read.set(`${path} ${JSON.stringify(query)}`, JSON.parse(text.replaceAll(/,"other_modes":\d+/g, '')))
  }
  for (const destination of [...cities, 'Miami, FL']) {
    for (const equipment of [{}, { equipment: 'V' }, { equipment: 'R' }]) {
      const asked = { origin: 'Dallas, TX', destination, ...equipment }
      const rated = { ...asked, proposed_rate: '2050' }
      const machine = broker.token
      await keep('/api/integrations/insights/markup', rated, machine)
      await keep('/api/integrations/insights/lane', asked, machine)
      const include = 'basis,pool,evidence,estimate,curve,optimum,risk,rules'
      await keep('/api/integrations/insights/markup', { ...rated, include }, machine)
      await keep('/api/integrations/insights/lane', { ...asked, include: 'basis,pool,evidence' }, machine)
      await keep('/api/lane-record', asked, broker.tenant.owner)
    }
  }
  for (const by of performanceGroupings) {
    await keep('/api/performance', { by, ...period }, broker.tenant.owner)
  }
  const keepRead = async (path: string, token: string, body: object) => {
    const answer = await call(app, 'POST', path, { token, body })
    expect([path, answer.status]).toEqual([path, 200])
    const text = JSON.stringify(answer.body).replaceAll(/,"other_modes":\d+/g, '')
    read.set(path, JSON.parse(text))
  }
  const asked = cities.map((destination) => ({ origin: 'Dallas, TX', destination, equipment: 'V' }))
  await keepRead('/api/integrations/insights/batch', broker.token, {
    lanes: asked.map((one) => ({ ...one, proposed_rate: 2050 })),
    answers: ['markup', 'lane'],
    include: ['basis'],
  })
  await keepRead('/api/advice/lanes', broker.tenant.owner, {
    customer_name: 'Harvest Table Foods',
    lanes: asked.map((one) => ({ ...one, quoted_rate: 2050 })),
  })
  for (const equipment of ['V', 'R']) {
    const of = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment }
    await keep(
      '/api/advice/markup',
      { ...of, proposed_rate: '2050', include: 'estimate' },
      broker.tenant.owner,
    )
    await keep('/api/advice/lane', of, broker.tenant.owner)
  }
  await keep('/api/calibration', {}, broker.tenant.owner)
  await keep('/api/performance/margin-gaps', period, broker.tenant.owner)
  await keep('/api/customers/list', {}, broker.tenant.owner)
  await keep('/api/customers/record', { name: 'Harvest Table Foods' }, broker.tenant.owner)
  await keep('/api/market-standing', {}, broker.tenant.owner)
  await keep('/api/places', { q: 'Dal' }, broker.tenant.owner)
  const { totals } = await get('/api/shipments', {}, broker.tenant.owner)
  read.set('shipments', totals)
  return read
}

test('other modes and loads with stops change no number, and are counted where they are left out', async () => {
  const before = await answers()
  const pushed = await pushSigned(app, broker, pushQuotes, { quotes: others })
  expect(pushed.body).toMatchObject({ created: others.length, failed: 0 })
  const won = others.flatMap(({ external_id, outcome }) => (outcome === 'won' ? [external_id] : []))
  const booked = await book(won, { customer_rate: 250, truck_cost: 9000, carrier_name: 'Ridge Carriers' })
  expect(booked.body).toMatchObject({ failed: 0 })
  const after = await answers()
  for (const [name, answer] of before) expect([name, after.get(name)]).toEqual([name, answer])

  const { owner } = broker.tenant
  const counted = async (path: string, query: Record<string, string>) =>
    (await get(path, query, owner)).basis.other_modes
  // Twelve quotes have other modes or stops: three of LTL, of stops and of partial loads go from Dallas to Atlanta.
  expect(await counted('/api/lane-record', lane)).toBe(9)
  expect(await counted('/api/lane-record', { ...lane, equipment: 'R' })).toBe(3)
  expect(await counted('/api/performance', { by: 'lane', ...period })).toBe(18)
  const insight = (query: object = {}) =>
    get('/api/integrations/insights/lane', { ...lane, ...query, include: 'basis' }, broker.token)
  expect((await insight()).basis.other_modes).toBe(9)
  // A lane with such loads only has no data, and says so.
  const none = await get(
    '/api/integrations/insights/markup',
    { origin: 'Chicago, IL', destination: 'Miami, FL', proposed_rate: '2000', include: 'basis' },
    broker.token,
  )
  expect(none).toMatchObject({ found: false, basis: { other_modes: 3 } })
})

test('the fee for each stop is that of the brokerage, in its currency, with each change in the audit log', async () => {
  const { owner } = broker.tenant
  const send = (method: string, path: string, body: object) => call(app, method, path, { token: owner, body })
  const patch = async (stop_fee: object) => (await send('PATCH', '/api/tenant', { stop_fee })).body.stop_fee
  const route = async (more: object = {}) => {
    const load = { origin: 'Dallas, TX', destination: 'Denver, CO', stops: ['Memphis, TN'], ...more }
    const { body } = await send('POST', '/api/advice/lanes', { lanes: [{ ...load, equipment: 'V' }] })
    return body.results[0].route
  }
  const feeOf = async (more?: object) =>
    (await route(more)).prices.find(({ method }: { method: string }) => method.startsWith('longest'))
      ?.parts[1].each
  expect(await feeOf()).toBe(75)
  expect(await patch({ amount: 110.5 })).toEqual({ amount: 110.5, currency: 'USD' })
  expect([await feeOf(), await feeOf({ stop_fee: 40 })]).toEqual([110.5, 40])
  expect(await patch({ currency: 'CAD' })).toEqual({ amount: 110.5, currency: 'CAD' })
  const { prices, sentence } = await route()
  expect(prices.map(({ method }: { method: string }) => method)).toEqual(['sum_of_legs'])
  expect(sentence).toContain('your stop fee is in Canadian dollars, and no exchange rate of today is entered')
  expect(await feeOf({ stop_fee: 40 })).toBe(40)
  const entered = await send('POST', '/api/exchange-rates', {
    rates: [{ day: new Date(now).toISOString().slice(0, 10), usd_per_cad: 0.72 }],
  })
  expect([entered.status, entered.body.errors]).toEqual([entered.status, undefined])
  expect(await feeOf()).toBe(79.56)
  for (const wrong of [{ amount: -1 }, { amount: 75.005 }, { currency: 'MXN' }]) {
    const answer = await send('PATCH', '/api/tenant', { stop_fee: wrong })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([
      422,
      `/stop_fee/${Object.keys(wrong)[0]}`,
    ])
  }
  await patch({ amount: 75, currency: 'USD' })
  const { events } = (await call(app, 'GET', '/api/audit?kind=settings-changed', { token: owner })).body
  expect(events[0].about).toEqual({
    before: { stop_fee_cents: 11_050, stop_fee_currency: 'CAD' },
    after: { stop_fee_cents: 7_500, stop_fee_currency: 'USD' },
  })
})

async function testedRule(token: string) {
  const body = { conditions: {}, terms: { minimum: { margin_pct: 20 } } }
  const answer = await call(app, 'POST', '/api/pricing-rule-tests', { token, body })
  expect([answer.status, answer.body.changed > 0]).toEqual([200, true])
  return JSON.parse(JSON.stringify(answer.body).replaceAll(/,"other_modes":\d+/g, ''))
}

test('the margin that rates missed and the test on history are of direct truckloads', {
  tags: 'long',
}, async () => {
  const own = await makeIntegration(app, 'quotes:write read')
  const { owner } = own.tenant
  const ended = async (path: string, query: Record<string, string> = {}) => {
    for (;;) {
      const answer = await get(path, query, owner)
      // While quotes have changed, an earlier result is shown.
      if (answer.status !== 'running' && answer.current !== false) {
        const text = JSON.stringify(answer).replaceAll(/,"other_modes":\d+/g, '')
        const { as_of: _, ...figures } = JSON.parse(text)
        return figures
      }
      await delay(25)
    }
  }
  const figures = async () => [
    await ended('/api/backtest'),
    ...(await Promise.all(
      (['won_too_low', 'not_worth'] as const).flatMap((kind) => [
        ...['lane', 'customer'].map((by) => ended('/api/performance/missed-margin', { by, kind })),
        ended('/api/performance/missed-margin/quotes', { kind }),
      ]),
    )),
    await testedRule(owner),
  ]
  const started = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'text/csv' },
    body: quotesFile({ seed: 5, quotes: 420, until: now, hours: 4 }),
  })
  const { import_id } = (await started.json()) as { import_id: number }
  expect(await ended(`/api/imports/${import_id}`)).toMatchObject({ rows_added: 420 })
  const before = await figures()
  const [, missed] = before
  expect(missed.judged).toBeGreaterThan(60)
  expect(missed.totals.won_too_low.quotes).toBeGreaterThan(0)
  expect((await pushSigned(app, own, pushQuotes, { quotes: others })).body).toMatchObject({ failed: 0 })
  // An earlier result is shown for ten minutes.
  app.now += 11 * 60_000
  const after = await figures()
  app.now = now
  for (const [nth, figure] of before.entries()) expect(after[nth]).toEqual(figure)
})

test('lists and their files select loads by mode or by stops', async () => {
  const { owner } = broker.tenant
  const total = async (path: string, query: Record<string, string>, token = owner) => {
    const { lanes, ...list } = await get(path, { limit: '200', ...query }, token)
    expect([query, lanes.length]).toEqual([query, list.total])
    // The same of a page that does not have all lanes.
    expect([query, (await get(path, { ...query, limit: '1' }, token)).total]).toEqual([query, list.total])
    return list.total
  }
  const won = quotes.filter(({ outcome }) => outcome === 'won').length
  const expected = { truckload: 96, partial: 3, ltl: 3, drayage: 3, intermodal: 3, multi_stop: 6 }
  for (const [mode, lanes] of Object.entries(expected)) {
    const booked = mode === 'truckload' ? won + 2 : lanes / 3
    expect([mode, await total('/api/lanes', { mode })]).toEqual([mode, lanes])
    expect([mode, await total('/api/shipments', { mode })]).toEqual([mode, booked])
    expect(await total('/api/integrations/shipments/search', { mode }, broker.token)).toBe(booked)
    for (const [path, rows] of [
      ['/api/lanes/export', lanes],
      ['/api/shipments/export', booked],
    ] as const) {
      const file = await fetch(`${app.url}${path}?mode=${mode}`, {
        headers: { authorization: `Bearer ${owner}` },
      })
      expect([path, mode, (await file.text()).trim().split('\r\n').length]).toEqual([path, mode, rows + 1])
    }
  }
  expect(await total('/api/lanes', { mode: 'truckload', destination: 'Denver, CO' })).toBe(33)
  const wrong = await call(app, 'GET', '/api/lanes?mode=rail', { token: owner })
  expect([wrong.status, wrong.body.errors[0].parameter]).toEqual([422, 'mode'])
})

test('an interface answer has no member about it, and a lane of direct truckloads has no note', async () => {
  const plain = await get('/api/integrations/insights/lane', lane, broker.token)
  expect(Object.keys(plain)).toEqual(['found', 'query', 'scope', 'history', 'scores', 'signals', 'summary'])
  const { basis } = await get(
    '/api/integrations/insights/lane',
    { origin: 'Memphis, TN', destination: 'Denver, CO', include: 'basis' },
    broker.token,
  )
  expect(basis).not.toHaveProperty('other_modes')
})

test('a quote moves out of the statistics with its mode, and back', async () => {
  const history = async () =>
    (await get('/api/integrations/insights/lane', { ...lane, equipment: 'V' }, broker.token)).history
  const before = await history()
  const signedAt = Math.floor(now / 1000)
  const push = (mode: string, later: number) =>
    pushSigned(app, broker, pushQuotes, { quotes: [{ external_id: 'T-3', mode }] }, signedAt + later)
  await push('ltl', 1)
  expect((await history()).total_quotes).toBe(before.total_quotes - 1)
  await push('truckload', 2)
  expect(await history()).toEqual(before)
})

test('a load that is no direct truckload has neither an expected cost nor a forecast, and its rate has no warning', async () => {
  const { owner } = broker.tenant
  const quote = async (more: object) => {
    const { status, body } = await call(app, 'POST', '/api/quote-requests', {
      token: owner,
      body: {
        customer_name: 'Harvest Table Foods',
        lanes: [{ ...lane, equipment: 'V', quoted_rate: 300, ...more }],
      },
    })
    expect([status, body.errors]).toEqual([201, undefined])
    return body.lanes[0]
  }
  const direct = await quote({})
  expect(direct.expected_cost).not.toBeNull()
  expect(direct.warnings).not.toEqual([])
  for (const more of [{ mode: 'ltl' }, { stops: ['Shreveport, LA'] }]) {
    expect(await quote(more)).toMatchObject({ expected_cost: null, warnings: [] })
  }
})

test('a load with stops is priced by the rates of its legs, to the cent; another mode is stored and not priced', async () => {
  const { owner } = broker.tenant
  const advise = async (...lanes: object[]) => {
    const { status, body } = await call(app, 'POST', '/api/advice/lanes', { token: owner, body: { lanes } })
    expect(status).toBe(200)
    return body.results
  }
  const load = { origin: 'Dallas, TX', destination: 'Denver, CO', equipment: 'V', quoted_rate: 300 }
  const [direct, stops, ltl, repeated, first, second] = await advise(
    load,
    { ...load, stops: ['Memphis, TN'], stop_fee: 75.05 },
    { ...load, mode: 'ltl' },
    { ...load, stops: ['Memphis, TN', 'Memphis, TN'] },
    { origin: 'Dallas, TX', destination: 'Memphis, TN', equipment: 'V' },
    { origin: 'Memphis, TN', destination: 'Denver, CO', equipment: 'V' },
  )
  expect(direct).not.toHaveProperty('route')
  const rates = [first.rules.rate, second.rules.rate]
  expect(rates.every((rate) => rate > 0)).toBe(true)
  expect(stops).toMatchObject({ status: 200, rate: 300, estimate: null, optimum: null, warnings: [] })
  expect(stops.route.legs).toMatchObject([
    { origin: 'Dallas, TX', destination: 'Memphis, TN', rate: rates[0] },
    { origin: 'Memphis, TN', destination: 'Denver, CO', rate: rates[1] },
  ])
  expect(stops.route.prices).toEqual([
    {
      method: 'sum_of_legs',
      parts: [0, 1].map((leg) => ({ leg, times: 1, each: rates[leg], amount: rates[leg] })),
      total: rates[0] + rates[1],
    },
    {
      method: 'longest_leg_plus_stop_fee',
      parts: [
        { leg: 1, times: 1, each: rates[1], amount: rates[1] },
        { leg: null, times: 1, each: 75.05, amount: 75.05 },
      ],
      total: Math.round(100 * rates[1] + 7505) / 100,
    },
  ])
  expect(ltl.route).toEqual({
    legs: [],
    prices: [],
    sentence: 'Stored, not priced: the rates are those of truckloads, and this load is LTL.',
  })
  expect(repeated).toMatchObject({ status: 422, errors: [{ pointer: '/stops/1', code: 'invalid' }] })
  const long = { ...load, stops: cities10 }
  const many = await advise(...Array.from({ length: 11 }, () => long))
  expect(many[10].route).toMatchObject({
    prices: [],
    sentence: 'Stored, not priced: at most 110 legs are priced at once.',
  })
})

const cities10 = [
  'Waco',
  'Austin',
  'Houston',
  'Tyler',
  'Lubbock',
  'Abilene',
  'Midland',
  'Odessa',
  'Amarillo',
  'Laredo',
].map((city) => `${city}, TX`)
