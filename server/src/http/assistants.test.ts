import { createHash, randomBytes } from 'node:crypto'
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { Secret, TOTP } from 'otpauth'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  assistantRegistrationsPerMinuteMax,
  assistantsPerPersonMax,
  secondFactorMinutes,
} from '#contract/limits.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makeLane,
  makePerson,
  pushUpdate,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let clock = 0
let acme: Integration
let person: Awaited<ReturnType<typeof makePerson>>

beforeAll(async () => {
  app = await testApp({ monotonic: () => clock })
})
beforeEach(async () => {
  clock += 60_000
  acme = await makeIntegration(app)
  person = await makePerson(app, acme.tenant, 'member')
})
afterAll(() => app.close())

const redirect = 'https://assistant.example/callback'

async function send(path: string, type: string, body: string) {
  const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers: { 'Content-Type': type }, body })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
}
const register = (metadata: unknown) => send('/oauth/register', 'application/json', JSON.stringify(metadata))
const form = (path: string, values: Record<string, string>) =>
  send(path, 'application/x-www-form-urlencoded', new URLSearchParams(values).toString())

async function newClient(uris = [redirect], name = 'Helper'): Promise<string> {
  const { status, body } = await register({ client_name: name, redirect_uris: uris })
  expect(status).toBe(201)
  return body.client_id
}

const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const get = (token: string, path: string) => call(app, 'GET', path, { token })
const events = async (kind: string) =>
  (await get(acme.tenant.owner, '/api/audit')).body.events.filter(
    (event: { kind: string }) => event.kind === kind,
  )

