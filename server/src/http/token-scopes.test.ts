import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, signsOf } from '#contract/endpoint.ts'
import { type TokenScope, tokenScopeNames, tokenScopes } from '#contract/token-scopes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  signedHeaders,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Written by hand: for each scope, the operations that a token with this scope alone may call. */
const reads = [
  'markup',
  'lane-insight',
  'insight-batch',
  'read-quotes',
  'read-shipments',
  'search-shipments',
  'integration-get-import',
  'mcp',
] as const
const permitted: Readonly<Record<TokenScope, readonly string[]>> = {
  'integrations:write': ['shipment-update', 'push-shipment-updates', ...reads],
  'quotes:write': ['push-quotes', 'check-quotes', 'push-outcomes', 'push-market-rates', 'push-market-file'],
  'imports:write': ['integration-create-import', 'integration-get-import'],
  read: reads,
}

const corridor = 'origin=Dallas,%20TX&destination=Atlanta,%20GA'
const queryOf: Readonly<Record<string, string>> = {
  markup: `?${corridor}&proposed_rate=2000`,
  'lane-insight': `?${corridor}`,
}

let app: TestApp
let acme: Integration
const tokens = new Map<string, string>()

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
  await makeQuote(app, acme.tenant, { outcome: 'won' })
  for (const scope of [...tokenScopeNames, 'quotes:write imports:write', 'read quotes:write']) {
    tokens.set(scope, await makeServiceToken(app, acme.tenant.owner, scope))
  }
})

const agent = { name: 'mcp', method: 'POST', path: '/mcp', who: { kind: 'service', signed: false } } as const
const serviceEndpoints = [
  ...(allEndpoints as readonly Endpoint[]).filter(({ who }) => who.kind === 'service'),
  agent as unknown as Endpoint,
]

/** Calls an operation with a token and a correct signature. The answer is 403, or something that follows the admission. */
async function ask(token: string, endpoint: Endpoint): Promise<Response> {
  const { method, name, bodyKind } = endpoint
  const path = endpoint.path.replaceAll(/\{\w+\}/g, '1')
  const bytes = name === 'mcp' ? '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}' : '{}'
  const address = signsOf(endpoint) === 'body' ? null : { method, path }
  return fetch(`${app.url}${path}${queryOf[name] ?? ''}`, {
    method,
    headers: {
      ...signedHeaders({ token, secret: acme.secret }, bytes, Math.floor(app.now / 1000), address),
      ...(bodyKind === 'csv' ? { 'Content-Type': 'text/csv' } : {}),
      Accept: 'application/json, text/event-stream',
    },
    ...(method === 'GET' ? {} : { body: bytes }),
  })
}

describe.each(tokenScopeNames)('a token with the scope %s', (scope) => {
  test.each(serviceEndpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
    'calls %s only if the scope permits it',
    async (name, endpoint) => {
      app.now += 2_000
      // Twice, because the second read finds the token in the cache.
      for (const _ of ['first', 'second']) {
        const answer = await ask(tokens.get(scope) ?? '', endpoint)
        const body = await answer.text()
        expect(answer.status === 403, body).toBe(!permitted[scope].includes(name))
        if (answer.status !== 403) continue
        expect(JSON.parse(body).code).toBe('insufficient-scope')
      }
    },
  )
})

test('the refusal names the scope that is needed and those that the token has', async () => {
  const [update] = serviceEndpoints
  if (update === undefined) throw new Error('There is no signed endpoint.')
  const answer = await ask(tokens.get('quotes:write imports:write') ?? '', update)
  expect(answer.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_scope", scope="integrations:write"',
  )
  expect(((await answer.json()) as { detail: string }).detail).toBe(
    'This needs a service token with the scope integrations:write; this token has quotes:write imports:write.',
  )
})

test('a scope that a token does not have is refused from memory, too, while another token reads', async () => {
  const path = `/api/integrations/insights/markup?${corridor}&proposed_rate=2000`
  const status = async (scope: string) => {
    app.now += 2_000
    return (await call(app, 'GET', path, { token: tokens.get(scope) ?? '' })).status
  }
  for (const _ of ['opens the book', 'from memory']) {
    expect(await status('read quotes:write')).toBe(200)
    expect(await status('quotes:write')).toBe(403)
  }
})

describe('POST /api/integrations/tokens', () => {
  const create = (scope: unknown) =>
    call(app, 'POST', '/api/integrations/tokens', {
      token: acme.tenant.owner,
      body: { name: 'scoped', scope },
    })

  test.each([
    ['read', 'read'],
    ['read integrations:write', 'integrations:write read'],
    ['imports:write  quotes:write imports:write ', 'quotes:write imports:write'],
    [null, 'integrations:write'],
    [undefined, 'integrations:write'],
  ])('%j is saved and shown as %j', async (asked, stored) => {
    app.now += 2_000
    const { status, body } = await create(asked)
    expect([status, body.scope]).toEqual([201, stored])
    const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString())
    expect(claims.scope).toBe(stored)
    const listed = await call(app, 'GET', '/api/integrations/tokens', { token: acme.tenant.owner })
    expect(listed.body.tokens[0]).toMatchObject({ id: body.id, scope: stored })
  })

  test.each(['', ' ', 'write', 'READ', 'read,quotes:write', 'read\tquotes:write', 7, ['read']])(
    '%j is refused, and the known scopes are listed',
    async (asked) => {
      app.now += 2_000
      const { status, body } = await create(asked)
      expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/scope'])
      expect(body.detail).toContain(tokenScopeNames.join(', '))
    },
  )

  test('the audit log names the scopes', async () => {
    app.now += 2_000
    await create('read')
    const { body } = await call(app, 'GET', '/api/audit?kind=token-created', { token: acme.tenant.owner })
    expect(body.events[0].about).toMatchObject({ name: 'scoped', scope: 'read' })
  })
})

test('each scope says what it permits', () => {
  for (const { title, permits } of Object.values(tokenScopes)) {
    expect(title).toMatch(/^[A-Z]/)
    expect(permits).toMatch(/^[A-Z].*\.$/)
  }
})
