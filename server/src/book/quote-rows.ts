import { type RawBuilder, sql } from 'kysely'
import type { RateFloors } from '#engine/estimate/optimum.ts'
import type { Steps } from '#engine/steps.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import type { Database, TenantId, TenantTransaction, TenantVersions } from '../database/open-database.ts'
import { behindRequests } from '../database/patience.ts'
import { inTurns } from '../in-turns.ts'

/** Where a quote goes, and with what: quotes of one lane share it. */
export interface QuotePlaces {
  readonly originKey: string
  readonly destinationKey: string
  readonly originState: string
  readonly destinationState: string
  readonly originMarket: string | null
  readonly destinationMarket: string | null
  readonly equipmentCode: string
}

/** An outcome in one byte. */
export const outcomeCodes = { pending: 0, won: 1, lost: 2 } as const
export type OutcomeCode = (typeof outcomeCodes)[keyof typeof outcomeCodes]

/** Takes the quotes of one brokerage, in no particular order, and the ids of those that are no more. */
export interface QuoteSink {
  /** The number of a lane, the same for the same places and equipment. */
  lane(places: QuotePlaces): number
  /**
   * Takes a quote, or what has become of it: `lane` as `lane()` gave it, the time in whole epoch milliseconds, the rate and
   * the cost that count in cents (-1 where there is no cost), the miles (NaN where unknown).
   */
  put(
    lane: number,
    laneId: number,
    quotedAt: number,
    rateCents: number,
    costCents: number,
    outcome: OutcomeCode,
    miles: number,
  ): void
  /** Forgets a quote. It may be unknown. */
  remove(laneId: number): void
}

/** The settings of a brokerage by which its quotes are read. */
export interface BookSettings {
  readonly method: WinProbabilityMethod
  readonly floors: RateFloors
}

/** What was read: the versions at which the sink stands at least, and the settings of the same moment. */
export interface QuotesRead {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** Quotes that were put, and ids that were removed. */
  readonly put: number
  readonly removed: number
  /** Quotes whose time no clock can show: they are left out. */
  readonly skipped: number
}

/** Quotes that one statement reads: some 50 ms for the database, far below the time-out of a statement. */
export const quotesPerPortion = 20_000
/** Changed quotes from which on reading all of them anew is quicker, and holds up nobody. */
const changedMax = 100_000

/*
 * A quote as the database packs it, and one text for its places. A row for each quote would take the driver thirty times as
 * long: it would parse and name each value. Nobody can write a control character into a place.
 */
const record = sql`int8send(lane_id) || timestamptz_send(created_at) || float8send(coalesce(miles, 'NaN'))
  || int4send(coalesce(customer_rate_cents, quoted_rate_cents))
  || int4send(coalesce(truck_cost_cents, estimated_cost_cents, -1))
  || case outcome when 'won' then '\\x01'::bytea when 'lost' then '\\x02'::bytea else '\\x00'::bytea end`
const recordBytes = 33
const unitSeparator = '\u001f'
const recordSeparator = '\u001e'
const places = sql`concat_ws(${unitSeparator}, origin_key, destination_key, origin_state, destination_state,
  coalesce(origin_market, ''), coalesce(destination_market, ''), equipment_code)`

/** Many quotes as they come from the database. */
interface PackedQuotes {
  readonly records: Buffer | null
  readonly places: string | null
}

async function readPacked(
  transaction: TenantTransaction,
  tenant: TenantId,
  which: RawBuilder<boolean>,
): Promise<PackedQuotes> {
  const { rows } = await sql<PackedQuotes>`
    select string_agg(${record}, ''::bytea) as records, string_agg(${places}, ${recordSeparator}) as places
    from lanes where tenant_id = ${tenant} and ${which}
  `.execute(transaction)
  return rows[0] ?? { records: null, places: null }
}

/** PostgreSQL counts microseconds from the year 2000. */
const postgresEpochMs = Date.UTC(2000, 0, 1)
/** The largest distance from 1970 that a Date can have, in milliseconds. */
const dateMsMax = 8.64e15
const wordSize = 2 ** 32

/** An integer of eight bytes. Ids and the times of the next 250 years are far below 2^53. */
function int8At(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * wordSize + bytes.readUInt32BE(at + 4)
}

/** Quotes that are put in one step: each may have its lane folded, some 20 us. */
const quotesPerStep = 50

