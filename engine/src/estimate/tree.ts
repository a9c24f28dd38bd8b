/**
 * If a lane from Texas to Georgia wins 70 % at its going rate, what does that say about another lane between these states? The
 * nearer two lanes are, the more: lane, state pair, region pair, brokerage. Method: belief propagation on a tree (Pearl, 1982;
 * https://en.wikipedia.org/wiki/Belief_propagation), over the 615 curves of the bank.
 * docs/estimate-formulas.md, "What a lane takes from other lanes".
 */

import {
  BANK_SIZE,
  bankIndex,
  LEVEL_COUNT,
  LEVEL_STEP,
  levelAt,
  STEEPNESS_COUNT,
  STEEPNESS_STEP,
  steepnessAt,
} from './curve-bank.ts'

/** A local copy: the loops below read it millions of times, and an import can be slower to read. */
const LEVELS = LEVEL_COUNT
/** The number of signed distances between two levels. */
const DISTANCES = 2 * LEVELS - 1

/** Index of a distance in `Kinship.bell`. Distances of the same steepness are adjacent. */
function bellIndex(distance: number, j: number): number {
  return j * DISTANCES + LEVELS - 1 + distance
}

/**
 * How far a lane's win curve can be from that of its state pair (or a scope's from the wider scope): for each steepness, a Gaussian
 * distribution of the child's level around its parent's, normalized over the child's levels. `bell` contains the Gaussian by signed
 * distance, ascending, so that the loops below read it sequentially. `total` contains the sums for the normalization.
 */
export interface Kinship {
  readonly bell: Float64Array
  readonly total: Float64Array
}

/**
 * The kinship with variance `spread^2 + (e^b tilt)^2`. The second term allows for reference rates that are wrong by `tilt` in log
 * rate, which matters more for steeper curves.
 */
export function kinship(spread: number, tiltSquared: number): Kinship {
  const bell = new Float64Array(DISTANCES * STEEPNESS_COUNT)
  const total = new Float64Array(BANK_SIZE)
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const variance = spread * spread + Math.exp(2 * steepnessAt(j)) * tiltSquared
    for (let d = 0; d < LEVELS; d++) {
      const distance = d * LEVEL_STEP
      const value = Math.exp((-distance * distance) / (2 * variance))
      bell[bellIndex(d, j)] = value
      bell[bellIndex(-d, j)] = value
    }
    for (let m = 0; m < LEVELS; m++) {
      let sum = 0
      for (let i = 0; i < LEVELS; i++) sum += bell[bellIndex(i - m, j)]!
      total[bankIndex(m, j)] = sum
    }
  }
  return { bell, total }
}

/** The kinship of a state pair to its region pair, and of a region pair to the brokerage. */
export const SCOPE_KINSHIP = kinship(0.5, 0.03 * 0.03)

/** The kinship of a lane with a well-known reference rate to its state pair. */
export const LANE_KINSHIP = kinship(0.7, 0.06 * 0.06)

/**
 * How lanes differ from their state pair: the standard deviation of their level, and of their reference rate in log rate (`tilt`, and for a
 * lane with n quotes `quoteNoise` / n more variance). The brokerage's own quotes determine which of `LANE_SPREADS` is used.
 */
export interface LaneSpread {
  readonly level: number
  readonly tilt: number
  readonly quoteNoise: number
}

const USUAL_SPREAD: LaneSpread = { level: 0.7, tilt: 0.06, quoteNoise: 0.01 }

/** One spread of lanes that differ more, and borrow less from others; and one of lanes that hardly differ, such as those of sealed tenders. */
const OTHER_SPREADS: readonly LaneSpread[] = [
  { level: 1, tilt: 0.06, quoteNoise: 0.01 },
  { level: 0.35, tilt: 0.015, quoteNoise: 0.0005 },
]

/** From the usual spread to another in this many steps, so that no single quote switches how much lanes take from others. */
export const SPREAD_STEPS = 4

/** The usual spread, and for each other one those on the way to it, in equal ratios. */
export const LANE_SPREADS: readonly [LaneSpread, ...LaneSpread[]] = [
  USUAL_SPREAD,
  ...OTHER_SPREADS.flatMap((other) =>
    Array.from({ length: SPREAD_STEPS }, (_, i) => {
      const share = (i + 1) / SPREAD_STEPS
      const between = (name: keyof LaneSpread) =>
        USUAL_SPREAD[name] * (other[name] / USUAL_SPREAD[name]) ** share
      return { level: between('level'), tilt: between('tilt'), quoteNoise: between('quoteNoise') }
    }),
  ),
]

