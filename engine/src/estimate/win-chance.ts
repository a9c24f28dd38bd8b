import type { Steps } from '../steps.ts'
import {
  type Estimator,
  laneInSteps,
  lanePosterior,
  offerPosition,
  priceWeight,
  referenceRateCents,
} from './estimator.ts'
import type { LaneIdentity } from './lane-identity.ts'
import { type Posterior, winMean } from './posterior.ts'

/** The calibrated chances of winning a lane today. */
export interface WinChances {
  readonly at: (rateCents: number) => number
  readonly referenceCents: number
  readonly decided: number
  /** What `bestRate` needs. */
  readonly curve: {
    readonly posterior: Posterior
    readonly referenceCents: number
    readonly priceWeight: number
  }
}

/**
 * The chances of winning a lane at any rate, computed once for many rates. Null if the brokerage has no quotes to learn from.
 *
 * @example finished(winChancesInSteps(estimator, lane, 781))?.at(200000) // 0.61
 */
export function* winChancesInSteps(
  estimator: Estimator,
  lane: LaneIdentity,
  miles: number | null,
): Steps<WinChances | null> {
  const referenceCents = referenceRateCents(estimator, lane, miles)
  const fold = yield* laneInSteps(estimator, lane.key)
  if (referenceCents === null) return null
  const posterior = lanePosterior(estimator, lane)
  return {
    at: (rateCents) => winMean(posterior, offerPosition(estimator, lane, { rateCents, referenceCents })),
    referenceCents,
    decided: fold?.decided ?? 0,
    curve: { posterior, referenceCents, priceWeight: priceWeight(estimator, lane) },
  }
}
