import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finished } from '#engine/steps.ts'
import { call, makeQuote, makeTenant } from '#testing/make.ts'
import { mapBook } from '#testing/map-book.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { pricingRules, readTenantQuotes, recordBytes, updateTenant } from '../database/queries/index.ts'
import { DatabaseUnavailable, type TenantId, tenantId } from '../database/session/index.ts'
import { countedMiles } from '../quotes/index.ts'
import { followQuotes, openQuotes, type QuotesRead, unpackInSteps } from './quote-rows.ts'

let app: TestApp
let owner: pg.Client

beforeAll(async () => {
  app = await testApp()
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
})

/** Writes as the owner of the tables, without the service: no quote gets a new version. */
async function asOwner(own: TenantId, ...statements: readonly string[]): Promise<void> {
  await owner.query(['begin', `select enter_tenant('${own}', 0, 0, 0)`, ...statements, 'commit'].join('; '))
}

/** A brokerage with a quote, and more quotes of all kinds beside it. */
async function brokerage(quotes: number): Promise<TenantId> {
  const tenant = await makeTenant(app)
  await makeQuote(app, tenant, { rate: 2_000 })
  const own = tenantId(tenant.id)
  // Several have the same time, times with microseconds, infinite times, or times before the year 2000.
  await asOwner(
    own,
    `insert into quotes (tenant_id, lane_id, lane_ref, request_id, lane_number, quote_count, origin, destination,
       origin_key, destination_key, origin_state, destination_state, origin_market, destination_market, equipment,
       equipment_code, quoted_customer_name, quoted_rate_cents, customer_rate_cents, estimated_cost_cents,
       truck_cost_cents, miles, pickup_date, outcome, decided_at, created_at, updated_at)
     select tenant_id, 70000000000 + number * 7919, 'more-' || number, request_id, number, 1, origin, destination,
       'saint-jérôme ' || number % 5 || '|QC', destination_key, 'QC', destination_state, null, destination_market,
       equipment, (array['V', 'R', 'F'])[1 + number % 3], quoted_customer_name, number * 100,
       case when number % 4 = 0 then number * 100 + 1 end, case when number % 3 = 0 then number * 90 end,
       case when number % 5 = 0 then 0 end, case when number % 6 > 0 then 100.125 + number end,
       case when number % 4 > 0 then date '1999-12-20' + number end,
       (array['won', 'lost', 'pending'])[1 + number % 3], case when number % 3 < 2 then made end, made, made
     from quotes, generate_series(2, ${quotes + 1}) as number,
       lateral (select timestamptz '1999-12-31 23:59:59.999Z' + (number / 4) * interval '1 day 1 microsecond' as made) as at
     where tenant_id = ${own}`,
  )
  return own
}

/** A brokerage's quotes, read with an ordinary query. */
async function plainRows(own: TenantId): Promise<Map<number, string>> {
  const book = mapBook()
  const quotes = await app.database.inTenant(own, (transaction) =>
    readTenantQuotes(transaction, own, { since: null, max: 100_000, milesOf: countedMiles }),
  )
  for (const quote of quotes) {
    const { originKey, destinationKey, originState, destinationState, equipmentCode } = quote
    const isFirst = originState === 'TX'
    const originMarket = isFirst ? 'Dallas, TX' : null
    const places = { originKey, destinationKey, originState, destinationState }
    book.put(book.lane({ ...places, originMarket, destinationMarket: 'Atlanta, GA', equipmentCode }), {
      quoteId: quote.quoteId,
      quotedAt: quote.quotedAt,
      rateCents: quote.rateCents,
      costCents: quote.costCents ?? Number.NaN,
      outcome: quote.outcome === 'won' ? 1 : quote.outcome === 'lost' ? 2 : 0,
      miles: quote.miles ?? Number.NaN,
    })
  }
  return new Map(book.rows)
}

async function opened(own: TenantId, perPortion?: number) {
  const book = mapBook()
  const read = await openQuotes(app.database, own, book, perPortion === undefined ? {} : { perPortion })
  return { book, read, rows: new Map(book.rows) }
}

const followed = async (...args: Parameters<typeof followQuotes>): Promise<QuotesRead> => {
  const read = await followQuotes(...args)
  if (read === 'gone') throw new Error('It is unknown which quotes changed.')
  return read
}

/** The state of a sink that was read at this version of the facts. */
const asOf = (facts: number) => ({
  versions: { facts, access: 0 },
  days: null,
  settings: {
    method: 'at_or_below' as const,
    rules: [],
    expiredCountsAsLost: false,
    basis: 'all_in' as const,
    rateType: 'spot' as const,
    pool: 'all' as const,
    mixed: false,
    conversions: 0,
    timeZone: 'UTC',
  },
})

