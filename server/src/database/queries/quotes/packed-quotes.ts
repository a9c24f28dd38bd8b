import { type RawBuilder, sql } from 'kysely'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Pool, RateType } from '#engine/rate-type.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import type { StoredRule, TenantTransaction } from '../../schema/index.ts'
import type { TenantId, TenantVersions } from '../../session/index.ts'
import { isMixed } from '../performance/compared-basis.ts'
import { rulesInForce } from '../pricing/pricing-rules.ts'
import { sentColumns, statedAmounts } from './amount-columns.ts'
import { isDirectLoad, isLostForOtherReason } from './quote-conditions.ts'

/** The settings of a brokerage that pricing applies to its quotes. */
export interface BookSettings {
  readonly method: WinProbabilityMethod
  /** The pricing rules that are on. */
  readonly rules: readonly PricingRule[]
  /** Whether expired quotes count as lost in the book, not as pending. */
  readonly expiredCountsAsLost: boolean
  /** The basis of all amounts of the book. */
  readonly basis: RateBasis
  /** The rate type of quotes that do not state theirs. */
  readonly rateType: RateType
  /** The quotes that the integration interface counts. */
  readonly pool: Pool
  /** Whether a quote has an amount on the other basis or in the other currency. Such quotes are converted, or left out. */
  readonly mixed: boolean
  /** The number of changes of fuel schedules and prices, which amounts are converted with. */
  readonly conversions: number
  /** The IANA time zone in which the months of the brokerage begin. */
  readonly timeZone: string
}

/*
 * The binary record of a quote for the book, with its amounts as they were sent, and texts for its places, its customers and its
 * carrier. A row for each quote would take the driver thirty times as long, because it parses and names each value. Names cannot
 * contain control characters, so these separate them. The customer is a hash of its key. In one of ten thousand brokerages with
 * a thousand customers, two customers have the same hash and share their effect on the estimate.
 */
const cents = (column: string) => sql`int4send(coalesce(${sql.ref(column)}, -1))`
const record = sql`int8send(lane_id) || timestamptz_send(created_at) || float8send(coalesce(miles, 'NaN'))
  || int4send(quoted_rate_cents) || ${cents('estimated_cost_cents')} || ${cents('expected_cost_cents')}
  || ${cents('customer_rate_cents')} || ${cents('truck_cost_cents')} || ${cents('market_rate_cents')}
  || timestamptz_send(coalesce(decided_at, created_at)) || int4send(coalesce(created_by, 0))
  || int4send(hashtext(customer_key))
  || int4send(case outcome when 'won' then 1 when 'lost' then 2 when 'expired' then 3 else 0 end
    + case when import_id is null or rep_name is not null then 0 else 8 end
    + case rate_type when 'contract' then 16 when 'spot' then 0 else 512 end
    + case when cancelled_at is null then 0 else 32 end
    + case when outcome_source = 'lanewise' then 64 else 0 end
    + case when carrier_name is null and carrier_notes is null and booked_at is null then 0 else 128 end
    + case when superseded_by is null then 0 else 256 end
    + case when ${isLostForOtherReason} then 1024 else 0 end
    + case when ${isDirectLoad} then 0 else 2048 end)`
export const recordBytes = 68
/** The byte at which each value of a record begins. */
export const recordAt = {
  quoteId: 0,
  quotedAt: 8,
  miles: 16,
  quoted: 24,
  estimated: 28,
  expected: 32,
  customerRate: 36,
  truckCost: 40,
  market: 44,
  decidedAt: 48,
  person: 56,
  customer: 60,
  codes: 64,
} as const
/** The codes in the last value of a record. */
export const recordCodes = {
  /** pending, won, lost or expired */
  outcome: 3,
  imported: 8,
  contract: 16,
  /** The quote does not state its rate type. */
  noRateType: 512,
  cancelled: 32,
  decidedByService: 64,
  otherBooking: 128,
  /** A superseded offer whose rate the customer refused. */
  refusedOffer: 256,
  lostForOtherReason: 1024,
  /** It has stops, or another mode than truckload. */
  notDirect: 2048,
} as const

