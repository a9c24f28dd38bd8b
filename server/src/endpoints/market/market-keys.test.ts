import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Config } from '#server/configuration/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** A server with the two addresses of the provider, in the form of its published API. No account of the provider is used. */
interface Request {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}
const requests: Request[] = []
const json = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
const token = { access_token: 'made.up.token', expires_in: 3600, token_type: 'Bearer', scope: '' }
const rates = {
  id: '5f0c1d7e-64b1-4a5e-9d62-0d6f3a1f8c11',
  targetBuyRate: 2.5,
  lowBuyRate: 2.25,
  highBuyRate: 2.75,
  startBuyRate: 2.2,
  fuelRate: 0.4,
  distance: 800,
  confidenceLevel: 71,
  acceptanceRates: [],
  tag: 'a-tag',
  currency: 'USD',
}
let answer = (response: ServerResponse, path: string): void =>
  json(response, 200, path.endsWith('/token') ? token : rates)
const provider = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const path = request.url ?? ''
    const body = Buffer.concat(chunks).toString('utf8')
    requests.push({ path, authorization: request.headers.authorization, body })
    answer(response, path)
  })
})

let marketAdapters: Config['marketAdapters']
let app: TestApp
let tenant: MadeTenant
beforeAll(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const urls = { greenscreensUrl: url, datIdentityUrl: url, datAnalyticsUrl: `${url}/analytics` }
  marketAdapters = { ...urls, allowPrivate: ['127.0.0.1'] }
  app = await testApp({ config: { marketAdapters } })
})
afterAll(async () => {
  await app.close()
  provider.close()
  provider.closeAllConnections()
})
beforeEach(async () => {
  requests.length = 0
  answer = (response, path) => json(response, 200, path.endsWith('/token') ? token : rates)
  tenant = await makeTenant(app)
})

const owner = (method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: tenant.owner, ...(body === undefined ? {} : { body }) })
const keyOf = () => ({
  adapter: 'greenscreens',
  client_id: `id ${tenant.id}`,
  client_secret: 'a secret & more',
})
const setKey = () => owner('POST', '/api/market-keys', keyOf())
const look = async (lane = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V') =>
  (await owner('GET', `/api/advice/markup?${lane}&proposed_rate=2150&include=market`)).body
const state = async () => (await owner('GET', '/api/market-keys')).body.keys[0]
const stored = async () => (await owner('GET', '/api/market-rates')).body.rates
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 20 })

test('a lane without a fresh rate is asked about once, after the answer, and the next answer has its rate', async () => {
  const set = await setKey()
  expect(set.body.keys).toMatchObject([
    { adapter: 'greenscreens', available: true, failure: null },
    { adapter: 'dat', set_at: null },
  ])
  expect(JSON.stringify(set.body)).not.toContain('a secret')
  expect((await look()).market.market).toBeNull()
  await until(async () => expect(await stored()).toHaveLength(1))
  expect((await look()).market.market).toMatchObject({
    source: 'Greenscreens',
    basis: 'all_in',
    kind: 'buy',
    low: 1800,
    mid: 2000,
    high: 2200,
    state: 'usable',
  })
  expect(requests.map(({ path }) => path)).toEqual(['/v1/auth/token', '/v3/prediction/rates'])
  const [asked, predicted] = requests
  expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
    grant_type: 'client_credentials',
    client_id: `id ${tenant.id}`,
    client_secret: 'a secret & more',
  })
  expect(predicted?.authorization).toBe('Bearer made.up.token')
  expect(JSON.parse(predicted?.body ?? '')).toMatchObject({
    transportType: 'VAN',
    stops: [
      { order: 0, country: 'US', city: 'Dallas', state: 'TX' },
      { order: 1, country: 'US', city: 'Atlanta', state: 'GA' },
    ],
    currency: 'USD',
  })
  expect(await state()).toMatchObject({ failure: null, answered_at: expect.any(String) })
  // After an erasure, the lane is asked about again, with the same access token.
  await owner('DELETE', '/api/market-rate-sources/Greenscreens')
  await look()
  await until(async () => expect(await stored()).toHaveLength(1))
  expect(requests).toHaveLength(3)
  // Without a key, no more calls are made.
  expect((await owner('DELETE', '/api/market-keys?adapter=greenscreens')).body.keys[0].set_at).toBeNull()
  await owner('DELETE', '/api/market-rate-sources/Greenscreens')
  await look()
  expect(await stored()).toEqual([])
  expect(requests).toHaveLength(3)
  const { body } = await owner('GET', '/api/audit?group=brokerage')
  expect(body.events.map(({ kind }: { kind: string }) => kind)).toEqual(
    expect.arrayContaining(['market-key-set', 'market-key-removed']),
  )
  expect(JSON.stringify(body)).not.toContain('a secret')
})