describe('opening', () => {
  test('reads every quote once, with the same values as an ordinary query, in portions of any size', async () => {
    const own = await brokerage(60)
    const plain = await plainRows(own)
    expect(plain.size).toBe(61)
    for (const perPortion of [1, 3, 60, 61, 62, undefined]) {
      const { rows, read, book } = await opened(own, perPortion)
      expect(rows).toEqual(plain)
      expect(read).toMatchObject({ put: 61, removed: 0, skipped: 0, versions: { facts: 1 } })
      expect(book.lanes).toHaveLength(16)
    }
  })

  test('leaves out voided quotes, and has expired ones as the brokerage counts them', async () => {
    const own = await brokerage(12)
    await asOwner(
      own,
      "update quotes set outcome = 'expired', decided_at = created_at where lane_ref in ('more-2', 'more-5')",
      "update quotes set voided_at = now(), void_reason = 'a mistake' where lane_ref = 'more-3'",
    )
    for (const expiredCountsAsLost of [false, true]) {
      await asOwner(
        own,
        `update tenants set expired_counts_as_lost = ${expiredCountsAsLost} where tenant_id = ${own}`,
      )
      const { rows, read } = await opened(own)
      expect(read.put).toBe(12)
      expect(rows).toEqual(await plainRows(own))
    }
  })

  test('leaves out quotes with a time that a Date cannot represent, wherever a portion ends', async () => {
    const own = await brokerage(6)
    const plain = await plainRows(own)
    await asOwner(
      own,
      "update quotes set created_at = 'infinity' where lane_ref = 'more-2'",
      "update quotes set created_at = '-infinity' where lane_ref = 'more-3'",
      "update quotes set created_at = '280000-01-01' where lane_ref = 'more-4'",
    )
    for (const number of [2, 3, 4]) plain.delete(70_000_000_000 + number * 7919)
    for (const perPortion of [1, 2, 100]) {
      const { rows, read } = await opened(own, perPortion)
      expect(rows).toEqual(plain)
      expect(read).toMatchObject({ put: 4, skipped: 3 })
    }
  })

  test('returns an empty book for a brokerage without quotes, or one that does not exist', async () => {
    const own = tenantId((await makeTenant(app)).id)
    for (const tenant of [own, tenantId(2_000_000_000)]) {
      const { rows, read } = await opened(tenant)
      expect([rows.size, read.versions.facts, read.put]).toEqual([0, 0, 0])
      expect(read.settings).toEqual({
        method: 'at_or_below',
        rules: [],
        expiredCountsAsLost: false,
        basis: 'all_in',
        rateType: 'spot',
        pool: 'all',
        mixed: false,
        conversions: 0,
        timeZone: 'UTC',
      })
    }
  })

  test('returns the settings of the brokerage', async () => {
    const own = tenantId((await makeTenant(app)).id)
    await app.database.inTenant(own, (transaction) =>
      updateTenant(transaction, own, {
        win_probability_method: 'revealed',
      }),
    )
    const rule = { ruleId: 1, conditions: {}, terms: { minimum: { pct: 7.5 } } }
    const stored = { ...rule, isOn: true, changedAt: '2026-03-01T14:00:00.000Z', changedBy: null }
    await app.database.inTenant(own, (transaction) =>
      pricingRules.saveRules(transaction, own, [stored, { ...stored, ruleId: 2, isOn: false }]),
    )
    const { read } = await opened(own)
    expect(read.settings).toEqual({
      method: 'revealed',
      rules: [stored],
      expiredCountsAsLost: false,
      basis: 'all_in',
      rateType: 'spot',
      pool: 'all',
      mixed: false,
      conversions: 0,
      timeZone: 'UTC',
    })
    expect(await followed(app.database, own, read, mapBook())).toMatchObject({
      settings: read.settings,
      versions: read.versions,
    })
  })

  test('reads smaller portions if the database is too slow, and fails if it is still too slow', async () => {
    const own = await brokerage(4)
    const slow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
    /** The first transaction reads the versions; the first `portions` of the others time out. */
    const slowFor = (portions: number) => {
      let transactions = 0
      return {
        inTenant: async <T>(...args: Parameters<typeof app.database.inTenant<T>>) => {
          transactions++
          if (transactions > 1 && transactions <= 1 + portions) throw new DatabaseUnavailable(slow)
          return app.database.inTenant(...args)
        },
      }
    }
    const book = mapBook()
    expect(await openQuotes(slowFor(3), own, book)).toMatchObject({ put: 5 })
    expect(new Map(book.rows)).toEqual((await opened(own)).rows)
    await expect(openQuotes(slowFor(4), own, mapBook())).rejects.toThrow(DatabaseUnavailable)
  })

  test('a quote that is written between two portions arrives with the next update of the book', async () => {
    const own = await brokerage(10)
    const tenant = await makeTenant(app)
    const other = tenantId(tenant.id)
    const refs: string[] = []
    for (const rate of [1_000, 1_100, 1_200]) refs.push((await makeQuote(app, tenant, { rate })).lane_ref)
    const book = mapBook()
    let portions = 0
    let writing: Promise<unknown> = Promise.resolve()
    // The new quotes are newer than those of the remaining portions, so the portions do not contain them.
    app.now += 60_000
    const database = {
      inTenant: async <T>(...args: Parameters<typeof app.database.inTenant<T>>) => {
        await writing
        return app.database.inTenant(...args)
      },
    }
    const read = await openQuotes(database, other, book, {
      perPortion: 1,
      onPortion() {
        portions++
        if (portions === 1) writing = makeQuote(app, tenant, { rate: 5_000 })
      },
    })
    expect(portions).toBe(4)
    expect((await opened(other)).rows.size).toBe(4)
    expect(book.rows.size).toBe(3)
    expect(await followed(app.database, other, read, book)).toMatchObject({ put: 1 })
    expect(new Map(book.rows)).toEqual((await opened(other)).rows)
    expect((await opened(own)).rows.size).toBe(11)
  })
})

