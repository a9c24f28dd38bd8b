import { get } from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { problem } from '#contract/errors.ts'
import { laneInsight } from '#contract/lane-insight.ts'
import { call, type Integration, makeIntegration } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type Database, DatabaseUnavailable, type TenantId, tenantId } from '../database/session/index.ts'
import { type CallLog, callLog } from './call-log.ts'

const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

const failure: { error: Error | null; tries: number } = { error: null, tries: 0 }
const failing = (database: Database): Database => ({
  ...database,
  inTenant(tenant, work) {
    failure.tries++
    return failure.error === null ? database.inTenant(tenant, work) : Promise.reject(failure.error)
  },
  callInTenant(...call) {
    failure.tries++
    return failure.error === null ? database.callInTenant(...call) : Promise.reject(failure.error)
  },
})

let app: TestApp
let acme: Integration
let tenant: TenantId

beforeAll(async () => {
  app = await testApp({ wrapCallLogDatabase: failing })
  acme = await makeIntegration(app)
  tenant = tenantId(acme.tenant.id)
})
afterAll(() => app.close())
beforeEach(() => Object.assign(failure, { error: null, tries: 0 }))

const rows = async (of = tenant) =>
  app.database.inTenant(of, (transaction) =>
    transaction.selectFrom('integration_calls').selectAll().orderBy('call_id').execute(),
  )

describe('while the database cannot save the call log', () => {
  test('changes no answer and causes one warning; later calls are recorded again', async () => {
    await expect.poll(async () => (await rows()).length).toBe(2)
    const warnings = () => app.logLines.filter((line) => line.includes('call log'))
    failure.error = new DatabaseUnavailable(new Error('away'))
    for (let index = 0; index < 8; index++) {
      expect((await call(app, 'GET', readPath, { token: acme.token })).status).toBe(200)
    }
    const dropped = () =>
      warnings().reduce((sum, line) => sum + (JSON.parse(line) as { calls: number }).calls, 0)
    await expect.poll(dropped).toBe(8)
    failure.error = null
    const { headers } = await call(app, 'GET', readPath, { token: acme.token })
    await vi.waitFor(
      async () => {
        const kept = (await rows()).map(({ request_id }) => request_id)
        expect(kept).toContain(headers.get('Request-Id'))
        expect(kept).toHaveLength(3)
      },
      { timeout: 60_000 },
    )
  })
})