const lanesFrom = (...origins: string[]) =>
  origins.map((origin) => `origin=${origin},%20TX&destination=Atlanta,%20GA&equipment=V`)
const [fromDallas = '', fromHouston = '', fromAustin = ''] = lanesFrom('Dallas', 'Houston', 'Austin')
const calls = async () => {
  const { body } = await owner('GET', '/api/market-keys')
  return [body.calls_today, body.calls_per_day]
}
const permit = (market_calls_per_day: number) => owner('PATCH', '/api/tenant', { market_calls_per_day })

test('a brokerage makes at most its calls of the day, over all instances; the answer says when they are used', async () => {
  const before = app.now
  // Four hours before midnight UTC.
  app.now = Math.ceil(app.now / 86_400_000) * 86_400_000 + 20 * 3_600_000
  tenant = await makeTenant(app)
  await setKey()
  expect(await calls()).toEqual([0, 500])
  expect((await permit(2)).body.market_calls_per_day).toBe(2)
  const another = await appOn(app.testDatabase, {
    config: { marketAdapters },
    secretKeys: [app.secretKey],
    now: app.now,
  })
  try {
    await look(fromDallas)
    await until(async () => expect(await calls()).toEqual([1, 2]))
    const { body: elsewhere } = await call(
      another,
      'GET',
      `/api/advice/markup?${fromHouston}&proposed_rate=2150&include=market`,
      { token: tenant.owner },
    )
    expect(elsewhere.market.market_why).not.toContain('No provider is asked')
    await until(async () => expect(await stored()).toHaveLength(2))
  } finally {
    await another.close()
  }
  expect((await look(fromAustin)).market).toMatchObject({
    market: null,
    market_why: expect.stringMatching(
      /No provider is asked until midnight UTC: your brokerage permits 2 calls per day, and all are used\.$/,
    ),
  })
  // A lane with a fresh rate needs no call.
  expect((await look(fromDallas)).market.market_why).not.toContain('No provider is asked')
  const asked = () => requests.filter(({ path }) => path === '/v3/prediction/rates').length
  expect([asked(), await calls()]).toEqual([2, [2, 2]])
  app.now += 4 * 3_600_000
  await look(fromAustin)
  await until(async () => expect(await stored()).toHaveLength(3))
  expect([asked(), await calls()]).toEqual([3, [1, 2]])
  app.now = before
})

test('calls that are begun at once do not exceed the calls of the day', async () => {
  await setKey()
  await permit(1)
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
  answer = (response, path) =>
    void isOpen.then(() => json(response, 200, path.endsWith('/token') ? token : rates))
  const asked = await Promise.all([fromDallas, fromHouston, fromAustin].map((lane) => look(lane)))
  expect(asked.map(({ market }) => market.market)).toEqual([null, null, null])
  open()
  await until(async () => expect(await stored()).toHaveLength(1))
  expect(await calls()).toEqual([1, 1])
  expect(requests.filter(({ path }) => path === '/v3/prediction/rates')).toHaveLength(1)
})

test('with 0, no call is made, and the answer says so', async () => {
  await setKey()
  await permit(0)
  expect((await look()).market.market_why).toMatch(
    /No provider is asked: your brokerage permits no calls \(market_calls_per_day is 0\)\.$/,
  )
  expect([await calls(), requests]).toEqual([[0, 0], []])
  for (const wrong of [-1, 1.5, 20_001, null]) {
    expect((await owner('PATCH', '/api/tenant', { market_calls_per_day: wrong })).status).toBe(422)
  }
  const { body } = await owner('GET', '/api/audit?group=brokerage')
  expect(body.events[0]).toMatchObject({
    kind: 'settings-changed',
    about: { before: { market_calls_per_day: 500 }, after: { market_calls_per_day: 0 } },
  })
})

test('a refused key is not used again for an hour, unless it is replaced', async () => {
  answer = (response) => json(response, 401, {})
  await setKey()
  await look()
  await until(async () => expect((await state()).failure).toBe('The key was refused.'))
  const { failed_at, retry_at } = await state()
  expect(Date.parse(retry_at) - Date.parse(failed_at)).toBe(3_600_000)
  await look()
  expect(requests).toHaveLength(1)
  answer = (response, path) => json(response, 200, path.endsWith('/token') ? token : rates)
  await setKey()
  await look()
  await until(async () => expect(await stored()).toHaveLength(1))
})

