/**
 * On which shipments did you earn less than you quoted, and how much less? Counts and sums, largest gap first; no statistical
 * method.
 * docs/model.md, "Quoted and landed margin".
 */

import type { QuoteBook } from '../book/quote-book.ts'
import type { ComparedShipment } from '../performance.ts'
import { FACTS, type QuoteColumns } from '../quotes/quote-columns.ts'
import { firstInOrder } from '../statistics/first-in-order.ts'
import type { Steps } from '../steps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

const LANDED = FACTS.customerRate | FACTS.truckCost

/** The amounts of a row whose actual margin can be compared with the quoted one; null if one of them is unknown. */
export function comparedShipment(columns: QuoteColumns, row: number): ComparedShipment | null {
  const [quotedRateCents, quotedCostCents] = [columns.quotedCents[row], columns.quotedCostCents[row]]
  if ((columns.facts[row]! & LANDED) !== LANDED || !quotedRateCents || !quotedCostCents) return null
  return {
    quotedRateCents,
    quotedCostCents,
    customerRateCents: columns.rateCents[row]!,
    truckCostCents: columns.costCents[row]!,
  }
}

/** A shipment whose actual margin is below its quoted margin. */
export interface MarginGap extends ComparedShipment {
  readonly quoteId: number
  readonly shortfallCents: number
}

export interface MarginGaps {
  /** The gaps of a page, the largest first, then the newest quote. */
  readonly gaps: readonly MarginGap[]
  /** The number of shipments whose two margins are known. `below` of them have a gap. */
  readonly compared: number
  readonly below: number
  readonly shortfallCents: number
}

/** The last gap of a page. */
export interface GapCursor {
  readonly shortfallCents: number
  readonly quoteId: number
}

/** The selected shipments whose actual margin is below the quoted one, after `cursor`, and the totals of all of them. */
export function* marginGaps(
  { columns }: QuoteBook,
  isSelected: IsSelected,
  { cursor, limit }: { readonly cursor: GapCursor | null; readonly limit: number },
): Steps<MarginGaps> {
  const shortfalls = new Float64Array(columns.rows)
  const candidates = new Int32Array(columns.rows)
  let [left, compared, below, shortfallCents] = [0, 0, 0, 0]
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if (columns.lane[row]! < 0 || (columns.facts[row]! & LANDED) !== LANDED) continue
    if (!isSelected(columns, row)) continue
    const [quoted, quotedCost] = [columns.quotedCents[row]!, columns.quotedCostCents[row]!]
    if (quoted === 0 || quotedCost === 0) continue
    compared++
    const gap = quoted - quotedCost - (columns.rateCents[row]! - columns.costCents[row]!)
    if (gap <= 0) continue
    below++
    shortfallCents += gap
    shortfalls[row] = gap
    const isAfter =
      cursor === null ||
      gap < cursor.shortfallCents ||
      (gap === cursor.shortfallCents && columns.quoteId[row]! < cursor.quoteId)
    if (isAfter) candidates[left++] = row
  }
  yield
  const page = firstInOrder(
    candidates.subarray(0, left),
    limit,
    (one, other) => shortfalls[other]! - shortfalls[one]! || columns.quoteId[other]! - columns.quoteId[one]!,
  )
  const gaps = Array.from(page).flatMap((row): MarginGap[] => {
    const shipment = comparedShipment(columns, row)
    if (shipment === null) return []
    return [{ ...shipment, quoteId: columns.quoteId[row]!, shortfallCents: shortfalls[row]! }]
  })
  return { gaps, compared, below, shortfallCents }
}
