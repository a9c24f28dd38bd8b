/** What did the selected shipments earn, and how much of the quoted margin landed? Sums over the booked quotes in the book. */

import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { comparedShipment } from './margin-gaps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/** Figures over a list of shipments, in whole cents. */
export interface ShipmentTotals {
  readonly shipments: number
  /** Cancelled bookings. No other figure includes them. */
  readonly cancelled: number
  readonly customerRateCents: number
  readonly truckCostCents: number
  readonly withMargin: number
  readonly marginCents: number
  /** Total AR of the shipments whose AR and AP are both known: the denominator of the margin percentage. */
  readonly marginBaseCents: number
  readonly withQuotedMargin: number
  readonly quotedMarginCents: number
  readonly comparable: number
  /** Landed minus quoted margin, over the shipments where both are known. */
  readonly landedVsQuotedCents: number
}

const LANDED = FACTS.customerRate | FACTS.truckCost

/** The totals of the selected quotes that have a booking or a cancelled one. A cancelled booking has neither AR nor AP. */
export function* shipmentTotals(
  { columns }: Pick<QuoteBook, 'columns'>,
  isSelected: IsSelected,
): Steps<ShipmentTotals> {
  const totals: { -readonly [Name in keyof ShipmentTotals]: number } = { ...none }
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    const facts = columns.facts[row]!
    if (columns.lane[row]! < 0 || (facts & FACTS.booked) === 0 || !isSelected(columns, row)) continue
    const [revenue, cost] = [columns.rateCents[row]!, columns.costCents[row]!]
    if ((facts & FACTS.customerRate) !== 0) totals.customerRateCents += revenue
    if ((facts & FACTS.truckCost) !== 0) totals.truckCostCents += cost
    if ((facts & LANDED) === LANDED) {
      totals.withMargin++
      totals.marginCents += revenue - cost
      totals.marginBaseCents += revenue
    }
    const [quoted, quotedCost] = [columns.quotedCents[row]!, columns.quotedCostCents[row]!]
    if ((facts & FACTS.cancelled) !== 0) totals.cancelled++
    else {
      totals.shipments++
      if (quoted !== 0 && quotedCost !== 0) {
        totals.withQuotedMargin++
        totals.quotedMarginCents += quoted - quotedCost
      }
    }
    if (comparedShipment(columns, row) === null) continue
    totals.comparable++
    totals.landedVsQuotedCents += revenue - cost - (quoted - quotedCost)
  }
  return totals
}

const none = {
  shipments: 0,
  cancelled: 0,
  customerRateCents: 0,
  truckCostCents: 0,
  withMargin: 0,
  marginCents: 0,
  marginBaseCents: 0,
  withQuotedMargin: 0,
  quotedMarginCents: 0,
  comparable: 0,
  landedVsQuotedCents: 0,
} as const satisfies ShipmentTotals