test.each([
  ['an outage', 503, {}, 'The provider answered with the status 503.'],
  ['no rate in the answer', 200, { currency: 'USD' }, 'The answer has no positive lowBuyRate'],
  ['a rate of $100 per mile', 200, { ...rates, targetBuyRate: 100, highBuyRate: 101 }, 'was refused: mid'],
  ['a redirect to another address', 302, {}, 'Redirects are not followed.'],
])('%s is shown, and stores nothing', async (_, status, body, failure) => {
  answer = (response, path) =>
    path.endsWith('/token') ? json(response, 200, token) : json(response, status, body)
  await setKey()
  await look()
  await until(async () => expect((await state()).failure).toContain(failure))
  expect(await stored()).toEqual([])
})

test('a lane that the provider does not cover is not a failure, and is not asked about again', async () => {
  answer = (response, path) =>
    path.endsWith('/token')
      ? json(response, 200, token)
      : json(response, 422, { code: 'request_validation', message: 'No', errors: [] })
  await setKey()
  await look()
  await until(async () => expect((await state()).answered_at).not.toBeNull())
  await look()
  await look('origin=Laredo,%20TX&destination=Monterrey,%20NLE&equipment=V')
  await look('origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=HH')
  expect(await state()).toMatchObject({ failure: null })
  expect(requests).toHaveLength(2)
})

describe('DAT', () => {
  const day = 86_400_000
  const tokenOf = (name: string) => ({
    accessToken: `made.up.${name}`,
    expiresWhen: new Date(Date.now() + day).toISOString(),
  })
  /** An answer in the form of the rate lookups. */
  const lookup = {
    rateResponses: [
      {
        response: {
          rate: {
            mileage: 800,
            reports: 21,
            companies: 9,
            standardDeviation: 0.2,
            perMile: { rateUsd: 2, highUsd: 2.25, lowUsd: 1.75 },
            averageFuelSurchargePerMileUsd: 0.4,
            perTrip: { rateUsd: 1600, highUsd: 1800, lowUsd: 1400 },
            averageFuelSurchargePerTripUsd: 320,
          },
          escalation: {
            timeframe: '7_DAYS',
            origin: { name: 'Dallas Mkt', type: 'MARKET_AREA' },
            destination: { name: 'Atlanta Mkt', type: 'MARKET_AREA' },
          },
        },
      },
    ],
  }
  const answering = (rate: object, status = 200) => {
    answer = (response, path) =>
      path.endsWith('/organization')
        ? json(response, 200, tokenOf('organization'))
        : path.endsWith('/user')
          ? json(response, 200, tokenOf('user'))
          : json(response, status, rate)
  }
  const setDat = () =>
    owner('POST', '/api/market-keys', {
      adapter: 'dat',
      client_id: 'service@example.com',
      client_secret: 'a secret & more',
      user: 'rep@example.com',
    })
  const datState = async () => (await owner('GET', '/api/market-keys')).body.keys[1]

  test('is asked with a token of the user, and its linehaul rate is compared with its own fuel surcharge', async () => {
    answering(lookup)
    expect((await setDat()).status).toBe(200)
    await look()
    await until(async () => expect(await stored()).toHaveLength(1))
    expect((await look()).market.market).toMatchObject({
      source: 'DAT',
      basis: 'linehaul',
      kind: 'buy',
      low: 1400,
      mid: 1600,
      high: 1800,
      fuel: 320,
      compared: 1920,
      converted_by: 'charges',
      sample: 21,
      state: 'usable',
    })
    expect(requests.map(({ path }) => path)).toEqual([
      '/access/v1/token/organization',
      '/access/v1/token/user',
      '/analytics/linehaulrates/v1/lookups',
    ])
    expect(requests[1]?.authorization).toBe('Bearer made.up.organization')
    expect(requests[2]?.authorization).toBe('Bearer made.up.user')
    expect(JSON.parse(requests[2]?.body ?? '')).toMatchObject([
      {
        origin: { city: 'Dallas', stateOrProvince: 'TX' },
        destination: { city: 'Atlanta', stateOrProvince: 'GA' },
        rateType: 'SPOT',
        equipment: 'VAN',
      },
    ])
  })

  test.each([
    ['no rate in the answer', 200, { rateResponses: [] }, 'The answer has no rateResponses.'],
    ['a rate without an amount', 200, { rateResponses: [{ response: { rate: {} } }] }, 'no positive perTrip'],
    ['an outage', 502, {}, 'The provider answered with the status 502.'],
  ])('%s is shown, and stores nothing', async (_, status, body, failure) => {
    answering(body, status)
    await setDat()
    await look()
    await until(async () => expect((await datState()).failure).toContain(failure))
    expect(await stored()).toEqual([])
  })

  test('a key without a user is refused', async () => {
    const { status, body } = await owner('POST', '/api/market-keys', { ...keyOf(), adapter: 'dat' })
    expect([status, body.errors[0].pointer]).toEqual([422, '/user'])
    expect((await owner('POST', '/api/market-keys', { ...keyOf(), user: 'x' })).status).toBe(422)
  })
})

