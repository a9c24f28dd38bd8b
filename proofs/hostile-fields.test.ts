/** @module-tag long */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, signsOf } from '#contract/endpoint.ts'
import { type SignedAddress, textBeforeBody } from '#contract/signature.ts'
import { seededRandom } from '#server/sample/index.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { extremeChoices, extremeFields, type ValueSchema, withExtremes } from './extreme-values.ts'
import { type HostileAnswer, type OpenApiDocument, oracleOf } from './hostile-oracle.ts'
import { jsonBodies, numberParameters, numberTexts, texts } from './hostile-values.ts'
import { bodyOf, type Place, placesOf } from './request-places.ts'
import { requestOf } from './route-requests.ts'
import { credentialOf, endlessThread } from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants, signingSecretOf } from './seeded-tenants.ts'

/**
 * Promise: no value in any field makes the service fail, respond with undocumented content, or change a value silently.
 *
 * How: each field of each request body, path and query gets values that have broken other systems (`hostile-values.ts`), in
 * an otherwise valid request. `hostile-oracle.ts` compares each response with the OpenAPI document. The rest covers signed
 * bodies with a flipped bit, JSON that parsers disagree on, and bodies that are refused before they are read.
 *
 * Faults: `hostile-input.ts` plants faults in the service, and the same oracle must find them.
 */

const ids = idsOf('A')
/** Tables that record refused calls. */
const logTables = ['integration_calls', 'audit_log', 'tenant_counters']
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
// Restores the rows of A, even after a test that failed.
beforeEach(() => tenants.seed('A'))
afterAll(async () => {
  await tenants.close()
  await app.close()
})

async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  payload?: Buffer | string,
): Promise<HostileAnswer> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  return { status: answer.statusCode, headers: answer.headers, text: answer.payload }
}

/** Returns the headers of a signed write. `signedBytes` differs from `body` to make the signature wrong. */
function signed(
  body: Buffer | string,
  signedBytes: Buffer | string = body,
  address: SignedAddress | null = null,
): Record<string, string> {
  const seconds = Math.floor(app.now / 1000)
  const digest = createHmac('sha256', signingSecretOf('A'))
    .update(textBeforeBody(String(seconds), address))
    .update(signedBytes)
    .digest('hex')
  return {
    Authorization: bearers['service-A'] ?? '',
    'Content-Type': 'application/json',
    'X-Service-Timestamp': String(seconds),
    'X-Service-Signature': `sha256=${digest}`,
  }
}

/** Checks the values two at a time. More at once would exceed the 2.5 s that the service has for its database. */
async function forEachValue<T>(values: readonly T[], check: (value: T) => Promise<void>): Promise<void> {
  const queue = [...values]
  const worker = async () => {
    for (let value = queue.shift(); value !== undefined; value = queue.shift()) await check(value)
  }
  await Promise.all([worker(), worker()])
}

/** Every how many values of a list a test uses. `npm run prove` uses all of them. */
const step = process.env.EVERY_VALUE === undefined ? 25 : 1
/** Returns a share of the values, starting at another value for each field, so that each value is used in several fields. */
const sample = <T>(values: readonly T[], fieldIndex: number): T[] =>
  values.filter((_, at) => (at + fieldIndex) % step === 0)

const updatePath = '/api/integrations/tms/shipment-update'
const pushUpdate = (body: Buffer | string, signedBytes?: Buffer | string) =>
  send('POST', updatePath, signed(body, signedBytes), body)

/** Operations that hash a password or end the caller's session. They have their own tests. */
const excluded = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'change-password',
  'sign-out',
  'create-import',
  'integration-create-import',
  'read-import-header',
])
const endpoints = (allEndpoints as readonly Endpoint[]).filter(({ name }) => !excluded.has(name))

const requestTo = ({ name }: Endpoint) => requestOf[name as keyof typeof requestOf](ids)
const isNumber = ({ type }: ValueSchema) => type === 'number' || type === 'integer'
const isString = ({ type }: ValueSchema) => type === 'string'

