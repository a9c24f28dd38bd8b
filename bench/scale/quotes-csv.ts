import { utils, write } from '@e965/xlsx'
import Papa from 'papaparse'
import type { ScaleQuote } from './scale-quotes.ts'

const dollars = (cents: number | null | undefined) => (cents == null ? '' : cents / 100)
const time = (at: number | null | undefined) => (at == null ? '' : new Date(at).toISOString())

/** Formats quotes as a CSV file for import, with a header. */
export const csvOf = (quotes: readonly ScaleQuote[]): Buffer => Buffer.from(Papa.unparse(quotes.map(rowOf)))

/** Formats quotes as an Excel workbook for import, with dates and dollars in formats and three columns that are not imported. */
export function workbookOf(quotes: readonly ScaleQuote[]): Buffer {
  const rows = quotes.map((quote, at) => ({
    ...rowOf(quote),
    note: `Note ${at}`,
    trailer: at,
    weight: 40_000 - (at % 900),
  }))
  const sheet = utils.json_to_sheet(rows, { dense: true })
  for (const cells of sheet['!data'] ?? []) {
    for (const cell of cells) if (cell?.t === 'n') cell.z = '$#,##0.00'
  }
  const book = utils.book_new()
  utils.book_append_sheet(book, sheet, 'Loads')
  return write(book, { type: 'buffer', compression: true, bookSST: true }) as Buffer
}

function rowOf({ lane, booking, ...quote }: ScaleQuote) {
  return {
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
  }
}
