import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asTableOwner } from '#testing/as-table-owner.ts'
import { call, makePerson, makeServiceToken, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/**
 * A caller is valid only if several conditions are true, and the database checks each of them. In practice, several fail together:
 * removing a person also ends their sessions. Here, one fails at a time, so that each is tested.
 */

let app: TestApp
let owner: pg.Client

beforeAll(async () => {
  app = await sharedApp()
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
})

/** Changes one row directly, without the other changes that an endpoint would make. */
async function change(tenant: number, statement: string, values: readonly unknown[] = []): Promise<void> {
  const { rowCount } = await asTableOwner(owner, tenant, () => owner.query(statement, [tenant, ...values]))
  expect(rowCount).toBeGreaterThan(0)
}

const past = '2020-01-01T00:00:00Z'

test.each([
  ['the session is over', 'update sessions set expires_at = $2 where tenant_id = $1', [past]],
  ['the session was ended', 'update sessions set ended_at = $2 where tenant_id = $1', [past]],
  ['the person is removed', `update users set status = 'removed' where tenant_id = $1`, []],
  ['the brokerage is suspended', `update tenants set status = 'suspended' where tenant_id = $1`, []],
])('no session is good any more when %s', async (_fact, statement, values) => {
  const tenant = await makeTenant(app)
  const admin = await makePerson(app, tenant, 'admin')
  for (const token of [tenant.owner, admin.token]) {
    expect((await call(app, 'GET', '/api/me', { token })).status).toBe(200)
  }
  await change(tenant.id, statement, values)
  for (const token of [tenant.owner, admin.token]) {
    const { status, body } = await call(app, 'GET', '/api/me', { token })
    expect([status, body.type]).toEqual([401, '/problems/token-revoked'])
  }
})

const read = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

test.each([
  ['the token is over', 'update service_tokens set expires_at = $2 where tenant_id = $1', [past]],
  ['the token was revoked', 'update service_tokens set revoked_at = $2 where tenant_id = $1', [past]],
  ['its person is removed', `update users set status = 'removed' where tenant_id = $1`, []],
  ['its person is a member', `update users set role = 'member' where tenant_id = $1`, []],
  ['the brokerage is suspended', `update tenants set status = 'suspended' where tenant_id = $1`, []],
])('no service token is good any more when %s', async (_fact, statement, values) => {
  const tenant = await makeTenant(app)
  const token = await makeServiceToken(app, tenant.owner)
  expect((await call(app, 'GET', read, { token })).status).toBe(200)
  await change(tenant.id, statement, values)
  // The service is not notified of a manual change: it reads a token again after ten minutes.
  app.now += 601_000
  const { status, body } = await call(app, 'GET', read, { token })
  expect([status, body.type]).toEqual([401, '/problems/token-revoked'])
})
