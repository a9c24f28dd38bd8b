import { sql } from 'kysely'
import { type Offer, type SupersededAs, supersededOffers } from '#engine/offers.ts'
import { isBooked } from '#engine/shipment-update.ts'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { type BookedColumns, bookingOf } from './booking-columns.ts'

/** The columns that decide which offer of a load counts. */
export const offerColumns = [
  'outcome',
  'voided_at',
  'customer_rate_cents',
  'truck_cost_cents',
  'quoted_rate_cents',
  'quoted_basis',
  'quoted_currency',
  'counter_rate_cents',
  // A rollback may restore these two. They must then be derived again.
  'superseded_by',
  'superseded_as',
] as const satisfies readonly (keyof QuoteRow)[]

/** An offer for a load: the columns of its row that are read here. */
export type OfferRow = BookedColumns &
  Pick<QuoteRow, (typeof offerColumns)[number] | 'lane_id' | 'lane_ref' | 'quote_count'>

/** Whether a change of these columns can change which offer of a load counts. */
export function decidesOffers(held: Readonly<Record<string, unknown>>): boolean {
  return offerColumns.some((column) => held[column] !== undefined)
}

function offerOf(row: OfferRow): Offer {
  return {
    count: row.quote_count,
    isVoid: row.voided_at !== null,
    isBooked: isBooked(bookingOf(row)),
    outcome: row.outcome,
    rateCents: row.quoted_rate_cents,
    terms: `${row.quoted_basis ?? ''} ${row.quoted_currency ?? 'USD'}`,
    isCountered: row.counter_rate_cents !== null,
  }
}

/** The offers of one load whose saved superseded_by or superseded_as is wrong, with the right values. */
export function supersedingOf<Row extends OfferRow>(
  offers: readonly Row[],
): {
  readonly row: Row
  readonly next: { superseded_by: string | null; superseded_as: SupersededAs | null }
}[] {
  const refs = new Map(offers.map(({ quote_count, lane_ref }) => [quote_count, lane_ref]))
  return supersededOffers(offers.map(offerOf)).flatMap((standing, nth) => {
    const row = offers[nth]
    const [by, as] = standing === null ? [null, null] : [refs.get(standing.by) ?? null, standing.as]
    if (row === undefined || (row.superseded_by === by && row.superseded_as === as)) return []
    return [{ row, next: { superseded_by: by, superseded_as: as } }]
  })
}

/**
 * The loads of these requests that were quoted more than once: the offers of each, locked until the end of the transaction in
 * the order of lane_id.
 */
export async function lockLoads(
  transaction: TenantTransaction,
  tenant: TenantId,
  requestIds: readonly number[],
): Promise<QuoteRow[][]> {
  if (requestIds.length === 0) return []
  const { rows } = await sql<QuoteRow>`
    select quotes.* from quotes
    where quotes.tenant_id = ${tenant} and quotes.request_id = any(${[...new Set(requestIds)]}::bigint[])
      and exists (
        select from quotes as other
        where other.tenant_id = ${tenant} and other.request_id = quotes.request_id
          and other.lane_number = quotes.lane_number and other.quote_count > 1
      )
    order by quotes.lane_id for update of quotes
  `.execute(transaction)
  return [...Map.groupBy(rows, ({ request_id, lane_number }) => `${request_id}-${lane_number}`).values()]
}
