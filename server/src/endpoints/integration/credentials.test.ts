import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { secretForm } from '#contract/signature.ts'
import { changeTenantStatus, resetPassword } from '#server/operations/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeServiceToken,
  makeTenant,
  pushUpdate,
  signedHeaders,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const tokensPath = '/api/integrations/tokens'
const secretsPath = '/api/integrations/secrets'
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const hour = 3_600_000
const day = 24 * hour

let app: TestApp
let acme: Integration
let other: Integration
let people: Record<'viewer' | 'member' | 'admin', { id: number; token: string }>
let database: pg.Client

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  people = {
    viewer: await makePerson(app, acme.tenant, 'viewer'),
    member: await makePerson(app, acme.tenant, 'member'),
    admin: await makePerson(app, acme.tenant, 'admin'),
  }
  database = new pg.Client(app.testDatabase.owner)
  await database.connect()
})
afterAll(async () => {
  await database.end()
})

/** Runs a statement as the owner of the tables, within one tenant. */
async function inTenant(tenantId: number, statement: string, values: unknown[] = []) {
  const { rows } = await asTableOwner(database, tenantId, () => database.query(statement, values))
  return rows
}

/** The environment of an operator's command. */
const operator = () => ({
  config: {
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  },
  remark: () => {},
})

const create = (path: string, name: unknown, token = acme.tenant.owner) =>
  call(app, 'POST', path, { token, body: { name } })
const read = (token: string) => call(app, 'GET', readPath, { token })
const codeOf = (answer: { body: { type?: string } }) => answer.body.type?.replace('/problems/', '')
/** A change by another process takes effect here as soon as this process looks: `cache/tenant-memory.test.ts`. */
const soonRevoked = (token: string) =>
  expect.poll(async () => codeOf(await read(token))).toBe('token-revoked')
const write = (token: string, secret: string) => pushUpdate(app, { token, secret }, { lane_ref: 'none' })

/** Moves the server's clock for a while. */
async function later<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const before = app.now
  app.now += milliseconds
  try {
    return await work()
  } finally {
    app.now = before
  }
}

describe('201', () => {
  test('a service token: exactly the members of the contract, valid for a year, its claims contain tenant, user and role', async () => {
    const { status, body, headers } = await create(tokensPath, 'McLeod production')
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['id', 'name', 'scope', 'expires_at', 'token', 'warning'])
    expect(body).toMatchObject({
      name: 'McLeod production',
      scope: 'integrations:write',
      warning: expect.stringContaining('once'),
    })
    expect(Number.isInteger(body.id)).toBe(true)
    expect(Date.parse(body.expires_at)).toBe(Math.floor(app.now / 1000) * 1000 + 365 * day)
    const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString())
    expect(claims).toMatchObject({
      tenant_id: acme.tenant.id,
      user_id: 1,
      role: 'owner',
      scope: 'integrations:write',
    })
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect((await read(body.token)).status).toBe(200)
  })

  test('a signing secret: exactly the members of the contract, in the documented form', async () => {
    const { status, body, headers } = await create(secretsPath, 'billing')
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['id', 'name', 'secret', 'warning'])
    expect(body).toMatchObject({ name: 'billing', warning: expect.stringContaining('once') })
    expect(body.secret).toMatch(secretForm)
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(codeOf(await write(acme.token, body.secret))).toBe('lane-not-found')
  })

  test('an admin may create both, like an owner', async () => {
    expect((await create(tokensPath, 'by admin', people.admin.token)).status).toBe(201)
    expect((await create(secretsPath, 'by admin', people.admin.token)).status).toBe(201)
  })

  test('a second secret with a live name replaces a lost plaintext: both are accepted', async () => {
    const tenant = await makeIntegration(app)
    const second = await create(secretsPath, 'tms', tenant.tenant.owner)
    expect(second.status).toBe(201)
    for (const secret of [tenant.secret, second.body.secret])
      expect(codeOf(await write(tenant.token, secret))).toBe('lane-not-found')
  })

  test('rotation: both are accepted in the overlap of a day, then only the new one', async () => {
    const holder = await makeIntegration(app)
    const rotated = await call(app, 'POST', `${secretsPath}/1/rotate`, { token: holder.tenant.owner })
    expect([rotated.status, Object.keys(rotated.body)]).toEqual([201, ['id', 'name', 'secret', 'warning']])
    for (const secret of [holder.secret, rotated.body.secret])
      expect(codeOf(await write(holder.token, secret))).toBe('lane-not-found')
    await later(day - 1000, async () =>
      expect(codeOf(await write(holder.token, holder.secret))).toBe('lane-not-found'),
    )
    await later(day + 1000, async () => {
      expect(codeOf(await write(holder.token, holder.secret))).toBe('signature-mismatch')
      expect(codeOf(await write(holder.token, rotated.body.secret))).toBe('lane-not-found')
    })
  })

  test('rotation without an overlap revokes the old secret at once', async () => {
    const holder = await makeIntegration(app)
    await call(app, 'POST', `${secretsPath}/1/rotate`, {
      token: holder.tenant.owner,
      body: { overlap_hours: 0 },
    })
    expect(codeOf(await write(holder.token, holder.secret))).toBe('signature-mismatch')
  })
})