/** The indexes in `LANE_SPREADS` of the usual spread and of the others. */
export const FULL_SPREADS: readonly number[] = [0, ...OTHER_SPREADS.map((_, i) => (i + 1) * SPREAD_STEPS)]

const SMALL_LANE_LIMIT = 200
const laneKinships = LANE_SPREADS.map(() => new Map<number, Kinship>())

/**
 * The kinship of a lane with `decided` decided quotes to its state pair. With fewer quotes the reference rate is less certain, so tilt^2 =
 * 0.06^2 + 0.01 / max(decided, 1) with the usual spread. Above 200 quotes the difference is negligible.
 */
export function laneKinship(decided: number, spreadIndex: number): Kinship {
  const n = Math.max(1, Math.min(SMALL_LANE_LIMIT, decided))
  const known = laneKinships[spreadIndex]?.get(n)
  if (known) return known
  const { level, tilt, quoteNoise } = LANE_SPREADS[spreadIndex] ?? LANE_SPREADS[0]
  const made = kinship(level, tilt * tilt + quoteNoise / n)
  laneKinships[spreadIndex]?.set(n, made)
  return made
}

/** How well a belief over the bank explains a brokerage's outcomes: their log likelihood, the log of the sum of its weights. */
export function logEvidence(logWeights: Float64Array): number {
  const top = logWeights.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  return top + Math.log(logWeights.reduce((sum, value) => sum + Math.exp(value - top), 0))
}

/**
 * The distribution of a child's log steepness given its parent's: Gaussian with standard deviation 0.4. Each column
 * sums to 1.
 */
const wander = new Float64Array(STEEPNESS_COUNT * STEEPNESS_COUNT)
for (let from = 0; from < STEEPNESS_COUNT; from++) {
  let sum = 0
  for (let to = 0; to < STEEPNESS_COUNT; to++) {
    sum += Math.exp(-0.5 * (((to - from) * STEEPNESS_STEP) / 0.4) ** 2)
  }
  for (let to = 0; to < STEEPNESS_COUNT; to++) {
    wander[to * STEEPNESS_COUNT + from] = Math.exp(-0.5 * (((to - from) * STEEPNESS_STEP) / 0.4) ** 2) / sum
  }
}

/** The belief about a brokerage without quotes: level 0.5 +- 1.5, log steepness ln 8 +- 1. */
export function rootBelief(): Float64Array {
  const out = new Float64Array(BANK_SIZE)
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    for (let i = 0; i < LEVELS; i++) {
      out[bankIndex(i, j)] =
        -0.5 * ((levelAt(i) - 0.5) / 1.5) ** 2 - 0.5 * (steepnessAt(j) - Math.log(8)) ** 2
    }
  }
  return out
}

/** Lower limit for sums of likelihoods, so that their logarithms are finite. */
const SMALLEST = 1e-300

/**
 * Spreads the values of the levels of one steepness (`levels` from index `from` on) to their neighbors by the bell:
 * `out[m] = sum_i bell[|i - m|] levels[i]`.
 *
 * The loop computes four outputs at a time. Neighboring outputs read the same bell values one step apart, so each value is loaded
 * once and reused. This takes half the time of a plain double loop, with the same digits.
 */
function blur(levels: Float64Array, from: number, bell: Float64Array, j: number, out: Float64Array): void {
  const end = from + LEVELS
  let m = 0
  for (; m + 3 < LEVELS; m += 4) {
    let at = bellIndex(-m, j)
    let bell0 = bell[at]!
    let bell1 = bell[at - 1]!
    let bell2 = bell[at - 2]!
    let bell3 = bell[at - 3]!
    let level = levels[from]!
    let a = bell0 * level
    let b = bell1 * level
    let c = bell2 * level
    let d = bell3 * level
    // 41 levels: the first one above, then ten groups of four.
    for (let i = from + 1; i < end; i += 4) {
      level = levels[i]!
      bell3 = bell[at + 1]!
      a += bell3 * level
      b += bell0 * level
      c += bell1 * level
      d += bell2 * level
      level = levels[i + 1]!
      bell2 = bell[at + 2]!
      a += bell2 * level
      b += bell3 * level
      c += bell0 * level
      d += bell1 * level
      level = levels[i + 2]!
      bell1 = bell[at + 3]!
      a += bell1 * level
      b += bell2 * level
      c += bell3 * level
      d += bell0 * level
      level = levels[i + 3]!
      at += 4
      bell0 = bell[at]!
      a += bell0 * level
      b += bell1 * level
      c += bell2 * level
      d += bell3 * level
    }
    out[m] = a
    out[m + 1] = b
    out[m + 2] = c
    out[m + 3] = d
  }
  for (; m < LEVELS; m++) {
    const near = bellIndex(-m, j)
    let sum = 0
    for (let i = 0; i < LEVELS; i++) sum += bell[near + i]! * levels[from + i]!
    out[m] = sum
  }
}

