import { roundToCent } from './money.ts'
import type { RateCount } from './rate-counts.ts'
import { groupOfNth } from './statistics/group-of-nth.ts'

/** The lowest, middle and highest rate quoted on a lane, in cents. */
export interface RateBand {
  readonly floorCents: number
  readonly medianCents: number
  readonly ceilingCents: number
}

/**
 * What are the lowest, the middle and the highest rate that you quoted on this lane? The band of effective rates over all quotes of a lane,
 * decided or not, from counts sorted from cheapest to highest. Rates of zero are excluded. Null if no rate remains. The median (the mean of
 * the middle two for an even number) is rounded to a cent, so that a markup computed from the displayed median equals the displayed markup.
 * docs/model.md, "Rate band and markup_pct".
 *
 * @example rateBand([{ rateCents: 180000, won: 1, ... }, { rateCents: 200001, lost: 1, ... }])
 * // { floorCents: 180000, medianCents: 190001, ceilingCents: 200001 }
 */
export function rateBand(counts: readonly RateCount[]): RateBand | null {
  const quotesOf = (count: RateCount) => count.won + count.lost + count.pending
  const priced = counts.filter((count) => count.rateCents > 0 && quotesOf(count) > 0)
  const quotes = priced.reduce((sum, count) => sum + quotesOf(count), 0)
  const lower = groupOfNth(priced, quotesOf, Math.ceil(quotes / 2) - 1)
  const upper = groupOfNth(priced, quotesOf, Math.floor(quotes / 2))
  const [lowest, highest] = [priced.at(0), priced.at(-1)]
  if (!lower || !upper || !lowest || !highest) return null
  return {
    floorCents: lowest.rateCents,
    medianCents: roundToCent((lower.rateCents + upper.rateCents) / 2),
    ceilingCents: highest.rateCents,
  }
}