/*
 * A second record for a quote that states the basis or the currency of an amount: its id, the charges of its quoted rate, its AR and
 * its AP, and codes of two bits: the basis of each and of its expected cost (0 is not stated), and the currency of each.
 */
const basisCode = (column: string) =>
  sql`case ${sql.ref(column)} when 'linehaul' then 1 when 'all_in' then 2 else 0 end`
const currencyCode = (column: string) =>
  sql`case ${sql.ref(column)} when 'USD' then 1 when 'CAD' then 2 else 0 end`
const terms = sql`case when coalesce(quoted_basis, customer_basis, truck_basis, quoted_currency, customer_currency,
    truck_currency) is not null
  then int8send(lane_id)
    || ${sql.join(
      statedAmounts.flatMap((of) => [cents(`${of}_fuel_cents`), cents(`${of}_accessorials_cents`)]),
      sql` || `,
    )}
    || int4send(${basisCode('quoted_basis')} + 4 * ${basisCode('customer_basis')} + 16 * ${basisCode('truck_basis')}
      + 64 * ${basisCode('expected_basis')} + 256 * ${currencyCode('quoted_currency')}
      + 1024 * ${currencyCode('customer_currency')} + 4096 * ${currencyCode('truck_currency')}) end`
export const termsBytes = 36
export const termsAt = { quoteId: 0, quoted: 8, customer: 16, truck: 24, codes: 32 } as const

export const unitSeparator = '\u001f'
export const recordSeparator = '\u001e'
const separated = (columns: readonly RawBuilder<unknown>[]) =>
  // Not concat_ws, which takes three times as long.
  sql.join(columns, sql` || ${sql.lit(unitSeparator)} || `)
const places = separated([
  sql`origin_key`,
  sql`destination_key`,
  sql`origin_state`,
  sql`destination_state`,
  sql`coalesce(origin_market, '')`,
  sql`coalesce(destination_market, '')`,
  sql`equipment_code`,
])
/** The customer of the quote, and the customer of the booking. */
const customerNames = separated([sql`quoted_customer_name`, sql`coalesce(customer_name, '')`])
const carrier = sql`coalesce(carrier_name, '')`

/** The columns that records and texts read, because a subquery that selected all columns took a fifth longer. */
const packedColumns = sql.join(
  [
    'lane_id',
    'created_at',
    'miles',
    ...sentColumns,
    'decided_at',
    'created_by',
    'import_id',
    'rep_name',
    'outcome',
    'outcome_reason',
    'outcome_source',
    'superseded_by',
    'rate_type',
    'mode',
    'stops',
    'cancelled_at',
    'carrier_name',
    'carrier_notes',
    'booked_at',
    'origin_key',
    'destination_key',
    'origin_state',
    'destination_state',
    'origin_market',
    'destination_market',
    'equipment_code',
    'quoted_customer_name',
    'customer_name',
    'customer_key',
  ].map((column) => sql.ref(column)),
)

/** Many quotes as the database returns them: one after the other, in the same order in each value. */
export interface PackedQuotes {
  readonly records: Buffer | null
  /** The second records, of quotes that state a basis or a currency. */
  readonly terms: Buffer | null
  readonly places: string | null
  readonly customers: string | null
  readonly carriers: string | null
}

/** Whether a quote is in the book. A superseded offer is in it only if the customer refused its rate. */
const isEvidence = sql`(superseded_by is null or superseded_as = 'refused')`

