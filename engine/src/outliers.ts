import type { Outcome, PastQuote } from './history.ts'
import { median } from './statistics/median.ts'

/** When a rate stands out. It is pointed at, never dropped: the broker knows whether it was a slip or a rush load. */
export const OUTLIER_RULE = {
  /** Beyond this many robust deviations of the logarithm of the rate ... */
  deviationsMax: 3,
  /** ... where there are quotes enough to know a deviation ... */
  deviationQuotesMin: 5,
  /** ... which is never taken smaller than 5 %, or a lane quoted at one rate would flag every other. */
  deviationMin: 0.05,
  /** Or this many times above or below the median. */
  timesMedianMax: 5,
  timesMedianQuotesMin: 3,
} as const

/** Turns a median absolute deviation into a standard deviation, for normal data. */
const DEVIATIONS_PER_MEDIAN_DEVIATION = 1.4826

export interface Outlier {
  readonly laneId: number
  readonly rateCents: number
  readonly outcome: Outcome
  /** How many times the median rate it is, above or below 1. */
  readonly timesMedian: number
}

/**
 * The quotes of a lane whose rate stands out: beyond 3 robust deviations (1.4826 times the median absolute deviation)
 * of the logarithm of the rate, or 5 times above or below the median. Quotes with a rate of zero have no logarithm and
 * are not looked at. In the order of their lanes, whatever the order of the history.
 *
 * @example // 2000W 2050L 2100W 19000L
 * // the last one, 9.16 times the median
 */
export function outliers(history: readonly PastQuote[]): Outlier[] {
  const priced = history.filter((quote) => quote.rateCents > 0)
  const middle = median(priced.map((quote) => quote.rateCents))
  const middleLog = median(priced.map((quote) => Math.log(quote.rateCents)))
  if (middle === null || middleLog === null) return []
  const distance = (quote: PastQuote) => Math.abs(Math.log(quote.rateCents) - middleLog)
  const spread = (median(priced.map(distance)) ?? 0) * DEVIATIONS_PER_MEDIAN_DEVIATION
  const distanceMax = OUTLIER_RULE.deviationsMax * Math.max(spread, OUTLIER_RULE.deviationMin)
  const isOutlier = (quote: PastQuote) => {
    const times = Math.max(quote.rateCents / middle, middle / quote.rateCents)
    return (
      (priced.length >= OUTLIER_RULE.deviationQuotesMin && distance(quote) > distanceMax) ||
      (priced.length >= OUTLIER_RULE.timesMedianQuotesMin && times >= OUTLIER_RULE.timesMedianMax)
    )
  }
  return priced
    .filter(isOutlier)
    .map((quote) => ({
      laneId: quote.laneId,
      rateCents: quote.rateCents,
      outcome: quote.outcome,
      timesMedian: quote.rateCents / middle,
    }))
    .sort((a, b) => a.laneId - b.laneId)
}
