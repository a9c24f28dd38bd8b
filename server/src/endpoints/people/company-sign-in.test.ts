import { createHash, createPublicKey } from 'node:crypto'
import { exportJWK, exportSPKI, type JWTPayload, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Refusal, refusalWords } from '#server/company/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { companyOnThisMachine, proveDomain, setProvider, TestBrowser } from '#testing/company.ts'
import { type HostileProvider, hostileProvider, newSigning, signed } from '#testing/hostile-provider.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type NameServer, nameServer } from '#testing/name-server.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const domain = 'blue-mesa.example.org'
const petra = `petra@${domain}`

let app: TestApp
let names: NameServer
let provider: HostileProvider
let tenant: MadeTenant
let browser: TestBrowser

beforeAll(async () => {
  names = await nameServer()
  app = await testApp({ config: companyOnThisMachine(names) })
  provider = await hostileProvider(() => app.now)
})
afterAll(async () => {
  await app.close()
  await provider.close()
  names.close()
})
beforeEach(async () => {
  names.texts.clear()
  // Failures of earlier tests do not delay this one.
  app.now += 3_600_000
  tenant = await makeTenant(app)
  browser = new TestBrowser()
  await proveDomain(app, tenant, names, domain)
  await setProvider(app, tenant, provider, { makes_accounts: true, role_without_group: 'member' })
  await announce()
})
afterEach(() => {
  provider.script = {}
})

/** Makes the service read again what the provider says about itself, which it keeps for a minute. */
const announce = () => call(app, 'POST', '/api/company-sign-in/check', { token: tenant.owner, body: {} })

/** Signs in through the provider, which says what the script and `person` say. */
async function signIn(person: JWTPayload = {}, at: MadeTenant = tenant) {
  const { body } = await browser.start(app, at, petra)
  return browser.finish(app, at, provider.answerTo(body.address, { email: petra, ...person }))
}

async function refusedWith(answer: Awaited<ReturnType<typeof signIn>>, refusal: Refusal, of = tenant) {
  expect(answer.body).toMatchObject({ code: 'company-sign-in-failed', detail: refusalWords[refusal] })
  expect(answer.status).toBe(401)
  expect(answer.headers.getSetCookie()).toEqual([])
  await app.settle()
  const events = await auditOf(of)
  const about = events.filter(({ kind }) => kind === 'company-sign-in-refused').map((one) => one.about.reason)
  if (refusal !== 'not-this-browser') expect(about).toContain(refusal)
  const { users } = (await call(app, 'GET', '/api/users', { token: of.owner })).body
  expect(users.map(({ email }: { email: string }) => email)).not.toContain(petra)
}

async function auditOf({ owner }: MadeTenant): Promise<{ kind: string; about: Record<string, unknown> }[]> {
  const { body } = await call(app, 'GET', '/api/audit', { token: owner })
  return body.events
}

