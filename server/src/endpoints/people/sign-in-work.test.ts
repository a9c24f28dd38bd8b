import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { passwordHashesWaitingMax } from '#contract/limits.ts'
import type { Database } from '#server/database/session/index.ts'
import { hashPassword, isPassword, passwordHashWork } from '#server/security/index.ts'
import { call, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** Counts the password hashes that are computed, and how many at the same time. */
const work = vi.hoisted(() => ({
  hashes: 0,
  checks: 0,
  atOnce: 0,
  mostAtOnce: 0,
  /** Password checks wait for this promise. */
  gate: Promise.resolve(),
  /** Password checks use this hash instead of the given one. */
  against: null as string | null,
}))

vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>()
  const counted = async <T>(compute: () => Promise<T>): Promise<T> => {
    work.atOnce++
    work.mostAtOnce = Math.max(work.mostAtOnce, work.atOnce)
    try {
      return await compute()
    } finally {
      work.atOnce--
    }
  }
  return {
    ...real,
    hash: (...given: Parameters<typeof real.hash>) => {
      work.hashes++
      return counted(() => real.hash(...given))
    },
    verify: (hashed: string | Buffer, tried: string | Buffer) => {
      work.checks++
      return counted(async () => {
        await work.gate
        return real.verify(work.against ?? hashed, tried)
      })
    },
  }
})

/** The transactions that requests open. */
const asked: { transactions: string[] } = { transactions: [] }

function counting(database: Database): Database {
  return {
    ...database,
    outsideTenants: (...given) => {
      asked.transactions.push('outsideTenants')
      return database.outsideTenants(...given)
    },
    inTenant: (...given) => {
      asked.transactions.push('inTenant')
      return database.inTenant(...given)
    },
  }
}

/** A hash of the usual cost takes 30 ms. Most tests only count hashes, so they use the cheapest. */
const usualCost = { ...passwordHashWork }
const leastCost = { memoryCost: 8, timeCost: 1 }

let app: TestApp
beforeAll(async () => {
  Object.assign(passwordHashWork, leastCost)
  app = await testApp({ wrapDatabase: counting })
})
beforeEach(() => {
  app.now += 16 * 60_000
  Object.assign(work, { hashes: 0, checks: 0, mostAtOnce: 0, against: null })
})
afterAll(() => app.close())

const signIn = (email: string, tried: string) =>
  call(app, 'POST', '/api/auth/sign-in', { body: { email, password: tried } })

async function guessForOneAccount(guesses: number) {
  const { email } = await makeTenant(app)
  work.checks = 0
  let refused = 0
  for (let tried = 0; tried < guesses; tried += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => signIn(email, `wrong password ${tried + index}`)),
    )
    refused += answers.filter(({ status }) => status === 401 || status === 429).length
  }
  expect(refused).toBe(guesses)
  expect(work.checks).toBe(5)
  app.now += 1_000
  await signIn(email, 'wrong password again')
  await signIn(email, password)
  expect(work.checks).toBe(6)
  expect(work.mostAtOnce).toBeLessThanOrEqual(2)
}

test('a hundred wrong passwords for an account cause five hashes, and one more after each wait', () =>
  guessForOneAccount(100))

test(
  'a thousand wrong passwords for an account cause five hashes, and one more after each wait',
  { tags: 'long' },
  () => guessForOneAccount(1000),
)

test('guesses for many accounts from one network cause thirty hashes per 15 minutes', async () => {
  for (let tried = 0; tried < 80; tried += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => signIn(`ghost-${tried + index}@example.com`, password)),
    )
  }
  expect(work.checks).toBe(30)
  expect(work.mostAtOnce).toBeLessThanOrEqual(2)
})

