import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makeServiceToken, makeTenant, password } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const path = '/api/auth/session-token'
const minute = 60_000
/** The tolerance of a token's expiry, for differences between clocks. */
const leeway = 30_000
const fromDashboard = { 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'same-origin' }

let app: TestApp
let acme: MadeTenant
const start = Date.UTC(2026, 2, 1, 14)

beforeAll(async () => {
  app = await sharedApp()
  app.now = start
  acme = await makeTenant(app)
})
beforeEach(async () => {
  app.now = start
})

async function signIn(email = acme.email): Promise<{ token: string; cookie: string }> {
  const { body, headers } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  return { token: body.token, cookie: headers.get('Set-Cookie')?.split(';')[0] ?? '' }
}

async function askWithCookie(cookie: string, headers: Record<string, string> = fromDashboard) {
  return call(app, 'POST', path, { headers: { Cookie: cookie, ...headers }, body: {} })
}

async function statusOf(token: string, address = '/api/integrations/tokens') {
  return (await call(app, 'GET', address, { token })).status
}

describe('200', () => {
  test('a page with only the cookie gets a bearer token for the endpoints that ignore cookies', async () => {
    const { cookie } = await signIn()
    const withCookie = await call(app, 'GET', '/api/integrations/tokens', { headers: { Cookie: cookie } })
    expect(withCookie.status).toBe(401)
    const { status, headers, body } = await askWithCookie(cookie)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['token', 'expires_at'])
    expect([headers.get('Cache-Control'), headers.get('Set-Cookie')]).toEqual(['no-store', null])
    expect(await statusOf(body.token)).toBe(200)
    expect(await statusOf(body.token, '/api/me')).toBe(200)
  })

  test('it expires after five minutes', async () => {
    const { body } = await askWithCookie((await signIn()).cookie)
    expect(body.expires_at).toBe(new Date(start + 5 * minute).toISOString())
    app.now = start + 5 * minute + leeway - 1000
    expect(await statusOf(body.token)).toBe(200)
    app.now = start + 5 * minute + leeway
    expect(await statusOf(body.token)).toBe(401)
  })

  test('it does not outlive the session', async () => {
    const { cookie } = await signIn()
    const end = start + 12 * 60 * minute
    app.now = end - 2 * minute
    const { body } = await askWithCookie(cookie)
    expect(body.expires_at).toBe(new Date(end).toISOString())
  })

  test('a leaked token cannot be renewed', async () => {
    const first = (await askWithCookie((await signIn()).cookie)).body
    app.now = start + 4 * minute
    const second = await call(app, 'POST', path, { token: first.token, body: {} })
    expect([second.status, second.body.expires_at]).toEqual([200, first.expires_at])
  })

  test('it ends with the session: by sign-out, of this session alone', async () => {
    const [one, two] = [await signIn(), await signIn()]
    const [first, second] = [await askWithCookie(one.cookie), await askWithCookie(two.cookie)]
    await call(app, 'POST', '/api/auth/sign-out', {
      headers: { Cookie: one.cookie, ...fromDashboard },
      body: {},
    })
    expect(await statusOf(first.body.token)).toBe(401)
    expect(await statusOf(second.body.token)).toBe(200)
  })

  test('signing out with it ends its session', async () => {
    const { cookie } = await signIn()
    const { body } = await askWithCookie(cookie)
    await call(app, 'POST', '/api/auth/sign-out', { token: body.token, body: {} })
    expect((await askWithCookie(cookie)).status).toBe(401)
  })

  test('it may do what the person may, and ends when their role changes', async () => {
    const viewer = await makePerson(app, acme, 'viewer')
    const { body } = await call(app, 'POST', path, { token: viewer.token, body: {} })
    expect([await statusOf(body.token), await statusOf(body.token, '/api/me')]).toEqual([403, 200])
    await call(app, 'PATCH', `/api/users/${viewer.id}`, { token: acme.owner, body: { role: 'admin' } })
    expect(await statusOf(body.token, '/api/me')).toBe(401)
  })

  test('it gives access to its own brokerage only', async () => {
    const other = await makeTenant(app)
    const { body } = await askWithCookie((await signIn(other.email)).cookie)
    const me = await call(app, 'GET', '/api/me', { token: body.token })
    expect(me.body.tenant.id).toBe(other.id)
  })
})

describe('401', () => {
  test('without a session, and with the token of a machine', async () => {
    const none = await call(app, 'POST', path, { body: {} })
    expect([none.status, none.body.type]).toEqual([401, '/problems/token-missing'])
    const machine = await call(app, 'POST', path, {
      token: await makeServiceToken(app, acme.owner),
      body: {},
    })
    expect([machine.status, machine.body.type]).toEqual([401, '/problems/token-wrong-kind'])
  })
})

describe('403', () => {
  test('another site cannot request one', async () => {
    const { cookie } = await signIn()
    for (const headers of [
      {},
      { 'Sec-Fetch-Site': 'same-origin' },
      { 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'cross-site' },
      { 'X-Lanewise-Request': '1', Origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      const answer = await askWithCookie(cookie, headers)
      expect([answer.status, answer.body.type]).toEqual([403, '/problems/csrf'])
    }
  })
})
