/**
 * How well does each of 615 win curves (the bank), from flat to steep and from "nearly all lost" to "nearly all won", explain the
 * won and lost quotes of a lane? Lanes pass what they know to each other as such lists of 615 numbers. Method: logistic regression
 * on a grid of curves (Gelman et al., Bayesian Data Analysis, 2013, section 3.7).
 * docs/estimate-formulas.md, "What a lane takes from other lanes".
 */

import { KNOT_COUNT, type Knots, knotAt } from './knots.ts'
import { type CurveShape, logLoss, logSigmoid, STRAIGHT, winLogOdds } from './price-response.ts'

/**
 * Levels a (log odds of a win at the going rate) = -6 .. 6 by 0.3, log steepness b = ln 0.7 .. ln 0.7 + 4.2 by 0.3: 615 candidate curves.
 */
export const LEVEL_COUNT = 41
export const STEEPNESS_COUNT = 15
export const BANK_SIZE = LEVEL_COUNT * STEEPNESS_COUNT
export const LEVEL_STEP = 0.3
export const STEEPNESS_STEP = 0.3

/** Level of the bank's i-th row. @example levelAt(20) // 0 */
export function levelAt(i: number): number {
  return -6 + LEVEL_STEP * i
}

/** Log steepness of the bank's j-th column. @example steepnessAt(0) // ln 0.7 = -0.3567 */
export function steepnessAt(j: number): number {
  return Math.log(0.7) + STEEPNESS_STEP * j
}

/** Index of the curve (level i, steepness j) in an array over the bank. Curves of the same steepness are adjacent. */
export function bankIndex(i: number, j: number): number {
  return j * LEVEL_COUNT + i
}

/** The log likelihood of a win and of a loss at each knot, for every curve of the bank. */
interface BankTables {
  readonly win: Float64Array
  readonly loss: Float64Array
}

/** The tables by shape, computed once: 600 kilobytes each, and there are few shapes. */
const tables = new Map<CurveShape, BankTables>()

function tablesOf(shape: CurveShape): BankTables {
  const known = tables.get(shape)
  if (known) return known
  const win = new Float64Array(KNOT_COUNT * BANK_SIZE)
  const loss = new Float64Array(KNOT_COUNT * BANK_SIZE)
  for (let k = 0; k < KNOT_COUNT; k++) {
    for (let j = 0; j < STEEPNESS_COUNT; j++) {
      for (let i = 0; i < LEVEL_COUNT; i++) {
        const logOdds = winLogOdds({ a: levelAt(i), b: steepnessAt(j) }, knotAt(k), shape)
        win[k * BANK_SIZE + bankIndex(i, j)] = Math.log(shape.ceiling) + logSigmoid(logOdds)
        loss[k * BANK_SIZE + bankIndex(i, j)] = logLoss(logOdds, shape.ceiling)
      }
    }
  }
  const made = { win, loss }
  tables.set(shape, made)
  return made
}

/**
 * How well each curve of the bank explains a lane's decided quotes: the log likelihood `sum_k W_k ln P + L_k ln(1 - P)`, with
 * the wins W and the losses L at each knot.
 *
 * @param out the array for the result. A caller that processes many lanes reuses one array.
 * @example bankLogLikelihood(emptyKnots()) // 615 zeros
 */
export function bankLogLikelihood(
  knots: Knots,
  out: Float64Array = new Float64Array(BANK_SIZE),
  shape: CurveShape = STRAIGHT,
): Float64Array {
  const { win, loss } = tablesOf(shape)
  out.fill(0)
  for (let k = 0; k < KNOT_COUNT; k++) {
    const wins = knots.wins[k]!
    const losses = knots.losses[k]!
    if (wins !== 0) addScaled(out, wins, win, k * BANK_SIZE)
    if (losses !== 0) addScaled(out, losses, loss, k * BANK_SIZE)
  }
  return out
}

function addScaled(out: Float64Array, factor: number, table: Float64Array, from: number): void {
  for (let c = 0; c < BANK_SIZE; c++) out[c]! += factor * table[from + c]!
}
