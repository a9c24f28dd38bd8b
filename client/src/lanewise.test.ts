import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { problemScene, type ScriptedServer, scriptedServer } from '../testing/scripted-server.ts'
import {
  bodyBytes,
  debounce,
  isLanewiseFailure,
  Lanewise,
  type LanewiseEvent,
  type LanewiseFailure,
  type LanewiseOptions,
  signatureHeaders,
} from './index.ts'
import { defaultPatience, waitMs } from './retry.ts'

const offer = { origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2150 } as const
const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' } as const
const secret = 'lwsec_BGnd5fHs5RUZ4PyZ1a1zR1tzQPe8vwxEfaxkz0AuHsB1YxORM'
const token = 'made-up-token'
const ok = { status: 200, body: { found: false, confidence: 'none' } }
const done = { status: 200, body: { status: 'ok', lane_id: 7, updated: true } }

let server: ScriptedServer
beforeAll(async () => {
  server = await scriptedServer()
})
afterAll(() => server.close())

function client(options: Partial<LanewiseOptions> = {}): Lanewise {
  return new Lanewise({
    baseUrl: server.url,
    token,
    secret,
    ...options,
    patience: { firstWaitMs: 2, ...options.patience },
  })
}

async function failureOf(call: Promise<unknown>): Promise<LanewiseFailure> {
  const failure = await call.then(
    () => null,
    (error: unknown) => error,
  )
  if (!isLanewiseFailure(failure))
    throw new Error(`Expected a failure of the client, got ${String(failure)}.`)
  return failure
}

describe('a signed write', () => {
  const { vectors } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../docs/signing-vectors.json'), 'utf8'),
  ) as {
    vectors: {
      name: string
      secret: string
      timestamp: string
      address?: string
      body: string
      signature: string
    }[]
  }

  test.each(vectors)(
    'signs as the known answers do: $name',
    async ({ secret, timestamp, address, body, signature }) => {
      const [method = '', path = ''] = address?.split(' ') ?? []
      const signed = address === undefined ? null : { method, path }
      expect(await signatureHeaders(secret, Number(timestamp), bodyBytes(body), signed)).toEqual({
        'x-service-timestamp': timestamp,
        'x-service-signature': signature,
      })
    },
  )

  test('sends exactly the signed bytes, and a given text unchanged', async () => {
    server.play(done)
    const text = '{ "lane_ref":"48211093754-1-1",  "truck_cost": 1820.50 }'
    await client().shipmentUpdate(text)
    const [sent] = server.arrived
    expect(sent?.body).toBe(text)
    const digest = createHmac('sha256', secret)
      .update(`${sent?.headers['x-service-timestamp']}.${text}`)
      .digest('hex')
    expect(sent?.headers['x-service-signature']).toBe(`sha256=${digest}`)
  })

  test('is repeated with the same time, bytes and signature, so that the service recognizes the repeat', async () => {
    server.play('cut', problemScene(503, 'unavailable'), { status: 502, body: '<h1>Bad gateway</h1>' }, done)
    expect(await client().shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 1820.5 })).toEqual(done.body)
    expect(server.arrived).toHaveLength(4)
    const signatures = server.arrived.map(({ headers, body }) => headers['x-service-signature'] + body)
    expect(new Set(signatures).size).toBe(1)
  })

  test('gets a new signature when the old one expires', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1_772_373_600_000)
    try {
      server.play('cut', done)
      await client({
        onEvent: ({ kind }) => {
          if (kind === 'retrying') clock.mockReturnValue(1_772_373_600_000 + 250_000)
        },
      }).shipmentUpdate({ lane_ref: '7-1-1' })
      const times = server.arrived.map(({ headers }) => headers['x-service-timestamp'])
      expect(times).toEqual(['1772373600', '1772373850'])
    } finally {
      clock.mockRestore()
    }
  })

  test('adopts the service’s clock from an error response, once, and uses it in later calls', async () => {
    const serverTime = Math.floor(Date.now() / 1000) + 4_000
    const refusal = problemScene(401, 'timestamp-out-of-window', { members: { server_time: serverTime } })
    const lanewise = client()
    server.play(refusal, done, done)
    await lanewise.shipmentUpdate({ lane_ref: '7-1-1' })
    await lanewise.shipmentUpdate({ lane_ref: '7-1-1' })
    const times = server.arrived.map(({ headers }) => Number(headers['x-service-timestamp']) - serverTime)
    expect(times.map((off) => Math.abs(off) < 60)).toEqual([false, true, true])

    server.play(refusal)
    expect((await failureOf(client().shipmentUpdate({ lane_ref: '7-1-1' }))).code).toBe(
      'timestamp-out-of-window',
    )
    expect(server.arrived).toHaveLength(2)
  })
})

