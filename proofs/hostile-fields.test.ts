import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type HostileAnswer, type OpenApiDocument, oracleOf } from './hostile-oracle.ts'
import { jsonBodies, numberParameters, numberTexts, texts } from './hostile-values.ts'
import { requestOf } from './route-requests.ts'
import { credentialOf, endlessThread } from './route-walk.ts'
import { idsOf, type SeededTenants, seededTenants, signingSecretOf } from './seeded-tenants.ts'

/** Every value of a list in every field that could hold it: what chance would take long to draw. */

const ids = idsOf('A')
const logs = ['integration_calls', 'audit_log', 'tenant_counters']
let app: TestApp
let tenants: SeededTenants
let faultsOf: ReturnType<typeof oracleOf>
const bearers: Record<string, string> = {}

beforeAll(async () => {
  app = await testApp({ backtestThread: endlessThread })
  tenants = await seededTenants(app)
  faultsOf = oracleOf((await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument)
  for (const caller of ['owner-A', 'service-A'] as const) {
    bearers[caller] = credentialOf(app, caller, tenants, { path: '' }).Authorization ?? ''
  }
})
// Whatever the one before left, also where it failed.
beforeEach(() => tenants.seed('A'))
afterAll(async () => {
  await tenants.close()
  await app.close()
})

async function ask(
  method: string,
  url: string,
  headers: Record<string, string>,
  payload?: Buffer | string,
  tries = 4,
): Promise<HostileAnswer> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  // On a machine that is busy with others the service may have no time; what stays so is a fault.
  if (answer.statusCode === 503 && tries > 1) {
    await new Promise((resume) => setTimeout(resume, 500))
    return ask(method, url, headers, payload, tries - 1)
  }
  return { status: answer.statusCode, headers: answer.headers, text: answer.payload }
}

function signed(body: Buffer | string, over: Buffer | string = body): Record<string, string> {
  const seconds = Math.floor(app.now / 1000)
  const digest = createHmac('sha256', signingSecretOf('A')).update(`${seconds}.`).update(over).digest('hex')
  return {
    Authorization: bearers['service-A'] ?? '',
    'Content-Type': 'application/json',
    'X-Service-Timestamp': String(seconds),
    'X-Service-Signature': `sha256=${digest}`,
  }
}

/** Each value of a list, few at a time: the service gives the calls of one moment 2.5 s for its database in all. */
async function each<T>(list: readonly T[], look: (value: T) => Promise<void>): Promise<void> {
  const queue = [...list]
  const lane = async () => {
    for (let value = queue.shift(); value !== undefined; value = queue.shift()) await look(value)
  }
  await Promise.all([lane(), lane()])
}

/** A field of a request, with the place of its test among the others. */
const numbered = <T extends { endpoint: Endpoint; field: string }>(fields: readonly T[]) =>
  fields.map((one, nth) => ({ ...one, nth, name: `${one.endpoint.name} ${one.field}` }))

/**
 * Every ninth value, from another one on for each field: each value meets several fields. hostile-fields.long.test.ts tries
 * all of them in every field.
 */
const step = process.env.EVERY_VALUE === undefined ? 9 : 1
const someOf = <T>(list: readonly T[], nth: number): T[] => list.filter((_, at) => (at + nth) % step === 0)

const updatePath = '/api/integrations/tms/shipment-update'
const push = (body: Buffer | string, over?: Buffer | string) =>
  ask('POST', updatePath, signed(body, over), body)

/** Sign-in has its own tests: each of these would cost a password's hash or end the session that asks. */
const apart = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'change-password',
  'sign-out',
  'create-import',
])
const endpoints = (allEndpoints as readonly Endpoint[]).filter(({ name }) => !apart.has(name))

interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
}
const fieldsOf = (schema: unknown) =>
  Object.entries((schema as { properties?: Record<string, FieldSchema> } | undefined)?.properties ?? {})
const isNumber = ({ type }: FieldSchema) => type === 'number' || type === 'integer'

/** A valid request of an operation with one field of its body as this JSON text. */
async function withField({ name, method, who }: Endpoint, field: string, json: string) {
  const { path, body, text } = requestOf[name as keyof typeof requestOf](ids)
  const valid = (body ?? JSON.parse(text?.bytes ?? '{}')) as Record<string, unknown>
  const rest = Object.entries(valid).filter(([known]) => known !== field)
  const members = [...rest.map(([known, value]) => `${JSON.stringify(known)}:${JSON.stringify(value)}`)]
  const bytes = `{${[...members, `${JSON.stringify(field)}:${json}`].join(',')}}`
  const headers =
    who.kind === 'service'
      ? signed(bytes)
      : { Authorization: bearers['owner-A'] ?? '', 'Content-Type': 'application/json' }
  return { path, answer: await ask(method, path, headers, bytes) }
}