/** What a program sends to the consent page. */
function request(clientId: string, over: Record<string, unknown> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const asked = {
    client_id: clientId,
    redirect_uri: redirect,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${app.url}/mcp`,
    scope: 'read',
    state: 'the state',
    ...over,
  }
  return { verifier, asked }
}

/** A code that the person allowed, and how it is exchanged. */
async function consent(over: Record<string, unknown> = {}, token = person.token) {
  const clientId = await newClient()
  const { verifier, asked } = request(clientId, over)
  const answer = await call(app, 'POST', '/api/assistants', { token, body: { ...asked, allow: true } })
  expect(answer.status).toBe(201)
  const back = new URL(answer.body.redirect_to)
  const exchange = {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    client_id: clientId,
    redirect_uri: redirect,
    code_verifier: verifier,
    resource: `${app.url}/mcp`,
  }
  return { back, clientId, exchange }
}

/** A connected assistant. */
async function connect(token = person.token) {
  const { clientId, exchange } = await consent({}, token)
  const { status, body } = await form('/oauth/token', exchange)
  expect(status).toBe(200)
  return {
    clientId,
    exchange,
    access: body.access_token as string,
    refresh: body.refresh_token as string,
    body,
  }
}

const refreshOf = (clientId: string, token: string) => ({
  grant_type: 'refresh_token',
  refresh_token: token,
  client_id: clientId,
})

/** Sends one message of the protocol, and reads its answer. */
async function mcp(access: string, method: string, params: object = {}) {
  clock += 1_000
  const answer = await fetch(`${app.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${access}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const text = await answer.text()
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
  return { status: answer.status, headers: answer.headers, body: JSON.parse(json) as Answer['body'] }
}
const tool = async (access: string, name: string, args: object = {}) =>
  (await mcp(access, 'tools/call', { name, arguments: args })).body.result
const statusOf = async (access: string) => (await mcp(access, 'tools/list')).status

describe('a program finds out how to connect', () => {
  test('a refusal of /mcp names the metadata, which name the addresses', async () => {
    const refused = await mcp('none', 'tools/list')
    expect(refused.status).toBe(401)
    const metadata = `${app.url}/.well-known/oauth-protected-resource/mcp`
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`)
    for (const address of [metadata, `${app.url}/.well-known/oauth-protected-resource`]) {
      expect(await (await fetch(address)).json()).toMatchObject({
        resource: `${app.url}/mcp`,
        authorization_servers: [app.url],
        scopes_supported: ['read'],
      })
    }
    expect(await (await fetch(`${app.url}/.well-known/oauth-authorization-server`)).json()).toMatchObject({
      issuer: app.url,
      authorization_endpoint: `${app.url}/connect`,
      token_endpoint: `${app.url}/oauth/token`,
      registration_endpoint: `${app.url}/oauth/register`,
      revocation_endpoint: `${app.url}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  test.each([
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: 'https://a.example' }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array(6).fill(redirect) }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['http://a.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://a.example/#x'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://me:secret@a.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [`https://a.example/${'x'.repeat(500)}`] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [redirect], client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
    [{ redirect_uris: [redirect], client_name: '\u202eevil' }, 'invalid_client_metadata'],
    [
      { redirect_uris: [redirect], token_endpoint_auth_method: 'client_secret_basic' },
      'invalid_client_metadata',
    ],
  ])('the registration %j is refused', async (metadata, error) => {
    expect(await register(metadata)).toMatchObject({ status: 400, body: { error } })
  })

  test('a registration that is no JSON, or too large, or one of too many is refused as OAuth does', async () => {
    const broken = await send('/oauth/register', 'application/json', '{')
    expect([broken.status, broken.body.error]).toEqual([400, 'invalid_request'])
    const typed = await send('/oauth/register', 'text/plain', '{}')
    expect([typed.status, typed.body.error]).toEqual([415, 'invalid_request'])
    const large = await register({ client_name: 'x'.repeat(20_000) })
    expect([large.status, large.body.error]).toEqual([413, 'invalid_request'])
    clock += 60_000
    const answers = await Promise.all(
      Array.from({ length: assistantRegistrationsPerMinuteMax + 2 }, () =>
        register({ redirect_uris: [redirect] }),
      ),
    )
    const late = answers.filter(({ status }) => status === 429)
    expect(late.map(({ body }) => body.error)).toEqual(Array(2).fill('temporarily_unavailable'))
    expect(late[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
  })
})

describe('the consent', () => {
  test('says what the program calls itself, where the code goes, and what it may read', async () => {
    const { asked } = request(await newClient())
    const { body } = await call(app, 'POST', '/api/assistant-requests', { token: person.token, body: asked })
    expect(body).toEqual({
      client_name: 'Helper',
      goes_to: 'assistant.example',
      brokerage: 'Test Brokers',
      role: 'member',
      hours: 12,
    })
  })

  test.each([
    ['a wrong redirect', { redirect_uri: 'https://assistant.example/other' }, '/redirect_uri'],
    ['a redirect with more behind it', { redirect_uri: `${redirect}/..` }, '/redirect_uri'],
    [
      'a redirect with another port',
      { redirect_uri: 'https://assistant.example:8443/callback' },
      '/redirect_uri',
    ],
    ['a missing PKCE', { code_challenge: undefined }, '/code_challenge'],
    ['a plain PKCE', { code_challenge_method: 'plain' }, '/code_challenge_method'],
    ['a PKCE without a method', { code_challenge_method: undefined }, '/code_challenge_method'],
    ['a challenge that is no SHA-256', { code_challenge: 'short' }, '/code_challenge'],
    ['another response type', { response_type: 'token' }, '/response_type'],
    ['a scope that writes', { scope: 'read integrations:write' }, '/scope'],
    ['the wrong resource', { resource: 'https://other.example/mcp' }, '/resource'],
  ])('%s is refused, and the browser is sent nowhere', async (_, over, pointer) => {
    const { asked } = request(await newClient(), over)
    for (const [path, more] of [
      ['/api/assistant-requests', {}],
      ['/api/assistants', { allow: true }],
      ['/api/assistants', { allow: false }],
    ] as const) {
      const answer = await call(app, 'POST', path, { token: person.token, body: { ...asked, ...more } })
      expect(answer.status).toBe(422)
      expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
      expect(answer.body.redirect_to).toBe(undefined)
    }
  })

  test('a client that was never registered, or was changed, is refused', async () => {
    const known = await newClient()
    for (const clientId of ['someone', `${known.slice(0, -2)}AA`, known.replace('lwc_W', 'lwc_X')]) {
      const answer = await call(app, 'POST', '/api/assistants', {
        token: person.token,
        body: { ...request(clientId).asked, allow: true },
      })
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/client_id'])
    }
  })

  test('the port of an address on this computer may differ, and nothing else', async () => {
    const clientId = await newClient(['http://127.0.0.1:1234/callback', 'cursor.app://callback'])
    const check = async (redirect_uri: string) =>
      call(app, 'POST', '/api/assistant-requests', {
        token: person.token,
        body: request(clientId, { redirect_uri }).asked,
      })
    expect((await check('http://127.0.0.1:40001/callback')).body.goes_to).toBe('this computer')
    expect((await check('cursor.app://callback')).status).toBe(200)
    for (const uri of [
      'http://127.0.0.1:40001/other',
      'http://localhost:1234/callback',
      'http://127.0.0.2/callback',
    ]) {
      expect((await check(uri)).status).toBe(422)
    }
  })

  test('a scheme of a program cannot show the name of a site that the person trusts', async () => {
    const uri = 'evil.app://trusted.example/callback'
    const { asked } = request(await newClient([uri]), { redirect_uri: uri })
    const { body } = await call(app, 'POST', '/api/assistant-requests', { token: person.token, body: asked })
    expect(body.goes_to).toBe('a program on this computer (evil.app:)')
    await call(app, 'POST', '/api/assistants', { token: person.token, body: { ...asked, allow: true } })
    expect((await events('assistant-connected'))[0].about.goes_to).toBe(body.goes_to)
  })

  test('is recorded; the answer carries code, state and issuer', async () => {
    const { back } = await consent()
    expect(back.origin + back.pathname).toBe(redirect)
    expect(back.searchParams.get('state')).toBe('the state')
    expect(back.searchParams.get('iss')).toBe(app.url)
    expect(await events('assistant-connected')).toMatchObject([
      { done_by: { name: 'A member' }, about: { client: 'Helper', goes_to: 'assistant.example' } },
    ])
  })

  test('a refusal is recorded, and leaves nothing behind', async () => {
    const { asked } = request(await newClient())
    const answer = await call(app, 'POST', '/api/assistants', {
      token: person.token,
      body: { ...asked, allow: false },
    })
    const back = new URL(answer.body.redirect_to)
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: 'access_denied',
      iss: app.url,
      state: 'the state',
    })
    expect(await events('assistant-refused')).toHaveLength(1)
    expect((await get(person.token, '/api/sessions')).body.sessions).toHaveLength(1)
  })

  test('needs the second factor again, and a refusal does not', async () => {
    const offered = await call(app, 'POST', '/api/auth/second-factor', {
      token: person.token,
      body: { password: person.password },
    })
    const code = new TOTP({ secret: Secret.fromBase32(offered.body.secret) }).generate({ timestamp: app.now })
    await call(app, 'POST', '/api/auth/second-factor/confirm', { token: person.token, body: { code } })
    app.now += secondFactorMinutes * 60_000
    const { asked } = request(await newClient())
    const decide = (allow: boolean) =>
      call(app, 'POST', '/api/assistants', { token: person.token, body: { ...asked, allow } })
    expect(codeOf(await decide(true))).toBe('second-factor-again')
    expect((await get(person.token, '/api/sessions')).body.sessions).toHaveLength(1)
    expect((await decide(false)).status).toBe(201)
  })

  test('a service token, an assistant and a page of another site cannot give it', async () => {
    const { asked } = request(await newClient())
    const body = { ...asked, allow: true }
    const { access } = await connect()
    for (const token of [acme.token, access]) {
      expect(codeOf(await call(app, 'POST', '/api/assistants', { token, body }))).toBe('token-wrong-kind')
    }
    const signedIn = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: person.email, password: person.password },
    })
    const cookie = `__Host-lanewise=${signedIn.body.token}`
    for (const headers of [
      { Cookie: cookie, Origin: 'https://evil.example', 'X-Lanewise-Request': '1' },
      { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site', 'X-Lanewise-Request': '1' },
      { Cookie: cookie },
    ]) {
      expect(codeOf(await call(app, 'POST', '/api/assistants', { headers, body }))).toBe('csrf')
    }
  })
})

describe('the exchange', () => {
  test('gives a token of an hour at most that reads, and is not cached', async () => {
    const { body, access } = await connect()
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'read' })
    expect(body.expires_in).toBeLessThanOrEqual(3600)
    const listed = await mcp(access, 'tools/list')
    expect(listed.body.result.tools.every((one: Answer['body']) => one.annotations.readOnlyHint)).toBe(true)
    app.now += 3_600_000 + 120_000
    expect(await statusOf(access)).toBe(401)
  })

  test.each([
    ['a wrong verifier', { code_verifier: 'x'.repeat(43) }],
    ['a missing verifier', { code_verifier: '' }],
    ['another redirect', { redirect_uri: 'https://assistant.example/other' }],
    ['a code that is none', { code: 'none' }],
  ])('%s is refused', async (_, over) => {
    const { exchange } = await consent()
    expect(await form('/oauth/token', { ...exchange, ...over })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    // It used nothing up: somebody else's attempt does not lock the program out.
    expect((await form('/oauth/token', exchange)).status).toBe(200)
  })

  test('the code of another client is refused', async () => {
    const { exchange } = await consent()
    const other = await newClient([redirect], 'Another')
    expect((await form('/oauth/token', { ...exchange, client_id: other })).body.error).toBe('invalid_grant')
    expect((await form('/oauth/token', { ...exchange, client_id: 'none' })).body.error).toBe('invalid_client')
  })

  test('an expired code is refused', async () => {
    const { exchange } = await consent()
    app.now += 61_000
    expect((await form('/oauth/token', exchange)).body.error).toBe('invalid_grant')
  })

  test('the wrong resource is refused', async () => {
    const { exchange } = await consent()
    const wrong = await form('/oauth/token', { ...exchange, resource: 'https://other.example/mcp' })
    expect(wrong.body.error).toBe('invalid_target')
  })

  test('a replayed code ends the tokens that it made', async () => {
    const { exchange, access, refresh, clientId } = await connect()
    expect(await statusOf(access)).toBe(200)
    expect((await form('/oauth/token', exchange)).body.error).toBe('invalid_grant')
    expect(await statusOf(access)).toBe(401)
    expect((await form('/oauth/token', refreshOf(clientId, refresh))).body.error).toBe('invalid_grant')
    expect(await events('assistant-ended')).toMatchObject([
      { done_to: { name: 'A member' }, about: { why: 'its code came a second time' } },
    ])
  })

  test('of eight concurrent exchanges of a code, one at most is answered with tokens, and none remains', async () => {
    const { exchange } = await consent()
    const answers = await Promise.all(Array.from({ length: 8 }, () => form('/oauth/token', exchange)))
    const given = answers.filter(({ status }) => status === 200)
    expect(given).toHaveLength(1)
    expect(await statusOf(given[0]?.body.access_token)).toBe(401)
  })

  test('a used refresh token ends the access', async () => {
    const { clientId, access, refresh } = await connect()
    const second = await form('/oauth/token', refreshOf(clientId, refresh))
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(refresh)
    expect(await statusOf(second.body.access_token)).toBe(200)
    expect((await form('/oauth/token', refreshOf(clientId, refresh))).body.error).toBe('invalid_grant')
    for (const token of [access, second.body.access_token]) expect(await statusOf(token)).toBe(401)
    const third = await form('/oauth/token', refreshOf(clientId, second.body.refresh_token))
    expect(third.body.error).toBe('invalid_grant')
    expect(await events('assistant-ended')).toMatchObject([
      { about: { why: 'its refresh token came a second time' } },
    ])
  })

  test('the refresh token of another client is refused, and stays valid for its own', async () => {
    const { clientId, refresh } = await connect()
    const other = await newClient([redirect], 'Another')
    expect((await form('/oauth/token', refreshOf(other, refresh))).body.error).toBe('invalid_grant')
    expect((await form('/oauth/token', refreshOf(clientId, refresh))).status).toBe(200)
  })

  test('a field sent twice, another grant and another type are refused', async () => {
    const clientId = await newClient()
    const twice = await send(
      '/oauth/token',
      'application/x-www-form-urlencoded',
      `client_id=${clientId}&client_id=x&grant_type=refresh_token`,
    )
    expect(twice.body.error).toBe('invalid_request')
    const password = await form('/oauth/token', { grant_type: 'password', client_id: clientId })
    expect(password.body.error).toBe('unsupported_grant_type')
    const json = await send('/oauth/token', 'application/json', '{}')
    expect([json.status, json.body.error]).toEqual([415, 'invalid_request'])
  })

  test('a revocation ends the access by either token, and only for its own client', async () => {
    for (const which of ['refresh', 'access'] as const) {
      const made = await connect()
      const other = await newClient([redirect], 'Another')
      const foreign = await form('/oauth/revoke', { token: made[which], client_id: other })
      expect(foreign.body.error).toBe('invalid_client')
      expect(await statusOf(made.access)).toBe(200)
      expect((await form('/oauth/revoke', { token: made[which], client_id: made.clientId })).status).toBe(200)
      expect(await statusOf(made.access)).toBe(401)
    }
    expect((await form('/oauth/revoke', { token: 'unknown', client_id: 'x' })).status).toBe(200)
    expect((await form('/oauth/revoke', { client_id: 'x' })).body.error).toBe('invalid_request')
  })

  test('no code and no token is in the database', async () => {
    const { exchange, access, refresh } = await connect()
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    try {
      const { rows } = await owner.query('select * from assistants')
      const { rows: logged } = await owner.query('select * from audit_log')
      const text = JSON.stringify([rows, logged])
      for (const secret of [exchange.code, exchange.code_verifier, access, refresh])
        expect(text).not.toContain(secret)
    } finally {
      await owner.end()
    }
  })
})

