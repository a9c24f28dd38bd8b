import { bestRateOver, type Optimum } from './best-rate.ts'
import { type Posterior, winMean } from './posterior.ts'
import { curvePosition, type PriceWeight } from './price-response.ts'

/** A lane's win curve. `priceWeight` is below 1 only for lanes never quoted: see lane-reference.ts. */
export interface WinCurve {
  readonly posterior: Posterior
  readonly referenceCents: number
  readonly priceWeight: PriceWeight
}

/**
 * The win probability at each rate.
 *
 * @example chanceOn({ posterior, referenceCents: 202500, priceWeight: FULL_WEIGHT })(202500) // 0.52
 */
export function chanceOn(curve: WinCurve): (rateCents: number) => number {
  return (rateCents) => winMean(curve.posterior, curvePosition(curve, rateCents))
}

/**
 * The expected margin of a rate: P(win at the rate) x (rate - cost), in cents.
 *
 * @example expectedMarginCents({ posterior, referenceCents: 202500, priceWeight: FULL_WEIGHT, costCents: 170000 }, 197500) // 18732.02
 */
export function expectedMarginCents(
  lane: WinCurve & { readonly costCents: number },
  rateCents: number,
): number {
  return chanceOn(lane)(rateCents) * (rateCents - lane.costCents)
}

/**
 * The rate with the best expected margin on a lane's win curve: see `bestRateOver`.
 *
 * @example bestRate({ posterior, referenceCents: 202500, priceWeight: FULL_WEIGHT, costCents: 170000, floorCents: null }).rateCents // 197499.6
 */
export function bestRate(
  lane: WinCurve & {
    readonly costCents: number
    /** The lowest rate that the brokerage's rules allow; null without one. */
    readonly floorCents: number | null
  },
): Optimum {
  return bestRateOver({ ...lane, chanceAt: chanceOn(lane) })
}