async function withParameter({ name, method, path: template, who }: Endpoint, field: string, text: string) {
  const { path } = requestOf[name as keyof typeof requestOf](ids)
  const [route = '', query = ''] = path.split('?')
  const at = template.split('/').indexOf(`{${field}}`)
  const value = encodeURIComponent(text.toWellFormed())
  const pairs = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${field}=`))
  const url =
    at === -1
      ? `${route}?${[...pairs, `${field}=${value}`].join('&')}`
      : path.split('/').with(at, value).join('/')
  const headers = { Authorization: bearers[who.kind === 'service' ? 'service-A' : 'owner-A'] ?? '' }
  return { url, answer: await ask(method, url, headers) }
}

/** JSON texts that are no number of any field: not JSON, another type, not finite, or negative. (-0 is a 0 to some.) */
const neverNumbers = numberTexts.filter((text) => {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
  } catch {
    return true
  }
})

describe('numbers', () => {
  const bodies = endpoints.flatMap((endpoint) =>
    fieldsOf(endpoint.body)
      .filter(([, schema]) => isNumber(schema))
      .map(([field]) => ({ endpoint, field })),
  )

  test('there are such fields', () => {
    expect(bodies.length).toBeGreaterThan(4)
    expect(neverNumbers.length).toBeGreaterThan(25)
  })

  test.each(numbered(bodies))('$name of a body takes none that is none', async ({ endpoint, field, nth }) => {
    await each(someOf(numberTexts, nth), async (text) => {
      const { path, answer } = await withField(endpoint, field, text)
      expect([text, faultsOf({ method: endpoint.method, target: path, headers: [] }, answer)]).toEqual([
        text,
        [],
      ])
      if (neverNumbers.includes(text))
        expect([text, [400, 422].includes(answer.status)]).toEqual([text, true])
    })
  })

  test.each(
    numbered(
      endpoints.flatMap((endpoint) =>
        [...fieldsOf(endpoint.query), ...fieldsOf(endpoint.params)]
          .filter(([, schema]) => isNumber(schema))
          .map(([field]) => ({ endpoint, field })),
      ),
    ),
  )('$name of an address takes plain decimal digits and nothing else', async ({ endpoint, field, nth }) => {
    await each(someOf(numberParameters, nth), async (text) => {
      const { url, answer } = await withParameter(endpoint, field, text)
      expect([text, faultsOf({ method: endpoint.method, target: url, headers: [] }, answer)]).toEqual([
        text,
        [],
      ])
      // An empty part of a path is another address.
      if (!/^\d+(\.\d+)?$/.test(text) || /^0\d/.test(text)) {
        expect([text, [404, 422].includes(answer.status)]).toEqual([text, true])
        if (text !== '') expect([text, answer.status]).toEqual([text, 422])
      }
    })
  })
})

/** The same declarations as of the list or the read beside each, behind another address. */
const twins = new Set([
  'export-lanes',
  'export-shipments',
  'export-audit-events',
  'list-shipments',
  'quote-advice',
  'lane-advice',
])

describe('texts that other systems have tripped over', () => {
  test.each(
    numbered(
      endpoints.flatMap((endpoint) =>
        fieldsOf(endpoint.body)
          .filter(([, schema]) => schema.type === 'string')
          .map(([field]) => ({ endpoint, field })),
      ),
    ),
  )(
    '$name of a body: taken and given back letter for letter, or refused',
    async ({ endpoint, field, nth }) => {
      await each(someOf(texts, nth), async (text) => {
        const { path, answer } = await withField(endpoint, field, JSON.stringify(text))
        expect([text, faultsOf({ method: endpoint.method, target: path, headers: [] }, answer)]).toEqual([
          text,
          [],
        ])
        if (answer.status >= 300) return
        const body = JSON.parse(answer.text) as Record<string, unknown>
        const { user } = body as { user?: Record<string, unknown> }
        for (const given of [body[field], user?.[field]]) {
          if (typeof given === 'string' && field !== 'email') expect(given).toBe(text)
        }
      })
    },
  )

  test.each(
    numbered(
      endpoints
        .filter(({ name }) => !twins.has(name))
        .flatMap((endpoint) =>
          [...fieldsOf(endpoint.query), ...fieldsOf(endpoint.params)]
            .filter(([, schema]) => !isNumber(schema))
            .map(([field]) => ({ endpoint, field })),
        ),
    ),
  )('$name of an address: an answer as documented', async ({ endpoint, field, nth }) => {
    await each(someOf(texts, nth), async (text) => {
      const { url, answer } = await withParameter(endpoint, field, text)
      expect([text, faultsOf({ method: endpoint.method, target: url, headers: [] }, answer)]).toEqual([
        text,
        [],
      ])
    })
  })

  test('each event is one line of the log, whatever letters it was about', () => {
    expect(app.logLines.length).toBeGreaterThan(1_000)
    for (const line of app.logLines) {
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(typeof JSON.parse(line)).toBe('object')
    }
    // That it had no time once, on a busy machine, is no fault: the call was made again.
    const errors = app.logLines.filter((line) => line.includes('"level":"error"'))
    expect(errors.filter((line) => !line.includes('"code":"unavailable"'))).toEqual([])
    expect(app.logLines.filter((line) => line.includes('Set-Cookie'))).toEqual([])
  })
})

describe('a signed body', () => {
  test('in which a bit of any of 300 bytes is another is refused, and changes nothing', async () => {
    const start = `{"lane_ref":"${ids.laneRef}","customer_name":"${'n'.repeat(100)}","carrier_name":"`
    const body = Buffer.from(`${start}${'x'.repeat(300 - start.length - 2)}"}`)
    expect(body.length).toBe(300)
    const before = await tenants.checksum('A', logs)
    // One bit of each byte, another one each time.
    const bits = Array.from({ length: body.length }, (_, byte) => byte * 8 + (byte % 8))
    await each(bits, async (bit) => {
      const flipped = Buffer.from(body)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const answer = await push(flipped, body)
      expect([bit, answer.status, answer.text.includes('signature-mismatch')]).toEqual([bit, 401, true])
    })
    expect(await tenants.checksum('A', logs)).toBe(before)
    expect((await push(body)).status).toBe(200)
  }, 60_000)

  test('of any JSON that parsers disagree on is refused in words, and changes nothing', async () => {
    const before = await tenants.checksum('A', logs)
    for (const body of jsonBodies) {
      const answer = await push(body)
      const shown = body.toString().slice(0, 60)
      expect([shown, faultsOf({ method: 'POST', target: updatePath, headers: [] }, answer)]).toEqual([
        shown,
        [],
      ])
      // 404: a number that is one, about a lane that is none.
      expect([shown, [400, 404, 413, 422].includes(answer.status)]).toEqual([shown, true])
    }
    expect(await tenants.checksum('A', logs)).toBe(before)
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})

