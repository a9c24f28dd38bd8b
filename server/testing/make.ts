import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Endpoint, signsOf } from '#contract/endpoint.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { type SignedAddress, textBeforeBody } from '#contract/signature.ts'
import { quotesChanged, tenantId } from '#server/database/session/index.ts'
import { checkAgainstContract } from './conforms.ts'
import type { TestApp } from './test-app.ts'

/** A response with its parsed JSON body, or the text of a CSV file. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back
  readonly body: any
}

/** Sends one JSON request and checks the response against the contract. */
export async function call(
  app: TestApp,
  method: string,
  path: string,
  options: {
    token?: string
    body?: unknown
    /** A table in its own bytes, instead of `body`. */
    file?: string | Uint8Array<ArrayBuffer>
    headers?: Record<string, string>
  } = {},
): Promise<Answer> {
  const { body: json, file } = options
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(file === undefined ? {} : { 'Content-Type': 'text/csv' }),
      ...options.headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(file === undefined ? {} : { body: file }),
  })
  const text = await response.text()
  const isCsv = response.headers.get('content-type')?.startsWith('text/csv') === true
  const body = isCsv ? text : text === '' ? null : JSON.parse(text)
  checkAgainstContract(method, path, response.status, body)
  return { status: response.status, headers: response.headers, body }
}

/**
 * Returns the body of a response, or throws with its status and body if the status differs. Helpers that create test
 * data use it, so that a failed call is reported where it happened.
 */
export function requireStatus(what: string, { status, body }: Answer, expected: number): Answer['body'] {
  if (status === expected) return body
  throw new Error(`${what} returned ${status}, expected ${expected}: ${JSON.stringify(body)}`)
}

/** A tenant. `owner` is the dashboard token of its owner. */
export interface MadeTenant {
  readonly id: number
  readonly email: string
  readonly password: string
  readonly owner: string
}

export const password = 'correct horse battery staple'

export async function makeTenant(app: TestApp): Promise<MadeTenant> {
  const email = `owner-${randomUUID()}@example.com`
  const answer = await call(app, 'POST', '/api/auth/sign-up', {
    body: { company: 'Test Brokers', name: 'Olive Quay', email, password },
  })
  const { tenant, token } = requireStatus('sign-up', answer, 201)
  return { id: tenant.id, email, password, owner: token }
}

/** Invites a person to a tenant and accepts the invitation. Returns the person's dashboard token and credentials. */
export async function makePerson(
  app: TestApp,
  tenant: MadeTenant,
  role: 'viewer' | 'member' | 'admin' | 'owner',
): Promise<{ id: number; token: string; email: string; password: string }> {
  const email = `${role}-${randomUUID()}@example.com`
  const invited = await call(app, 'POST', '/api/users', {
    token: tenant.owner,
    body: { name: `A ${role}`, email, role },
  })
  const { invitation, user } = requireStatus('invitation', invited, 201)
  const accepted = await call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } })
  const { token } = requireStatus('acceptance of an invitation', accepted, 200)
  return { id: user.id, token, email, password }
}

/** Creates a service token. Without `scope`, it has the scope of the interface: integrations:write. */
export async function makeServiceToken(
  app: TestApp,
  dashboardToken: string,
  scope?: string,
): Promise<string> {
  const answer = await call(app, 'POST', '/api/integrations/tokens', {
    token: dashboardToken,
    body: { name: 'test', ...(scope === undefined ? {} : { scope }) },
  })
  return requireStatus('creation of a service token', answer, 201).token
}

export async function makeSecret(app: TestApp, dashboardToken: string): Promise<string> {
  const answer = await call(app, 'POST', '/api/integrations/secrets', {
    token: dashboardToken,
    body: { name: 'tms' },
  })
  return requireStatus('creation of a signing secret', answer, 201).secret
}

/** The credentials of an integration: a service token and a signing secret. */
export interface Integration {
  readonly tenant: MadeTenant
  readonly token: string
  readonly secret: string
}

/** Without `scope`, the token has the scope of the interface: integrations:write. */
export async function makeIntegration(app: TestApp, scope?: string): Promise<Integration> {
  const tenant = await makeTenant(app)
  return {
    tenant,
    token: await makeServiceToken(app, tenant.owner, scope),
    secret: await makeSecret(app, tenant.owner),
  }
}

export interface QuoteToMake {
  readonly customer?: string
  readonly origin?: string
  readonly destination?: string
  readonly equipment?: string
  readonly rate?: number
  readonly outcome?: 'won' | 'lost' | 'pending'
}

