/**
 * Everything that the quotes of a brokerage say about all its lanes on a day: the market, the rates by miles, the shape of win curves, and
 * what each lane says about the others. After this preparation, a quote is estimated in milliseconds: lane-reference.ts, lane-posterior.ts.
 * Method: empirical Bayes (https://en.wikipedia.org/wiki/Empirical_Bayes_method): what lanes have in common is learned from the
 * brokerage's own quotes.
 * docs/estimate-formulas.md has a section for each part.
 */

import { dayOf } from '../day.ts'
import { type LaneQuote, type QuotedLanes, quotedLanes } from '../quotes/quoted-lanes.ts'
import { finished, type Steps } from '../steps.ts'
import { answerTimesInSteps } from './answer-times.ts'
import { type CountedRates, countedRatesInSteps } from './counted-rates.ts'
import { BANK_SIZE, bankLogLikelihood } from './curve-bank.ts'
import { type CurveFamily, chooseFamily } from './curve-family.ts'
import { emptyKnots } from './knots.ts'
import { type FoldedAgainst, type LaneFold, type LaneOutcomes, laneOutcomesInSteps } from './lane-fold.ts'
import { marketDaysInSteps } from './market-days.ts'
import { otherLossesInSteps } from './other-losses.ts'
import { haulQuotesInSteps, rateByMilesInSteps } from './rate-by-miles.ts'
import type { LaneLevel } from './reference-rate.ts'
import { emptyScope, type ScopeModel, type ScopeTree, scopePath, sendScopes } from './scope-tree.ts'
import { type Swings, swingsInSteps } from './swings.ts'
import { addMessageUp, emptyLikelihood, laneKinship, scaledLikelihood } from './tree.ts'

/** The parts that estimates of spot quotes take from contract quotes, or the reverse: see `estimatorsByTypeInSteps`. */
export interface Borrowing {
  readonly from: Estimator
  /** How much an outcome of the other type counts: 0 is not at all, 1 is as much as one of this type. */
  readonly weight: number
  /** How far the win curves of this type are above those of the other: in log odds, and `steepnessShift` in log steepness. */
  readonly levelShift: number
  readonly steepnessShift: number
  /** How far rates of this type usually are above those of the other on the same lane, in ln. */
  readonly rateOffset: number
  /** A well-known rate of the other type on the lane counts as this many quotes of this type. */
  readonly rateWeight: number
  /** The number of lanes with quotes of both types, from which `rateOffset` and `rateWeight` are learned. */
  readonly lanesOfBoth: number
}

/**
 * A brokerage's quotes, prepared for a day.
 *
 * What lanes say about each other (the market, the curve by miles, the tree of scopes) is fixed at preparation; prepare again to
 * update it. A lane's own quotes are read for each answer, so they always count as they are. Call `beforeChange` before any change
 * to a quote.
 *
 * An estimator can be discarded at any time: the same facts give the same digits again.
 */
export interface Estimator extends FoldedAgainst, ScopeTree {
  /** The shape of the curves and the lane spread that the brokerage's outcomes support. */
  readonly family: CurveFamily
  /** How win rates move: the drift shifts every curve, and the swing of lanes widens the intervals. */
  readonly swings: Swings
  /** One entry per lane: 1 once the totals of the lane's scopes include its outcomes. */
  readonly sent: Uint8Array
  /** For lanes that changed since then: their old outcomes, which the totals still include. */
  readonly changed: Map<number, LaneOutcomes>
  /** The folded quotes of requested lanes, cached until they change. */
  readonly folded: Map<number, LaneFold>
  /** Lanes whose quotes changed since they were last read. */
  readonly changing: Set<number>
  /** Null if the model borrows nothing from the other rate type. */
  borrowing: Borrowing | null
}

/**
 * Prepares a brokerage's past quotes, handed in as a list, for every estimate of a day: see `prepareEstimatorInSteps`.
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
  /** Null until the first lane is added; then the estimator that `steps` will return. */
  readonly begun: () => Estimator | null
}

/**
 * Prepares a brokerage's past quotes for every estimate of a day, in steps so that the process can answer other requests meanwhile:
 * about four seconds for a million quotes on 20,000 lanes.
 *
 * The quotes are read in (quotedAt, quoteId) order, so the order of the input does not matter, and a model rebuilt from the same
 * facts is equal to the last digit. Excludes quotes without a positive rate, quotes dated after the day of `now`, and outliers. If
 * quotes change during the preparation, the result may mix old and new states: prepare again.
 *
 * @param rows all rows in the order of time
 */
export function prepareEstimatorInSteps(quoted: QuotedLanes, now: number, rows: Int32Array): Preparation {
  const made: { estimator: Estimator | null } = { estimator: null }
  // `begun` lives as long as the estimator. If `rows` were in its scope, their memory could not be freed.
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

/** The parts of an estimator that all lanes have in common. */
export interface Groundwork {
  readonly against: FoldedAgainst
  readonly counted: CountedRates
  readonly swings: Swings
  readonly family: CurveFamily
}

/** A pool with this many quotes with miles has its own curve by miles. Other pools have the curve of all quotes. */
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
  const { logRates, tenantRates } = counted
  const market = yield* marketDaysInSteps(columns, rows, counted)
  const answers = yield* answerTimesInSteps(quoted, day)
  const otherLosses = yield* otherLossesInSteps(quoted, rows, { logRates, day, market })
  const against: FoldedAgainst = { quoted, day, haulLog, tenantRates, market, answers, otherLosses }
  const swings = yield* swingsInSteps(quoted, rows, { logRates, day, answers, otherLosses })
  return { against, counted, swings, family: yield* chooseFamily(against, counted) }
}

/** An estimator to which no lane is added yet. */
export function estimatorOn({ against, swings, family }: Groundwork): Estimator {
  return {
    ...against,
    family,
    swings,
    tenant: emptyScope('tenant', '', null),
    scopes: new Map(),
    sent: new Uint8Array(against.quoted.laneCount),
    changed: new Map(),
    folded: new Map(),
    changing: new Set(),
    borrowing: null,
  }
}

/** Receives the level of each lane that is added. */
type SeeLevel = (lane: number, level: LaneLevel) => void

/** Adds every lane's message to the total of its scope, and counts the lane's quotes there. */
export function* sendLanes(
  model: Estimator,
  { laneOrder, rowsOf }: CountedRates,
  see: SeeLevel = () => {},
): Steps<void> {
  const logLikelihood = new Float64Array(BANK_SIZE)
  const likelihood = emptyLikelihood()
  const knots = emptyKnots()
  for (const lane of laneOrder) {
    const scope = scopePath(model, model.quoted.identity(lane))
    const fold = yield* laneOutcomesInSteps(model, lane, rowsOf(lane), knots)
    model.sent[lane] = 1
    if (fold.level !== undefined) see(lane, fold.level)
    if (fold.byPrice > 0) {
      // The buffers are shared by all lanes: new ones would be ten kilobytes of garbage per lane.
      scaledLikelihood(bankLogLikelihood(fold.knots, logLikelihood, model.family.shape), likelihood)
      addMessageUp(scope.total, likelihood, laneKinship(fold.byPrice, model.family.spreadIndex))
    }
    if (fold.decided > 0) {
      for (let above: ScopeModel | null = scope; above; above = above.parent) {
        above.decided += fold.decided
        above.byPrice += fold.byPrice
        above.won += fold.won
        above.lanes++
      }
    }
    yield
  }
}
