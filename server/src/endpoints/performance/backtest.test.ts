import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import { backtestReport, call, type MadeTenant, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { testApp } from '#testing/test-app.ts'
import { threadMs } from '#testing/thread-time.ts'

let app: TestApp
const now = Date.parse('2026-06-01T00:00:00Z')
const history = { seed: 5, quotes: 420, until: now, hours: 4 }

beforeAll(async () => {
  // Loads the map, as the service does at its start, so that no request waits for it.
  gazetteer()
  app = await sharedApp()
  app.now = now
})

async function importQuotes(tenant: MadeTenant, file: string): Promise<void> {
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: file,
  })
  const { import_id: importId } = (await response.json()) as { import_id: number }
  for (;;) {
    const { body } = await call(app, 'GET', `/api/imports/${importId}`, { token: tenant.owner })
    if (body.status === 'done') {
      expect(body.rows_refused).toBe(0)
      return
    }
    expect(body.status).toBe('running')
    await delay(20)
  }
}

const found = (token: string, of: TestApp = app) => backtestReport(of, token)

describe('200', () => {
  it('answers running at once, then the progress, then the result', async () => {
    const tenant = await makeTenant(app)
    await importQuotes(tenant, quotesFile(history))
    const viewer = await makePerson(app, tenant, 'viewer')
    const first = await call(app, 'POST', '/api/backtest', { token: viewer.token, body: {} })
    expect(first).toMatchObject({ status: 200, body: { status: 'running', progress: 0 } })
    const rule = { conditions: {}, terms: { minimum: { margin_pct: 90 } } }
    const asked = await call(app, 'POST', '/api/backtest', { token: tenant.owner, body: { rule } })
    expect(asked.body.rule, 'a rule does not wait for the test').toMatchObject({
      changed: expect.any(Number),
    })
    const { body } = await found(viewer.token)
    expect(body).toMatchObject({
      status: 'done',
      as_of: '2026-06-01T00:00:00.000Z',
      current: true,
      result: { enough: true, outcome_delay_days: 1, quotes: 420, decided: 420, left_out: 0 },
    })
    const { result } = body
    expect(result.tested).toBeGreaterThan(200)
    expect(result.quality.model.brier).toBeLessThan(result.quality.lane_rate.brier)
    expect(result.quality.model.auc).toBeGreaterThan(0.65)
    expect(result.reliability).toHaveLength(10)
    expect(result.dollars.quotes + result.not_priced.without_best_rate).toBe(result.tested)
    expect(result.dollars.difference_80.low).toBeLessThanOrEqual(result.dollars.difference)
    expect(result.dollars.difference_80.high).toBeGreaterThanOrEqual(result.dollars.difference)
    expect(result.dollars.caveat).toMatch(/an estimate by the model itself, not an experiment/)
    expect(result.sentence).toMatch(/estimated/)

    // The result is cached while nothing changes.
    expect((await call(app, 'POST', '/api/backtest', { token: tenant.owner, body: {} })).body).toEqual(body)
  })

  it('reports too few quotes, and how many are needed; runs again ten minutes after a change of quotes, and at once after one of the default basis or of an exchange rate', async () => {
    const tenant = await makeTenant(app)
    const token = tenant.owner
    await makeQuote(app, tenant, { outcome: 'won' })
    const { body: first } = await found(token)
    expect(first.result).toEqual({
      enough: false,
      why: 'too_few_decided',
      decided: 1,
      tested: 0,
      needed: { decided: 200, tested: 60 },
      sentence: 'There are too few quotes to test the estimate on: 1 decided quote, and 200 are needed.',
    })

    await makeQuote(app, tenant, { outcome: 'lost' })
    expect((await found(token)).body).toMatchObject({ current: false, result: { decided: 1 } })
    app.now += 10 * 60_000
    expect((await found(token)).body).toMatchObject({ current: true, result: { decided: 2 } })

    app.now += 1000
    await call(app, 'PATCH', '/api/tenant', { token, body: { default_basis: 'linehaul' } })
    const { as_of: second } = (await found(token)).body
    app.now += 1000
    const rates = [{ day: '2026-05-01', usd_per_cad: 0.75 }]
    await call(app, 'POST', '/api/exchange-rates', { token, body: { rates } })
    const { as_of: third } = (await found(token)).body
    const apart = [second, third].map((at) => Date.parse(at) - Date.parse(first.as_of))
    expect(apart).toEqual([601_000, 602_000])
    app.now = now
  })

  it("never counts another brokerage's quotes", { tags: 'long' }, async () => {
    const [alone, beside] = [await makeTenant(app), await makeTenant(app)]
    await importQuotes(alone, quotesFile(history))
    const before = (await found(alone.owner)).body.result
    await importQuotes(beside, quotesFile({ ...history, seed: 6, unlucky: true }))
    const [first, second] = await Promise.all([found(alone.owner), found(beside.owner)])
    expect(first.body).toMatchObject({ current: true, result: before })
    expect(second.body.result.tested_won).toBeLessThan(30)
    expect(second.body.result.quality).not.toEqual(before.quality)
  })

  it('runs two brokerages at a time; a third waits, so does a test brokerage for its own, and stopping the service ends all', {
    tags: 'long',
  }, async () => {
    const busy = await testApp({
      now,
      backtestThread: new URL('../../../testing/hanging-thread.ts', import.meta.url),
    })
    const [first, second, third] = [await makeTenant(busy), await makeTenant(busy), await makeTenant(busy)]
    const test = await call(busy, 'POST', '/api/sandbox/session', { token: first.owner, body: {} })
    const owners = [first.owner, test.body.token as string, second.owner, third.owner]
    const progress = () =>
      Promise.all(
        owners.map(
          async (token) => (await call(busy, 'POST', '/api/backtest', { token, body: {} })).body.progress,
        ),
      )
    // Request them one after another, so that the last one waits.
    for (const token of owners) await call(busy, 'POST', '/api/backtest', { token, body: {} })
    while ((await progress()).filter((share) => share === 0.5).length < 2) await delay(25)
    await delay(200)
    expect(await progress()).toEqual([0.5, 0, 0.5, 0])
    await busy.close()
  })

  it('does not delay other requests', { tags: 'measure' }, async () => {
    const tenant = await makeTenant(app)
    await importQuotes(tenant, quotesFile({ ...history, quotes: 1500, hours: 2 }))
    await call(app, 'POST', '/api/backtest', { token: tenant.owner, body: {} })
    let longest = 0
    for (let count = 0; count < 20; count++) {
      const start = threadMs()
      await call(app, 'GET', '/healthz')
      longest = Math.max(longest, threadMs() - start)
    }
    const { body } = await call(app, 'POST', '/api/backtest', { token: tenant.owner, body: {} })
    expect(body.status).toBe('running')
    // The service's thread may do other work for that long before it answers.
    expect(longest).toBeLessThan(500)
  })
})

describe('401', () => {
  it('is only for the people of the brokerage', async () => {
    expect(await call(app, 'POST', '/api/backtest', { body: {} })).toMatchObject({ status: 401 })
  })
})

describe('500', () => {
  it('reports a failure, and retries later', async () => {
    const failing = await testApp({
      now,
      backtestThread: new URL('../../../testing/failing-thread.ts', import.meta.url),
    })
    try {
      const tenant = await makeTenant(failing)
      expect(await found(tenant.owner, failing)).toMatchObject({ status: 500, body: { status: 500 } })
      expect(failing.logLines.join('')).toContain('A thread that fails.')
      failing.now += 10_000
      const again = await call(failing, 'POST', '/api/backtest', { token: tenant.owner, body: {} })
      expect(again.body).toEqual({ status: 'running', progress: 0, rule: null })
    } finally {
      await failing.close()
    }
  })
})