/** Returns the fields to test, of the bodies or of the addresses, whose schema `accepts` selects. */
const fieldsToTest = (
  of: readonly Endpoint[],
  isInBody: boolean,
  accepts: (schema: ValueSchema) => boolean,
) =>
  of
    .flatMap((endpoint) =>
      placesOf(endpoint, requestTo(endpoint))
        .filter((place) => (place.in === 'body') === isInBody && accepts(place.schema))
        .map((place) => ({ endpoint, place, name: `${endpoint.name} ${place.name}` })),
    )
    .map((field, fieldIndex) => ({ ...field, fieldIndex }))

/** The headers of a call with this body: signed as the endpoint asks, or in the name of the owner. */
function headersFor(endpoint: Endpoint, path: string, bytes: string): Record<string, string> {
  if (endpoint.who.kind !== 'service') {
    return { Authorization: bearers['owner-A'] ?? '', 'Content-Type': 'application/json' }
  }
  const address = signsOf(endpoint) === 'body' ? null : { method: endpoint.method, path }
  return signed(bytes, bytes, address)
}

/** Sends a valid request with another value in one place: JSON in a body, a text in an address. */
async function sendWith(endpoint: Endpoint, place: Place, value: string) {
  const { path, text } = place.holding(value)
  const bearer = { Authorization: bearers[endpoint.who.kind === 'service' ? 'service-A' : 'owner-A'] ?? '' }
  const answer = await (place.in === 'body' && text !== undefined
    ? send(endpoint.method, path, headersFor(endpoint, path, text.bytes), text.bytes)
    : send(endpoint.method, path, bearer))
  return { path, answer }
}

/** Expects a documented response, and one of `statuses` if given. `value` identifies the tested value in a failure. */
function expectDocumented(
  value: string,
  method: string,
  { path, answer }: { readonly path: string; readonly answer: HostileAnswer },
  statuses: readonly number[] = [answer.status],
): void {
  const faults = faultsOf({ method, target: path, headers: [] }, answer)
  const status = statuses.includes(answer.status) ? 'expected' : answer.status
  expect({ value, faults, status }).toEqual({ value, faults: [], status: 'expected' })
}

describe('values at the ends of what the contract permits', () => {
  const withBody = endpoints.filter(({ body }) => body !== undefined)

  test.each(withBody)('$name: no constraint of the database is reached', async (endpoint) => {
    const { method } = endpoint
    const request = requestTo(endpoint)
    const { path } = request
    const valid = bodyOf(request)
    const schema = endpoint.body as ValueSchema
    const choices = extremeChoices(
      extremeFields(schema, valid),
      seededRandom(30),
      process.env.EVERY_VALUE === undefined ? 8 : 200,
    )
    await forEachValue([...choices], async (ends) => {
      const bytes = JSON.stringify(withExtremes(schema, valid, (field) => ends.get(field) ?? null))
      const answer = await send(method, path, headersFor(endpoint, path, bytes), bytes)
      expectDocumented(JSON.stringify([...ends]), method, { path, answer })
      expect(answer.status, bytes).toBeLessThan(500)
    })
  })
})

/** JSON texts that no numeric field may accept: invalid JSON, another type, not finite, or negative. -0 may count as 0. */
const invalidNumbers = numberTexts.filter((text) => {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
  } catch {
    return true
  }
})

describe('numbers', () => {
  const bodyFields = fieldsToTest(endpoints, true, isNumber)

  test('there are numeric fields and invalid numbers to test', () => {
    expect(bodyFields.length).toBeGreaterThan(4)
    expect(invalidNumbers.length).toBeGreaterThan(25)
  })

  test.each(bodyFields)(
    'body field $name refuses an invalid number',
    async ({ endpoint, place, fieldIndex }) => {
      await forEachValue(sample(numberTexts, fieldIndex), async (text) => {
        const response = await sendWith(endpoint, place, text)
        expectDocumented(
          text,
          endpoint.method,
          response,
          invalidNumbers.includes(text) ? [400, 422] : undefined,
        )
      })
    },
  )

  test.each(fieldsToTest(endpoints, false, isNumber))(
    'parameter $name accepts only plain decimal digits',
    async ({ endpoint, place, fieldIndex }) => {
      await forEachValue(sample(numberParameters, fieldIndex), async (text) => {
        const response = await sendWith(endpoint, place, text)
        const isDecimal = /^\d+(\.\d+)?$/.test(text) && !/^0\d/.test(text)
        // An empty text is an absent parameter: a path without it is another one, and a query without it may be complete.
        expectDocumented(text, endpoint.method, response, isDecimal || text === '' ? undefined : [422])
      })
    },
  )
})

