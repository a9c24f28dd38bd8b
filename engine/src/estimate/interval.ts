/**
 * "52 %, likely 28 to 76 %": how far could the true chance be from the estimate? With three quotes on a lane, very far. Methods:
 * credible intervals (https://en.wikipedia.org/wiki/Credible_interval), from the weighted quantiles of the lane's possible
 * curves, each with noise by three-point Gauss-Hermite quadrature
 * (https://en.wikipedia.org/wiki/Gauss%E2%80%93Hermite_quadrature).
 * docs/estimate-formulas.md, "The posterior and its intervals".
 */

import type { Posterior } from './posterior.ts'
import { brake, effectiveRate, sigmoid } from './price-response.ts'
import { clip } from './vector.ts'

/** A range for the probability of winning. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * Three points that represent a normal distribution, in standard deviations. Each possible curve is moved up and down by them,
 * times the noise.
 */
export const NOISE_NODES = [
  { shift: -Math.sqrt(3), weight: 1 / 6 },
  { shift: 0, weight: 2 / 3 },
  { shift: Math.sqrt(3), weight: 1 / 6 },
] as const

/** Each possible curve of a lane three times, moved by the noise, and their order at the last computed rate. */
interface Fan {
  readonly posterior: Posterior
  readonly weights: Float64Array
  readonly logOdds: Float64Array
  readonly order: Uint16Array
}

function fanOf(posterior: Posterior): Fan {
  const size = posterior.weights.length
  const weights = new Float64Array(size * NOISE_NODES.length)
  for (const [n, node] of NOISE_NODES.entries()) {
    for (let c = 0; c < size; c++) weights[n * size + c] = posterior.weights[c]! * node.weight
  }
  const order = Uint16Array.from(weights.keys())
  return { posterior, weights, logOdds: new Float64Array(weights.length), order }
}

/**
 * Quantiles of the win probability at relative rate x, in log odds. The curves have nearly the same order at neighboring rates, so
 * an insertion sort from the previous order is fast.
 */
function fanQuantiles(fan: Fan, x: number, levels: readonly number[]): number[] {
  const { posterior, weights, logOdds, order } = fan
  const size = posterior.weights.length
  const stop = brake(x)
  const rate = effectiveRate(x, posterior.shape)
  const { steepness, noise, reach } = posterior
  let middle = 0
  for (let c = 0; c < size; c++)
    middle += posterior.weights[c]! * (posterior.levels[c]! - steepness[c]! * rate)
  for (const [n, node] of NOISE_NODES.entries()) {
    const moved = (1 - reach) * middle - stop + node.shift * noise
    for (let c = 0; c < size; c++) {
      logOdds[n * size + c] = moved + reach * (posterior.levels[c]! - steepness[c]! * rate)
    }
  }
  for (let i = 1; i < order.length; i++) {
    const moving = order[i]!
    const value = logOdds[moving]!
    let place = i
    // Equal log odds are ordered by index, so that the result does not depend on the previous order.
    while (place > 0) {
      const left = order[place - 1]!
      const leftValue = logOdds[left]!
      if (leftValue < value || (leftValue === value && left < moving)) break
      order[place] = left
      place--
    }
    order[place] = moving
  }
  const out: number[] = []
  let sum = 0
  let lastMiddle = -1
  let lastLogOdds = 0
  for (const i of order) {
    const middle = sum + weights[i]! / 2
    const here = logOdds[i]!
    while (out.length < levels.length && middle >= levels[out.length]!) {
      const share = lastMiddle < 0 ? 1 : (levels[out.length]! - lastMiddle) / (middle - lastMiddle)
      out.push(lastMiddle < 0 ? here : lastLogOdds + share * (here - lastLogOdds))
    }
    sum += weights[i]!
    lastMiddle = middle
    lastLogOdds = here
  }
  while (out.length < levels.length) out.push(lastLogOdds)
  return out
}

/**
 * Quantiles of the win probability at relative rate x, for ascending `levels`, such as 0.1 and 0.9: the weighted quantiles over the
 * posterior's curves, each with the three noise nodes, interpolated in log odds between the midpoints of the weights.
 *
 * @example winQuantiles(posterior, 0, [0.1, 0.9]) // [.281543, .755770] for the example of docs/estimate-formulas.md
 */
