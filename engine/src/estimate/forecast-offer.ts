import type { Optimum } from './best-rate.ts'
import {
  countedOutcomes,
  type Estimator,
  laneOf,
  lanePosterior,
  offerPosition,
  priceWeight,
  referenceRateCents,
} from './estimator.ts'
import { type Interval, winQuantiles, withEnds } from './interval.ts'
import type { LaneIdentity } from './lane-identity.ts'
import { bestRate } from './optimum.ts'
import { winMean } from './posterior.ts'

/** The forecast for one quote, without the explanations of `estimateOffer`. Money in cents. */
export interface OfferForecast {
  readonly probability: number
  readonly interval80: Interval
  readonly interval95: Interval
  readonly referenceRateCents: number
  readonly probabilityAtReference: number
  /** Decided quotes of the lane and of the brokerage, for forecasts by plain win rates. */
  readonly lane: { readonly decided: number; readonly won: number }
  readonly all: { readonly decided: number; readonly won: number }
  /** Null without a cost. */
  readonly optimum: Optimum | null
  /** The win probability at another rate. */
  readonly probabilityAt: (rateCents: number) => number
}

/** A lane of which offers are forecast. Loaded miles, or null if unknown. */
export interface LaneToForecast {
  readonly estimator: Estimator
  readonly lane: LaneIdentity
  readonly miles: number | null
}

/**
 * Forecasts offers on a lane: the probability and the best rate of `estimateOffer`, in a fraction of the time. Its intervals are
 * computed at the rate itself, where `estimateOffer` interpolates between rates 2 % apart. Null if there is no estimate.
 *
 * @example offerForecaster({ estimator: prepareEstimator({ quotes: [], now }), lane, miles: null }) // null
 */
export function offerForecaster({ estimator, lane: identity, miles }: LaneToForecast) {
  const referenceCents = referenceRateCents(estimator, identity, miles)
  if (referenceCents === null) return null
  const fold = laneOf(estimator, identity.key)
  const posterior = lanePosterior(estimator, identity)
  const weight = priceWeight(estimator, identity)
  const position = (cents: number) => offerPosition(estimator, identity, { rateCents: cents, referenceCents })
  const probabilityAt = (cents: number) => winMean(posterior, position(cents))
  const counted = countedOutcomes(estimator, identity.key)
  const lane = { decided: fold?.decided ?? 0, won: fold?.won ?? 0 }
  const { tenant } = estimator
  // The totals of the brokerage include the lane as it was when they were prepared.
  const all = {
    decided: tenant.decided + lane.decided - (counted?.decided ?? 0),
    won: tenant.won + lane.won - (counted?.won ?? 0),
  }
  return (offer: {
    readonly rateCents: number
    readonly costCents: number | null
    /** The lowest rate that the tenant's rules allow. */
    readonly floorCents: number | null
  }): OfferForecast | null => {
    const { rateCents, costCents, floorCents } = offer
    if (!(rateCents > 0 && Number.isFinite(rateCents))) return null
    const x = position(rateCents)
    const probability = winMean(posterior, x)
    const [low95 = 0, low80 = 0, high80 = 1, high95 = 1] = winQuantiles(
      posterior,
      x,
      [0.025, 0.1, 0.9, 0.975],
    )
    const around = (low: number, high: number): Interval => {
      const ends = withEnds({ low, high }, posterior.shape.ceiling)
      return { low: Math.min(ends.low, probability), high: Math.max(ends.high, probability) }
    }
    return {
      probability,
      interval80: around(low80, high80),
      interval95: around(low95, high95),
      referenceRateCents: referenceCents,
      probabilityAtReference: probabilityAt(referenceCents),
      lane,
      all,
      optimum:
        costCents !== null && costCents > 0 && Number.isFinite(costCents)
          ? bestRate({ posterior, referenceCents, priceWeight: weight, costCents, floorCents })
          : null,
      probabilityAt,
    }
  }
}