describe('retries', () => {
  test('stop immediately if the wait would exceed the deadline', async () => {
    server.play(problemScene(503, 'unavailable', { headers: { 'Retry-After': '30' } }))
    const failure = await failureOf(client({ patience: { timeoutMs: 5_000 } }).markup(offer))
    expect(failure).toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 30,
      attempts: 1,
      requestId: 'r-1',
    })
  })

  test('continue after any number of rate limit refusals until the deadline', async () => {
    const refusal = problemScene(429, 'quota-exceeded', { headers: { 'Retry-After': '0' } })
    const impatient = { retries: 1, timeoutMs: 3_000 }
    server.play(refusal, refusal, refusal, refusal, refusal, ok)
    expect(await client({ patience: impatient }).markup(offer)).toEqual(ok.body)
    expect(server.arrived).toHaveLength(6)

    server.play(problemScene(429, 'quota-exceeded', { headers: { 'Retry-After': '1' } }))
    const failure = await failureOf(client({ patience: { ...impatient, timeoutMs: 1_900 } }).markup(offer))
    expect(failure).toMatchObject({ code: 'quota-exceeded', retryable: true, attempts: 2 })
    server.play(refusal)
    expect(await failureOf(client({ patience: { retries: 0 } }).markup(offer))).toMatchObject({ attempts: 1 })
  })

  test('wait for Retry-After, and pause the other calls of the client during a rate limit refusal', async () => {
    server.play(problemScene(429, 'quota-exceeded', { headers: { 'Retry-After': '1' } }), ok)
    let other: Promise<unknown> | undefined
    const lanewise = client({
      onEvent: ({ kind }) => {
        if (kind === 'retrying') other = lanewise.laneInsight(lane)
      },
    })
    await lanewise.markup(offer)
    expect(await other).toEqual(ok.body)
    const [first, ...later] = server.arrived.map(({ atMs }) => atMs)
    expect(later).toHaveLength(2)
    for (const atMs of later) expect(atMs - (first ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('use random waits below a bound that doubles', () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7].map((attempt) => waitMs(attempt, null, defaultPatience, () => 1))
    expect(bounds).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000])
    expect(waitMs(3, null, defaultPatience, () => 0)).toBe(0)
    expect(waitMs(1, 2, defaultPatience, () => 0.5)).toBe(2125)
  })

  test('are not made after permanent failures', async () => {
    for (const [status, code] of [
      [401, 'token-expired'],
      [404, 'lane-not-found'],
      [422, 'validation-failed'],
      [500, 'internal'],
    ] as const) {
      server.play(problemScene(status, code))
      expect((await failureOf(client().shipmentUpdate({ lane_ref: '7-1-1' }))).code).toBe(code)
      expect(server.arrived).toHaveLength(1)
    }
  })

  test('stop after the configured number', async () => {
    server.play('cut')
    const failure = await failureOf(client({ patience: { retries: 2 } }).laneInsight(lane))
    expect(failure).toMatchObject({ code: 'network', attempts: 3, status: null })
  })

  test('of a call that is not idempotent are made only if the request was not processed', async () => {
    server.play('cut', done)
    expect((await failureOf(client().createServiceToken({ name: 'tms' }))).code).toBe('network')
    server.play(problemScene(503, 'unavailable'), done)
    expect((await failureOf(client().createServiceToken({ name: 'tms' }))).code).toBe('unavailable')
    server.play(problemScene(429, 'quota-exceeded'), done)
    await client().createServiceToken({ name: 'tms' })
    expect(server.arrived).toHaveLength(2)
  })
})