describe('the call log', () => {
  let log: CallLog
  let now: number
  const lines: string[] = []

  beforeEach(() => {
    now = app.now
    lines.length = 0
    const note = (_fields: object, message: string) => lines.push(message)
    log = callLog({
      database: failing(app.database),
      clock: () => now,
      log: { info: note, warn: note, error: note },
    })
  })

  const refusal = problem('quota-exceeded', 'Your brokerage has made 10 requests within a second.')
  function answered(of: TenantId, count: number, why: 'refused' | 'ok' = 'ok'): void {
    for (let index = 0; index < count; index++) {
      const begun = log.begin({
        tenant: of,
        jti: '00000000-0000-4000-8000-000000000000',
        endpoint: laneInsight,
        method: 'GET',
        url: readPath,
        requestId: '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
        network: '192.0.2.7',
        at: now,
      })
      if (why === 'refused') begun.refuse(refusal)
      begun.end({ status: why === 'refused' ? 429 : 200, ms: 1, answered: true })
    }
  }

  test('logs forty refusals of a flood and counts the others with them, and logs every admitted call', async () => {
    const { tenant: own } = await makeIntegration(app)
    const flooded = tenantId(own.id)
    await expect.poll(async () => (await rows(flooded)).length).toBe(2)
    answered(flooded, 3)
    answered(flooded, 5_000, 'refused')
    answered(flooded, 7)
    await log.drain()
    const kept = (await rows(flooded)).slice(2)
    expect(kept.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(kept.filter(({ status }) => status === 429)).toHaveLength(40)
    expect(kept.reduce((sum, { not_kept }) => sum + not_kept, 0)).toBe(4_960)
    expect(kept.find(({ not_kept }) => not_kept > 0)?.problem).toBe('quota-exceeded')
    expect(await log.lastMinute(flooded, now)).toEqual({ requests: 5_010, refused: 5_000 })
  })

  test('keeps the last 5,000 calls of a tenant, plus those since the last cleanup', async () => {
    const { tenant: own } = await makeIntegration(app)
    const busy = tenantId(own.id)
    for (let batch = 0; batch < 130; batch++) {
      answered(busy, 50)
      await log.flush()
    }
    const kept = await rows(busy)
    expect(kept.length).toBeGreaterThanOrEqual(5_000)
    expect(kept.length).toBeLessThanOrEqual(5_500)
    expect(kept.at(-1)?.call_id).toBeGreaterThanOrEqual(6_500)
    await log.drain()
  })

  test('deletes calls older than seven days when new ones are written', async () => {
    const { tenant: own } = await makeIntegration(app)
    const quiet = tenantId(own.id)
    answered(quiet, 5)
    await log.flush()
    now += 8 * 86_400_000
    answered(quiet, 1)
    await log.drain()
    expect((await rows(quiet)).map(({ called_at }) => called_at.getTime())).toContain(now)
    expect((await rows(quiet)).filter(({ called_at }) => called_at.getTime() < now - 7 * 86_400_000)).toEqual(
      [],
    )
  })

  test('a failed write of one tenant does not affect other tenants, and an outage is not retried for each tenant', async () => {
    const others = await Promise.all([makeIntegration(app), makeIntegration(app), makeIntegration(app)])
    const tenants = others.map((one) => tenantId(one.tenant.id))
    await vi.waitFor(
      async () => {
        for (const one of tenants) expect(await rows(one)).toHaveLength(2)
      },
      { timeout: 60_000 },
    )
    const [first = tenant, ...rest] = tenants
    answered(tenantId(2_000_000), 1)
    for (const one of tenants) answered(one, 1)
    await log.flush()
    expect(await rows(first)).toHaveLength(3)
    expect(lines).toEqual(['calls could not be written to the call log'])
    Object.assign(failure, { error: new DatabaseUnavailable(new Error('away')), tries: 0 })
    for (const one of [first, ...rest]) answered(one, 1)
    for (let one = 0; one < 100; one++) answered(tenantId(2_000_001 + one), 1)
    await log.drain()
    // Only the 32 concurrent writers tried.
    expect(failure.tries).toBeLessThanOrEqual(32)
    expect(lines).toHaveLength(2)
  })

  test('a call that cannot be recorded affects only its own entry', async () => {
    const begun = log.begin({ tenant, url: null } as never)
    expect(() => begun.end({ status: 200, ms: 1, answered: true })).not.toThrow()
    await log.flush()
    expect(lines).toEqual(['a call could not be recorded in the call log'])
    await log.drain()
  })

  test('memory stays bounded while the database is slow', async () => {
    let release = () => {}
    const gate = new Promise<void>((resume) => {
      release = resume
    })
    const slow = callLog({
      database: {
        ...app.database,
        inTenant: async (of, work) => {
          await gate
          return app.database.inTenant(of, work)
        },
      },
      clock: () => now,
      log: { info: () => {}, warn: () => {}, error: () => {} },
    })
    const { tenant: own } = await makeIntegration(app)
    const busy = tenantId(own.id)
    await expect.poll(async () => (await rows(busy)).length).toBe(2)
    log = slow
    answered(busy, 1)
    const flushing = slow.flush()
    answered(busy, 100_000)
    release()
    await flushing
    await slow.drain()
    const kept = (await rows(busy)).slice(2)
    expect(kept).toHaveLength(51)
    expect(kept.at(-1)?.not_kept).toBe(99_950)
  })
})

test('the service may insert and delete log entries, but not update them', async () => {
  await expect(
    app.database.inTenant(tenant, (transaction) =>
      sql`update integration_calls set status = 200`.execute(transaction),
    ),
  ).rejects.toThrow('permission denied')
})

test('a caller that closes the connection before the answer is recorded with status 499', async () => {
  let gate: Promise<void> | null = null
  let open = () => {}
  const began = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const slow = await testApp({
    plant: (server) =>
      server.addHook('onRequest', async ({ url }, reply) => {
        if (url === readPath) reply.raw.once('close', closed.resolve)
      }),
    wrapDatabase: (database) => ({
      ...database,
      async inTenant(of, work) {
        if (gate !== null) began.resolve()
        await gate
        return database.inTenant(of, work)
      },
    }),
  })
  try {
    const ours = await makeIntegration(slow)
    gate = new Promise((resume) => {
      open = resume
    })
    const request = get(`${slow.url}${readPath}`, {
      agent: false,
      headers: { Authorization: `Bearer ${ours.token}` },
    })
    request.on('error', () => {})
    await began.promise
    request.destroy()
    await closed.promise
    gate = null
    open()
    await vi.waitFor(
      async () => {
        const { body } = await call(slow, 'GET', '/api/integration-calls?operation=lane-insight', {
          token: ours.tenant.owner,
        })
        expect(body.calls).toMatchObject([
          { status: 499, problem: null, detail: 'The caller closed the connection before the answer.' },
        ])
      },
      { timeout: 60_000 },
    )
  } finally {
    open()
    await slow.close()
  }
})