export function winQuantiles(posterior: Posterior, x: number, levels: readonly number[]): number[] {
  const { ceiling } = posterior.shape
  return fanQuantiles(fanOf(posterior), x, levels).map((logOdds) => ceiling * sigmoid(logOdds))
}

/** A bound closer than this to 0 or 1 becomes 0 or 1: the quotes of a lane cannot tell "almost never" from "never". */
const END = 0.03

/**
 * Moves the ends of an interval: a lower bound below 3 % becomes 0, and an upper bound above 97 % becomes 1. A lower bound is at
 * most 97 %, and an upper bound at least 3 %.
 *
 * @example withEnds({ low: 0.024, high: 0.55 }) // { low: 0, high: 0.55 }
 */
export function withEnds(interval: Interval, ceiling = 1): Interval {
  const highest = (1 - END) * ceiling
  return {
    low: interval.low < END ? 0 : Math.min(interval.low, highest),
    high: interval.high > highest ? ceiling : Math.max(interval.high, END),
  }
}

/** The relative rates at which bounds are computed. Bounds are interpolated in between, and constant beyond the first and last. */
const LATTICE = [
  ...Array.from({ length: 6 }, (_, i) => -1.2 + 0.1 * i),
  ...Array.from({ length: 61 }, (_, i) => -0.6 + 0.02 * i),
  ...Array.from({ length: 6 }, (_, i) => 0.7 + 0.1 * i),
]
const LEVELS = [0.025, 0.1, 0.9, 0.975] as const

/**
 * Both intervals of a lane at every rate. A higher offer never has a higher bound: where two curves cross, interpolation could
 * raise a quantile slightly, so each bound is a running minimum.
 */
export interface IntervalCurve {
  /** The bounds, in log odds, at the rates of the lattice: one array for each of `LEVELS`, never rising. */
  readonly bounds: readonly Float64Array[]
  readonly ceiling: number
}

/** The intervals of a posterior at every rate. Takes about half a millisecond; call it once per lane. */
export function intervalCurve(posterior: Posterior): IntervalCurve {
  const fan = fanOf(posterior)
  const bounds = LEVELS.map(() => new Float64Array(LATTICE.length))
  for (const [i, x] of LATTICE.entries()) {
    for (const [level, value] of fanQuantiles(fan, x, LEVELS).entries()) {
      const bound = bounds[level]
      if (bound) bound[i] = i === 0 ? value : Math.min(value, bound[i - 1]!)
    }
  }
  return { bounds, ceiling: posterior.shape.ceiling }
}

/**
 * The 80 % and 95 % intervals of the win probability at relative rate x, after `withEnds`. If the probability itself is outside an
 * interval, the interval is extended to it, to avoid "71 %, likely 74 to 90 %".
 *
 * @example intervalsAt(curve, { x: 0, mean: .524162 }).interval80 // { low: .281543, high: .755770 }
 */
export function intervalsAt(
  curve: IntervalCurve,
  offer: { x: number; mean: number },
): { interval80: Interval; interval95: Interval } {
  const last = LATTICE.length - 1
  let right = LATTICE.findIndex((place) => place >= offer.x - 1e-12)
  if (right < 0) right = last
  const left = Math.max(0, right - 1)
  const gap = LATTICE[right]! - LATTICE[left]!
  const share = gap > 0 ? clip((offer.x - LATTICE[left]!) / gap, 0, 1) : 0
  const [low95 = 0, low80 = 0, high80 = 1, high95 = 1] = curve.bounds
    .map((bound) => sigmoid(bound[left]! + share * (bound[right]! - bound[left]!)))
    .map((bound) => curve.ceiling * bound)
  const around = (low: number, high: number) => {
    const ends = withEnds({ low, high }, curve.ceiling)
    return { low: Math.min(ends.low, offer.mean), high: Math.max(ends.high, offer.mean) }
  }
  return { interval80: around(low80, high80), interval95: around(low95, high95) }
}
