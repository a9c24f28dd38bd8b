import { sql } from 'kysely'
import { BUCKET_DAYS } from '#engine/buckets.ts'
import { HAUL_QUOTES_MAX, type MeasuredQuote } from '#engine/estimate/rate-by-miles.ts'
import { costThatCounts, type Outcome, type PastQuote, rateThatCounts } from '#engine/history.ts'
import type { HistoryCount } from '#engine/history-counts.ts'
import type { MilesCount } from '#engine/lane-insight.ts'
import type { RateCount } from '#engine/lane-rates.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import type { TenantId, TenantTransaction, TenantVersions } from './open-database.ts'

/** Two places between which quotes were made, in whatever equipment. */
interface Corridor {
  readonly originKey: string
  readonly destinationKey: string
}

/** Which lanes a history is of. Each member narrows it; none at all is everything the tenant quoted. */
export interface HistoryOf {
  readonly corridor?: Corridor
  /** Lanes from any of the one states to any of the others: a state pair, or a pair of regions. */
  readonly states?: { readonly origins: readonly string[]; readonly destinations: readonly string[] }
  readonly markets?: { readonly origin: string; readonly destination: string }
  readonly equipmentCode?: string
}

/** A quote and its lane. Of what was quoted and what was booked, it is the engine's to say which counts. */
const quoteColumns = [
  'lane_id as laneId',
  'outcome',
  'miles',
  'origin_key as originKey',
  'destination_key as destinationKey',
  'equipment_code as equipmentCode',
  'quoted_rate_cents as quotedRateCents',
  'customer_rate_cents as customerRateCents',
  'estimated_cost_cents as estimatedCostCents',
  'truck_cost_cents as truckCostCents',
  'created_at',
] as const

interface CountedRow {
  readonly quotedRateCents: number
  readonly customerRateCents: number | null
  readonly estimatedCostCents: number | null
  readonly truckCostCents: number | null
  readonly created_at: Date
}

/** A row with the rate and the cost that count, and its time as pricing takes it. */
function counted<Row extends CountedRow>({
  quotedRateCents,
  customerRateCents,
  estimatedCostCents,
  truckCostCents,
  created_at,
  ...quote
}: Row) {
  return {
    ...quote,
    rateCents: rateThatCounts({ quotedRateCents, customerRateCents }),
    costCents: costThatCounts({ estimatedCostCents, truckCostCents }),
    quotedAt: created_at.getTime(),
  }
}

export interface HistoryQuote extends PastQuote {
  readonly laneRef: string
  readonly equipmentCode: string
  readonly originKey: string
  readonly destinationKey: string
}

/** The lanes of a scope, in a query that says what is asked of them. */
function lanesOf(transaction: TenantTransaction, tenant: TenantId, of: HistoryOf) {
  let query = transaction.selectFrom('lanes').where('tenant_id', '=', tenant)
  if (of.corridor !== undefined) {
    query = query
      .where('origin_key', '=', of.corridor.originKey)
      .where('destination_key', '=', of.corridor.destinationKey)
  }
  if (of.states !== undefined) {
    query = query
      .where('origin_state', 'in', of.states.origins)
      .where('destination_state', 'in', of.states.destinations)
  }
  if (of.markets !== undefined) {
    query = query
      .where('origin_market', '=', of.markets.origin)
      .where('destination_market', '=', of.markets.destination)
  }
  if (of.equipmentCode !== undefined) query = query.where('equipment_code', '=', of.equipmentCode)
  return query
}

/** The newest quotes of a scope that are read: more would take the database past its time-out, and hold up other answers. */
const historyQuotesMax = 100_000

/** The newest quotes of a lane or a wider scope, at most `max`, oldest first, each with the rate and the cost that count. */
export async function readHistory(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
  max: number = historyQuotesMax,
): Promise<HistoryQuote[]> {
  const rows = await lanesOf(transaction, tenant, of)
    .select([...quoteColumns, 'lane_ref as laneRef'])
    .orderBy('created_at', 'desc')
    .orderBy('lane_id', 'desc')
    .limit(max)
    .execute()
  return rows.reverse().map(counted)
}

/** rateThatCounts, as the database says it. */
const rate = sql<number>`coalesce(customer_rate_cents, quoted_rate_cents)`
const quotes = sql<number>`count(*)`.as('quotes')