describe('200', () => {
  test('start and return reach different instances', async () => {
    const other = await appOn(app.testDatabase, {
      config: companyOnThisMachine(names),
      secretKeys: [app.secretKey],
      now: app.now,
    })
    try {
      const { body } = await browser.start(other, tenant, petra)
      const answer = provider.answerTo(body.address, { email: petra })
      expect((await browser.finish(app, tenant, answer)).status).toBe(200)
      const again = await browser.finish(other, tenant, answer)
      expect(again.body.detail).toBe(refusalWords['not-this-browser'])
    } finally {
      await other.close()
    }
  })

  test('an invited person joins with the role of the invitation, and without a password', async () => {
    await setProvider(app, tenant, provider)
    const invited = await call(app, 'POST', '/api/users', {
      token: tenant.owner,
      body: { name: 'Petra', email: petra, role: 'admin' },
    })
    const { status, body } = await signIn()
    expect(status).toBe(200)
    expect(body.user).toMatchObject({ id: invited.body.user.id, role: 'admin', status: 'active' })
    const { invitation } = invited.body
    const late = await call(app, 'POST', '/api/auth/accept-invitation', {
      body: { invitation, password: 'seven quiet trucks at dawn' },
    })
    expect(late.body.code).toBe('token-invalid')
  })

  test('an account of the provider keeps its person when its address changes within proven domains', async () => {
    const { body } = await signIn()
    const renamed = await signIn({ email: `petra.quinn@${domain}` })
    expect(renamed.body.user).toMatchObject({ id: body.user.id, email: petra })
  })

  test('a key that the provider changed after the sign-in began is accepted, and the one before is not', async () => {
    const { body } = await browser.start(app, tenant, petra)
    await provider.rotate()
    const answer = provider.answerTo(body.address, { email: petra })
    expect((await browser.finish(app, tenant, answer)).status).toBe(200)
    const old = await newSigning('key-1')
    provider.script = { token: (claims) => signed(claims, old) }
    const refused = await signIn()
    expect(refused.body.detail).toBe(refusalWords['wrong-signature'])
  })

  test('Entra ID says with xms_edov that the address is confirmed', async () => {
    expect((await signIn({ email_verified: undefined, xms_edov: '1' })).status).toBe(200)
  })

  test('one address is a person of each of two brokerages that proved the domain, and the person chooses', async () => {
    const other = await makeTenant(app)
    await proveDomain(app, other, names, domain)
    await setProvider(app, other, provider, { makes_accounts: true, role_without_group: 'viewer' })
    const { body: found } = await browser.post(app, '/api/auth/company', { email: petra })
    const ids = found.companies.map((company: { brokerage_id: number }) => company.brokerage_id)
    expect(ids).toEqual(expect.arrayContaining([tenant.id, other.id]))
    expect(found.companies[0].brokerage).toBe('Test Brokers')
    const [one, two] = [await signIn(), await signIn({}, other)]
    expect([one.body.tenant.id, two.body.tenant.id]).toEqual([tenant.id, other.id])
    expect([one.body.user.role, two.body.user.role]).toEqual(['member', 'viewer'])
    // Suspended in one, and at work in the other.
    await call(app, 'POST', `/api/users/${two.body.user.id}/suspend`, {
      token: other.owner,
      body: { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' },
    })
    expect((await signIn({}, other)).body.detail).toBe(refusalWords['not-active'])
    expect((await signIn()).status).toBe(200)
  })

  test('a person in several tabs can finish each', async () => {
    const one = (await browser.start(app, tenant, petra)).body.address
    const other = (await browser.start(app, tenant, petra)).body.address
    for (const address of [other, one]) {
      const answer = provider.answerTo(address, { email: petra })
      expect((await browser.finish(app, tenant, answer)).status).toBe(200)
    }
  })

  test('two first sign-ins at once make one account', async () => {
    const starts = await Promise.all([
      browser.start(app, tenant, petra),
      new TestBrowser().start(app, tenant, petra),
    ])
    expect(starts.map(({ status }) => status)).toEqual([200, 200])
    const first = (await browser.start(app, tenant, petra)).body.address
    const second = (await browser.start(app, tenant, petra)).body.address
    const done = await Promise.all(
      [first, second].map((address) =>
        browser.finish(app, tenant, provider.answerTo(address, { email: petra })),
      ),
    )
    expect(done.map(({ status }) => status)).toEqual([200, 200])
    expect(done[0]?.body.user.id).toBe(done[1]?.body.user.id)
  })
})

describe('401: the answer of a hostile provider', () => {
  const withClaims = (change: JWTPayload) => ({ claims: (honest: JWTPayload) => ({ ...honest, ...change }) })

  test('wrong issuer', async () => {
    provider.script = withClaims({ iss: 'https://accounts.google.com' })
    await refusedWith(await signIn(), 'wrong-issuer')
  })
  test('wrong audience', async () => {
    provider.script = withClaims({ aud: 'another-client' })
    await refusedWith(await signIn(), 'wrong-audience')
  })
  test('several audiences, and made for another one', async () => {
    provider.script = withClaims({ aud: ['lanewise-client', 'another-client'], azp: 'another-client' })
    await refusedWith(await signIn(), 'wrong-audience')
  })
  test('wrong nonce', async () => {
    provider.script = withClaims({ nonce: 'of another sign-in' })
    await refusedWith(await signIn(), 'wrong-nonce')
  })
  test('no nonce', async () => {
    provider.script = withClaims({ nonce: undefined })
    await refusedWith(await signIn(), 'nonsense')
  })
  test('algorithm none', async () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const alg of ['none', 'None', 'NONE']) {
      provider.script = {
        token: (claims) => `${part({ alg })}.${part(claims)}.`,
        metadata: (honest) => ({ ...honest, id_token_signing_alg_values_supported: ['RS256', alg] }),
      }
      await announce()
      await refusedWith(await signIn(), 'wrong-algorithm')
      app.now += 61_000
    }
  })
  test('HS256 with the public key as the secret', async () => {
    const token = async (claims: JWTPayload, { kid, publicKey }: Awaited<ReturnType<typeof newSigning>>) => {
      const pem = await exportSPKI(publicKey)
      expect(createPublicKey(pem).asymmetricKeyType).toBe('rsa')
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(Buffer.from(pem))
    }
    provider.script = { token }
    await refusedWith(await signIn(), 'wrong-algorithm')
    // Also if the provider says that it signs so.
    app.now += 61_000
    provider.script = {
      token,
      metadata: (honest) => ({ ...honest, id_token_signing_alg_values_supported: ['HS256', 'RS256'] }),
    }
    await announce()
    await refusedWith(await signIn(), 'wrong-algorithm')
  })
  test('HS256 with the client secret, although OpenID Connect permits it', async () => {
    provider.script = {
      token: (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(Buffer.from('client-secret-canary'.padEnd(32))),
      metadata: (honest) => ({ ...honest, id_token_signing_alg_values_supported: ['HS256'] }),
    }
    await announce()
    await refusedWith(await signIn(), 'wrong-algorithm')
  })
  test('a key of somebody else, also with the name of the right key', async () => {
    const stranger = await newSigning('key-stranger')
    provider.script = { token: (claims) => signed(claims, stranger) }
    await refusedWith(await signIn(), 'wrong-signature')
    provider.script = { token: (claims, { kid }) => signed(claims, { ...stranger, kid }) }
    await refusedWith(await signIn(), 'wrong-signature')
  })
  test('a key that the token itself brings', async () => {
    const stranger = await newSigning('brought')
    const jwk = await exportJWK(stranger.publicKey)
    provider.script = {
      token: (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: 'brought', jwk })
          .sign(stranger.privateKey),
    }
    await refusedWith(await signIn(), 'wrong-signature')
  })
  test('a changed token', async () => {
    provider.script = {
      token: async (claims, signing) => {
        const [head, , mac] = (await signed({ ...claims, email: `other@${domain}` }, signing)).split('.')
        return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), mac].join('.')
      },
    }
    await refusedWith(await signIn(), 'wrong-signature')
  })
  test('expired', async () => {
    provider.script = withClaims({ exp: Math.floor(app.now / 1000) - 130 })
    await refusedWith(await signIn(), 'clocks-differ')
  })
  test.each([
    ['ahead', 600],
    ['behind', -600],
  ])('a clock that is ten minutes %s', async (_, seconds) => {
    const at = Math.floor(app.now / 1000) + seconds
    provider.script = withClaims({ iat: at, exp: at + 300 })
    await refusedWith(await signIn(), 'clocks-differ')
  })
  test('no e-mail address', async () => {
    await refusedWith(await signIn({ email: undefined }), 'no-email')
  })
  test.each([[false], ['false'], [undefined], [null], [1]])(
    'an address that is not verified: %s',
    async (value) => {
      await refusedWith(await signIn({ email_verified: value }), 'email-not-verified')
    },
  )
  test('an address of a domain that nobody proved, also below a proven one', async () => {
    for (const email of ['petra@gmail.com', `petra@sub.${domain}`, `petra@not${domain}`]) {
      const answer = await signIn({ email })
      await refusedWith(answer, 'domain-not-proven')
    }
  })
  test('an address of a domain that was added and not proven', async () => {
    await call(app, 'POST', '/api/company-sign-in/domains', {
      token: tenant.owner,
      body: { domain: 'claimed.example.org' },
    })
    await refusedWith(await signIn({ email: 'petra@claimed.example.org' }), 'domain-not-proven')
    const found = await browser.post(app, '/api/auth/company', { email: 'x@claimed.example.org' })
    expect(found.body).toEqual({ companies: [] })
    const begun = await browser.start(app, tenant, 'x@claimed.example.org')
    expect(begun.body.detail).toBe('There is no company sign-in for this e-mail address.')
  })
  test('another account of the provider with the address of a known person', async () => {
    expect((await signIn()).status).toBe(200)
    const answer = await signIn({ sub: 'subject-2' })
    expect(answer.body.detail).toBe(refusalWords['another-account'])
  })
  test('the provider refuses, or sends nonsense, or another provider answers', async () => {
    const back = async (change: (answer: URLSearchParams) => void) => {
      const { body } = await browser.start(app, tenant, petra)
      const answer = new URLSearchParams(provider.answerTo(body.address, { email: petra }))
      change(answer)
      return browser.finish(app, tenant, answer.toString())
    }
    await refusedWith(
      await back((answer) => {
        answer.delete('code')
        answer.set('error', 'access_denied')
      }),
      'provider-refused',
    )
    app.now += 61_000
    await refusedWith(
      await back((answer) => answer.set('iss', 'https://evil.example.com')),
      'another-provider',
    )
    app.now += 61_000
    await refusedWith(await back((answer) => answer.delete('iss')), 'another-provider')
    app.now += 61_000
    await refusedWith(await back((answer) => answer.set('code', 'made up')), 'code-refused')
  })
})