describe('200', () => {
  test('the lists show everything needed to clean up, newest first, and never the plaintext', async () => {
    const tokens = await call(app, 'GET', tokensPath, { token: people.admin.token })
    const ids = tokens.body.tokens.map((token: { id: number }) => token.id)
    expect(ids).toEqual([...ids].sort((a, b) => b - a))
    for (const token of tokens.body.tokens) {
      expect(Object.keys(token)).toEqual([
        'id',
        'name',
        'scope',
        'created_at',
        'expires_at',
        'last_used_at',
        'last_used_from',
        'revoked_at',
      ])
    }
    const secrets = await call(app, 'GET', secretsPath, { token: people.admin.token })
    for (const secret of secrets.body.secrets) {
      expect(Object.keys(secret)).toEqual([
        'id',
        'name',
        'created_at',
        'expires_at',
        'last_used_at',
        'revoked_at',
      ])
    }
    const shown = JSON.stringify([tokens.body, secrets.body])
    expect(shown).not.toContain('lwsec_')
    expect(shown).not.toContain('eyJ')
  })

  test('the list says when and from where a token was last used', async () => {
    const made = (await create(tokensPath, 'used')).body
    await read(made.token)
    await expect
      .poll(async () =>
        (await call(app, 'GET', tokensPath, { token: acme.tenant.owner })).body.tokens.find(
          (one: { id: number }) => one.id === made.id,
        ),
      )
      .toMatchObject({ last_used_at: expect.any(String), last_used_from: '127.0.0.1' })
  })

  test('revoking takes effect with the next request, and has no effect the second time', async () => {
    const made = (await create(tokensPath, 'gone')).body
    const first = await call(app, 'DELETE', `${tokensPath}/${made.id}`, { token: acme.tenant.owner })
    expect([first.status, first.body.revoked_at]).toEqual([200, expect.any(String)])
    expect(codeOf(await read(made.token))).toBe('token-revoked')
    const again = await later(hour, () =>
      call(app, 'DELETE', `${tokensPath}/${made.id}`, { token: acme.tenant.owner }),
    )
    expect(again.body.revoked_at).toBe(first.body.revoked_at)
    const secret = (await create(secretsPath, 'short-lived')).body
    expect(
      (await call(app, 'DELETE', `${secretsPath}/${secret.id}`, { token: acme.tenant.owner })).status,
    ).toBe(200)
    expect(codeOf(await write(acme.token, secret.secret))).toBe('signature-mismatch')
  })

  test('under load, a revocation applies to every request that begins after its commit', async () => {
    const made = (await create(tokensPath, 'loaded')).body
    const log: { began: number; ended: number; status: number }[] = []
    let stop = false
    const loops = Array.from({ length: 20 }, async () => {
      while (!stop) {
        const began = performance.now()
        const { status } = await read(made.token)
        log.push({ began, ended: performance.now(), status })
      }
    })
    await expect.poll(() => log.length).toBeGreaterThan(20)
    const revokeBegan = performance.now()
    const revoked = await call(app, 'DELETE', `${tokensPath}/${made.id}`, { token: acme.tenant.owner })
    expect(revoked.status).toBe(200)
    const revokedAt = performance.now()
    const since = () => log.filter(({ began }) => began >= revokedAt)
    await expect.poll(() => since().length).toBeGreaterThan(20)
    stop = true
    await Promise.all(loops)
    const [before, after] = [log.filter(({ ended }) => ended < revokeBegan), since()]
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set([200]))
    // A burst of refusals is throttled: some get 429 instead.
    for (const { status } of after) expect([401, 429]).toContain(status)
  })

  test('a token is valid for a year, plus 30 seconds for clock differences, and then expires', async () => {
    await later(365 * day - 1000, async () => expect((await read(acme.token)).status).toBe(200))
    await later(365 * day + 29_000, async () => expect((await read(acme.token)).status).toBe(200))
    await later(365 * day + 32_000, async () => {
      const answer = await read(acme.token)
      expect([answer.status, codeOf(answer)]).toEqual([401, 'token-expired'])
      expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token", error_description=')
    })
  })
})

