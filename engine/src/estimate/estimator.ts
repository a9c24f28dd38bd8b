import { dayOf } from '../day.ts'
import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { type LaneQuote, type QuotedLanes, quotedLanes } from '../quotes/quoted-lanes.ts'
import { finished, type Steps } from '../steps.ts'
import { answerTimesInSteps } from './answer-times.ts'
import { type CountedRates, countedRatesInSteps } from './counted-rates.ts'
import { BANK_SIZE, bankLogLikelihood } from './curve-bank.ts'
import { type CurveFamily, chooseFamily } from './curve-family.ts'
import { emptyKnots, type Knots } from './knots.ts'
import {
  type FoldedAgainst,
  foldLane,
  foldLaneInSteps,
  type LaneFold,
  type LaneOutcomes,
  laneOutcomesInSteps,
} from './lane-fold.ts'
import { marketDaysInSteps } from './market-days.ts'
import { type Posterior, posteriorOf } from './posterior.ts'
import { relativeRate } from './price-response.ts'
import { type CurveBelief, priorOf } from './prior.ts'
import { haulQuotesInSteps, rateByMilesInSteps } from './rate-by-miles.ts'
import { type LaneLevel, levelWeight, type Morning, referenceOf } from './reference-rate.ts'
import { type Swings, swingsInSteps } from './swings.ts'
import {
  addMessageUp,
  emptyLikelihood,
  laneKinship,
  messageDown,
  messageUp,
  rootBelief,
  SCOPE_KINSHIP,
  scaledLikelihood,
} from './tree.ts'
import { addInto, difference } from './vector.ts'

/** A scope of the tree above the lanes. The root is the tenant, which has no parent. */
export interface ScopeModel {
  readonly name: string
  readonly key: string
  readonly parent: ScopeModel | null
  /** The sum of its children's messages. */
  readonly total: Float64Array
  /** The belief about its lanes from all other scopes; computed on first use. */
  fromAbove: Float64Array | null
  decided: number
  won: number
  lanes: number
  /** The decided quotes of the other rate type that the total includes, each with the weight that it counts with. */
  borrowed: number
}

/** What the estimates of a rate type take from the quotes of the other: see `estimatorsByTypeInSteps`. */
export interface Borrowing {
  readonly from: Estimator
  /** An outcome of the other type counts as this part of an own one, from 0 to 1. */
  readonly weight: number
  /** How the curves of the own type differ from those of the other: in log odds, and in log steepness. */
  readonly levelShift: number
  readonly steepnessShift: number
  /** ln of the own rates divided by those of the other type on the same lane. */
  readonly rateOffset: number
  /** A well-known rate of the other type on the lane counts as this number of own quotes. */
  readonly rateWeight: number
  /** The lanes with quotes of both types, from which the last two are learned. */
  readonly lanesOfBoth: number
}

/**
 * A tenant's quotes, prepared for a day.
 *
 * The influence of lanes on each other (the market, the curve by miles, the tree of scopes) is fixed at preparation. A
 * lane's own quotes are read for each answer, so the answer always counts them as they are. Call `beforeChange` before any
 * change to a quote. Prepare again to update the influence on other lanes.
 *
 * An estimator can be discarded at any time: the same facts give the same digits again.
 */
export interface Estimator extends FoldedAgainst {
  /** The shape of the curves and the lane spread that the tenant's outcomes support. */
  readonly family: CurveFamily
  /** The drift is added to the log odds of every curve; the swing of lanes widens the intervals. */
  readonly swings: Swings
  readonly tenant: ScopeModel
  readonly scopes: ReadonlyMap<string, ScopeModel>
  /** By lane: 1 once the totals include its message. */
  readonly sent: Uint8Array
  /** For lanes that changed since: the outcomes that the totals include. */
  readonly changed: Map<number, LaneOutcomes>
  /** Cached folds of requested lanes, until their quotes change. */
  readonly folded: Map<number, LaneFold>
  /** Lanes whose quotes changed since they were last folded. */
  readonly changing: Set<number>
  /** Null for a model of one pool of quotes. */
  borrowing: Borrowing | null
}