describe('401: replay, another browser, and mix-up', () => {
  test('an answer is used once', async () => {
    const { body } = await browser.start(app, tenant, petra)
    const answer = provider.answerTo(body.address, { email: petra })
    expect((await browser.finish(app, tenant, answer)).status).toBe(200)
    const again = await browser.finish(app, tenant, answer)
    expect(again.body.detail).toBe(refusalWords['not-this-browser'])
    expect(provider.redeemed.filter((one) => answer.includes(one.get('code') ?? 'none'))).toHaveLength(1)
  })
  test('an answer that was refused cannot be tried again', async () => {
    provider.script = { claims: (honest) => ({ ...honest, nonce: 'another' }) }
    const { body } = await browser.start(app, tenant, petra)
    const answer = provider.answerTo(body.address, { email: petra })
    await browser.finish(app, tenant, answer)
    provider.script = {}
    await refusedWith(await browser.finish(app, tenant, answer), 'not-this-browser')
  })
  test('an answer in another browser, and in one without a cookie', async () => {
    const { body } = await browser.start(app, tenant, petra)
    const answer = provider.answerTo(body.address, { email: petra })
    const other = new TestBrowser()
    await refusedWith(await other.finish(app, tenant, answer), 'not-this-browser')
    await other.start(app, tenant, petra)
    await refusedWith(await other.finish(app, tenant, answer), 'not-this-browser')
  })
  test('an answer after ten minutes, and a state that was changed', async () => {
    const { body } = await browser.start(app, tenant, petra)
    const answer = provider.answerTo(body.address, { email: petra })
    const state = new URLSearchParams(answer).get('state') ?? ''
    for (const changed of ['', 'x', `${state}x`, state.replace('.', '..'), state.split('.')[0] ?? '']) {
      const forged = new URLSearchParams(answer)
      forged.set('state', changed)
      await refusedWith(await browser.finish(app, tenant, forged.toString()), 'not-this-browser')
      app.now += 10_000
    }
    app.now += 600_000
    await refusedWith(await browser.finish(app, tenant, answer), 'not-this-browser')
  })
  test('a second brokerage with its own provider: neither takes what belongs to the other', async () => {
    const evil = await hostileProvider(() => app.now)
    try {
      const attacker = await makeTenant(app)
      await proveDomain(app, attacker, names, 'attacker.example.org')
      await setProvider(app, attacker, evil, { makes_accounts: true, role_without_group: 'member' })
      const ours = (await browser.start(app, tenant, petra)).body.address
      const theirs = (await browser.start(app, attacker, 'eve@attacker.example.org')).body.address
      // The address of the attacker's domain cannot reach our provider, and ours not theirs.
      expect((await browser.start(app, attacker, petra)).status).toBe(401)
      expect((await browser.start(app, tenant, 'eve@attacker.example.org')).status).toBe(401)
      // The answer for one brokerage at the page of the other.
      const stray = provider.answerTo(ours, { email: petra })
      await refusedWith(await browser.finish(app, attacker, stray), 'not-this-browser', attacker)
      // The attacker's provider sends the browser back with our code, under its own state and name (mix-up).
      const mixed = new URLSearchParams(provider.answerTo(ours, { email: petra }))
      mixed.set('state', new URL(theirs).searchParams.get('state') ?? '')
      await refusedWith(await browser.finish(app, attacker, mixed.toString()), 'another-provider', attacker)
      expect(evil.redeemed).toEqual([])
      // The attacker's provider vouches for an address of ours.
      app.now += 61_000
      const next = (await browser.start(app, attacker, 'eve@attacker.example.org')).body.address
      const claimed = evil.answerTo(next, { email: petra })
      await refusedWith(await browser.finish(app, attacker, claimed), 'domain-not-proven', attacker)
      // Our provider's token, at the attacker's.
      app.now += 61_000
      evil.script = { claims: (honest) => ({ ...honest, iss: provider.issuer }) }
      const last = (await browser.start(app, attacker, 'eve@attacker.example.org')).body.address
      await refusedWith(
        await browser.finish(app, attacker, evil.answerTo(last, { email: 'eve@attacker.example.org' })),
        'wrong-issuer',
        attacker,
      )
      expect(await users(attacker)).toEqual([attacker.email])
      expect(await users(tenant)).toEqual([tenant.email])
    } finally {
      await evil.close()
    }
  })
  test('settings that changed meanwhile', async () => {
    const { body } = await browser.start(app, tenant, petra)
    const answer = provider.answerTo(body.address, { email: petra })
    await setProvider(app, tenant, { ...provider, clientId: 'another' })
    await refusedWith(await browser.finish(app, tenant, answer), 'settings-changed')
  })
})