/** Puts packed quotes into a sink. `seen` is told the id of each. The numbers of lanes are kept for the next portion. */
export function* putInSteps(
  { records, places: texts }: PackedQuotes,
  sink: QuoteSink,
  lanes: Map<string, number>,
  seen?: (laneId: number) => void,
): Steps<{ put: number; skipped: number }> {
  if (records === null || texts === null) return { put: 0, skipped: 0 }
  const lists = texts.split(recordSeparator)
  if (lists.length * recordBytes !== records.length)
    throw new Error('The quotes and their places do not match.')
  yield
  let skipped = 0
  for (const [index, text] of lists.entries()) {
    if (index % quotesPerStep === quotesPerStep - 1) yield
    const at = index * recordBytes
    const laneId = int8At(records, at)
    const quotedAt = Math.floor(int8At(records, at + 8) / 1000) + postgresEpochMs
    seen?.(laneId)
    if (Math.abs(quotedAt) > dateMsMax) {
      sink.remove(laneId)
      skipped++
      continue
    }
    let lane = lanes.get(text)
    if (lane === undefined) {
      lane = sink.lane(placesIn(text))
      lanes.set(text, lane)
    }
    sink.put(
      lane,
      laneId,
      quotedAt,
      records.readInt32BE(at + 24),
      records.readInt32BE(at + 28),
      records.readUInt8(at + 32) as OutcomeCode,
      records.readDoubleBE(at + 16),
    )
  }
  return { put: lists.length - skipped, skipped }
}

function placesIn(text: string): QuotePlaces {
  const [
    originKey,
    destinationKey,
    originState,
    destinationState,
    originMarket,
    destinationMarket,
    equipmentCode,
    ...more
  ] = text.split(unitSeparator)
  if (
    originKey === undefined ||
    destinationKey === undefined ||
    originState === undefined ||
    destinationState === undefined ||
    equipmentCode === undefined ||
    more.length > 0
  )
    throw new Error('The places of a quote cannot be told apart.')
  return {
    originKey,
    destinationKey,
    originState,
    destinationState,
    originMarket: originMarket || null,
    destinationMarket: destinationMarket || null,
    equipmentCode,
  }
}

interface Standing {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** Versions of the facts that the log of changes has after the one that was asked with, and the lanes it names. */
  readonly logged: number
  readonly named: number
}

/** Where a brokerage stands. One statement, so that versions, settings and log are of one moment. */
async function readStanding(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number | null,
): Promise<Standing> {
  const { rows } = await sql<{
    facts: number
    access: number
    method: WinProbabilityMethod
    margin_pct: number | null
    margin_cents: number | null
    rate_per_mile_cents: number | null
    logged: number
    named: number
  }>`
    select coalesce(facts.facts_version, 0) as facts, coalesce(facts.access_version, 0) as access,
      one.win_probability_method as method, one.floor_margin_pct as margin_pct,
      one.floor_margin_cents as margin_cents, one.floor_rate_per_mile_cents as rate_per_mile_cents, logged, named
    from tenants as one
    left join tenant_facts as facts on facts.tenant_id = one.tenant_id
    cross join lateral (
      select count(*) as logged, coalesce(sum(cardinality(changes.lanes)), 0)::bigint as named
      from quote_changes as changes
      where changes.tenant_id = one.tenant_id and changes.version > ${since}::bigint
        and changes.version <= facts.facts_version
    ) as log
    where one.tenant_id = ${tenant}
  `.execute(transaction)
  const [row] = rows
  return {
    versions: { facts: row?.facts ?? 0, access: row?.access ?? 0 },
    settings: {
      method: row?.method ?? 'at_or_below',
      floors: {
        marginPct: row?.margin_pct ?? null,
        marginCents: row?.margin_cents ?? null,
        rateCentsPerMile: row?.rate_per_mile_cents ?? null,
      },
    },
    logged: row?.logged ?? 0,
    named: row?.named ?? 0,
  }
}

/** The newest quote of all is older than this. */
const beforeAnyQuote = { at: 'infinity', laneId: Number.MAX_SAFE_INTEGER }

/**
 * Puts all quotes of a brokerage into a sink, newest first, some thousands at a time: each portion is a transaction of its
 * own, and everybody else is served in between. What changes meanwhile comes with the next `followQuotes`.
 *
 * @throws what `onPortion` throws: it is told how many quotes the sink has so far
 */