describe('401', () => {
  test('a service token cannot create or list credentials', async () => {
    for (const path of [tokensPath, secretsPath]) {
      expect(codeOf(await create(path, 'x', acme.token))).toBe('token-wrong-kind')
      expect(codeOf(await call(app, 'GET', path, { token: acme.token }))).toBe('token-wrong-kind')
    }
  })

  /** A brokerage with an admin who has a service token. */
  async function withHolder() {
    const tenant = await makeTenant(app)
    const admin = await makePerson(app, tenant, 'admin')
    const token = await makeServiceToken(app, admin.token)
    expect((await read(token)).status).toBe(200)
    return { tenant, admin, token }
  }

  test.each(['member', 'viewer'])(
    'the holder’s role falls to %s: token and session end with the next request',
    async (role) => {
      const { tenant, admin, token } = await withHolder()
      expect(
        (await call(app, 'PATCH', `/api/users/${admin.id}`, { token: tenant.owner, body: { role } })).status,
      ).toBe(200)
      expect(codeOf(await read(token))).toBe('token-revoked')
      expect(codeOf(await call(app, 'GET', '/api/me', { token: admin.token }))).toBe('token-revoked')
    },
  )

  test('if the holder is removed together with their tokens, the tokens are revoked', async () => {
    const { tenant, admin, token } = await withHolder()
    const asked = await call(app, 'DELETE', `/api/users/${admin.id}`, { token: tenant.owner })
    expect([asked.status, codeOf(asked)]).toEqual([409, 'tokens-to-hand-over'])
    expect((await read(token)).status).toBe(200)
    expect(
      (await call(app, 'DELETE', `/api/users/${admin.id}?tokens=revoke`, { token: tenant.owner })).status,
    ).toBe(200)
    expect(codeOf(await read(token))).toBe('token-revoked')
    expect(codeOf(await call(app, 'GET', '/api/me', { token: admin.token }))).toBe('token-revoked')
  })

  test('if the holder is removed and the tokens are handed over, they stay valid', async () => {
    const { tenant, admin, token } = await withHolder()
    expect(
      (await call(app, 'DELETE', `/api/users/${admin.id}?tokens=hand-over`, { token: tenant.owner })).status,
    ).toBe(200)
    expect((await read(token)).status).toBe(200)
    expect(codeOf(await call(app, 'GET', '/api/me', { token: admin.token }))).toBe('token-revoked')
  })

  test('if the holder’s role changes from owner to viewer, token and session end with the next request', async () => {
    const tenant = await makeTenant(app)
    const second = await makePerson(app, tenant, 'owner')
    const token = await makeServiceToken(app, tenant.owner)
    expect((await read(token)).status).toBe(200)
    await call(app, 'PATCH', '/api/users/1', { token: second.token, body: { role: 'viewer' } })
    expect(codeOf(await read(token))).toBe('token-revoked')
    expect(codeOf(await call(app, 'GET', '/api/me', { token: tenant.owner }))).toBe('token-revoked')
  })

  test('if the password is reset, every session ends, and service tokens end if signed out everywhere', async () => {
    const { tenant, admin, token } = await withHolder()
    const kept = await resetPassword(admin.email, operator(), app.now)
    expect([kept.tokensRevoked, kept.tokensLeft]).toEqual([0, ['test']])
    expect((await read(token)).status).toBe(200)
    expect(codeOf(await call(app, 'GET', '/api/me', { token: admin.token }))).toBe('token-revoked')
    const reset = await resetPassword(admin.email, operator(), app.now, { signOutEverywhere: true })
    expect([reset.tokensRevoked, reset.tokensLeft]).toEqual([1, []])
    await soonRevoked(token)
    expect((await call(app, 'GET', '/api/me', { token: tenant.owner })).status).toBe(200)
  })

  test('if the tenant is suspended, every token and session of it is rejected until it is resumed', async () => {
    const { tenant, token } = await withHolder()
    const told = await changeTenantStatus(operator(), String(tenant.id), 'suspended', app.now)
    expect(told).toEqual({ name: 'Test Brokers', changed: true })
    await soonRevoked(token)
    expect(codeOf(await call(app, 'GET', '/api/me', { token: tenant.owner }))).toBe('token-revoked')
    expect(
      (
        await call(app, 'POST', '/api/auth/sign-in', {
          body: { email: tenant.email, password: tenant.password },
        })
      ).status,
    ).toBe(401)
    await changeTenantStatus(operator(), String(tenant.id), 'active', app.now)
    expect((await call(app, 'GET', '/api/me', { token: tenant.owner })).status).toBe(200)
    await expect.poll(async () => (await read(token)).status).toBe(200)
  })

  test('signing out everywhere ends every session, and on request the service tokens', async () => {
    const { tenant, admin, token } = await withHolder()
    const everywhere = (person: string, body: Record<string, unknown>) =>
      call(app, 'POST', '/api/auth/sign-out', { token: person, body })
    expect((await everywhere(admin.token, { tokens: 'revoke' })).status).toBe(422)
    expect((await everywhere(admin.token, { everywhere: true })).status).toBe(200)
    expect((await read(token)).status).toBe(200)
    const again = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: admin.email, password: admin.password },
    })
    const mine = await makeServiceToken(app, tenant.owner)
    expect((await everywhere(again.body.token, { everywhere: true, tokens: 'revoke' })).status).toBe(200)
    expect(codeOf(await read(token))).toBe('token-revoked')
    expect((await read(mine)).status).toBe(200)
    const second = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: tenant.email, password: tenant.password },
    })
    await call(app, 'POST', '/api/auth/sign-out', { token: second.body.token, body: { everywhere: true } })
    for (const session of [tenant.owner, second.body.token]) {
      expect(codeOf(await call(app, 'GET', '/api/me', { token: session }))).toBe('token-revoked')
    }
  })
})