/** Operations whose parameters have the same declarations as another operation that is tested. */
const duplicates = new Set([
  'export-lanes',
  'export-shipments',
  'export-audit-events',
  'list-shipments',
  'quote-advice',
  'lane-advice',
])

/** Operations that find a customer by any spelling of its name, and return the name that it has. */
const returnsOwnName = new Set(['change-customer', 'rename-customer'])

describe('texts that have broken other systems', () => {
  test.each(fieldsToTest(endpoints, true, isString))(
    'body field $name: accepted and returned unchanged, or refused',
    async ({ endpoint, place, fieldIndex }) => {
      await forEachValue(sample(texts, fieldIndex), async (text) => {
        const response = await sendWith(endpoint, place, JSON.stringify(text))
        expectDocumented(text, endpoint.method, response)
        if (response.answer.status >= 300 || returnsOwnName.has(endpoint.name)) return
        const body = JSON.parse(response.answer.text) as Record<string, unknown>
        const { user } = body as { user?: Record<string, unknown> }
        for (const returned of [body[place.name], user?.[place.name]]) {
          if (typeof returned === 'string' && place.name !== 'email') expect(returned).toBe(text)
        }
      })
    },
  )

  test.each(
    fieldsToTest(
      endpoints.filter(({ name }) => !duplicates.has(name)),
      false,
      (schema) => !isNumber(schema),
    ),
  )('parameter $name: a documented response', async ({ endpoint, place, fieldIndex }) => {
    await forEachValue(sample(texts, fieldIndex), async (text) => {
      expectDocumented(text, endpoint.method, await sendWith(endpoint, place, text))
    })
  })
})

describe('a signed body', () => {
  test('with a flipped bit in any of its 300 bytes is refused, and changes nothing', async () => {
    const start = `{"lane_ref":"${ids.laneRef}","customer_name":"${'n'.repeat(100)}","carrier_name":"`
    const body = Buffer.from(`${start}${'x'.repeat(300 - start.length - 2)}"}`)
    expect(body.length).toBe(300)
    const before = await tenants.checksum('A', logTables)
    // One bit of each byte, at a different position in each.
    const bits = Array.from({ length: body.length }, (_, byte) => byte * 8 + (byte % 8))
    await forEachValue(bits, async (bit) => {
      const flipped = Buffer.from(body)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const { status, text } = await pushUpdate(flipped, body)
      expect([bit, status, text.includes('signature-mismatch')]).toEqual([bit, 401, true])
    })
    expect(await tenants.checksum('A', logTables)).toBe(before)
    expect((await pushUpdate(body)).status).toBe(200)
  })

  test('with JSON that parsers disagree on is refused with a reason, and changes nothing', async () => {
    const before = await tenants.checksum('A', logTables)
    for (const body of jsonBodies) {
      const answer = await pushUpdate(body)
      // 404: the number is valid, but the lane_ref beside it does not exist.
      expectDocumented(
        body.toString().slice(0, 60),
        'POST',
        { path: updatePath, answer },
        [400, 404, 413, 422],
      )
    }
    expect(await tenants.checksum('A', logTables)).toBe(before)
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})

describe('a request whose body must not be read', () => {
  test.each([
    ['a compressed body', 'Content-Encoding: gzip', 415],
    ['a body compressed twice', 'Content-Encoding: gzip, gzip', 415],
    ['another content type', 'Content-Type: text/plain', 415],
    ['a body that is too large', 'X: y', 413],
    ['an invalid token', 'Authorization: Bearer x', 401],
  ])(
    'with %s: a gigabyte is refused before the first byte is sent, and the connection closes',
    async (_case, header, status) => {
      const [name = '', value = ''] = header.split(': ')
      const [answer] = await sendRaw(
        app,
        head(`POST ${updatePath} HTTP/1.1`, [
          ['Host', 'x'],
          ...Object.entries({ ...signed('{}'), [name]: value }),
          ['Content-Length', String(1024 ** 3)],
        ]),
      )
      expect(answer?.status).toBe(status)
      expect(answer?.headers.connection).toBe('close')
    },
  )
})
