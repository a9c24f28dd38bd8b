import { createHmac, randomUUID } from 'node:crypto'
import { holdAgainstContract } from './conforms.ts'
import type { TestApp } from './test-app.ts'

/** An answer as a client sees it: its JSON read, a CSV file as text. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back
  readonly body: any
}

/** One JSON call, as any client makes it. */
export async function call(
  app: TestApp,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
      ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  const isCsv = response.headers.get('content-type')?.startsWith('text/csv') === true
  const body = isCsv ? text : text === '' ? null : JSON.parse(text)
  holdAgainstContract(method, path, response.status, body)
  return { status: response.status, headers: response.headers, body }
}

/** A brokerage with its owner signed in. */
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
  if (answer.status !== 201)
    throw new Error(`sign-up answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return { id: answer.body.tenant.id, email, password, owner: answer.body.token }
}

/** A person of a role in a brokerage, signed in: their dashboard token and id, and what they sign in with. */
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
  const accepted = await call(app, 'POST', '/api/auth/accept-invitation', {
    body: { invitation: invited.body.invitation, password },
  })
  if (accepted.status !== 200) throw new Error(`invitation answered ${accepted.status}`)
  return { id: invited.body.user.id, token: accepted.body.token, email, password }
}

export async function makeServiceToken(app: TestApp, dashboardToken: string): Promise<string> {
  const answer = await call(app, 'POST', '/api/integrations/tokens', {
    token: dashboardToken,
    body: { name: 'test' },
  })
  return answer.body.token
}

export async function makeSecret(app: TestApp, dashboardToken: string): Promise<string> {
  const answer = await call(app, 'POST', '/api/integrations/secrets', {
    token: dashboardToken,
    body: { name: 'tms' },
  })
  return answer.body.secret
}

/** What an integration holds: a service token and a signing secret. */
export interface Integration {
  readonly tenant: MadeTenant
  readonly token: string
  readonly secret: string
}

export async function makeIntegration(app: TestApp): Promise<Integration> {
  const tenant = await makeTenant(app)
  return {
    tenant,
    token: await makeServiceToken(app, tenant.owner),
    secret: await makeSecret(app, tenant.owner),
  }
}

export interface LaneToMake {
  readonly origin?: string
  readonly destination?: string
  readonly equipment?: string
  readonly rate?: number
  readonly outcome?: 'won' | 'lost' | 'pending'
}

/** Quotes a lane, sets its outcome, and answers it as the API shows it. */
export async function makeLane(app: TestApp, tenant: MadeTenant, lane: LaneToMake = {}) {
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: tenant.owner,
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: [
        {
          origin: lane.origin ?? 'Dallas, TX',
          destination: lane.destination ?? 'Atlanta, GA',
          equipment: lane.equipment ?? 'V',
          quoted_rate: lane.rate ?? 2000,
        },
      ],
    },
  })
  if (made.status !== 201) throw new Error(`quote answered ${made.status}: ${JSON.stringify(made.body)}`)
  const [quoted] = made.body.lanes
  if (lane.outcome === undefined || lane.outcome === 'pending') return quoted
  const decided = await call(app, 'POST', `/api/lanes/${quoted.lane_ref}/outcome`, {
    token: tenant.owner,
    body: { outcome: lane.outcome },
  })
  return decided.body
}

/** The headers of a signed write over exactly these bytes, at the second of the server's clock unless said otherwise. */
export function signedHeaders(
  integration: Pick<Integration, 'token' | 'secret'>,
  bytes: string | Buffer,
  timestampSeconds: number | string,
): Record<string, string> {
  const digest = createHmac('sha256', integration.secret)
    .update(`${timestampSeconds}.`)
    .update(bytes)
    .digest('hex')
  return {
    Authorization: `Bearer ${integration.token}`,
    'Content-Type': 'application/json',
    'X-Service-Timestamp': String(timestampSeconds),
    'X-Service-Signature': `sha256=${digest}`,
  }
}

/** A signed shipment update, serialised once and sent as those bytes. */
export async function pushUpdate(
  app: TestApp,
  integration: Pick<Integration, 'token' | 'secret'>,
  update: Record<string, unknown>,
  timestampSeconds: number = Math.floor(app.now / 1000),
): Promise<Answer> {
  const bytes = JSON.stringify(update)
  const response = await fetch(`${app.url}/api/integrations/tms/shipment-update`, {
    method: 'POST',
    headers: signedHeaders(integration, bytes, timestampSeconds),
    body: bytes,
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