describe('behind a proxy', () => {
  let behindProxy: TestApp
  beforeAll(async () => {
    behindProxy = await testApp({ config: { trustProxy: ['loopback'], signUpsPerHour: 5 }, now: app.now })
  })
  afterAll(() => behindProxy.close())

  const signInsFromNetworks = (networks: number) =>
    Promise.all(
      Array.from({ length: networks }, (_, index) =>
        call(behindProxy, 'POST', '/api/auth/sign-in', {
          headers: { 'X-Forwarded-For': `198.51.100.${index}` },
          body: { email: `ghost-${index}@example.com`, password },
        }),
      ),
    )

  test('of twenty concurrent sign-ins from twenty networks two compute a hash, and reads are still answered', async () => {
    const tenant = await makeTenant(behindProxy)
    Object.assign(work, { checks: 0, mostAtOnce: 0 })
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
    work.gate = isOpen
    const burst = signInsFromNetworks(20)
    await expect.poll(() => work.checks).toBe(2)
    for (let nth = 0; nth < 10; nth++) {
      expect((await call(behindProxy, 'GET', '/api/me', { token: tenant.owner })).status).toBe(200)
    }
    expect(work.checks).toBe(2)
    open()
    expect((await burst).map(({ status }) => status)).toEqual(Array(20).fill(401))
    expect([work.checks, work.mostAtOnce]).toEqual([20, 2])
  })

  test('a hundred concurrent sign-ins with hashes of the usual cost compute two at a time, and reads are still answered', {
    tags: 'long',
  }, async () => {
    const tenant = await makeTenant(behindProxy)
    behindProxy.now += 16 * 60_000
    Object.assign(passwordHashWork, usualCost)
    work.against = await hashPassword('another password')
    Object.assign(passwordHashWork, leastCost)
    Object.assign(work, { checks: 0, mostAtOnce: 0 })
    let over = false
    const burst = signInsFromNetworks(100).finally(() => {
      over = true
    })
    let readMeanwhile = 0
    while (!over) {
      expect((await call(behindProxy, 'GET', '/api/me', { token: tenant.owner })).status).toBe(200)
      if (!over) readMeanwhile++
    }
    expect((await burst).map(({ status }) => status)).toEqual(Array(100).fill(401))
    expect([work.checks, work.mostAtOnce]).toEqual([100, 2])
    // If reads waited for the hashes, all would be answered after them.
    expect(readMeanwhile).toBeGreaterThan(20)
  })

  test('of forty sign-ups in a row from one network, five are processed and compute a hash', async () => {
    const signUp = (network: string, more = {}) =>
      call(behindProxy, 'POST', '/api/auth/sign-up', {
        headers: { 'X-Forwarded-For': network },
        body: {
          company: 'X Freight',
          name: 'Ana',
          email: `${crypto.randomUUID()}@example.com`,
          password,
          ...more,
        },
      })
    // A malformed request takes no permit and computes no hash.
    expect((await signUp('192.0.2.7', { password: 'passwordpassword1' })).status).toBe(422)
    const answers = []
    for (let nth = 0; nth < 40; nth++) answers.push(await signUp('192.0.2.7'))
    expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill(201), ...Array(35).fill(429)])
    expect(work.hashes).toBe(5)
    expect(answers.at(-1)?.body).toMatchObject({ type: '/problems/too-many-attempts' })
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('3600')

    // Another network has its own limit: one IPv4 address, or one IPv6 /64.
    const others = await Promise.all(
      Array.from({ length: 8 }, (_, host) => signUp(`2001:db8:1:2::${host + 1}`)),
    )
    expect(others.filter(({ status }) => status === 201)).toHaveLength(5)
    expect((await signUp('2001:db8:1:3::1')).status).toBe(201)
    behindProxy.now += 3_600_000
    expect((await signUp('192.0.2.7')).status).toBe(201)
  })
})

test('an attempt that finds the queue of hashes full is asked to retry', async () => {
  await signIn('warm-up@example.com', password)
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>()
  work.gate = isOpen
  const waiting = Array.from({ length: passwordHashesWaitingMax + 2 }, () => isPassword(null, password))
  const refused = await signIn('one-too-many@example.com', password)
  expect(refused).toMatchObject({ status: 503, body: { type: '/problems/unavailable' } })
  expect(refused.body.detail).toMatch(/Too many passwords/)
  expect(refused.headers.get('retry-after')).toBe('2')
  open()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]))
  expect(work.mostAtOnce).toBe(2)
  expect((await signIn('one-too-many@example.com', password)).status).toBe(401)
})

test('an invalid invitation computes no hash, and a valid one computes one', async () => {
  const tenant = await makeTenant(app)
  const invited = await call(app, 'POST', '/api/users', {
    token: tenant.owner,
    body: { name: 'Sam', email: `sam-${crypto.randomUUID()}@example.com`, role: 'member' },
  })
  const right: string = invited.body.invitation
  const accept = (invitation: string) =>
    call(app, 'POST', '/api/auth/accept-invitation', { body: { invitation, password } })
  work.hashes = 0
  for (const wrong of [`${right.slice(0, -4)}AAAA`, right.replace(/_\d+_(?=\d)/, '_1_'), 'lwinv_x']) {
    expect((await accept(wrong)).status).toBe(401)
  }
  expect(work.hashes).toBe(0)
  expect((await accept(right)).status).toBe(200)
  expect(work.hashes).toBe(1)
  expect((await accept(right)).status).toBe(401)
  expect(work.hashes).toBe(1)
})

test('an invitation whose address signs in to another brokerage computes no hash', async () => {
  const [tenant, other] = [await makeTenant(app), await makeTenant(app)]
  const { body: invited } = await call(app, 'POST', '/api/users', {
    token: tenant.owner,
    body: { name: 'Sam', email: other.email, role: 'member' },
  })
  work.hashes = 0
  const refused = await call(app, 'POST', '/api/auth/accept-invitation', {
    body: { invitation: invited.invitation, password },
  })
  expect([refused.status, work.hashes]).toEqual([409, 0])
})

test('known and unknown addresses, and people without a password yet, get the same answer for the same work', async () => {
  const tenant = await makeTenant(app)
  const removed = await makePerson(app, tenant, 'viewer')
  await call(app, 'DELETE', `/api/users/${removed.id}`, { token: tenant.owner })
  const invited = `invited-${crypto.randomUUID()}@example.com`
  await call(app, 'POST', '/api/users', {
    token: tenant.owner,
    body: { name: 'Sam', email: invited, role: 'member' },
  })
  await signIn('warm-up@example.com', password)
  const seen = []
  for (const email of [tenant.email, `nobody-${crypto.randomUUID()}@example.com`, invited, removed.email]) {
    const before = work.checks + work.hashes
    asked.transactions = []
    const { status, body } = await signIn(email, 'wrong password here')
    seen.push({
      status,
      body: { ...body, request_id: null },
      hashes: work.checks + work.hashes - before,
      transactions: asked.transactions,
    })
  }
  const same = { status: 401, hashes: 1, transactions: ['outsideTenants', 'inTenant'] }
  for (const one of seen) expect(one).toEqual({ ...seen[0], ...same })
})
