import type { Outcome, PastQuote } from './history.ts'
import { mapInSteps, medianInSteps, type Steps } from './steps.ts'

/** The limits beyond which a rate is an outlier. Outliers are flagged, never dropped: only the broker knows a typo from a rush load. */
export const OUTLIER_RULE = {
  /** First rule: the logarithm of the rate is more than this many robust deviations from the median logarithm. */
  deviationsMax: 3,
  /** The first rule needs this many priced quotes. */
  deviationQuotesMin: 5,
  /** Lower limit of the deviation (5 %). Without it, a lane with one repeated rate would flag every other rate. */
  deviationMin: 0.05,
  /** Second rule: the rate is at least this many times above or below the median. */
  timesMedianMax: 5,
  /** The second rule needs this many priced quotes. */
  timesMedianQuotesMin: 3,
} as const

/** Converts a median absolute deviation to a standard deviation, for normally distributed data. */
export const DEVIATIONS_PER_MEDIAN_DEVIATION = 1.4826

export interface Outlier {
  readonly quoteId: number
  readonly rateCents: number
  readonly outcome: Outcome
  /** The rate divided by the median rate. */
  readonly timesMedian: number
}

/**
 * Is $19,000 on a lane of $2,000 a typing error or a rush load? Finds the quotes of a lane whose rate is an outlier, by the modified
 * z-score (Iglewicz and Hoaglin, 1993; docs/model.md, "Outliers"): more than 3 robust deviations (1.4826 times the median absolute
 * deviation) from the median on a log scale, or at least 5 times above or below the median. Quotes with a rate of zero are ignored, because
 * zero has no logarithm. Sorted by quote id, for any order of `history`.
 *
 * @example // 2000W 2050L 2100W 19000L
 * // the quote at 19000, which is 9.16 times the median
 */
export function* outliersInSteps(history: readonly PastQuote[]): Steps<Outlier[]> {
  const priced = history.filter((quote) => quote.rateCents > 0)
  function* medianOf(value: (quote: PastQuote) => number): Steps<number | null> {
    return yield* medianInSteps(Float64Array.from(yield* mapInSteps(priced, value)))
  }
  const middle = yield* medianOf((quote) => quote.rateCents)
  const middleLog = yield* medianOf((quote) => Math.log(quote.rateCents))
  if (middle === null || middleLog === null) return []
  const distance = (quote: PastQuote) => Math.abs(Math.log(quote.rateCents) - middleLog)
  const spread = ((yield* medianOf(distance)) ?? 0) * DEVIATIONS_PER_MEDIAN_DEVIATION
  const distanceMax = OUTLIER_RULE.deviationsMax * Math.max(spread, OUTLIER_RULE.deviationMin)
  const isOutlier = (quote: PastQuote) => {
    const times = Math.max(quote.rateCents / middle, middle / quote.rateCents)
    return (
      (priced.length >= OUTLIER_RULE.deviationQuotesMin && distance(quote) > distanceMax) ||
      (priced.length >= OUTLIER_RULE.timesMedianQuotesMin && times >= OUTLIER_RULE.timesMedianMax)
    )
  }
  const tested = yield* mapInSteps(priced, isOutlier)
  return priced
    .filter((_, index) => tested[index])
    .map((quote) => ({
      quoteId: quote.quoteId,
      rateCents: quote.rateCents,
      outcome: quote.outcome,
      timesMedian: quote.rateCents / middle,
    }))
    .sort((a, b) => a.quoteId - b.quoteId)
}
