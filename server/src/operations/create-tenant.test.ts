import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { makeTenant } from './create-tenant.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ config: { allowSignUp: false } })
})
afterAll(() => app.close())

const around = () => ({
  config: {
    databaseUrl: app.testDatabase.service.connectionString ?? null,
    migrationDatabaseUrl: null,
    dataDirectory: '/nowhere',
    deadlineFactor: 30,
  },
  remark: () => {},
})
const made = { company: 'Blue Mesa Logistics', email: 'Ana@example.com', name: 'Ana Ortiz' }

test('if sign-up is off, the operator creates a brokerage, and its owner signs in with the printed password', async () => {
  const { tenant, password } = await makeTenant(made, around(), app.now)
  const signedIn = await call(app, 'POST', '/api/auth/sign-in', { body: { email: made.email, password } })
  expect(signedIn.body).toMatchObject({
    user: { name: 'Ana Ortiz', email: made.email, role: 'owner', status: 'active' },
    tenant: { id: tenant, name: 'Blue Mesa Logistics' },
  })
  const audit = await call(app, 'GET', '/api/audit', { token: signedIn.body.token })
  expect(audit.body.events.map(({ kind }: { kind: string }) => kind)).toEqual(['signed-in', 'signed-up'])
  await expect(makeTenant({ ...made, email: 'ana@EXAMPLE.com' }, around(), app.now)).rejects.toThrow(
    'ana@EXAMPLE.com is in use. Nothing was created.',
  )
})

test.each([
  [{ ...made, email: 'ana' }, /email must be an e-mail address/],
  [{ ...made, company: ' ' }, /company must be text/],
  [{ ...made, name: 'x'.repeat(101) }, /name must be text/],
])('an invalid value is rejected by its name', async (wrong, words) => {
  await expect(makeTenant(wrong, around(), app.now)).rejects.toThrow(words)
})