describe('a failure', () => {
  test('has a code from the union, with the details from the service', async () => {
    const errors = [{ parameter: 'origin', code: 'missing', detail: 'origin is missing.' }]
    server.play(problemScene(422, 'validation-failed', { members: { errors } }))
    const failure = await failureOf(client().markup(offer))
    if (failure.code !== 'validation-failed') throw new Error(failure.code)
    expect(failure.errors).toEqual(errors)
    expect(failure.remedy).toContain('See errors')
    expect(failure.message).toBe('It is validation-failed.')
  })

  test('with an unknown code has the type of the problem', async () => {
    server.play(problemScene(418, 'teapot'))
    const failure = await failureOf(client().markup(offer))
    expect(failure.code).toBe('unknown-problem')
    if (failure.code === 'unknown-problem') expect(failure.problem.type).toBe('/problems/teapot')
  })

  test.each([
    ['a page of a proxy', { status: 403, body: '<h1>Forbidden</h1>' }, 'not-json', 403],
    ['a good status without JSON', { status: 200, body: 'hello' }, 'not-json', 200],
    [
      'a redirect, which no token follows',
      { status: 302, headers: { Location: '/elsewhere' } },
      'not-json',
      302,
    ],
    ['JSON that is no problem', { status: 400, body: { message: 'no' } }, 'not-json', 400],
    ['an answer that was cut off', 'half', 'network', null],
    ['silence', 'silence', 'timeout', null],
  ] as const)('names %s', async (_name, scene, code, status) => {
    server.play(scene)
    const attemptTimeoutMs = scene === 'silence' ? 100 : 600_000
    const failure = await failureOf(client({ patience: { retries: 0, attemptTimeoutMs } }).markup(offer))
    expect(failure).toMatchObject({ code, status })
    expect(server.arrived).toHaveLength(1)
  })

  test('after an abort is immediate, and counts the requests sent', async () => {
    server.play('silence')
    const first = new AbortController()
    const sent = client().shipmentUpdate({ lane_ref: '7-1-1' }, { signal: first.signal })
    await expect.poll(() => server.arrived).toHaveLength(1)
    first.abort(new Error('closed'))
    expect(await failureOf(sent)).toMatchObject({
      code: 'aborted',
      attempts: 1,
      retryable: false,
      cause: new Error('closed'),
    })

    const refusal = problemScene(503, 'unavailable', { headers: { 'Retry-After': '0' } })
    const lastRefusal = problemScene(503, 'unavailable', { headers: { 'Retry-After': '9' } })
    for (const ask of ['markup', 'call'] as const) {
      server.play(refusal, lastRefusal)
      const second = new AbortController()
      const lanewise = client({
        onEvent: (event) => {
          if (event.kind === 'retrying' && event.attempt === 2) second.abort()
        },
      })
      const options = { signal: second.signal }
      const waiting =
        ask === 'markup'
          ? lanewise.markup(offer, options)
          : lanewise.call('insight-batch', { body: { lanes: [offer] } }, options)
      expect(await failureOf(waiting)).toMatchObject({ code: 'aborted', attempts: 2 })
    }

    server.play(ok)
    const late = failureOf(client().markup(offer, { signal: AbortSignal.abort() }))
    expect(await late).toMatchObject({ code: 'aborted', attempts: 0 })
    expect(server.arrived).toEqual([])
  })

  test('counts the request that was signed again with the service’s clock', async () => {
    const serverTime = Math.floor(Date.now() / 1000) + 4_000
    server.play(problemScene(401, 'timestamp-out-of-window', { members: { server_time: serverTime } }))
    expect((await failureOf(client().shipmentUpdate({ lane_ref: '7-1-1' }))).attempts).toBe(2)
  })

  test('occurs within the caller’s timeout', async () => {
    server.play('silence')
    const endless = client({ patience: { attemptTimeoutMs: Number.POSITIVE_INFINITY } })
    expect((await failureOf(endless.markup(offer, { timeoutMs: 60 }))).code).toBe('timeout')
  })

  test('does not result from infinite timeouts', async () => {
    server.play(ok)
    const endless = client({ patience: { attemptTimeoutMs: Number.POSITIVE_INFINITY } })
    expect(await endless.markup(offer, { timeoutMs: Number.POSITIVE_INFINITY })).toEqual(ok.body)
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular
  const anything = (value: unknown) => value as never
  test.each<[string, (lanewise: Lanewise) => Promise<unknown>, string]>([
    [
      'NaN in a body',
      (c) => c.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: Number.NaN }),
      'truck_cost is NaN',
    ],
    [
      'a bigint',
      (c) => c.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: anything(1n) }),
      'truck_cost is a bigint',
    ],
    ['a circular body', (c) => c.shipmentUpdate(anything(circular)), 'contains a circular reference'],
    [
      'a function for a body',
      (c) => c.shipmentUpdate(anything(() => 1)),
      'must be an object, a string or bytes',
    ],
    ['no body', (c) => c.shipmentUpdate(anything(undefined)), 'pass a body'],
    [
      'NaN in a query',
      (c) => c.markup({ ...offer, proposed_rate: Number.NaN }),
      'proposed_rate must be a string',
    ],
    ['an object in a query', (c) => c.markup({ ...offer, origin: anything({}) }), 'a value of type object'],
    [
      'no lane_ref',
      (c) => c.call('get-quote', { params: anything({}) }),
      'lane_ref must be a string or a finite number; it is undefined',
    ],
    [
      'a lane_ref that is a list',
      (c) => c.call('get-quote', { params: { lane_ref: anything([]) } }),
      'a value of type object',
    ],
    [
      'an empty lane_ref',
      (c) => c.call('get-quote', { params: { lane_ref: '' } }),
      'lane_ref must be an identifier; it is ""',
    ],
    [
      'a lane_ref that leads elsewhere',
      (c) => c.call('get-quote', { params: { lane_ref: '..' } }),
      'it is ".."',
    ],
    [
      'an unpaired surrogate',
      (c) => c.call('get-quote', { params: { lane_ref: '\ud800' } }),
      'contains an unpaired surrogate',
    ],
    ['an unknown operation', (c) => c.call('list-trucks' as 'me', {}), 'There is no operation list-trucks'],
    ['a name that every object has', (c) => c.call('toString' as 'me', {}), 'There is no operation toString'],
    [
      'nothing at all',
      (c) => c.call(anything('get-quote'), anything(null), anything(null)),
      'it is undefined',
    ],
  ])('reports %s before a request is sent', async (_name, use, expected) => {
    server.play(ok)
    const failure = await failureOf(use(client()))
    expect(failure).toMatchObject({
      code: 'invalid-argument',
      status: null,
      requestId: null,
      retryable: false,
      attempts: 0,
    })
    expect(failure.message).toContain(expected)
    expect(server.arrived).toEqual([])
  })

  test('names an invalid option or credential before a request is sent', async () => {
    server.play(ok)
    const made = (options: Partial<LanewiseOptions>) =>
      failureOf(Promise.resolve().then(() => new Lanewise({ baseUrl: server.url, ...options })))
    const update = { lane_ref: '7-1-1' }
    const vault = new Error('the vault is closed')
    for (const [failure, code, expected] of [
      [made({ baseUrl: 'lanewise.example.com' }), 'invalid-configuration', 'must be an address'],
      [made({ baseUrl: 'ftp://lanewise.example.com' }), 'invalid-configuration', 'must be an address'],
      [made({ baseUrl: anything(undefined) }), 'invalid-configuration', 'it is "undefined"'],
      [made({ baseUrl: 'https://me:secret@lanewise.example.com' }), 'invalid-configuration', 'no user'],
      [made({ rateLimit: { perSecond: 0.5 } }), 'invalid-configuration', 'perSecond must be a whole number'],
      [made({ patience: { retries: Number.NaN } }), 'invalid-configuration', 'retries must be 0 or more'],
      [failureOf(client().markup(offer, { timeoutMs: -1 })), 'invalid-configuration', 'timeoutMs must be'],
      [
        failureOf(client({ token: 'made-up\n' }).markup(offer)),
        'invalid-configuration',
        'The token is empty, or contains',
      ],
      [
        failureOf(client({ secret: '' }).shipmentUpdate(update)),
        'invalid-configuration',
        'The secret is empty',
      ],
      [
        failureOf(client({ secret: undefined }).shipmentUpdate(update)),
        'invalid-configuration',
        'configure the client with a secret',
      ],
      [
        failureOf(client({ token: () => Promise.reject(vault) }).markup(offer)),
        'credential-unavailable',
        'token failed',
      ],
    ] as const) {
      expect(await failure).toMatchObject({
        code,
        message: expect.stringContaining(expected),
        status: null,
        attempts: 0,
      })
    }
    expect(await failureOf(client({ token: () => Promise.reject(vault) }).markup(offer))).toMatchObject({
      cause: vault,
    })
    expect(server.arrived).toEqual([])
  })

  test('from an unexpected error is also a LanewiseFailure', async () => {
    const signal = anything({
      aborted: false,
      addEventListener: () => {
        throw new RangeError('odd')
      },
    })
    expect(await failureOf(client({ cache: false }).markup(offer, { signal }))).toMatchObject({
      code: 'unexpected',
      message: 'odd',
      cause: new RangeError('odd'),
    })
  })

  test('is serialized completely as JSON, with its cause', async () => {
    const gone = client({ baseUrl: 'http://127.0.0.1:1', patience: { retries: 0 } })
    const failure = await failureOf(gone.markup(offer))
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({
      name: 'NoAnswer',
      code: 'network',
      message: expect.stringContaining('could not be reached'),
      status: null,
      requestId: null,
      retryable: true,
      attempts: 1,
      cause: expect.stringMatching(/^TypeError: fetch failed; Error: /),
    })
  })

  test('reports whether the same call can be sent again', async () => {
    server.play('cut')
    const once = { patience: { retries: 0 } }
    expect(await failureOf(client(once).shipmentUpdate({ lane_ref: '7-1-1' }))).toMatchObject({
      retryable: true,
    })
    // A token may have been created although no response arrived. A second call would create another one.
    expect(await failureOf(client(once).createServiceToken({ name: 'tms' }))).toMatchObject({
      retryable: false,
    })
    server.play(problemScene(422, 'validation-failed'))
    expect(await failureOf(client(once).markup(offer))).toMatchObject({ retryable: false })
  })
})

