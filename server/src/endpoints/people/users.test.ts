import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invitationsPerDayMax } from '#contract/limits.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: MadeTenant
let other: MadeTenant
let people: Record<'viewer' | 'member' | 'admin', { id: number; token: string }>

beforeAll(async () => {
  app = await testApp()
  ;[acme, other] = await Promise.all([makeTenant(app), makeTenant(app)])
  people = {
    viewer: await makePerson(app, acme, 'viewer'),
    member: await makePerson(app, acme, 'member'),
    admin: await makePerson(app, acme, 'admin'),
  }
})
afterAll(() => app.close())

const newEmail = () => `sam-${crypto.randomUUID()}@example.com`
const invite = (token: string, body: Record<string, unknown> = {}) =>
  call(app, 'POST', '/api/users', {
    token,
    body: { name: 'Sam Reyes', email: newEmail(), role: 'member', ...body },
  })
const change = (token: string, id: number, body: Record<string, unknown>) =>
  call(app, 'PATCH', `/api/users/${id}`, { token, body })
const remove = (token: string, id: number) => call(app, 'DELETE', `/api/users/${id}`, { token })
const me = (token: string) => call(app, 'GET', '/api/me', { token })
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')

describe('201', () => {
  test('an invitation is shown once, and its person has the status invited', async () => {
    const { status, body } = await invite(people.admin.token)
    expect(status).toBe(201)
    expect(Object.keys(body)).toEqual(['user', 'invitation', 'expires_at'])
    expect(body.user).toMatchObject({ name: 'Sam Reyes', role: 'member', status: 'invited' })
    expect(Date.parse(body.expires_at) - app.now).toBe(7 * 24 * 3_600_000)
    const list = await call(app, 'GET', '/api/users', { token: people.admin.token })
    expect(JSON.stringify(list.body)).not.toContain(body.invitation.slice(-32))
  })

  test('an invitation says who invites whom to which brokerage, until it is replaced', async () => {
    const email = newEmail()
    const { body: made } = await invite(people.admin.token, { email, name: 'Sam Reyes' })
    const read = (invitation: string) => call(app, 'POST', '/api/auth/invitation', { body: { invitation } })
    const inviter = await me(people.admin.token)
    expect((await read(made.invitation)).body).toEqual({
      brokerage: inviter.body.tenant.name,
      invited_by: inviter.body.user.name,
      name: 'Sam Reyes',
      email,
      role: 'member',
      expires_at: made.expires_at,
    })
    const { body: again } = await invite(acme.owner, { email })
    const replaced = await read(made.invitation)
    expect([replaced.status, codeOf(replaced)]).toEqual([401, 'token-invalid'])
    expect((await read(again.invitation)).body.invited_by).toBe((await me(acme.owner)).body.user.name)
    await call(app, 'POST', '/api/auth/accept-invitation', {
      body: { invitation: again.invitation, password },
    })
    expect((await read(again.invitation)).status).toBe(401)
  })

  test('inviting an invited person again replaces the invitation', async () => {
    const email = newEmail()
    const [first, second] = [
      await invite(acme.owner, { email }),
      await invite(acme.owner, { email: email.toUpperCase(), role: 'admin' }),
    ]
    expect(second.body.user.id).toBe(first.body.user.id)
    const accept = (invitation: string) =>
      call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } })
    expect((await accept(first.body.invitation)).status).toBe(401)
    expect((await accept(second.body.invitation)).body.user.role).toBe('admin')
  })
})

