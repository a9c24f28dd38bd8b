/**
 * May spot quotes help to price contract freight? As far as this brokerage's own outcomes agree: a spot quote counts as anything
 * from nothing to one contract quote. Methods: outcomes of the other type count by a normalized power prior (Ibrahim and Chen,
 * 2000; Duan, Ye and Smith, 2006), averaged over its weights. The usual difference of rates is a random-effects mean over lanes
 * (compare DerSimonian and Laird, 1986).
 * docs/estimate-formulas.md, "Spot and contract".
 */

import { PENDING } from '../quotes/quote-columns.ts'
import { inPool, isPooled, type LaneQuote, type QuotedLanes, quotedLanes } from '../quotes/quoted-lanes.ts'
import type { RateType } from '../rate-type.ts'
import { rateTypes } from '../rate-type.ts'
import { finished, type Steps } from '../steps.ts'
import {
  BANK_SIZE,
  bankIndex,
  LEVEL_COUNT,
  LEVEL_STEP,
  STEEPNESS_COUNT,
  STEEPNESS_STEP,
} from './curve-bank.ts'
import { USUAL_FAMILY } from './curve-family.ts'
import {
  type Borrowing,
  type Estimator,
  estimatorOn,
  type Groundwork,
  groundworkInSteps,
  sendLanes,
} from './estimator.ts'
import { levelWeight } from './reference-rate.ts'
import { type ScopeModel, scopePath, sendScopes } from './scope-tree.ts'
import { logEvidence, messageDown, messageUp, rootBelief, SCOPE_KINSHIP } from './tree.ts'
import { addInto, clip } from './vector.ts'

/** An estimator for each rate type. Null without quotes of the type; without any quotes, spot has an empty one. */
export type EstimatorsByType = Readonly<Record<RateType, Estimator | null>>

/** The estimator of a rate type; the other type's estimator if the type has no quotes. */
export function estimatorFor(estimators: EstimatorsByType, rateType: RateType): Estimator {
  const found = estimators[rateType] ?? estimators.spot ?? estimators.contract
  if (found === null) throw new Error('There is an estimator of a rate type.')
  return found
}

/** A rate type with fewer decided quotes takes the curve family of the other type, and at least its swing. */
const OWN_FAMILY_MIN = 200

/** The parts of an outcome that an outcome of the other rate type may count as. Without evidence, it counts as about their mean. */
const WEIGHTS = [0, 0.03, 0.1, 0.3, 1] as const
/**
 * The win curves of the two types may differ by this many steps of the bank, in level and in steepness. Before any evidence,
 * differences of about the spreads are expected.
 */
const LEVEL_STEPS = 4
const STEEPNESS_STEPS = 3
const LEVEL_SPREAD = 0.6
const STEEPNESS_SPREAD = 1
/** The types are compared in this many state pairs, those with most decided quotes. The other pairs are added up to one. */
const COMPARED_SCOPES = 24

/** How much the rates of one lane vary: the variance of log rates around the lane's level. */
const QUOTE_VARIANCE = 0.01
/** How large the usual difference between spot and contract rates is expected to be: a standard deviation in log rate. */
const OFFSET_SPREAD = 0.1
/**
 * The assumed variance of a lane's difference around the usual one, counted as if measured on four lanes, and the limits of the variance.
 */
const LANE_VARIANCE = 0.01
const ASSUMED_LANES = 4
const LANE_VARIANCE_MIN = 0.0025
const LANE_VARIANCE_MAX = 0.04

/** Estimators in preparation. Quotes may change meanwhile if `beforeChange` is called first for each that has begun. */
export interface TypesPreparation {
  readonly steps: Steps<EstimatorsByType>
  readonly begun: () => readonly Estimator[]
}

/**
 * Prepares a brokerage's quotes for every estimate of a day, spot and contract apart: each type has its own market, curves and
 * swings. An estimate of a type borrows from the other type what the brokerage's quotes support: see docs/estimate-formulas.md.
 *
 * @param rows all rows in the order of time
 */
export function estimatorsByTypeInSteps(
  quoted: QuotedLanes,
  now: number,
  rows: Int32Array,
): TypesPreparation {
  const begun: Estimator[] = []
  // `begun` lives as long as the estimators. If `rows` were in its scope, their memory could not be freed.
  return { steps: preparation(begun, { quoted, now, rows }), begun: () => begun }
}