describe('cached responses', () => {
  test('avoid a second request, and each caller gets its own copy', async () => {
    server.play({ status: 200, body: { found: true, wins: [1, 2] } })
    const lanewise = client()
    const first = (await lanewise.laneInsight(lane)) as unknown as { wins: number[] }
    first.wins.push(3)
    expect(await lanewise.laneInsight(lane)).toEqual({ found: true, wins: [1, 2] })
    expect(server.arrived).toHaveLength(1)
    await lanewise.laneInsight({ ...lane, equipment: 'R' })
    await lanewise.laneInsight(lane, { cache: false })
    expect(server.arrived).toHaveLength(3)
  })

  test('expire as the interface requires: after 5 minutes for a rate, 15 minutes for a lane', async () => {
    server.play(ok)
    const lanewise = client()
    const ask = async () => {
      await lanewise.markup(offer)
      await lanewise.laneInsight(lane)
      return server.arrived.length
    }
    const began = performance.now()
    const clock = vi.spyOn(performance, 'now')
    try {
      clock.mockImplementation(() => began)
      expect(await ask()).toBe(2)
      clock.mockImplementation(() => began + 5 * 60_000 - 1)
      expect(await ask()).toBe(2)
      clock.mockImplementation(() => began + 5 * 60_000)
      expect(await ask()).toBe(3)
      clock.mockImplementation(() => began + 15 * 60_000)
      expect(await ask()).toBe(5)
    } finally {
      clock.mockRestore()
    }
  })

  test('are per token, limited in number, and can be disabled', async () => {
    server.play(ok)
    let now = 'one'
    const two = client({ token: () => now, cache: { entriesMax: 2 } })
    await two.laneInsight(lane)
    now = 'two'
    await two.laneInsight(lane)
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
    await two.laneInsight({ ...lane, equipment: 'R' })
    now = 'one'
    await two.laneInsight(lane)
    expect(server.arrived).toHaveLength(4)

    server.play(ok)
    const none = client({ cache: false })
    await none.laneInsight(lane)
    await none.laneInsight(lane)
    expect(server.arrived).toHaveLength(2)
  })

  test('are cleared by a write, as is a read that began before it', async () => {
    server.play(ok)
    const lanewise = client()
    await lanewise.laneInsight(lane)
    const before = lanewise.markup(offer)
    await lanewise.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 1 })
    await before
    await lanewise.laneInsight(lane)
    await lanewise.markup(offer)
    expect(server.arrived).toHaveLength(5)

    // The late answer arrives after the write, but it may be from before the write.
    const held = Promise.withResolvers<void>()
    server.play({ ...ok, after: held.promise }, done, ok)
    const late = lanewise.markup({ ...offer, proposed_rate: 2151 })
    await expect.poll(() => server.arrived).toHaveLength(1)
    await lanewise.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 2 })
    held.resolve()
    await late
    await lanewise.markup({ ...offer, proposed_rate: 2151 })
    expect(server.arrived).toHaveLength(3)

    server.play(ok)
    const keeping = client({ forgetAfterWrite: false })
    await keeping.laneInsight(lane)
    await keeping.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 1 })
    await keeping.laneInsight(lane)
    expect(server.arrived).toHaveLength(2)
  })

  test('do not include failures', async () => {
    server.play(problemScene(404, 'not-found'), ok)
    const lanewise = client()
    await failureOf(lanewise.laneInsight(lane))
    expect(await lanewise.laneInsight(lane)).toEqual(ok.body)
  })
})

