import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { knownNetworksMax } from '#contract/limits.ts'
import type { Database } from '#server/database/session/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { quoteExpirer } from '#server/expiry/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** The transactions that requests open. */
const asked: { transactions: string[] } = { transactions: [] }
const counting = (database: Database): Database => ({
  ...database,
  outsideTenants: (...given) => {
    asked.transactions.push('outsideTenants')
    return database.outsideTenants(...given)
  },
  inTenant: (...given) => {
    asked.transactions.push('inTenant')
    return database.inTenant(...given)
  },
})

const behindProxy = { config: { trustProxy: ['loopback'] } }
const dayMs = 86_400_000
let app: TestApp
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp({ ...behindProxy, wrapDatabase: counting })
})
beforeEach(async () => {
  tenant = await makeTenant(app)
})
afterAll(() => app.close())

const signIn = (network: string, tried = password, at = app, email = tenant.email) =>
  call(at, 'POST', '/api/auth/sign-in', {
    headers: { 'X-Forwarded-For': network },
    body: { email, password: tried },
  })

/** Eight wrong passwords from eight networks: the next attempt of a network that is not known waits for eight seconds. */
async function attack(at = app, email = tenant.email): Promise<void> {
  for (let nth = 1; nth <= 8; nth++) {
    at.now += 8_000
    expect((await signIn(`198.51.100.${nth}`, 'wrong password here', at, email)).status).toBe(401)
  }
}

test('wrong passwords from other networks delay an unknown network, and no network that the person signed in from', async () => {
  expect((await signIn('192.0.2.7')).status).toBe(200)
  expect((await signIn('2001:db8:1:2::1')).status).toBe(200)
  await attack()
  const refused = await signIn('203.0.113.9')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '8'])
  expect((await signIn('192.0.2.7')).status).toBe(200)
  expect((await signIn('2001:db8:1:2::9')).status).toBe(200)
  // Other networks are not let in with the known one: they still wait because of eight failures.
  expect((await signIn('198.51.100.1')).headers.get('retry-after')).toBe('8')
  app.now += 8_000
  expect((await signIn('203.0.113.9')).status).toBe(200)
})

test('a known network is delayed by its own wrong passwords, with the true wait', async () => {
  expect((await signIn('192.0.2.7')).status).toBe(200)
  await attack()
  for (let tries = 0; tries < 5; tries++) {
    expect((await signIn('192.0.2.7', 'wrong password here')).status).toBe(401)
  }
  const refused = await signIn('192.0.2.7')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '256'])
  app.now += 1_000
  expect((await signIn('192.0.2.7')).status).toBe(200)
})

test('networks are known to every instance, for 30 days, and to the person only', async () => {
  const another = await appOn(app.testDatabase, { ...behindProxy, secretKeys: [app.secretKey], now: app.now })
  try {
    const colleague = await makeTenant(app)
    expect((await signIn('192.0.2.7')).status).toBe(200)
    await attack(another)
    expect((await signIn('192.0.2.7', password, another)).status).toBe(200)
    await attack(another, colleague.email)
    expect((await signIn('192.0.2.7', password, another, colleague.email)).status).toBe(429)
    another.now += 30 * dayMs
    await attack(another)
    expect((await signIn('192.0.2.7', password, another)).status).toBe(429)
  } finally {
    await another.close()
  }
})

test('a delayed attempt causes the same work for a known and an unknown address, at most thirty times per network', async () => {
  const ghost = `ghost-${crypto.randomUUID()}@example.com`
  await attack(app, ghost)
  const workOf = async (email: string, network: string) => {
    asked.transactions = []
    expect((await signIn(network, password, app, email)).status).toBe(429)
    return [...asked.transactions]
  }
  const unknown = await workOf(ghost, '203.0.113.9')
  app.now += 16 * 60_000
  await attack()
  expect(await workOf(tenant.email, '203.0.113.10')).toEqual(unknown)
  expect(unknown).toEqual(['outsideTenants', 'inTenant'])
  for (let tries = 1; tries < 30; tries++) await workOf(tenant.email, '203.0.113.10')
  expect(await workOf(tenant.email, '203.0.113.10')).toEqual([])
})

test('of a person, ten networks are stored as hashes; they are deleted after 30 days and with the person', async () => {
  const networks = Array.from({ length: knownNetworksMax + 2 }, (_, nth) => `192.0.2.${nth + 1}`)
  for (const network of networks) {
    app.now += 1_000
    expect((await signIn(network)).status).toBe(200)
  }
  const stored = () =>
    app.database.inTenant(tenantId(tenant.id), async (transaction) => {
      const { rows } = await sql<{ text: string }>`
        select encode(network_hash, 'escape') as text from sign_in_networks as known where tenant_id = ${tenant.id}
      `.execute(transaction)
      return rows.map(({ text }) => text)
    })
  const texts = await stored()
  expect(texts).toHaveLength(knownNetworksMax)
  expect(texts.join()).not.toMatch(/192\.0\.2/)
  await attack()
  expect((await signIn('192.0.2.1')).status).toBe(429)
  expect((await signIn('192.0.2.12')).status).toBe(200)

  const age = (days: number, kept: number) =>
    app.database.inTenant(tenantId(tenant.id), (transaction) =>
      sql`update sign_in_networks set signed_in_at = now() - make_interval(days => ${days}::integer)
        where tenant_id = ${tenant.id} and network_hash in (
          select network_hash from sign_in_networks where tenant_id = ${tenant.id}
          order by network_hash limit ${knownNetworksMax - kept}
        )`.execute(transaction),
    )
  await age(29, 0)
  await age(31, 3)
  const expirer = quoteExpirer({ database: app.database, log: pino({ level: 'silent' }) })
  await expirer.expireNow()
  await expirer.drain()
  expect(await stored()).toHaveLength(3)

  const person = await makePerson(app, tenant, 'member')
  expect((await signIn('192.0.2.40', password, app, person.email)).status).toBe(200)
  expect(await stored()).toHaveLength(3 + 2)
  await call(app, 'DELETE', `/api/users/${person.id}`, { token: tenant.owner })
  expect(await stored()).toHaveLength(3)
})
