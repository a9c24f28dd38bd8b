import { isDecided, type Outcome, type PastQuote } from '../history.ts'
import { filterInSteps, finished, mapInSteps, type Steps } from '../steps.ts'
import { BANK_SIZE, bankLogLikelihood } from './curve-bank.ts'
import { dayOf } from './day.ts'
import { addQuote, emptyKnots, type Knots, sameKnots } from './knots.ts'
import type { LaneIdentity } from './lane-identity.ts'
import { type LeftOutReason, outliersInSteps } from './left-out.ts'
import { relativeRate } from './price-response.ts'
import { type CurveBelief, priorOf } from './prior.ts'
import { type HaulLog, type MeasuredQuote, rateByMilesInSteps } from './rate-by-miles.ts'
import { addDay, emptyMarket, laneLikeness, logReference, type Market } from './reference-rate.ts'
import {
  LANE_SPREADS,
  laneKinship,
  logEvidence,
  messageDown,
  messageUp,
  rootBelief,
  SCOPE_KINSHIP,
} from './tree.ts'
import { addInto, difference } from './vector.ts'

/** A decided quote's weight halves in this many days. */
const HALF_LIFE_DAYS = 60

/** A past quote and the lane it was for. */
export interface LaneQuote extends PastQuote {
  readonly lane: LaneIdentity
}

/** One of a lane's quotes as the estimate used it: `x` is ln(rate / the reference rate of its morning). */
export interface QuoteUsed {
  readonly laneId: number
  readonly rateCents: number
  readonly x: number
  readonly outcome: Outcome
}

/** A scope of the tree above the lanes; the tenant itself is the one without a parent. */
export interface ScopeModel {
  readonly name: string
  readonly key: string
  readonly parent: ScopeModel | null
  /** Sum of the messages of its children. */
  total: Float64Array
  /** What it says to its parent; zeros for the tenant. */
  message: Float64Array
  /** What everything above and beside it says of its lanes; worked out when first asked for. */
  fromAbove: Float64Array | null
  decided: number
  won: number
  lanes: number
}

/** A lane of the tenant, prepared. */
export interface LaneModel {
  readonly identity: LaneIdentity
  readonly scope: ScopeModel
  readonly quotes: QuoteUsed[]
  readonly knots: Knots
  decided: number
  won: number
  /** What it says to its narrowest scope, for each of the lane spreads. */
  messages: readonly Float64Array[]
}

/** A tenant's quotes, prepared for a day. Throw it away at will: the same facts give the same digits again. */
export interface Estimator {
  readonly day: number
  readonly market: Market
  readonly haulLog: HaulLog
  readonly tenant: ScopeModel
  readonly scopes: ReadonlyMap<string, ScopeModel>
  readonly lanes: ReadonlyMap<string, LaneModel>
  /** Which of `LANE_SPREADS` the tenant's outcomes speak for. */
  readonly spreadIndex: number
  readonly leftOut: readonly {
    readonly laneId: number
    readonly lane: string
    readonly reason: LeftOutReason
  }[]
}

function inOrder(quotes: readonly LaneQuote[]): LaneQuote[] {
  return [...quotes].sort((one, other) => one.quotedAt - other.quotedAt || one.laneId - other.laneId)
}

function scopePath(scopes: Map<string, ScopeModel>, tenant: ScopeModel, lane: LaneIdentity): ScopeModel {
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
  const total = new Float64Array(BANK_SIZE)
  return {
    name,
    key,
    parent,
    total,
    message: new Float64Array(BANK_SIZE),
    fromAbove: null,
    decided: 0,
    won: 0,
    lanes: 0,
  }
}

/**
 * Prepares a tenant's past quotes for every estimate of a day.
 *
 * It is a fold over the quotes in (quotedAt, laneId) order, so the order they come in does not matter, and a model rebuilt
 * from the facts equals this one to the last digit. To add, change or take out a quote, prepare again and hand in the
 * `previous` model: the lanes whose own quotes weigh the same keep their share of the work (nearly all of it), and the
 * digits are those of a fresh build.
 *
 * Quotes without a positive rate, quotes dated after `now`'s day and outliers are left out, and listed. Whoever hands in a
 * part of a tenant's quotes hands in with `measured` those of all of them that its curve by miles is drawn from.
 *
 * @example prepareEstimator({ quotes: [], now }).tenant.decided // 0
 */