describe('the metadata of a response', () => {
  const headers = {
    'Request-Id': 'r-9',
    'Idempotent-Replayed': 'true',
    'Ignored-Fields': 'custommer_rate, a%2Cb, %E9',
    'X-RateLimit-Limit': '10',
    'X-RateLimit-Remaining': '7',
    'X-RateLimit-Reset': '1',
  }

  test('comes with the body, typed', async () => {
    server.play({ ...done, headers })
    const { data, meta } = await client().shipmentUpdate({ lane_ref: '7-1-1' }).withMeta()
    expect(data).toEqual(done.body)
    expect(meta).toMatchObject({
      status: 200,
      requestId: 'r-9',
      replayed: true,
      ignored: ['custommer_rate', 'a,b', '%E9'],
      rateLimit: { limit: 10, remaining: 7, resetSeconds: 1 },
      fromCache: false,
    })
    expect(meta.headers.get('content-type')).toBe('application/json')

    server.play({ status: 200, body: 'a,b\n' })
    const file = await client().call('export-quotes', {}).withMeta()
    expect(file).toMatchObject({ data: 'a,b\n', meta: { replayed: false, ignored: [], rateLimit: null } })
  })

  test('reports a cached response, and is a copy for each caller', async () => {
    server.play({ ...ok, headers })
    const lanewise = client()
    const first = await lanewise.markup(offer).withMeta()
    first.meta.headers.delete('Request-Id')
    const { data, meta } = await lanewise.markup(offer).withMeta()
    expect(data).toEqual(first.data)
    expect([first.meta.fromCache, meta.fromCache]).toEqual([false, true])
    // The remaining limit of minutes ago is outdated.
    expect(meta).toMatchObject({ requestId: 'r-9', rateLimit: null })
    expect(meta.headers.get('Request-Id')).toBe('r-9')
    expect(server.arrived).toHaveLength(1)
  })

  test('of a failed call is in the single failure', async () => {
    server.play(problemScene(404, 'lane-not-found'))
    const failure = await failureOf(client().shipmentUpdate({ lane_ref: '7-1-1' }).withMeta())
    expect(failure).toMatchObject({ code: 'lane-not-found', requestId: 'r-1' })
  })

  test('a strict client gets an error for an unknown field, and has separate cache entries', async () => {
    server.play(ok)
    const lanewise = client({ strict: true })
    await lanewise.laneInsight(lane)
    await lanewise.laneInsight(lane, { strict: false })
    expect(server.arrived.map(({ headers }) => headers.prefer)).toEqual(['handling=strict', undefined])
  })
})

