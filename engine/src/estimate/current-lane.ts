/**
 * What are the lane's quotes right now? The influence of lanes on each other is prepared from time to time, but a lane's own quotes are
 * read for each answer, so that a quote saved a second ago counts. This file reads these quotes, caches the result until a quote changes,
 * and remembers which quotes the prepared totals of the lane's scopes include, so that no quote counts twice. No statistical method.
 */

import type { Steps } from '../steps.ts'
import { finished } from '../steps.ts'
import type { Estimator } from './estimator.ts'
import { foldLane, foldLaneInSteps, type LaneFold, type LaneOutcomes } from './lane-fold.ts'

/** The most lanes in the cache. */
const FOLDED_MAX = 500

/**
 * A lane's quotes as estimates read them; null for a lane never quoted.
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
  // If a quote changed meanwhile, the result may lack the change, so it is not cached.
  if (model.changing.has(lane)) return fold
  const [oldest] = model.folded.keys()
  if (model.folded.size >= FOLDED_MAX && oldest !== undefined) model.folded.delete(oldest)
  model.folded.set(lane, fold)
  return fold
}

/** The quoteIds of quotes excluded from estimates. */
export function leftOutQuotes(model: Estimator): ReadonlySet<number> {
  const lanes = Array.from({ length: model.quoted.laneCount }, (_, lane) => foldLane(model, lane))
  return new Set(lanes.flatMap(({ leftOut }) => leftOut.map(({ quoteId }) => quoteId)))
}

/**
 * Before a lane's quotes change, remembers which of its outcomes the totals of its scopes include: an estimate of the lane
 * subtracts them. For a lane with very many quotes, the current outcomes are subtracted instead: one quote hardly changes them, and
 * reading the lane here would block the event loop.
 */
export function beforeChange(model: Estimator, lane: number): void {
  if (
    model.sent[lane] === 1 &&
    !model.changed.has(lane) &&
    model.quoted.columns.countOf(lane) <= FOLDED_AT_ONCE_MAX
  ) {
    const { knots, decided, byPrice, won } = model.folded.get(lane) ?? foldLane(model, lane)
    model.changed.set(lane, { knots, decided, byPrice, won })
  }
  model.folded.delete(lane)
  model.changing.add(lane)
}

/** The most quotes of a lane that are read without a pause: about a millisecond. */
const FOLDED_AT_ONCE_MAX = 2_000

/** The outcomes of a lane that the totals of its scopes include. */
export function countedOutcomes(model: Estimator, key: string): LaneOutcomes | null {
  const lane = model.quoted.laneOf(key)
  if (lane === undefined || model.sent[lane] !== 1) return null
  return model.changed.get(lane) ?? laneOf(model, key)
}