/** How often each rate of a scope was won, lost and not decided: all that advice on a rate is made of. */
export async function readRateCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
): Promise<RateCount[]> {
  // By outcome, too: one group for each costs the database less than three conditions for each quote.
  const counted = lanesOf(transaction, tenant, of)
    .select([rate.as('rateCents'), 'outcome', quotes])
    .groupBy([sql`1`, 'outcome'])
  // A large lane has thousands of rates: as rows they would take the driver longer than the database takes to count them.
  const rows = await transaction
    .selectFrom(counted.as('counted'))
    .select([
      'outcome',
      sql<number[]>`json_agg("rateCents")`.as('rates'),
      sql<number[]>`json_agg(quotes)`.as('quotes'),
    ])
    .groupBy('outcome')
    .execute()
  const counts = new Map<number, { rateCents: number; won: number; lost: number; pending: number }>()
  for (const { outcome, rates, quotes: more } of rows) {
    for (const [at, rateCents] of rates.entries()) {
      const count = counts.get(rateCents) ?? { rateCents, won: 0, lost: 0, pending: 0 }
      count[outcome] += more[at] ?? 0
      counts.set(rateCents, count)
    }
  }
  return [...counts.values()]
}

/** The first of the 30-day buckets that the database counts from: long before any quote, for it rounds towards it. */
const bucketsBefore = 10_000
const dayMs = 86_400_000
const bucketMs = BUCKET_DAYS * dayMs

/** The quotes of a scope counted by 30-day bucket and calendar month: all that lane insight is made of. */
export async function readHistoryCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
  now: number,
): Promise<HistoryCount[]> {
  // A bucket ends at now and holds it; the database's hold their beginning, so they begin a millisecond later.
  const end = now + 1
  // As UTC text: the driver writes a Date in the zone of the process, and so long ago zones were off by odd seconds.
  const first = new Date(end - bucketsBefore * bucketMs).toISOString()
  const bucket = sql<Date>`date_bin('30 days', created_at, ${first}::timestamptz)`
  // A month is asked for of days, not of quotes: of each quote it would be as dear as all the rest.
  const day = sql<Date>`date_bin('1 day', created_at, '2000-01-01 00:00:00Z'::timestamptz)`
  const days = lanesOf(transaction, tenant, of)
    .select([
      bucket.as('begins'),
      day.as('day'),
      'outcome',
      quotes,
      sql<number>`count(*) filter (where ${rate} > 0)`.as('priced'),
      sql<number>`sum(${rate})`.as('rate_sum'),
      sql<Date>`min(created_at)`.as('oldest'),
    ])
    .groupBy([sql`1`, sql`2`, 'outcome'])
  const countOf = (outcome: Outcome) =>
    sql<number>`coalesce(sum(quotes) filter (where outcome = ${sql.lit(outcome)}), 0)::bigint`.as(outcome)
  const rows = await transaction
    .selectFrom(days.as('days'))
    .select([
      'begins',
      sql<Date>`date_trunc('month', day, 'UTC')`.as('month'),
      countOf('won'),
      countOf('lost'),
      countOf('pending'),
      sql<number>`sum(priced)::bigint`.as('priced'),
      sql<number>`sum(rate_sum)::bigint`.as('rateSumCents'),
      sql<Date>`min(oldest)`.as('oldest'),
    ])
    .groupBy([sql`1`, sql`2`])
    .execute()
  return rows.map(({ begins, month, oldest, ...counts }) => ({
    ...counts,
    bucket: Math.max(-1, Math.round((end - begins.getTime()) / bucketMs) - 1),
    month: month.getUTCFullYear() * 12 + month.getUTCMonth(),
    oldestAt: oldest.getTime(),
  }))
}

/** The rates of a scope by miles: what an average over lanes of other lengths is made of. */
export async function readMilesCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
): Promise<MilesCount[]> {
  return lanesOf(transaction, tenant, of)
    .select([
      'miles',
      sql<number>`count(*)`.as('priced'),
      sql<number>`sum(${rate})::bigint`.as('rateSumCents'),
    ])
    .where(rate, '>', 0)
    .groupBy('miles')
    .execute()
}

/** On how many city pairs the decided quotes of a scope lie. */
export async function countDecidedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
): Promise<number> {
  // Grouped, not counted as distinct: that would sort a million pairs of names, in the place of hashing them.
  const pairs = lanesOf(transaction, tenant, of)
    .select(['origin_key', 'destination_key'])
    .where('outcome', '<>', 'pending')
    .groupBy(['origin_key', 'destination_key'])
  const { lanes } = await transaction
    .selectFrom(pairs.as('pairs'))
    .select(({ fn }) => fn.countAll<number>().as('lanes'))
    .executeTakeFirstOrThrow()
  return lanes
}

