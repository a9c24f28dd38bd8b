/**
 * How much margin was missed because rates were too low? Sums of the amounts of backtest/missed-margin.ts, with a range. Method:
 * propagation of errors (https://en.wikipedia.org/wiki/Propagation_of_uncertainty). Errors of one lane's win curve add up; those of
 * different lanes partly cancel out.
 * docs/decisions/0073-margin-at-risk.md.
 */

import { MISSED_KINDS, type MissedColumns } from '../backtest/missed-margin.ts'
import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS, PENDING, type QuoteColumns, WON } from '../quotes/quote-columns.ts'
import { firstInOrder } from '../statistics/first-in-order.ts'
import type { Steps } from '../steps.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

/**
 * Sums of judged quotes, in cents. `sdSum` is the sum of the standard deviations of the lanes, and `sdSquares` the sum of their
 * squares: `missedRange` computes the range from both.
 */
export interface MissedSums {
  readonly quotes: number
  readonly amountCents: number
  readonly sdSum: number
  readonly sdSquares: number
  /** The quotes whose AR and AP are booked by now, and the margin of these bookings. */
  readonly booked: number
  readonly bookedMarginCents: number
}

/** A quote of the last backtest's list whose outcome is still the same in the book. */
interface StillJudged {
  /** The quote's position in the judged quotes. */
  readonly at: number
  readonly kind: number
  readonly lane: number
  /** The margin of the quote's booking; null if there is none, or if it cannot be converted. */
  readonly bookedCents: number | null
}

const NOT_WORTH = MISSED_KINDS.indexOf('not_worth')

/** The judged quotes that a person may see and that still have their outcome. A quote that was voided is not in the book. */
function* stillJudged(
  { columns, apart }: QuoteBook,
  judged: MissedColumns,
  isSelected: IsSelected,
): Steps<StillJudged[]> {
  const found: StillJudged[] = []
  for (let at = 0; at < judged.quoteId.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const quoteId = judged.quoteId[at]!
    const isApart = columns.rowOf(quoteId) < 0
    const of = isApart ? apart : columns
    const row = of.rowOf(quoteId)
    // A quote that turned out to be of no direct truckload was judged by the wrong lane.
    if (row < 0 || !isSelected(of, row) || (of.facts[row]! & FACTS.notDirect) !== 0) continue
    const [kind, outcome] = [judged.kind[at]!, of.outcomeOf(row)]
    if (outcome !== WON && !(kind === NOT_WORTH && outcome === PENDING)) continue
    const bookedCents = marginOf(of, row, isApart)
    found.push({ at, kind, lane: of.lane[row]!, bookedCents })
  }
  return found
}

/** AR minus AP. Also for a quote whose quoted rate alone cannot be converted, if its booking states no terms. */
function marginOf(columns: QuoteColumns, row: number, isApart: boolean): number | null {
  const facts = columns.facts[row]!
  const landed = FACTS.customerRate | FACTS.truckCost
  if ((facts & landed) !== landed || (isApart && (facts & FACTS.bookingTerms) !== 0)) return null
  return columns.rateCents[row]! - columns.costCents[row]!
}

function sumsOf(quotes: readonly StillJudged[], judged: MissedColumns): MissedSums {
  const byLane = new Map<number, { winSd: number; costSquares: number }>()
  const sums = {
    quotes: quotes.length,
    amountCents: 0,
    sdSum: 0,
    sdSquares: 0,
    booked: 0,
    bookedMarginCents: 0,
  }
  for (const { at, lane, bookedCents } of quotes) {
    const ofLane = byLane.get(lane) ?? { winSd: 0, costSquares: 0 }
    byLane.set(lane, ofLane)
    ofLane.winSd += judged.winSdCents[at]!
    ofLane.costSquares += judged.costSdCents[at]! ** 2
    sums.amountCents += judged.amountCents[at]!
    if (bookedCents === null) continue
    sums.booked++
    sums.bookedMarginCents += bookedCents
  }
  for (const { winSd, costSquares } of byLane.values()) {
    const variance = winSd ** 2 + costSquares
    sums.sdSquares += variance
    sums.sdSum += Math.sqrt(variance)
  }
  return sums
}

export interface ListedMissed {
  readonly quoteId: number
  readonly amountCents: number
}

/** A listed quote, and its position in the columns of the judged quotes. */
export interface PlacedMissed extends ListedMissed {
  readonly at: number
  /** The margin of the quote's booking, if there is one. */
  readonly bookedCents: number | null
}

/**
 * The judged quotes that a person may see, the largest amount first and then the newest, after `cursor`, and the sums of all of
 * them by kind, in the order of `MISSED_KINDS`.
 */
export function* listMissed(
  book: QuoteBook,
  judged: MissedColumns,
  asked: {
    readonly isSelected: IsSelected
    readonly cursor: ListedMissed | null
    readonly limit: number
  },
): Steps<{ readonly totals: readonly MissedSums[]; readonly quotes: readonly PlacedMissed[] }> {
  const { isSelected, cursor, limit } = asked
  const still = yield* stillJudged(book, judged, isSelected)
  yield
  const listed = still.map(
    ({ at, bookedCents }): PlacedMissed => ({
      at,
      bookedCents,
      quoteId: judged.quoteId[at]!,
      amountCents: judged.amountCents[at]!,
    }),
  )
  const compare = (one: ListedMissed, other: ListedMissed) =>
    other.amountCents - one.amountCents || other.quoteId - one.quoteId
  const after = listed.flatMap((quote, nth) => (cursor === null || compare(quote, cursor) > 0 ? [nth] : []))
  yield
  const quoteAt = (nth: number) => listed[nth] as PlacedMissed
  const page = firstInOrder(Int32Array.from(after), limit, (one, other) =>
    compare(quoteAt(one), quoteAt(other)),
  )
  yield
  const ofKind = (kind: number) => still.filter((quote) => quote.kind === kind)
  return {
    totals: MISSED_KINDS.map((_, kind) => sumsOf(ofKind(kind), judged)),
    quotes: Array.from(page, quoteAt),
  }
}