export function prepareEstimator(facts: EstimatorFacts): Estimator {
  return finished(prepareEstimatorInSteps(facts))
}

export interface EstimatorFacts {
  readonly quotes: readonly LaneQuote[]
  readonly measured?: readonly MeasuredQuote[]
  readonly now: number
  readonly previous?: Estimator
}

/** As prepareEstimator, to the last digit, for a process that answers others meanwhile: seconds at 100,000 quotes. */
export function* prepareEstimatorInSteps(facts: EstimatorFacts): Steps<Estimator> {
  const day = dayOf(facts.now)
  const leftOut: { laneId: number; lane: string; reason: LeftOutReason }[] = []
  const leaveOut = (quote: LaneQuote, reason: LeftOutReason) => {
    leftOut.push({ laneId: quote.laneId, lane: quote.lane.key, reason })
  }
  const ordered = inOrder(facts.quotes)
  yield
  const dated = yield* filterInSteps(ordered, (quote) => {
    const reason: LeftOutReason | null = !(quote.rateCents > 0 && Number.isFinite(quote.rateCents))
      ? 'bad_rate'
      : dayOf(quote.quotedAt) <= day
        ? null
        : 'future'
    if (reason) leaveOut(quote, reason)
    return reason === null
  })
  const haulLog = yield* rateByMilesInSteps(facts.measured ?? dated, day)
  const rates = yield* mapInSteps(dated, (quote) => ({
    lane: quote.lane.key,
    logRate: Math.log(quote.rateCents) - haulLog(quote.miles),
  }))
  const outlying = yield* outliersInSteps(rates)
  const quotes = yield* filterInSteps(dated, (quote, i) => {
    if (outlying[i]) leaveOut(quote, 'outlier')
    return !outlying[i]
  })
  const seen = yield* filterInSteps(rates, (_, i) => !outlying[i])

  const market = emptyMarket()
  const tenant = emptyScope('tenant', '', null)
  const scopes = new Map<string, ScopeModel>()
  const lanes = new Map<string, LaneModel>()
  for (let from = 0; from < quotes.length; ) {
    const quoteDay = dayOf(quotes[from]?.quotedAt ?? 0)
    let to = from
    while (to < quotes.length && dayOf(quotes[to]?.quotedAt ?? 0) === quoteDay) to++
    const references = addDay(market, quoteDay, seen.slice(from, to))
    const weight = 2 ** (-(day - quoteDay) / HALF_LIFE_DAYS)
    for (let i = from; i < to; i++) {
      const quote = quotes[i]
      const rate = seen[i]
      const reference = references[i - from]
      if (!quote || !rate || reference === undefined) continue
      let lane = lanes.get(quote.lane.key)
      if (!lane) {
        lane = {
          identity: quote.lane,
          scope: scopePath(scopes, tenant, quote.lane),
          quotes: [],
          knots: emptyKnots(),
          decided: 0,
          won: 0,
          messages: [],
        }
        lanes.set(quote.lane.key, lane)
      }
      const x = relativeRate(Math.exp(rate.logRate - reference), 1)
      lane.quotes.push({ laneId: quote.laneId, rateCents: quote.rateCents, x, outcome: quote.outcome })
      if (!isDecided(quote)) continue
      const won = quote.outcome === 'won'
      addQuote(lane.knots, { x, won, weight })
      lane.decided++
      if (won) lane.won++
    }
    from = to
    yield
  }
  const spreadIndex = yield* sendMessages({ lanes, scopes, tenant, previous: facts.previous })
  return { day, market, haulLog, tenant, scopes, lanes, spreadIndex, leftOut }
}

interface Tree {
  lanes: Map<string, LaneModel>
  scopes: Map<string, ScopeModel>
  tenant: ScopeModel
}

/** How much likelier (in log) the outcomes must be under another lane spread than the usual one before it is taken. */
const EVIDENCE_MIN = 3

/**
 * Fills in what every lane and scope says to the scope above it, and counts its quotes there. It is done for both lane
 * spreads; the tree keeps the one its outcomes speak for, which is returned.
 */