/** What every answer about a tenant's lanes starts from. */
export interface TenantStanding {
  /** At least the versions at which whatever is read after it in the same transaction stands. */
  readonly versions: TenantVersions
  readonly method: WinProbabilityMethod
}

/** Reads the versions first: facts that change between this and what is read next are found out by the next look. */
export async function readTenantStanding(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<TenantStanding> {
  const row = await transaction
    .selectFrom('tenants')
    .leftJoin('tenant_facts', 'tenant_facts.tenant_id', 'tenants.tenant_id')
    .select(['facts_version', 'access_version', 'win_probability_method as method'])
    .where('tenants.tenant_id', '=', tenant)
    .executeTakeFirst()
  // A tenant that changed nothing yet has no row of facts; one that there is not has nothing at all.
  return {
    versions: { facts: row?.facts_version ?? 0, access: row?.access_version ?? 0 },
    method: row?.method ?? 'at_or_below',
  }
}

/** How many quotes of a tenant were won, and decided, over all its lanes: what a lane is compared with. */
export async function readTotals(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ wins: number; decided: number }> {
  return transaction
    .selectFrom('lanes')
    .select([
      sql<number>`count(*) filter (where outcome = 'won')`.as('wins'),
      sql<number>`count(*) filter (where outcome <> 'pending')`.as('decided'),
    ])
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
}

/** A quote with the lane it was for, as models of a whole tenant take it. */
export interface TenantQuote extends PastQuote {
  readonly originKey: string
  readonly destinationKey: string
  readonly originState: string
  readonly destinationState: string
  readonly equipmentCode: string
  /** AP alone, without the estimate. */
  readonly truckCostCents: number | null
}

/** Quotes read by one statement: others have their turn between two, and reading so many rows takes some ten milliseconds. */
const quotesPerReadMax = 5_000

/** The newest quotes of a tenant (since a time, when one is given), at most `max`, oldest first. */
export async function readTenantQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  since: Date | null,
  max: number,
  perReadMax: number = quotesPerReadMax,
): Promise<TenantQuote[]> {
  let query = transaction
    .selectFrom('lanes')
    .select([...quoteColumns, 'origin_state as originState', 'destination_state as destinationState'])
    .where('tenant_id', '=', tenant)
    .orderBy('created_at', 'desc')
    .orderBy('lane_id', 'desc')
  if (since !== null) query = query.where('created_at', '>=', since)
  const quotes: TenantQuote[] = []
  let part = query
  for (;;) {
    const asked = Math.min(perReadMax, max - quotes.length)
    const rows = await part.limit(asked).execute()
    for (const row of rows) quotes.push({ ...counted(row), truckCostCents: row.truckCostCents })
    const last = rows.at(-1)
    if (last === undefined || rows.length < asked || quotes.length >= max) return quotes.reverse()
    const { created_at, laneId } = last
    // As text: a Date has no microseconds, which rows that another program wrote may have.
    const row = await transaction
      .selectFrom('lanes')
      .select(sql<string>`created_at::text`.as('at'))
      .where('tenant_id', '=', tenant)
      .where('lane_id', '=', laneId)
      .executeTakeFirst()
    const at = row?.at ?? created_at.toISOString()
    part = query.where(sql<boolean>`(created_at, lane_id) < (${at}::timestamptz, ${laneId}::bigint)`)
  }
}

/**
 * The quotes that a tenant's curve by miles is drawn from on a day (whole days since 1970, UTC), as `haulQuotes` picks them
 * from all there are: read through an index from the newest on, so that it takes as long for a million as for ten thousand.
 */
export async function readHaulQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  day: number,
): Promise<MeasuredQuote[]> {
  const madeBefore = async (end: number): Promise<MeasuredQuote[]> => {
    const rows = await transaction
      .selectFrom('lanes')
      .select(['lane_id as laneId', 'miles', rate.as('rateCents'), 'created_at'])
      .where('tenant_id', '=', tenant)
      .where('created_at', '<', new Date(end))
      .where('miles', 'is not', null)
      .where(rate, '>', 0)
      .orderBy('created_at', 'desc')
      .orderBy('lane_id', 'desc')
      .limit(HAUL_QUOTES_MAX)
      .execute()
    return rows.map(({ created_at, ...quote }) => ({ ...quote, quotedAt: created_at.getTime() }))
  }
  const earlier = await madeBefore(day * dayMs)
  return earlier.length > 0 ? earlier : madeBefore((day + 1) * dayMs)
}
