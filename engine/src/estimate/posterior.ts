/**
 * Given this lane's wins and losses, and what other lanes say: which win curves are possible, and how likely is each? Methods: Fisher
 * scoring finds the likeliest curve (https://en.wikipedia.org/wiki/Scoring_algorithm). The Laplace approximation there
 * (https://en.wikipedia.org/wiki/Laplace%27s_approximation) tells how far from it curves are possible; each curve of a grid of that size
 * gets its exact weight (as in Rue, Martino and Chopin, 2009).
 * docs/estimate-formulas.md, "The posterior and its intervals".
 */

import { KNOT_COUNT, type Knots, knotAt } from './knots.ts'
import {
  brake,
  type CurveShape,
  effectiveRate,
  logLoss,
  logSigmoid,
  STRAIGHT,
  sigmoid,
} from './price-response.ts'
import type { CurveBelief } from './prior.ts'
import { clip } from './vector.ts'

/** The possible win curves: a grid of 13 x 11 curves that reaches 3.6 standard deviations times 1.15 to each side of the likeliest one. */
const GRID_A = 13
const GRID_B = 11
const GRID_HALF_WIDTH = 3.6
const GRID_STRETCH = 1.15
const STEPS_MAX = 40

/** The range of log steepness. At e^5, a rate 1 % lower more than quadruples the odds. */
const LOG_STEEPNESS_MAX = 5
const LOG_STEEPNESS_MIN = -3

/** The noise (see `Posterior`) of a brokerage whose lanes' win rates do not swing. */
const LEAST_NOISE = 0.18

/** Minimum variance of a belief. */
const LEAST_VARIANCE = 1e-6

/** The possible win curves of a lane after its own quotes: 143 curves with weights that sum to one, and their summary. */
export interface Posterior {
  readonly levels: Float64Array
  /** e^b of each curve, precomputed because it is needed for each rate. */
  readonly steepness: Float64Array
  readonly weights: Float64Array
  readonly mode: { readonly a: number; readonly b: number }
  readonly belief: CurveBelief
  readonly shape: CurveShape
  /**
   * How much quotes at the same rate differ in their chance for reasons that no curve explains: a standard deviation in log odds.
   * Because of it, even a long history does not shrink the intervals to nothing.
   */
  readonly noise: number
  /**
   * How wide the intervals are, as a part of the distances between the curves. Old outcomes count less, so that the estimate follows
   * changes, as if they knew less. They do not, so the curves are further from each other than the estimate is from the truth.
   */
  readonly reach: number
}

interface Precision {
  readonly aa: number
  readonly ab: number
  readonly bb: number
}

function inverse(aa: number, ab: number, bb: number): Precision {
  const determinant = Math.max(aa * bb - ab * ab, 1e-12)
  return { aa: bb / determinant, ab: -ab / determinant, bb: aa / determinant }
}

/** The knots with quotes: effective relative rates, values of `brake`, wins and losses. */
function filledKnots(
  knots: Knots,
  shape: CurveShape,
): { x: number[]; stop: number[]; wins: number[]; losses: number[] } {
  const x: number[] = []
  const stop: number[] = []
  const wins: number[] = []
  const losses: number[] = []
  for (let k = 0; k < KNOT_COUNT; k++) {
    const won = knots.wins[k]!
    const lost = knots.losses[k]!
    if (won === 0 && lost === 0) continue
    x.push(effectiveRate(knotAt(k), shape))
    stop.push(brake(knotAt(k)))
    wins.push(won)
    losses.push(lost)
  }
  return { x, stop, wins, losses }
}

/**
 * The posterior of a lane: the prior from other lanes, updated with the lane's own decided quotes.
 *
 * Fisher scoring from the prior mean finds the most likely curve. A step that lowers the posterior is halved. The exact
 * posterior is then evaluated on a grid around this curve, so it need not be Gaussian.
 *
 * @example posteriorOf(emptyKnots(), prior).belief // close to the prior itself
 */
