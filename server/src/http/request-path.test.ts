import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#server/database/session/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const insights = '/api/integrations/insights'
const lane = 'origin=Dallas,%20TX&destination=Atlanta,%20GA'

/** Counts the transactions that are opened on a database. */
function counting() {
  const count = { transactions: 0 }
  return {
    count,
    wrapDatabase: (database: Database): Database => ({
      ...database,
      inTenant: (tenant, work) => {
        count.transactions++
        return database.inTenant(tenant, work)
      },
    }),
  }
}

let app: TestApp
let ours: Integration
const { count, wrapDatabase } = counting()

beforeAll(async () => {
  app = await testApp({ wrapDatabase })
  ours = await makeIntegration(app)
  for (const [rate, outcome] of [
    [1800, 'won'],
    [1850, 'won'],
    [1900, 'lost'],
    [2000, 'pending'],
    [2000.5, 'won'],
  ] as const) {
    await makeQuote(app, ours.tenant, { rate, outcome })
  }
  await makeQuote(app, ours.tenant, { rate: 2100, outcome: 'lost', equipment: 'R' })
})
afterAll(() => app.close())

/** An answer as the client receives it, without the parts that differ in every answer. */
async function overTheWire(path: string, headers: Record<string, string>) {
  const response = await fetch(`${app.url}${path}`, { headers })
  return seen(response.status, Object.fromEntries(response.headers), await response.text())
}

/** The same request without a socket. */
async function injected(path: string, headers: Record<string, string>) {
  const { statusCode, headers: sent, payload } = await app.inject({ url: path, headers })
  return seen(statusCode, sent as Record<string, string>, payload)
}

function seen(status: number, headers: Record<string, string>, text: string) {
  const {
    date: _date,
    connection: _connection,
    'keep-alive': _keep,
    'request-id': requestId,
    ...rest
  } = headers
  const body = JSON.parse(text)
  // A problem repeats the id of its request.
  if ('request_id' in body) body.request_id = ''
  if ('instance' in body) body.instance = ''
  const { ratelimit, 'x-ratelimit-remaining': remaining, ...others } = rest
  return {
    status,
    text: JSON.stringify(body),
    headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
    limit: ratelimit === undefined ? null : [ratelimit.startsWith('"tenant";r='), remaining !== undefined],
    hasId: requestId !== undefined,
  }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

const reads = [
  `${insights}/markup?${lane}&proposed_rate=1900`,
  `${insights}/markup?${lane}&proposed_rate=1900&equipment=V`,
  `${insights}/markup?origin=%20dallas%20,tx&destination=ATLANTA,+GA&proposed_rate=1875.25&market_rate=1950.5&equipment=v`,
  `${insights}/markup?${lane}&proposed_rate=0.01`,
  `${insights}/markup?${lane}&proposed_rate=999999.99`,
  `${insights}/markup?origin=Nome,%20AK&destination=Atlanta,%20GA&proposed_rate=1900`,
  `${insights}/lane?${lane}`,
  `${insights}/lane?${lane}&equipment=R`,
  `${insights}/lane?origin=Fort%20Worth,%20TX&destination=Marietta,%20GA&equipment=F`,
  `${insights}/lane?origin=Nome,%20AK&destination=Boise,%20ID`,
]

describe('a read of a cached book', () => {
  test.each(reads)('%s needs no transaction, and its answer is the same again', async (path) => {
    const first = await injected(path, bearer(ours.token))
    expect(first.status).toBe(200)
    await overTheWire(path, bearer(ours.token))
    const before = count.transactions
    const again = await overTheWire(path, bearer(ours.token))
    expect(count.transactions).toBe(before)
    expect(again).toEqual(first)
  })

  test('a call is in the call log and in the request log', async () => {
    const [path = ''] = reads
    await overTheWire(path, bearer(ours.token))
    await app.settle()
    const before = app.logLines.length
    const response = await fetch(`${app.url}${path}`, { headers: bearer(ours.token) })
    const id = response.headers.get('Request-Id') ?? ''
    await app.settle()
    const lines = app.logLines.slice(before).map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({
        request_id: id,
        route: `${insights}/markup`,
        status: 200,
        network: '127.0.0.1',
      }),
    )
    const calls = await fetch(`${app.url}/api/integration-calls`, { headers: bearer(ours.tenant.owner) })
    const { calls: shown } = (await calls.json()) as { calls: { request_id: string; status: number }[] }
    expect(shown.find(({ request_id }) => request_id === id)).toMatchObject({ status: 200 })
  })
})

