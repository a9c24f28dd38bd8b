import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushUpdate,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const tokensPath = '/api/integrations/tokens'
const secretsPath = '/api/integrations/secrets'
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

describe('429', () => {
  /** Null while the limits use the real time. */
  const clock: { now: number | null } = { now: null }
  let limited: TestApp
  let ours: Integration
  let theirs: Integration

  beforeAll(async () => {
    limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now ?? performance.now() })
    ;[ours, theirs] = [await makeIntegration(limited), await makeIntegration(limited)]
  })
  afterAll(() => limited.close())
  /** From now on, the time of the limits passes only in steps. Whole milliseconds: (x + 1000) - x can be below 1000 for a fraction x. */
  const step = (milliseconds: number) => {
    clock.now = (clock.now ?? Math.ceil(performance.now())) + milliseconds
  }
  const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds))

  test('a tenant gets exactly ten requests per second over all its tokens, and other tenants are not affected', {
    tags: 'measure',
  }, async () => {
    await pause(1100)
    const tokens: string[] = [ours.token]
    for (let i = 1; i < 20; i++) {
      tokens.push(await makeServiceToken(limited, ours.tenant.owner))
      await pause(110)
    }
    await pause(1000)
    // Warm up the connections and the caches first, so that the test measures the limit, not a cold start.
    await readOnce(theirs)
    const lanes = () => call(limited, 'GET', '/api/lanes', { token: ours.tenant.owner })
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, lanes))
    // The client's log. A request was admitted at some time between `began` and `ended`.
    const log: { began: number; ended: number; status: number; tenant: string }[] = []
    const start = performance.now()
    const hammer = tokens.map(async (token) => {
      while (performance.now() - start < 3000) {
        const began = performance.now()
        const { status, headers } = await call(limited, 'GET', readPath, { token })
        log.push({ began, ended: performance.now(), status, tenant: 'ours' })
        if (status === 429) {
          expect(headers.get('Retry-After')).toBe('1')
          await pause(15)
        }
      }
    })
    const quiet = (async () => {
      while (performance.now() - start < 3000) {
        const began = performance.now()
        const { status } = await call(limited, 'GET', readPath, { token: theirs.token })
        log.push({ began, ended: performance.now(), status, tenant: 'theirs' })
        await pause(130)
      }
    })()
    await Promise.all([...hammer, quiet])
    const admitted = log.filter(({ tenant, status }) => tenant === 'ours' && status === 200)
    const refused = log.filter(({ tenant, status }) => tenant === 'ours' && status === 429)
    expect([...new Set(log.map(({ status }) => status))].sort()).toEqual([200, 429])
    expect(tokens).toHaveLength(20)
    // Requests that began and ended within one second were admitted within one second: at most ten of them.
    for (const { began } of admitted) {
      expect(
        admitted.filter((one) => one.began >= began && one.ended < began + 1000).length,
      ).toBeLessThanOrEqual(10)
    }
    // For each refusal, at least ten requests may have been admitted in the second before, however slow the machine is.
    for (const { began, ended } of refused) {
      expect(
        admitted.filter((one) => one.ended > began - 1000 && one.began < ended).length,
      ).toBeGreaterThanOrEqual(10)
    }
    expect(admitted.length).toBeGreaterThanOrEqual(10)
    expect(admitted.length).toBeLessThanOrEqual(40)
    expect(refused.length).toBeGreaterThan(0)
    expect(new Set(log.filter(({ tenant }) => tenant === 'theirs').map(({ status }) => status))).toEqual(
      new Set([200]),
    )
  })

  test('all integration endpoints share the same ten requests, and a refusal says when to retry', async () => {
    step(1_100)
    const quote = await makeQuote(limited, ours.tenant)
    const statuses: number[] = []
    const note = (answer: { status: number }) => statuses.push(answer.status)
    note(await call(limited, 'POST', tokensPath, { token: ours.tenant.owner, body: { name: 'a' } }))
    note(await call(limited, 'POST', secretsPath, { token: ours.tenant.owner, body: { name: 'b' } }))
    note(await call(limited, 'GET', tokensPath, { token: ours.tenant.owner }))
    note(await call(limited, 'GET', secretsPath, { token: ours.tenant.owner }))
    note(await call(limited, 'GET', readPath, { token: ours.token }))
    note(
      await call(limited, 'GET', `${readPath.replace('/lane?', '/markup?')}&proposed_rate=1`, {
        token: ours.token,
      }),
    )
    note(await pushUpdate(limited, ours, { lane_ref: quote.lane_ref }))
    note(await pushUpdate(limited, ours, { lane_ref: 'none' }))
    note(await pushUpdate(limited, { ...ours, secret: 'wrong' }, { lane_ref: 'none' }))
    note(await call(limited, 'POST', tokensPath, { token: ours.tenant.owner, body: {} }))
    expect(statuses).toEqual([201, 201, 200, 200, 200, 200, 200, 404, 401, 422])
    const refusals = [
      await call(limited, 'POST', tokensPath, { token: ours.tenant.owner, body: { name: 'c' } }),
      await call(limited, 'GET', readPath, { token: ours.token }),
      await pushUpdate(limited, ours, { lane_ref: quote.lane_ref, customer_rate: 1 }),
    ]
    for (const { status, body, headers } of refusals) {
      expect(status).toBe(429)
      expect(body).toEqual({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        code: 'quota-exceeded',
        title: 'Too many requests',
        status: 429,
        detail: expect.any(String),
        request_id: headers.get('Request-Id'),
        'violated-policies': ['tenant'],
      })
      expect(headers.get('Retry-After')).toBe('1')
      expect(headers.get('RateLimit-Policy')).toBe('"tenant";q=10;w=1')
      expect(headers.get('RateLimit')).toBe('"tenant";r=0;t=1')
      expect(headers.get('X-RateLimit-Remaining')).toBe('0')
    }
    // The limit does not apply to dashboard endpoints.
    const kept = await call(limited, 'GET', `/api/lanes/${quote.lane_ref}`, { token: ours.tenant.owner })
    expect([kept.status, kept.body.customer_rate]).toEqual([200, null])
    step(1_000)
    expect((await readOnce(ours)).status).toBe(200)
  })

  const readOnce = (integration: Integration) => call(limited, 'GET', readPath, { token: integration.token })

  test('a refused request takes no permit: constant retries do not lock a tenant out', async () => {
    step(1_100)
    let admitted = 0
    for (let elapsed = 0; elapsed < 2_300; elapsed += 10, step(10)) {
      if ((await readOnce(ours)).status === 200) admitted++
    }
    expect(admitted).toBe(30)
  })

  test('a caller that names another address in X-Forwarded-For is counted under its real address', async () => {
    step(1_100)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        call(limited, 'GET', readPath, {
          token: 'a.b.c',
          headers: { 'X-Forwarded-For': `198.51.100.${index}`, Forwarded: `for=198.51.100.${index}` },
        }),
      ),
    )
    expect(answers.map(({ status }) => status)).toContain(429)
    step(60_000)
    // It may be a proxy that nobody named: that is said once.
    expect(limited.logLines.filter((line) => line.includes('TRUST_PROXY is not set'))).toHaveLength(1)
  })

  test('refused callers are slowed down by network, but a valid token from the same address is not', async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, () => call(limited, 'GET', readPath, { token: 'a.b.c' })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(100)
    expect(statuses).toContain(429)
    const slowed = answers.find(({ status }) => status === 429)
    expect([slowed?.body.type, slowed?.headers.get('Retry-After')]).toEqual([
      '/problems/too-many-attempts',
      '1',
    ])
    expect((await readOnce(theirs)).status).toBe(200)
  })
})