describe('several processes', () => {
  test('a revocation in one process is soon effective in the other, while it answers from memory', async () => {
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      const admin = await makePerson(app, acme.tenant, 'admin')
      const token = await makeServiceToken(app, acme.tenant.owner)
      const there = (bearer: string, path: string) => call(elsewhere, 'GET', path, { token: bearer })
      expect([(await there(token, readPath)).status, (await there(admin.token, '/api/me')).status]).toEqual([
        200, 200,
      ])
      const { tokens } = (await call(app, 'GET', tokensPath, { token: acme.tenant.owner })).body
      await call(app, 'DELETE', `${tokensPath}/${tokens[0].id}`, { token: acme.tenant.owner })
      await expect.poll(async () => codeOf(await there(token, readPath))).toBe('token-revoked')
      await call(app, 'DELETE', `/api/users/${admin.id}`, { token: acme.tenant.owner })
      expect(codeOf(await there(admin.token, '/api/me'))).toBe('token-revoked')
    } finally {
      await elsewhere.close()
    }
  })
})

describe('a signing secret alone', () => {
  test('gives no access: every endpoint requires a token', async () => {
    for (const endpoint of allEndpoints.filter(({ who }) => who.kind !== 'anyone')) {
      const bytes = '{"lane_ref":"none"}'
      const { Authorization: _none, ...headers } = signedHeaders(acme, bytes, Math.floor(app.now / 1000))
      const response = await fetch(`${app.url}${endpoint.path.replaceAll(/\{\w+\}/g, '1')}`, {
        method: endpoint.method,
        headers,
        ...(endpoint.method === 'GET' ? {} : { body: bytes }),
      })
      const { type } = (await response.json()) as { type: string }
      expect([endpoint.name, response.status, type]).toEqual([endpoint.name, 401, '/problems/token-missing'])
    }
  })
})

