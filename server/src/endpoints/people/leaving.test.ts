import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import {
  type Answer,
  call,
  type MadeTenant,
  makePerson,
  makeServiceToken,
  makeTenant,
  password,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

type Person = Awaited<ReturnType<typeof makePerson>>

let app: TestApp
let tenant: MadeTenant
let leaver: Person
let rep: Person
let admin: Person

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  app.now = Date.now()
  tenant = await makeTenant(app)
  leaver = await makePerson(app, tenant, 'admin')
  rep = await makePerson(app, tenant, 'member')
  admin = await makePerson(app, tenant, 'admin')
})

const nothing = { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' }
const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')
const owner = (method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: tenant.owner, ...(body === undefined ? {} : { body }) })
const suspend = (id: number, choice: Record<string, unknown> = {}, token = tenant.owner) =>
  call(app, 'POST', `/api/users/${id}/suspend`, { token, body: { ...nothing, ...choice } })
const restore = (id: number, token = tenant.owner) => call(app, 'POST', `/api/users/${id}/restore`, { token })
const leaving = async (id: number) => (await owner('GET', `/api/users/${id}/leaving`)).body
const statusOf = async (token: string, at = app, path = '/api/me') =>
  (await call(at, 'GET', path, { token })).status
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const events = async (kind: string) =>
  (await owner('GET', '/api/audit')).body.events.filter((event: { kind: string }) => event.kind === kind)
const dayOf = async (token: string) =>
  (await call(app, 'GET', '/api/my-day', { token })).body.quotes.map(
    (quote: { customer_name: string; has_left: boolean }) => [quote.customer_name, quote.has_left],
  )

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', valid_hours: 5 }
const post = async (path: string, by: { readonly token: string }, body: object, expected = 201) => {
  const answer = await call(app, 'POST', path, { token: by.token, body })
  expect([answer.status, answer.body.detail]).toEqual([expected, undefined])
  return answer.body
}
const quote = (by: Person, customer: string) =>
  post('/api/quote-requests', by, { customer_name: customer, lanes: [{ ...lane, quoted_rate: 3000 }] })
const ask = async (by: Person, customer = 'Harvest'): Promise<number> =>
  (await post('/api/approvals', by, { customer_name: customer, lanes: [{ ...lane, quoted_rate: 1000 }] }))
    .approval_id
const rule = () =>
  post(
    '/api/pricing-rules',
    { token: tenant.owner },
    {
      conditions: {},
      terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' },
    },
  )
const decide = (id: number, decision: string, by: { readonly token: string }) =>
  call(app, 'POST', `/api/approvals/${id}/decision`, { token: by.token, body: { decision } })
const approvalOf = async (id: number) =>
  (await owner('GET', '/api/approvals')).body.approvals.find(
    (approval: { approval_id: number }) => approval.approval_id === id,
  )

describe('what a person would leave', () => {
  test('is listed with counts and last use, only what is theirs and live', async () => {
    const token = await makeServiceToken(app, leaver.token)
    await makeServiceToken(app, admin.token)
    await post('/api/integrations/secrets', leaver, { name: 'tms' })
    await post('/api/integrations/secrets', admin, { name: 'other' })
    await rule()
    await quote(leaver, 'Harvest')
    await quote(rep, 'Other')
    await ask(leaver)
    await ask(rep)
    const usedAt = new Date(app.now).toISOString()
    expect(await statusOf(token, app, readPath)).toBe(200)
    await expect.poll(async () => (await leaving(leaver.id)).tokens[0].last_used_at).toBe(usedAt)
    expect(await leaving(leaver.id)).toEqual({
      user: expect.objectContaining({ id: leaver.id, status: 'active' }),
      sessions: { count: 1, last_used_at: expect.any(String) },
      tokens: [expect.objectContaining({ id: 1, name: 'test', last_used_at: usedAt })],
      signing_secrets: [{ id: 1, name: 'tms', last_used_at: null }],
      event_endpoints: [],
      quotes: { pending: 1, follow_ups_due: 0, last_quoted_at: expect.any(String), given_to: null },
      approvals: { asked: 1, last_asked_at: expect.any(String), to_decide: 1, other_deciders: 2 },
    })
    // An hour before the end of its validity, the quote is due for a follow-up.
    app.now += 4.5 * 3_600_000
    const later = (await owner('GET', `/api/users/${leaver.id}/leaving`)).body
    expect(later.quotes).toMatchObject({ pending: 1, follow_ups_due: 1 })
    await owner('DELETE', '/api/integrations/tokens/1')
    expect((await leaving(leaver.id)).tokens).toEqual([])
  })

  test('is for admins of the brokerage', async () => {
    const path = `/api/users/${leaver.id}/leaving`
    expect(codeOf(await call(app, 'GET', path, { token: rep.token }))).toBe('role-required')
    const other = await makeTenant(app)
    expect(codeOf(await call(app, 'GET', path, { token: other.owner }))).toBe('not-found')
  })
})

