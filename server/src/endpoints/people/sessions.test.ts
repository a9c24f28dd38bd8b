import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const minute = 60_000
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const safari =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15'
const behindProxy = { config: { trustProxy: ['loopback'] } }

let app: TestApp
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp(behindProxy)
})
beforeEach(async () => {
  tenant = await makeTenant(app)
})
afterAll(() => app.close())

async function signIn(device = firefox, network = '192.0.2.7', email = tenant.email): Promise<string> {
  const answer = await call(app, 'POST', '/api/auth/sign-in', {
    headers: { 'X-Forwarded-For': network, 'User-Agent': device },
    body: { email, password },
  })
  expect(answer.status).toBe(200)
  return answer.body.token
}
const get = (token: string, path = '/api/me', headers: Record<string, string> = {}, at = app) =>
  call(at, 'GET', path, { token, headers })
const listed = async (token: string) => (await get(token, '/api/sessions')).body.sessions
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const limit = (session_limits: unknown) =>
  call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { session_limits } })
const events = async (kind: string) =>
  (await get(tenant.owner, '/api/audit')).body.events.filter((event: { kind: string }) => event.kind === kind)

describe('the sessions of a person', () => {
  test('are listed with device, network and last use, newest first', async () => {
    app.now += minute
    const token = await signIn()
    const [mine, first, ...others] = await listed(token)
    expect(others).toEqual([])
    expect(mine).toMatchObject({
      device: 'Firefox on Linux',
      network: '192.0.2.7',
      last_used_at: new Date(app.now).toISOString(),
      current: true,
    })
    expect(first).toMatchObject({ current: false, new_device: false, new_network: false })
    app.now += 5 * minute
    await get(token, '/api/me', { 'X-Forwarded-For': '192.0.2.8' })
    await expect
      .poll(async () => (await listed(tenant.owner))[0])
      .toMatchObject({ network: '192.0.2.8', last_used_at: new Date(app.now).toISOString() })
  })

  test('one of them is ended, and is refused at once by every instance', async () => {
    const token = await signIn()
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      expect((await get(token, '/api/me', {}, elsewhere)).status).toBe(200)
      const { id } = (await listed(token)).find(({ current }: { current: boolean }) => current)
      const ended = await call(app, 'DELETE', `/api/sessions/${id}`, { token: tenant.owner })
      expect(ended.body).toEqual({ ended: 1 })
      expect(codeOf(await get(token, '/api/me', {}, elsewhere))).toBe('token-revoked')
      const again = await call(app, 'DELETE', `/api/sessions/${id}`, { token: tenant.owner })
      expect(codeOf(again)).toBe('not-found')
      expect(await events('sessions-ended')).toMatchObject([{ about: { sessions: 1 } }])
    } finally {
      await elsewhere.close()
    }
  })

  test('all others are ended, and this one stays', async () => {
    const [one, two] = [await signIn(), await signIn(safari)]
    const ended = await call(app, 'POST', '/api/auth/end-other-sessions', { token: two, body: {} })
    expect(ended.body).toEqual({ ended: 2 })
    expect([(await get(one)).status, (await get(two)).status]).toEqual([401, 200])
    expect(await listed(two)).toHaveLength(1)
  })

  test('are neither seen nor ended by another person, unless an admin ends all of them', async () => {
    const member = await makePerson(app, tenant, 'member')
    const other = await makePerson(app, tenant, 'member')
    const admin = await makePerson(app, tenant, 'admin')
    const [{ id }] = await listed(member.token)
    const owners = (await listed(tenant.owner))[0].id
    for (const token of [other.token, admin.token]) {
      for (const session of [id, owners]) {
        const answer = await call(app, 'DELETE', `/api/sessions/${session}`, { token })
        expect(codeOf(answer)).toBe('not-found')
      }
    }
    const path = `/api/users/${member.id}/sessions`
    expect(codeOf(await get(other.token, path))).toBe('role-required')
    expect((await get(admin.token, path)).body.sessions).toMatchObject([{ id, current: false }])
    expect((await call(app, 'DELETE', path, { token: admin.token })).body).toEqual({ ended: 1 })
    expect(codeOf(await get(member.token))).toBe('token-revoked')
    expect(await events('sessions-ended')).toMatchObject([
      { done_by: { name: 'A admin' }, done_to: { name: 'A member' }, about: { sessions: 1 } },
    ])
    const owner = (await get(tenant.owner)).body.user.id
    const refused = await call(app, 'DELETE', `/api/users/${owner}/sessions`, { token: admin.token })
    expect(codeOf(refused)).toBe('role-required')
    expect((await get(tenant.owner)).status).toBe(200)
  })
})

