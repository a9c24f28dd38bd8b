import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type ProblemCode, problems, problemType } from '#contract/errors.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  makeServiceToken,
  makeTenant,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { head, type RawAnswer, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { secretKey, tokens } from '../security/index.ts'

const updatePath = '/api/integrations/tms/shipment-update'
const markupPath = '/api/integrations/insights/markup'
const markupQuery = 'origin=Dallas%2C%20TX&destination=Atlanta%2C%20GA&proposed_rate=2000'

let app: TestApp
let acme: Integration
let member: { id: number; token: string }
let quote: { lane_ref: string; lane_id: number }
/** The number of lines that the service had logged before. */
let loggedBefore: number
// The two slow tests wait for timeouts. Their requests start first, and their answers are checked last.
let slowBody: Promise<RawAnswer[]>
let slowHeaders: Promise<RawAnswer[]>

beforeAll(async () => {
  app = await sharedApp()
  loggedBefore = app.logLines.length
  acme = await makeIntegration(app)
  member = await makePerson(app, acme.tenant, 'member')
  quote = await makeQuote(app, acme.tenant, { outcome: 'won' })
  slowHeaders = sendRaw(app, `GET ${markupPath} HTTP/1.1\r\nHost: x\r\n`)
  slowBody = sendRaw(
    app,
    `${head(`POST ${updatePath} HTTP/1.1`, [['Host', 'x'], ...headerList('{"a":1}'), ['Content-Length', '7']])}{"a`,
  )
})

function headerList(bytes: string, timestamp = Math.floor(app.now / 1000)): [string, string][] {
  return Object.entries(signedHeaders(acme, bytes, timestamp))
}

/** Sends a signed update with some parts replaced. A header that is set to `undefined` is omitted. */
async function send(
  changes: {
    body?: string | Buffer
    headers?: Record<string, string | undefined>
    method?: string
    path?: string
    timestamp?: number | string
    signedBody?: string | Buffer
  } = {},
): Promise<Answer> {
  const body =
    changes.body ?? JSON.stringify({ lane_ref: quote.lane_ref, carrier_name: 'Blue Mesa Trucking' })
  const all: Record<string, string | undefined> = {
    ...signedHeaders(acme, changes.signedBody ?? body, changes.timestamp ?? Math.floor(app.now / 1000)),
    ...changes.headers,
  }
  const headers = Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  const response = await fetch(`${app.url}${changes.path ?? updatePath}`, {
    method: changes.method ?? 'POST',
    headers,
    // Sent as bytes, so that the client does not add a content type.
    body: new Uint8Array(Buffer.from(body as string)),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

const read = (headers: Record<string, string> = {}, query = markupQuery) =>
  call(app, 'GET', `${markupPath}?${query}`, { headers })

type Headers = Readonly<Record<string, string>> | globalThis.Headers
const headerOf = (headers: Headers, name: string) =>
  headers instanceof globalThis.Headers ? headers.get(name) : (headers[name.toLowerCase()] ?? null)

/** Expects the headers that every answer has. */
function expectStandardHeaders(answer: { headers: Headers }) {
  expect(headerOf(answer.headers, 'Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headerOf(answer.headers, 'Cache-Control')).toMatch(
    /^(no-store|private, max-age=(300|900)|public, max-age=300)$/,
  )
  expect(headerOf(answer.headers, 'X-Content-Type-Options')).toBe('nosniff')
  expect(headerOf(answer.headers, 'Content-Security-Policy')).toContain("default-src 'none'")
  expect(headerOf(answer.headers, 'Strict-Transport-Security')).toContain('max-age=')
  expect(headerOf(answer.headers, 'Vary')).toBe('Authorization')
  expect(Date.parse(headerOf(answer.headers, 'Date') ?? '')).not.toBeNaN()
  expect(headerOf(answer.headers, 'X-Powered-By')).toBeNull()
}

/** Expects the form that every error has: exactly these members, and the request's id in body and header. */
function expectProblem(
  answer: { status: number; headers: Headers; body: unknown },
  code: ProblemCode,
  more: readonly string[] = [],
) {
  const body = answer.body as Record<string, unknown>
  const { status } = problems[code]
  expect(answer.status).toBe(status)
  expect(body).toMatchObject({ status, code, type: problemType(code) })
  expect(headerOf(answer.headers, 'Content-Type')).toMatch(/^application\/problem\+json/)
  expectStandardHeaders(answer)
  expect(headerOf(answer.headers, 'Cache-Control')).toBe('no-store')
  const errors = code === 'validation-failed' || code === 'unknown-field' ? ['errors'] : []
  expect(Object.keys(body).sort()).toEqual(
    ['type', 'code', 'title', 'status', 'detail', 'request_id', ...errors, ...more].sort(),
  )
  expect(body.title).toBe(problems[code].title)
  expect(body.status).toBe(answer.status)
  expect(typeof body.detail).toBe('string')
  expect(body.detail).not.toBe('')
  expect(body.request_id).toBe(headerOf(answer.headers, 'Request-Id'))
}

describe('200', () => {
  test('every answer carries the standard headers', async () => {
    for (const answer of [await send(), await read({ Authorization: `Bearer ${acme.token}` })]) {
      expect(answer.status).toBe(200)
      expectStandardHeaders(answer)
    }
    // Readiness requires that the clock agrees with the database's.
    app.now = Date.now()
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/problems', '/problems/csrf']) {
      const answer = await call(app, 'GET', path)
      expect(answer.status, path).toBe(200)
      expectStandardHeaders(answer)
    }
  })

  test('writes are not cached; reads are cached privately, for the documented time', async () => {
    const token = `Bearer ${acme.token}`
    expect((await send()).headers.get('Cache-Control')).toBe('no-store')
    expect((await read({ Authorization: token })).headers.get('Cache-Control')).toBe('private, max-age=300')
    const insight = await call(app, 'GET', `/api/integrations/insights/lane?${markupQuery}`, {
      token: acme.token,
    })
    expect(insight.headers.get('Cache-Control')).toBe('private, max-age=900')
  })

  test('every integration answer has the remaining limit', async () => {
    const answer = await read({ Authorization: `Bearer ${acme.token}` })
    expect(answer.headers.get('RateLimit-Policy')).toBe('"tenant";q=10;w=1')
    expect(answer.headers.get('RateLimit')).toMatch(/^"tenant";r=\d;t=1$/)
    expect(answer.headers.get('X-RateLimit-Limit')).toBe('10')
  })

  test('the scheme of the token is case-insensitive', async () => {
    expect((await read({ Authorization: `bEaReR ${acme.token}` })).status).toBe(200)
  })

  test('HEAD answers like GET, without the body', async () => {
    const token = { Authorization: `Bearer ${acme.token}` }
    const get = await read(token)
    const response = await fetch(`${app.url}${markupPath}?${markupQuery}`, { method: 'HEAD', headers: token })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
    for (const name of ['Content-Type', 'Content-Length', 'Cache-Control', 'Vary']) {
      expect(response.headers.get(name), name).toBe(get.headers.get(name))
    }
    const refused = await fetch(`${app.url}${markupPath}?${markupQuery}`, { method: 'HEAD' })
    expect(refused.status).toBe(401)
  })

  test('an unknown body field has no effect and is named in Ignored-Fields', async () => {
    const answer = await send({
      body: JSON.stringify({ lane_ref: quote.lane_ref, customerRate: 9, 'é\n': 1 }),
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Ignored-Fields')).toBe('customerRate, %C3%A9%0A')
  })

  test('an unknown query parameter has no effect and is named in Ignored-Fields', async () => {
    const answer = await read({ Authorization: `Bearer ${acme.token}` }, `${markupQuery}&colour=red`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Ignored-Fields')).toBe('colour')
  })

  test('null for an optional field means absent', async () => {
    const before = await call(app, 'GET', `/api/lanes/${quote.lane_ref}`, { token: acme.tenant.owner })
    const answer = await send({
      body: JSON.stringify({
        lane_ref: quote.lane_ref,
        customer_rate: null,
        truck_cost: null,
        customer_name: null,
        carrier_name: null,
        carrier_mc: null,
        booked_at: null,
      }),
    })
    expect(answer.body).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: false })
    const after = await call(app, 'GET', `/api/lanes/${quote.lane_ref}`, { token: acme.tenant.owner })
    expect(after.body).toEqual(before.body)
  })

  test('a repeated signed request gets its saved answer, with a header that says so', async () => {
    const body = JSON.stringify({ lane_ref: quote.lane_ref, carrier_name: 'Once Trucking' })
    const first = await send({ body })
    const again = await send({ body })
    expect(again.body).toEqual(first.body)
    expect(first.headers.get('Idempotent-Replayed')).toBeNull()
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  })

  test('Content-Type may name UTF-8, in any case', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json;charset=utf8',
    ]) {
      expect((await send({ headers: { 'Content-Type': type } })).status, type).toBe(200)
    }
  })

  test('Content-Encoding: identity means no encoding', async () => {
    expect((await send({ headers: { 'Content-Encoding': 'identity' } })).status).toBe(200)
  })

  test('an unknown Expect header is ignored', async () => {
    const [answer] = await sendRaw(
      app,
      head(`GET ${markupPath}?${markupQuery} HTTP/1.1`, [
        ['Host', 'x'],
        ['Authorization', `Bearer ${acme.token}`],
        ['Expect', 'tea'],
        ['Connection', 'close'],
      ]),
    )
    expect(answer?.status).toBe(200)
  })
})

describe('400', () => {
  test.each(['Authorization', 'Content-Type', 'Host'])(
    '%s sent twice, in either order and any case',
    async (name) => {
      const body = '{"lane_ref":"1-1-1"}'
      const bad: [string, string] = [name.toLowerCase(), name === 'Host' ? 'other' : 'Bearer a.b.c']
      const good: [string, string][] = [
        ['Host', 'x'],
        ...headerList(body),
        ['Content-Length', String(body.length)],
      ]
      for (const headers of [
        [bad, ...good],
        [...good, bad],
      ]) {
        const [answer] = await sendRaw(app, head(`POST ${updatePath} HTTP/1.1`, headers) + body)
        if (answer === undefined) throw new Error('no answer')
        expectProblem(answer, 'duplicate-header')
      }
    },
  )

  const body = '{"lane_ref":"1-1-1"}'
  const framed = (lines: string) => `POST ${updatePath} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`
  test.each([
    [
      'Transfer-Encoding and Content-Length',
      `${framed(`Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`)}0\r\n\r\n`,
    ],
    ['Content-Length twice, differing', framed(`Content-Length: 20\r\nContent-Length: 5\r\n`) + body],
    ['Content-Length twice, the same', framed(`Content-Length: 20\r\nContent-Length: 20\r\n`) + body],
    ['a Content-Length that is no number', framed(`Content-Length: 2x\r\n`) + body],
    ['a negative Content-Length', framed(`Content-Length: -1\r\n`) + body],
    ['a plus before Content-Length', framed(`Content-Length: +20\r\n`) + body],
    ['bare line feeds', `POST ${updatePath} HTTP/1.1\nHost: x\nContent-Length: 0\n\n`],
    ['a folded header', framed(`X-Note: a\r\n b\r\nContent-Length: 0\r\n`)],
    ['a space before the colon', framed(`Content-Length : 20\r\n`) + body],
    ['an unknown transfer encoding', framed(`Transfer-Encoding: xchunked\r\n`) + body],
    ['chunked, but not last', `${framed(`Transfer-Encoding: chunked, identity\r\n`)}0\r\n\r\n`],
    ['a coding besides chunks', `${framed(`Transfer-Encoding: gzip, chunked\r\n`)}0\r\n\r\n`],
    ['chunks in HTTP/1.0', `${framed(`Transfer-Encoding: chunked\r\n`).replace('1.1', '1.0')}0\r\n\r\n`],
    ['the next version in the form of this one', `GET ${markupPath} HTTP/2.0\r\nHost: x\r\n\r\n`],
    ['a chunk size that is no hex', `${framed(`Transfer-Encoding: chunked\r\n`)}zz\r\n`],
    ['a NUL in a header', framed(`X-Note: a\u0000b\r\nContent-Length: 0\r\n`)],
    ['no header name', framed(`: x\r\nContent-Length: 0\r\n`)],
    ['no version', `GET ${markupPath}\r\nHost: x\r\n\r\n`],
    ['another version', `GET ${markupPath} HTTP/3.7\r\nHost: x\r\n\r\n`],
    ['an unknown method', `STEAL ${markupPath} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['no HTTP at all', `\u0016\u0003\u0001 hello\r\n\r\n`],
    ['no Host', `GET ${markupPath} HTTP/1.1\r\n\r\n`],
  ])('%s: refused, closed, and what follows is not executed', async (_what, bytes) => {
    const pipelined = head('GET /healthz HTTP/1.1', [['Host', 'x']])
    const answers = await sendRaw(app, bytes + pipelined)
    expect(answers).toHaveLength(1)
    const [answer] = answers
    if (answer === undefined) throw new Error('no answer')
    expectProblem(answer, 'malformed-request')
    expect(answer.headers.connection).toBe('close')
  })

  test.each(['%', '%zz', '%e0%a4%a', '%ff'])('a path with the bad percent-encoding %s', async (bad) => {
    const [answer] = await sendRaw(app, head(`GET /api/lanes/${bad} HTTP/1.1`, [['Host', 'x']]))
    if (answer === undefined) throw new Error('no answer')
    expectProblem(answer, 'malformed-request')
  })

  test.each(['%', '%zz', '%ff'])('a query with the bad percent-encoding %s', async (bad) => {
    expectProblem(
      await read({ Authorization: `Bearer ${acme.token}` }, `${markupQuery}&x=${bad}`),
      'malformed-request',
    )
  })

  test('a validly signed body that is not UTF-8, has a byte-order mark, or is no JSON object', async () => {
    const bodies = [
      Buffer.from([0x7b, 0xff, 0x7d]),
      Buffer.from('\ufeff{"lane_ref":"1-1-1"}'),
      Buffer.from('{"lane_ref":'),
      Buffer.from('[]'),
      Buffer.from('"text"'),
      Buffer.from('null'),
      Buffer.from(''),
      Buffer.from(`{"a":${'['.repeat(50_000)}`),
    ]
    for (const bytes of bodies) expectProblem(await send({ body: bytes }), 'malformed-json')
  })

  test('a key twice, and a key that reaches a prototype', async () => {
    expectProblem(
      await send({ body: '{"lane_ref":"a","customer_rate":1,"customer\\u005frate":2}' }),
      'duplicate-key',
    )
    for (const key of ['__proto__', '\\u005f_proto__', 'constructor', 'prototype']) {
      expectProblem(await send({ body: `{"lane_ref":"a","${key}":{"admin":true}}` }), 'forbidden-key')
      expect(({} as { admin?: boolean }).admin).toBeUndefined()
    }
    for (const key of ['__proto__', 'constructor', 'prototype', '%5f_proto__']) {
      expectProblem(
        await read({ Authorization: `Bearer ${acme.token}` }, `${markupQuery}&${key}=x`),
        'forbidden-key',
      )
    }
  })
})

describe('401', () => {
  test('no token: the challenge names no error', async () => {
    const answer = await read()
    expectProblem(answer, 'token-missing')
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="integrations"')
  })

  test('not Bearer, empty, malformed', async () => {
    for (const text of ['Basic YTpi', 'Bearer', 'Bearer x', `Bearer ${acme.token}.x`, acme.token]) {
      const answer = await read({ Authorization: text })
      expectProblem(answer, 'token-malformed')
      expect(answer.headers.get('WWW-Authenticate')).toBe(
        'Bearer realm="integrations", error="invalid_token"',
      )
    }
  })

  test('a token of another installation or with an unknown jti: the answer does not reveal which check failed', async () => {
    const theirKey = secretKey(randomBytes(32).toString('base64'))
    if (theirKey === null) throw new Error('No key.')
    const iat = Math.floor(app.now / 1000)
    const claims = {
      tenant_id: acme.tenant.id,
      user_id: 1,
      role: 'owner',
      scope: 'integrations:write',
      jti: '01890000-0000-4000-8000-000000000001',
      iat,
      exp: iat + 3600,
    }
    const answers = [
      await read({ Authorization: `Bearer ${tokens([theirKey]).sign('service', claims)}` }),
      await read({ Authorization: `Bearer ${app.tokens.sign('service', claims)}` }),
      await read({ Authorization: `Bearer ${app.tokens.sign('service', { ...claims, tenant_id: 5 })}` }),
    ]
    for (const answer of answers) {
      expectProblem(answer, 'token-invalid')
      expect(answer.body.detail).toBe(answers[0]?.body.detail)
      expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token"')
    }
  })

  test('a revoked token', async () => {
    const made = await call(app, 'POST', '/api/integrations/tokens', {
      token: acme.tenant.owner,
      body: { name: 'gone' },
    })
    await call(app, 'DELETE', `/api/integrations/tokens/${made.body.id}`, { token: acme.tenant.owner })
    const answer = await read({ Authorization: `Bearer ${made.body.token}` })
    expectProblem(answer, 'token-revoked')
    expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token", error_description=')
  })

  test('the wrong kind of token, on every endpoint and method', async () => {
    for (const endpoint of allEndpoints) {
      if (endpoint.who.kind === 'anyone') continue
      const token = endpoint.who.kind === 'service' ? acme.tenant.owner : acme.token
      const path = endpoint.path.replaceAll(/\{\w+\}/g, '1')
      const answer = await call(app, endpoint.method, path, {
        token,
        ...(endpoint.method === 'GET' ? {} : { body: {} }),
      })
      expectProblem(answer, 'token-wrong-kind')
    }
  })

  test('with a leaked service token alone, the only calls that succeed are reads', async () => {
    const succeeded: string[] = []
    for (const path of new Set(allEndpoints.map((endpoint) => endpoint.path))) {
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT']) {
        const answer = await call(app, method, `${path.replaceAll(/\{\w+\}/g, '1')}?${markupQuery}`, {
          token: acme.token,
          ...(method === 'GET' ? {} : { body: {} }),
        })
        if (answer.status < 300) succeeded.push(`${method} ${path}`)
        expect(answer.status, `${method} ${path}`).toBeLessThan(500)
      }
    }
    expect(succeeded.sort()).toEqual([
      `GET /api/integrations/insights/lane`,
      `GET ${markupPath}`,
      'GET /api/integrations/quotes',
      'GET /api/integrations/shipments',
      'GET /api/integrations/shipments/search',
    ])
  })

  test('a session cookie alone opens no integration endpoint', async () => {
    for (const endpoint of allEndpoints.filter(({ path }) => path.startsWith('/api/integrations/'))) {
      const answer = await call(app, endpoint.method, endpoint.path.replaceAll(/\{\w+\}/g, '1'), {
        headers: {
          Cookie: `__Host-lanewise=${acme.tenant.owner}`,
          'X-Lanewise-Request': '1',
          'Sec-Fetch-Site': 'same-origin',
        },
        ...(endpoint.method === 'GET' ? {} : { body: {} }),
      })
      expectProblem(answer, 'token-missing')
    }
  })

  test('signature headers missing: the challenge names HMAC', async () => {
    for (const missing of ['X-Service-Timestamp', 'X-Service-Signature']) {
      const answer = await send({ headers: { [missing]: undefined } })
      expectProblem(answer, 'signature-missing')
      expect(answer.body.detail).toContain(missing)
      expect(answer.headers.get('WWW-Authenticate')).toBe('HMAC-SHA256 realm="integrations"')
    }
  })

  test('signature headers malformed', async () => {
    expectProblem(await send({ headers: { 'X-Service-Signature': 'sha256=zz' } }), 'signature-malformed')
    for (const timestamp of ['1.7e9', '0x65a1b2c3', '+1772373600', '']) {
      expectProblem(await send({ headers: { 'X-Service-Timestamp': timestamp } }), 'timestamp-malformed')
    }
  })

  test('duplicate signature headers are rejected, even if both are valid', async () => {
    const body = '{"lane_ref":"1-1-1"}'
    for (const [name, code] of [
      ['X-Service-Signature', 'signature-malformed'],
      ['X-Service-Timestamp', 'timestamp-malformed'],
    ] as const) {
      const headers = headerList(body)
      const again = headers
        .filter(([itsName]) => itsName === name)
        .map(([, value]): [string, string] => [name.toUpperCase(), value])
      const [answer] = await sendRaw(
        app,
        head(`POST ${updatePath} HTTP/1.1`, [
          ['Host', 'x'],
          ...headers,
          ...again,
          ['Content-Length', String(body.length)],
        ]) + body,
      )
      if (answer === undefined) throw new Error('no answer')
      expectProblem(answer, code)
    }
  })

  test('a signature that does not match the exact bytes', async () => {
    const signedBody = '{"lane_ref":"1-1-1","customer_rate":1}'
    for (const body of [
      '{"lane_ref":"1-1-1","customer_rate":2}',
      '{ "lane_ref": "1-1-1", "customer_rate": 1 }',
      '',
      `${signedBody}\n`,
    ]) {
      expectProblem(await send({ signedBody, body }), 'signature-mismatch')
    }
  })

  test('a boundary shifted between timestamp and body is not the same signature', async () => {
    const seconds = String(Math.floor(app.now / 1000))
    const shifted = await send({
      signedBody: '5.{"lane_ref":"1-1-1"}',
      body: '{"lane_ref":"1-1-1"}',
      headers: { 'X-Service-Timestamp': `${seconds}.5` },
    })
    expectProblem(shifted, 'timestamp-malformed')
  })

  test('a timestamp outside the window: the error has the server’s time', async () => {
    const seconds = Math.floor(app.now / 1000)
    for (const timestamp of [seconds - 301, seconds + 301]) {
      const answer = await send({ timestamp })
      expectProblem(answer, 'timestamp-out-of-window', ['server_time', 'max_skew_seconds'])
      expect(answer.body).toMatchObject({ server_time: seconds, max_skew_seconds: 300 })
    }
    for (const timestamp of [seconds - 300, seconds, seconds + 300]) {
      expect((await send({ timestamp })).status).toBe(200)
    }
  })

  test('a signature in a trailer is ignored', async () => {
    const body = '{"lane_ref":"1-1-1"}'
    const headers = headerList(body)
    const trailer = headers.filter(([name]) => name === 'X-Service-Signature')
    const before = headers.filter(([name]) => name !== 'X-Service-Signature')
    const [answer] = await sendRaw(
      app,
      `${head(`POST ${updatePath} HTTP/1.1`, [['Host', 'x'], ...before, ['Transfer-Encoding', 'chunked'], ['Trailer', 'X-Service-Signature']])}${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    if (answer === undefined) throw new Error('no answer')
    expectProblem(answer, 'signature-missing')
  })

  test('the answer tells a tenant without a secret how to create one', async () => {
    const tenant = await makeTenant(app)
    const answer = await pushUpdate(
      app,
      { token: await makeServiceToken(app, tenant.owner), secret: 'x' },
      { lane_ref: 'a' },
    )
    expectProblem(answer, 'signature-mismatch')
    expect(answer.body.detail).toContain('POST /api/integrations/secrets')
  })
})

describe('403', () => {
  test('a role below admin cannot create a token or a secret', async () => {
    for (const path of ['/api/integrations/tokens', '/api/integrations/secrets']) {
      expectProblem(
        await call(app, 'POST', path, { token: member.token, body: { name: 'x' } }),
        'role-required',
      )
    }
  })
})

describe('404', () => {
  test.each([
    '/api',
    '/api/integrations',
    '/API/integrations/insights/markup',
    `${markupPath}/`,
    `/${markupPath}`,
    `${markupPath};x=1`,
    '/api/integrations/%2e%2e/integrations/insights/markup',
    '/api/integrations//insights/markup',
    '/api/integrations/insights/markup%00',
    '/api/integrations/insights%2fmarkup',
    '/api/integrations/insights/markup.json',
    '/.env',
    '/api/integrations/tms/shipment-update/../../tokens',
  ])('there is nothing at %s, with or without a token', async (path) => {
    for (const more of [[], [['Authorization', `Bearer ${acme.token}`] as const]]) {
      const [answer] = await sendRaw(
        app,
        head(`GET ${path} HTTP/1.1`, [['Host', 'x'], ...more, ['Connection', 'close']]),
      )
      if (answer === undefined) throw new Error('no answer')
      expectProblem(answer, 'route-not-found')
    }
  })

  test('an absolute URL is routed by its path, for any host', async () => {
    const ask = (target: string) =>
      sendRaw(
        app,
        head(`GET ${target} HTTP/1.1`, [
          ['Host', 'x'],
          ['Authorization', `Bearer ${acme.token}`],
          ['Connection', 'close'],
        ]),
      )
    expect((await ask(`http://evil.example${markupPath}?${markupQuery}`))[0]?.status).toBe(200)
    expect((await ask('http://evil.example/nothing'))[0]?.status).toBe(404)
    expect((await ask('evil.example:443'))[0]?.status).toBeGreaterThanOrEqual(400)
  })

  test('a lane_ref that matches no quote', async () => {
    expectProblem(await send({ body: '{"lane_ref":"1-1-1"}' }), 'lane-not-found')
  })
})

describe('405', () => {
  test.each(['PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS', 'POST'])(
    '%s on a read names the methods there are',
    async (method) => {
      const [answer] = await sendRaw(
        app,
        head(`${method} ${markupPath}?${markupQuery} HTTP/1.1`, [
          ['Host', 'x'],
          ['Authorization', `Bearer ${acme.token}`],
          ['Connection', 'close'],
        ]),
      )
      if (answer === undefined) throw new Error('no answer')
      expectProblem(answer, 'method-not-allowed')
      expect(answer.headers.allow).toBe('GET, HEAD')
    },
  )

  test('each address allows exactly its own methods', async () => {
    const methodsOf = new Map<string, Set<string>>()
    for (const { path, method } of allEndpoints) {
      const methods = methodsOf.get(path) ?? new Set()
      methods.add(method)
      if (method === 'GET') methods.add('HEAD')
      methodsOf.set(path, methods)
    }
    for (const [path, methods] of methodsOf) {
      const answer = await call(app, 'PUT', path.replaceAll(/\{\w+\}/g, '1'))
      expectProblem(answer, 'method-not-allowed')
      expect(answer.headers.get('Allow'), path).toBe([...methods].sort().join(', '))
    }
    expectProblem(await call(app, 'POST', '/healthz'), 'method-not-allowed')
  })

  test('CONNECT gets no tunnel', async () => {
    const answers = await sendRaw(
      app,
      head('CONNECT example.com:443 HTTP/1.1', [['Host', 'example.com:443']]),
    )
    expect(answers.every(({ status }) => status >= 400)).toBe(true)
  })
})

describe('413', () => {
  const sized = (bytes: number) => {
    const start = `{"lane_ref":"1-1-1","note":"`
    return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
  }

  test('a body of 64 KiB is accepted, one byte more is not', async () => {
    expect((await send({ body: sized(65_536) })).status).toBe(404)
    const answer = await send({ body: sized(65_537) })
    expectProblem(answer, 'body-too-large')
    expect(answer.headers.get('Connection')).toBe('close')
  })

  test('the same limit applies to a chunked body without a declared length', async () => {
    const body = sized(65_537)
    const [answer] = await sendRaw(
      app,
      `${head(`POST ${updatePath} HTTP/1.1`, [['Host', 'x'], ...headerList(body), ['Transfer-Encoding', 'chunked']])}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    if (answer === undefined) throw new Error('no answer')
    expectProblem(answer, 'body-too-large')
  })

  test('Expect: 100-continue is answered 100 only when the body will be read', async () => {
    const ask = (length: number, more: [string, string][]) =>
      sendRaw(
        app,
        head(`POST ${updatePath} HTTP/1.1`, [
          ['Host', 'x'],
          ...more,
          ['Content-Length', String(length)],
          ['Expect', '100-continue'],
        ]),
      )
    const signed = headerList('{}')
    expect((await ask(65_537, signed)).map(({ status }) => status)).toEqual([413])
    expect((await ask(20, signed)).map(({ status }) => status)).toEqual([100])
    expect((await ask(20, [['Content-Type', 'application/json']])).map(({ status }) => status)).toEqual([401])
    const quotes = await sendRaw(
      app,
      head('POST /api/quote-requests HTTP/1.1', [
        ['Host', 'x'],
        ['Authorization', `Bearer ${acme.tenant.owner}`],
        ['Content-Type', 'application/json'],
        ['Content-Length', '100000'],
        ['Expect', '100-continue'],
      ]),
    )
    expect(quotes.map(({ status }) => status)).toEqual([100])
  })
})

describe('414 and 431', () => {
  test('an address of 8 KiB is accepted, one byte more is not', async () => {
    const address = (bytes: number) => `${markupPath}?${markupQuery}&x=`.padEnd(bytes, 'x')
    const ask = (bytes: number) =>
      sendRaw(
        app,
        head(`GET ${address(bytes)} HTTP/1.1`, [
          ['Host', 'x'],
          ['Authorization', `Bearer ${acme.token}`],
          ['Connection', 'close'],
        ]),
      )
    expect((await ask(8192))[0]?.status).toBe(200)
    const [answer] = await ask(8193)
    if (answer === undefined) throw new Error('no answer')
    expectProblem(answer, 'uri-too-long')
  })

  test('headers over 16 KiB are rejected, such as a token of a megabyte', async () => {
    for (const size of [17_000, 1_000_000]) {
      const [answer] = await sendRaw(
        app,
        head(`GET ${markupPath}?${markupQuery} HTTP/1.1`, [
          ['Host', 'x'],
          ['Authorization', `Bearer ${'a'.repeat(size)}`],
        ]),
      )
      if (answer === undefined) throw new Error('no answer')
      expectProblem(answer, 'headers-too-large')
      expect(answer.headers.connection).toBe('close')
    }
  })
})

describe('415', () => {
  test.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    'application/problem+json',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/jsonx',
    '*/*',
    '',
  ])('the content type %j', async (type) => {
    const answer = await send({ headers: { 'Content-Type': type } })
    expectProblem(answer, 'unsupported-media-type')
    expect(answer.headers.get('Accept-Post')).toBe('application/json')
  })

  test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x-gzip', 'zstd'])(
    'the content encoding %s',
    async (encoding) => {
      const answer = await send({ headers: { 'Content-Encoding': encoding } })
      expectProblem(answer, 'unsupported-encoding')
      expect(answer.headers.get('Accept-Encoding')).toBe('identity')
    },
  )
})

describe('422', () => {
  test('each invalid field is named by its pointer, with the expected value', async () => {
    const answer = await send({ body: '{"customer_rate":"12","truck_cost":-1}' })
    expectProblem(answer, 'validation-failed')
    expect(
      answer.body.errors
        .map((error: { pointer: string; code: string }) => [error.pointer, error.code])
        .sort(),
    ).toEqual([
      ['/customer_rate', 'invalid'],
      ['/lane_ref', 'missing'],
      ['/truck_cost', 'invalid'],
    ])
    for (const error of answer.body.errors) {
      expect(Object.keys(error).sort()).toEqual(['code', 'detail', 'pointer'])
      expect(error.detail).toContain('must be')
    }
  })

  test('each invalid query parameter is named', async () => {
    const answer = await read({ Authorization: `Bearer ${acme.token}` }, 'origin=Dal%07las&proposed_rate=0')
    expectProblem(answer, 'validation-failed')
    expect(answer.body.errors.map((error: { parameter: string }) => error.parameter).sort()).toEqual([
      'destination',
      'origin',
      'proposed_rate',
    ])
  })

  test('a query parameter sent twice', async () => {
    expectProblem(
      await read({ Authorization: `Bearer ${acme.token}` }, `${markupQuery}&origin=Reno%2C%20NV`),
      'validation-failed',
    )
  })

  test('an unknown field with strict handling', async () => {
    const body = JSON.stringify({ lane_ref: quote.lane_ref, customerRate: 9 })
    const answer = await send({ body, headers: { Prefer: 'handling=strict' } })
    expectProblem(answer, 'unknown-field')
    expect(answer.body.errors[0].pointer).toBe('/customerRate')
    const inQuery = await read(
      { Authorization: `Bearer ${acme.token}`, Prefer: 'handling=strict' },
      `${markupQuery}&colour=red`,
    )
    expectProblem(inQuery, 'unknown-field')
    expect(inQuery.body.errors[0].parameter).toBe('colour')
  })

  test('an impossible id is a client error, never a server error', async () => {
    for (const id of ['0', '-1', '1.5', 'x', '2147483648', '9999999999', '99999999999999999999', '1%00']) {
      expectProblem(
        await call(app, 'DELETE', `/api/integrations/tokens/${id}`, { token: acme.tenant.owner }),
        'validation-failed',
      )
    }
  })
})

describe('the order of checks: with two failures, the earlier check answers', () => {
  const bigBody = 'x'.repeat(65_537)
  const stale = () => Math.floor(app.now / 1000) - 9999
  test.each<[string, ProblemCode, () => Promise<Answer>]>([
    ['address length before route', 'uri-too-long', () => call(app, 'GET', `/nothing?x=${'x'.repeat(8200)}`)],
    ['route before method', 'route-not-found', () => call(app, 'DELETE', '/nothing')],
    ['method before token', 'method-not-allowed', () => call(app, 'PUT', updatePath)],
    [
      'token before role',
      'token-wrong-kind',
      () => call(app, 'POST', '/api/integrations/tokens', { token: acme.token, body: {} }),
    ],
    [
      'role before content type',
      'role-required',
      () =>
        call(app, 'POST', '/api/integrations/tokens', {
          token: member.token,
          headers: { 'Content-Type': 'text/plain' },
          body: {},
        }),
    ],
    [
      'token before content type',
      'token-missing',
      () => send({ headers: { Authorization: undefined, 'Content-Type': 'text/plain' } }),
    ],
    [
      'encoding before content type',
      'unsupported-encoding',
      () => send({ headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' } }),
    ],
    [
      'content type before size',
      'unsupported-media-type',
      () => send({ body: bigBody, headers: { 'Content-Type': 'text/plain' } }),
    ],
    [
      'size before signature headers',
      'body-too-large',
      () => send({ body: bigBody, headers: { 'X-Service-Signature': undefined } }),
    ],
    [
      'signature headers before the signature',
      'timestamp-malformed',
      () =>
        send({ headers: { 'X-Service-Timestamp': 'x', 'X-Service-Signature': `sha256=${'0'.repeat(64)}` } }),
    ],
    [
      'the signature before the window',
      'signature-mismatch',
      () => send({ timestamp: stale(), signedBody: 'other' }),
    ],
    ['the window before JSON', 'timestamp-out-of-window', () => send({ timestamp: stale(), body: '{' })],
    ['the signature before JSON', 'signature-mismatch', () => send({ signedBody: 'other', body: '{' })],
    [
      'JSON before fields',
      'duplicate-key',
      () => send({ body: '{"customer_rate":"x","customer_rate":"x"}' }),
    ],
    [
      'fields before the quote',
      'validation-failed',
      () => send({ body: '{"lane_ref":"1-1-1","truck_cost":-1}' }),
    ],
  ])('%s', async (_what, code, ask) => {
    const answer = await ask()
    expect(answer.body.type).toBe(problemType(code))
  })

  test('duplicate headers before the token', async () => {
    const [answer] = await sendRaw(
      app,
      head(`GET ${markupPath} HTTP/1.1`, [
        ['Host', 'x'],
        ['Authorization', 'a'],
        ['Authorization', 'b'],
      ]),
    )
    expect(answer?.body.type).toBe('/problems/duplicate-header')
  })
})

describe('the exact bytes', () => {
  test('a chunked body is the same body: its bytes are signed, chunk extensions and trailers are not', async () => {
    const { lane_ref, lane_id } = await makeQuote(app, acme.tenant)
    const body = JSON.stringify({ lane_ref, carrier_name: 'Chunked Freight é' })
    const bytes = Buffer.from(body)
    const start = (more: [string, string][]) =>
      head(`POST ${updatePath} HTTP/1.1`, [
        ['Host', 'x'],
        ...headerList(body),
        ...more,
        ['Connection', 'close'],
      ])
    const whole = await sendRaw(app, [start([['Content-Length', String(bytes.length)]]), bytes])
    const byteByByte = await sendRaw(app, [
      start([['Transfer-Encoding', 'chunked']]),
      ...[...bytes].flatMap((byte) => [Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
      '0\r\n\r\n',
    ])
    const extended = await sendRaw(app, [
      start([['Transfer-Encoding', 'chunked']]),
      `${bytes.length.toString(16)};name=value\r\n`,
      bytes,
      '\r\n0\r\nX-Trailer: x\r\n\r\n',
    ])
    for (const [answer] of [whole, byteByByte, extended]) {
      expect(answer?.status).toBe(200)
      expect(answer?.body).toEqual({ status: 'ok', lane_id, updated: true })
    }
  })

  test('any flipped bit of a body is detected', async () => {
    const body = Buffer.from(JSON.stringify({ lane_ref: quote.lane_ref, carrier_name: 'x'.repeat(20) }))
    for (let bit = 0; bit < body.length * 8; bit += 13) {
      const flipped = Buffer.from(body)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const answer = await send({ signedBody: body, body: flipped })
      expect(answer.body.type, `bit ${bit}`).toBe('/problems/signature-mismatch')
    }
  })
})

describe('logs', () => {
  test('no log line contains a token, a secret, a signature or a body', async () => {
    await send({ body: JSON.stringify({ lane_ref: quote.lane_ref, customer_name: 'CANARY-customer' }) })
    await send({ body: '{"CANARY-body"' })
    await read({ Authorization: `Bearer ${acme.token}x` })
    const log = app.logLines.slice(loggedBefore).join('')
    for (const kept of [
      acme.token,
      acme.secret,
      acme.tenant.owner,
      acme.tenant.password,
      'CANARY',
      'sha256=',
    ]) {
      expect(log.includes(kept)).toBe(false)
      expect(log.includes(Buffer.from(kept).toString('base64').slice(0, 30))).toBe(false)
    }
    expect(log).toContain('"route":"/api/integrations/tms/shipment-update"')
  })
})

test('a caller that disconnects during its body is not logged as an error of the service', async () => {
  const errors = () => app.logLines.filter((line) => line.includes('"level":"error"')).length
  const before = errors()
  const start = head(`POST ${updatePath} HTTP/1.1`, [
    ['Host', 'x'],
    ...headerList('{}'),
    ['Content-Length', '100'],
  ])
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  await new Promise((sent) => socket.write(`${start}{"a`, sent))
  socket.destroy()
  await expect.poll(() => app.logLines.slice(-3).join('')).toContain('malformed-request')
  expect(errors()).toBe(before)
})

describe('408', () => {
  test('headers or a body that arrive too slowly are answered, and the connection is closed', async () => {
    for (const [answer] of [await slowHeaders, await slowBody]) {
      if (answer === undefined) throw new Error('no answer')
      expectProblem(answer, 'request-timeout')
      expect(answer.headers.connection).toBe('close')
    }
  })
})
