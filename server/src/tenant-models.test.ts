import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareEstimator } from '#engine/estimate/estimator.ts'
import { HAUL_QUOTES_MAX, rateByMiles } from '#engine/estimate/rate-by-miles.ts'
import { makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { readHaulQuotes, readTenantQuotes } from './database/histories.ts'
import { type TenantId, tenantId } from './database/open-database.ts'
import { quotesMax, type TenantModel, tenantModels, withLanes } from './tenant-models.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function tenantWithALane(): Promise<{ own: TenantId; addLane: () => Promise<unknown> }> {
  const tenant = await makeTenant(app)
  const addLane = () => makeLane(app, tenant, { rate: 2_000 })
  await addLane()
  return { own: tenantId(tenant.id), addLane }
}

test('whoever asks while a model is being made gets that one, not another', async () => {
  const { own, addLane } = await tenantWithALane()
  const models = tenantModels()
  const ask = (): Promise<TenantModel> =>
    app.database.inTenant(own, (transaction) => models.of(transaction, own, app.now))
  const atOnce = await Promise.all([ask(), ask(), ask()])
  expect(new Set(atOnce).size).toBe(1)
  expect(await ask()).toBe(atOnce[0])
  await addLane()
  const after = await ask()
  expect(after).not.toBe(atOnce[0])
  expect(after.quotes).toHaveLength(2)
})

test('whoever waits for a model that could not be made makes it', async () => {
  const { own } = await tenantWithALane()
  const models = tenantModels()
  const [begun, waits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** A transaction that tells what is read; what it finds in `lanes` may be put in its place. */
  const ask = (onRead: (table: string) => unknown): Promise<TenantModel> =>
    app.database.inTenant(own, (transaction) =>
      models.of(
        new Proxy(transaction, {
          get: (target, name) =>
            name === 'selectFrom'
              ? (table: 'lanes') => onRead(table) ?? target.selectFrom(table)
              : Reflect.get(target, name, target),
        }),
        own,
        app.now,
      ),
    )
  const lost: unknown = new Proxy(
    {},
    {
      get: (_, name) =>
        name === 'execute'
          ? () => waits.promise.then(() => Promise.reject(new Error('The connection was lost.')))
          : () => lost,
    },
  )
  const first = ask((table) => {
    if (table !== 'lanes') return undefined
    begun.resolve()
    return lost
  })
  await begun.promise
  const read: string[] = []
  const second = ask((table) => {
    if (read.push(table) === 1) setTimeout(waits.resolve, 200)
    return undefined
  })
  await expect(first).rejects.toThrow('The connection was lost.')
  expect((await second).quotes).toHaveLength(1)
  // Its quotes, and those that its curve by miles is drawn from, of earlier days and then of this one.
  expect(read).toEqual(['tenants', 'tenants', 'lanes', 'lanes', 'lanes'])
})

/** A tenant with as many quotes of a kind, drawn by the database from a seed. */
async function tenantOfMany(
  own: TenantId,
  many: { quotes: number; seed: number; fromDay: number; toDay: number },
): Promise<void> {
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  try {
    await owner.query('begin')
    await owner.query(`select set_config('app.tenant_id', '${own}', true), setseed(${many.seed})`)
    // Every eighth has no miles, every ninth no price; many have one time, and microseconds as no service writes them.
    await owner.query(
      `insert into lanes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination,
         origin_key, destination_key, origin_state, destination_state, equipment, equipment_code,
         quoted_customer_name, quoted_rate_cents, miles, outcome, decided_at, created_at, updated_at)
       select tenant_id, 1000000 + number, 'many-' || number, request_id, number, 1, origin, destination,
         origin_key, destination_key, origin_state, destination_state, equipment, equipment_code,
         quoted_customer_name,
         case when number % 9 = 0 then 0 else (50000 + 900000 * random())::integer end,
         case when number % 8 = 0 then null else 15 + (2900 * random())::integer end,
         (array['won', 'lost', 'pending'])[1 + number % 3],
         case when number % 3 < 2 then made end, made, made
       from lanes, generate_series(2, $1::integer + 1) as number,
         lateral (select to_timestamp($2::float8) + make_interval(days => $3 + ($4 * random())::integer)
           + make_interval(secs => (number % 5) / 1e6) as made) as at
       where tenant_id = ${own} order by number limit $1`,
      [many.quotes, Math.floor(app.now / 86_400_000) * 86_400, many.fromDay, many.toDay - many.fromDay],
    )
    await owner.query('commit')
  } finally {
    await owner.end()
  }
}

test('estimates and lane insight draw one curve by miles, to the last digit, however many quotes there are', async () => {
  const histories = [
    { quotes: 40, seed: 0.1, fromDay: -300, toDay: 3 },
    { quotes: 300, seed: 0.2, fromDay: 0, toDay: 2 },
    { quotes: 900, seed: 0.3, fromDay: -90, toDay: 1 },
    { quotes: HAUL_QUOTES_MAX + 3_000, seed: 0.4, fromDay: -5, toDay: 0 },
  ]
  for (const many of histories) {
    const { own } = await tenantWithALane()
    await tenantOfMany(own, many)
    const [model, insight, all] = await app.database.inTenant(own, async (transaction) => [
      await tenantModels().of(transaction, own, app.now),
      rateByMiles(
        await readHaulQuotes(transaction, own, Math.floor(app.now / 86_400_000)),
        Math.floor(app.now / 86_400_000),
      ),
      await readTenantQuotes(transaction, own, null, quotesMax),
    ])
    expect(all).toHaveLength(many.quotes + 1)
    const plain = prepareEstimator({ quotes: withLanes(all), now: app.now })
    const miles = [null, 15, 90, 120, 250, 333.3, 500, 812, 1_000, 2_600]
    expect(miles.map((await model.estimator()).haulLog)).toEqual(miles.map(insight))
    // Cut by the microsecond where quotes are made in the same one, so all of them only where none are cut off.
    if (many.quotes <= HAUL_QUOTES_MAX) expect(miles.map(plain.haulLog)).toEqual(miles.map(insight))
    expect(new Set(miles.map(insight)).size).toBeGreaterThan(1)
  }
})
