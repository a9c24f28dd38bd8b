/**
 * Which rate earns most on average, if a higher rate wins less often? The one with the highest P(win) x (rate - truck cost): 101
 * rates are tried, from 18 % below the going rate to 35 % above it.
 * Method: bidding for the highest expected profit (Friedman, "A Competitive Bidding Strategy", 1956), by a grid search.
 * docs/estimate-formulas.md, "The rate with the best expected margin".
 */

/** The grid of rates: the reference rate times e^(.005 k), k from -40 (18 % below) to 60 (35 % above). */
const STEP = 0.005
const FIRST = -40
const LAST = 60
/** Rates that earn at least this share of the highest expected margin are in the flat zone: as good as the best rate. */
const FLAT_SHARE = 0.98

/** The rate with the highest expected margin, and the rates around it. Money is in cents and may be fractional. */
export interface Optimum {
  readonly rateCents: number
  readonly winProbability: number
  readonly expectedMarginCents: number
  /** The rates around the optimum with at least 98 % of its expected margin. */
  readonly flatZone: { readonly lowCents: number; readonly highCents: number }
  /** Whether the best rate is the lowest or highest rate tried. The true optimum may then be beyond it. */
  readonly atEdge: boolean
  /** The lowest rate that the brokerage's rules allow; null if there is none. */
  readonly floorCents: number | null
  /** The best rate or the floor, whichever is higher. */
  readonly flooredRateCents: number
  readonly flooredExpectedMarginCents: number
}

/**
 * The best rate, if it earns anything. Null if each rate that was tried is below the cost: the one that loses least is no rate to quote.
 *
 * @example earningRate({ ...optimum, expectedMarginCents: -11_600 }) // null
 */
export function earningRate(optimum: Optimum | null): Optimum | null {
  return optimum !== null && optimum.expectedMarginCents > 0 ? optimum : null
}

/** The inputs to find the best rate on a lane. */
export interface LaneToPrice {
  /** The win probability at a rate. */
  readonly chanceAt: (rateCents: number) => number
  readonly referenceCents: number
  readonly costCents: number
  /** The lowest rate that the brokerage's rules allow; null without one. */
  readonly floorCents: number | null
}

/**
 * The rate with the highest expected margin on the grid (the lower one on ties), the flat zone around it, and the best rate that
 * is at least the floor.
 *
 * @example bestRateOver({ chanceAt, referenceCents: 202500, costCents: 170000, floorCents: null }).rateCents // 197499.6
 */
export function bestRateOver({ chanceAt, referenceCents, costCents, floorCents }: LaneToPrice): Optimum {
  const marginAt = (rateCents: number) => chanceAt(rateCents) * (rateCents - costCents)
  const rates: number[] = []
  const margins: number[] = []
  let best = 0
  for (let k = FIRST; k <= LAST; k++) {
    const rate = referenceCents * Math.exp(STEP * k)
    const margin = marginAt(rate)
    rates.push(rate)
    margins.push(margin)
    if (margin > (margins[best] ?? 0)) best = margins.length - 1
  }
  const rateCents = rates[best] ?? referenceCents
  const top = margins[best] ?? 0
  // If even the best rate loses money, the zone has one rate, because 98 % of a negative margin is above the margin.
  const asGood = (i: number) =>
    i === best || (top > 0 && (margins[i] ?? Number.NEGATIVE_INFINITY) >= FLAT_SHARE * top)
  let low = best
  while (low > 0 && asGood(low - 1)) low--
  let high = best
  while (high < rates.length - 1 && asGood(high + 1)) high++
  const flooredRateCents = Math.max(rateCents, floorCents ?? 0)
  return {
    rateCents,
    winProbability: chanceAt(rateCents),
    expectedMarginCents: top,
    flatZone: { lowCents: rates[low] ?? rateCents, highCents: rates[high] ?? rateCents },
    atEdge: best === 0 || best === rates.length - 1,
    floorCents,
    flooredRateCents,
    flooredExpectedMarginCents: marginAt(flooredRateCents),
  }
}
