/**
 * How likely does each rate win this lane, for this customer? This file puts together the going rate (lane-reference.ts), the curve
 * (lane-posterior.ts) and the customer (customer-effect.ts); statements about any rate are read from the result. No method of its
 * own.
 * docs/estimate-formulas.md, "The curve" and "The customer".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { laneOf } from './current-lane.ts'
import { type CustomerEffects, customerShift, shiftedPosterior } from './customer-effect.ts'
import type { Estimator } from './estimator.ts'
import { type IntervalCurve, intervalCurve } from './interval.ts'
import { emptyKnots, type Knots } from './knots.ts'
import type { LaneFold } from './lane-fold.ts'
import { lanePrior, posteriorWith } from './lane-posterior.ts'
import { priceWeight, referenceRateCents } from './lane-reference.ts'
import type { WinCurve } from './optimum.ts'
import type { Posterior } from './posterior.ts'
import { clip } from './vector.ts'

/** The customer of an offer, and the effects of all customers. */
export interface OfferCustomer {
  /** The number of the customer; null for an unknown one. */
  readonly hash: number | null
  readonly effects: CustomerEffects
}

/** A lane, and the customer of an offer on it. */
export interface LaneForCustomer {
  readonly estimator: Estimator
  readonly lane: LaneIdentity
  /** Loaded miles, or null if unknown. */
  readonly miles: number | null
  /** Null for customers in general. */
  readonly customer: OfferCustomer | null
}

/** Computes the possible win curves that the same lane and customer would have with other outcomes. */
export type PosteriorFor = (knots: Knots) => Posterior

/** The win curve of a lane for a customer, what it was computed from, and how sure it is. */
export interface LaneWinCurve extends WinCurve {
  readonly fold: LaneFold | null
  readonly borrowedShare: number
  /** The curves for customers in general. */
  readonly ofAll: Posterior
  readonly knots: Knots
  readonly posteriorFor: PosteriorFor
  /** The intervals at every rate, computed once. */
  readonly intervals: () => IntervalCurve
}

/**
 * The win curve of a lane for a customer. Null if the brokerage has no quotes to learn from. Run `laneInSteps`
 * before, because a lane with many quotes takes long.
 *
 * @example laneWinCurve({ estimator, lane, miles: 780, customer: null })?.referenceCents // 202500
 */
export function laneWinCurve({
  estimator,
  lane: identity,
  miles,
  customer,
}: LaneForCustomer): LaneWinCurve | null {
  const referenceCents = referenceRateCents(estimator, identity, miles)
  if (referenceCents === null) return null
  const fold = laneOf(estimator, identity.key)
  const knots = fold?.knots ?? emptyKnots()
  const prior = lanePrior(estimator, identity)
  const ofAll = posteriorWith(estimator, knots, { prior, lane: fold })
  const borrowedShare = fold && fold.byPrice > 0 ? clip(ofAll.belief.varianceA / prior.varianceA, 0, 1) : 1
  const lane = estimator.quoted.laneOf(identity.key) ?? null
  const shift =
    customer === null
      ? null
      : customerShift(customer.effects, { customer: customer.hash, lane, borrowedShare })
  const shifted = (one: Posterior) => (shift === null ? one : shiftedPosterior(one, shift))
  const posterior = shifted(ofAll)
  let intervals: IntervalCurve | null = null
  return {
    referenceCents,
    fold,
    borrowedShare,
    posterior,
    ofAll,
    knots,
    posteriorFor: (of) => shifted(posteriorWith(estimator, of, { prior, lane: fold })),
    priceWeight: priceWeight(estimator, identity),
    intervals: () => {
      intervals ??= intervalCurve(posterior)
      return intervals
    },
  }
}
