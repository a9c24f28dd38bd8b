/**
 * How many quotes were converted before they were counted, and how many could not be: all-in or linehaul, Canadian or US dollars? How
 * many have stops or another mode than truckload?
 */

import type { BookLane, QuoteBook } from '../book/quote-book.ts'
import { CONVERTED_BY, convertedByOf, FACTS, type QuoteColumns } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/** The quotes of a selection whose amounts were not in US dollars on the default basis, or that are not of direct truckloads. */
export interface ConvertedCounts {
  /** Quotes whose amounts were converted by their own charges, the fuel schedule of the day, or its exchange rate. */
  readonly convertedBy: { readonly charges: number; readonly schedule: number; readonly exchange: number }
  /**
   * Quotes that count nowhere, because an amount cannot be converted, and `notConvertedInCad`: those of them with an amount in Canadian
   * dollars.
   */
  readonly notConverted: number
  readonly notConvertedInCad: number
  /** Quotes that count nowhere, because they have stops or another mode than truckload. */
  readonly notDirect: number
}

/** The counts of a brokerage whose amounts are all in US dollars on its default basis, and of direct truckloads. */
export const noneConverted: ConvertedCounts = {
  convertedBy: { charges: 0, schedule: 0, exchange: 0 },
  notConverted: 0,
  notConvertedInCad: 0,
  notDirect: 0,
}

/** The counts of the selected quotes, on all lanes or on some. */
export function* convertedCounts(
  { columns, apart }: Pick<QuoteBook, 'columns' | 'apart'>,
  isSelected: IsSelected,
  lanes: readonly BookLane[] | null = null,
): Steps<ConvertedCounts> {
  const convertedBy = { charges: 0, schedule: 0, exchange: 0 }
  yield* eachRow(columns, lanes, (row) => {
    const facts = columns.facts[row]!
    if ((facts & FACTS.convertedBy) === 0) return
    const by = convertedByOf(facts)
    if (by !== CONVERTED_BY[0] && isSelected(columns, row)) convertedBy[by]++
  })
  let [notConverted, notConvertedInCad, notDirect] = [0, 0, 0]
  yield* eachRow(apart, lanes, (row) => {
    if (!isSelected(apart, row)) return
    if ((apart.facts[row]! & FACTS.notDirect) !== 0) {
      notDirect++
      return
    }
    notConverted++
    if ((apart.facts[row]! & FACTS.inCad) !== 0) notConvertedInCad++
  })
  return { convertedBy, notConverted, notConvertedInCad, notDirect }
}

/** Calls `see` with each row of all or of some lanes. */
function* eachRow(
  columns: QuoteColumns,
  lanes: readonly BookLane[] | null,
  see: (row: number) => void,
): Steps<void> {
  if (lanes !== null) {
    for (const { number } of lanes) columns.eachRowOf(number, see)
    return
  }
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if (columns.lane[row]! >= 0) see(row)
  }
}
