import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { eraseTenant } from '#server/operations/index.ts'
import { call, makeIntegration, makeQuote, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

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

const environment = () => ({
  config: {
    ...readConfig({}),
    databaseUrl: app.testDatabase.serviceUrl,
    migrationDatabaseUrl: app.testDatabase.ownerUrl,
  },
  remark: () => {},
})
const checksums = async (label: 'A' | 'B') =>
  JSON.parse(await tenants.checksum(label)) as { name: string; rows: number }[]

test('without the confirmed name nothing is erased, and the affected rows are counted', async () => {
  const before = await checksums('A')
  const { rows, erased } = await eraseTenant(environment(), String(a.tenant), { now: app.now })
  expect(erased).toBe(false)
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(before.map(({ name, rows: count }) => [name, count])),
  )
  await expect(
    eraseTenant(environment(), String(a.tenant), { now: app.now, confirmed: 'Somebody else' }),
  ).rejects.toThrow(/must be exactly/)
  expect(await checksums('A')).toEqual(before)
})

test('an erased brokerage has no rows left in any table, and another brokerage keeps all rows', async () => {
  const before = await tenants.checksum('B')
  for (const { rows } of await checksums('A')) expect(rows).toBeGreaterThan(0)
  const { name } = await eraseTenant(environment(), String(a.tenant), { now: app.now })
  const { erased } = await eraseTenant(environment(), String(a.tenant), { now: app.now, confirmed: name })
  expect(erased).toBe(true)
  for (const { rows } of await checksums('A')) expect(rows).toBe(0)
  expect(await tenants.checksum('B')).toBe(before)
  expect(b.tenant).not.toBe(a.tenant)
  await expect(eraseTenant(environment(), String(a.tenant), { now: app.now })).rejects.toThrow(/no brokerage/)
})

test('after erasure tokens and sessions are refused despite caches, and its e-mail addresses can be used again', {
  tags: 'long',
}, async () => {
  const ours = await makeIntegration(app)
  await makeQuote(app, ours.tenant)
  expect((await call(app, 'GET', readPath, { token: ours.token })).status).toBe(200)
  // After 2 s without requests the service stops polling for changes, so it does not know of the erasure yet.
  await delay(2_500)
  const number = String(ours.tenant.id)
  const { name } = await eraseTenant(environment(), number, { now: app.now })
  await eraseTenant(environment(), number, { now: app.now, confirmed: name })
  expect((await call(app, 'GET', readPath, { token: ours.token })).status).toBe(401)
  expect((await call(app, 'GET', '/api/lanes', { token: ours.tenant.owner })).status).toBe(401)
  const signIn = { body: { email: ours.tenant.email, password } }
  expect((await call(app, 'POST', '/api/auth/sign-in', signIn)).status).toBe(401)
  const again = await call(app, 'POST', '/api/auth/sign-up', {
    body: { company: 'Anew', name: 'Olive Quay', email: ours.tenant.email, password },
  })
  expect(again.status).toBe(201)
})
