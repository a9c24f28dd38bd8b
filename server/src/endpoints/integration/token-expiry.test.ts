import { beforeAll, expect, test } from 'vitest'
import { serviceTokenLifetimeDays, tokenExpiryNoticeDays, tokenLeewaySeconds } from '#contract/limits.ts'
import { call, makePerson, makeQuote, makeServiceToken, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const dayMs = 86_400_000
const madeAt = Date.parse('2026-01-15T08:30:00Z')
const endsAt = madeAt + serviceTokenLifetimeDays * dayMs
const noticeAt = endsAt - tokenExpiryNoticeDays * dayMs

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
  app.now = madeAt
})

const lane = '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA'

test('in its last thirty days, each answer to a service token has its expiry', async () => {
  app.now = madeAt
  const tenant = await makeTenant(app)
  await makeQuote(app, tenant, { outcome: 'won' })
  const token = await makeServiceToken(app, tenant.owner)
  const headerOf = async (path: string, method = 'GET') => {
    const { status, headers } = await fetch(`${app.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
    })
    return [status, headers.get('token-expires')]
  }
  const end = new Date(endsAt).toISOString()
  app.now = noticeAt - 1_000
  expect(await headerOf(lane)).toEqual([200, null])
  app.now = noticeAt
  expect(await headerOf(lane)).toEqual([200, end])
  // The second answer, which comes from a cached book.
  const before = app.logLines.length
  expect(await headerOf(lane)).toEqual([200, end])
  expect(app.logLines.slice(before).join('')).not.toContain('error')
  expect(await headerOf(`${lane}&equipment=%20`)).toEqual([422, end])
  expect(await headerOf('/api/integrations/tms/shipment-update', 'POST')).toEqual([401, end])
  expect(await headerOf('/mcp')).toEqual([405, end])
  // The refusal states when the token expired.
  app.now = endsAt + 60_000
  expect(await headerOf(lane)).toEqual([401, end])
})

test('a token is valid for 30 seconds after its end, because the clocks of two machines differ', async () => {
  app.now = madeAt
  const { owner } = await makeTenant(app)
  const token = await makeServiceToken(app, owner)
  const statusAt = async (moment: number) => {
    app.now = moment
    return (await fetch(`${app.url}${lane}`, { headers: { Authorization: `Bearer ${token}` } })).status
  }
  expect(await statusAt(endsAt + tokenLeewaySeconds * 1000 - 1000)).toBe(200)
  expect(await statusAt(endsAt + tokenLeewaySeconds * 1000)).toBe(401)
})

test('the token of a person has no expiry header', async () => {
  const { owner } = await makeTenant(app)
  const answer = await call(app, 'GET', lane, { token: owner })
  expect([answer.status, answer.headers.get('token-expires')]).toEqual([401, null])
})

test('admins see the tokens that expire soon, and other people do not', async () => {
  app.now = madeAt
  const tenant = await makeTenant(app)
  const [admin, member] = await Promise.all([
    makePerson(app, tenant, 'admin'),
    makePerson(app, tenant, 'member'),
  ])
  await makeServiceToken(app, tenant.owner)
  app.now += 1_000
  await makeServiceToken(app, tenant.owner)
  const expiring = async ({ email, password }: { email: string; password: string }) => {
    const { token } = (await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })).body
    const { body } = await call(app, 'GET', '/api/me', { token })
    return body.expiring_tokens
  }
  app.now = noticeAt - 1_000
  expect(await expiring(admin)).toEqual([])
  app.now = noticeAt
  expect(await expiring(admin)).toEqual([{ id: 1, name: 'test', expires_at: new Date(endsAt).toISOString() }])
  app.now = noticeAt + 1_000
  expect(await expiring(tenant)).toHaveLength(2)
  expect(await expiring(member)).toEqual([])
  const { token } = (
    await call(app, 'POST', '/api/auth/sign-in', { body: { email: tenant.email, password: tenant.password } })
  ).body
  await call(app, 'DELETE', '/api/integrations/tokens/1', { token })
  expect(await expiring(admin)).toMatchObject([{ id: 2 }])
  app.now = endsAt + 60_000
  expect(await expiring(admin)).toEqual([])
})