describe('a body that cannot be read', () => {
  test.each([
    ['packed', 'Content-Encoding: gzip', 415],
    ['packed twice', 'Content-Encoding: gzip, gzip', 415],
    ['of another type', 'Content-Type: text/plain', 415],
    ['too large', 'X: y', 413],
    ['of nobody', 'Authorization: Bearer x', 401],
  ])(
    '%s: a gigabyte of it is refused before a byte of it is sent, and the connection ends',
    async (_what, header, status) => {
      const [name = '', value = ''] = header.split(': ')
      const began = process.memoryUsage().rss
      const [answer] = await sendRaw(
        app,
        head(`POST ${updatePath} HTTP/1.1`, [
          ['Host', 'x'],
          ...Object.entries({ ...signed('{}'), [name]: value }),
          ['Content-Length', String(1024 ** 3)],
        ]),
        5_000,
      )
      expect(answer?.status).toBe(status)
      expect(answer?.headers.connection).toBe('close')
      expect(process.memoryUsage().rss - began).toBeLessThan(64 * 1024 ** 2)
    },
  )
})

test('five hundred silent connections keep nobody else waiting', async () => {
  const silent = Array.from({ length: 500 }, () => sendRaw(app, 'GET / HTTP/1.1\r\n', 1_000))
  for (let calls = 0; calls < 100; calls++) {
    const response = await fetch(`${app.url}/api/me`, {
      headers: { Authorization: bearers['owner-A'] ?? '' },
    })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  await Promise.all(silent)
})
