import { sql } from 'kysely'
import { costThatCounts, type Outcome, type PastQuote, rateThatCounts } from '#engine/history.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId, TenantVersions } from '../../session/index.ts'
import { defaultsOf } from '../people/people.ts'
import { conversionDays } from '../pricing/conversions.ts'
import { countedColumns, countedQuote } from './amount-columns.ts'
import { countedOutcome, isDirectLoad, isLostForOtherReason, rateTypeOf } from './quote-conditions.ts'

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
  ...countedColumns,
  'lane_id',
  'origin_state',
  'destination_state',
  'equipment_code',
] as const

/** A quote with the rate and the cost that pricing uses; null if its amounts cannot be converted. */
function counted(
  row: Pick<QuoteRow, (typeof quoteColumns)[number]> &
    Pick<TenantQuote, 'outcome' | 'otherReason' | 'rateType'>,
  by: Parameters<typeof countedQuote>[1],
): TenantQuote | null {
  const amounts = countedQuote(row, by)
  if (amounts === null) return null
  const { quotedCents, estimatedCents, expectedCents, customerRateCents, truckCostCents } = amounts
  return {
    quoteId: row.lane_id,
    miles: by.miles,
    originKey: row.origin_key,
    destinationKey: row.destination_key,
    originState: row.origin_state,
    destinationState: row.destination_state,
    equipmentCode: row.equipment_code,
    rateCents: rateThatCounts({ quotedRateCents: quotedCents, customerRateCents }),
    costCents: costThatCounts({ estimatedCostCents: estimatedCents, truckCostCents }),
    truckCostCents,
    quotedRateCents: quotedCents,
    quotedCostCents: estimatedCents || expectedCents || null,
    quotedAt: row.created_at.getTime(),
    outcome: row.outcome,
    otherReason: row.otherReason,
    rateType: row.rateType,
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
  /** True for a quote that was lost for another reason than its price. */
  readonly otherReason: boolean
  /** The truck cost that was known when the quote was made: the rep's estimate, else the cost expected then. */
  readonly quotedCostCents: number | null
}

/** Quotes read by one statement, which takes some ten milliseconds. Other work runs between two statements. */
const quotesPerReadMax = 2_000

/**
 * The newest quotes of direct truckloads of a tenant (since a time, when one is given), at most `max`, oldest first.
 *
 * @param milesOf the miles of a quote that count
 */
export async function readTenantQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    since,
    max,
    perReadMax = quotesPerReadMax,
    milesOf,
  }: {
    readonly since: Date | null
    readonly max: number
    readonly perReadMax?: number
    readonly milesOf: (quote: Pick<QuoteRow, 'origin_key' | 'destination_key' | 'miles'>) => number | null
  },
): Promise<TenantQuote[]> {
  const { basis } = await defaultsOf(transaction, tenant)
  const days = await conversionDays(transaction, tenant)
  let query = transaction
    .selectFrom('quotes')
    .select(quoteColumns)
    .select(rateTypeOf(tenant).as('rateType'))
    // A superseded offer that was refused counts as a lost quote, as in the book.
    .select(
      sql<Outcome>`case when superseded_by is null then ${countedOutcome(tenant)} else 'lost' end`.as(
        'outcome',
      ),
    )
    .select(isLostForOtherReason.as('otherReason'))
    .where('tenant_id', '=', tenant)
    .where('voided_at', 'is', null)
    .where(isDirectLoad)
    .where(sql<boolean>`(superseded_by is null or superseded_as = 'refused')`)
    .orderBy('created_at', 'desc')
    .orderBy('lane_id', 'desc')
  if (since !== null) query = query.where('created_at', '>=', since)
  const quotes: TenantQuote[] = []
  let part = query
  for (;;) {
    const asked = Math.min(perReadMax, max - quotes.length)
    const rows = await part.limit(asked).execute()
    for (const row of rows) {
      const quote = counted(row, { basis, days, miles: milesOf(row) })
      if (quote !== null) quotes.push(quote)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < asked || quotes.length >= max) return quotes.reverse()
    const { created_at, lane_id: quoteId } = last
    // As text, because a Date would lose microseconds, which rows written by other programs may have.
    const row = await transaction
      .selectFrom('quotes')
      .select(sql<string>`created_at::text`.as('at'))
      .where('tenant_id', '=', tenant)
      .where('lane_id', '=', quoteId)
      .executeTakeFirst()
    const at = row?.at ?? created_at.toISOString()
    part = query.where(sql<boolean>`(created_at, lane_id) < (${at}::timestamptz, ${quoteId}::bigint)`)
  }
}
