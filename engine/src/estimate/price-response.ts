import { clip } from './vector.ts'

/**
 * How far above the reference rate the extra brake starts, in log rate, and how hard it pulls. Few quotes are ever sent
 * so far above the market, so the data say nothing there; nobody wins them, so the curve must.
 */
const BRAKE_FROM = 0.5
const BRAKE_SLOPE = 8

/** The part of the log odds that no lane can argue with: the brake far above the reference rate. */
export function brake(x: number): number {
  return x > BRAKE_FROM ? BRAKE_SLOPE * (x - BRAKE_FROM) : 0
}

/**
 * Log odds of winning at x = ln(rate / reference rate), for a lane with level `a` and log steepness `b`:
 * `a - e^b x - 8 max(0, x - 0.5)`.
 *
 * The steepness is an exponential, so every curve falls in price; a mixture of falling curves falls, and so does each
 * of its quantiles. That is the promise "a dearer offer is never likelier to win", kept by construction.
 *
 * @example winLogOdds({ a: 0.5, b: Math.log(8) }, 0.05) // 0.1
 */
export function winLogOdds(curve: { a: number; b: number }, x: number): number {
  return curve.a - Math.exp(curve.b) * x - brake(x)
}

/** Log odds to probability. Never NaN for a finite or infinite input. @example sigmoid(0) // 0.5 */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/** ln(sigmoid(logOdds)) without loss at either end. @example logSigmoid(0) // -0.693147 */
export function logSigmoid(logOdds: number): number {
  return logOdds > 0 ? -Math.log1p(Math.exp(-logOdds)) : logOdds - Math.log1p(Math.exp(logOdds))
}

/**
 * Where an offer stands against the reference rate: ln(rate / reference). A hundredfold rate is cut at +-12, where every
 * curve is flat at 0 or 1 long since.
 *
 * @example relativeRate(210000, 200000) // 0.04879
 */
export function relativeRate(rateCents: number, referenceCents: number): number {
  return clip(Math.log(rateCents / referenceCents), -12, 12)
}
