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

/** A name of this file's own: the loops below read it millions of times, and an import can cost a look-up each time. */
const LEVELS = LEVEL_COUNT
/** Distances between two levels, either way. */
const DISTANCES = 2 * LEVELS - 1

/** Where a distance stands in a bell: those of one steepness stand together. */
function bellIndex(distance: number, j: number): number {
  return j * DISTANCES + LEVELS - 1 + distance
}

/**
 * How far a child's level may lie from its parent's, for each steepness: a Gaussian over the bank's levels, made to sum
 * to one over the child's levels for every parent level. `bell` holds it by distance (it depends on nothing else), from the
 * farthest below to the farthest above, so that the loops below read it in order; `total` holds the sums.
 */
export interface Kinship {
  readonly bell: Float64Array
  readonly total: Float64Array
}

/**
 * The kinship of a child with its parent: variance `spread^2 + (e^b tilt)^2`. The second part says that two lanes may also
 * differ in where their market stands, by `tilt` in log rate, which matters the more the steeper the curve.
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
      for (let i = 0; i < LEVELS; i++) sum += bell[bellIndex(i - m, j)] as number
      total[bankIndex(m, j)] = sum
    }
  }
  return { bell, total }
}

/** State pair to region pair, region pair to tenant. */
export const SCOPE_KINSHIP = kinship(0.5, 0.03 * 0.03)

/** Lane to state pair where the lane's own reference rate is well known. */
export const LANE_KINSHIP = kinship(0.7, 0.06 * 0.06)

/**
 * How far lanes' levels may lie from their state pair's. Most tenants' lanes are alike (0.7); where they are not, a lane
 * has to speak for itself sooner (1). Which of the two holds is read from the tenant's own quotes.
 */
export const LANE_SPREADS = [0.7, 1] as const

const SMALL_LANE_LIMIT = 200
const laneKinships = LANE_SPREADS.map(() => new Map<number, Kinship>())

/**
 * Lane to state pair for a lane with `decided` decided quotes: the fewer there are, the less is known of where its market
 * stands, so tilt^2 = 0.06^2 + 0.01 / max(decided, 1). Beyond 200 quotes the difference is nil.
 */
export function laneKinship(decided: number, spreadIndex: number): Kinship {
  const n = Math.max(1, Math.min(SMALL_LANE_LIMIT, decided))
  const known = laneKinships[spreadIndex]?.get(n)
  if (known) return known
  const made = kinship(LANE_SPREADS[spreadIndex] ?? LANE_SPREADS[0], 0.06 * 0.06 + 0.01 / n)
  laneKinships[spreadIndex]?.set(n, made)
  return made
}

/** The log of how likely a tenant's outcomes are under a belief over the bank: log of the sum of its weights. */
export function logEvidence(logWeights: Float64Array): number {
  const top = logWeights.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  return top + Math.log(logWeights.reduce((sum, value) => sum + Math.exp(value - top), 0))
}

/** How much a child's steepness may wander from its parent's on the way down: Gaussian in b, sd 0.4, columns sum to 1. */
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

/** What is believed of any freight tenant before its first quote: level 0.5 +- 1.5, steepness 8, give or take e-fold. */
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

/** Below this a sum of likelihoods is taken to be this, so that its logarithm stays a number. */
const SMALLEST = 1e-300

/**
 * Weights the levels of one steepness (`levels` from index `from` on) with the bell around each level:
 * `out[m] = sum_i bell[|i - m|] levels[i]`.
 *
 * The loop computes four outputs at a time. Neighboring outputs read the same bell values one step apart, so each value is
 * loaded once and handed on: half the time of the plain double loop, with the same digits.
 */