/** The most folds cached. */
const FOLDED_MAX = 500

export function scopePath(
  scopes: Map<string, ScopeModel>,
  tenant: ScopeModel,
  lane: Pick<LaneIdentity, 'scopes'>,
): ScopeModel {
  let parent = tenant
  let path = ''
  for (const { name, key } of lane.scopes) {
    path += `/${key}`
    const known = scopes.get(path)
    const scope = known ?? emptyScope(name, key, parent)
    if (!known) scopes.set(path, scope)
    parent = scope
  }
  return parent
}

function emptyScope(name: string, key: string, parent: ScopeModel | null): ScopeModel {
  return {
    name,
    key,
    parent,
    total: new Float64Array(BANK_SIZE),
    fromAbove: null,
    decided: 0,
    won: 0,
    lanes: 0,
    borrowed: 0,
  }
}

/**
 * Prepares a tenant's past quotes, handed in as a list, for every estimate of a day: see `prepareEstimatorInSteps`.
 *
 * @example prepareEstimator({ quotes: [], now }).tenant.decided // 0
 */
export function prepareEstimator(facts: { quotes: readonly LaneQuote[]; now: number }): Estimator {
  return finished(prepareListed(quotedLanes(facts.quotes), facts.now))
}

function* prepareListed(quoted: QuotedLanes, now: number): Steps<Estimator> {
  return yield* prepareEstimatorInSteps(quoted, now, yield* quoted.columns.orderedRows()).steps
}

/** An estimator in preparation. Quotes may change meanwhile if `beforeChange` is called first. */
export interface Preparation {
  readonly steps: Steps<Estimator>
  /** Null until the first lane is sent; from then on the estimator that `steps` will return. */
  readonly begun: () => Estimator | null
}

/**
 * Prepares a tenant's past quotes for every estimate of a day, in steps so that the process can answer other requests
 * meanwhile: about four seconds for a million quotes on 20,000 lanes.
 *
 * The preparation is a fold over the quotes in (quotedAt, laneId) order, so the order of the input does not matter, and a
 * model rebuilt from the same facts is equal to the last digit. Excludes quotes without a positive rate, quotes dated after
 * the day of `now`, and outliers. If quotes change during the preparation, the result may mix old and new states: prepare
 * again.
 *
 * @param rows all rows in the order of time
 */
export function prepareEstimatorInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Preparation {
  const made: { estimator: Estimator | null } = { estimator: null }
  // `rows` must not be in the scope of `begun`, which lives as long as the estimator.
  return { steps: preparation(made, { quoted, now, rows }), begun: () => made.estimator }
}

function* preparation(
  made: { estimator: Estimator | null },
  { quoted, now, rows }: { quoted: QuotedLanes; now: number; rows: Int32Array },
): Steps<Estimator> {
  const groundwork = yield* groundworkInSteps(quoted, now, rows)
  made.estimator = estimatorOn(groundwork)
  yield* sendLanes(made.estimator, groundwork.counted)
  yield* sendScopes(made.estimator)
  return made.estimator
}

/** What an estimator is made from: what the lanes have in common. */
export interface Groundwork {
  readonly against: FoldedAgainst
  readonly counted: CountedRates
  readonly swings: Swings
  readonly family: CurveFamily
}

/** A curve by miles is that of the pool if it has this many quotes with miles; else that of all quotes. */
const OWN_HAUL_MIN = 100

/** @param rows all rows of the pool in the order of time */
export function* groundworkInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Steps<Groundwork> {
  const day = dayOf(now)
  const own = yield* haulQuotesInSteps(quoted, day)
  const isEnough = quoted.pool === 'all' || own.length >= OWN_HAUL_MIN
  const { columns } = quoted
  const hauls = isEnough ? own : yield* haulQuotesInSteps({ columns, pool: 'all' }, day)
  const haulLog = yield* rateByMilesInSteps(hauls, day)
  const counted = yield* countedRatesInSteps(quoted, rows, { day, haulLog })
  const { logRates, middle } = counted
  const market = yield* marketDaysInSteps(columns, rows, logRates)
  const answers = yield* answerTimesInSteps(quoted, day)
  const against: FoldedAgainst = { quoted, day, haulLog, tenantMiddle: middle, market, answers }
  const swings = yield* swingsInSteps(quoted, rows, { logRates, day, answers })
  return { against, counted, swings, family: yield* chooseFamily(against, counted) }
}