describe('a read of a cached book is refused for', () => {
  const [read = ''] = reads
  test('a header that was sent twice, and a missing Host', async () => {
    await overTheWire(read, bearer(ours.token))
    const lines = (...more: string[]) =>
      [`GET ${read} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${ours.token}`, ...more, '', ''].join('\r\n')
    const statuses = async (bytes: string) =>
      (await sendRaw(app, bytes)).map(({ status, body }) => [status, body?.code])
    expect(await statuses(lines('Connection: close'))).toEqual([[200, undefined]])
    expect(await statuses(lines('Host: y', 'Connection: close'))).toMatchObject([[400, 'duplicate-header']])
    expect(await statuses(lines(`Authorization: Bearer ${ours.token}`, 'Connection: close'))).toMatchObject([
      [400, 'duplicate-header'],
    ])
    expect(
      await statuses(
        [`GET ${read} HTTP/1.1`, `Authorization: Bearer ${ours.token}`, 'Connection: close', '', ''].join(
          '\r\n',
        ),
      ),
    ).toMatchObject([[400, 'malformed-request']])
  })
})

/** `cache/tenant-memory.test.ts` shows with a simulated clock that a value is valid for at most 800 ms. */
describe('never old', () => {
  const marks = (on: TestApp) => call(on, 'GET', reads[0] ?? '', { token: ours.token })

  test('an update is visible in the next read of the same process, and soon in another process', () =>
    updates(4))
  test(
    'each of twenty updates is visible in the next read of the same process, and soon in another process',
    {
      tags: 'long',
    },
    () => updates(20),
  )

  /** Each update must be the highest rate of the lane so far. */
  let rate = 3000
  async function updates(number: number) {
    const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
    try {
      for (let nth = 0; nth < number; nth++) {
        rate++
        const { lane_ref } = await makeQuote(app, ours.tenant, { rate: 2000 })
        await marks(app)
        await marks(elsewhere)
        const pushed = await pushUpdate(app, ours, { lane_ref, customer_rate: rate })
        expect(pushed.status).toBe(200)
        expect((await marks(app)).body.rate_band.ceiling).toBe(rate)
        await expect
          .poll(async () => (await marks(elsewhere)).body.rate_band.ceiling, { interval: 10 })
          .toBe(rate)
      }
    } finally {
      await elsewhere.close()
    }
  }

  test('a changed win-probability setting applies from the next read on', async () => {
    const set = (method: string) =>
      fetch(`${app.url}/api/tenant`, {
        method: 'PATCH',
        headers: { ...bearer(ours.tenant.owner), 'Content-Type': 'application/json' },
        body: JSON.stringify({ win_probability_method: method }),
      })
    const before = (await marks(app)).body.win_probability
    expect((await set('literal')).status).toBe(200)
    expect((await marks(app)).body.win_probability).not.toBe(before)
    await set('at_or_below')
    expect((await marks(app)).body.win_probability).toBe(before)
  })

  test('an unavailable database is soon 503, whatever is cached', async () => {
    let away = false
    const unplugged = await appOn(app.testDatabase, {
      secretKeys: [app.secretKey],
      now: app.now,
      wrapDatabase: (database) => {
        const gone = () => Promise.reject(Object.assign(new Error('gone'), { code: '57P01' }))
        return {
          ...database,
          inTenant: (tenant, work) =>
            away ? database.inTenant(tenant, gone) : database.inTenant(tenant, work),
          changedTenants: (since) => (away ? gone() : database.changedTenants(since)),
        }
      },
    })
    try {
      await marks(unplugged)
      expect((await marks(unplugged)).status).toBe(200)
      away = true
      await expect.poll(async () => (await marks(unplugged)).status).toBe(503)
      expect((await marks(unplugged)).status).toBe(503)
      away = false
      expect((await marks(unplugged)).status).toBe(200)
    } finally {
      await unplugged.close()
    }
  })

  test('as a lane ages without writes, a cached answer changes as a new one does', () =>
    ages([29.999, 30.001, 360]))
  test(
    'as a lane ages without writes, a cached answer changes as a new one does, at more ages',
    {
      tags: 'long',
    },
    () => ages([1, 29, 29.999, 30, 30.001, 60, 100, 330, 359.999, 360]),
  )

  async function ages(afterDays: readonly number[]) {
    const path = reads[6] ?? ''
    const start = app.now
    try {
      // A service token lasts for a year.
      for (const days of afterDays) {
        app.now = start + days * 86_400_000
        const fresh = await appOn(app.testDatabase, {
          secretKeys: [app.secretKey],
          now: app.now,
          connectionsMax: 2,
        })
        try {
          const computed = await call(fresh, 'GET', path, { token: ours.token })
          expect(computed.status).toBe(200)
          expect((await call(app, 'GET', path, { token: ours.token })).body).toEqual(computed.body)
        } finally {
          await fresh.close()
        }
      }
    } finally {
      app.now = start
    }
  }
})

describe('429', () => {
  test('reads of a cached book count against the limit of ten per second', async () => {
    const clock = { now: 0 }
    const limited = await testApp({ rateLimit: 'real', monotonic: () => clock.now })
    try {
      const mine = await makeIntegration(limited)
      await makeQuote(limited, mine.tenant, { rate: 2000, outcome: 'won' })
      const ask = () => fetch(`${limited.url}${reads[0]}`, { headers: bearer(mine.token) })
      await ask()
      clock.now += 1_100
      const answers = await Promise.all(Array.from({ length: 40 }, ask))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
    } finally {
      await limited.close()
    }
  })
})