/** The likelihoods of the bank's curves, scaled per steepness so that the largest is 1. `tops` has the logs of the scales. */
export interface ScaledLikelihood {
  readonly likelihoods: Float64Array
  readonly tops: Float64Array
}

export function emptyLikelihood(): ScaledLikelihood {
  return { likelihoods: new Float64Array(BANK_SIZE), tops: new Float64Array(STEEPNESS_COUNT) }
}

/**
 * Converts a log likelihood over the bank to scaled likelihoods. One result serves all kinships of a child.
 *
 * @param out the buffer for the result. A caller that processes many children reuses one buffer.
 */
export function scaledLikelihood(
  child: Float64Array,
  out: ScaledLikelihood = emptyLikelihood(),
): ScaledLikelihood {
  const { likelihoods, tops } = out
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    let top = -Infinity
    for (let i = 0; i < LEVELS; i++) top = Math.max(top, child[from + i]!)
    for (let i = 0; i < LEVELS; i++) likelihoods[from + i] = Math.exp(child[from + i]! - top)
    tops[j] = top
  }
  return out
}

/**
 * What the outcomes of a child say about its parent's curve (a message): for each parent level m and steepness b, the log of the
 * child's likelihood, averaged over the child's levels a: `ln sum_a K[m,a,b] exp T[a,b]`.
 */
export function messageUp(child: Float64Array, kin: Kinship): Float64Array {
  const out = new Float64Array(BANK_SIZE)
  addMessageUp(out, scaledLikelihood(child), kin)
  return out
}

/** Adds the message of a child to the sum of its parent, without an array per child. */
export function addMessageUp(
  sum: Float64Array,
  { likelihoods, tops }: ScaledLikelihood,
  { bell, total }: Kinship,
): void {
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    const top = tops[j]!
    blur(likelihoods, from, bell, j, averages)
    for (let m = from; m < from + LEVELS; m++) {
      const average = averages[m - from]! / total[m]!
      sum[m]! += Math.log(average > SMALLEST ? average : SMALLEST) + top
    }
  }
}

/** A buffer of `addMessageUp`. */
const averages = new Float64Array(LEVELS)

/**
 * What a parent says about the curve of a child without outcomes: `ln sum_b' J[b,b'] sum_m K[m,a,b'] exp T[m,b']`, where J is the
 * distribution of the child's steepness.
 */
export function messageDown(parent: Float64Array, kin: Kinship): Float64Array {
  let top = -Infinity
  for (let c = 0; c < BANK_SIZE; c++) top = Math.max(top, parent[c]!)
  const { bell } = kin
  const spread = new Float64Array(BANK_SIZE)
  const weight = new Float64Array(LEVELS)
  const sums = new Float64Array(LEVELS)
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    for (let m = 0; m < LEVELS; m++) {
      weight[m] = Math.exp(parent[from + m]! - top) / kin.total[from + m]!
    }
    blur(weight, 0, bell, j, sums)
    spread.set(sums, from)
  }
  const out = new Float64Array(BANK_SIZE)
  for (let to = 0; to < STEEPNESS_COUNT; to++) {
    for (let i = 0; i < LEVELS; i++) {
      let sum = 0
      for (let j = 0; j < STEEPNESS_COUNT; j++) {
        sum += wander[to * STEEPNESS_COUNT + j]! * spread[bankIndex(i, j)]!
      }
      out[bankIndex(i, to)] = Math.log(Math.max(sum, SMALLEST)) + top
    }
  }
  return out
}