describe('a suspended person', () => {
  test('is refused at once by every instance, and restored signs in again; old sessions stay ended', async () => {
    const service = await makeServiceToken(app, leaver.token)
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      expect(await statusOf(leaver.token, elsewhere)).toBe(200)
      expect(await statusOf(service, elsewhere, readPath)).toBe(200)
      const suspended = await suspend(leaver.id)
      expect([suspended.status, suspended.body.status]).toEqual([200, 'suspended'])
      for (const at of [elsewhere, app]) {
        expect(codeOf(await call(at, 'GET', '/api/me', { token: leaver.token }))).toBe('token-revoked')
        // Another instance sees a change of service tokens as soon as it looks.
        await expect
          .poll(async () => codeOf(await call(at, 'GET', readPath, { token: service })))
          .toBe('token-revoked')
      }
      const signIn = () => call(app, 'POST', '/api/auth/sign-in', { body: { email: leaver.email, password } })
      expect((await signIn()).status).toBe(401)
      const invited = await owner('POST', '/api/users', {
        name: 'Again',
        email: leaver.email,
        role: 'member',
      })
      expect(invited.body.detail).toContain('is suspended')
      expect((await restore(leaver.id)).body.status).toBe('active')
      expect(await statusOf(leaver.token)).toBe(401)
      expect((await signIn()).status).toBe(200)
      await expect.poll(() => statusOf(service, elsewhere, readPath)).toBe(200)
    } finally {
      await elsewhere.close()
    }
  })

  test('leaves their quotes to the admins, and has them again once restored', async () => {
    await quote(rep, 'Harvest')
    expect(await dayOf(tenant.owner)).toEqual([])
    await suspend(rep.id)
    expect(await dayOf(tenant.owner)).toEqual([['Harvest', true]])
    await restore(rep.id)
    expect(await dayOf(tenant.owner)).toEqual([])
    const again = await call(app, 'POST', '/api/auth/sign-in', { body: { email: rep.email, password } })
    expect(await dayOf(again.body.token)).toEqual([['Harvest', false]])
    await suspend(rep.id, { quotes: 'hand-over', to: admin.id })
    expect(await dayOf(admin.token)).toEqual([['Harvest', true]])
    await restore(rep.id)
    expect(await dayOf(admin.token)).toEqual([])
  })

  test('hands everything over to one person in one audited step', async () => {
    await rule()
    const service = await makeServiceToken(app, leaver.token)
    await quote(leaver, 'Harvest')
    const id = await ask(leaver)
    const over = { tokens: 'hand-over', quotes: 'hand-over', approvals: 'hand-over', to: admin.id }
    expect((await suspend(leaver.id, over)).status).toBe(200)
    expect(await statusOf(service, app, readPath)).toBe(200)
    expect((await leaving(admin.id)).tokens).toMatchObject([{ id: 1 }])
    expect(await dayOf(admin.token)).toEqual([['Harvest', true]])
    expect(await approvalOf(id)).toMatchObject({ state: 'waiting', requested_by: { user_id: admin.id } })
    // The request is now that of the other person: not theirs to approve, and made in their name.
    expect(codeOf(await decide(id, 'approve', admin))).toBe('role-required')
    expect((await decide(id, 'approve', { token: tenant.owner })).body.state).toBe('approved')
    expect(await events('person-suspended')).toMatchObject([
      {
        done_to: { name: 'A admin' },
        about: { role: 'admin', ...over, token_ids: [1], approval_ids: [id] },
      },
    ])
    expect(await events('approval-decided')).toHaveLength(1)
  })

  test('or ends it: tokens revoked, requests withdrawn', async () => {
    await rule()
    const service = await makeServiceToken(app, leaver.token)
    const [id, others] = [await ask(leaver), await ask(rep)]
    expect((await suspend(leaver.id, { tokens: 'revoke', approvals: 'withdraw' })).status).toBe(200)
    expect((await approvalOf(id)).state).toBe('withdrawn')
    expect((await approvalOf(others)).state).toBe('waiting')
    await restore(leaver.id)
    expect(await statusOf(service, app, readPath)).toBe(401)
    expect(await events('person-restored')).toHaveLength(1)
  })

  test('can be removed, with their quotes handed over in the same step', async () => {
    await quote(rep, 'Harvest')
    await suspend(rep.id)
    const gone = await owner('DELETE', `/api/users/${rep.id}?quotes=hand-over&to=${admin.id}`)
    expect(gone.body.status).toBe('removed')
    expect(await dayOf(admin.token)).toEqual([['Harvest', true]])
    expect(await dayOf(tenant.owner)).toEqual([])
    expect(await events('person-removed')).toMatchObject([{ about: { quotes: 'hand-over', to: admin.id } }])
    expect(codeOf(await restore(rep.id))).toBe('not-found')
  })
})

