import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { countedOutcomes, laneOf } from './current-lane.ts'
import type { Estimator } from './estimator.ts'

interface Outcomes {
  readonly decided: number
  /** Without losses that are not about the price. */
  readonly byPrice: number
  readonly won: number
}

/**
 * How many quotes of a lane, and of the brokerage, were decided and won, for forecasts by plain win rates.
 *
 * @example outcomesBehind(prepareEstimator({ quotes: [], now }), lane).all // { decided: 0, byPrice: 0, won: 0 }
 */
export function outcomesBehind(
  estimator: Estimator,
  identity: LaneIdentity,
): { readonly lane: Outcomes; readonly all: Outcomes } {
  const fold = laneOf(estimator, identity.key)
  const counted = countedOutcomes(estimator, identity.key)
  const lane = { decided: fold?.decided ?? 0, byPrice: fold?.byPrice ?? 0, won: fold?.won ?? 0 }
  const { tenant } = estimator
  // The totals of the brokerage include the lane as it was when they were prepared.
  const all = {
    decided: tenant.decided + lane.decided - (counted?.decided ?? 0),
    byPrice: tenant.byPrice + lane.byPrice - (counted?.byPrice ?? 0),
    won: tenant.won + lane.won - (counted?.won ?? 0),
  }
  return { lane, all }
}
