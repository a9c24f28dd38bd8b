import { sql } from 'kysely'
import { costThatCounts, type Outcome, type PastQuote, rateThatCounts } from '#engine/history.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId, TenantVersions } from '../../session/index.ts'
import { rateTypeOf } from '../pricing/rule-conditions.ts'
import { quotedCostCents } from './landed-margin.ts'

/** The versions of a tenant's facts and access. Anything read after this call has at least these versions. */
export async function readVersions(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<TenantVersions> {
  const row = await transaction
    .selectFrom('tenant_facts')
    .select(['facts_version', 'access_version'])
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  // A tenant without any change has no row in tenant_facts.
  return { facts: row?.facts_version ?? 0, access: row?.access_version ?? 0 }
}

const quoteColumns = [
  'lane_id as laneId',
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

/** A row with the rate and cost that pricing uses, and its time in epoch milliseconds. */
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

/** A quote and its lane, for models of a whole tenant. */
export interface TenantQuote extends PastQuote {
  readonly originKey: string
  readonly destinationKey: string
  readonly originState: string
  readonly destinationState: string
  readonly equipmentCode: string
  /** The actual carrier cost alone, not the estimated cost. */
  readonly truckCostCents: number | null
  readonly quotedRateCents: number
  readonly rateType: RateType
  /** The truck cost that was known when the quote was made: the rep's, else the one expected then. */
  readonly quotedCostCents: number | null
}

/** Quotes read by one statement, which takes some ten milliseconds. Other work runs between two statements. */
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
    .selectFrom('counted_lanes as lanes')
    .select([...quoteColumns, 'origin_state as originState', 'destination_state as destinationState'])
    .select([quotedCostCents.as('quotedCostCents'), rateTypeOf(tenant).as('rateType')])
    // A superseded offer that was refused is evidence as a lost quote, as in the book.
    .select(sql<Outcome>`case when superseded_by is null then outcome else 'lost' end`.as('outcome'))
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`(superseded_by is null or superseded_as = 'refused')`)
    .orderBy('created_at', 'desc')
    .orderBy('lane_id', 'desc')
  if (since !== null) query = query.where('created_at', '>=', since)
  const quotes: TenantQuote[] = []
  let part = query
  for (;;) {
    const asked = Math.min(perReadMax, max - quotes.length)
    const rows = await part.limit(asked).execute()
    for (const row of rows)
      quotes.push({
        ...counted(row),
        truckCostCents: row.truckCostCents,
        quotedRateCents: row.quotedRateCents,
      })
    const last = rows.at(-1)
    if (last === undefined || rows.length < asked || quotes.length >= max) return quotes.reverse()
    const { created_at, laneId } = last
    // As text: a Date would lose microseconds, which rows written by other programs may have.
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
