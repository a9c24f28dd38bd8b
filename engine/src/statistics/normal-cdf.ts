/** The 90 % point of the standard normal distribution: 80 % of values lie within this many deviations of the mean. */
export const DEVIATIONS_80 = 1.2815515655446004

/**
 * The probability that a standard normal variable is at most `z`, by Marsaglia's series ("Evaluating the Normal
 * Distribution", 2004). The absolute error is about 1e-15. Beyond 8 standard deviations the result is 0 or 1.
 *
 * @example normalCdf(1.959963984540054) // 0.975
 */
export function normalCdf(z: number): number {
  if (z <= -8) return 0
  if (z >= 8) return 1
  let sum = z
  let term = z
  for (let odd = 3; Math.abs(term) > 1e-17; odd += 2) {
    term *= (z * z) / odd
    sum += term
  }
  const share = 0.5 + sum * Math.exp(-0.5 * z * z - HALF_LN_TWO_PI)
  return Math.min(1, Math.max(0, share))
}

const HALF_LN_TWO_PI = 0.9189385332046727
