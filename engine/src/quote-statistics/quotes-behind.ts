/**
 * Which quotes are counted in a figure of Results, such as "quoted too low"? The list behind the figure shows exactly these.
 */

import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS, type QuoteColumns } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import type { LowestRate } from './lowest-rates.ts'
import { comparedShipment } from './margin-gaps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/** A figure whose quotes can be listed. */
export type FigureOfQuotes =
  | 'lost_to_cost'
  | 'lost_to_rate'
  | 'landed_vs_quoted'
  | 'quoted_too_low'
  | 'booked_at_a_loss'

/** The ids of the selected quotes that count in a figure, in no particular order. */
export function* quotesBehind(
  { columns, apart }: Pick<QuoteBook, 'columns' | 'apart'>,
  figure: FigureOfQuotes,
  { isSelected, lowestRate }: { readonly isSelected: IsSelected; readonly lowestRate: LowestRate },
): Steps<number[]> {
  const found: number[] = []
  // Quotes in `apart` count, too: AR and AP on the same terms can be compared even if the quoted rate cannot be converted.
  for (const of of figure === 'booked_at_a_loss' ? [columns, apart] : [columns]) {
    for (let row = 0; row < of.rows; row++) {
      if (row % ROWS_PER_STEP === 0) yield
      if (of.lane[row]! < 0 || !counts(of, row, figure, lowestRate)) continue
      if (isSelected(of, row)) found.push(of.quoteId[row]!)
    }
  }
  return found
}

function counts(columns: QuoteColumns, row: number, figure: FigureOfQuotes, lowestRate: LowestRate): boolean {
  switch (figure) {
    case 'lost_to_cost': {
      const shipment = comparedShipment(columns, row)
      return shipment !== null && shipment.truckCostCents > shipment.quotedCostCents
    }
    case 'lost_to_rate': {
      const shipment = comparedShipment(columns, row)
      return shipment !== null && shipment.quotedRateCents > shipment.customerRateCents
    }
    case 'landed_vs_quoted':
      return comparedShipment(columns, row) !== null
    case 'quoted_too_low': {
      const quoted = columns.quotedCents[row]!
      return quoted !== 0 && lowestRate(columns, row) > quoted
    }
    case 'booked_at_a_loss':
      return (columns.facts[row]! & FACTS.atALoss) !== 0
  }
}