describe('a provider that misbehaves', () => {
  const html = (response: ServerResponse) =>
    void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html><title>Sign in</title></html>')

  test('is shown with a failure in words, and stores nothing', async () => {
    const attacks: readonly (readonly [string, (response: ServerResponse) => void])[] = [
      ['something else than JSON', html],
      [
        'something else than JSON',
        (response) => json(response, 200, { ...rates, pad: 'x'.repeat(2_000_000) }),
      ],
      [
        'Redirects are not followed',
        (response) => void response.writeHead(307, { Location: 'http://169.254.169.254/latest' }).end(),
      ],
      ['', (response) => void response.destroy()],
      ['was refused: currency', (response) => json(response, 200, { ...rates, currency: 'E'.repeat(9_000) })],
      ['no positive lowBuyRate', (response) => json(response, 200, { ...rates, targetBuyRate: -2 })],
      ['its miles are 1287', (response) => json(response, 200, { ...rates, distance: 1287 })],
    ]
    for (const [index, [words, attack]] of attacks.entries()) {
      answer = (response, path) => (path.endsWith('/token') ? json(response, 200, token) : attack(response))
      await setKey()
      // A lane whose rate was refused is not asked about again.
      await look(`origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=${'VVVVVRF'[index]}`)
      await until(async () => expect((await state()).failure).toEqual(expect.stringContaining(words)))
      expect((await state()).failure.length).toBeLessThan(600)
    }
    expect(await stored()).toEqual([])
    const shown = JSON.stringify([await state(), (await owner('GET', '/api/audit?group=brokerage')).body])
    expect(shown).not.toContain('a secret')
    expect(shown).not.toContain('made.up.token')
  })

  test('Retry-After is obeyed', async () => {
    answer = (response) => void response.writeHead(429, { 'Retry-After': '7200' }).end()
    await setKey()
    await look()
    await until(async () => expect((await state()).failure).toContain('too many requests'))
    const { failed_at, retry_at } = await state()
    expect(Date.parse(retry_at) - Date.parse(failed_at)).toBe(7_200_000)
  })

  test('a token that ends early is renewed once, and the key is not refused', async () => {
    await setKey()
    await look()
    await until(async () => expect(await stored()).toHaveLength(1))
    let isEnded = true
    answer = (response, path) => {
      if (path.endsWith('/token')) isEnded = false
      json(response, isEnded ? 401 : 200, path.endsWith('/token') ? token : rates)
    }
    await look('origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=R')
    await until(async () => expect(await stored()).toHaveLength(2))
    expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual([
      'token',
      'rates',
      'rates',
      'token',
      'rates',
    ])
    expect(await state()).toMatchObject({ failure: null })
  })

  test('the answer to a call whose key was removed meanwhile is not stored', async () => {
    const held: ServerResponse[] = []
    answer = (response, path) =>
      path.endsWith('/token') ? json(response, 200, token) : void held.push(response)
    await setKey()
    await look()
    await until(async () => expect(held).toHaveLength(1))
    await owner('DELETE', '/api/market-keys?adapter=greenscreens')
    app.now += 1000
    await setKey()
    for (const response of held) json(response, 200, rates)
    answer = (response, path) => json(response, 200, path.endsWith('/token') ? token : rates)
    await look('origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=R')
    await until(async () => expect(await stored()).toMatchObject([{ equipment: 'R' }]))
  })

  test('a key with a line break is refused', async () => {
    const wrong = await owner('POST', '/api/market-keys', { ...keyOf(), client_secret: 'a\r\nX-Other: b' })
    expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([422, '/client_secret'])
  })
})

test('only an admin reads or sets keys, and a wrong adapter is named', async () => {
  const { token: member } = await makePerson(app, tenant, 'member')
  expect((await call(app, 'GET', '/api/market-keys', { token: member })).status).toBe(403)
  const wrong = await owner('POST', '/api/market-keys', { ...keyOf(), adapter: 'other' })
  expect(wrong.status).toBe(422)
  expect(JSON.stringify(wrong.body)).toContain('greenscreens')
})
