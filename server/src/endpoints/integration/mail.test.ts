import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  tenant = await makeTenant(app)
})

const server = {
  host: 'mail.example.org',
  port: 587,
  user: 'lanewise',
  password: 'a very secret password',
  from: 'quotes@example.org',
}
const set = (change: object = {}, token = tenant.owner) =>
  call(app, 'POST', '/api/mail/server', { token, body: { ...server, ...change } })
const shown = () => call(app, 'GET', '/api/mail', { token: tenant.owner })

describe('200', () => {
  test('the server is shown, and its password is never shown', async () => {
    const answers = [await set(), await shown()]
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toMatchObject({
        sends: 'brokerage',
        may_set: true,
        server: { host: 'mail.example.org', port: 587, user: 'lanewise', from: 'quotes@example.org' },
      })
      expect(JSON.stringify(body)).not.toContain(server.password)
    }
  })

  test('another server replaces it, and without one nobody sends', async () => {
    await set()
    const { user: _, password: __, ...open } = server
    const body = { ...open, host: 'smtp.example.org' }
    const replaced = await call(app, 'POST', '/api/mail/server', { token: tenant.owner, body })
    expect(replaced.body.server).toMatchObject({ host: 'smtp.example.org', user: null })
    const removed = await call(app, 'DELETE', '/api/mail/server', { token: tenant.owner })
    expect(removed.body).toMatchObject({ sends: 'nobody', server: null, waiting: 0, failed: 0, mails: [] })
  })
})

describe('202', () => {
  test('a test message is written to the person who asks, and shown', async () => {
    await set()
    const { status, body } = await call(app, 'POST', '/api/mail/test', { token: tenant.owner })
    expect(status).toBe(202)
    expect(body).toMatchObject({
      waiting: 1,
      mails: [{ kind: 'test', to: { user_id: 1, name: 'Olive Quay' }, state: 'due', attempts: 0 }],
    })
  })
})

describe('403', () => {
  test('only an admin reads or sets it', async () => {
    const member = await makePerson(app, tenant, 'member')
    expect((await set({}, member.token)).status).toBe(403)
    for (const [method, path] of [
      ['GET', '/api/mail'],
      ['DELETE', '/api/mail/server'],
      ['POST', '/api/mail/test'],
      ['POST', '/api/mail/retry'],
    ] as const) {
      expect((await call(app, method, path, { token: member.token })).status, path).toBe(403)
    }
  })
})

describe('409', () => {
  test('if the operator does not permit it', async () => {
    const mail = { operators: null, byBrokerage: false, allowPrivate: [], publicUrl: null }
    const strict = await appOn(app.testDatabase, { config: { mail }, secretKeys: [app.secretKey] })
    const answer = await call(strict, 'POST', '/api/mail/server', { token: tenant.owner, body: server })
    await strict.close()
    expect(answer.status).toBe(409)
    expect(answer.body.detail).toContain('BROKERAGE_SMTP=on')
    expect((await shown()).body.server).toBeNull()
  })

  test('a test message without a server', async () => {
    expect((await call(app, 'POST', '/api/mail/test', { token: tenant.owner })).status).toBe(409)
  })
})

describe('422', () => {
  test.each([
    '127.0.0.1',
    'localhost',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'mail.corp',
    '2130706433',
    'mail.example.org/',
    'user@mail.example.org',
    'mail.example.org:25@127.0.0.1',
  ])('the host %s may not be on the private network, nor be anything else', async (host) => {
    const { status, body } = await set({ host })
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/host'])
    expect((await shown()).body.server).toBeNull()
  })

  test.each(['mail.example.org:25', '[::1]', 'mail.example.org/x'])(
    'the answer to the host %s says what would be right',
    async (host) => {
      const { body } = await set({ host })
      expect(body.errors[0].detail).toBe('host must be a name such as mail.example.com, or an address.')
    },
  )

  test.each([
    ['from', 'quotes@example.org\r\nBcc: eve@example.org'],
    ['from', 'quotes@example.org,eve@example.org'],
    ['host', 'mail.example.org\r\nx'],
    ['user', 'lane\r\nwise'],
    ['port', 0],
    ['port', 65_536],
  ])('%s cannot be %j', async (field, value) => {
    const { status, body } = await set({ [field]: value })
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, `/${field}`])
    expect((await shown()).body.server).toBeNull()
  })

  test('user and password come together', async () => {
    for (const [left, missing] of [
      [{ user: undefined }, '/user'],
      [{ password: undefined }, '/password'],
    ] as const) {
      const { status, body } = await set(left)
      expect([status, body.errors?.[0]?.pointer]).toEqual([422, missing])
    }
  })
})

test('429: one test message per second', async () => {
  const mail = { operators: null, byBrokerage: true, allowPrivate: [], publicUrl: null }
  const limited = await appOn(app.testDatabase, {
    config: { mail },
    secretKeys: [app.secretKey],
    monotonic: () => 0,
  })
  await set()
  const send = () => call(limited, 'POST', '/api/mail/test', { token: tenant.owner })
  const statuses = [(await send()).status, (await send()).status]
  await limited.close()
  expect(statuses).toEqual([202, 429])
})
