import Papa from 'papaparse'
import type { ScaleQuote } from './scale-quotes.ts'

const dollars = (cents: number | null | undefined) => (cents == null ? '' : cents / 100)
const time = (at: number | null | undefined) => (at == null ? '' : new Date(at).toISOString())

/** Formats quotes as a CSV file for import, with a header. */
export function csvOf(quotes: readonly ScaleQuote[]): Buffer {
  return Buffer.from(
    Papa.unparse(
      quotes.map(({ lane, booking, ...quote }) => ({
        origin: lane.origin,
        destination: lane.destination,
        equipment: lane.equipment,
        customer_name: quote.customerName,
        quoted_rate: dollars(quote.quotedRateCents),
        estimated_cost: dollars(quote.estimatedCostCents),
        market_rate: dollars(quote.marketRateCents),
        pickup_date: quote.pickupDate,
        quoted_at: time(quote.quotedAt),
        outcome: quote.outcome,
        outcome_reason: quote.outcomeReason ?? '',
        decided_at: time(quote.decidedAt),
        customer_rate: dollars(booking?.customerRateCents),
        truck_cost: dollars(booking?.truckCostCents),
        carrier_name: booking?.carrierName ?? '',
        carrier_mc: booking?.carrierMc ?? '',
        booked_at: time(booking?.bookedAt),
      })),
    ),
  )
}