describe('equal concurrent calls', () => {
  test('share one request, which is aborted when no caller waits for it', async () => {
    server.play(ok)
    const lanewise = client()
    const giveUp = new AbortController()
    const asked = [
      lanewise.markup(offer),
      lanewise.markup(offer, { signal: giveUp.signal }),
      lanewise.markup(offer),
    ]
    giveUp.abort()
    const ends = await Promise.allSettled(asked)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(server.arrived).toHaveLength(1)

    server.play('silence')
    const both = new AbortController()
    const silent = [1, 2].map(() => failureOf(client().markup(offer, { signal: both.signal })))
    both.abort()
    expect((await Promise.all(silent)).map(({ code }) => code)).toEqual(['aborted', 'aborted'])
  })
})

describe('a debounced query', () => {
  test('sends only the last query, and discards replaced ones', async () => {
    const asked: string[] = []
    const givenUp: string[] = []
    const slow = Promise.withResolvers<void>()
    const ask = debounce(async (question: string, signal) => {
      asked.push(question)
      signal.addEventListener('abort', () => givenUp.push(question))
      if (question === 'slow') await slow.promise
      return `answer to ${question}`
    }, 10)
    const typed = [ask('D'), ask('Da'), ask('slow')]
    await expect.poll(() => asked).toEqual(['slow'])
    typed.push(ask('Dallas'))
    slow.resolve()
    expect(await Promise.all(typed)).toEqual([undefined, undefined, undefined, 'answer to Dallas'])
    expect([asked, givenUp]).toEqual([['slow', 'Dallas'], ['slow']])
    const cancelled = ask('never')
    ask.cancel()
    expect(await cancelled).toBeUndefined()
    expect(asked).not.toContain('never')
  })

  test('passes a failure on', async () => {
    const ask = debounce(() => Promise.reject(new Error('no')), 1)
    await expect(ask('x')).rejects.toThrow('no')
  })
})

test('hooks receive events without tokens or secrets, and a throwing hook has no effect', async () => {
  server.play(problemScene(503, 'unavailable'), done)
  const events: LanewiseEvent[] = []
  const lanewise = client({
    onEvent: (event) => {
      events.push(event)
      throw new Error('a log that is full')
    },
  })
  await lanewise.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 1 })
  expect(events.map(({ kind }) => kind)).toEqual(['sent', 'answered', 'retrying', 'sent', 'answered'])
  expect(events[1]).toMatchObject({
    operation: 'shipment-update',
    path: '/api/integrations/tms/shipment-update',
  })
  const seen = JSON.stringify([events, lanewise, Object.keys(lanewise)])
  expect(seen).not.toContain(token)
  expect(seen).not.toContain(secret)
})