describe('an assistant acts as its person', () => {
  const isHidden = 'Secret Shipper'

  test('customers that teams hide from the person stay hidden from it', async () => {
    const hidden = await makeLane(app, acme.tenant, { customer: isHidden, outcome: 'won' })
    const seen = await makeLane(app, acme.tenant, { customer: 'Open Shipper', outcome: 'won' })
    for (const { lane_ref } of [hidden, seen]) {
      await pushUpdate(app, acme, { lane_ref, customer_rate: 2000, truck_cost: 1700 })
    }
    const insider = await makePerson(app, acme.tenant, 'member')
    const team = await call(app, 'POST', '/api/teams', {
      token: acme.tenant.owner,
      body: { name: 'Produce', members: [insider.id], customers: [isHidden] },
    })
    expect(team.status).toBe(201)
    const refsOf = async (access: string) => {
      const texts = [
        await tool(access, 'shipments'),
        await tool(access, 'quotes'),
        await tool(access, 'markup', {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          proposed_rate: 2000,
          include: 'evidence',
        }),
        await tool(access, 'lane_insight', {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          include: 'evidence',
        }),
      ].map((one) => JSON.stringify(one))
      return [hidden, seen].map(({ lane_ref }) => texts.filter((one) => one.includes(lane_ref)).length)
    }
    const [outside, inside, owner] = [
      await connect(),
      await connect(insider.token),
      await connect(acme.tenant.owner),
    ]
    const all = await refsOf(acme.token)
    expect(all[0]).toBeGreaterThanOrEqual(2)
    expect(await refsOf(inside.access)).toEqual(all)
    expect(await refsOf(owner.access)).toEqual(all)
    expect(await refsOf(outside.access)).toEqual([0, all[1]])
  })

  test('a viewer who stops seeing a customer stops at the next call, and an admin sees the assistant', async () => {
    const { lane_ref } = await makeLane(app, acme.tenant, { customer: isHidden, outcome: 'won' })
    const viewer = await makePerson(app, acme.tenant, 'viewer')
    const { access } = await connect(viewer.token)
    const seen = async () => (await tool(access, 'quotes', { lane_ref })).structuredContent.quotes.length
    expect(await seen()).toBe(1)
    const team = await call(app, 'POST', '/api/teams', {
      token: acme.tenant.owner,
      body: { name: 'Produce', members: [person.id], customers: [isHidden] },
    })
    expect(team.status).toBe(201)
    expect(await seen()).toBe(0)
    const { sessions } = (await get(acme.tenant.owner, `/api/users/${viewer.id}/sessions`)).body
    expect(sessions.map((one: Answer['body']) => one.assistant)).toContain('Helper')
  })

  test('an admin who becomes a member has none at the next call', async () => {
    const { lane_ref } = await makeLane(app, acme.tenant, { customer: isHidden, outcome: 'won' })
    const team = await call(app, 'POST', '/api/teams', {
      token: acme.tenant.owner,
      body: { name: 'Produce', members: [person.id], customers: [isHidden] },
    })
    expect(team.status).toBe(201)
    const admin = await makePerson(app, acme.tenant, 'admin')
    const { access } = await connect(admin.token)
    const seen = async () => (await tool(access, 'quotes', { lane_ref })).structuredContent.quotes.length
    expect(await seen()).toBe(1)
    const changed = await call(app, 'PATCH', `/api/users/${admin.id}`, {
      token: acme.tenant.owner,
      body: { role: 'member' },
    })
    expect(changed.status).toBe(200)
    expect(await statusOf(access)).toBe(401)
  })

  test('a second factor that the role requires from now on stops it until the person adds one', async () => {
    const { access } = await connect()
    expect(await statusOf(access)).toBe(200)
    const required = await call(app, 'PATCH', '/api/tenant', {
      token: acme.tenant.owner,
      body: { second_factor_from: 'member' },
    })
    expect(required.status).toBe(200)
    expect(await statusOf(access)).toBe(403)
  })

  test('a person has twenty at most, and makes room by ending one', async () => {
    for (let nth = 0; nth < assistantsPerPersonMax; nth++) await connect()
    const { asked } = request(await newClient())
    const allow = () =>
      call(app, 'POST', '/api/assistants', { token: person.token, body: { ...asked, allow: true } })
    expect((await allow()).status).toBe(409)
    const { sessions } = (await get(person.token, '/api/sessions')).body
    await call(app, 'DELETE', `/api/sessions/${sessions[0].id}`, { token: person.token })
    expect((await allow()).status).toBe(201)
  })

  test('of its brokerage: the data of another one is not found', async () => {
    const { lane_ref } = await makeLane(app, acme.tenant, { outcome: 'won' })
    const other = await makeIntegration(app)
    const { access } = await connect(other.tenant.owner)
    expect((await tool(access, 'quotes', { lane_ref })).structuredContent.quotes).toEqual([])
    expect(
      (await tool((await connect()).access, 'quotes', { lane_ref })).structuredContent.quotes,
    ).toHaveLength(1)
  })

  test('its token is refused everywhere but at /mcp', async () => {
    const { access } = await connect()
    for (const path of [
      '/api/me',
      '/api/sessions',
      '/api/integrations/insights/lane?origin=a&destination=b',
    ]) {
      const answer = await get(access, path)
      expect([answer.status, codeOf(answer)]).toEqual([401, 'token-wrong-kind'])
    }
    const asCookie = await fetch(`${app.url}/api/me`, { headers: { Cookie: `__Host-lanewise=${access}` } })
    expect(asCookie.status).toBe(401)
    expect(await statusOf(person.token)).toBe(401)
  })

  test('service tokens still work', async () => {
    expect(await statusOf(acme.token)).toBe(200)
  })

  test('a suspended person has no assistant, from the next request on', async () => {
    const { access, clientId, refresh } = await connect()
    expect(await statusOf(access)).toBe(200)
    const suspended = await call(app, 'POST', `/api/users/${person.id}/suspend`, {
      token: acme.tenant.owner,
      body: { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' },
    })
    expect(suspended.status).toBe(200)
    expect(await statusOf(access)).toBe(401)
    expect((await form('/oauth/token', refreshOf(clientId, refresh))).body.error).toBe('invalid_grant')
  })

  test('a removed person has none, and a code of theirs gives no token', async () => {
    const { access } = await connect()
    const { exchange } = await consent()
    const removed = await call(app, 'DELETE', `/api/users/${person.id}`, { token: acme.tenant.owner })
    expect(removed.status).toBe(200)
    expect(await statusOf(access)).toBe(401)
    expect((await form('/oauth/token', exchange)).body.error).toBe('invalid_grant')
  })

  test('the person sees it and ends it; an admin ends it with their sessions', async () => {
    app.now += 1_000
    const first = await connect()
    const { sessions } = (await get(person.token, '/api/sessions')).body
    expect(sessions.map((one: Answer['body']) => one.assistant)).toEqual(['Helper', null])
    expect(sessions[0].device).toBe('Helper (assistant)')
    await call(app, 'DELETE', `/api/sessions/${sessions[0].id}`, { token: person.token })
    expect(await statusOf(first.access)).toBe(401)
    const second = await connect()
    await call(app, 'DELETE', `/api/users/${person.id}/sessions`, { token: acme.tenant.owner })
    expect(await statusOf(second.access)).toBe(401)
  })

  test('it ends with the longest session of the brokerage, however often it is refreshed', async () => {
    const made = await connect()
    const { clientId } = made
    let { access, refresh } = made
    for (let hour = 0; hour < 11; hour++) {
      app.now += 3_600_000
      const { status, body } = await form('/oauth/token', refreshOf(clientId, refresh))
      expect(status).toBe(200)
      ;({ access_token: access, refresh_token: refresh } = body)
    }
    expect(await statusOf(access)).toBe(200)
    app.now += 3_600_000 + 61_000
    expect((await form('/oauth/token', refreshOf(clientId, refresh))).body.error).toBe('invalid_grant')
    expect(await statusOf(access)).toBe(401)
  })

  test('it counts against the limit of the brokerage', async () => {
    const { access } = await connect()
    const limited = await mcp(access, 'tools/list')
    expect(limited.headers.get('ratelimit')).toMatch(/"tenant";r=\d/)
    expect(limited.headers.get('token-expires')).toBe(null)
  })
})

test('the OAuth client of the protocol connects, calls a tool, and refreshes', async () => {
  await makeLane(app, acme.tenant, { outcome: 'won' })
  const kept: Record<string, Answer['body']> = {}
  let opened: URL | undefined
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:33418/callback',
    clientMetadata: {
      client_name: 'The client of the protocol',
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      opened = url
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
    ...{
      saveDiscoveryState: (state: unknown) => {
        kept.discovery = state
      },
      discoveryState: () => kept.discovery,
    },
  }
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { authProvider: provider })
  const first = transport()
  const connecting = new Client({ name: 'test', version: '1' }).connect(first)
  await expect(connecting).rejects.toThrow(UnauthorizedError)
  expect(opened?.pathname).toBe('/connect')
  const body = { ...Object.fromEntries(opened?.searchParams ?? []), allow: true }
  const allowed = await call(app, 'POST', '/api/assistants', { token: person.token, body })
  expect(allowed.status).toBe(201)
  await first.finishAuth(new URL(allowed.body.redirect_to).searchParams)
  const agent = new Client({ name: 'test', version: '1' })
  await agent.connect(transport())
  const { structuredContent } = await agent.callTool({ name: 'quotes', arguments: {} })
  expect((structuredContent as Answer['body']).quotes).toHaveLength(1)
  // The access token has expired: the client takes a new one by itself.
  const { refresh_token: before } = kept.tokens
  app.now += 3_600_000 + 120_000
  await agent.callTool({ name: 'quotes', arguments: {} })
  expect(kept.tokens.refresh_token).not.toBe(before)
  await agent.close()
})
