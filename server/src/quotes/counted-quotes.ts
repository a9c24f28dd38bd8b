import type { CountedAmounts } from '#engine/counted-amounts.ts'
import { customerKey } from '#engine/customer-name.ts'
import type { LandedAmounts, RateBasis } from '#engine/rate-basis.ts'
import { conversions, countedQuote } from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { countedMiles } from './lane-places.ts'

/**
 * AR and AP of booked quotes, by lane_id, converted to US dollars on the default basis as statistics do. Omits voided quotes and
 * those that cannot be converted.
 */
export async function convertedBookings(
  transaction: TenantTransaction,
  tenant: TenantId,
  quotes: readonly QuoteRow[],
  basis: RateBasis,
): Promise<ReadonlyMap<number, LandedAmounts>> {
  const standing = quotes.filter((quote) => quote.voided_at === null)
  if (standing.length === 0) return new Map()
  const days = await conversions.conversionDays(transaction, tenant, {
    days: [...new Set(standing.map((quote) => quote.created_at.toISOString().slice(0, 10)))],
    customerKeys: [...new Set(standing.map((quote) => customerKey(quote.quoted_customer_name)))],
  })
  return new Map(
    standing.flatMap((quote) => {
      const landed = landedIn(countedQuote(quote, { basis, days, miles: countedMiles(quote) }), basis)
      return landed === null ? [] : [[quote.lane_id, landed] as const]
    }),
  )
}

/** AR and AP of converted amounts; null if one of them is unknown. */
export function landedIn(amounts: CountedAmounts | null, basis: RateBasis): LandedAmounts | null {
  const { customerRateCents: revenueCents = null, truckCostCents: costCents = null } = amounts ?? {}
  return revenueCents === null || costCents === null
    ? null
    : { revenueCents, costCents, basis, currency: 'USD' }
}
