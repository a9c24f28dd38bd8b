import type { PastQuote } from './history.ts'
import { roundToCent } from './money.ts'
import { median } from './statistics/median.ts'

/** The lowest, middle and highest rate quoted on a lane, in cents. */
export interface RateBand {
  readonly floorCents: number
  readonly medianCents: number
  readonly ceilingCents: number
}

/**
 * The band of the rates that count over all quotes of a lane, decided or not. A rate of zero is no price and is left
 * out; with no rate left the answer is null. The median is rounded to a cent, so that a markup computed from the
 * number shown is the markup shown.
 *
 * @example rateBand([{ rateCents: 180000, ... }, { rateCents: 200001, ... }])
 * // { floorCents: 180000, medianCents: 190001, ceilingCents: 200001 }
 */
export function rateBand(history: readonly PastQuote[]): RateBand | null {
  const rates = history.map((quote) => quote.rateCents).filter((rateCents) => rateCents > 0)
  const middle = median(rates)
  if (middle === null) return null
  let floorCents = Number.POSITIVE_INFINITY
  let ceilingCents = 0
  for (const rateCents of rates) {
    floorCents = Math.min(floorCents, rateCents)
    ceilingCents = Math.max(ceilingCents, rateCents)
  }
  return { floorCents, medianCents: roundToCent(middle), ceilingCents }
}