/** Packs the rows of `quotes` that meet a condition, or of a subquery of `quotes`. */
async function packedQuotes(
  transaction: TenantTransaction,
  lanes: RawBuilder<unknown>,
): Promise<PackedQuotes> {
  const { rows } = await sql<PackedQuotes>`
    select string_agg(${record}, ''::bytea) as records, string_agg(${terms}, ''::bytea) as terms,
      string_agg(${places}, ${recordSeparator}) as places,
      string_agg(${customerNames}, ${recordSeparator}) as customers,
      string_agg(${carrier}, ${recordSeparator}) as carriers
    from ${lanes}
  `.execute(transaction)
  return rows[0] ?? { records: null, terms: null, places: null, customers: null, carriers: null }
}

/** PostgreSQL counts microseconds from the year 2000. */
export const postgresEpochMs = Date.UTC(2000, 0, 1)

const wordSize = 2 ** 32

/** An integer of eight bytes. Ids and the times of the next 250 years are far below 2^53. */
export function int8At(bytes: DataView, at: number): number {
  return bytes.getInt32(at) * wordSize + bytes.getUint32(at + 4)
}

/** A DataView of the same bytes: it reads numbers several times as fast as a Buffer. */
export const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** The state of a brokerage's quotes in the database. */
export interface BookState {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /**
   * The number of quotes that changed after `since`, at most `changedMax` + 1; null if it is unknown which quotes changed,
   * because something other than advance_versions made a version since, or `since` is of another database.
   */
  readonly changed: number | null
}

/** Above this many changed quotes, opening the book again is quicker than following the changes. */
export const changedMax = 100_000

/**
 * The versions and settings of a brokerage and the number of changes, read by one statement, so that they are of the same moment.
 * It names the tenant at each table, because with `one.tenant_id` Citus would ask every worker.
 */
export async function readBookState(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number | null,
): Promise<BookState> {
  const { rows } = await sql<{
    facts: number
    access: number
    method: WinProbabilityMethod
    rules: StoredRule[]
    expired_counts_as_lost: boolean | null
    default_basis: RateBasis
    default_rate_type: RateType
    integration_pool: Pool
    mixed: boolean
    conversions: number
    time_zone: string
    changed: number | null
  }>`
    select coalesce(facts.facts_version, 0) as facts, coalesce(facts.access_version, 0) as access,
      one.win_probability_method as method, one.pricing_rules as rules,
      one.expired_counts_as_lost, one.default_basis, one.default_rate_type, one.integration_pool, one.conversions, one.time_zone, ${isMixed(tenant)} as mixed,
      case
        when ${since}::bigint = coalesce(facts.facts_version, 0) then 0
        when ${since}::bigint between facts.unlogged_version and facts.facts_version
          and facts.logged_version = facts.facts_version then newer.count
      end as changed
    from tenants as one
    left join tenant_facts as facts on facts.tenant_id = ${tenant}
    cross join lateral (
      select count(*) from (
        select from quote_versions as known
        where known.tenant_id = ${tenant} and known.version > ${since}::bigint
        limit ${changedMax + 1}
      ) as counted
    ) as newer
    where one.tenant_id = ${tenant}
  `.execute(transaction)
  const [row] = rows
  return {
    versions: { facts: row?.facts ?? 0, access: row?.access ?? 0 },
    settings: {
      method: row?.method ?? 'at_or_below',
      rules: rulesInForce(row?.rules ?? []),
      expiredCountsAsLost: row?.expired_counts_as_lost ?? false,
      basis: row?.default_basis ?? 'all_in',
      rateType: row?.default_rate_type ?? 'spot',
      pool: row?.integration_pool ?? 'all',
      mixed: row?.mixed ?? false,
      conversions: row?.conversions ?? 0,
      timeZone: row?.time_zone ?? 'UTC',
    },
    changed: row?.changed ?? null,
  }
}

/** A position in the order of lists: creation time in microseconds since 2000 (see `foreverUs`), and id. */
export interface QuotePlace {
  readonly us: bigint
  readonly quoteId: number
}

/** PostgreSQL's binary form of the time `infinity`; `-infinity` is `-foreverUs - 1`. */
const foreverUs = 2n ** 63n - 1n