describe('the limits of the brokerage', () => {
  test('a session ends after its hours, also a running one when they are shortened', async () => {
    expect((await limit({ hours: 48 })).body.session_limits).toEqual({ hours: 48, idle_minutes: null })
    const token = await signIn()
    app.now += 47 * 60 * minute
    expect((await get(token)).status).toBe(200)
    tenant = { ...tenant, owner: await signIn() }
    expect((await limit({ hours: 2 })).status).toBe(200)
    expect(codeOf(await get(token))).toBe('token-revoked')
    const { expires_at } = (await get(tenant.owner)).body
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(app.now + 120 * minute)
  })

  test('a session without use ends; a page that nobody uses does not keep it', async () => {
    await limit({ idle_minutes: 10 })
    const [used, unattended] = [await signIn(), await signIn()]
    const until = app.now + 30 * minute
    while (app.now < until) {
      app.now += 5 * minute
      const [, second] = [await get(used), await get(unattended, '/api/me', { 'X-Lanewise-Unattended': '1' })]
      // The use is written after the answer.
      await expect
        .poll(
          async () => (await listed(used)).find(({ current }: { current: boolean }) => current).last_used_at,
        )
        .toBe(new Date(app.now).toISOString())
      expect(second.status).toBe(until - app.now > 19 * minute ? 200 : 401)
    }
    expect((await get(used)).status).toBe(200)
  })

  test.each([
    [{ hours: 0 }, '/session_limits/hours'],
    [{ hours: 745 }, '/session_limits/hours'],
    [{ hours: 1.5 }, '/session_limits/hours'],
    [{ idle_minutes: -1 }, '/session_limits/idle_minutes'],
    [{ idle_minutes: 1441 }, '/session_limits/idle_minutes'],
  ])('%j is refused and changes nothing', async (limits, pointer) => {
    const answer = await limit(limits)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
    expect((await get(tenant.owner)).body.tenant.session_limits).toEqual({ hours: 12, idle_minutes: null })
  })
})

describe('a sign-in from somewhere new', () => {
  /** A session of a browser that the person has confirmed: they signed up from another one. */
  async function signInAtHome(): Promise<string> {
    const home = await signIn()
    const [{ id }] = (await get(tenant.owner)).body.new_sign_ins
    await call(app, 'POST', `/api/sessions/${id}/confirm`, { token: tenant.owner, body: {} })
    return home
  }

  test('is in the audit log, and every other session is told until the person confirms it', async () => {
    const home = await signInAtHome()
    expect((await get(home)).body.new_sign_ins).toEqual([])
    const strange = await signIn(safari, '203.0.113.9')
    expect((await get(strange)).body.new_sign_ins).toEqual([])
    const [told, ...others] = (await get(home)).body.new_sign_ins
    expect(others).toEqual([])
    expect(told).toMatchObject({
      device: 'Safari on macOS',
      network: '203.0.113.9',
      new_device: true,
      new_network: true,
    })
    expect((await events('signed-in'))[0].about).toEqual({
      device: 'Safari on macOS',
      new: ['device', 'network'],
    })
    const confirm = (token: string) =>
      call(app, 'POST', `/api/sessions/${told.id}/confirm`, { token, body: {} })
    expect(codeOf(await confirm(strange))).toBe('state-conflict')
    expect((await get(home)).body.new_sign_ins).toHaveLength(1)
    expect((await confirm(home)).status).toBe(200)
    expect((await get(home)).body.new_sign_ins).toEqual([])
    // Neither is new any more.
    await signIn(safari, '203.0.113.9')
    expect((await get(home)).body.new_sign_ins).toEqual([])
  })

  test('the network of a session is forgotten after 30 days', async () => {
    await limit({ hours: 744 })
    const old = await signIn()
    const networks = async (token: string) =>
      (await listed(token)).map(({ network }: { network: string | null }) => network)
    expect(await networks(old)).toContain('192.0.2.7')
    app.now += 30 * 24 * 60 * minute + 1
    tenant = { ...tenant, owner: await signIn(firefox, '192.0.2.9') }
    // Not asked with the old session: that would be a new use of it, from a network.
    expect(await networks(tenant.owner)).toEqual(['192.0.2.9', null])
  })

  test('stays told after its session has ended', async () => {
    const home = await signInAtHome()
    const strange = await signIn(safari, '203.0.113.9')
    await call(app, 'POST', '/api/auth/sign-out', { token: strange, body: {} })
    expect((await get(home)).body.new_sign_ins).toMatchObject([{ device: 'Safari on macOS' }])
  })
})