/**
 * Like `estimatorsByTypeInSteps`, for quotes in a list.
 *
 * @example estimatorsByType({ quotes: [], now }).contract // null
 */
export function estimatorsByType(facts: { quotes: readonly LaneQuote[]; now: number }): EstimatorsByType {
  const quoted = quotedLanes(facts.quotes)
  const rows = finished(quoted.columns.orderedRows())
  return finished(estimatorsByTypeInSteps(quoted, facts.now, rows).steps)
}

/** The unfinished estimator of a rate type, and the rates of its lanes. */
interface Begun {
  readonly estimator: Estimator
  /** The log rate of each lane and its weight, on the day of the model; weight 0 without a rate. */
  readonly logRates: Float64Array
  readonly weights: Float64Array
  /** The lanes in the order of their first quotes, so that sums have the same digits in whatever order quotes arrived. */
  readonly laneOrder: readonly number[]
}

function* preparation(
  begun: Estimator[],
  { quoted, now, rows }: { quoted: QuotedLanes; now: number; rows: Int32Array },
): Steps<EstimatorsByType> {
  const grounds: { rateType: RateType; groundwork: Groundwork; decided: number }[] = []
  for (const rateType of rateTypes) {
    const pooled = inPool(quoted, rateType)
    const own = rows.filter((row) => isPooled(pooled, row))
    yield
    if (own.length === 0 && (rateType !== 'spot' || rows.length > 0)) continue
    const decided = own.reduce((sum, row) => sum + Number(quoted.columns.outcomeOf(row) !== PENDING), 0)
    grounds.push({ rateType, decided, groundwork: yield* groundworkInSteps(pooled, now, own) })
  }
  const made = new Map<RateType, Begun>()
  for (const { rateType, groundwork, decided } of grounds) {
    const other = grounds.find((one) => one.rateType !== rateType)
    const isThin = decided < OWN_FAMILY_MIN && other !== undefined && other.decided > decided
    const one = yield* begin(begun, isThin ? takenFrom(groundwork, other.groundwork) : groundwork)
    made.set(rateType, one)
  }
  const [spot, contract] = [made.get('spot'), made.get('contract')]
  if (spot !== undefined && contract !== undefined) yield* borrow(spot, contract)
  for (const { estimator } of made.values()) yield* sendScopes(estimator)
  return { spot: spot?.estimator ?? null, contract: contract?.estimator ?? null }
}

/**
 * The groundwork of a type with few quotes, with at least the other type's swing, and its curve family unless the own family is unusual.
 */
function takenFrom(own: Groundwork, { family, swings: { ofLanes } }: Groundwork): Groundwork {
  const isUsual =
    own.family.shape === USUAL_FAMILY.shape && own.family.spreadIndex === USUAL_FAMILY.spreadIndex
  const swings = { ...own.swings, ofLanes: Math.max(own.swings.ofLanes, ofLanes) }
  return { ...own, swings, family: isUsual ? family : own.family }
}

function* begin(begun: Estimator[], groundwork: Groundwork): Steps<Begun> {
  const estimator = estimatorOn(groundwork)
  begun.push(estimator)
  const { quoted, day, haulLog, market } = estimator
  const logRates = new Float64Array(quoted.laneCount)
  const weights = new Float64Array(quoted.laneCount)
  const { miles } = quoted.columns
  yield* sendLanes(estimator, groundwork.counted, (lane, level) => {
    const newest = groundwork.counted.rowsOf(lane)?.rows.at(-1)
    const haul = newest === undefined ? Number.NaN : miles[newest]!
    logRates[lane] = level.mean + (market.now?.index ?? 0) + haulLog(Number.isNaN(haul) ? null : haul)
    weights[lane] = levelWeight(level, day)
  })
  return { estimator, logRates, weights, laneOrder: groundwork.counted.laneOrder }
}

/** Lets both types borrow from each other. */
function* borrow(spot: Begun, contract: Begun): Steps<void> {
  const ofSpot = yield* learned(spot, contract)
  const ofContract = yield* learned(contract, spot)
  // The totals are copied before either includes borrowed outcomes.
  const [fromSpot, fromContract] = [leavesOf(spot.estimator), leavesOf(contract.estimator)]
  yield* addBorrowed(spot.estimator, ofSpot, fromContract)
  yield* addBorrowed(contract.estimator, ofContract, fromSpot)
}