export function posteriorOf(knots: Knots, prior: CurveBelief, shape: CurveShape = STRAIGHT): Posterior {
  const { ceiling } = shape
  const { x, stop, wins, losses } = filledKnots(knots, shape)
  const precision = inverse(prior.varianceA, prior.covariance, prior.varianceB)

  const logPosterior = (a: number, b: number): number => {
    const steep = Math.exp(b)
    const da = a - prior.a
    const db = b - prior.b
    let sum = -0.5 * (precision.aa * da * da + 2 * precision.ab * da * db + precision.bb * db * db)
    for (let k = 0; k < x.length; k++) {
      const logOdds = a - steep * x[k]! - stop[k]!
      sum += wins[k]! * logSigmoid(logOdds) + losses[k]! * logLoss(logOdds, ceiling)
    }
    return sum
  }

  let a = prior.a
  let b = prior.b
  let best = logPosterior(a, b)
  let information = precision
  for (let step = 0; step < STEPS_MAX; step++) {
    const steep = Math.exp(b)
    let slopeA = -(precision.aa * (a - prior.a) + precision.ab * (b - prior.b))
    let slopeB = -(precision.ab * (a - prior.a) + precision.bb * (b - prior.b))
    let { aa, ab, bb } = precision
    for (let k = 0; k < x.length; k++) {
      const pull = -steep * x[k]!
      const p = sigmoid(a + pull - stop[k]!)
      const n = wins[k]! + losses[k]!
      // By the log odds u, with c = ceiling: dP/du = c p (1 - p). Without a ceiling: wins - n p, and n p (1 - p).
      const lossOdds = ceiling === 1 ? 1 : (ceiling * (1 - p)) / (1 - ceiling * p)
      const residual = wins[k]! * (1 - p) - losses[k]! * p * lossOdds
      const weight = n * p * (1 - p) * lossOdds
      slopeA += residual
      slopeB += residual * pull
      aa += weight
      ab += weight * pull
      bb += weight * pull * pull
    }
    information = { aa, ab, bb }
    const move = inverse(aa, ab, bb)
    const moveA = move.aa * slopeA + move.ab * slopeB
    const moveB = move.ab * slopeA + move.bb * slopeB
    let share = 1
    let next = logPosterior(a + moveA, b + moveB)
    while (next < best && share > 1e-3) {
      share /= 2
      next = logPosterior(a + share * moveA, b + share * moveB)
    }
    if (next < best) break
    a += share * moveA
    b += share * moveB
    best = next
    if (Math.abs(moveA) + Math.abs(moveB) < 1e-9) break
  }

  const grid = gridAround({ a, b, information }, logPosterior)
  return {
    levels: grid.levels,
    steepness: grid.logSteepness.map(Math.exp),
    weights: grid.weights,
    mode: { a, b },
    belief: beliefOf(grid),
    shape,
    noise: LEAST_NOISE,
    reach: 1,
  }
}

/** Curves by level and log steepness, with weights that sum to one. */
interface CurveGrid {
  readonly levels: Float64Array
  readonly logSteepness: Float64Array
  readonly weights: Float64Array
}

/** Builds the grid around the mode, along the axes of the Laplace approximation, and weights each curve by its posterior. */
function gridAround(
  { a, b, information }: { readonly a: number; readonly b: number; readonly information: Precision },
  logPosterior: (a: number, b: number) => number,
): CurveGrid {
  const covariance = inverse(information.aa, information.ab, information.bb)
  const c11 = Math.sqrt(covariance.aa)
  const c21 = covariance.ab / c11
  const c22 = Math.sqrt(Math.max(covariance.bb - c21 * c21, 1e-12))
  const size = GRID_A * GRID_B
  const levels = new Float64Array(size)
  const logSteepness = new Float64Array(size)
  const weights = new Float64Array(size)
  let top = -Infinity
  for (let i = 0; i < GRID_A; i++) {
    const u = GRID_STRETCH * GRID_HALF_WIDTH * ((2 * i) / (GRID_A - 1) - 1)
    for (let j = 0; j < GRID_B; j++) {
      const v = GRID_STRETCH * GRID_HALF_WIDTH * ((2 * j) / (GRID_B - 1) - 1)
      const c = i * GRID_B + j
      levels[c] = a + c11 * u
      logSteepness[c] = clip(b + c21 * u + c22 * v, LOG_STEEPNESS_MIN, LOG_STEEPNESS_MAX)
      const logWeight = logPosterior(levels[c]!, logSteepness[c]!)
      weights[c] = logWeight
      top = Math.max(top, logWeight)
    }
  }
  let sum = 0
  for (let c = 0; c < size; c++) {
    weights[c] = Math.exp(weights[c]! - top)
    sum += weights[c]!
  }
  for (let c = 0; c < size; c++) weights[c] = weights[c]! / sum
  return { levels, logSteepness, weights }
}

/** The weighted means, variances and covariance of a grid. */
function beliefOf({ levels, logSteepness, weights }: CurveGrid): CurveBelief {
  let meanA = 0
  let meanB = 0
  for (let c = 0; c < weights.length; c++) {
    meanA += weights[c]! * levels[c]!
    meanB += weights[c]! * logSteepness[c]!
  }
  let varianceA = LEAST_VARIANCE
  let covariance = 0
  let varianceB = LEAST_VARIANCE
  for (let c = 0; c < weights.length; c++) {
    const da = levels[c]! - meanA
    const db = logSteepness[c]! - meanB
    varianceA += weights[c]! * da * da
    covariance += weights[c]! * da * db
    varianceB += weights[c]! * db * db
  }
  return { a: meanA, b: meanB, varianceA, covariance, varianceB }
}

/**
 * The win probability at relative rate x: the weighted mean over the posterior's curves.
 *
 * @example winMean(posterior, 0) // .524162 for the ten quotes of docs/estimate-formulas.md at their reference rate
 */
export function winMean(posterior: Posterior, x: number): number {
  const stop = brake(x)
  const { shape } = posterior
  const rate = effectiveRate(x, shape)
  let sum = 0
  for (let c = 0; c < posterior.weights.length; c++) {
    sum += posterior.weights[c]! * sigmoid(posterior.levels[c]! - posterior.steepness[c]! * rate - stop)
  }
  return shape.ceiling * Math.min(sum, 1)
}
