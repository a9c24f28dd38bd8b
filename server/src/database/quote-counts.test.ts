import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countHistory, countsHoldUntil, type HistoryCount } from '#engine/history-counts.ts'
import { countMiles, describeLane } from '#engine/lane-insight.ts'
import { countRates } from '#engine/lane-rates.ts'
import { call, makeIntegration, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { keepLargeLanes } from '../large-lanes.ts'
import {
  countedFromQuotes,
  findLargeLanes,
  keepLaneCounted,
  readCountedHistory,
  readCountedRates,
} from './counted-lanes.ts'
import { readHistory, readTenantStanding } from './histories.ts'
import { changeLane, type HeldValues } from './lane-changes.ts'
import { insertQuoteRequests, type LaneRow, lockLane } from './lanes.ts'
import { type TenantId, tenantId } from './open-database.ts'
import { readTenantCounts, readTenantMiles } from './quote-counts.ts'

const migration = new URL('./migrations/0014-quote-counts.sql', import.meta.url)
const dayMs = 86_400_000

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function newTenant(): Promise<TenantId> {
  return tenantId((await makeTenant(app)).id)
}

interface Quoted {
  readonly rateCents: number
  readonly miles: number | null
  readonly equipment: string
  readonly at: number
}

/** Quotes lanes, each at its time; answers their rows. */
async function quote(own: TenantId, quotes: readonly Quoted[]): Promise<readonly LaneRow[]> {
  return app.database.inTenant(own, (transaction) =>
    insertQuoteRequests(
      transaction,
      own,
      app.database.identifiers,
      quotes.map(({ rateCents, miles, equipment, at }) => ({
        customerName: 'Harvest Table Foods',
        reference: null,
        createdBy: null,
        createdAt: new Date(at),
        importId: null,
        lanes: [
          {
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            origin_key: 'dallas|TX',
            destination_key: 'atlanta|GA',
            origin_state: 'TX',
            destination_state: 'GA',
            origin_market: null,
            destination_market: null,
            equipment,
            equipment_code: equipment,
            quoted_rate_cents: rateCents,
            estimated_cost_cents: null,
            market_rate_cents: null,
            miles,
            pickup_date: null,
          },
        ],
      })),
    ),
  )
}

/** Sets columns of a lane, as a shipment update, an outcome or a rollback does. */
async function change(own: TenantId, ref: string, values: Partial<HeldValues>): Promise<void> {
  await app.database.inTenant(own, async (transaction) => {
    const lane = await lockLane(transaction, own, ref)
    if (lane === null) throw new Error(`no lane ${ref}`)
    await changeLane(transaction, own, lane, values, { source: 'tms' }, new Date(app.now))
  })
}

/** Where all quotes of these tests were made. */
const corridor = { originKey: 'dallas|TX', destinationKey: 'atlanta|GA' }

/** Counts must say what their quotes say. They may be read again too early, never too late. */
function expectSame(
  counts: readonly HistoryCount[],
  plain: readonly HistoryCount[],
  { now, usedScope }: { now: number; usedScope: 'equipment' | 'tenant' },
): void {
  const insight = (of: readonly HistoryCount[]) =>
    describeLane({
      counts: of,
      parent: { wins: 5, decided: 9 },
      askedScope: 'equipment',
      usedScope,
      avgRateCents: null,
    })
  expect(insight(counts)).toEqual(insight(plain))
  expect(countsHoldUntil(counts, now)).toBeLessThanOrEqual(countsHoldUntil(plain, now))
  expect(countsHoldUntil(counts, now)).toBeGreaterThan(now)
}

/** What is kept of the lane must be what its quotes say. */
async function compareLane(own: TenantId, moments: readonly number[]): Promise<void> {
  const byRate = (counts: ReturnType<typeof countRates>) =>
    counts.toSorted((a, b) => a.rateCents - b.rateCents)
  await app.database.inTenant(own, async (transaction) => {
    expect((await readTenantStanding(transaction, own, corridor)).isLaneCounted).toBe(true)
    for (const equipmentCode of [undefined, 'V', 'R', 'F']) {
      const of = { corridor, ...(equipmentCode === undefined ? {} : { equipmentCode }) }
      const quotes = await readHistory(transaction, own, of)
      const rates = await readCountedRates(transaction, own, of)
      expect(rates === null ? null : byRate(rates)).toEqual(
        quotes.length === 0 ? null : byRate(countRates(quotes)),
      )
      for (const now of moments) {
        const counts = await readCountedHistory(transaction, own, of, now)
        const plain = countHistory(quotes, now)
        expect(counts === null).toBe(plain.length === 0)
        if (counts !== null) expectSame(counts, plain, { now, usedScope: 'equipment' })
      }
    }
  })
}

/** The counts and the quotes themselves must say the same, of all equipment and of each, at several moments. */
async function compare(own: TenantId, moments: readonly number[]): Promise<void> {
  const byMiles = (counts: Awaited<ReturnType<typeof readTenantMiles>>) =>
    counts.toSorted((a, b) => (a.miles ?? -1) - (b.miles ?? -1))
  for (const equipmentCode of [undefined, 'V', 'R', 'F']) {
    await app.database.inTenant(own, async (transaction) => {
      const quotes = await readHistory(transaction, own, equipmentCode === undefined ? {} : { equipmentCode })
      expect(byMiles(await readTenantMiles(transaction, own, equipmentCode))).toEqual(
        byMiles(countMiles(quotes)),
      )
      for (const now of moments) {
        const counts = await readTenantCounts(transaction, own, { equipmentCode, now })
        expectSame(counts, countHistory(quotes, now), { now, usedScope: 'tenant' })
      }
    })
  }
}

const edges = [0, 1, 30, 60, 389, 390, 391].flatMap((days) =>
  [-dayMs / 2, -1, 0, 1, dayMs / 2].map((ms) => days * dayMs + ms),
)

test('a tenant’s counts are what its quotes say, on both sides of every edge of a bucket, day and month', async () => {
  const own = await newTenant()
  const midnight = Math.floor(app.now / dayMs) * dayMs
  await quote(
    own,
    [...edges, 500 * dayMs, 900 * dayMs, -40 * dayMs, -400 * dayMs].map((ago, at) => ({
      rateCents: at % 7 === 0 ? 0 : 100_000 + at,
      miles: at % 5 === 0 ? null : 100.25 + (at % 4),
      equipment: at % 3 === 0 ? 'R' : 'V',
      at: midnight + dayMs / 2 - ago,
    })),
  )
  const moments = [midnight - 1, midnight, midnight + 1, midnight + dayMs / 2, app.now]
  await compare(own, moments)
  expect(await keepLaneCounted(app.database, own, corridor)).toBe(true)
  await compareLane(own, moments)
  expect(await keepLaneCounted(app.database, own, corridor)).toBe(false)
})

test('whatever is done to quotes, at once or in a transaction that is given up, the counts follow', async () => {
  const own = await newTenant()
  let seed = 7
  const drawn = (to: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % to
  }
  const refs: string[] = []
  const pick = () => refs[drawn(refs.length)] ?? ''
  for (let step = 0; step < 60; step++) {
    if (step === 20) await keepLaneCounted(app.database, own, corridor)
    const kind = refs.length < 5 ? 0 : drawn(5)
    if (kind === 0) {
      const rows = await quote(
        own,
        Array.from({ length: 1 + drawn(4) }, () => ({
          rateCents: drawn(4) === 0 ? 0 : 50_000 + drawn(300_000),
          miles: drawn(4) === 0 ? null : 200 + drawn(3) / 8,
          equipment: ['V', 'R'][drawn(2)] ?? 'V',
          at: app.now - drawn(420) * dayMs - drawn(dayMs),
        })),
      )
      refs.push(...rows.map((row) => row.lane_ref))
    } else if (kind === 1) {
      await change(own, pick(), { outcome: 'won', decided_at: new Date(app.now), outcome_source: 'tms' })
    } else if (kind === 2) {
      await change(own, pick(), { customer_rate_cents: drawn(3) === 0 ? null : 60_000 + drawn(200_000) })
    } else if (kind === 3) {
      await change(own, pick(), { outcome: 'pending', decided_at: null, outcome_source: null })
    } else {
      const failed = app.database.inTenant(own, async (transaction) => {
        const lane = await lockLane(transaction, own, pick())
        if (lane === null) throw new Error('no lane')
        await changeLane(
          transaction,
          own,
          lane,
          { customer_rate_cents: 1 },
          { source: 'tms' },
          new Date(app.now),
        )
        throw new Error('given up')
      })
      await expect(failed).rejects.toThrow('given up')
    }
  }
  await compare(own, [app.now])
  await compareLane(own, [app.now])
})

test('writers at once lose none of each other’s counts, and do not stand in each other’s way', async () => {
  const own = await newTenant()
  const at = app.now - 3 * dayMs
  const rows = await quote(
    own,
    Array.from({ length: 24 }, (_, index) => ({
      rateCents: 100_000 + index,
      miles: 300 + (index % 2),
      equipment: index % 2 === 0 ? 'V' : 'R',
      at,
    })),
  )
  const changes = rows.map((row, index) => () => {
    const changed = change(own, row.lane_ref, {
      outcome: index % 2 === 0 ? 'won' : 'lost',
      decided_at: new Date(app.now),
      outcome_source: 'tms',
      customer_rate_cents: 200_000 + index,
    })
    // In the midst of them the lane is kept counted: each of them before or after it, and none in part.
    return index === 9 ? Promise.all([changed, keepLaneCounted(app.database, own, corridor)]) : changed
  })
  await Promise.all(changes.map((begin) => begin()))
  await compare(own, [app.now])
  await compareLane(own, [app.now])
})

test('a process of the version before says nothing of lanes: then they are counted from their rows', async () => {
  const own = await newTenant()
  const other = await newTenant()
  const quoted = { rateCents: 100_000, miles: 300, equipment: 'V', at: app.now - dayMs }
  for (const tenant of [own, other]) {
    await quote(tenant, [quoted])
    await keepLaneCounted(app.database, tenant, corridor)
  }
  const service = new pg.Client(app.testDatabase.service)
  await service.connect()
  try {
    await service.query(`begin; select set_config('app.tenant_id', '${own}', true)`)
    const months = [{ tenant_id: own, equipment_code: 'V', month: '2026-01-01', pending: [[1, 1]] }]
    const counts = { won_quotes: 0, decided_quotes: 0, months, miles: [] }
    await service.query('select move_tenant($1, 1, 0, $2::jsonb)', [own, JSON.stringify(counts)])
    await service.query('commit')
  } finally {
    await service.end()
  }
  const kept = (tenant: TenantId) =>
    app.database.inTenant(tenant, async (transaction) => [
      (await readTenantStanding(transaction, tenant, corridor)).isLaneCounted,
      await readCountedRates(transaction, tenant, { corridor }),
      (await readCountedHistory(transaction, tenant, { corridor }, app.now))?.length ?? null,
    ])
  expect(await kept(own)).toEqual([false, null, null])
  expect(await kept(other)).toEqual([true, [{ rateCents: 100_000, won: 0, lost: 0, pending: 1 }], 1])
})

test('a lane that is met with many quotes is kept counted, and answers the same as before', async () => {
  const { tenant, token } = await makeIntegration(app)
  const own = tenantId(tenant.id)
  const rows = await quote(
    own,
    Array.from({ length: countedFromQuotes }, (_, at) => ({
      rateCents: 150_000 + (at % 700) * 100,
      miles: 780,
      equipment: 'V',
      at: app.now - (at % 500) * dayMs,
    })),
  )
  const answers = async () => {
    const lane = 'origin=Dallas, TX&destination=Atlanta, GA&equipment=V'
    const read = async (path: string) =>
      (await call(app, 'GET', `/api/integrations/insights/${path}`, { token })).body
    return [await read(`markup?${lane}&proposed_rate=1800`), await read(`lane?${lane}`)]
  }
  const isCounted = () =>
    app.database.inTenant(
      own,
      async (transaction) => (await readTenantStanding(transaction, own, corridor)).isLaneCounted,
    )
  expect(await isCounted()).toBe(false)
  const before = await answers()
  await expect.poll(isCounted, { timeout: 20_000 }).toBe(true)
  // There and back again: what is remembered is old, and what is read is what it was.
  const ref = rows[7]?.lane_ref ?? ''
  await change(own, ref, { customer_rate_cents: 990_000 })
  const between = await answers()
  await change(own, ref, { customer_rate_cents: null })
  expect(await answers()).toEqual(before)
  expect(between).not.toEqual(before)
  await compareLane(own, [app.now])
})

test('of a brokerage the large lanes are found, and kept counted', async () => {
  const own = await newTenant()
  await quote(own, [{ rateCents: 100_000, miles: 300, equipment: 'V', at: app.now }])
  const found = () => app.database.inTenant(own, (transaction) => findLargeLanes(transaction, own))
  expect(await found()).toEqual([])
  const more = { rateCents: 100_000, miles: 300, equipment: 'R', at: app.now }
  await quote(
    own,
    Array.from({ length: countedFromQuotes }, () => more),
  )
  expect(await found()).toEqual([corridor])
  await keepLargeLanes(app.database, own)
  expect(await found()).toEqual([])
  await compareLane(own, [app.now])
})

test('what is found by its key is not looked for in all rows, though a table was tiny when it was first asked', async () => {
  const own = await newTenant()
  const [row] = await quote(own, [{ rateCents: 100_000, miles: 300, equipment: 'V', at: app.now - dayMs }])
  const owner = new pg.Client(app.testDatabase.owner)
  const service = new pg.Client(app.testDatabase.service)
  await Promise.all([owner.connect(), service.connect()])
  try {
    await owner.query('analyze quote_months, quote_miles, lanes, tenant_facts')
    await service.query('begin')
    await service.query("select set_config('app.tenant_id', $1, true)", [String(own)])
    const months = [{ tenant_id: own, equipment_code: 'V', month: '2026-01-01', pending: [[1, 1]] }]
    const miles = (nth: number) => [
      { tenant_id: own, equipment_code: 'V', miles: nth, priced: 1, rate_sum_cents: 1 },
    ]
    for (let nth = 0; nth < 10; nth++) {
      const counts = { won_quotes: 0, decided_quotes: 0, months, miles: miles(nth) }
      await service.query('select move_tenant($1, 1, 0, $2::jsonb)', [own, JSON.stringify(counts)])
      await service.query('select find_booking($1, $2, $3)', [own, Buffer.alloc(32), row?.lane_ref])
    }
    const { rows } = await service.query(
      "select relname, seq_scan from pg_stat_xact_user_tables where relname in ('quote_months', 'quote_miles', 'lanes') order by 1",
    )
    expect(rows).toEqual([
      { relname: 'lanes', seq_scan: '0' },
      { relname: 'quote_miles', seq_scan: '0' },
      { relname: 'quote_months', seq_scan: '0' },
    ])
  } finally {
    await Promise.all([owner.end(), service.end()])
  }
})

test('a database that had quotes before it had counts has them counted, as if it had always counted', async () => {
  const own = await newTenant()
  await quote(
    own,
    edges.map((ago, at) => ({
      rateCents: at % 7 === 0 ? 0 : 100_000 + at,
      miles: at % 5 === 0 ? null : 100.25 + (at % 4),
      equipment: at % 3 === 0 ? 'R' : 'V',
      at: app.now - ago,
    })),
  )
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  const counted = async (table: string) =>
    (await owner.query(`select * from ${table} where tenant_id = ${own} order by 2, 3`)).rows
  try {
    await owner.query(`begin; select set_config('app.tenant_id', '${own}', true)`)
    const kept = [await counted('quote_months'), await counted('quote_miles')]
    await owner.query('commit')
    expect(kept.map((rows) => rows.length > 0)).toEqual([true, true])
    await owner.query('begin')
    await owner.query('drop table quote_months, quote_miles')
    await owner.query('drop function added_counts, add_quote_counts')
    await owner.query(readFileSync(migration, 'utf8'))
    await owner.query(`select set_config('app.tenant_id', '${own}', true)`)
    expect([await counted('quote_months'), await counted('quote_miles')]).toEqual(kept)
  } finally {
    await owner.query('rollback')
    await owner.end()
  }
})
