import type { Posterior } from './posterior.ts'
import { brake, sigmoid } from './price-response.ts'
import { at } from './vector.ts'

/** A range for the probability of winning. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * What no curve knows: how quotes at the same rate differ, in log odds. A three-point normal of this sd is laid over
 * every curve, so that an interval never closes however long the history.
 */
const LANE_NOISE_SD = 0.25
const NODES = [
  { shift: -Math.sqrt(3) * LANE_NOISE_SD, weight: 1 / 6 },
  { shift: 0, weight: 2 / 3 },
  { shift: Math.sqrt(3) * LANE_NOISE_SD, weight: 1 / 6 },
] as const

/**
 * Quantiles of the probability of winning at relative rate x, in the order asked for: the weighted quantile over the
 * posterior's curves, each with the three noise nodes, interpolated in log odds between the middles of the weights.
 *
 * @example winQuantiles(posterior, 0, [0.1, 0.9]) // [.281543, .755770] for the example of docs/model-estimate.md
 */
export function winQuantiles(posterior: Posterior, x: number, levels: readonly number[]): number[] {
  const size = posterior.weights.length
  const stop = brake(x)
  const logOdds = new Float64Array(size * NODES.length)
  const weights = new Float64Array(size * NODES.length)
  let filled = 0
  for (const node of NODES) {
    for (let c = 0; c < size; c++) {
      logOdds[filled] = at(posterior.levels, c) - at(posterior.steepness, c) * x - stop + node.shift
      weights[filled] = at(posterior.weights, c) * node.weight
      filled++
    }
  }
  const order = Uint16Array.from(logOdds.keys()).sort((i, j) => at(logOdds, i) - at(logOdds, j))
  return levels.map((level) => {
    let sum = 0
    let lastMiddle = -1
    let lastLogOdds = 0
    for (const i of order) {
      const middle = sum + at(weights, i) / 2
      const here = at(logOdds, i)
      if (middle >= level) {
        if (lastMiddle < 0) return sigmoid(here)
        const share = (level - lastMiddle) / (middle - lastMiddle)
        return sigmoid(lastLogOdds + share * (here - lastLogOdds))
      }
      sum += at(weights, i)
      lastMiddle = middle
      lastLogOdds = here
    }
    return sigmoid(lastLogOdds)
  })
}

/** Nearer to an end than this, a bound goes to the end: "almost never" cannot be told from "never" with a lane's data. */
const END = 0.03

/**
 * The end rule: a lower bound under 3 % becomes 0, an upper bound over 97 % becomes 1; a lower bound is never above 97 %
 * and an upper one never below 3 %.
 *
 * @example withEnds({ low: 0.024, high: 0.55 }) // { low: 0, high: 0.55 }
 */
export function withEnds(interval: Interval): Interval {
  return {
    low: interval.low < END ? 0 : Math.min(interval.low, 1 - END),
    high: interval.high > 1 - END ? 1 : Math.max(interval.high, END),
  }
}

/**
 * The 80 % and 95 % intervals of the probability of winning at relative rate x, ends as by `withEnds`.
 *
 * @example winIntervals(posterior, 0).interval80 // { low: .281543, high: .755770 }
 */
export function winIntervals(
  posterior: Posterior,
  x: number,
): { interval80: Interval; interval95: Interval } {
  const [low95 = 0, low80 = 0, high80 = 1, high95 = 1] = winQuantiles(posterior, x, [0.025, 0.1, 0.9, 0.975])
  return {
    interval80: withEnds({ low: low80, high: high80 }),
    interval95: withEnds({ low: low95, high: high95 }),
  }
}