async function users({ owner }: MadeTenant): Promise<string[]> {
  const { body } = await call(app, 'GET', '/api/users', { token: owner })
  return body.users.map(({ email }: { email: string }) => email)
}

describe('401: a provider in trouble', () => {
  const paths = ['/token', '/keys'] as const

  test.each(paths)('%s answers nonsense, an error, too much, or nothing', async (path) => {
    const answers: [Refusal, (response: import('node:http').ServerResponse) => void][] = [
      ['nonsense', (response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{')],
      ['nonsense', (response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]')],
      ['unreachable', (response) => response.writeHead(503).end('down')],
      ['unreachable', (response) => response.destroy()],
      [
        'unreachable',
        (response) =>
          response.writeHead(200, { 'Content-Type': 'application/json' }).end(`"${'x'.repeat(300_000)}"`),
      ],
    ]
    for (const [refusal, answer] of answers) {
      provider.script = { answer: { [path]: (_request, response) => answer(response) } }
      await refusedWith(await signIn(), refusal)
      app.now += 3_600_000
    }
  })

  test('a provider that is down when a sign-in begins', async () => {
    const down = await hostileProvider(() => app.now)
    await down.close()
    await setProvider(app, tenant, down)
    const { status, body } = await browser.start(app, tenant, petra)
    expect(status).toBe(401)
    expect(body.detail).toBe(refusalWords.unreachable)
    const checked = await call(app, 'POST', '/api/company-sign-in/check', { token: tenant.owner, body: {} })
    expect(checked.body).toEqual({ problem: 'The connection was refused.' })
  })

  test('a provider that does not answer in time', async () => {
    provider.script = { answer: { '/token': () => {} } }
    await refusedWith(await signIn(), 'unreachable')
  }, 15_000)

  test('a provider whose description names another issuer, no keys, or a page that is not on the web', async () => {
    const changes: [Refusal, Record<string, unknown>][] = [
      ['wrong-issuer', { issuer: 'https://accounts.google.com' }],
      ['nonsense', { authorization_endpoint: 'javascript:alert(1)' }],
      ['nonsense', { authorization_endpoint: undefined }],
    ]
    for (const [refusal, change] of changes) {
      const odd = await hostileProvider(() => app.now)
      odd.script = { metadata: (honest) => ({ ...honest, ...change }) }
      await setProvider(app, tenant, odd)
      const { body } = await browser.start(app, tenant, petra)
      expect(body.detail).toBe(refusalWords[refusal])
      await odd.close()
    }
  })

  test('a provider in a private network is not asked, and neither are private addresses that it names', async () => {
    let reached = 0
    const inner = await hostileProvider(() => app.now)
    inner.script = {
      answer: {
        '/secret': (_request, response) => {
          reached++
          response.end()
        },
      },
    }
    provider.script = {
      metadata: (honest) => ({
        ...honest,
        token_endpoint: `${inner.issuer.replace('127.0.0.1', '127.0.0.2')}/secret`,
      }),
    }
    app.now += 61_000
    const own = await hostileProvider(() => app.now)
    own.script = provider.script
    await setProvider(app, tenant, own, { makes_accounts: true, role_without_group: 'member' })
    const { body } = await browser.start(app, tenant, petra)
    const answer = await browser.finish(app, tenant, own.answerTo(body.address, { email: petra }))
    await refusedWith(answer, 'unreachable')
    expect(reached).toBe(0)
    const privateIssuer = await setProvider(app, tenant, { issuer: 'https://10.0.0.1' })
    expect(privateIssuer.body.errors).toMatchObject([{ pointer: '/issuer' }])
    await inner.close()
    await own.close()
  })
})

describe('roles from groups', () => {
  const groups = [
    { group: 'brokers', role: 'member' },
    { group: 'leads', role: 'admin' },
  ]

  test('a person without a group is refused, and one who lost the last group loses the sessions', async () => {
    await setProvider(app, tenant, provider, { makes_accounts: true, groups })
    await refusedWith(await signIn({ groups: ['others'] }), 'no-role')
    app.now += 61_000
    const { body } = await signIn({ groups: ['brokers'] })
    expect(body.user.role).toBe('member')
    expect((await signIn({ groups: [] })).body.detail).toBe(refusalWords['no-role'])
    expect((await call(app, 'GET', '/api/me', { token: body.token })).status).toBe(401)
  })

  test('a group whose meaning is removed acts on the next request: role, team and sessions', async () => {
    const team = await call(app, 'POST', '/api/teams', { token: tenant.owner, body: { name: 'East' } })
    const east = team.body.teams[0].team_id
    const [brokers, leads] = [groups[0], { ...groups[1], team_id: east }]
    await setProvider(app, tenant, provider, { makes_accounts: true, groups: [brokers, leads] })
    const { body } = await signIn({ groups: ['brokers', 'leads', 'others'] })
    expect(body.user).toMatchObject({ role: 'admin' })
    const me = () => call(app, 'GET', '/api/me', { token: body.token })
    await call(app, 'POST', '/api/sandbox', { token: body.token, body: {} })
    const entered = await call(app, 'POST', '/api/sandbox/session', { token: body.token, body: {} })
    const inSandbox = () => call(app, 'GET', '/api/me', { token: entered.body.token })
    expect((await inSandbox()).body.user.role).toBe('admin')
    const members = async () =>
      (await call(app, 'GET', '/api/teams', { token: tenant.owner })).body.teams[0].members
    // Groups that mean more than at the sign-in wait for the next one, and the session goes on.
    const more = [brokers, leads, { group: 'others', role: 'admin' }]
    await setProvider(app, tenant, provider, { makes_accounts: true, groups: more })
    expect((await me()).status).toBe(200)
    expect(await members()).toHaveLength(1)

    await setProvider(app, tenant, provider, { makes_accounts: true, groups: [brokers] })
    expect((await me()).status).toBe(401)
    expect((await inSandbox()).status).toBe(401)
    expect(await members()).toEqual([])
    const { users } = (await call(app, 'GET', '/api/users', { token: tenant.owner })).body
    expect(users.find(({ id }: { id: number }) => id === body.user.id)).toMatchObject({ role: 'member' })
    const { events } = (await call(app, 'GET', '/api/audit', { token: tenant.owner })).body
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'role-changed',
        about: expect.objectContaining({ from: 'admin', to: 'member', by: 'company' }),
      }),
    )

    const again = await signIn({ groups: ['brokers'] })
    await setProvider(app, tenant, provider, { makes_accounts: true, groups: [leads] })
    expect((await call(app, 'GET', '/api/me', { token: again.body.token })).status).toBe(401)
    expect((await signIn({ groups: ['brokers'] })).body.detail).toBe(refusalWords['no-role'])
  })

  test('groups that do not fit into the token are unknown, not none', async () => {
    await setProvider(app, tenant, provider, { makes_accounts: true, groups, role_without_group: 'viewer' })
    await refusedWith(await signIn({ _claim_names: { groups: 'src1' } }), 'no-groups')
  })

  test('an owner keeps the role, and signs in only through a provider that an owner set', async () => {
    const admin = await makePerson(app, tenant, 'admin')
    await proveDomain(app, tenant, names, 'example.com')
    await setProvider(app, { ...tenant, owner: admin.token }, provider, { groups })
    const asOwner = { email: tenant.email, sub: 'the owner', groups: ['brokers'] }
    expect((await signIn(asOwner)).body.detail).toBe(refusalWords['owner-not-set'])
    await setProvider(app, tenant, provider, { groups })
    expect((await signIn(asOwner)).body.user.role).toBe('owner')
    // An admin who enters another secret may have another provider in mind.
    await setProvider(app, { ...tenant, owner: admin.token }, provider, { groups })
    expect((await signIn(asOwner)).body.detail).toBe(refusalWords['owner-not-set'])
  })

  test('a suspended person is refused', async () => {
    const { body } = await signIn()
    await call(app, 'POST', `/api/users/${body.user.id}/suspend`, {
      token: tenant.owner,
      body: { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' },
    })
    expect((await signIn()).body.detail).toBe(refusalWords['not-active'])
  })

  test('a removed person is a new one', async () => {
    const { body } = await signIn()
    await call(app, 'DELETE', `/api/users/${body.user.id}`, { token: tenant.owner })
    expect((await signIn()).body.user.id).not.toBe(body.user.id)
  })

  test('nobody without an account gets one unless the brokerage wants it', async () => {
    await setProvider(app, tenant, provider)
    await refusedWith(await signIn(), 'no-account')
  })
})

describe('422', () => {
  test.each([[0], [2_147_483_648], ['1'], [undefined]])('%s is no brokerage', async (id) => {
    const started = await call(app, 'POST', '/api/auth/company/start', {
      body: { email: petra, brokerage_id: id },
    })
    const finished = await call(app, 'POST', '/api/auth/company/finish', {
      body: { answer: 'code=x', brokerage_id: id },
    })
    for (const { status, body } of [started, finished]) {
      expect([status, body.errors[0].pointer]).toEqual([422, '/brokerage_id'])
    }
  })

  test('an answer of more than 8 KiB', async () => {
    const answer = `code=${'x'.repeat(8_200)}`
    const { status, body } = await browser.finish(app, tenant, answer)
    expect([status, body.errors[0].pointer]).toEqual([422, '/answer'])
  })
})

describe('second factor', () => {
  test('it is asked for what needs it, not at the company sign-in, and can be added without a password', async () => {
    const { body } = await signIn()
    await call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { second_factor_from: 'member' } })
    const list = () => call(app, 'GET', '/api/lanes', { token: body.token })
    expect((await list()).body.code).toBe('second-factor-missing')
    const offer = () => call(app, 'POST', '/api/auth/second-factor', { token: body.token, body: {} })
    expect((await offer()).status).toBe(200)
    app.now += 3_600_000
    expect((await offer()).body.code).toBe('second-factor-again')
    const byPassword = await call(app, 'POST', '/api/auth/second-factor', { token: tenant.owner, body: {} })
    expect(byPassword.body.errors).toMatchObject([{ pointer: '/password', code: 'required' }])
  })
})

test('no secret, code, token or cookie is in the log, and none is in the audit log', async () => {
  const { body } = await browser.start(app, tenant, petra)
  const answer = provider.answerTo(body.address, { email: petra })
  await browser.finish(app, tenant, answer)
  provider.script = { claims: (honest) => ({ ...honest, nonce: 'another' }) }
  const refused = await browser.start(app, tenant, petra)
  await browser.finish(app, tenant, provider.answerTo(refused.body.address, { email: petra }))
  await app.settle()
  const written = `${app.logLines.join('\n')}${JSON.stringify(await auditOf(tenant))}`
  const parameters = new URLSearchParams(answer)
  const { searchParams: asked } = new URL(body.address)
  const redeemed = provider.redeemed.at(-1)?.get('code_verifier') ?? 'none'
  expect(createHash('sha256').update(redeemed).digest('base64url')).toMatch(/^[\w-]{43}$/)
  for (const secret of [
    'client-secret-canary',
    'access-token-canary',
    redeemed,
    parameters.get('code'),
    parameters.get('state'),
    asked.get('nonce'),
    asked.get('code_challenge'),
  ]) {
    expect(secret).not.toBe(null)
    expect(written).not.toContain(secret)
  }
})
