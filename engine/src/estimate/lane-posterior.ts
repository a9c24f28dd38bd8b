/**
 * Which win curves are likely for this lane? The brokerage's other lanes give a first answer (the prior), and the lane's own won and lost
 * quotes the final one (the posterior). A lane with 3 quotes mostly has the curve of its state pair, one with 60 its own.
 * Method: hierarchical Bayes (https://en.wikipedia.org/wiki/Bayesian_hierarchical_modeling).
 * docs/estimate-formulas.md, "What a lane takes from other lanes" and "The posterior and its intervals".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { countedOutcomes, laneOf } from './current-lane.ts'
import { bankLogLikelihood } from './curve-bank.ts'
import type { CurveFamily } from './curve-family.ts'
import type { Estimator } from './estimator.ts'
import { emptyKnots, type Knots } from './knots.ts'
import { otherReference } from './lane-reference.ts'
import { decidedByPrice, type OutcomeWeights, weightOfWeights } from './other-losses.ts'
import { type Posterior, posteriorOf } from './posterior.ts'
import { type CurveBelief, priorOf } from './prior.ts'
import { beliefFromAbove, scopeOf } from './scope-tree.ts'
import { laneKinship, messageDown, messageUp } from './tree.ts'
import { addInto, difference } from './vector.ts'

/**
 * The win curve that the brokerage's other lanes suggest for a lane (the prior), without the lane's own quotes.
 *
 * @example lanePrior(prepareEstimator({ quotes: [], now }), lane).a // about .5, the prior level without quotes
 */
export function lanePrior(model: Estimator, identity: LaneIdentity): CurveBelief {
  const scope = scopeOf(model, identity)
  const belief = beliefFromAbove(scope)
  const counted = countedOutcomes(model, identity.key)
  if (counted === null || counted.byPrice === 0) addInto(belief, scope.total)
  else {
    const message = messageUp(
      bankLogLikelihood(counted.knots, undefined, model.family.shape),
      laneKinship(counted.byPrice, model.family.spreadIndex),
    )
    addInto(belief, difference(scope.total, message))
  }
  const decided = laneOf(model, identity.key)?.byPrice ?? 1
  // A rate of the other type (spot or contract) makes the lane's reference rate as certain as `weight` more quotes of this type.
  const known = decided + Math.round(otherReference(model, identity, null)?.weight ?? 0)
  const prior = priorOf(messageDown(belief, laneKinship(known, model.family.spreadIndex)))
  const own = laneOf(model, identity.key)
  return own === null || own.byPrice === 0 ? prior : narrowed(prior, own, model.family)
}

/** The variance of a rate around the going rate of its lane: a lane with n quotes is placed as well as their mean, 0.1 / sqrt(n). */
const RATE_VARIANCE = 0.01

/**
 * A prior whose level varies no more than the levels of the brokerage's lanes do, the brokerage's curve may be wrong by what other lanes
 * say, and the going rate of the lane by its quotes. That of a lane never quoted may be wrong by more, so its prior stays as it is.
 */
function narrowed(
  prior: CurveBelief,
  { byPrice, decidedWeight }: { readonly byPrice: number; readonly decidedWeight: number },
  { levelVariance, information }: CurveFamily,
): CurveBelief {
  const ofOthers = Math.max(1e-9, information - decidedWeight / 4)
  const most = levelVariance + 1 / ofOthers + (Math.exp(2 * prior.b) * RATE_VARIANCE) / byPrice
  const share = Math.min(1, most / prior.varianceA)
  return {
    ...prior,
    varianceA: prior.varianceA * share,
    covariance: prior.covariance * Math.sqrt(share),
  }
}

/** The possible win curves of a lane (the posterior): its prior, updated with its own decided quotes. */
export function lanePosterior(model: Estimator, identity: LaneIdentity): Posterior {
  const lane = laneOf(model, identity.key)
  return posteriorWith(model, lane?.knots ?? emptyKnots(), { prior: lanePrior(model, identity), lane })
}

/**
 * The posterior of outcomes and a prior, with the curve family, the drift and the swings of the brokerage. Its curves are those of
 * quotes that the price decides, times the share of such quotes.
 */
export function posteriorWith(
  model: Estimator,
  knots: Knots,
  { prior, lane }: { readonly prior: CurveBelief; readonly lane: OutcomeWeights | null },
): Posterior {
  const { shape } = model.family
  const posterior = posteriorOf(knots, prior, shape)
  const { drift, ofLanes } = model.swings
  const own = 1 - Math.min(1, posterior.belief.varianceA / prior.varianceA)
  return {
    ...posterior,
    shape: { ...shape, ceiling: shape.ceiling * decidedByPrice(model.otherLosses, lane) },
    levels: posterior.levels.map((level) => level + drift),
    reach: Math.sqrt(1 - own * (1 - weightOfWeights(lane))),
    noise: Math.max(posterior.noise, ofLanes),
  }
}