/** Makes a quote and sets its outcome. Returns the quote as the API shows it. */
export async function makeQuote(app: TestApp, tenant: MadeTenant, quote: QuoteToMake = {}) {
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: {
      customer_name: quote.customer ?? 'Harvest Table Foods',
      lanes: [
        {
          origin: quote.origin ?? 'Dallas, TX',
          destination: quote.destination ?? 'Atlanta, GA',
          equipment: quote.equipment ?? 'V',
          quoted_rate: quote.rate ?? 2000,
        },
      ],
    },
  })
  // Only this answer has warnings about the rate.
  const [{ warnings: _, ...quoted }] = requireStatus('quote request', made, 201).lanes
  if (quote.outcome === undefined || quote.outcome === 'pending') return quoted
  const decided = await call(app, 'POST', `/api/lanes/${quoted.lane_ref}/outcome`, {
    token: tenant.owner,
    body: { outcome: quote.outcome },
  })
  return requireStatus('setting an outcome', decided, 200)
}

/** Writes columns of a quote as no endpoint does: without its history and events. */
export async function setColumns(
  app: TestApp,
  tenant: MadeTenant,
  quoteId: number,
  columns: object,
): Promise<void> {
  const id = tenantId(tenant.id)
  await app.database.inTenant(id, async (transaction) => {
    await transaction
      .updateTable('quotes')
      .set(columns)
      .where('tenant_id', '=', id)
      .where('lane_id', '=', quoteId)
      .execute()
    quotesChanged(transaction, [quoteId])
  })
}

/**
 * Returns the headers of a signed write of exactly these bytes. `timestampSeconds` is the signed time. The default address
 * null signs the body only, as shipment-update requires; all other endpoints sign their address, too.
 */
export function signedHeaders(
  integration: Pick<Integration, 'token' | 'secret'>,
  bytes: string | Buffer,
  timestampSeconds: number | string,
  address: SignedAddress | null = null,
): Record<string, string> {
  const digest = createHmac('sha256', integration.secret)
    .update(textBeforeBody(String(timestampSeconds), address))
    .update(bytes)
    .digest('hex')
  return {
    Authorization: `Bearer ${integration.token}`,
    'Content-Type': 'application/json',
    'X-Service-Timestamp': String(timestampSeconds),
    'X-Service-Signature': `sha256=${digest}`,
  }
}

/** Sends a signed request to an endpoint without parameters. The timestamp defaults to the server's clock. */
export async function pushSigned(
  app: TestApp,
  integration: Pick<Integration, 'token' | 'secret'>,
  endpoint: Pick<Endpoint, 'method' | 'path' | 'who'>,
  body: unknown,
  timestampSeconds: number = Math.floor(app.now / 1000),
): Promise<Answer> {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body)
  const { method, path } = endpoint
  const address = signsOf(endpoint) === 'body' ? null : { method, path }
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: signedHeaders(integration, bytes, timestampSeconds, address),
    body: bytes,
  })
  const answer = await response.json()
  checkAgainstContract(method, path, response.status, answer)
  return { status: response.status, headers: response.headers, body: answer }
}

/** Sends a signed file to an endpoint. The timestamp defaults to the server's clock. */
export async function pushFile(
  app: TestApp,
  integration: Pick<Integration, 'token' | 'secret'>,
  { method, path: route }: Pick<Endpoint, 'method' | 'path'>,
  { file, query }: { readonly file: string; readonly query: string },
  timestampSeconds: number = Math.floor(app.now / 1000),
): Promise<Answer> {
  const path = `${route}${query}`
  const headers = {
    ...signedHeaders(integration, file, timestampSeconds, { method, path }),
    'Content-Type': 'text/csv',
  }
  return call(app, method, path, { file, headers })
}

/** A quote that another system pushes. */
export const quoteToPush = (external_id: string, over: object = {}) => ({
  external_id,
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2150,
  customer_name: 'Harvest Table Foods',
  ...over,
})

/** Sends a signed shipment update. The timestamp defaults to the server's clock. */
export function pushUpdate(
  app: TestApp,
  integration: Pick<Integration, 'token' | 'secret'>,
  update: Record<string, unknown>,
  timestampSeconds: number = Math.floor(app.now / 1000),
): Promise<Answer> {
  return pushSigned(app, integration, shipmentUpdate, update, timestampSeconds)
}

/** The report on past quotes, as soon as the test in the background has ended. */
export async function backtestReport(
  app: TestApp,
  token: string,
  body: { readonly rule?: object } = {},
): Promise<Answer> {
  for (;;) {
    const answer = await call(app, 'POST', '/api/backtest', { token, body })
    if (answer.body.status !== 'running') return answer
    await delay(25)
  }
}