/** An estimator without messages yet. */
export function estimatorOn({ against, swings, family }: Groundwork): Estimator {
  return {
    ...against,
    family,
    swings,
    tenant: emptyScope('tenant', '', null),
    scopes: new Map<string, ScopeModel>(),
    sent: new Uint8Array(against.quoted.laneCount),
    changed: new Map(),
    folded: new Map(),
    changing: new Set(),
    borrowing: null,
  }
}

interface Tree {
  readonly scopes: Map<string, ScopeModel>
  readonly tenant: ScopeModel
}

/** Receives the level of a lane while its message is sent. */
type SeeLevel = (lane: number, level: LaneLevel) => void

/** Adds the message of every lane to the total of its scope, and counts the lane's quotes there. */
export function* sendLanes(
  model: Estimator,
  { laneOrder, rowsOf }: CountedRates,
  see: SeeLevel = () => {},
): Steps<void> {
  const tree: Tree = { scopes: model.scopes as Map<string, ScopeModel>, tenant: model.tenant }
  const logLikelihood = new Float64Array(BANK_SIZE)
  const likelihood = emptyLikelihood()
  const knots = emptyKnots()
  for (const lane of laneOrder) {
    const scope = scopePath(tree.scopes, tree.tenant, model.quoted.identity(lane))
    const fold = yield* laneOutcomesInSteps(model, lane, rowsOf(lane), knots)
    model.sent[lane] = 1
    if (fold.level !== undefined) see(lane, fold.level)
    if (fold.decided > 0) {
      // The buffers are shared by all lanes: new ones would be ten kilobytes of garbage per lane.
      scaledLikelihood(bankLogLikelihood(fold.knots, logLikelihood, model.family.shape), likelihood)
      addMessageUp(scope.total, likelihood, laneKinship(fold.decided, model.family.spreadIndex))
      for (let above: ScopeModel | null = scope; above; above = above.parent) {
        above.decided += fold.decided
        above.won += fold.won
        above.lanes++
      }
    }
    yield
  }
}

/** Adds the message of every scope to the total of the scope above it. */
export function* sendScopes(model: Estimator): Steps<void> {
  const likelihood = emptyLikelihood()
  // Parents are created before their children, so the reverse order visits children first.
  for (const scope of [...model.scopes.values()].reverse()) {
    if (!scope.parent || isSilent(scope)) continue
    scaledLikelihood(scope.total, likelihood)
    addMessageUp(scope.parent.total, likelihood, SCOPE_KINSHIP)
    yield
  }
}

/** Whether a scope has no outcomes, so that it sends no message. */
function isSilent({ decided, borrowed }: ScopeModel): boolean {
  return decided === 0 && borrowed === 0
}

/** The belief about the lanes of a scope from all quotes outside the scope. */
function beliefFromAbove(scope: ScopeModel): Float64Array {
  if (!scope.fromAbove) {
    if (scope.parent) {
      const parent = beliefFromAbove(scope.parent)
      const ownMessage = isSilent(scope) ? new Float64Array(BANK_SIZE) : messageUp(scope.total, SCOPE_KINSHIP)
      addInto(parent, difference(scope.parent.total, ownMessage))
      scope.fromAbove = messageDown(parent, SCOPE_KINSHIP)
    } else {
      scope.fromAbove = rootBelief()
    }
  }
  return scope.fromAbove.slice()
}

/** The narrowest scope of a lane. Scopes without quotes are returned as empty scopes below the narrowest quoted one. */
export function scopeOf(model: Estimator, identity: LaneIdentity): ScopeModel {
  let parent = model.tenant
  let path = ''
  for (const { name, key } of identity.scopes) {
    path += `/${key}`
    parent = model.scopes.get(path) ?? emptyScope(name, key, parent)
  }
  return parent
}

