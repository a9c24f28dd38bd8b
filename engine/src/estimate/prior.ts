/**
 * Which win curve is expected of a lane before its own quotes are read? A belief over 615 curves becomes a mean level and
 * steepness, and how far the lane may be from them. Method: a Gaussian with the same moments
 * (https://en.wikipedia.org/wiki/Method_of_moments_(statistics)).
 * docs/estimate-formulas.md, "What a lane takes from other lanes".
 */

import { BANK_SIZE, bankIndex, LEVEL_COUNT, levelAt, STEEPNESS_COUNT, steepnessAt } from './curve-bank.ts'

/** A belief about a lane's curve: means of level a and log steepness b, and their covariance. */
export interface CurveBelief {
  readonly a: number
  readonly b: number
  readonly varianceA: number
  readonly covariance: number
  readonly varianceB: number
}

/**
 * Added to the variances of a prior, so that a lane can differ from the lanes it borrows from, however many quotes they
 * have.
 */
const LEAST_VARIANCE_A = 0.01
const LEAST_VARIANCE_B = 0.005

/**
 * The mean and covariance of a belief over the 615 curves of the bank, given as log weights.
 *
 * @example priorOf(messageDown(rootBelief(), SCOPE_KINSHIP)) // the prior of a tenant without quotes
 */
export function priorOf(logWeights: Float64Array): CurveBelief {
  let top = -Infinity
  for (let c = 0; c < BANK_SIZE; c++) top = Math.max(top, logWeights[c]!)
  let sum = 0
  let sumA = 0
  let sumB = 0
  let sumAA = 0
  let sumAB = 0
  let sumBB = 0
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const b = steepnessAt(j)
    for (let i = 0; i < LEVEL_COUNT; i++) {
      const a = levelAt(i)
      const weight = Math.exp(logWeights[bankIndex(i, j)]! - top)
      sum += weight
      sumA += weight * a
      sumB += weight * b
      sumAA += weight * a * a
      sumAB += weight * a * b
      sumBB += weight * b * b
    }
  }
  const a = sumA / sum
  const b = sumB / sum
  return {
    a,
    b,
    varianceA: sumAA / sum - a * a + LEAST_VARIANCE_A,
    covariance: sumAB / sum - a * b,
    varianceB: sumBB / sum - b * b + LEAST_VARIANCE_B,
  }
}