/** The narrowest scope of lanes, mostly a state pair, with a copy of its total before anything was borrowed. */
interface Leaf {
  readonly path: { readonly name: string; readonly key: string }[]
  readonly total: Float64Array
  readonly decided: number
}

/** The narrowest scopes, to which lanes belong. */
function leavesOf({ scopes, tenant }: Estimator): Map<string, Leaf> {
  const found = new Map<string, Leaf>()
  const parents = new Set([...scopes.values()].map(({ parent }) => parent))
  for (const scope of [tenant, ...scopes.values()]) {
    if (parents.has(scope) || scope.decided === 0) continue
    const path: { name: string; key: string }[] = []
    for (let at: ScopeModel = scope; at.parent !== null; at = at.parent)
      path.unshift({ name: at.name, key: at.key })
    const name = path.map(({ key }) => `/${key}`).join('')
    found.set(name, { path, total: scope.total.slice(), decided: scope.decided })
  }
  return found
}

function* addBorrowed(
  model: Estimator,
  borrowing: Borrowing,
  leaves: ReadonlyMap<string, Leaf>,
): Steps<void> {
  model.borrowing = borrowing
  const { weight, levelShift, steepnessShift } = borrowing
  if (weight === 0) return
  const steps = { levels: levelShift / LEVEL_STEP, steepness: steepnessShift / STEEPNESS_STEP }
  for (const { path, total, decided } of leaves.values()) {
    const scope = scopePath(model, { scopes: path })
    addInto(
      scope.total,
      shifted(total, steps).map((value) => weight * value),
    )
    for (let above: ScopeModel | null = scope; above; above = above.parent) above.borrowed += weight * decided
    yield
  }
}

/** Moves the value of each curve of the bank to the curve that is some steps of level and steepness higher. */
function shifted(
  total: Float64Array,
  { levels, steepness }: { readonly levels: number; readonly steepness: number },
): Float64Array {
  const out = new Float64Array(BANK_SIZE)
  for (let j = 0; j < STEEPNESS_COUNT; j++) {
    const [low, high, share] = between(j - steepness, STEEPNESS_COUNT)
    for (let i = 0; i < LEVEL_COUNT; i++) {
      const [below, above, part] = between(i - levels, LEVEL_COUNT)
      const at = (k: number, l: number) => total[bankIndex(k, l)]!
      const ofLow = (1 - part) * at(below, low) + part * at(above, low)
      const ofHigh = (1 - part) * at(below, high) + part * at(above, high)
      out[bankIndex(i, j)] = (1 - share) * ofLow + share * ofHigh
    }
  }
  return out
}

/** The two steps of the bank next to a place between them, and the part of the upper one. */
function between(place: number, count: number): [below: number, above: number, part: number] {
  const within = clip(place, 0, count - 1)
  const below = Math.floor(within)
  return [below, Math.min(below + 1, count - 1), within - below]
}

/** Learns how much a type borrows from the other, from the lanes and scopes that have quotes of both. */
function* learned(own: Begun, other: Begun): Steps<Borrowing> {
  const curves =
    own.estimator.family.shape === other.estimator.family.shape
      ? yield* learnedCurves(own.estimator, other.estimator)
      : { weight: 0, levelShift: 0, steepnessShift: 0 }
  return { from: other.estimator, ...curves, ...learnedRates(own, other) }
}

/** The outcomes of both types in one state pair, and the belief before them. */
interface Compared {
  readonly own: Float64Array
  readonly other: Float64Array
  readonly before: Float64Array
}

/** The places to compare the types: each state pair with outcomes of both, and all the others together. */
function comparedScopes(own: Estimator, other: Estimator): Compared[] {
  const [ofOwn, ofOther] = [leavesOf(own), leavesOf(other)]
  const before = messageDown(messageDown(rootBelief(), SCOPE_KINSHIP), SCOPE_KINSHIP)
  const both = [...ofOwn]
    .flatMap(([name, leaf]) => {
      const same = ofOther.get(name)
      return same === undefined ? [] : [{ name, own: leaf, other: same }]
    })
    .sort((one, next) => next.own.decided - one.own.decided)
    .slice(0, COMPARED_SCOPES)
  const names = new Set(both.map(({ name }) => name))
  const rest = (leaves: ReadonlyMap<string, Leaf>) => {
    const sum = new Float64Array(BANK_SIZE)
    for (const [name, { total }] of leaves)
      if (!names.has(name)) addInto(sum, messageUp(total, SCOPE_KINSHIP))
    return sum
  }
  return [
    ...both.map((one) => ({ own: one.own.total, other: one.other.total, before })),
    { own: rest(ofOwn), other: rest(ofOther), before: rootBelief() },
  ]
}