describe('following', () => {
  test('when it is unknown which quotes changed, the result is gone, and the sink is left alone', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    for (const rate of [1_000, 1_100, 1_200]) await makeQuote(app, tenant, { rate })
    const untouched = { ...mapBook(), put: () => expect.fail('put'), remove: () => expect.fail('removed') }
    const book = mapBook()
    await followed(app.database, own, asOf(0), book)
    expect(new Map(book.rows)).toEqual((await opened(own)).rows)
    expect(await followed(app.database, own, asOf(3), untouched)).toMatchObject({ put: 0, removed: 0 })
    expect(await followed(app.database, own, asOf(2), mapBook())).toMatchObject({ put: 1 })
    // Another database.
    expect(await followQuotes(app.database, own, asOf(4), untouched)).toBe('gone')
    // A person changed rows and incremented the version, as the documentation says.
    await asOwner(own, `update tenant_facts set facts_version = facts_version + 1`)
    expect(await followQuotes(app.database, own, asOf(3), untouched)).toBe('gone')
    // Changes can be read since that version, and not since an earlier one.
    expect(await followed(app.database, own, asOf(4), untouched)).toMatchObject({ put: 0, removed: 0 })
    await makeQuote(app, tenant, { rate: 1_300 })
    expect(await followQuotes(app.database, own, asOf(3), untouched)).toBe('gone')
    expect(await followed(app.database, own, asOf(4), mapBook())).toMatchObject({ put: 1 })
  })

  test('however many versions behind, it reads each changed quote once', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    const { lane_ref } = await makeQuote(app, tenant, { rate: 1_000 })
    for (const outcome of ['won', 'lost', 'pending', 'won'])
      await call(app, 'POST', `/api/lanes/${lane_ref}/outcome`, { token: tenant.owner, body: { outcome } })
    expect(await followed(app.database, own, asOf(0), mapBook())).toMatchObject({
      put: 1,
      versions: { facts: 5 },
    })
  })

  test('so many changes that reading all quotes is quicker are a reason to open the book again', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant, { rate: 1_000 })
    const deleted = (from: number, to: number) =>
      asOwner(
        own,
        `insert into quote_versions select ${own}, lane, 1, now() from generate_series(${from}, ${to}) as lane`,
      )
    await deleted(1, 25_000)
    const book = mapBook()
    book.put(0, { quoteId: 7, quotedAt: 0, rateCents: 0, costCents: 0, outcome: 0, miles: 0 })
    expect(await followed(app.database, own, asOf(0), book)).toMatchObject({ put: 1, removed: 25_000 })
    expect(book.rows.size).toBe(1)
    await deleted(25_001, 100_000)
    expect(await followQuotes(app.database, own, asOf(0), mapBook())).toBe('gone')
  })
})

test('quotes and names that do not match are an error, not quotes of other lanes', () => {
  const unpack = (records: Buffer, places: string, customers = 'Harvest\u001f') =>
    finished(
      unpackInSteps(
        { records, terms: null, places, customers, carriers: '' },
        mapBook(),
        { basis: 'all_in', rateType: 'spot', expiredCountsAsLost: false, days: null },
        new Map(),
      ),
    )
  const places = 'a\u001fb\u001fc\u001fd\u001f\u001f\u001fV'
  expect(() => unpack(Buffer.alloc(recordBytes), 'a\u001eb')).toThrow('do not match')
  expect(() => unpack(Buffer.alloc(recordBytes), places, 'a\u001f\u001eb\u001f')).toThrow('do not match')
  expect(() => unpack(Buffer.alloc(recordBytes), 'a\u001fb')).toThrow('cannot be parsed')
  expect(() => unpack(Buffer.alloc(recordBytes), places, 'Harvest')).toThrow('cannot be parsed')
  expect(unpack(Buffer.alloc(recordBytes), places).counted.count).toBe(1)
})
