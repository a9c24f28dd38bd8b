import type { QuoteBook } from '../book/quote-book.ts'
import { CONVERTED_BY, convertedByOf, FACTS } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/** The quotes of a selection whose amounts were not in US dollars on the default basis. */
export interface ConvertedCounts {
  /** Quotes whose amounts were converted by their own charges, the fuel schedule of the day, or its exchange rate. */
  readonly convertedBy: { readonly charges: number; readonly schedule: number; readonly exchange: number }
  /** Quotes that are kept apart, because an amount cannot be converted, and those of them with an amount in Canadian dollars. */
  readonly keptApart: number
  readonly keptApartInCad: number
}

export function* convertedCounts(
  { columns, apart }: QuoteBook,
  isSelected: IsSelected,
): Steps<ConvertedCounts> {
  const convertedBy = { charges: 0, schedule: 0, exchange: 0 }
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    const facts = columns.facts[row] as number
    if ((facts & FACTS.convertedBy) === 0 || (columns.lane[row] as number) < 0) continue
    const by = convertedByOf(facts)
    if (by !== CONVERTED_BY[0] && isSelected(columns, row)) convertedBy[by]++
  }
  let keptApart = 0
  let keptApartInCad = 0
  for (let row = 0; row < apart.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if ((apart.lane[row] as number) < 0 || !isSelected(apart, row)) continue
    keptApart++
    if (((apart.facts[row] as number) & FACTS.inCad) !== 0) keptApartInCad++
  }
  return { convertedBy, keptApart, keptApartInCad }
}
