import { afterAll, beforeAll, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { performanceGroupings } from '#contract/performance.ts'
import { pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import type { RateType } from '#engine/rate-type.ts'
import { call, type Integration, makeIntegration, pushSigned, quoteToPush } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let broker: Integration

/** Spot quotes around $2,000, some of which do not say their type, and contract quotes around $1,000. */
const quotes = Array.from({ length: 40 }, (_, n) => ({
  ...quoteToPush(`T-${n}`, {
    origin: 'Dallas, TX',
    destination: 'Atlanta, GA',
    equipment: 'V',
    quoted_rate: (n % 2 === 0 ? 2000 : 1000) + 5 * n,
    outcome: n % 4 < 2 ? 'won' : 'lost',
    ...(n % 2 === 1 ? { rate_type: 'contract' } : n % 3 === 0 ? { rate_type: 'spot' } : {}),
  }),
}))

beforeAll(async () => {
  app = await testApp()
  broker = await makeIntegration(app, 'quotes:write read')
  const pushed = await pushSigned(app, broker, pushQuotes, { quotes })
  expect([pushed.status, pushed.body.results.length]).toEqual([200, 40])
})
afterAll(() => app.close())

const get = async (path: string, query: Record<string, string>, token: string) => {
  const { status, body } = await call(app, 'GET', `${path}?${new URLSearchParams(query)}`, { token })
  expect(status).toBe(200)
  return body
}
/** A brokerage with 24 spot quotes around $2,000 and 16 contract quotes around $1,000, or with those of one type. */
async function brokerOf(pool: RateType | undefined): Promise<Integration> {
  const made = await makeIntegration(app, 'integrations:write quotes:write read')
  const load = (rate_type: RateType, n: number) => ({
    ...quoteToPush(`${rate_type}-${n}`, lane),
    rate_type,
    quoted_rate: (rate_type === 'spot' ? 2000 : 1000) + 5 * n,
    estimated_cost: (rate_type === 'spot' ? 1700 : 900) + 3 * n,
    quoted_at: new Date(app.now - (40 - n) * 86_400_000).toISOString(),
    // A customer that has quotes of one type only.
    ...(rate_type === 'spot' && n < 3 ? { customer_name: 'Polar' } : {}),
    outcome: n % (rate_type === 'spot' ? 2 : 4) === 0 ? 'won' : 'lost',
  })
  const loads = [
    ...Array.from({ length: 24 }, (_, n) => load('spot', n)),
    ...Array.from({ length: 16 }, (_, n) => load('contract', n)),
  ].filter(({ rate_type }) => pool === undefined || rate_type === pool)
  const pushed = await pushSigned(app, made, pushQuotes, { quotes: loads })
  expect([pushed.status, pushed.body.failed]).toEqual([200, 0])
  const updates = loads
    .filter(({ outcome }) => outcome === 'won')
    .map(({ external_id, quoted_rate, estimated_cost }) => ({
      external_id,
      customer_rate: quoted_rate - 10,
      truck_cost: estimated_cost + quoted_rate / 50,
      carrier_name: 'Bluebonnet Carriers',
    }))
  const booked = await pushSigned(app, made, pushShipmentUpdates, { updates })
  expect([booked.status, booked.body.failed]).toEqual([200, 0])
  const as_of = new Date(app.now - 45 * 86_400_000).toISOString()
  const market = { ...lane, basis: 'all_in', mid: 1500, source: 'DAT', as_of }
  const { body } = await call(app, 'POST', '/api/market-rates', {
    token: made.tenant.owner,
    body: { rates: [market, { ...market, kind: 'sell', mid: 1600 }] },
  })
  expect(body.failed).toBe(0)
  return made
}

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const asMachine = (name: string, query: Record<string, string> = {}) =>
  get(`/api/integrations/insights/${name}`, { ...lane, ...query }, broker.token)
const asPerson = (path: string, query: Record<string, string> = {}) => get(path, query, broker.tenant.owner)
const setTenant = (body: object) => call(app, 'PATCH', '/api/tenant', { token: broker.tenant.owner, body })

test('the integration interface counts the quotes of the setting, and those that a call names', async () => {
  const rates = async (query: Record<string, string> = {}) => {
    const { rate_band: band, pool } = await asMachine('markup', {
      proposed_rate: '1500',
      include: 'pool',
      ...query,
    })
    return [band.floor, band.ceiling, pool.rate_type, pool.because]
  }
  const counts = { spot: 20, contract: 20 }
  expect((await asMachine('lane', { include: 'pool' })).pool.quotes).toEqual(counts)
  expect(await rates()).toEqual([1005, 2190, 'all', 'integration_pool'])
  expect(await rates({ rate_type: 'spot' })).toEqual([2000, 2190, 'spot', 'rate_type'])
  expect(await rates({ rate_type: 'contract' })).toEqual([1005, 1195, 'contract', 'rate_type'])
  await setTenant({ integration_pool: 'contract' })
  expect(await rates()).toEqual([1005, 1195, 'contract', 'integration_pool'])
  expect((await asMachine('lane')).history).toMatchObject({ total_quotes: 20, avg_rate_usd: 1100 })
  await setTenant({ integration_pool: 'all' })
  expect((await asMachine('lane')).history.total_quotes).toBe(40)
  // Without include, an answer has no other member.
  expect((await asMachine('markup', { proposed_rate: '1500' })).pool).toBeUndefined()
})

test('an estimate is of spot or of contract quotes, and names them', async () => {
  const estimate = async (rate_type: string) =>
    (await asPerson('/api/advice/markup', { ...lane, rate_type, proposed_rate: '1500', include: 'estimate' }))
      .estimate
  const [spot, contract] = [await estimate('spot'), await estimate('contract')]
  expect([spot.pool.rate_type, spot.pool.answered_by]).toEqual(['spot', 'spot'])
  expect([contract.pool.rate_type, contract.pool.answered_by]).toEqual(['contract', 'contract'])
  expect(spot.reference_rate).toBeGreaterThan(1900)
  expect(contract.reference_rate).toBeLessThan(1300)
  expect(contract.pool.borrowed.lanes_of_both).toBe(1)
  expect(contract.sentence).toContain('from spot quotes')
  // A person who does not say the type asks about the default, and so does a machine whose pool is all.
  expect((await estimate('all')).pool.rate_type).toBe('spot')
})

test('a change of the default moves the quotes that do not say their type, in statistics, lists and files', async () => {
  const spotQuotes = async () => {
    const { totals } = await asPerson('/api/performance', { by: 'lane', rate_type: 'spot' })
    const listed = await asPerson('/api/lanes', { rate_type: 'spot' })
    const record = await asPerson('/api/lane-record', {
      origin: lane.origin,
      destination: lane.destination,
      rate_type: 'spot',
    })
    const { customers } = await asPerson('/api/customers/list', { rate_type: 'spot' })
    const sum = customers.reduce((all: number, one: { quotes: number }) => all + one.quotes, 0)
    return [totals.quotes, listed.total, record.points_total, sum]
  }
  expect(await spotQuotes()).toEqual([20, 20, 20, 20])
  const files = async (): Promise<string[]> => (await asPerson('/api/lanes/export')).split('\n')
  expect((await files()).filter((line) => line.includes(',spot,'))).toHaveLength(20)
  await setTenant({ default_rate_type: 'contract' })
  const said = quotes.filter((quote) => 'rate_type' in quote && quote.rate_type === 'spot').length
  expect(await spotQuotes()).toEqual([said, said, said, said])
  expect((await files()).filter((line) => line.includes(',spot,'))).toHaveLength(said)
  await setTenant({ default_rate_type: 'spot' })
})

/** The parameters with which the endpoints that filter by rate type are asked. */
const asked: Readonly<Record<string, readonly Record<string, string>[]>> = {
  markup: [{ ...lane, proposed_rate: '1500', include: 'evidence', evidence_limit: '100' }],
  'lane-insight': [lane],
  'quote-advice': [{ ...lane, proposed_rate: '1500' }],
  'lane-advice': [lane],
  'search-shipments': [{}],
  'list-lanes': [{ limit: '100' }, { outcome: 'won' }],
  'export-lanes': [{}],
  'lane-record': [lane],
  'list-shipments': [{}],
  'export-shipments': [{}],
  'list-customers': [{}],
  'export-customers': [{}],
  'get-customer': [{ name: 'Harvest Table Foods' }],
  'get-performance': performanceGroupings.map((by) => ({ by })),
  'export-performance': performanceGroupings.map((by) => ({ by })),
  'list-margin-gaps': [{}],
  'get-market-standing': [{}],
  'export-market-standing': [{}],
  // With so few quotes, these say that it is too early to judge. Their own tests have more.
  'get-missed-margin': [],
  'list-missed-quotes': [],
  'export-missed-margin': [],
}

/** What differs between brokerages with the same quotes: numbers and names that the service gives. */
const given = new Set([
  'lane_ref',
  'lane_id',
  'request_id',
  'updated_at',
  'user_id',
  'key',
  'customer_id',
  'pool',
])
const withoutGiven = (answer: unknown): unknown =>
  typeof answer === 'string'
    ? answer
        .replaceAll(/\d+-1-1|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
        .split('\n')
        .toSorted()
    : JSON.parse(JSON.stringify(answer, (name, value) => (given.has(name) ? undefined : value)))

test('every list, statistic and file answers about a type as a brokerage without the other type', async () => {
  const all: readonly Endpoint[] = allEndpoints
  const walked = all.filter(({ query }) => Object.hasOwn(query?.properties ?? {}, 'rate_type'))
  expect(walked.map(({ name }) => name).toSorted()).toEqual(Object.keys(asked).toSorted())
  const [both, ofSpot, ofContract] = [
    await brokerOf(undefined),
    await brokerOf('spot'),
    await brokerOf('contract'),
  ]
  const answers = async (integration: Integration, type: RateType | undefined) => {
    const found: Record<string, unknown> = {}
    for (const { name, path, who } of walked)
      for (const query of asked[name] ?? []) {
        const token = who.kind === 'service' ? integration.token : integration.tenant.owner
        const answer = await get(
          path,
          { ...query, ...(type === undefined ? {} : { rate_type: type }) },
          token,
        )
        found[`${name} ${JSON.stringify(query)}`] = withoutGiven(answer)
      }
    return found
  }
  const [spot, contract] = [await answers(both, 'spot'), await answers(both, 'contract')]
  const [spotAlone, contractAlone] = [await answers(ofSpot, undefined), await answers(ofContract, 'contract')]
  for (const name of Object.keys(spot)) {
    expect([name, spot[name]]).toEqual([name, spotAlone[name]])
    expect([name, contract[name]]).toEqual([name, contractAlone[name]])
    // No endpoint ignores the type.
    expect([name, spot[name]]).not.toEqual([name, contract[name]])
  }
  const polar = { name: 'polar', rate_type: 'contract' }
  const { name, totals } = await get('/api/customers/record', polar, both.tenant.owner)
  expect([name, totals.quotes]).toEqual(['Polar', 0])
  const counted = async (by: string) =>
    (await get('/api/performance', { by }, both.tenant.owner)).rows.map(
      ({ label, quotes, won }: Record<string, unknown>) => [label, quotes, won],
    )
  expect(await counted('rate_type')).toEqual([
    ['spot', 24, 12],
    ['contract', 16, 4],
  ])
})
