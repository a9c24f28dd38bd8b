import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { type Database, openDatabase, type TenantId, tenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { findImported } from './imported-quotes.ts'
import { insertImport } from './imports.ts'
import { insertRequests, type NewQuoteRequest } from './new-quotes.ts'

const { byteStrings, days, float8s, int4s, int8s, texts, timestamps } = binaryArrays

let testing: TestDatabase
let database: Database
const tenant = tenantId(1)
const other = tenantId(2)
/** Two more tenants for the long test, and two for equal quotes. */
const [many, alike] = [
  [tenantId(3), tenantId(4)],
  [tenantId(5), tenantId(6)],
] as const
const now = new Date('2026-06-01T00:00:00Z')

beforeAll(async () => {
  testing = await testDatabase()
  database = await openDatabase({ connection: testing.service, deadlines: testDeadlines })
  for (const one of [tenant, other, ...many, ...alike]) {
    await database.inTenant(one, async (transaction) => {
      await transaction
        .insertInto('tenants')
        .values({ tenant_id: one, name: 'Test Brokers', created_at: now })
        .execute()
      await insertImport(transaction, one, {
        file_name: 'quotes.csv',
        dry_run: false,
        columns: {},
        ignoredColumns: [],
        bytes_total: 1,
        created_by: null,
      })
    })
  }
})

afterAll(async () => {
  await database.close()
  await testing.drop()
})

/** Text that a file may contain: letters of any script, without NUL, which the database cannot save. */
const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.replaceAll('\0', ''))
const moment = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('2200-12-31T23:59:59Z'),
  noInvalidDate: true,
})
const day = moment.map((at) => at.toISOString().slice(0, 10))
const cents = fc.integer({ min: 0, max: 999_999_999 })
const miles = fc.double({ min: 0.000_001, max: 10_000, noNaN: true })
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })

describe('an array in binary format', () => {
  const columns = <T>(values: fc.Arbitrary<T>) => fc.array(orNull(values), { maxLength: 30 })
  it.each([
    ['integer', int4s, columns(fc.integer())],
    ['bigint', int8s, columns(fc.maxSafeInteger())],
    ['double precision', float8s, columns(fc.double({ noNaN: true, noDefaultInfinity: true }))],
    ['text', texts, columns(text)],
    ['bytea', byteStrings, columns(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)))],
    ['date', days, columns(day)],
    ['timestamptz', timestamps, columns(moment)],
  ] as const)('of %s is what the same values are one by one', async (type, array, values) => {
    await fc.assert(
      fc.asyncProperty(values as fc.Arbitrary<never[]>, async (given) => {
        const binary = (array as (values: readonly never[]) => Buffer)(given)
        const named = sql.raw(type)
        const { rows } = await database.outsideTenants((transaction) =>
          sql<{ same: boolean; elements: number }>`
            select ${binary}::${named}[] is not distinct from
                   array[${sql.join(given.map((value) => sql`${value}::${named}`))}]::${named}[] as same,
                   cardinality(${binary}::${named}[]) as elements
          `.execute(transaction),
        )
        expect(rows).toEqual([{ same: true, elements: given.length }])
      }),
      { numRuns: 15 },
    )
  })

  it('refuses an integer that a JavaScript number cannot represent exactly', () => {
    expect(() => int8s([2 ** 53])).toThrow(RangeError)
  })
})

const request: fc.Arbitrary<NewQuoteRequest> = fc
  .record({
    customerName: text,
    reference: orNull(text),
    createdAt: moment,
    origin: text,
    destination: text,
    state: text,
    market: orNull(text),
    equipment: text,
    quoted: cents,
    amounts: fc.tuple(orNull(cents), orNull(cents), orNull(cents), orNull(cents)),
    miles: orNull(miles),
    pickupDate: orNull(day),
    outcome: fc.constantFrom('won', 'lost', 'pending'),
    reason: orNull(fc.constantFrom('price', 'service', 'capacity', 'no_response', 'withdrawn', 'other')),
    decidedAt: moment,
    bookedAt: orNull(moment),
    carrier: orNull(text),
    mc: orNull(text),
  })
  .map(({ customerName, reference, createdAt, ...said }): NewQuoteRequest => {
    const [estimated, market, customer, truck] = said.amounts
    return {
      customerName,
      reference,
      createdAt,
      createdBy: null,
      importId: 1,
      quotes: [
        {
          origin: said.origin,
          destination: said.destination,
          origin_key: `${said.origin}|${said.state}`,
          destination_key: said.destination,
          origin_state: said.state,
          destination_state: said.state,
          origin_market: said.market,
          destination_market: said.market,
          equipment: said.equipment,
          equipment_code: said.equipment,
          quoted_rate_cents: said.quoted,
          estimated_cost_cents: estimated,
          market_rate_cents: market,
          miles: said.miles,
          pickup_date: said.pickupDate,
          outcome: said.outcome,
          outcome_reason: said.reason,
          outcome_source: said.outcome === 'pending' ? null : 'import',
          decided_at: said.outcome === 'pending' ? null : said.decidedAt,
          customer_rate_cents: customer,
          truck_cost_cents: truck,
          truck_cost_source: truck === null ? null : 'import',
          carrier_name: said.carrier,
          carrier_notes: said.mc,
          booked_at: said.bookedAt,
          quote_signed_at: { quotedRate: [{ sender: 1, signed: 2, effective: 2 }] },
          forecast: JSON.stringify({ win_probability: 0.5 }),
        },
      ],
    }
  })