describe('200', () => {
  test('every role may list the people, oldest first; other brokerages cannot', async () => {
    const { body } = await call(app, 'GET', '/api/users', { token: people.viewer.token })
    const ids = body.users.map((user: { id: number }) => user.id)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(body.users.some((user: { email: string }) => user.email === other.email)).toBe(false)
    for (const user of body.users)
      expect(Object.keys(user)).toEqual(['id', 'name', 'email', 'phone', 'role', 'status', 'created_at'])
  })

  test('a role change takes effect with the next request, which needs a new session', async () => {
    const person = await makePerson(app, acme, 'member')
    expect((await change(people.admin.token, person.id, { role: 'admin' })).body.role).toBe('admin')
    expect(codeOf(await me(person.token))).toBe('token-revoked')
  })

  test('a change of name ends no session', async () => {
    const person = await makePerson(app, acme, 'member')
    expect((await change(acme.owner, person.id, { name: 'Kim Lane' })).body.name).toBe('Kim Lane')
    expect((await me(person.token)).body.user.name).toBe('Kim Lane')
  })

  test('a removed person leaves the list at once, and their e-mail address can be used again', async () => {
    const email = newEmail()
    const invited = (await invite(acme.owner, { email })).body
    expect((await remove(people.admin.token, invited.user.id)).body.status).toBe('removed')
    const list = await call(app, 'GET', '/api/users', { token: acme.owner })
    expect(list.body.users.some((user: { id: number }) => user.id === invited.user.id)).toBe(false)
    expect(
      (
        await call(app, 'POST', '/api/auth/accept-invitation', {
          body: { invitation: invited.invitation, password },
        })
      ).status,
    ).toBe(401)
    expect((await invite(other.owner, { email })).status).toBe(201)
  })

  test('an owner can make a second owner and then step down', async () => {
    const tenant = await makeTenant(app)
    const second = await makePerson(app, tenant, 'owner')
    expect((await change(second.token, 1, { role: 'member' })).status).toBe(200)
    expect(codeOf(await me(tenant.owner))).toBe('token-revoked')
  })
})

describe('403', () => {
  test.each(['viewer', 'member'] as const)('a %s invites, changes and removes nobody', async (role) => {
    const { token } = people[role]
    const answers = [
      await invite(token),
      await change(token, people.admin.id, { role: 'viewer' }),
      await remove(token, people.admin.id),
    ]
    for (const answer of answers) expect([answer.status, codeOf(answer)]).toEqual([403, 'role-required'])
  })

  test('an admin cannot become an owner: only owners create, change and remove owners', async () => {
    const { token, id } = people.admin
    for (const answer of [
      await invite(token, { role: 'owner' }),
      await change(token, id, { role: 'owner' }),
      await change(token, people.member.id, { role: 'owner' }),
      await change(token, 1, { role: 'member' }),
      await remove(token, 1),
    ]) {
      expect([answer.status, codeOf(answer)]).toEqual([403, 'role-required'])
    }
  })

  test('an admin cannot take over the invitation of an owner', async () => {
    const email = newEmail()
    expect((await invite(acme.owner, { email, role: 'owner' })).status).toBe(201)
    expect(codeOf(await invite(people.admin.token, { email, role: 'viewer' }))).toBe('role-required')
  })
})

describe('404', () => {
  test('a person of another brokerage is not found', async () => {
    const stranger = await makePerson(app, other, 'viewer')
    const far = 2_000_000
    for (const id of [far, stranger.id + far]) {
      expect(codeOf(await change(acme.owner, id, { role: 'viewer' }))).toBe('not-found')
      expect(codeOf(await remove(acme.owner, id))).toBe('not-found')
    }
    expect((await me(stranger.token)).body.user.role).toBe('viewer')
  })

  test('a removed person is not found', async () => {
    const person = await makePerson(app, acme, 'viewer')
    await remove(acme.owner, person.id)
    expect(codeOf(await remove(acme.owner, person.id))).toBe('not-found')
    expect(codeOf(await change(acme.owner, person.id, { role: 'admin' }))).toBe('not-found')
  })
})