/**
 * How much an outcome of the other type counts for a type, and how their win curves differ. A candidate (a weight and a difference) counts
 * more, the better it predicts the outcomes of this type from those of the other. The results are means over all candidates.
 */
function* learnedCurves(
  own: Estimator,
  other: Estimator,
): Steps<Pick<Borrowing, 'weight' | 'levelShift' | 'steepnessShift'>> {
  const places = comparedScopes(own, other)
  const candidates: { weight: number; levels: number; steepness: number; log: number }[] = []
  for (let levels = -LEVEL_STEPS; levels <= LEVEL_STEPS; levels++) {
    for (let steepness = -STEEPNESS_STEPS; steepness <= STEEPNESS_STEPS; steepness++) {
      const prior =
        -0.5 * ((levels * LEVEL_STEP) / LEVEL_SPREAD) ** 2 -
        0.5 * ((steepness * STEEPNESS_STEP) / STEEPNESS_SPREAD) ** 2
      const logs = WEIGHTS.map(() => prior)
      for (const { own: outcomes, other: others, before } of places) {
        const moved = shifted(others, { levels, steepness })
        for (const [at, weight] of WEIGHTS.entries()) {
          const known = before.map((value, c) => value + weight * moved[c]!)
          const without = logEvidence(known)
          addInto(known, outcomes)
          logs[at] = logs[at]! + logEvidence(known) - without
        }
      }
      yield
      for (const [at, weight] of WEIGHTS.entries())
        candidates.push({ weight, levels, steepness, log: logs[at]! })
    }
  }
  const top = Math.max(...candidates.map(({ log }) => log))
  const sum = (of: (one: (typeof candidates)[number]) => number) =>
    candidates.reduce((total, one) => total + of(one) * Math.exp(one.log - top), 0)
  const borrowed = sum(({ weight }) => weight)
  return {
    weight: borrowed / sum(() => 1),
    levelShift: (LEVEL_STEP * sum(({ weight, levels }) => weight * levels)) / borrowed,
    steepnessShift: (STEEPNESS_STEP * sum(({ weight, steepness }) => weight * steepness)) / borrowed,
  }
}

/**
 * How spot and contract rates differ on the same lane: the mean over the lanes with both, shrunk toward no difference, and how much lanes
 * vary around it. The less they vary, the more a rate of the other type counts.
 */
function learnedRates(
  own: Begun,
  other: Begun,
): Pick<Borrowing, 'rateOffset' | 'rateWeight' | 'lanesOfBoth'> {
  const lanes: { difference: number; chance: number }[] = []
  for (const lane of own.laneOrder) {
    const [one = 0, two = 0] = [own.weights[lane], other.weights[lane]]
    if (one <= 0 || two <= 0) continue
    const difference = own.logRates[lane]! - other.logRates[lane]!
    lanes.push({ difference, chance: QUOTE_VARIANCE * (1 / one + 1 / two) })
  }
  const offset = (variance: number) => {
    let [sum, weights] = [0, 1 / OFFSET_SPREAD ** 2]
    for (const { difference, chance } of lanes) {
      sum += difference / (variance + chance)
      weights += 1 / (variance + chance)
    }
    return sum / weights
  }
  const usual = offset(LANE_VARIANCE)
  // Lanes with few quotes say little about the variance: each lane counts by how well its difference is known.
  let [excess, known] = [ASSUMED_LANES * LANE_VARIANCE, ASSUMED_LANES]
  for (const { difference, chance } of lanes) {
    const weight = (LANE_VARIANCE / (LANE_VARIANCE + chance)) ** 2
    excess += weight * ((difference - usual) ** 2 - chance)
    known += weight
  }
  const variance = clip(excess / known, LANE_VARIANCE_MIN, LANE_VARIANCE_MAX)
  return {
    rateOffset: offset(variance),
    rateWeight: QUOTE_VARIANCE / variance,
    lanesOfBoth: lanes.length,
  }
}