describe('nothing is changed', () => {
  test('if nobody takes over, or one who cannot', async () => {
    const service = await makeServiceToken(app, leaver.token)
    await quote(leaver, 'Secret Shipper')
    await owner('POST', '/api/teams', {
      name: 'Produce',
      members: [leaver.id],
      customers: ['Secret Shipper'],
    })
    const viewer = await makePerson(app, tenant, 'viewer')
    const other = await makeTenant(app)
    const foreign = await makePerson(app, other, 'owner')
    const refusals: [Record<string, unknown>, string][] = [
      [{ quotes: 'hand-over' }, 'to is missing'],
      [{ to: admin.id }, 'to goes with hand-over'],
      [{ quotes: 'hand-over', to: leaver.id }, 'another active person'],
      [{ quotes: 'hand-over', to: viewer.id }, 'another active person'],
      [{ quotes: 'hand-over', to: foreign.id + 100 }, 'another active person'],
      [{ tokens: 'hand-over', quotes: 'hand-over', to: rep.id }, 'only an admin or owner can hold'],
      [{ quotes: 'hand-over', to: rep.id }, 'does not see the customers of 1 of'],
    ]
    for (const [choice, words] of refusals) {
      const { status, body } = await suspend(leaver.id, { tokens: 'revoke', ...choice })
      expect([status, body.errors?.[0].pointer, body.detail]).toEqual([
        422,
        '/to',
        expect.stringContaining(words),
      ])
    }
    const removal = await owner(
      'DELETE',
      `/api/users/${leaver.id}?tokens=revoke&quotes=hand-over&to=${rep.id}`,
    )
    expect(removal.body.errors).toMatchObject([{ parameter: 'to' }])
    expect(await statusOf(service, app, readPath)).toBe(200)
    expect(await statusOf(leaver.token)).toBe(200)
    expect(await events('person-suspended')).toEqual([])
  })

  test('if the person is oneself, the last owner, above one’s role, invited, or in the wrong state', async () => {
    const me = (await owner('GET', '/api/me')).body.user.id
    const own = await suspend(admin.id, {}, admin.token)
    expect([codeOf(own), own.body.detail]).toEqual(['state-conflict', expect.stringContaining('yourself')])
    expect(codeOf(await suspend(me))).toBe('last-owner')
    expect(codeOf(await suspend(me, {}, admin.token))).toBe('role-required')
    expect(codeOf(await suspend(leaver.id, {}, rep.token))).toBe('role-required')
    const second = await makePerson(app, tenant, 'owner')
    await suspend(second.id)
    expect(codeOf(await restore(second.id, admin.token))).toBe('role-required')
    // A suspended owner is no other owner.
    expect(codeOf(await suspend(me))).toBe('last-owner')
    const again = await suspend(second.id)
    expect([codeOf(again), again.body.detail]).toEqual([
      'state-conflict',
      expect.stringContaining('suspended already'),
    ])
    expect(codeOf(await restore(rep.id))).toBe('state-conflict')
    const invited = await owner('POST', '/api/users', { name: 'New', email: 'new@x.example', role: 'member' })
    expect(codeOf(await suspend(invited.body.user.id))).toBe('state-conflict')
  })
})
