import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { tenantRequestsPerWindowMax } from '#contract/limits.ts'
import { openApiDocument } from '#contract/openapi.ts'
import { type Integration, makeIntegration, makeQuote, signedHeaders } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** Every header that an answer has is in the OpenAPI document, at its operation and status. */

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly responses: Readonly<Record<string, { headers?: Record<string, unknown> }>> }
        >
      >
    >
  >
}
const document = openApiDocument('1.0.0') as unknown as Document

/** Headers of HTTP itself, and the security headers of every answer. */
const ofEveryAnswer = new Set([
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'referrer-policy',
  'strict-transport-security',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
])

let app: TestApp
let acme: Integration
/** The clock of the limit, which does not move while a test sends its requests. */
let clock = 0
beforeAll(async () => {
  app = await testApp({ monotonic: () => clock })
  acme = await makeIntegration(app)
})
afterAll(() => app.close())
beforeEach(() => {
  clock += 2_000
})

function documented(name: string, status: number): ReadonlySet<string> {
  const endpoint = allEndpoints.find((one) => one.name === name)
  if (endpoint === undefined) throw new Error(`There is no operation ${name}.`)
  const response = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()]?.responses[status]
  if (response === undefined) throw new Error(`${name} does not list ${status}.`)
  return new Set(Object.keys(response.headers ?? {}).map((header) => header.toLowerCase()))
}

/** Calls an operation, verifies that its headers are documented, and returns the headers that not every answer has. */
async function headersOf(name: string, path: string, status: number, init: RequestInit = {}) {
  const answer = await fetch(`${app.url}${path}`, init)
  await answer.arrayBuffer()
  expect(answer.status, name).toBe(status)
  const found = [...answer.headers.keys()].filter((header) => !ofEveryAnswer.has(header))
  const known = documented(name, status)
  expect(found.filter((header) => !known.has(header))).toEqual([])
  return found
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const markupPath =
  '/api/integrations/insights/markup?origin=Dallas%2C%20TX&destination=Atlanta%2C%20GA&proposed_rate=2000'

describe('the headers of an answer are documented', () => {
  test('for a read by a service', async () => {
    const headers = await headersOf('markup', `${markupPath}&colour=red`, 200, {
      headers: bearer(acme.token),
    })
    expect(headers).toEqual(
      expect.arrayContaining([
        'cache-control',
        'ignored-fields',
        'ratelimit',
        'ratelimit-policy',
        'request-id',
      ]),
    )
  })

  test('for a signed write, and for a repeated one', async () => {
    const quote = await makeQuote(app, acme.tenant)
    const body = JSON.stringify({ lane_ref: quote.lane_ref, truck_cost: 1790 })
    const init = { method: 'POST', headers: signedHeaders(acme, body, Math.floor(app.now / 1000)), body }
    const path = '/api/integrations/tms/shipment-update'
    await headersOf('shipment-update', path, 200, init)
    expect(await headersOf('shipment-update', path, 200, init)).toContain('idempotent-replayed')
  })

  test('for a file and for a sign-in', async () => {
    const owner = { headers: bearer(acme.tenant.owner) }
    expect(await headersOf('export-quotes', '/api/lanes/export', 200, owner)).toContain('content-disposition')
    const { email, password } = acme.tenant
    const signedIn = await headersOf('sign-in', '/api/auth/sign-in', 200, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    expect(signedIn).toContain('set-cookie')
  })

  test('of refusals', async () => {
    expect(await headersOf('markup', markupPath, 401)).toContain('www-authenticate')
    const wrongType = { method: 'POST', headers: bearer(acme.tenant.owner), body: 'x=1' }
    expect(await headersOf('create-quote-request', '/api/quote-requests', 415, wrongType)).toContain(
      'accept-post',
    )
    for (let call = 0; call < tenantRequestsPerWindowMax; call++) {
      await headersOf('markup', markupPath, 200, { headers: bearer(acme.token) })
    }
    expect(await headersOf('markup', markupPath, 429, { headers: bearer(acme.token) })).toContain(
      'retry-after',
    )
  })
})