function blur(levels: Float64Array, from: number, bell: Float64Array, j: number, out: Float64Array): void {
  const end = from + LEVELS
  let m = 0
  for (; m + 3 < LEVELS; m += 4) {
    let at = bellIndex(-m, j)
    let bell0 = bell[at] as number
    let bell1 = bell[at - 1] as number
    let bell2 = bell[at - 2] as number
    let bell3 = bell[at - 3] as number
    let level = levels[from] as number
    let a = bell0 * level
    let b = bell1 * level
    let c = bell2 * level
    let d = bell3 * level
    // 41 levels: the first one above, and ten times four.
    for (let i = from + 1; i < end; i += 4) {
      level = levels[i] as number
      bell3 = bell[at + 1] as number
      a += bell3 * level
      b += bell0 * level
      c += bell1 * level
      d += bell2 * level
      level = levels[i + 1] as number
      bell2 = bell[at + 2] as number
      a += bell2 * level
      b += bell3 * level
      c += bell0 * level
      d += bell1 * level
      level = levels[i + 2] as number
      bell1 = bell[at + 3] as number
      a += bell1 * level
      b += bell2 * level
      c += bell3 * level
      d += bell0 * level
      level = levels[i + 3] as number
      at += 4
      bell0 = bell[at] as number
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
    for (let i = 0; i < LEVELS; i++) sum += (bell[near + i] as number) * (levels[from + i] as number)
    out[m] = sum
  }
}

/** The likelihoods of a bank, those of each steepness scaled so that their largest is 1: `tops` are the logs of the scales. */
export interface ScaledLikelihood {
  readonly likelihoods: Float64Array
  readonly tops: Float64Array
}

/** Room for the result of `scaledLikelihood`. */
export function emptyLikelihood(): ScaledLikelihood {
  return { likelihoods: new Float64Array(BANK_SIZE), tops: new Float64Array(STEEPNESS_COUNT) }
}

/**
 * The likelihoods behind a log likelihood over the bank: the same for every kinship of a child.
 *
 * @param out where to write the result, for callers that scale one child after another
 */
export function scaledLikelihood(
  child: Float64Array,
  out: ScaledLikelihood = emptyLikelihood(),
): ScaledLikelihood {
  const { likelihoods, tops } = out
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    let top = -Infinity
    for (let i = 0; i < LEVELS; i++) top = Math.max(top, child[from + i] as number)
    for (let i = 0; i < LEVELS; i++) likelihoods[from + i] = Math.exp((child[from + i] as number) - top)
    tops[j] = top
  }
  return out
}

/**
 * What a child's data say about its parent: for every parent level m and steepness b, the log of the child's likelihood
 * averaged over the levels a the child may have, `ln sum_a K[m,a,b] exp T[a,b]`.
 */
export function messageUp(child: Float64Array, kin: Kinship): Float64Array {
  const out = new Float64Array(BANK_SIZE)
  addMessageUp(out, scaledLikelihood(child), kin)
  return out
}

/** Adds what a child says to the sum of what a parent is told: `messageUp` without a list of its own for each child. */
export function addMessageUp(
  sum: Float64Array,
  { likelihoods, tops }: ScaledLikelihood,
  { bell, total }: Kinship,
): void {
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    const top = tops[j] as number
    blur(likelihoods, from, bell, j, averages)
    for (let m = from; m < from + LEVELS; m++) {
      const average = (averages[m - from] as number) / (total[m] as number)
      sum[m] = (sum[m] as number) + (Math.log(average > SMALLEST ? average : SMALLEST) + top)
    }
  }
}

/** What the levels of one steepness add up to: written and read within one call. */
const averages = new Float64Array(LEVELS)

/**
 * What a parent's belief says about a child nothing is known of yet:
 * `ln sum_b' J[b,b'] sum_m K[m,a,b'] exp T[m,b']`, J letting the steepness wander.
 */
export function messageDown(parent: Float64Array, kin: Kinship): Float64Array {
  let top = -Infinity
  for (let c = 0; c < BANK_SIZE; c++) top = Math.max(top, parent[c] as number)
  const { bell } = kin
  const spread = new Float64Array(BANK_SIZE)
  const weight = new Float64Array(LEVELS)
  const sums = new Float64Array(LEVELS)
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const from = bankIndex(0, j)
    for (let m = 0; m < LEVELS; m++) {
      weight[m] = Math.exp((parent[from + m] as number) - top) / (kin.total[from + m] as number)
    }
    blur(weight, 0, bell, j, sums)
    spread.set(sums, from)
  }
  const out = new Float64Array(BANK_SIZE)
  for (let to = 0; to < STEEPNESS_COUNT; to++) {
    for (let i = 0; i < LEVELS; i++) {
      let sum = 0
      for (let j = 0; j < STEEPNESS_COUNT; j++) {
        sum += (wander[to * STEEPNESS_COUNT + j] as number) * (spread[bankIndex(i, j)] as number)
      }
      out[bankIndex(i, to)] = Math.log(Math.max(sum, SMALLEST)) + top
    }
  }
  return out
}
