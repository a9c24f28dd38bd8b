import { type RawBuilder, sql } from 'kysely'
import type { Experiment } from '#engine/pilot/experiment.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import type { StoredRule, TenantTransaction } from '../../schema/index.ts'
import type { TenantId, TenantVersions } from '../../session/index.ts'
import { isMixed } from '../performance/compared-basis.ts'
import { rulesInForce } from '../pricing/pricing-rules.ts'

/** The settings of a brokerage that pricing applies to its quotes. */
export interface BookSettings {
  readonly method: WinProbabilityMethod
  /** The pricing rules that are on. */
  readonly rules: readonly PricingRule[]
  /** Whether the book has expired quotes as lost, not as pending. */
  readonly expiredCountsAsLost: boolean
  /** The basis of all amounts of the book. */
  readonly basis: RateBasis
  /** Whether an amount of a quote is on the other basis: such quotes were converted, or left out. */
  readonly mixed: boolean
  /** The number of changes of fuel schedules and prices, which amounts are converted with. */
  readonly conversions: number
  /** The running experiment with suggested rates; null if there is none. */
  readonly experiment: Experiment | null
}

/*
 * The binary record of a quote, and one text for its places. A row for each quote would take the driver thirty times as
 * long, because it parses and names each value. Places cannot contain control characters, so these separate them. The
 * outcome byte is an index of the engine's `OUTCOMES`, plus its `WEEKEND_BIT` for a pickup on Saturday or Sunday. The
 * customer is a hash of its key: of a thousand customers, two have the same hash in one of ten thousand brokerages, and then
 * share their effect on the estimate.
 */
const record = sql`int8send(lane_id) || timestamptz_send(created_at) || float8send(coalesce(miles, 'NaN'))
  || int4send(coalesce(customer_rate_cents, quoted_rate_cents))
  || int4send(coalesce(truck_cost_cents, estimated_cost_cents, -1))
  || case when extract(isodow from pickup_date) >= 6
    then case outcome when 'won' then '\\x05'::bytea when 'lost' then '\\x06'::bytea else '\\x04'::bytea end
    else case outcome when 'won' then '\\x01'::bytea when 'lost' then '\\x02'::bytea else '\\x00'::bytea end end
  || int4send(hashtext(customer_key))`
export const recordBytes = 37
export const unitSeparator = '\u001f'
export const recordSeparator = '\u001e'
const placeColumns = [
  sql`origin_key`,
  sql`destination_key`,
  sql`origin_state`,
  sql`destination_state`,
  sql`coalesce(origin_market, '')`,
  sql`coalesce(destination_market, '')`,
  sql`equipment_code`,
]
// Not concat_ws, which takes three times as long.
const places = sql.join(placeColumns, sql` || ${sql.lit(unitSeparator)} || `)

/** The columns that `record` and `places` read: a subquery that selected all columns took a fifth longer. */
const packedColumns = [
  'lane_id',
  'created_at',
  'miles',
  'customer_rate_cents',
  'quoted_rate_cents',
  'truck_cost_cents',
  'estimated_cost_cents',
  'outcome',
  'pickup_date',
  'origin_key',
  'destination_key',
  'origin_state',
  'destination_state',
  'origin_market',
  'destination_market',
  'equipment_code',
  'customer_key',
] as const

/** Many quotes as the database returns them: records one after the other, and their places in the same order. */
export interface PackedQuotes {
  readonly records: Buffer | null
  readonly places: string | null
}

