import { sql } from 'kysely'
import { costThatCounts, type PastQuote, rateThatCounts } from '#engine/history.ts'
import type { TenantId, TenantTransaction } from './open-database.ts'

/** Which lanes a history is of. Each member narrows it; none at all is everything the tenant quoted. */
export interface HistoryOf {
  readonly corridor?: { readonly originKey: string; readonly destinationKey: string }
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

/** The newest quotes of a scope that are read: more would take the database past its time-out, and hold up other answers. */
const historyQuotesMax = 100_000

/** The newest quotes of a lane or a wider scope, at most `max`, oldest first, each with the rate and the cost that count. */
export async function readHistory(
  transaction: TenantTransaction,
  tenant: TenantId,
  of: HistoryOf,
  max: number = historyQuotesMax,
): Promise<HistoryQuote[]> {
  let query = transaction
    .selectFrom('lanes')
    .select([...quoteColumns, 'lane_ref as laneRef'])
    .where('tenant_id', '=', tenant)
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
  const rows = await query.orderBy('created_at', 'desc').orderBy('lane_id', 'desc').limit(max).execute()
  return rows.reverse().map(counted)
}

/** Wins and decided quotes of a whole tenant: what a lane is compared with. */
export async function tenantTotals(
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

/** The version of a tenant's facts: it moves on with every committed change of its lanes. */
export async function factsVersion(transaction: TenantTransaction, tenant: TenantId): Promise<number> {
  const row = await transaction
    .selectFrom('tenant_facts')
    .select('facts_version')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return row?.facts_version ?? 0
}

/** Quotes read by one statement: a busy machine reads as many well within a statement's time-out. */
const quotesPerReadMax = 20_000

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
    part = query.where(sql<boolean>`(created_at, lane_id) < (${created_at}, ${laneId}::bigint)`)
  }
}