export async function openQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  sink: QuoteSink,
  {
    perPortion = quotesPerPortion,
    onPortion = () => {},
  }: { readonly perPortion?: number; readonly onPortion?: (put: number) => void } = {},
): Promise<QuotesRead> {
  return behindRequests(async () => {
    // The versions first: whatever is committed after it is in the log of changes above them.
    const { versions, settings } = await database.inTenant(tenant, (transaction) =>
      readStanding(transaction, tenant, null),
    )
    const lanes = new Map<string, number>()
    let put = 0
    let skipped = 0
    // Through the index of lists: quotes of one time lie together, so that a portion is read from few pages.
    for (let before: typeof beforeAnyQuote | null = beforeAnyQuote; before !== null; ) {
      const from: typeof beforeAnyQuote = before
      const { end, packed } = await database.inTenant(tenant, (transaction) =>
        readPortion(transaction, tenant, from, perPortion),
      )
      const done = await inTurns(putInSteps(packed, sink, lanes))
      put += done.put
      skipped += done.skipped
      onPortion(put)
      before = end
    }
    return { versions, settings, put, removed: 0, skipped }
  })
}

/** The quotes before a moment, newest first, and the last of them; null where there are no more. */
async function readPortion(
  transaction: TenantTransaction,
  tenant: TenantId,
  before: typeof beforeAnyQuote,
  perPortion: number,
): Promise<{ end: typeof beforeAnyQuote | null; packed: PackedQuotes }> {
  // Whatever the planner believes of a table that has just grown: each portion is found through the index.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`.execute(
    transaction,
  )
  const older = sql<boolean>`(created_at, lane_id) < (${before.at}::timestamptz, ${before.laneId}::bigint)`
  // As text: a Date has no microseconds, which rows that another program wrote may have.
  const { rows } = await sql<{ at: string; laneId: number }>`
    select created_at::text as at, lane_id as "laneId" from lanes where tenant_id = ${tenant} and ${older}
    order by created_at desc, lane_id desc offset ${perPortion - 1} limit 1
  `.execute(transaction)
  const [end = null] = rows
  const which =
    end === null
      ? older
      : sql<boolean>`${older} and (created_at, lane_id) >= (${end.at}::timestamptz, ${end.laneId}::bigint)`
  return { end, packed: await readPacked(transaction, tenant, which) }
}

/**
 * Brings a sink that stands at a version of the facts to the newest: reads the quotes that changed since, and removes those
 * that are no more. `'gone'` when the log of changes does not reach back so far, or names so many quotes that opening anew
 * is quicker; then nothing was put or removed.
 */
export async function followQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  since: number,
  sink: QuoteSink,
): Promise<QuotesRead | 'gone'> {
  const found = await database.inTenant(tenant, async (transaction) => {
    const standing = await readStanding(transaction, tenant, since)
    const { facts } = standing.versions
    // A version that is missing was pruned, or made by somebody who says nothing of lanes, or in another database.
    if (standing.logged !== facts - since || standing.named > changedMax) return 'gone'
    const ids = standing.named === 0 ? [] : await changedSince(transaction, tenant, since, facts)
    const portions: PackedQuotes[] = []
    for (let start = 0; start < ids.length; start += quotesPerPortion) {
      const some = ids.slice(start, start + quotesPerPortion)
      portions.push(await readPacked(transaction, tenant, sql<boolean>`lane_id = any(${some}::bigint[])`))
    }
    return { standing, ids, portions }
  })
  if (found === 'gone') return found
  const { standing, ids, portions } = found
  const left = new Set(ids)
  const lanes = new Map<string, number>()
  let put = 0
  let skipped = 0
  for (const packed of portions) {
    const done = await inTurns(putInSteps(packed, sink, lanes, (laneId) => left.delete(laneId)))
    put += done.put
    skipped += done.skipped
  }
  for (const laneId of left) sink.remove(laneId)
  return { versions: standing.versions, settings: standing.settings, put, removed: left.size, skipped }
}

/** The lanes that the log names between two versions, each once. */
async function changedSince(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: number,
  until: number,
): Promise<number[]> {
  const { rows } = await sql<{ ids: Buffer | null }>`
    select string_agg(int8send(id), ''::bytea) as ids from (
      select distinct unnest(lanes) as id from quote_changes
      where tenant_id = ${tenant} and version > ${since}::bigint and version <= ${until}::bigint
    ) as changed
  `.execute(transaction)
  const ids = rows[0]?.ids ?? Buffer.alloc(0)
  return Array.from({ length: ids.length / 8 }, (_, at) => int8At(ids, at * 8))
}