/**
 * The fold of a lane's current quotes; null for a lane never quoted.
 *
 * @example laneOf(prepareEstimator({ quotes: [], now }), 'dallas tx>atlanta ga|V') // null
 */
export function laneOf(model: Estimator, key: string): LaneFold | null {
  return finished(laneInSteps(model, key))
}

/**
 * Like `laneOf`, in steps: a lane with 100,000 quotes takes about 50 ms. Call it before an estimate of a large lane.
 */
export function* laneInSteps(model: Estimator, key: string): Steps<LaneFold | null> {
  const lane = model.quoted.laneOf(key)
  if (lane === undefined || model.quoted.columns.countOf(lane) === 0) return null
  const known = model.folded.get(lane)
  if (known) return known
  model.changing.delete(lane)
  const fold = yield* foldLaneInSteps(model, lane)
  // A fold during which a quote changed is not cached, because it may lack the change.
  if (model.changing.has(lane)) return fold
  const [oldest] = model.folded.keys()
  if (model.folded.size >= FOLDED_MAX && oldest !== undefined) model.folded.delete(oldest)
  model.folded.set(lane, fold)
  return fold
}

/** The laneIds of quotes excluded from estimates. */
export function leftOutQuotes(model: Estimator): ReadonlySet<number> {
  const lanes = Array.from({ length: model.quoted.laneCount }, (_, lane) => foldLane(model, lane))
  return new Set(lanes.flatMap(({ leftOut }) => leftOut.map(({ laneId }) => laneId)))
}

/**
 * Records, before a lane's quotes change, the outcomes that the totals include for the lane; an estimate of the lane
 * subtracts them. A lane with very many quotes is not recorded: its current outcomes are subtracted instead, because one
 * quote hardly changes them and folding the lane here would block the event loop.
 */
export function beforeChange(model: Estimator, lane: number): void {
  if (
    model.sent[lane] === 1 &&
    !model.changed.has(lane) &&
    model.quoted.columns.countOf(lane) <= FOLDED_AT_ONCE_MAX
  ) {
    const { knots, decided, won } = model.folded.get(lane) ?? foldLane(model, lane)
    model.changed.set(lane, { knots, decided, won })
  }
  model.folded.delete(lane)
  model.changing.add(lane)
}

/** The largest lane folded without a pause, in quotes: takes about a millisecond. */
const FOLDED_AT_ONCE_MAX = 2_000

/** The outcomes that the totals include for a lane: its decided quotes when the tree was prepared. */
export function countedOutcomes(model: Estimator, key: string): LaneOutcomes | null {
  const lane = model.quoted.laneOf(key)
  if (lane === undefined || model.sent[lane] !== 1) return null
  return model.changed.get(lane) ?? laneOf(model, key)
}

/**
 * The prior of a lane's curve from the tenant's other lanes, excluding the lane's own quotes.
 *
 * @example lanePrior(prepareEstimator({ quotes: [], now }), lane).a // about .5, the prior level without quotes
 */
export function lanePrior(model: Estimator, identity: LaneIdentity): CurveBelief {
  const scope = scopeOf(model, identity)
  const belief = beliefFromAbove(scope)
  const counted = countedOutcomes(model, identity.key)
  if (counted === null || counted.decided === 0) addInto(belief, scope.total)
  else {
    const message = messageUp(
      bankLogLikelihood(counted.knots, undefined, model.family.shape),
      laneKinship(counted.decided, model.family.spreadIndex),
    )
    addInto(belief, difference(scope.total, message))
  }
  const decided = laneOf(model, identity.key)?.decided ?? 1
  // A rate of the other type makes the reference rate as certain as that number of own quotes.
  const known = decided + Math.round(otherReference(model, identity, null)?.weight ?? 0)
  return priorOf(messageDown(belief, laneKinship(known, model.family.spreadIndex)))
}