/** @param lanes the source of the rows: the view `counted_lanes` with a condition, or a subquery of it */
async function packedQuotes(
  transaction: TenantTransaction,
  lanes: RawBuilder<unknown>,
): Promise<PackedQuotes> {
  const { rows } = await sql<PackedQuotes>`
    select string_agg(${record}, ''::bytea) as records, string_agg(${places}, ${recordSeparator}) as places
    from ${lanes}
  `.execute(transaction)
  return rows[0] ?? { records: null, places: null }
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

export interface BookStanding {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /**
   * The number of lanes that changed after `since`, at most `changedMax` + 1; null if it is unknown which lanes changed,
   * because something other than advance_versions made a version since, or `since` is of another database.
   */
  readonly changed: number | null
}

/** Above this many changed quotes, opening the book again is quicker than following the changes. */
export const changedMax = 100_000

/**
 * The versions and settings of a brokerage, and what changed, in one statement so that they are of the same moment. It names
 * the tenant at each table: with `one.tenant_id` instead, Citus would ask every worker.
 */
export async function readBookStanding(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number | null,
): Promise<BookStanding> {
  const { rows } = await sql<{
    facts: number
    access: number
    method: WinProbabilityMethod
    rules: StoredRule[]
    expired_counts_as_lost: boolean | null
    default_basis: RateBasis
    mixed: boolean
    conversions: number
    seed: string | null
    changed: number | null
  }>`
    select coalesce(facts.facts_version, 0) as facts, coalesce(facts.access_version, 0) as access,
      one.win_probability_method as method, one.pricing_rules as rules,
      one.expired_counts_as_lost, one.default_basis, one.conversions, ${isMixed(tenant)} as mixed,
      case when pilot.active then pilot.experiment ->> 'seed' end as seed,
      case
        when ${since}::bigint = coalesce(facts.facts_version, 0) then 0
        when ${since}::bigint between facts.unlogged_version and facts.facts_version
          and facts.logged_version = facts.facts_version then newer.count
      end as changed
    from tenants as one
    left join tenant_facts as facts on facts.tenant_id = ${tenant}
    left join pilots as pilot on pilot.tenant_id = ${tenant}
    cross join lateral (
      select count(*) from (
        select from lane_versions as known
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
      mixed: row?.mixed ?? false,
      conversions: row?.conversions ?? 0,
      experiment: row?.seed == null ? null : { seed: row.seed },
    },
    changed: row?.changed ?? null,
  }
}

/** A position in the order of lists: creation time in microseconds since 2000 (see `foreverUs`), and id. */
export interface QuotePlace {
  readonly us: bigint
  readonly laneId: number
}

/** PostgreSQL's binary form of the time `infinity`; `-infinity` is `-foreverUs - 1`. */
const foreverUs = 2n ** 63n - 1n

/** A position before the newest quote. */
export const beforeAnyQuote: QuotePlace = { us: foreverUs, laneId: Number.MAX_SAFE_INTEGER }

/** The exact time: a Date would lose microseconds, which rows written by other programs may have. */
function moment(us: bigint): RawBuilder<Date> {
  if (us === foreverUs) return sql`'infinity'::timestamptz`
  if (us === -foreverUs - 1n) return sql`'-infinity'::timestamptz`
  const [seconds, rest] = [String(us / 1_000_000n), String(us % 1_000_000n)]
  return sql`'2000-01-01 00:00:00Z'::timestamptz + ${seconds}::bigint * interval '1 second'
    + ${rest}::bigint * interval '1 microsecond'`
}

/** The settings that decide how `counted_lanes` counts a quote. */
export type CountingSettings = Pick<BookSettings, 'mixed' | 'expiredCountsAsLost'>

/**
 * The quotes that statistics count. Where no amount is converted, the table is read without the view `counted_lanes`, whose
 * conditions take a quarter of the time. A lane that gets an amount on another basis meanwhile gets a new version, too.
 */
function countedSource(
  tenant: TenantId,
  { mixed, expiredCountsAsLost }: CountingSettings,
): RawBuilder<unknown> {
  if (mixed) return sql`counted_lanes`
  const columns = packedColumns.filter((column) => column !== 'outcome').map((column) => sql.ref(column))
  return sql`(
    select tenant_id, ${sql.join(columns)},
      case when outcome <> 'expired' then outcome else ${sql.lit(expiredCountsAsLost ? 'lost' : 'pending')} end as outcome
    from lanes where tenant_id = ${tenant} and voided_at is null
  ) as counted`
}

/** The newest quotes before a position, at most `max`, and the position of the oldest of them; null at the end. */
export async function readQuotesBefore(
  transaction: TenantTransaction,
  tenant: TenantId,
  settings: CountingSettings,
  { before, max }: { readonly before: QuotePlace; readonly max: number },
): Promise<{ end: QuotePlace | null; packed: PackedQuotes }> {
  // Forces the index of lists: the planner's statistics may be out of date for a table that has just grown.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`.execute(
    transaction,
  )
  const older = sql<boolean>`(created_at, lane_id) < (${moment(before.us)}, ${before.laneId}::bigint)`
  const packed = await packedQuotes(
    transaction,
    sql`(
      select ${sql.join(packedColumns.map((column) => sql.ref(column)))} from ${countedSource(tenant, settings)}
      where tenant_id = ${tenant} and ${older}
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
  // Both halves of a time are compared as plain numbers: this loop needs no BigInt per quote.
  let oldest = 0
  for (let at = recordBytes; at < numbers.byteLength; at += recordBytes) {
    const order =
      numbers.getInt32(at + 8) - numbers.getInt32(oldest + 8) ||
      numbers.getUint32(at + 12) - numbers.getUint32(oldest + 12) ||
      int8At(numbers, at) - int8At(numbers, oldest)
    if (order < 0) oldest = at
  }
  return { us: numbers.getBigInt64(oldest + 8), laneId: int8At(numbers, oldest) }
}

/**
 * The ids of the lanes that changed after version `since`. There is no upper bound: a lane that changes again while this
 * runs has a newer version, and its earlier change would be missed.
 */
export async function readChangedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number,
): Promise<number[]> {
  const { rows } = await sql<{ ids: Buffer | null }>`
    select string_agg(int8send(lane_id), ''::bytea) as ids from lane_versions
    where tenant_id = ${tenant} and version > ${since}::bigint
  `.execute(transaction)
  const ids = rows[0]?.ids ?? Buffer.alloc(0)
  const numbers = viewOf(ids)
  return Array.from({ length: ids.length / 8 }, (_, at) => int8At(numbers, at * 8))
}

/** The quotes with these ids, without deleted and voided ones. */
export async function readQuotesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly number[],
): Promise<PackedQuotes> {
  return packedQuotes(
    transaction,
    sql`counted_lanes where tenant_id = ${tenant} and lane_id = any(${[...lanes]}::bigint[])`,
  )
}
