import type { LaneQuote } from '#engine/estimate/quoted-lanes.ts'
import type { Bar } from './bar.ts'
import type { Walk } from './long-tables.ts'
import { after } from './walk.ts'
import { type GroupCoverage, groupCoverage, orderCorrelations } from './walked-tables.ts'

const WARM_UP_DAYS = 60

/**
 * How often the share won of a lane without decided quotes of its own was within the range that the model gave for it. The lines of an
 * order are drawn as one decision, as they are made: see `orderCorrelations`.
 */
export function neverQuotedCoverage(
  walk: Walk,
  quotes: readonly LaneQuote[],
  delayDays: number,
): GroupCoverage {
  const plan = { reporting: after(delayDays), warmUpDays: WARM_UP_DAYS, everyDays: 1 }
  const walked = walk(`Never quoted, ${delayDays} d`, quotes, plan)
  return groupCoverage(
    `lanes never quoted, ${delayDays} d`,
    walked.filter(({ known }) => known === 0),
    { keyOf: ({ quote }) => quote.lane.key, least: 1, correlations: orderCorrelations(walked) },
  )
}

/** Lanes never quoted in the held-out part of real quotes, with outcomes known after a day and after a week. */
export function neverQuotedBars(walk: Walk, quotes: readonly LaneQuote[]): Bar[] {
  return [1, 7].map((days) => ({
    check: 'copper, lanes never quoted',
    measure: `80 % range coverage, outcomes after ${days} d`,
    value: neverQuotedCoverage(walk, quotes, days).within80,
    least: 0.75,
    most: 0.85,
  }))
}