/** The posterior of a lane: its prior from other lanes, updated with its own decided quotes. */
export function lanePosterior(model: Estimator, identity: LaneIdentity): Posterior {
  const knots = laneOf(model, identity.key)?.knots ?? emptyKnots()
  return posteriorWith(model, knots, lanePrior(model, identity))
}

/** A posterior with the curve family, the drift and the swings of the tenant. */
export function posteriorWith(model: Estimator, knots: Knots, prior: CurveBelief): Posterior {
  const posterior = posteriorOf(knots, prior, model.family.shape)
  const { drift, ofLanes } = model.swings
  return {
    ...posterior,
    levels: posterior.levels.map((level) => level + drift),
    noise: Math.max(posterior.noise, ofLanes),
  }
}

/**
 * The reference rate of a lane today, in fractional cents: see `referenceOf`. A rate of the other type on the lane counts as
 * some own quotes, after the usual difference between the types. Null if the tenant has no quotes.
 */
export function referenceRateCents(
  model: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): number | null {
  const own = ownReference(model, identity, miles)
  const other = otherReference(model, identity, miles)
  if (own === null || other === null) return expOrNull(own?.log ?? other?.log ?? null)
  return Math.exp((own.weight * own.log + other.weight * other.log) / (own.weight + other.weight))
}

const expOrNull = (log: number | null) => (log === null ? null : Math.exp(log))

/** The share of a reference rate that is from a rate of the other type on the same lane. */
export function otherReferenceShare(model: Estimator, identity: LaneIdentity): number {
  const other = otherReference(model, identity, null)
  const own = ownReference(model, identity, null)
  return other === null ? 0 : other.weight / (other.weight + (own?.weight ?? 0))
}

/** A reference rate: its logarithm in cents, and its weight in quotes. */
interface WeighedReference {
  readonly log: number
  readonly weight: number
}

function ownReference(
  model: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): WeighedReference | null {
  const level = laneOf(model, identity.key)?.level
  const morning = model.market.now ?? (level === undefined ? null : FIRST_MORNING)
  if (morning === null) return null
  const known = level === undefined ? 0 : levelWeight(level, model.day)
  return {
    log: referenceOf(level, morning, model.day) + model.haulLog(miles),
    weight: known + morning.tenantWeight,
  }
}

/** What the other type's quotes of a lane say about its reference rate. Null if it has none. */
function otherReference(
  { borrowing }: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): WeighedReference | null {
  if (borrowing === null) return null
  const { from, rateOffset, rateWeight } = borrowing
  const level = laneOf(from, identity.key)?.level
  const found = level === undefined ? null : ownReference(from, identity, miles)
  if (level === undefined || found === null) return null
  const known = levelWeight(level, from.day)
  return { log: found.log + rateOffset, weight: (rateWeight * known) / (known + 1) }
}

/** The market for a tenant whose model was prepared before its first quote: only the lane's own rates count. */
const FIRST_MORNING: Morning = {
  index: 0,
  mean: 0,
  likeness: 0,
  usualWeight: 0,
  tenantWeight: 0,
  firstDayWeight: 0,
}

/**
 * The position of an offer on its lane's curve: ln(rate / reference) x `priceWeight`. A high rate on a lane never quoted
 * may mean that the lane is expensive, not the offer, unless the tenant's lanes are similar (`laneLikeness`).
 *
 * @example offerPosition(model, lane, { rateCents: 210000, referenceCents: 200000 }) // 0.04879 on a known lane
 */
export function offerPosition(
  model: Estimator,
  identity: LaneIdentity,
  offer: { rateCents: number; referenceCents: number },
): number {
  return relativeRate(offer.rateCents, offer.referenceCents) * priceWeight(model, identity)
}

/** The factor for relative rates on a lane: 1, or `laneLikeness` on a lane never quoted, by no rate type. */
export function priceWeight(model: Estimator, identity: LaneIdentity): number {
  const isKnown =
    laneOf(model, identity.key)?.level !== undefined || otherReference(model, identity, null) !== null
  return isKnown ? 1 : (model.market.now?.likeness ?? 1)
}
