import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { passkeysMax } from '#contract/limits.ts'
import { appOn } from '#testing/app-on-database.ts'
import { Authenticator } from '#testing/authenticator.ts'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const minute = 60_000
const base = '/api/auth/passkeys'

let app: TestApp
let tenant: MadeTenant
/** Where browsers make passkeys: the host must have a name. */
let origin: string

beforeAll(async () => {
  app = await testApp()
  origin = app.url.replace('127.0.0.1', 'localhost')
})
beforeEach(async () => {
  // Lets every delay of an earlier test expire.
  app.now += 16 * minute
  tenant = await makeTenant(app)
})
afterAll(() => app.close())

const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
/** Calls as the page at an origin. */
const send = (
  method: string,
  path: string,
  { token, body, at = origin }: { token?: string; body?: unknown; at?: string },
) =>
  call({ ...app, url: at }, method, path, {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
    headers: { Origin: at },
  })
const post = (path: string, body: unknown, token?: string) =>
  send('POST', path, { body, ...(token === undefined ? {} : { token }) })

const begin = (token: string) => post(`/api/auth/passkey-offers`, { password }, token)

/** Adds a passkey of a new authenticator to a person. */
async function addPasskey(token = tenant.owner, name = 'Laptop') {
  const begun = await begin(token)
  expect(begun.status).toBe(200)
  const authenticator = new Authenticator(origin)
  const { attempt, options } = begun.body
  const added = await post(base, { name, attempt, credential: authenticator.create(options) }, token)
  expect(added.status).toBe(201)
  return { authenticator, id: added.body.passkey.id, recovery: added.body.recovery_codes as string[] }
}

const beginSignIn = (email = tenant.email) => post('/api/auth/passkey-sign-in/begin', { email, password })
/** Signs in with the password and a passkey. */
async function signIn(
  authenticator: Authenticator,
  wrong: Parameters<Authenticator['get']>[1] = {},
  email = tenant.email,
) {
  const { attempt, options } = (await beginSignIn(email)).body
  const passkey = { attempt, credential: authenticator.get(options, wrong) }
  return post('/api/auth/sign-in', { email, password, passkey })
}
const signInWith = (body: object) => post('/api/auth/sign-in', { email: tenant.email, password, ...body })
/** Signs in with a passkey alone. */
async function signInAlone(authenticator: Authenticator, wrong: Parameters<Authenticator['get']>[1] = {}) {
  const { attempt, options } = (await post('/api/auth/passkey-sign-in/begin', {})).body
  return post('/api/auth/passkey-sign-in', {
    passkey: { attempt, credential: authenticator.get(options, wrong) },
  })
}
const me = (token: string) => send('GET', '/api/me', { token })

describe('a passkey as a second factor', () => {
  test('is asked for after the right password only, and signs in', async () => {
    const { authenticator } = await addPasskey()
    expect(codeOf(await signInWith({}))).toBe('second-factor-required')
    expect(
      codeOf(await post('/api/auth/passkey-sign-in/begin', { email: tenant.email, password: 'x' })),
    ).toBe('sign-in-failed')
    const signedIn = await signIn(authenticator)
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringContaining('__Host-lanewise='),
    ])
    const factor = await send('GET', '/api/auth/second-factor', { token: signedIn.body.token })
    expect(factor.body).toMatchObject({ app: false, passkeys: 1, recovery_codes_left: 10, recent: true })
  })

  test('the first one gives recovery codes, which work without an app, and ends the other sessions', async () => {
    const other = (await signInWith({})).body.token
    const { recovery } = await addPasskey()
    expect(codeOf(await me(other))).toBe('token-revoked')
    expect((await addPasskey(tenant.owner, 'Key')).recovery).toEqual([])
    expect((await signInWith({ code: recovery[0] })).status).toBe(200)
    expect(codeOf(await signInWith({ code: recovery[0] }))).toBe('second-factor-wrong')
  })

  test('is asked for again before tokens, and counts for a role that needs a second factor', async () => {
    const rule = { second_factor_from: 'owner' }
    await send('PATCH', '/api/tenant', { token: tenant.owner, body: rule })
    expect(codeOf(await send('GET', '/api/users', { token: tenant.owner }))).toBe('second-factor-missing')
    const { authenticator, id } = await addPasskey()
    expect((await send('GET', '/api/users', { token: tenant.owner })).status).toBe(200)
    const makeToken = () => post('/api/integrations/tokens', { name: 'TMS' }, tenant.owner)
    expect((await makeToken()).status).toBe(201)
    app.now += 10 * minute
    expect(codeOf(await makeToken())).toBe('second-factor-again')
    const { attempt, options } = (await post('/api/auth/second-factor/passkey', {}, tenant.owner)).body
    const passkey = { attempt, credential: authenticator.get(options) }
    const given = await post('/api/auth/second-factor/give', { passkey }, tenant.owner)
    expect(given.status).toBe(200)
    expect((await makeToken()).status).toBe(201)
    const removed = await send('DELETE', `/api/auth/passkeys/${id}`, { token: tenant.owner })
    expect(codeOf(removed)).toBe('state-conflict')
  })
})

