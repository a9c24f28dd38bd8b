import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countHistory } from '#engine/history-counts.ts'
import { describeLane } from '#engine/lane-insight.ts'
import { makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { readHistory, readHistoryCounts, readTenantQuotes } from './histories.ts'
import { tenantId } from './open-database.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

test('a history is read oldest first, and of one that is too long the newest quotes', async () => {
  const tenant = await makeTenant(app)
  for (const rate of [1_000, 2_000, 3_000]) {
    app.now += 60_000
    await makeLane(app, tenant, { rate })
  }
  const own = tenantId(tenant.id)
  const read = (max?: number) =>
    app.database.inTenant(own, async (transaction) =>
      (await readHistory(transaction, own, {}, max)).map(({ rateCents }) => rateCents / 100),
    )
  expect(await read()).toEqual([1_000, 2_000, 3_000])
  expect(await read(2)).toEqual([2_000, 3_000])
})

test('the quotes of a tenant are read in portions, each of them once, also where many have the same time', async () => {
  const tenant = await makeTenant(app)
  for (const rate of [1_000, 2_000, 3_000, 4_000, 5_000]) {
    if (rate > 3_000) app.now += 60_000
    await makeLane(app, tenant, { rate })
  }
  const own = tenantId(tenant.id)
  const read = (max: number, perRead?: number) =>
    app.database.inTenant(own, async (transaction) =>
      (await readTenantQuotes(transaction, own, null, max, perRead)).map(({ laneId }) => laneId),
    )
  const all = await read(100)
  expect(new Set(all).size).toBe(5)
  for (const perRead of [1, 2, 4, 5, 6]) expect(await read(100, perRead)).toEqual(all)
  expect(await read(3, 2)).toEqual(all.slice(-3))
})

test('the database counts quotes by the same edges as the engine, in whatever zone the process runs', async () => {
  const tenant = await makeTenant(app)
  const own = tenantId(tenant.id)
  const day = 86_400_000
  const ago = [0, 1, 30 * day - 1, 30 * day, 30 * day + 1, 389 * day, 390 * day - 1, 390 * day, 390 * day + 1]
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  const zone = process.env.TZ
  try {
    const moments = [...ago, -1, -31 * day, app.now + 1, app.now + 400 * day].map((ms) => app.now - ms)
    for (const [index, at] of moments.entries()) {
      const { lane_ref } = await makeLane(app, tenant, {
        rate: 1_000 + index,
        outcome: index % 3 === 0 ? 'won' : index % 3 === 1 ? 'lost' : 'pending',
      })
      // Microseconds, as another program may have written them: they are no part of any answer.
      const micros = index % 2 === 0 ? 0 : 999
      await owner.query(
        `update lanes set created_at = $2::timestamptz + make_interval(secs => $3 / 1e6)
         where tenant_id = ${own} and lane_ref = $1`,
        [lane_ref, new Date(at).toISOString(), micros],
      )
    }
    const insight = (counts: Parameters<typeof describeLane>[0]['counts']) =>
      describeLane({
        counts,
        parent: { wins: 5, decided: 9 },
        askedScope: 'corridor',
        usedScope: 'corridor',
        avgRateCents: null,
      })
    for (const elsewhere of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
      process.env.TZ = elsewhere
      for (const now of [app.now - 1, app.now, app.now + 1]) {
        const [counted, quotes] = await app.database.inTenant(own, async (transaction) => [
          await readHistoryCounts(transaction, own, {}, now),
          await readHistory(transaction, own, {}),
        ])
        expect(quotes).toHaveLength(moments.length)
        expect(insight(counted)).toEqual(insight(countHistory(quotes, now)))
      }
    }
  } finally {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
    await owner.end()
  }
})
