import { median } from '../statistics/median.ts'
import { medianInSteps, robustDeviationInSteps, type Steps } from '../steps.ts'

/** Why a quote is excluded from the estimate. Excluded quotes are still displayed. */
export type LeftOutReason = 'bad_rate' | 'future' | 'outlier'

/**
 * Outliers by comparison with the lane and, if the lane has too few rates, with the tenant: as a factor of the lane's median
 * rate, and in robust deviations from the tenant's median rate for the lane's miles (at least the factor, at most 20).
 */
const DECIDED_LIMITS = { laneFactor: 4, tenantDeviations: 4 }
const PENDING_LIMITS = { laneFactor: 2, tenantDeviations: 3 }
/** The median of a lane's rates needs this many; a pending quote is compared with a single decided one, too. */
const LANE_RATES_MIN = 3
/** The tenant must have at least this many rates. */
const TENANT_RATES_MIN = 20
const TENANT_FACTOR_MAX = 20

/** A tenant's log rates over all lanes: their median, and their robust standard deviation. */
export interface TenantRates {
  readonly middle: number
  readonly deviation: number
}

/** The tenant's rates over all lanes; null with fewer than 20. Reorders `logRates`. */
export function* tenantRatesInSteps(logRates: Float64Array): Steps<TenantRates | null> {
  if (logRates.length < TENANT_RATES_MIN) return null
  const middle = yield* medianInSteps(logRates)
  if (middle === null) return null
  return { middle, deviation: yield* robustDeviationInSteps(logRates, middle) }
}

/** The log rates of a lane (see `logRateOf`), and which of them are pending. */
export interface LaneRates {
  readonly logRates: ArrayLike<number>
  readonly isPending: (at: number) => boolean
}

/**
 * Returns a test for rates of a lane that are errors, such as a price in cents sent as dollars. A rate a hundred times too
 * high would distort the lane's reference rate for months. The test takes the position of a rate. A pending quote is compared
 * with the decided ones, and more strictly: nobody has accepted or refused it yet.
 *
 * @example [0, 1, 2].filter(outlierTest({ logRates: [7.6, 7.7, 12.2], isPending: () => false }, null)) // [2]
 */
export function outlierTest(
  { logRates, isPending }: LaneRates,
  tenant: TenantRates | null,
): (at: number) => boolean {
  // If all rates are within the factor of each other, none is an outlier. This check avoids a sort on nearly every lane.
  const isClose = spreadOf(logRates) <= Math.log(PENDING_LIMITS.laneFactor)
  if (logRates.length >= LANE_RATES_MIN && isClose) return () => false
  const decided: number[] = []
  for (let at = 0; at < logRates.length; at++) if (!isPending(at)) decided.push(logRates[at] as number)
  const ofAll = logRates.length >= LANE_RATES_MIN ? median(logRates) : null
  const ofDecided = decided.length === 0 ? null : median(decided)
  const forDecided = decided.length >= LANE_RATES_MIN ? ofDecided : ofAll
  return (at) => {
    const middle = isPending(at) ? (ofDecided ?? ofAll) : forDecided
    const limits = isPending(at) ? PENDING_LIMITS : DECIDED_LIMITS
    const logRate = logRates[at] as number
    if (middle !== null) return Math.abs(logRate - middle) > Math.log(limits.laneFactor)
    if (tenant === null) return false
    const far = Math.max(limits.tenantDeviations * tenant.deviation, Math.log(limits.laneFactor))
    return Math.abs(logRate - tenant.middle) > Math.min(far, Math.log(TENANT_FACTOR_MAX))
  }
}

/** The difference between the largest and the smallest value. */
function spreadOf(values: ArrayLike<number>): number {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length; at++) {
    least = Math.min(least, values[at] as number)
    most = Math.max(most, values[at] as number)
  }
  return most - least
}