describe('a passkey is refused', () => {
  const refusals = [
    ['of another site', { origin: 'https://lanewise.evil.example' }, 'used on another site'],
    ['for another host', { rpId: 'evil.example' }, 'belongs to another site'],
    ['without a verified person', { unverified: true }, 'not verified'],
    ['that answers another challenge', { challenge: 'AAAA' }, 'another challenge'],
    ['with the signature of another key', { key: otherKey() }, 'signature is wrong'],
  ] as const
  test.each(refusals)('%s', async (_what, wrong, detail) => {
    const { authenticator } = await addPasskey()
    const refused = await signIn(authenticator, wrong)
    expect([codeOf(refused), refused.body.detail]).toEqual([
      'second-factor-wrong',
      expect.stringContaining(detail),
    ])
    const alone = await signInAlone(authenticator, wrong)
    expect([codeOf(alone), alone.body.detail]).toEqual(['sign-in-failed', expect.stringContaining(detail)])
    expect((await signIn(authenticator)).status).toBe(200)
  })

  test.each(refusals.slice(0, 4))('when it is added %s', async (_what, wrong, detail) => {
    const { attempt, options } = (await begin(tenant.owner)).body
    const credential = new Authenticator(origin).create(options, wrong)
    const refused = await post(base, { name: 'Laptop', attempt, credential }, tenant.owner)
    expect([codeOf(refused), refused.body.detail]).toEqual([
      'second-factor-wrong',
      expect.stringContaining(detail),
    ])
    expect((await send('GET', base, { token: tenant.owner })).body.passkeys).toEqual([])
  })

  test('when its maker vouches for it with certificates, whose addresses would be asked', async () => {
    const { attempt, options } = (await begin(tenant.owner)).body
    const credential = new Authenticator(origin).create(options, { format: 'android-key' })
    const refused = await post(base, { name: 'Laptop', attempt, credential }, tenant.owner)
    expect(refused.body.detail).toContain('was not asked for')
  })

  test('when it is replayed, also to another instance', async () => {
    const { authenticator } = await addPasskey()
    const { attempt, options } = (await beginSignIn()).body
    const body = {
      ...{ email: tenant.email, password },
      passkey: { attempt, credential: authenticator.get(options) },
    }
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      const publicly = { ...elsewhere, url: elsewhere.url.replace('127.0.0.1', 'localhost') }
      const first = await post('/api/auth/sign-in', body)
      expect(first.status).toBe(200)
      const again = await post('/api/auth/sign-in', body)
      expect(again.body.detail).toContain('answered before')
      const there = await call(publicly, 'POST', '/api/auth/sign-in', {
        body,
        headers: { Origin: publicly.url },
      })
      expect(there.body.detail).toContain('answered before')
    } finally {
      await elsewhere.close()
    }
  })

  test('when its count of signatures went back, as that of a copy', async () => {
    const { authenticator } = await addPasskey()
    expect((await signIn(authenticator, { count: 7 })).status).toBe(200)
    const copied = await signIn(authenticator, { count: 7 })
    expect(copied.body.detail).toContain('may be a copy')
    expect((await signIn(authenticator, { count: 8 })).status).toBe(200)
  })

  test('after five minutes', async () => {
    const { authenticator } = await addPasskey()
    const { attempt, options } = (await beginSignIn()).body
    app.now += 5 * minute
    const late = await signInWith({ passkey: { attempt, credential: authenticator.get(options) } })
    expect(late.body.detail).toContain('has ended')
  })

  test('for something else, by another session, and by another person', async () => {
    const { authenticator } = await addPasskey()
    const second = (await signIn(authenticator)).body.token
    const asked = (await post('/api/auth/second-factor/passkey', {}, tenant.owner)).body
    const give = (token: string) =>
      post(
        '/api/auth/second-factor/give',
        { passkey: { attempt: asked.attempt, credential: authenticator.get(asked.options) } },
        token,
      )
    expect((await give(second)).body.detail).toContain('begun for something else')
    const elsewhere = await signInWith({
      passkey: { attempt: asked.attempt, credential: authenticator.get(asked.options) },
    })
    expect(elsewhere.body.detail).toContain('begun for something else')
    expect((await give(tenant.owner)).status).toBe(200)
  })

  test('of another person, and of another brokerage', async () => {
    const { authenticator } = await addPasskey()
    const member = await makePerson(app, tenant, 'member')
    await addPasskey(member.token)
    expect((await signIn(authenticator, {}, member.email)).body.detail).toContain('none of yours')
    const others = await makeTenant(app)
    await addPasskey(others.owner)
    expect((await signIn(authenticator, {}, others.email)).body.detail).toContain('none of yours')
    // A handle of another person does not make it theirs.
    const theirs = (await begin(others.owner)).body.options.user.id
    authenticator.userHandle = theirs
    expect((await signInAlone(authenticator)).body.detail).toContain('none of yours')
  })
})

