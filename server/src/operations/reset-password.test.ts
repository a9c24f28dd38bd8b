import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { resetPassword } from './reset-password.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

function around() {
  const { service, owner } = app.testDatabase
  return {
    config: {
      databaseUrl: service.connectionString ?? null,
      migrationDatabaseUrl: owner.connectionString ?? null,
      dataDirectory: '/nowhere',
      deadlineFactor: 30,
    },
    remark: () => {},
  }
}

test('a reset password signs in; the old password and every old session do not', async () => {
  const tenant = await makeTenant(app)
  const { password } = await resetPassword(tenant.email.toUpperCase(), around(), app.now)
  const signIn = (text: string) =>
    call(app, 'POST', '/api/auth/sign-in', { body: { email: tenant.email, password: text } })
  expect((await signIn(password)).status).toBe(200)
  expect((await signIn(tenant.password)).status).toBe(401)
  expect((await call(app, 'GET', '/api/me', { token: tenant.owner })).status).toBe(401)
})

test('an unknown e-mail address is rejected, and nothing changes', async () => {
  await expect(resetPassword('nobody@example.com', around(), app.now)).rejects.toThrow(
    'No person signs in with',
  )
})