describe('403', () => {
  test.each(['', 'integrations:read', 'integrations:writeX', 'INTEGRATIONS:WRITE', '["integrations:write"]'])(
    'a token with the scope %j neither reads nor writes',
    async (scope) => {
      const made = (await create(tokensPath, 'narrow')).body
      await inTenant(acme.tenant.id, 'update service_tokens set scope = $1 where token_id = $2', [
        scope,
        made.id,
      ])
      expect(codeOf(await read(made.token))).toBe('insufficient-scope')
      const answer = await write(made.token, acme.secret)
      expect([answer.status, codeOf(answer)]).toEqual([403, 'insufficient-scope'])
      expect(answer.headers.get('WWW-Authenticate')).toBe(
        'Bearer error="insufficient_scope", scope="integrations:write"',
      )
    },
  )

  test.each(['viewer', 'member'] as const)('a %s makes, lists, rotates and revokes nothing', async (role) => {
    const { token } = people[role]
    const answers = [
      await create(tokensPath, 'x', token),
      await create(secretsPath, 'x', token),
      await call(app, 'GET', tokensPath, { token }),
      await call(app, 'GET', secretsPath, { token }),
      await call(app, 'DELETE', `${tokensPath}/1`, { token }),
      await call(app, 'DELETE', `${secretsPath}/1`, { token }),
      await call(app, 'POST', `${secretsPath}/1/rotate`, { token, body: {} }),
    ]
    for (const answer of answers) expect([answer.status, codeOf(answer)]).toEqual([403, 'role-required'])
    expect((await read(acme.token)).status).toBe(200)
  })

  test('the role comes from the database: a token that claims the role of an owner does not have it', async () => {
    const member = await makePerson(app, acme.tenant, 'member')
    const { jti, iat, exp } = JSON.parse(
      Buffer.from(member.token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const forged = app.tokens.sign('dashboard', {
      tenant_id: acme.tenant.id,
      user_id: member.id,
      role: 'owner',
      scope: 'dashboard',
      jti,
      iat,
      exp,
    })
    expect(codeOf(await create(tokensPath, 'x', forged))).toBe('role-required')
    const claimsOther = app.tokens.sign('dashboard', {
      tenant_id: other.tenant.id,
      user_id: 1,
      role: 'owner',
      scope: 'dashboard',
      jti,
      iat,
      exp,
    })
    expect((await create(tokensPath, 'x', claimsOther)).status).toBe(401)
    const claimsOwner = app.tokens.sign('dashboard', {
      tenant_id: acme.tenant.id,
      user_id: 1,
      role: 'owner',
      scope: 'dashboard',
      jti,
      iat,
      exp,
    })
    expect((await create(tokensPath, 'x', claimsOwner)).status).toBe(401)
  })
})

describe('404', () => {
  test('a token or secret of another tenant is not found', async () => {
    for (const path of [tokensPath, secretsPath]) {
      const answer = await call(app, 'DELETE', `${path}/2147483647`, { token: acme.tenant.owner })
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not-found'])
    }
    const many = (await create(tokensPath, 'many')).body
    expect(
      (await call(app, 'DELETE', `${tokensPath}/${many.id}`, { token: other.tenant.owner })).status,
    ).toBe(404)
    expect((await read(many.token)).status).toBe(200)
  })
})

describe('409', () => {
  test('a third live secret of a name, and a second rotation inside the overlap', async () => {
    const tenant = await makeTenant(app)
    const ids = [
      (await create(secretsPath, 'tms', tenant.owner)).body.id,
      (await create(secretsPath, 'tms', tenant.owner)).body.id,
    ]
    expect(codeOf(await create(secretsPath, 'tms', tenant.owner))).toBe('too-many-live-secrets')
    expect(codeOf(await call(app, 'POST', `${secretsPath}/${ids[0]}/rotate`, { token: tenant.owner }))).toBe(
      'too-many-live-secrets',
    )
    expect((await create(secretsPath, 'other', tenant.owner)).status).toBe(201)
    await call(app, 'DELETE', `${secretsPath}/${ids[0]}`, { token: tenant.owner })
    expect((await create(secretsPath, 'tms', tenant.owner)).status).toBe(201)
  })

  test('of eight secrets of one name that are created concurrently, two are', async () => {
    const tenant = await makeTenant(app)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create(secretsPath, 'tms', tenant.owner)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409, 409, 409])
  })

  test('secrets, tokens and people created concurrently wait for each other and do not deadlock', async () => {
    const tenant = await makeTenant(app)
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          at % 3 === 0
            ? create(secretsPath, `s${round}-${at}`, tenant.owner)
            : at % 3 === 1
              ? create(tokensPath, `t${round}-${at}`, tenant.owner)
              : call(app, 'POST', '/api/users', {
                  token: tenant.owner,
                  body: { name: 'A', email: `p${round}-${at}-${tenant.id}@example.com`, role: 'member' },
                }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    }
  })

  test('rotating a secret that is no longer live', async () => {
    const secret = (await create(secretsPath, 'dead')).body
    await call(app, 'DELETE', `${secretsPath}/${secret.id}`, { token: acme.tenant.owner })
    expect(
      codeOf(await call(app, 'POST', `${secretsPath}/${secret.id}/rotate`, { token: acme.tenant.owner })),
    ).toBe('state-conflict')
  })
})

