import { roundToCent } from './money.ts'
import { DEVIATIONS_PER_MEDIAN_DEVIATION, OUTLIER_RULE } from './outliers.ts'
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
 * decided or not, from counts sorted from cheapest to highest. Rates of zero are excluded, and pending quotes far from the decided ones
 * (`farFromDecided`), which may be typing errors. Null if no rate remains. The median (the mean of
 * the middle two for an even number) is rounded to a cent, so that a markup computed from the displayed median equals the displayed markup.
 * docs/model.md, "Rate band and markup_pct".
 *
 * @example rateBand([{ rateCents: 180000, won: 1, ... }, { rateCents: 200001, lost: 1, ... }])
 * // { floorCents: 180000, medianCents: 190001, ceilingCents: 200001 }
 */
export function rateBand(counts: readonly RateCount[]): RateBand | null {
  const isFar = farFromDecided(counts)
  const quotesOf = (count: RateCount) => count.won + count.lost + (isFar(count) ? 0 : count.pending)
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

/**
 * Returns a test for rates that are more than 3 robust deviations (at least 5 % each) from the median of the decided quotes, in ln; none is
 * with fewer than 5 decided quotes.
 */
function farFromDecided(counts: readonly RateCount[]): (count: RateCount) => boolean {
  const decidedOf = ({ won, lost }: RateCount) => won + lost
  const decided = counts.filter((count) => count.rateCents > 0 && decidedOf(count) > 0)
  const quotes = decided.reduce((sum, count) => sum + decidedOf(count), 0)
  if (quotes < OUTLIER_RULE.deviationQuotesMin || counts.every(({ pending }) => pending === 0))
    return () => false
  const medianOf = (values: readonly { readonly value: number; readonly quotes: number }[]) => {
    const sizeOf = (one: { readonly quotes: number }) => one.quotes
    const lower = groupOfNth(values, sizeOf, Math.ceil(quotes / 2) - 1)?.value ?? 0
    return (lower + (groupOfNth(values, sizeOf, Math.floor(quotes / 2))?.value ?? 0)) / 2
  }
  const logs = decided.map((count) => ({ value: Math.log(count.rateCents), quotes: decidedOf(count) }))
  const middle = medianOf(logs)
  const distances = logs.map((log) => ({ ...log, value: Math.abs(log.value - middle) }))
  const deviation = DEVIATIONS_PER_MEDIAN_DEVIATION * medianOf(distances.sort((a, b) => a.value - b.value))
  const most = OUTLIER_RULE.deviationsMax * Math.max(deviation, OUTLIER_RULE.deviationMin)
  return ({ rateCents }) => Math.abs(Math.log(rateCents) - middle) > most
}
