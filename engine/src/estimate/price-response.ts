import { clip } from './vector.ts'

/**
 * The penalty on rates far above the reference rate: where it starts, in log rate, and its slope in log odds. Few quotes
 * are this far above the market, so the data do not determine the curve there, but such quotes are not won.
 */
const BRAKE_FROM = 0.5
const BRAKE_SLOPE = 8

/** The penalty in log odds for a rate far above the reference rate, the same for all lanes. */
export function brake(x: number): number {
  return x > BRAKE_FROM ? BRAKE_SLOPE * (x - BRAKE_FROM) : 0
}

/**
 * Log odds of winning at x = ln(rate / reference rate), for a lane with level `a` and log steepness `b`:
 * `a - e^b x - 8 max(0, x - 0.5)`.
 *
 * The steepness is an exponential, so every curve decreases with the rate, and so do mixtures of curves and their
 * quantiles. This guarantees that a higher offer never has a higher win probability.
 *
 * @example winLogOdds({ a: 0.5, b: Math.log(8) }, 0.05) // 0.1
 */
export function winLogOdds(curve: { a: number; b: number }, x: number): number {
  return curve.a - Math.exp(curve.b) * x - brake(x)
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
 * The relative rate of an offer: ln(rate / reference), limited to +-12, where every curve is practically 0 or 1.
 *
 * @example relativeRate(210000, 200000) // 0.04879
 */
export function relativeRate(rateCents: number, referenceCents: number): number {
  return clip(Math.log(rateCents / referenceCents), -12, 12)
}
