import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: MadeTenant

beforeAll(async () => {
  app = await testApp()
  acme = await makeTenant(app)
})
afterAll(() => app.close())

const minute = 60_000
const signIn = (email: string, tried: unknown = password) =>
  call(app, 'POST', '/api/auth/sign-in', { body: { email, password: tried } })
const signUp = (changes: Record<string, unknown> = {}) =>
  call(app, 'POST', '/api/auth/sign-up', {
    body: {
      company: 'Blue Mesa Logistics',
      name: 'Ana Ortiz',
      email: `ana-${crypto.randomUUID()}@example.com`,
      password,
      ...changes,
    },
  })
const me = (token: string) => call(app, 'GET', '/api/me', { token })
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const cookieOf = (answer: Answer) => answer.headers.get('Set-Cookie') ?? ''

/** Lets every back-off expire, so that failures of one test do not affect the next one. */
const calm = () => {
  app.now += 16 * minute
}

describe('201', () => {
  test('sign-up creates a brokerage and its owner, signed in for 12 hours', async () => {
    const answer = await signUp({ email: 'First@Example.com' })
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual(['token', 'expires_at', 'user', 'tenant'])
    expect(answer.body.user).toMatchObject({
      name: 'Ana Ortiz',
      email: 'First@Example.com',
      role: 'owner',
      status: 'active',
    })
    expect(answer.body.tenant).toMatchObject({
      name: 'Blue Mesa Logistics',
      win_probability_method: 'at_or_below',
    })
    expect(Date.parse(answer.body.expires_at)).toBe(Math.floor(app.now / 1000) * 1000 + 12 * 60 * minute)
    expect(JSON.stringify(answer.body)).not.toContain(password)
    expect((await me(answer.body.token)).body.user).toEqual(answer.body.user)
  })

  test('the session cookie is HttpOnly, Secure and SameSite=Strict', async () => {
    const cookie = cookieOf(await signUp())
    expect(cookie).toMatch(/^__Host-lanewise=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Expires=/)
  })
})