describe('409', () => {
  test('the last owner keeps the role and cannot be removed, not even by themselves', async () => {
    for (const answer of [await change(acme.owner, 1, { role: 'admin' }), await remove(acme.owner, 1)]) {
      expect([answer.status, codeOf(answer)]).toEqual([409, 'last-owner'])
    }
    expect((await me(acme.owner)).body.user.role).toBe('owner')
  })

  test('an owner who was removed, or has not accepted the invitation, is no other owner', async () => {
    const tenant = await makeTenant(app)
    const second = await makePerson(app, tenant, 'owner')
    expect((await remove(tenant.owner, second.id)).status).toBe(200)
    expect((await invite(tenant.owner, { role: 'owner' })).status).toBe(201)
    for (const answer of [await change(tenant.owner, 1, { role: 'admin' }), await remove(tenant.owner, 1)]) {
      expect([answer.status, codeOf(answer)]).toEqual([409, 'last-owner'])
    }
  })

  test('two owners cannot step down at the same time', async () => {
    const tenant = await makeTenant(app)
    const second = await makePerson(app, tenant, 'owner')
    const answers = await Promise.all([
      change(tenant.owner, second.id, { role: 'member' }),
      change(second.token, 1, { role: 'member' }),
    ])
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    const left = await Promise.all([me(tenant.owner), me(second.token)])
    expect(left.some(({ body }) => body.user?.role === 'owner')).toBe(true)
  })

  test('an e-mail address that signs in to this brokerage', async () => {
    for (const email of [acme.email, acme.email.toUpperCase()]) {
      expect(codeOf(await invite(acme.owner, { email }))).toBe('email-taken')
    }
  })
})

describe('an invitation claims no address', () => {
  const accept = (invitation: string) =>
    call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } })
  const signIn = (email: string) => call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })

  test('the answer is the same whether or not another brokerage uses the address', async () => {
    const answers = await Promise.all(
      [other.email, newEmail()].map(async (email) => {
        const { status, body } = await invite(acme.owner, { email })
        const { id: _id, email: _email, ...user } = body.user
        return { status, members: Object.keys(body), user, expires_at: body.expires_at }
      }),
    )
    expect(answers[0]).toEqual({ ...answers[1], status: 201 })
  })

  test('of the invitations of two brokerages the first accepted one claims it; the other stays valid for later', async () => {
    const email = newEmail()
    const [ours, theirs] = [await invite(acme.owner, { email }), await invite(other.owner, { email })]
    expect((await accept(theirs.body.invitation)).body.tenant.id).toBe(other.id)
    const refused = await accept(ours.body.invitation)
    expect([refused.status, codeOf(refused), refused.body.detail]).toEqual([
      409,
      'email-taken',
      `${email} already signs in to another brokerage here, and an address signs in to one brokerage. Ask for an invitation to another address of yours, or have the other brokerage remove you. This invitation stays valid.`,
    ])
    expect((await signIn(email)).body.tenant.id).toBe(other.id)
    expect((await remove(other.owner, theirs.body.user.id)).status).toBe(200)
    expect((await accept(ours.body.invitation)).body.tenant.id).toBe(acme.id)
    expect((await signIn(email)).body.tenant.id).toBe(acme.id)
  })

  test('of two that are accepted at once, one claims it', async () => {
    // The refused invitations of other tests no longer count.
    app.now += 16 * 60_000
    const email = newEmail()
    const made = [await invite(acme.owner, { email }), await invite(other.owner, { email })]
    const answers = await Promise.all(made.map(({ body }) => accept(body.invitation)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const claimed = answers.find(({ status }) => status === 200)
    expect((await signIn(email)).body.tenant.id).toBe(claimed?.body.tenant.id)
  })

  test('an invited person can sign up with it', async () => {
    const email = newEmail()
    const { body } = await invite(acme.owner, { email })
    const signedUp = await call(app, 'POST', '/api/auth/sign-up', {
      body: { company: 'Sam Freight', name: 'Sam', email, password },
    })
    expect(signedUp.status).toBe(201)
    expect(codeOf(await accept(body.invitation))).toBe('email-taken')
  })

  test('the addresses that invitations of earlier versions reserved are released, those of people are kept', async () => {
    const email = newEmail()
    const { body } = await invite(acme.owner, { email })
    const owner = new pg.Client(app.testDatabase.owner)
    await owner.connect()
    try {
      await owner.query('insert into sign_in_emails values ($1, $2, $3)', [email, acme.id, body.user.id])
      const migrations = new URL('../../database/schema/migrations/', import.meta.url)
      await owner.query(await readFile(new URL('0053-addresses-at-acceptance.sql', migrations), 'utf8'))
      const { rows } = await owner.query('select email_folded from sign_in_emails where tenant_id = $1', [
        acme.id,
      ])
      const held = rows.map((row) => row.email_folded)
      expect(held).not.toContain(email)
      expect(held).toContain(acme.email)
    } finally {
      await owner.end()
    }
  })
})

