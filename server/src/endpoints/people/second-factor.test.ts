import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const minute = 60_000
const factorPath = '/api/auth/second-factor'

let app: TestApp
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  // Lets every delay of an earlier test expire.
  app.now += 16 * minute
  tenant = await makeTenant(app)
})
afterAll(() => app.close())

const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const post = (token: string, path: string, body: unknown = {}) => call(app, 'POST', path, { token, body })
const codeAt = (secret: string, at = app.now) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
const signIn = (code?: string, email = tenant.email, tried = password) =>
  call(app, 'POST', '/api/auth/sign-in', {
    body: { email, password: tried, ...(code === undefined ? {} : { code }) },
  })
const give = (token: string, code: string) => post(token, `${factorPath}/give`, { code })
/** The next code: that of the period before was used. */
const nextCode = (secret: string) => {
  app.now += 30_000
  return codeAt(secret)
}

/** Adds a second factor to a person. */
async function addFactor(token = tenant.owner) {
  const offered = await post(token, factorPath, { password })
  expect(offered.status).toBe(200)
  const { secret } = offered.body
  const confirmed = await post(token, `${factorPath}/confirm`, { code: codeAt(secret) })
  expect(confirmed.status).toBe(200)
  return { secret: String(secret), recovery: confirmed.body.recovery_codes as string[] }
}

describe('sign-in with a second factor', () => {
  test('asks for a code after the right password only, and takes it', async () => {
    const { secret } = await addFactor()
    expect(codeOf(await signIn())).toBe('second-factor-required')
    expect(codeOf(await signIn(nextCode(secret), tenant.email, 'wrong password here'))).toBe('sign-in-failed')
    const signedIn = await signIn(nextCode(secret))
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringContaining('__Host-lanewise='),
    ])
  })

  test('takes a code once, also on another instance', async () => {
    const { secret } = await addFactor()
    const code = nextCode(secret)
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      const body = { email: tenant.email, password, code }
      const answers = await Promise.all(
        [app, elsewhere].map((at) => call(at, 'POST', '/api/auth/sign-in', { body })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    } finally {
      await elsewhere.close()
    }
    expect(codeOf(await signIn(code))).toBe('second-factor-wrong')
  })

  test('takes a recovery code once', async () => {
    const { recovery } = await addFactor()
    const [first = '', second = ''] = recovery
    expect((await signIn(first)).status).toBe(200)
    expect(codeOf(await signIn(first))).toBe('second-factor-wrong')
    const signedIn = await signIn(second.toUpperCase().replaceAll('-', ' '))
    expect(signedIn.status).toBe(200)
    const state = await call(app, 'GET', factorPath, { token: signedIn.body.token })
    expect(state.body).toMatchObject({ recovery_codes_left: 8, recent: true })
  })

  test('refuses codes of a clock that is ten minutes off', async () => {
    const { secret } = await addFactor()
    for (const off of [-10, 10]) {
      expect(codeOf(await signIn(codeAt(secret, app.now + off * minute)))).toBe('second-factor-wrong')
    }
  })

  test('limits guesses of codes like those of passwords; the password alone resets nothing', async () => {
    const { secret } = await addFactor()
    for (let guess = 0; guess < 5; guess++) {
      expect(codeOf(await signIn())).toBe('second-factor-required')
      expect(codeOf(await signIn('000000'))).toBe('second-factor-wrong')
    }
    expect(codeOf(await signIn(codeAt(secret)))).toBe('too-many-attempts')
  })

  test('a factor of another person, or one that was not confirmed, is not asked for', async () => {
    const member = await makePerson(app, tenant, 'member')
    await addFactor()
    expect((await signIn(undefined, member.email)).status).toBe(200)
    await post(member.token, factorPath, { password })
    expect((await signIn(undefined, member.email)).status).toBe(200)
  })
})

