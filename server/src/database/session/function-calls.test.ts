import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { openDatabase } from './open-database.ts'
import { tenantId } from './tenant.ts'

const brokerages = 8

let app: TestApp
let integrations: Integration[]
let refs: string[]

beforeAll(async () => {
  app = await testApp({ connectionsMax: 6 })
  integrations = []
  refs = []
  for (let made = 0; made < brokerages; made++) {
    const one = await makeIntegration(app)
    integrations.push(one)
    refs.push((await makeQuote(app, one.tenant, { rate: 2000 })).lane_ref)
  }
  // Cache the tokens and secrets, so that the tests cause calls for updates only.
  await Promise.all(integrations.map((one, at) => pushUpdate(app, one, { lane_ref: refs[at] })))
})
afterAll(() => app.close())

const rateOf = async (at: number) => {
  const { tenant } = integrations[at] as Integration
  return (await call(app, 'GET', `/api/lanes/${refs[at]}`, { token: tenant.owner })).body.customer_rate
}
/** Updates that are signed in the same second are ordered by their content, so later ones are signed in later seconds. */
const push = (at: number, update: Record<string, unknown>, secondsLater: number): Promise<Answer> =>
  pushUpdate(app, integrations[at] as Integration, update, Math.floor(app.now / 1000) + secondsLater)
const all = Array.from({ length: brokerages }, (_, at) => at)

describe('concurrent signed updates of many brokerages', () => {
  test('each changes a quote of its own brokerage, and a quote of another brokerage is not found', async () => {
    for (let round = 1; round <= 5; round++) {
      const answers = await Promise.all(
        all.flatMap((at) => [
          push(at, { lane_ref: refs[at], customer_rate: 3000 + 100 * round + at }, round),
          push(at, { lane_ref: refs[(at + 1) % brokerages], customer_rate: 1 + round }, round),
        ]),
      )
      expect(answers.map(({ status }) => status)).toEqual(all.flatMap(() => [200, 404]))
      for (const at of all) expect(await rateOf(at)).toBe(3000 + 100 * round + at)
    }
  })

  test('an update that waits for the lock of its quote does not delay updates of other brokerages', async () => {
    const holder = new pg.Client(app.testDatabase.owner)
    await holder.connect()
    let waiting: Promise<Answer> | undefined
    try {
      await holder.query('begin')
      await holder.query("select set_config('app.tenant_id', $1, true)", [String(integrations[0]?.tenant.id)])
      await holder.query('select from quotes where lane_ref = $1 for update', [refs[0]])
      let isAnswered = false
      waiting = push(0, { lane_ref: refs[0], customer_rate: 4000 }, brokerages).finally(() => {
        isAnswered = true
      })
      const others = all
        .slice(1)
        .map((at) => push(at, { lane_ref: refs[at], customer_rate: 4000 + at }, brokerages))
      expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([200]))
      expect(isAnswered).toBe(false)
    } finally {
      await holder.query('rollback')
      await holder.end()
    }
    expect((await waiting).status).toBe(200)
    for (const at of all) expect(await rateOf(at)).toBe(4000 + at)
  })
})

test('a call with invalid arguments fails alone, with its own error', async () => {
  const digest = Buffer.alloc(32, 7)
  const results = await Promise.allSettled([
    app.database.callInTenant(tenantId(integrations[1]?.tenant.id ?? 0), 'book_shipment', [
      digest,
      '1-1-1',
      'no json',
    ]),
    app.database.callInTenant(tenantId(integrations[2]?.tenant.id ?? 0), 'book_shipment', [
      digest,
      '1-1-1',
      '{"lane_id": 1, "seen": "1"}',
    ]),
  ])
  expect(results[0]).toMatchObject({ status: 'rejected', reason: expect.objectContaining({ code: '22P02' }) })
  expect(results[1]).toEqual({ status: 'fulfilled', value: null })
})

test('a call works on a session that has lost its statements, as behind a pooler, and is sent without a name from then on', async () => {
  const database = await openDatabase({
    connection: app.testDatabase.service,
    deadlines: testDeadlines,
    connectionsMax: 1,
  })
  const kept = () =>
    database.outsideTenants(async (transaction) => {
      const { rows } = await sql`select from pg_prepared_statements`.execute(transaction)
      return rows.length
    })
  const foundRef = async () => {
    const tenant = tenantId(integrations[0]?.tenant.id ?? 0)
    const values = [Buffer.alloc(32, 9), refs[0]]
    const found = await database.callInTenant<{ lane: { lane_ref: string } }>(tenant, 'find_booking', values)
    return found.lane.lane_ref
  }
  try {
    expect(await foundRef()).toBe(refs[0])
    expect(await kept()).toBe(1)
    await database.outsideTenants((transaction) => sql`deallocate all`.execute(transaction))
    expect(await foundRef()).toBe(refs[0])
    expect(await foundRef()).toBe(refs[0])
    expect(await kept()).toBe(0)
  } finally {
    await database.close()
  }
})