describe('429', () => {
  test('a brokerage makes 100 invitations per day, repeated ones included and over all instances', {
    tags: 'long',
  }, async () => {
    // Half a second more than 90 s before midnight, at any hour of the test.
    const now = Math.ceil(Date.now() / 86_400_000) * 86_400_000 - 90_500
    const one = await testApp({ now })
    const another = await appOn(one.testDatabase, { secretKeys: [one.secretKey], now })
    try {
      const [tenant, neighbor] = [await makeTenant(one), await makeTenant(one)]
      const inviteBy = (token: string) =>
        call(one, 'POST', '/api/users', {
          token,
          body: { name: 'Sam Reyes', email: newEmail(), role: 'member' },
        })
      const email = newEmail()
      for (let made = 0; made < invitationsPerDayMax; made += 10) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, nth) =>
            call(nth % 2 === 0 ? one : another, 'POST', '/api/users', {
              token: tenant.owner,
              body: { name: 'Sam Reyes', email: nth < 5 ? email : newEmail(), role: 'member' },
            }),
          ),
        )
        expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
      }
      // Concurrent invitations to one address create one person.
      const { body } = await call(one, 'GET', '/api/users', { token: tenant.owner })
      expect(body.users.filter((user: { email: string }) => user.email === email)).toHaveLength(1)
      const refused = await inviteBy(tenant.owner)
      expect([refused.status, codeOf(refused), refused.headers.get('retry-after')]).toEqual([
        429,
        'too-many-attempts',
        '91',
      ])
      expect((await inviteBy(neighbor.owner)).status).toBe(201)
      one.now += 91_000
      expect((await inviteBy(tenant.owner)).status).toBe(201)
    } finally {
      await another.close()
      await one.close()
    }
  })
})

describe('422', () => {
  test('role, name and e-mail address must be valid', async () => {
    for (const body of [
      { role: 'god' },
      { role: 'OWNER' },
      { role: ['owner'] },
      { role: null },
      { name: '' },
      { name: 'a\nb' },
      { email: 'x' },
    ]) {
      expect([body, (await invite(acme.owner, body)).status]).toEqual([body, 422])
    }
    expect((await change(acme.owner, people.member.id, { role: 'god' })).status).toBe(422)
    expect(
      (await call(app, 'DELETE', `/api/users/${people.member.id}?tokens=keep`, { token: acme.owner })).status,
    ).toBe(422)
  })

  test('the brokerage’s settings accept only known values', async () => {
    const set = (body: Record<string, unknown>) =>
      call(app, 'PATCH', '/api/tenant', { token: people.admin.token, body })
    expect((await set({ win_probability_method: 'magic' })).status).toBe(422)
    expect((await set({ name: '' })).status).toBe(422)
    for (const time_zone of ['Mars/Olympus', 'CST', '+05:00', '', 7, "UTC'; drop table quotes"]) {
      const refused = await set({ time_zone })
      expect([time_zone, refused.status, refused.body.errors?.[0]?.pointer]).toEqual([
        time_zone,
        422,
        '/time_zone',
      ])
    }
    expect((await set({ time_zone: 'america/new_york' })).body.time_zone).toBe('America/New_York')
    const foreign = { status: 'suspended', tenant_id: other.id }
    expect((await set({ name: 'Same Brokers', ...foreign })).headers.get('Ignored-Fields')).toBe(
      'status, tenant_id',
    )
    // An empty change is an error, because it is probably a misspelled name.
    for (const body of [{}, { name: null }, foreign]) expect((await set(body)).status).toBe(422)
    expect((await set(foreign)).headers.get('Ignored-Fields')).toBe('status, tenant_id')
    expect((await set({})).body.detail).toBe(
      'The body must be a JSON object with at least one of name, win_probability_method, floors, time_zone, date_order, quote_expiry, default_basis, default_rate_type, integration_pool; it is an empty object.',
    )
    expect((await change(acme.owner, people.member.id, {})).status).toBe(422)
    expect(
      (await call(app, 'PATCH', '/api/tenant', { token: people.member.token, body: { name: 'Mine' } }))
        .status,
    ).toBe(403)
  })
})