const fingerprintOf = (index: number) => createHash('sha256').update(`${index}`).digest()

/** All columns of all quotes and their requests as text, except their ids, in the order of the fingerprints. */
async function rowsOf(of: TenantId): Promise<string[]> {
  const { rows } = await database.inTenant(of, (transaction) =>
    sql<{ row: string }>`
      select to_jsonb(quotes) - '{tenant_id,lane_id,lane_ref,request_id,search_text}'::text[]
             || jsonb_build_object(
                  'request', to_jsonb(request) - '{tenant_id,request_id}'::text[],
                  'ref', lane_ref = request_id || '-1-1',
                  'words', replace(search_text, lane_ref, '')
                ) as row
      from quotes join quote_requests as request using (tenant_id, request_id)
      where tenant_id = ${of}
      order by import_fingerprint
    `.execute(transaction),
  )
  return rows.map(({ row }) => JSON.stringify(row))
}

/** Whether the change log contains exactly these quotes. */
async function isLogged(of: TenantId): Promise<unknown> {
  const { rows } = await database.inTenant(of, (transaction) =>
    sql<{ logged: boolean }>`
      select array(select lane_id from quote_versions where tenant_id = ${of} order by lane_id)
        = array(select lane_id from quotes where tenant_id = ${of} order by lane_id) as logged
    `.execute(transaction),
  )
  return rows[0]?.logged
}

/** Inserts a request and its quote with one ordinary statement each. */
async function insertPlainly(
  transaction: TenantTransaction,
  of: TenantId,
  { customerName, reference, createdAt, quotes }: NewQuoteRequest,
  requestId: number,
): Promise<void> {
  const same = {
    tenant_id: of,
    request_id: requestId,
    created_by: null,
    created_at: createdAt,
    import_id: 1,
  }
  await transaction
    .insertInto('quote_requests')
    .values({ ...same, customer_name: customerName, reference, request_key: null, request_digest: null })
    .execute()
  for (const { placed: _, quote_signed_at: stamps, outcome_before_booking: facts, ...quote } of quotes) {
    await transaction
      .insertInto('quotes')
      .values({
        ...same,
        ...quote,
        lane_id: requestId,
        lane_ref: `${requestId}-1-1`,
        lane_number: 1,
        quote_count: 1,
        quoted_customer_name: customerName,
        updated_at: createdAt,
        quote_signed_at: JSON.stringify(stamps),
        outcome_before_booking: facts == null ? null : JSON.stringify(facts),
      })
      .execute()
  }
}

describe('new quotes', () => {
  it('have the columns that an ordinary statement would give them', () =>
    expectSameColumns(sample(150), [tenant, other]))

  it('do so for many kinds of values', { tags: 'long' }, () => expectSameColumns(sample(1_200), many))

  it('do so if they share all values', async () => {
    const [one] = sample(150).filter(
      ({ quotes: [quote] }) => quote?.decided_at && quote.booked_at && quote.miles,
    )
    await expectSameColumns(one === undefined ? [] : [one, one, one], alike)
  })

  const sample = (count: number) => fc.sample(request, { numRuns: count, seed: 7 })

  async function expectSameColumns(
    requests: readonly NewQuoteRequest[],
    [together, plainly]: readonly [TenantId, TenantId],
  ): Promise<void> {
    const quotes = requests.map((one, index) => ({
      ...one,
      quotes: one.quotes.map((quote) => ({ ...quote, import_fingerprint: fingerprintOf(index) })),
    }))
    await database.inTenant(together, (transaction) =>
      insertRequests(transaction, together, database.identifiers, quotes),
    )
    await database.inTenant(plainly, async (transaction) => {
      for (const [index, quote] of quotes.entries())
        await insertPlainly(transaction, plainly, quote, index + 1)
    })
    const rows = await rowsOf(together)
    expect(rows).not.toEqual([])
    expect(rows).toHaveLength(quotes.length)
    expect(rows).toEqual(await rowsOf(plainly))
    expect(await isLogged(together)).toBe(true)
  }

  it('are found by their fingerprint, with their quote and the digest of their row', async () => {
    const here = createHash('sha256').update('17').digest()
    const found = await database.inTenant(tenant, (transaction) =>
      findImported(transaction, tenant, [here, Buffer.from('not here')]),
    )
    expect([...found]).toEqual([[here.toString('hex'), { quoteId: expect.any(Number), said: null }]])
  })

  it('are never saved twice: the second insertion fails and leaves no quote without a request', async () => {
    const again = fc.sample(request, { numRuns: 1, seed: 8 }).map((one) => ({
      ...one,
      quotes: one.quotes.map((quote) => ({ ...quote, import_fingerprint: fingerprintOf(17) })),
    }))
    const before = await rowsOf(tenant)
    await expect(
      database.inTenant(tenant, (transaction) =>
        insertRequests(transaction, tenant, database.identifiers, again),
      ),
    ).rejects.toThrow('import_fingerprint')
    expect(await rowsOf(tenant)).toEqual(before)
  })
})
