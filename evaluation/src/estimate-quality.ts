import type { Estimator } from '#engine/estimate/estimator.ts'
import { laneWinCurve } from '#engine/estimate/lane-win-curve.ts'
import { bestRate } from '#engine/estimate/optimum.ts'
import { winMean } from '#engine/estimate/posterior.ts'
import { curvePosition } from '#engine/estimate/price-response.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'

/** The mean distance of estimates from the truth, and what their best rates earn. */
export interface EstimateQuality {
  /** Kullback-Leibler divergence of the forecast: the log loss beyond that of the truth. */
  readonly logLoss: number
  /** The expected margin of the best rates as a share of the highest possible. */
  readonly earned: number
}

/** The truth about a simulated lane. */
export interface LaneTruth {
  readonly identity: LaneIdentity
  /** ln of the market rate in cents. */
  readonly logMarket: number
  /** The true win probability at x = ln(rate / market rate). */
  readonly chanceAt: (x: number) => number
}

/** The quality of an estimator over lanes whose truth is known. The cost of each is 85 % of its market rate. */
export function estimateQuality(estimator: Estimator, lanes: readonly LaneTruth[]): EstimateQuality {
  let [loss, offers, earned, possible] = [0, 0, 0, 0]
  for (const { identity, logMarket, chanceAt } of lanes) {
    const belief = laneWinCurve({ estimator, lane: identity, miles: null, customer: null })
    if (belief === null) throw new Error('A simulated brokerage has quotes.')
    for (const x of [-0.1, -0.05, 0, 0.05, 0.1]) {
      const p = chanceAt(x)
      const q = winMean(belief.posterior, curvePosition(belief, Math.exp(logMarket + x)))
      loss += p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q))
      offers++
    }
    const costCents = 0.85 * Math.exp(logMarket)
    const marginAt = (rateCents: number) =>
      chanceAt(Math.log(rateCents) - logMarket) * (rateCents - costCents)
    earned += marginAt(bestRate({ ...belief, costCents, floorCents: null }).rateCents)
    possible += Math.max(
      ...Array.from({ length: 101 }, (_, k) => marginAt(Math.exp(logMarket + 0.005 * (k - 40)))),
    )
  }
  return { logLoss: loss / offers, earned: earned / possible }
}