describe('a passkey alone', () => {
  test('signs in, and counts as a second factor', async () => {
    const { authenticator } = await addPasskey()
    const signedIn = await signInAlone(authenticator)
    expect([signedIn.status, signedIn.body.user.email]).toEqual([200, tenant.email])
    expect((await post('/api/integrations/tokens', { name: 'TMS' }, signedIn.body.token)).status).toBe(201)
  })

  test('does not sign in a person who is suspended or was removed', async () => {
    const member = await makePerson(app, tenant, 'member')
    const { authenticator } = await addPasskey(member.token)
    const leave = { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' }
    await post(`/api/users/${member.id}/suspend`, leave, tenant.owner)
    expect(codeOf(await signInAlone(authenticator))).toBe('sign-in-failed')
    await post(`/api/users/${member.id}/restore`, {}, tenant.owner)
    expect((await signInAlone(authenticator)).status).toBe(200)
    await send('DELETE', `/api/users/${member.id}`, { token: tenant.owner })
    expect((await signInAlone(authenticator)).body.detail).toContain('none of yours')
  })
})

describe('own passkeys', () => {
  test('are named and removed; with the last factor go the recovery codes', async () => {
    const { id, recovery } = await addPasskey()
    const other = await addPasskey(tenant.owner, 'Key')
    const renamed = await send('PATCH', `/api/auth/passkeys/${id}`, {
      token: tenant.owner,
      body: { name: 'Old laptop' },
    })
    expect(renamed.body).toMatchObject({ name: 'Old laptop', site: 'localhost', synced: false })
    const remove = (which: number, token = tenant.owner) =>
      send('DELETE', `/api/auth/passkeys/${which}`, { token })
    expect((await remove(id)).status).toBe(200)
    expect(codeOf(await remove(id))).toBe('not-found')
    const member = await makePerson(app, tenant, 'member')
    expect(codeOf(await remove(other.id, member.token))).toBe('not-found')
    expect((await remove(other.id)).status).toBe(200)
    expect((await signInWith({})).status).toBe(200)
    await addPasskey()
    expect(codeOf(await signInWith({ code: recovery[0] }))).toBe('second-factor-wrong')
  })

  test('need the password, and the second factor that the person has; are added once, and are limited', async () => {
    expect(
      codeOf(await post(`/api/auth/passkey-offers`, { password: 'wrong password here' }, tenant.owner)),
    ).toBe('sign-in-failed')
    const begun = (await begin(tenant.owner)).body
    const authenticator = new Authenticator(origin)
    const credential = authenticator.create(begun.options)
    const add = (attempt: string, from = credential) =>
      post(base, { name: 'Laptop', attempt, credential: from }, tenant.owner)
    expect((await add(begun.attempt)).status).toBe(201)
    expect((await add(begun.attempt)).body.detail).toContain('answered before')
    const next = (await begin(tenant.owner)).body
    expect(next.options.excludeCredentials.map(({ id }: { id: string }) => id)).toEqual([authenticator.id])
    expect((await add(next.attempt, authenticator.create(next.options))).body.detail).toBe(
      'This passkey was added already.',
    )
    for (let count = 1; count < passkeysMax; count++) await addPasskey()
    expect((await begin(tenant.owner)).body.detail).toContain(`${passkeysMax} passkeys`)
    app.now += 11 * minute
    expect(codeOf(await begin(tenant.owner))).toBe('second-factor-again')
    expect(codeOf(await post('/api/auth/second-factor', { password }, tenant.owner))).toBe(
      'second-factor-again',
    )
  })

  test('are removed with the second factor by an admin', async () => {
    const member = await makePerson(app, tenant, 'member')
    await addPasskey(member.token)
    const path = `/api/users/${member.id}/second-factor`
    expect((await send('DELETE', path, { token: tenant.owner })).status).toBe(200)
    expect((await post('/api/auth/sign-in', { email: member.email, password: member.password })).status).toBe(
      200,
    )
  })

  test('need a host name and https, or PUBLIC_URL', async () => {
    const none = await call(app, 'POST', `/api/auth/passkey-offers`, {
      token: tenant.owner,
      body: { password },
    })
    expect([codeOf(none), none.body.detail]).toEqual([
      'state-conflict',
      expect.stringContaining('PUBLIC_URL'),
    ])
    const byNumber = await send('POST', `/api/auth/passkey-offers`, {
      ...{ token: tenant.owner, body: { password } },
      at: app.url,
    })
    expect(byNumber.body.detail).toContain('host name over https')
    const foreign = await call(app, 'POST', `/api/auth/passkey-offers`, {
      ...{ token: tenant.owner, body: { password } },
      headers: { Origin: 'https://evil.example' },
    })
    expect(foreign.body.detail).toContain('PUBLIC_URL')
  })
})

function otherKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}