describe('adding and removing it', () => {
  test('needs the password and a code, and ends the other sessions', async () => {
    const other = (await signIn()).body.token
    expect(codeOf(await post(tenant.owner, factorPath, { password: 'wrong password here' }))).toBe(
      'sign-in-failed',
    )
    await post(tenant.owner, factorPath, { password })
    expect(codeOf(await post(tenant.owner, `${factorPath}/confirm`, { code: '000000' }))).toBe(
      'second-factor-wrong',
    )
    expect((await call(app, 'GET', '/api/me', { token: other })).status).toBe(200)
    await addFactor()
    expect(codeOf(await call(app, 'GET', '/api/me', { token: other }))).toBe('token-revoked')
    expect(codeOf(await post(tenant.owner, factorPath, { password }))).toBe('state-conflict')
  })

  test('an admin removes that of another person, whose sessions end', async () => {
    const member = await makePerson(app, tenant, 'member')
    await addFactor(member.token)
    const path = `/api/users/${member.id}/second-factor`
    expect((await call(app, 'DELETE', path, { token: tenant.owner })).status).toBe(200)
    expect(codeOf(await call(app, 'GET', '/api/me', { token: member.token }))).toBe('token-revoked')
    expect((await signIn(undefined, member.email)).status).toBe(200)
    const admin = await makePerson(app, tenant, 'admin')
    const owner = (await call(app, 'GET', '/api/me', { token: tenant.owner })).body.user.id
    const refused = await call(app, 'DELETE', `/api/users/${owner}/second-factor`, { token: admin.token })
    expect(codeOf(refused)).toBe('role-required')
  })
})

describe('asking for it again', () => {
  const makeToken = (token: string) => post(token, '/api/integrations/tokens', { name: 'TMS' })

  test('ten minutes after it was given, tokens need a new code; nobody without a factor is asked', async () => {
    expect((await makeToken(tenant.owner)).status).toBe(201)
    const { secret } = await addFactor()
    expect((await makeToken(tenant.owner)).status).toBe(201)
    app.now += 10 * minute
    expect(codeOf(await makeToken(tenant.owner))).toBe('second-factor-again')
    const code = codeAt(secret)
    expect((await give(tenant.owner, code)).status).toBe(200)
    expect((await makeToken(tenant.owner)).status).toBe(201)
    expect(codeOf(await give(tenant.owner, code))).toBe('second-factor-wrong')
  })

  test('secrets, exports, erasing and the rules of sign-in need it; other settings do not', async () => {
    await addFactor()
    app.now += 11 * minute
    const confirming = allEndpoints.filter((endpoint) => 'confirms' in endpoint).map(({ name }) => name)
    for (const name of ['create-signing-secret', 'export-lanes', 'erase-market-source', 'remove-user']) {
      expect(confirming).toContain(name)
    }
    const settings = (body: unknown) => call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body })
    expect(codeOf(await settings({ session_limits: { hours: 20 } }))).toBe('second-factor-again')
    expect(codeOf(await settings({ second_factor_from: 'owner' }))).toBe('second-factor-again')
    expect((await settings({ name: 'Another name' })).status).toBe(200)
    const file = await fetch(`${app.url}/api/lanes/export`, {
      headers: { Authorization: `Bearer ${tenant.owner}` },
    })
    expect(file.status).toBe(403)
    const secret = await post(tenant.owner, '/api/integrations/secrets', { name: 'tms' })
    expect(codeOf(secret)).toBe('second-factor-again')
    const removed = await call(app, 'DELETE', factorPath, { token: tenant.owner })
    expect(codeOf(removed)).toBe('second-factor-again')
  })
})

describe('a second factor that a role needs', () => {
  test('is added before anything else, and cannot be removed', async () => {
    const member = await makePerson(app, tenant, 'member')
    const admin = await makePerson(app, tenant, 'admin')
    const body = { second_factor_from: 'admin' }
    expect((await call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body })).status).toBe(200)
    const users = (token: string) => call(app, 'GET', '/api/users', { token })
    expect((await users(member.token)).status).toBe(200)
    const again = (await signIn(undefined, admin.email)).body.token
    for (const token of [tenant.owner, admin.token, again]) {
      expect(codeOf(await users(token))).toBe('second-factor-missing')
      const me = await call(app, 'GET', '/api/me', { token })
      expect(me.body.second_factor).toEqual({ set: false, missing: true })
    }
    await addFactor(admin.token)
    expect((await users(admin.token)).status).toBe(200)
    expect(codeOf(await call(app, 'DELETE', factorPath, { token: admin.token }))).toBe('state-conflict')
  })
})
