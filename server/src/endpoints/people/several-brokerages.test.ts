import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeTenantStatus, resetPassword } from '#server/operations/index.ts'
import { Authenticator } from '#testing/authenticator.ts'
import { type Answer, call, type MadeTenant, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const other = 'seven quiet trucks at dawn'
const wrong = 'wrong password here'
let app: TestApp
let acme: MadeTenant
let bluff: MadeTenant
beforeAll(async () => {
  app = await testApp({ config: { trustProxy: ['loopback'] } })
})
beforeEach(async () => {
  app.now += 16 * 60_000
  ;[acme, bluff] = [await makeTenant(app), await makeTenant(app)]
  await call(app, 'PATCH', '/api/tenant', { token: acme.owner, body: { name: 'Acme Freight' } })
  await call(app, 'PATCH', '/api/tenant', { token: bluff.owner, body: { name: 'Bluff Lines' } })
})
afterAll(() => app.close())

const operator = () => ({
  config: {
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
    dataDirectory: '/nowhere',
  },
  remark: () => {},
})
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const me = (token: string) => call(app, 'GET', '/api/me', { token })
const signIn = (email: string, tried: string, more: object = {}, network = '192.0.2.7') =>
  call(app, 'POST', '/api/auth/sign-in', {
    headers: { 'X-Forwarded-For': network },
    body: { email, password: tried, ...more },
  })

/** Makes an account of an address in a brokerage, with a password. */
async function join(tenant: MadeTenant, email: string, chosen: string, network = '192.0.2.7') {
  const body = { name: 'Sam Reyes', email, role: 'member' }
  const invited = await call(app, 'POST', '/api/users', { token: tenant.owner, body })
  expect(invited.status).toBe(201)
  const accepted = await call(app, 'POST', '/api/auth/accept-invitation', {
    headers: { 'X-Forwarded-For': network },
    body: { invitation: invited.body.invitation, password: chosen },
  })
  expect(accepted.status).toBe(200)
  return { id: accepted.body.user.id as number, token: accepted.body.token as string }
}

/** An address with an account in both brokerages. */
async function both(first = password, second = other) {
  const email = `sam-${crypto.randomUUID()}@example.com`
  const inAcme = await join(acme, email, first)
  const inBluff = await join(bluff, email, second)
  return { email, inAcme, inBluff }
}

describe('an address in two brokerages', () => {
  test('signs in to the one whose password was given, and is not asked', async () => {
    const { email } = await both()
    expect((await signIn(email, password)).body.tenant.id).toBe(acme.id)
    expect((await signIn(email.toUpperCase(), other)).body.tenant.id).toBe(bluff.id)
    expect((await signIn(email, password, { brokerage_id: acme.id })).body.tenant.id).toBe(acme.id)
  })

  test('with one password for both is asked which, and signs in to the chosen one', async () => {
    const { email } = await both(password, password)
    const asked = await signIn(email, password)
    expect([asked.status, codeOf(asked), asked.body.brokerages]).toEqual([
      401,
      'brokerage-required',
      [
        { id: acme.id, name: 'Acme Freight' },
        { id: bluff.id, name: 'Bluff Lines' },
      ],
    ])
    expect(asked.headers.get('set-cookie')).toBeNull()
    for (const { id } of [acme, bluff]) {
      expect((await signIn(email, password, { brokerage_id: id })).body.tenant.id).toBe(id)
    }
  })

  test('neither a wrong password nor the id of a brokerage tells a name or a number of brokerages', async () => {
    const { email } = await both(password, password)
    const unknown = await signIn(`nobody-${crypto.randomUUID()}@example.com`, wrong)
    const same = { ...unknown.body, request_id: expect.any(String) }
    for (const more of [{}, { brokerage_id: acme.id }, { brokerage_id: 1_999_999_999 }]) {
      const refused = await signIn(email, wrong, more)
      expect([refused.status, refused.body]).toEqual([401, same])
    }
    const elsewhere = await signIn(email, password, { brokerage_id: 1_999_999_999 })
    expect([elsewhere.status, elsewhere.body]).toEqual([401, same])
  })

  test('is not asked about a brokerage that is suspended', async () => {
    const { email } = await both(password, password)
    await changeTenantStatus(operator(), String(bluff.id), 'suspended', app.now)
    expect((await signIn(email, password)).body.tenant.id).toBe(acme.id)
    expect(codeOf(await signIn(email, password, { brokerage_id: bluff.id }))).toBe('sign-in-failed')
  })

  test('one brokerage that suspends or removes the person, or signs them out, changes nothing in the other', async () => {
    const { email, inAcme, inBluff } = await both()
    const again = (await signIn(email, other)).body.token
    await call(app, 'POST', '/api/auth/sign-out', { token: inAcme.token, body: { everywhere: true } })
    expect([(await me(inAcme.token)).status, (await me(again)).status]).toEqual([401, 200])
    const settled = { tokens: 'stop', quotes: 'keep', requests: 'keep' }
    const suspended = await call(app, 'POST', `/api/users/${inAcme.id}/suspend`, {
      token: acme.owner,
      body: settled,
    })
    expect(suspended.body).toMatchObject({})
    await call(app, 'DELETE', `/api/users/${inAcme.id}`, { token: acme.owner })
    expect(codeOf(await signIn(email, password))).toBe('sign-in-failed')
    expect((await signIn(email, other)).body.user.id).toBe(inBluff.id)
    expect((await me(again)).status).toBe(200)
  })

  test('a password that is changed or reset in one stays in the other', async () => {
    const { email, inAcme } = await both(password, password)
    const next = 'nine loud trucks at dusk'
    const changed = await call(app, 'POST', '/api/auth/password', {
      token: inAcme.token,
      body: { current_password: password, new_password: next },
    })
    expect(changed.status).toBe(200)
    expect((await signIn(email, next)).body.tenant.id).toBe(acme.id)
    expect((await signIn(email, password)).body.tenant.id).toBe(bluff.id)
    await expect(resetPassword(email, operator(), app.now)).rejects.toThrow(
      `${[acme.id, bluff.id].toSorted((a, b) => a - b).join(', ')}. Name one with --brokerage NUMBER.`,
    )
    const reset = await resetPassword(email, operator(), app.now, { brokerage: bluff.id })
    expect((await signIn(email, reset.password)).body.tenant.id).toBe(bluff.id)
    expect((await signIn(email, next)).body.tenant.id).toBe(acme.id)
  })

  test('a second factor of one is asked for after the choice, and only there', async () => {
    const { email, inAcme } = await both(password, password)
    const origin = app.url.replace('127.0.0.1', 'localhost')
    const at = { ...app, url: origin }
    const post = (path: string, body: object, token?: string) =>
      call(at, 'POST', path, { body, headers: { Origin: origin }, ...(token === undefined ? {} : { token }) })
    const begun = await post('/api/auth/passkey-offers', { password }, inAcme.token)
    expect(begun.body.options.user.name).toBe(`${email} (Acme Freight)`)
    const authenticator = new Authenticator(origin)
    const credential = authenticator.create(begun.body.options)
    await post(
      '/api/auth/passkeys',
      { name: 'Laptop', attempt: begun.body.attempt, credential },
      inAcme.token,
    )
    expect(codeOf(await signIn(email, password))).toBe('brokerage-required')
    expect(codeOf(await signIn(email, password, { brokerage_id: acme.id }))).toBe('second-factor-required')
    expect((await signIn(email, password, { brokerage_id: bluff.id })).status).toBe(200)
    const chosen = { email, password, brokerage_id: acme.id }
    expect(codeOf(await post('/api/auth/passkey-sign-in/begin', { email, password }))).toBe(
      'brokerage-required',
    )
    const { attempt, options } = (await post('/api/auth/passkey-sign-in/begin', chosen)).body
    const passkey = { attempt, credential: authenticator.get(options) }
    expect((await post('/api/auth/sign-in', { ...chosen, passkey })).body.tenant.id).toBe(acme.id)
  })

  test('a sign-in is new to the account whose person was never there, and told to that one only', async () => {
    const { email, inAcme, inBluff } = await both()
    expect((await signIn(email, password, {}, '198.51.100.77')).status).toBe(200)
    const told = async (token: string) => (await me(token)).body.new_sign_ins.length
    expect([await told(inAcme.token), await told(inBluff.token)]).toEqual([1, 0])
  })

  test('wrong passwords are in the log of both, and a right one in the log of its own only', async () => {
    const { email, inAcme, inBluff } = await both()
    const kinds = async (tenant: MadeTenant, subject: number) => {
      const { body } = await call(app, 'GET', '/api/audit', { token: tenant.owner })
      return body.events
        .filter((event: { done_to: { id: number } | null }) => event.done_to?.id === subject)
        .map((event: { kind: string }) => event.kind)
    }
    await signIn(email, other)
    await app.settle()
    expect(await kinds(acme, inAcme.id)).not.toContain('sign-in-failed')
    await signIn(email, wrong)
    await app.settle()
    expect(await kinds(acme, inAcme.id)).toContain('sign-in-failed')
    expect(await kinds(bluff, inBluff.id)).toContain('sign-in-failed')
  })
})

describe('an account that somebody else made with the address', () => {
  const attacker = '203.0.113.66'

  test('resets no delay: the passwords of the other account are guessed no faster', async () => {
    const { email } = await both()
    for (let tried = 0; tried < 8; tried++) {
      await signIn(email, wrong, {}, attacker)
      // The attacker's own password in the other brokerage.
      expect((await signIn(email, other, {}, attacker)).status).toBe(200)
    }
    // The next guess would be right.
    expect(codeOf(await signIn(email, password, {}, attacker))).toBe('sign-in-failed')
    expect(codeOf(await signIn(email, password, {}, '198.51.100.1'))).toBe('too-many-attempts')
  })

  test('signs in past the delay from its own network, and opens no way to the other account', async () => {
    const { email } = await both()
    expect((await signIn(email, other, {}, attacker)).status).toBe(200)
    for (let nth = 1; nth <= 8; nth++) {
      app.now += 8_000
      expect((await signIn(email, wrong, {}, `198.51.100.${nth}`)).status).toBe(401)
    }
    expect((await signIn(email, other, {}, attacker)).status).toBe(200)
    expect(codeOf(await signIn(email, password, {}, attacker))).toBe('sign-in-failed')
    expect((await signIn(email, password)).body.tenant.id).toBe(acme.id)
  })

  test('a colleague in the same office guesses no faster with it', async () => {
    const { email } = await both()
    // Both accounts are known from this network.
    await signIn(email, password)
    await signIn(email, other)
    for (let nth = 1; nth <= 8; nth++) {
      app.now += 8_000
      await signIn(email, wrong, {}, `198.51.100.${nth}`)
    }
    let checked = 0
    for (let tried = 0; tried < 20; tried++) {
      if ((await signIn(email, wrong)).status === 401) checked++
      await signIn(email, other)
    }
    expect(checked).toBeLessThanOrEqual(5)
  })

  test('whoever changes its password again and again to guess is delayed', async () => {
    const { email, inBluff } = await both()
    app.now += 16 * 60_000
    let current = other
    let asked = 0
    for (let guess = 0; guess < 20; guess++) {
      const next = `guess number ${guess} of trucks`
      await call(app, 'POST', '/api/auth/password', {
        token: inBluff.token,
        body: { current_password: current, new_password: next },
        headers: { 'X-Forwarded-For': attacker },
      })
      current = next
      // From a network of which neither account is known.
      const tried = await signIn(email, next, {}, `198.51.100.${guess + 1}`)
      if (tried.status !== 429) asked++
    }
    expect(asked).toBeLessThanOrEqual(6)
  })
})
