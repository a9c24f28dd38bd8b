import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { call, makePerson, makeTenant, password } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** Every password hash that is computed, and how many at the same time. */
const work = vi.hoisted(() => ({ hashes: 0, checks: 0, atOnce: 0, mostAtOnce: 0 }))

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
    verify: (...given: Parameters<typeof real.verify>) => {
      work.checks++
      return counted(() => real.verify(...given))
    },
  }
})

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
beforeEach(() => {
  app.now += 16 * 60_000
  Object.assign(work, { hashes: 0, checks: 0, mostAtOnce: 0 })
})
afterAll(() => app.close())

const signIn = (email: string, tried: string) =>
  call(app, 'POST', '/api/auth/sign-in', { body: { email, password: tried } })

test('a thousand wrong tries on an account compute five hashes, and one more for each wait that is sat out', async () => {
  const { email } = await makeTenant(app)
  work.checks = 0
  let refused = 0
  for (let tried = 0; tried < 1000; tried += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => signIn(email, `wrong password ${tried + index}`)),
    )
    refused += answers.filter(({ status }) => status === 401 || status === 429).length
  }
  expect(refused).toBe(1000)
  expect(work.checks).toBe(5)
  app.now += 1_000
  await signIn(email, 'wrong password again')
  await signIn(email, password)
  expect(work.checks).toBe(6)
  expect(work.mostAtOnce).toBeLessThanOrEqual(2)
})

test('guesses spread over many accounts compute thirty hashes a quarter of an hour', async () => {
  for (let tried = 0; tried < 200; tried += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => signIn(`ghost-${tried + index}@example.com`, password)),
    )
  }
  expect(work.checks).toBe(30)
  expect(work.mostAtOnce).toBeLessThanOrEqual(2)
})

test('a hundred sign-ins at once from a hundred networks take two hashes at a time, and reads go on beside them', async () => {
  const behindProxy = await testApp({ config: { trustProxy: ['loopback'] }, now: app.now })
  try {
    const tenant = await makeTenant(behindProxy)
    work.mostAtOnce = 0
    work.checks = 0
    let over = false
    const burst = Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        call(behindProxy, 'POST', '/api/auth/sign-in', {
          headers: { 'X-Forwarded-For': `198.51.100.${index}` },
          body: { email: `ghost-${index}@example.com`, password },
        }),
      ),
    ).finally(() => {
      over = true
    })
    let readMeanwhile = 0
    while (!over) {
      expect((await call(behindProxy, 'GET', '/api/me', { token: tenant.owner })).status).toBe(200)
      if (!over) readMeanwhile++
    }
    expect((await burst).map(({ status }) => status)).toEqual(Array(100).fill(401))
    expect([work.checks, work.mostAtOnce]).toEqual([100, 2])
    // Reads that waited behind the hashes would all be answered after them.
    expect(readMeanwhile).toBeGreaterThan(20)
  } finally {
    await behindProxy.close()
  }
})

test('a known and an unknown address, and one without a password yet, get the same answer for the same work', async () => {
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
    const { status, body } = await signIn(email, 'wrong password here')
    seen.push({ status, body: { ...body, request_id: null }, hashes: work.checks + work.hashes - before })
  }
  for (const one of seen) expect(one).toEqual({ ...seen[0], status: 401, hashes: 1 })
})