/** A position before the newest quote. */
export const beforeAnyQuote: QuotePlace = { us: foreverUs, quoteId: Number.MAX_SAFE_INTEGER }

/** The exact time: a Date would lose microseconds, which rows written by other programs may have. */
function moment(us: bigint): RawBuilder<Date> {
  if (us === foreverUs) return sql`'infinity'::timestamptz`
  if (us === -foreverUs - 1n) return sql`'-infinity'::timestamptz`
  const [seconds, rest] = [String(us / 1_000_000n), String(us % 1_000_000n)]
  return sql`'2000-01-01 00:00:00Z'::timestamptz + ${seconds}::bigint * interval '1 second'
    + ${rest}::bigint * interval '1 microsecond'`
}

/** The newest quotes before a position, at most `max`, and the oldest quote's position; null at the end. */
export async function readQuotesBefore(
  transaction: TenantTransaction,
  tenant: TenantId,
  { before, max }: { readonly before: QuotePlace; readonly max: number },
): Promise<{ end: QuotePlace | null; packed: PackedQuotes }> {
  // Forces the index of lists, because the planner's statistics may be out of date for a table that has just grown.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`.execute(
    transaction,
  )
  const older = sql<boolean>`(created_at, lane_id) < (${moment(before.us)}, ${before.quoteId}::bigint)`
  const packed = await packedQuotes(
    transaction,
    sql`(
      select ${packedColumns} from quotes
      where tenant_id = ${tenant} and voided_at is null and ${isEvidence} and ${older}
      order by created_at desc, lane_id desc limit ${max}
    ) as page`,
  )
  const count = (packed.records?.length ?? 0) / recordBytes
  return { end: count < max ? null : oldestOf(packed), packed }
}

/** The oldest of packed quotes. */
function oldestOf({ records }: PackedQuotes): QuotePlace {
  const numbers = viewOf(records ?? Buffer.alloc(0))
  if (numbers.byteLength === 0) return beforeAnyQuote
  // Both halves of a time are compared as plain numbers, so that this loop needs no BigInt per quote.
  let oldest = 0
  for (let at = recordBytes; at < numbers.byteLength; at += recordBytes) {
    const order =
      numbers.getInt32(at + 8) - numbers.getInt32(oldest + 8) ||
      numbers.getUint32(at + 12) - numbers.getUint32(oldest + 12) ||
      int8At(numbers, at) - int8At(numbers, oldest)
    if (order < 0) oldest = at
  }
  return { us: numbers.getBigInt64(oldest + 8), quoteId: int8At(numbers, oldest) }
}

/**
 * The ids of the quotes that changed after version `since`. An upper bound would miss quotes that change again while this runs,
 * because they then have a newer version.
 */
export async function readChangedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number,
): Promise<number[]> {
  const { rows } = await sql<{ ids: Buffer | null }>`
    select ${packedIds} as ids from quote_versions
    where tenant_id = ${tenant} and version > ${since}::bigint
  `.execute(transaction)
  return unpackedIds(rows[0]?.ids ?? null)
}

/** The lane_ids of all rows in one value, because a row for each would take the driver thirty times as long. */
export const packedIds = sql<Buffer | null>`string_agg(int8send(lane_id), ''::bytea)`

/** The lane_ids of `packedIds`. */
export function unpackedIds(packed: Buffer | null): number[] {
  const numbers = viewOf(packed ?? Buffer.alloc(0))
  return Array.from({ length: numbers.byteLength / 8 }, (_, at) => int8At(numbers, at * 8))
}

/** The quotes with these ids, without deleted and voided ones, and without superseded offers that count as nothing. */
export async function readQuotesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly number[],
): Promise<PackedQuotes> {
  return packedQuotes(
    transaction,
    sql`quotes where tenant_id = ${tenant} and voided_at is null and ${isEvidence} and lane_id = any(${[...lanes]}::bigint[])`,
  )
}