describe('200', () => {
  test('each sign-in creates its own session; the e-mail address is case-insensitive', async () => {
    const first = await signIn(acme.email)
    const second = await signIn(acme.email.toUpperCase())
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.token).not.toBe(first.body.token)
    expect(cookieOf(second)).not.toBe(cookieOf(first))
  })

  test('me returns the person, the brokerage, and when the session expires', async () => {
    const { body } = await me(acme.owner)
    expect(Object.keys(body)).toEqual(['user', 'tenant', 'expires_at', 'expiring_tokens'])
    expect(body.tenant.id).toBe(acme.id)
  })

  test('sign-out ends this session only, and clears the cookie', async () => {
    const [one, two] = [await signIn(acme.email), await signIn(acme.email)]
    const out = await call(app, 'POST', '/api/auth/sign-out', { token: one.body.token, body: {} })
    expect(out.status).toBe(200)
    expect(cookieOf(out)).toContain('__Host-lanewise=;')
    expect(codeOf(await me(one.body.token))).toBe('token-revoked')
    expect((await me(two.body.token)).status).toBe(200)
  })

  test('a changed password ends every other session; the old password is rejected, the new one is accepted', async () => {
    const tenant = await makeTenant(app)
    const other = await signIn(tenant.email)
    const next = 'otter saddle lamp pond'
    const changed = await call(app, 'POST', '/api/auth/password', {
      token: tenant.owner,
      body: { current_password: password, new_password: next },
    })
    expect(changed.status).toBe(200)
    expect((await me(tenant.owner)).status).toBe(200)
    expect(codeOf(await me(other.body.token))).toBe('token-revoked')
    expect((await signIn(tenant.email)).status).toBe(401)
    expect((await signIn(tenant.email, next)).status).toBe(200)
  })

  test('a person changes their own phone, and a text that is no number is refused', async () => {
    const tenant = await makeTenant(app)
    const set = (phone: string) => call(app, 'PATCH', '/api/me', { token: tenant.owner, body: { phone } })
    expect((await set('+1 (312) 555-0142 ext. 7')).body.phone).toBe('+1 (312) 555-0142 ext. 7')
    const refused = await set('call me')
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/phone'])
    expect((await me(tenant.owner)).body.user.phone).toBe('+1 (312) 555-0142 ext. 7')
    expect((await set('')).body.phone).toBeNull()
  })

  test('every byte of a password counts', async () => {
    const long = `${'otter saddle lamp '.repeat(4)}pond 12345678`
    const email = `long-${crypto.randomUUID()}@example.com`
    expect((await signUp({ email, password: long })).status).toBe(201)
    expect((await signIn(email, `${long.slice(0, 79)}X${long.slice(80)}`)).status).toBe(401)
    expect((await signIn(email, long)).status).toBe(200)
  })

  test('an invitation works once, for a week', async () => {
    const invite = () =>
      call(app, 'POST', '/api/users', {
        token: acme.owner,
        body: { name: 'Sam Reyes', email: `sam-${crypto.randomUUID()}@example.com`, role: 'member' },
      })
    const accept = (invitation: string) =>
      call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } })
    const invited = (await invite()).body
    const accepted = await accept(invited.invitation)
    expect([accepted.status, accepted.body.user.status, accepted.body.user.role]).toEqual([
      200,
      'active',
      'member',
    ])
    expect(codeOf(await accept(invited.invitation))).toBe('token-invalid')
    const late = (await invite()).body
    const before = app.now
    app.now += 7 * 24 * 60 * minute
    expect(codeOf(await accept(late.invitation))).toBe('token-expired')
    app.now = before
    expect((await accept(late.invitation)).status).toBe(200)
  })

  test('the cookie authenticates the dashboard; writes must come from the dashboard itself', async () => {
    const session = cookieOf(await signIn(acme.email)).split(';')[0] ?? ''
    const get = await call(app, 'GET', '/api/me', { headers: { Cookie: session } })
    expect(get.status).toBe(200)
    const patch = (headers: Record<string, string>) =>
      call(app, 'PATCH', '/api/tenant', {
        headers: { Cookie: session, ...headers },
        body: { name: 'Renamed' },
      })
    const host = new URL(app.url).host
    expect((await patch({ 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
    expect((await patch({ 'X-Lanewise-Request': '1', Origin: `http://${host}` })).status).toBe(200)
    for (const headers of [
      {},
      { 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'cross-site' },
      { 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'same-site' },
      { 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'none' },
      { 'X-Lanewise-Request': '1', Origin: 'https://evil.example' },
      { 'X-Lanewise-Request': '1', Origin: 'null' },
      { 'Sec-Fetch-Site': 'same-origin' },
    ] as Record<string, string>[]) {
      const answer = await patch(headers)
      expect([answer.status, codeOf(answer)]).toEqual([403, 'csrf'])
    }
  })
})

describe('the cookie of a session', () => {
  const withCookie = (cookie: string) => call(app, 'GET', '/api/me', { headers: { Cookie: cookie } })
  const nameAndValue = (answer: Answer) => cookieOf(answer).split(';')[0] ?? ''

  test('sign-in creates a new session, even if the browser already has one', async () => {
    calm()
    const attacker = await makeTenant(app)
    const planted = nameAndValue(await signIn(attacker.email))
    const victim = await call(app, 'POST', '/api/auth/sign-in', {
      headers: { Cookie: planted, 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'same-origin' },
      body: { email: acme.email, password },
    })
    expect(victim.status).toBe(200)
    expect(nameAndValue(victim)).not.toBe(planted)
    expect((await withCookie(nameAndValue(victim))).body.user.email).toBe(acme.email)
    expect((await withCookie(planted)).body.user.email).toBe(attacker.email)
    const madeUp = '__Host-lanewise=fixed-by-an-attacker'
    const fixed = await call(app, 'POST', '/api/auth/sign-in', {
      headers: { Cookie: madeUp },
      body: { email: acme.email, password },
    })
    expect([fixed.status, (await withCookie(madeUp)).status]).toEqual([200, 401])
  })

  test('after sign-out it gives no access', async () => {
    const session = nameAndValue(await signIn(acme.email))
    expect((await withCookie(session)).status).toBe(200)
    await call(app, 'POST', '/api/auth/sign-out', {
      headers: { Cookie: session, 'X-Lanewise-Request': '1', 'Sec-Fetch-Site': 'same-origin' },
      body: {},
    })
    const after = await withCookie(session)
    expect([after.status, codeOf(after)]).toEqual([401, 'token-revoked'])
  })

  test('after a change of role it gives no access', async () => {
    const person = await makePerson(app, acme, 'member')
    const session = nameAndValue(await signIn(person.email))
    await call(app, 'PATCH', `/api/users/${person.id}`, { token: acme.owner, body: { role: 'viewer' } })
    expect((await withCookie(session)).status).toBe(401)
  })
})

describe('401', () => {
  test('a wrong password and an unknown address get the same answer', async () => {
    calm()
    const [wrong, nobody] = [
      await signIn(acme.email, 'wrong password here'),
      await signIn('nobody@example.com'),
    ]
    for (const answer of [wrong, nobody]) {
      expect([answer.status, codeOf(answer), answer.body.detail]).toEqual([
        401,
        'sign-in-failed',
        'The e-mail address or the password is wrong.',
      ])
      expect(cookieOf(answer)).toBe('')
    }
    expect({ ...wrong.body, request_id: null }).toEqual({ ...nobody.body, request_id: null })
  })

  test('an invited person without a password, and a removed person, cannot sign in', async () => {
    calm()
    const email = `invited-${crypto.randomUUID()}@example.com`
    await call(app, 'POST', '/api/users', { token: acme.owner, body: { name: 'Sam', email, role: 'member' } })
    expect((await signIn(email, '')).status).toBe(401)
    const person = await makePerson(app, acme, 'member')
    const { email: theirs } = (await me(person.token)).body.user
    await call(app, 'DELETE', `/api/users/${person.id}`, { token: acme.owner })
    expect((await signIn(theirs)).status).toBe(401)
    expect(codeOf(await me(person.token))).toBe('token-revoked')
  })

  test('a session ends after its 12 hours', async () => {
    const { body } = await signIn(acme.email)
    const before = app.now
    app.now += 12 * 60 * minute - 1000
    expect((await me(body.token)).status).toBe(200)
    app.now = before + 12 * 60 * minute + 31_000
    expect(codeOf(await me(body.token))).toBe('token-expired')
    app.now = before
  })

  test('a forged invitation', async () => {
    calm()
    for (const invitation of [
      '',
      'x',
      'lwinv_1_1_short',
      `lwinv_${acme.id}_1_${'A'.repeat(32)}`,
      `lwinv_9999999999_1_${'A'.repeat(32)}`,
    ]) {
      const answer = await call(app, 'POST', '/api/auth/accept-invitation', {
        body: { invitation, password },
      })
      expect([invitation, answer.status]).toEqual([invitation, 401])
    }
  })

  test('changing the password requires the current one', async () => {
    calm()
    const answer = await call(app, 'POST', '/api/auth/password', {
      token: (await signIn(acme.email)).body.token,
      body: { current_password: 'wrong password here', new_password: 'otter saddle lamp pond' },
    })
    expect(codeOf(answer)).toBe('sign-in-failed')
  })
})

describe('403', () => {
  test('an operator can turn sign-up off', async () => {
    const closed = await testApp({ config: { allowSignUp: false } })
    try {
      const answer = await call(closed, 'POST', '/api/auth/sign-up', {
        body: { company: 'X Freight', name: 'Ana', email: 'ana@example.com', password },
      })
      expect([answer.status, codeOf(answer)]).toEqual([403, 'sign-up-disabled'])
    } finally {
      await closed.close()
    }
  })
})

describe('409', () => {
  test('an e-mail address belongs to one person, in any case and under concurrent sign-ups', async () => {
    calm()
    const email = `twice-${crypto.randomUUID()}@example.com`
    const answers = await Promise.all(Array.from({ length: 4 }, () => signUp({ email })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    expect(codeOf(await signUp({ email: ` ${email.toUpperCase()}`.trim() }))).toBe('email-taken')
  })
})

describe('422', () => {
  test.each([
    ['14 characters', 'kFq7#Lz2!pXw9v'],
    ['129 characters', 'otter saddle lamp pond '.repeat(6).slice(0, 129)],
    ['one letter', 'aaaaaaaaaaaaaaaaaaaa'],
    ['counted up', '1234567890123456'],
    ['common words', 'passwordpassword1'],
    ['the company', 'BlueMesaLogistics1'],
    ['no text', 123456789012345],
    ['half a character', `otter saddle lamp \ud800`],
  ])('a password of %s is refused, and never repeated', async (_what, tried) => {
    const answer = await signUp({ password: tried })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/password'])
    expect(JSON.stringify(answer.body)).not.toContain(String(tried).slice(0, 12))
  })

  test('any long password is accepted, without rules about its characters', async () => {
    expect((await signUp({ password: 'all lower case and long' })).status).toBe(201)
    expect((await signUp({ password: '長い合言葉は忘れにくいものですよね' })).status).toBe(201)
  })

  test.each(['company', 'name', 'email', 'password'])('%s is required', async (field) => {
    const answer = await signUp({ [field]: undefined })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, `/${field}`])
  })

  test.each([
    'ana',
    'ana@',
    '@example.com',
    'ana@example',
    'a b@example.com',
    'ana@exa mple.com',
    'ana@example.com\n',
    'ana@example..com',
    `${'x'.repeat(250)}@example.com`,
    'ana@example.com,bob@example.com',
    7,
  ])('%j is not an e-mail address', async (email) => {
    expect((await signUp({ email })).status).toBe(422)
  })
})

describe('429', () => {
  test('after five failures on an account, even the right password must wait; no account is locked permanently', async () => {
    calm()
    const tenant = await makeTenant(app)
    for (let i = 0; i < 5; i++) expect((await signIn(tenant.email, 'wrong password here')).status).toBe(401)
    const waiting = await signIn(tenant.email)
    expect([waiting.status, codeOf(waiting), waiting.headers.get('Retry-After')]).toEqual([
      429,
      'too-many-attempts',
      '1',
    ])
    app.now += 1000
    expect((await signIn(tenant.email)).status).toBe(200)
    expect((await signIn(tenant.email, 'wrong password here')).status).toBe(401)
  })

  test('a nonexistent account is throttled the same way', async () => {
    calm()
    for (let i = 0; i < 5; i++) expect((await signIn('ghost@example.com')).status).toBe(401)
    expect((await signIn('ghost@example.com')).status).toBe(429)
  })

  test('concurrent guesses are throttled like sequential ones', async () => {
    calm()
    const tenant = await makeTenant(app)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => signIn(tenant.email, 'wrong password here')),
    )
    const looked = answers.filter(({ status }) => status === 401)
    expect(looked.length).toBeLessThanOrEqual(5)
    expect(answers.length - looked.length).toBe(answers.filter(({ status }) => status === 429).length)
  })

  test('one network gets 30 failures per 15 minutes over all accounts', async () => {
    calm()
    const statuses: number[] = []
    for (let i = 0; i < 32; i++) statuses.push((await signIn(`ghost-${i}@example.com`)).status)
    expect(statuses).toEqual([...Array(30).fill(401), 429, 429])
    app.now += 16 * minute
    expect((await signIn(acme.email)).status).toBe(200)
  })
})