function* sendMessages(tree: Tree & { previous: Estimator | undefined }): Steps<number> {
  for (const [key, lane] of tree.lanes) {
    if (lane.decided === 0) continue
    const before = tree.previous?.lanes.get(key)
    if (before && before.decided === lane.decided && sameKnots(before.knots, lane.knots)) {
      lane.messages = before.messages
    } else {
      const likelihood = bankLogLikelihood(lane.knots)
      lane.messages = LANE_SPREADS.map((_, i) => messageUp(likelihood, laneKinship(lane.decided, i)))
    }
    for (let scope: ScopeModel | null = lane.scope; scope; scope = scope.parent) {
      scope.decided += lane.decided
      scope.won += lane.won
      scope.lanes++
    }
    yield
  }
  const evidence: number[] = []
  for (const i of LANE_SPREADS.keys()) evidence.push(yield* evidenceOf(tree, i))
  const [usual = 0, wide = 0] = evidence
  const spreadIndex = wide > usual + EVIDENCE_MIN ? 1 : 0
  yield* evidenceOf(tree, spreadIndex)
  return spreadIndex
}

/** Lanes whose messages are added in one step: about a microsecond each. */
const LANES_PER_STEP = 500

/** Sums the messages of one lane spread up the tree, in the order of making, and says how likely it makes the outcomes. */
function* evidenceOf({ lanes, scopes, tenant }: Tree, spreadIndex: number): Steps<number> {
  for (const scope of [tenant, ...scopes.values()]) scope.total = new Float64Array(BANK_SIZE)
  let added = 0
  for (const lane of lanes.values()) {
    const message = lane.messages[spreadIndex]
    if (message) addInto(lane.scope.total, message)
    if (++added % LANES_PER_STEP === 0) yield
  }
  // A scope is made after the one above it, so the reverse of the order of making goes from the narrowest up.
  for (const scope of [...scopes.values()].reverse()) {
    if (!scope.parent || scope.decided === 0) continue
    scope.message = messageUp(scope.total, SCOPE_KINSHIP)
    addInto(scope.parent.total, scope.message)
    yield
  }
  const root = rootBelief()
  addInto(root, tenant.total)
  return logEvidence(root)
}

/** What is believed of a scope's curve from everything above it and beside it, without its own lanes. */
function beliefFromAbove(scope: ScopeModel): Float64Array {
  if (!scope.fromAbove) {
    if (scope.parent) {
      const parent = beliefFromAbove(scope.parent)
      addInto(parent, difference(scope.parent.total, scope.message))
      scope.fromAbove = messageDown(parent, SCOPE_KINSHIP)
    } else {
      scope.fromAbove = rootBelief()
    }
  }
  return scope.fromAbove.slice()
}

/** The narrowest scope of a lane that the tenant has; a scope never quoted stands empty below the widest it has. */
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
 * What the tenant's other lanes say of this lane's curve, its own quotes taken out.
 *
 * @example lanePrior(prepareEstimator({ quotes: [], now }), lane).a // about .5: level of a lane nobody knows
 */
export function lanePrior(model: Estimator, identity: LaneIdentity): CurveBelief {
  const lane = model.lanes.get(identity.key)
  const scope = lane?.scope ?? scopeOf(model, identity)
  const belief = beliefFromAbove(scope)
  const own = lane?.messages[model.spreadIndex]
  addInto(belief, own ? difference(scope.total, own) : scope.total)
  return priorOf(messageDown(belief, laneKinship(lane?.decided ?? 1, model.spreadIndex)))
}

/**
 * The rate a lane's offers are measured against today, in cents (fractional): see `logReference`. null where the tenant has
 * no quote at all.
 */
export function referenceRateCents(
  model: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): number | null {
  const reference = logReference(model.market, identity.key, model.day)
  return reference === null ? null : Math.exp(reference + model.haulLog(miles))
}

/**
 * Where an offer stands on its lane's curve: ln(rate / reference). On a lane never quoted the distance counts only as far
 * as the tenant's lanes are alike (`laneLikeness`): elsewhere a high rate says that the lane is dear, not the offer.
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

/** What a step in log rate counts for on this lane: 1, less on a lane never quoted. */
export function priceWeight(model: Estimator, identity: LaneIdentity): number {
  return model.lanes.has(identity.key) ? 1 : laneLikeness(model.market)
}
