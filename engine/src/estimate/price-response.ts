/**
 * How much less often is a load won if the rate is 5 % higher? The formula of every win curve.
 * Method: the logit bid-response function (Phillips, Pricing and Revenue Optimization, 2005), with a bend and a brake of our own.
 * docs/estimate-formulas.md, "The curve".
 */

import { clip } from './vector.ts'

/**
 * The penalty on rates far above the reference rate: where it starts, in log rate, and its slope in log odds. Few quotes are this far above
 * the market, so the data do not determine the curve there; but such quotes are not won.
 */
const BRAKE_FROM = 0.5
const BRAKE_SLOPE = 8

/** The penalty in log odds for a rate far above the reference rate, the same for all lanes. */
export function brake(x: number): number {
  return x > BRAKE_FROM ? BRAKE_SLOPE * (x - BRAKE_FROM) : 0
}

/**
 * The shape that all win curves of a brokerage share. Level and steepness differ by lane.
 *
 * - `ceiling`: the highest win probability, however low the rate, because some loads are never won.
 * - `bend`: the distance from the reference rate, in log rate, where the curve becomes less steep. In sealed tenders, a few percent
 *   around the going rate decide, and further differences matter less. Infinity: the log odds are a line.
 */
export interface CurveShape {
  readonly ceiling: number
  readonly bend: number
}

/** Straight log odds without a ceiling: the shape of the examples in docs/estimate-formulas.md. */
export const STRAIGHT: CurveShape = { ceiling: 1, bend: Number.POSITIVE_INFINITY }

/**
 * The relative rate that a curve with a bend is computed from: `bend x asinh(x / bend)`, which is x near the reference rate, and
 * grows like a logarithm beyond the bend.
 *
 * @example effectiveRate(0.1, { ceiling: 1, bend: 0.04 }) // 0.06589
 */
export function effectiveRate(x: number, { bend }: CurveShape): number {
  return bend === Number.POSITIVE_INFINITY ? x : bend * Math.asinh(x / bend)
}

/**
 * Log odds of winning a load that can be won, at x = ln(rate / reference rate), for a lane with level `a` and log steepness
 * `b`: `a - e^b h(x) - 8 max(0, x - 0.5)`, where h is `effectiveRate`. The win probability is `ceiling x sigmoid` of them.
 *
 * The steepness is an exponential, so every curve decreases with the rate, and so do mixtures of curves and their
 * quantiles. This guarantees that a higher offer never has a higher win probability.
 *
 * @example winLogOdds({ a: 0.5, b: Math.log(8) }, 0.05) // 0.1
 */
export function winLogOdds(curve: { a: number; b: number }, x: number, shape: CurveShape = STRAIGHT): number {
  return curve.a - Math.exp(curve.b) * effectiveRate(x, shape) - brake(x)
}

/** ln of the probability of losing, `ln(1 - ceiling x sigmoid(logOdds))`, without loss of precision. */
export function logLoss(logOdds: number, ceiling: number): number {
  return ceiling === 1 ? logSigmoid(-logOdds) : Math.log1p(-ceiling * sigmoid(logOdds))
}

/** Converts log odds to a probability. Never NaN for a finite or infinite input. @example sigmoid(0) // 0.5 */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/** ln(sigmoid(logOdds)) without loss of precision for large values. @example logSigmoid(0) // -0.693147 */
export function logSigmoid(logOdds: number): number {
  return logOdds > 0 ? -Math.log1p(Math.exp(-logOdds)) : logOdds - Math.log1p(Math.exp(logOdds))
}

/**
 * How much a distance from the reference rate counts, below it and above it: 1, or less on lanes never quoted (see `priceWeight` in
 * lane-reference.ts).
 */
export interface PriceWeight {
  readonly below: number
  readonly above: number
}

/** The weight on lanes whose rates are known. */
export const FULL_WEIGHT: PriceWeight = { below: 1, above: 1 }

/**
 * The position of a rate on a lane's curve: its relative rate times the weight.
 *
 * @example curvePosition({ referenceCents: 200000, priceWeight: FULL_WEIGHT }, 210000) // 0.04879
 */
export function curvePosition(
  { referenceCents, priceWeight }: { readonly referenceCents: number; readonly priceWeight: PriceWeight },
  rateCents: number,
): number {
  const x = relativeRate(rateCents, referenceCents)
  return x * (x < 0 ? priceWeight.below : priceWeight.above)
}

/**
 * The relative rate of an offer: ln(rate / reference), limited to +-12, where every curve is practically 0 or 1.
 *
 * @example relativeRate(210000, 200000) // 0.04879
 */
export function relativeRate(rateCents: number, referenceCents: number): number {
  return clip(Math.log(rateCents / referenceCents), -12, 12)
}