describe('422', () => {
  test.each([tokensPath, secretsPath])('%s takes a name of 1 to 100 characters', async (path) => {
    for (const name of [undefined, null, '', '  ', 1, [], {}, 'x'.repeat(101), 'a\nb', 'a\u202eb']) {
      expect([name, (await create(path, name)).status]).toEqual([name, 422])
    }
    expect((await create(path, '😀'.repeat(100))).status).toBe(201)
    expect((await create(path, '<b>"&\'</b>')).body.name).toBe('<b>"&\'</b>')
  })

  test('an overlap is a whole number of hours up to 7 days', async () => {
    const secret = (await create(secretsPath, 'overlap')).body
    for (const hours of [-1, 1.5, 169, '24', true]) {
      const answer = await call(app, 'POST', `${secretsPath}/${secret.id}/rotate`, {
        token: acme.tenant.owner,
        body: { overlap_hours: hours },
      })
      expect([hours, answer.status]).toEqual([hours, 422])
    }
  })

  test('an overlap of -0 hours means 0, and the old secret ends at once', async () => {
    const secret = (await create(secretsPath, 'minus nothing')).body
    const answer = await fetch(`${app.url}${secretsPath}/${secret.id}/rotate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${acme.tenant.owner}`, 'Content-Type': 'application/json' },
      body: '{"overlap_hours":-0}',
    })
    expect(answer.status).toBe(201)
    const { secrets } = (await call(app, 'GET', secretsPath, { token: acme.tenant.owner })).body
    const old = secrets.find(({ id }: { id: number }) => id === secret.id)
    expect(Date.parse(old.expires_at)).toBe(app.now)
  })
})

describe('storage', () => {
  test('neither the database nor the log contains a token or a secret, plain, in base64 or in hex', async () => {
    const made = {
      token: (await create(tokensPath, 'kept')).body.token as string,
      secret: (await create(secretsPath, 'kept')).body.secret as string,
    }
    await read(made.token)
    await write(made.token, made.secret)
    const kept: string[] = [app.logLines.join('')]
    for (const table of [
      'service_tokens',
      'signing_secrets',
      'sessions',
      'users',
      'shipment_updates',
      'tenants',
    ]) {
      const rows = await inTenant(acme.tenant.id, `select row_to_json(t)::text as row from ${table} t`)
      kept.push(...rows.map(({ row }) => row as string))
    }
    const everything = kept.join('\n')
    expect(everything.length).toBeGreaterThan(1000)
    for (const plain of Object.values(made)) {
      for (const form of [
        plain,
        Buffer.from(plain).toString('base64').slice(0, -4),
        Buffer.from(plain).toString('hex'),
      ]) {
        expect(everything.includes(form)).toBe(false)
      }
    }
  })
})
