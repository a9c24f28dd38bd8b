import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { eraseTenant } from '#server/operations/index.ts'
import { call, makeIntegration, makeLane, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOf, type SeededTenants, seededTenants } from './seeded-tenants.ts'

const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const [a, b] = [idsOf('A'), idsOf('B')]
let app: TestApp
let tenants: SeededTenants

beforeAll(async () => {
  app = await testApp()
  tenants = await seededTenants(app)
  await tenants.seed('A')
  await tenants.seed('B')
})
afterAll(async () => {
  await tenants.close()
  await app.close()
})

const around = () => ({
  config: {
    ...readConfig({}),
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
  },
  remark: () => {},
})
const sums = async (label: 'A' | 'B') =>
  JSON.parse(await tenants.checksum(label)) as { name: string; rows: number }[]

test('without its name nothing of a brokerage is erased, and what would go is counted', async () => {
  const before = await sums('A')
  const { rows, erased } = await eraseTenant(around(), String(a.tenant), { now: app.now })
  expect(erased).toBe(false)
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(before.map(({ name, rows: count }) => [name, count])),
  )
  await expect(
    eraseTenant(around(), String(a.tenant), { now: app.now, confirmed: 'Somebody else' }),
  ).rejects.toThrow(/to the letter/)
  expect(await sums('A')).toEqual(before)
})

test('of a brokerage that is erased no row is left in any table, and of another none is touched', async () => {
  const before = await tenants.checksum('B')
  for (const { rows } of await sums('A')) expect(rows).toBeGreaterThan(0)
  const { name } = await eraseTenant(around(), String(a.tenant), { now: app.now })
  const { erased } = await eraseTenant(around(), String(a.tenant), { now: app.now, confirmed: name })
  expect(erased).toBe(true)
  for (const { rows } of await sums('A')) expect(rows).toBe(0)
  expect(await tenants.checksum('B')).toBe(before)
  expect(b.tenant).not.toBe(a.tenant)
  await expect(eraseTenant(around(), String(a.tenant), { now: app.now })).rejects.toThrow(/no brokerage/)
})

test('its tokens and people are strangers from then on, whatever was remembered, and its addresses are free', async () => {
  const ours = await makeIntegration(app)
  await makeLane(app, ours.tenant)
  expect((await call(app, 'GET', readPath, { token: ours.token })).status).toBe(200)
  // Long enough for the service to leave the database in peace: it hears of nothing until somebody asks again.
  await delay(2_500)
  const number = String(ours.tenant.id)
  const { name } = await eraseTenant(around(), number, { now: app.now })
  await eraseTenant(around(), number, { now: app.now, confirmed: name })
  expect((await call(app, 'GET', readPath, { token: ours.token })).status).toBe(401)
  expect((await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })).status).toBe(401)
  const signIn = { body: { email: ours.tenant.email, password } }
  expect((await call(app, 'POST', '/api/auth/sign-in', signIn)).status).toBe(401)
  const again = await call(app, 'POST', '/api/auth/sign-up', {
    body: { company: 'Anew', name: 'Olive Quay', email: ours.tenant.email, password },
  })
  expect(again.status).toBe(201)
})
