/**
 * How quickly does this customer decide, and what did it decide lately? Hours from quote to decision: their median and their 90 %
 * point. Method: sample quantiles, type 7 of Hyndman and Fan (1996), as in spreadsheets.
 */

import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS, LOST, PENDING, WON } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { mostFrequent } from './performance-groups.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

export interface CustomerAnswers {
  readonly quotes: number
  /** The most frequent spelling of the name; null without quotes. */
  readonly name: string | null
  /** Epoch milliseconds. */
  readonly lastQuotedAt: number | null
  /** Decided quotes whose decision came after the quote, and the median and 90 % point of the hours in between. */
  readonly answered: number
  readonly medianHours: number | null
  readonly slowHours: number | null
  readonly recent: Decisions
  readonly before: Decisions
}

export interface Decisions {
  readonly won: number
  readonly lost: number
}

/** A decision within this time was entered with the quote. */
const AT_ONCE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * The answers of one customer, whose quotes `isSelected` selects. A quote that was decided when it was entered, such as an imported one, or
 * by the service, does not count in the response time. Outcomes that a person set in bulk much later do, so use the median.
 *
 * @param recentFrom the beginning of the recent period, and `beforeFrom` that of the one before it, in epoch milliseconds
 */
export function* customerAnswers(
  { columns, names }: QuoteBook,
  isSelected: IsSelected,
  { recentFrom, beforeFrom }: { readonly recentFrom: number; readonly beforeFrom: number },
): Steps<CustomerAnswers> {
  const spellings = new Map<string, number>()
  const hours: number[] = []
  const [recent, before] = [
    { won: 0, lost: 0 },
    { won: 0, lost: 0 },
  ]
  let [quotes, newest] = [0, Number.NEGATIVE_INFINITY]
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if (columns.lane[row]! < 0 || !isSelected(columns, row)) continue
    quotes++
    const written = names.customers[columns.names[row]!]?.written ?? ''
    spellings.set(written, (spellings.get(written) ?? 0) + 1)
    const at = columns.quotedAt[row]!
    newest = Math.max(newest, at)
    const outcome = columns.outcomeOf(row)
    if (outcome === PENDING) continue
    const period = at >= recentFrom ? recent : at >= beforeFrom ? before : null
    if (period !== null && outcome === WON) period.won++
    if (period !== null && outcome === LOST) period.lost++
    const ms = columns.decidedAt[row]! - at
    if (ms > AT_ONCE_MS && (columns.facts[row]! & FACTS.decidedByService) === 0) hours.push(ms / HOUR_MS)
  }
  const inOrder = Float64Array.from(hours).sort()
  return {
    quotes,
    name: quotes === 0 ? null : mostFrequent(spellings),
    lastQuotedAt: quotes === 0 ? null : newest,
    answered: hours.length,
    medianHours: pointOf(inOrder, 0.5),
    slowHours: pointOf(inOrder, 0.9),
    recent,
    before,
  }
}

/** The value below which a share of ordered values lies, interpolated; null without values. */
function pointOf(inOrder: Float64Array, share: number): number | null {
  if (inOrder.length === 0) return null
  const place = share * (inOrder.length - 1)
  const low = Math.floor(place)
  const [one, next] = [inOrder[low]!, inOrder[Math.ceil(place)]!]
  return one + (next - one) * (place - low)
}
