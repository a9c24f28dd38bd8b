import { beforeAll, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { call, type Integration, makeIntegration, pushSigned, quoteToPush } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

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
  app = await sharedApp()
  broker = await makeIntegration(app, 'quotes:write read')
  const pushed = await pushSigned(app, broker, pushQuotes, { quotes })
  expect([pushed.status, pushed.body.results.length]).toEqual([200, 40])
})

const get = async (path: string, query: Record<string, string>, token: string) => {
  const { status, body } = await call(app, 'GET', `${path}?${new URLSearchParams(query)}`, { token })
  expect(status).toBe(200)
  return body
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
  // Without a rate type, a person gets the default type, and so does a machine whose pool is all.
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
