import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { batchLanesMax, batchSecondsMax } from '#contract/limits.ts'
import { call, type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: Integration
let other: Integration

const known = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  await makeQuote(app, acme.tenant, { rate: 1900, outcome: 'won' })
  await makeQuote(app, acme.tenant, { rate: 2000, outcome: 'won' })
  await makeQuote(app, acme.tenant, { rate: 2300, outcome: 'lost' })
})

const batch = (body: unknown, { token }: Pick<Integration, 'token'> = acme) =>
  call(app, 'POST', '/api/integrations/insights/batch', { token, body })

const read = (name: string, query: Record<string, string | number>) => {
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)])),
  )
  return call(app, 'GET', `/api/integrations/insights/${name}?${text}`, { token: acme.token })
}

describe('200', () => {
  test('the answers for a lane equal those of the two reads', async () => {
    const lane = { ...known, proposed_rate: 2050, market_rate: 2100 }
    const { status, body } = await batch({ lanes: [lane], answers: ['markup', 'lane'] })
    expect(status).toBe(200)
    expect(body).toEqual({
      count: 1,
      results: [
        {
          index: 0,
          status: 200,
          markup: (await read('markup', lane)).body,
          lane: (await read('lane', known)).body,
        },
      ],
    })
  })

  test('without a proposed rate the suggested rate is used, and echoed', async () => {
    const { body } = await batch({ lanes: [known] })
    const { query, suggested_rate } = body.results[0].markup
    expect(query.proposed_rate).toBe(suggested_rate)
    const asRead = await read('markup', { ...known, proposed_rate: suggested_rate })
    expect(body.results[0].markup).toEqual(asRead.body)
  })

  test('an unknown lane is found: false, also without a rate', async () => {
    const { body } = await batch({ lanes: [{ origin: 'Reno, NV', destination: 'Boise, ID' }] })
    expect(body.results[0].markup).toEqual({
      found: false,
      query: {
        origin: 'Reno, NV',
        destination: 'Boise, ID',
        equipment: null,
        proposed_rate: null,
        market_rate: null,
      },
      confidence: 'none',
    })
  })

  test('the results are in the order of the lanes, each with its id; an invalid lane does not affect the others', async () => {
    const lanes = [
      { id: 'a', ...known, proposed_rate: 2000 },
      { id: 'b', origin: 'Dalas, TX', destination: 'Nowhere' },
      7,
      { id: 'c', ...known, proposed_rate: -1 },
      { id: 'd\n', ...known },
      { id: 'e', origin: 'Dallas, ZZ', destination: 'Atlanta, GA' },
      { id: 'f', ...known, equipment: null, market_rate: null },
    ]
    const { body } = await batch({ lanes })
    expect(body.count).toBe(2)
    expect(
      body.results.map(({ index, id, status }: { index: number; id?: string; status: number }) => [
        index,
        id,
        status,
      ]),
    ).toEqual([
      [0, 'a', 200],
      [1, 'b', 422],
      [2, undefined, 422],
      [3, 'c', 422],
      [4, undefined, 422],
      [5, 'e', 422],
      [6, 'f', 200],
    ])
    expect(body.results[1].errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/destination',
    ])
    expect(body.results[3].detail).toMatch(/^proposed_rate must be a number of dollars greater than 0/)
    expect(body.results[5].errors[0]).toMatchObject({ pointer: '/origin', code: 'invalid' })
  })

  test('another brokerage is answered from its own quotes only', async () => {
    const { body } = await batch({ lanes: [known], answers: ['markup', 'lane'] }, other)
    expect(body.results[0]).toMatchObject({ markup: { found: false }, lane: { found: false } })
  })
})

describe('422', () => {
  test.each([
    ['no lanes', { lanes: [] }, '/lanes'],
    ['lanes that are no list', { lanes: known }, '/lanes'],
    ['no body', {}, '/lanes'],
    ['an answer that is not known', { lanes: [known], answers: ['weather'] }, '/answers/0'],
    ['too many lanes', { lanes: Array(batchLanesMax + 1).fill(known) }, '/lanes'],
  ])('%s', async (_, body, pointer) => {
    const answer = await batch(body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors[0].pointer).toBe(pointer)
  })
})

describe('the limit', () => {
  const clock = { now: 1_000_000 }
  let limited: TestApp
  let ours: Integration
  const lanes = (count: number) => ({ lanes: Array(count).fill({ ...known, proposed_rate: 2000 }) })
  const price = (count: number) =>
    call(limited, 'POST', '/api/integrations/insights/batch', { token: ours.token, body: lanes(count) })
  const remaining = async () =>
    (await call(limited, 'GET', '/api/rate-limit', { token: ours.tenant.owner })).body.remaining

  beforeAll(async () => {
    limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
    ours = await makeIntegration(limited)
  })
  afterAll(() => limited.close())
  beforeEach(() => {
    clock.now += 60_000
  })

  test('each hundred lanes count as one request, and half of the limit stays available to others', async () => {
    const pricing = price(batchLanesMax)
    await expect.poll(remaining).toBe(5)
    const path = `/api/integrations/insights/lane?${new URLSearchParams(known)}`
    const beside = []
    for (let nth = 0; nth < 6; nth++) beside.push(await call(limited, 'GET', path, { token: ours.token }))
    expect(beside.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    clock.now += 1_000
    const { status, body } = await pricing
    expect([status, body.count]).toEqual([200, batchLanesMax])
    expect(await remaining()).toBe(5)
  })

  test('a partial hundred counts as one request', async () => {
    expect((await price(101)).body.count).toBe(101)
    expect(await remaining()).toBe(8)
  })

  test('a batch is refused if a single request would be', async () => {
    for (let nth = 0; nth < 10; nth++) await price(1)
    const { status, headers } = await price(1)
    expect([status, headers.get('Retry-After')]).toEqual([429, '1'])
  })

  test('lanes that were not reached in time are marked for a retry, and the rest is answered', async () => {
    const pricing = price(700)
    await expect.poll(remaining).toBe(5)
    clock.now += batchSecondsMax * 1000
    const { status, body } = await pricing
    expect([status, body.results.length]).toEqual([200, 700])
    // The fifth hundred may still be computed, because it has its permit.
    const statuses: number[] = body.results.map((one: { status: number }) => one.status)
    expect(statuses.filter((one) => one === 200)).toHaveLength(body.count)
    expect(new Set(statuses.slice(0, 400))).toEqual(new Set([200]))
    expect(new Set(statuses.slice(500))).toEqual(new Set([503]))
    expect(body.results[500]).toMatchObject({ index: 500, status: 503 })
  })
})
