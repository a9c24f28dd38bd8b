import { median } from '../statistics/median.ts'

/** Why a quote does not count in the estimate. It is still shown. */
export type LeftOutReason = 'bad_rate' | 'future' | 'outlier'

/** On a lane with three rates or more, an outlier is over four times the lane's median rate, or under a quarter of it. */
const LANE_FACTOR = 4
const LANE_RATES_MIN = 3
/** On a lane with fewer rates, twenty times off the tenant's median (for its miles), once the tenant has 20 rates. */
const TENANT_FACTOR = 20
const TENANT_RATES_MIN = 20

/** The tenant's middle rate, over all its lanes: null with fewer rates than say something. */
export function tenantMiddle(count: number, middle: number | null): number | null {
  return count >= TENANT_RATES_MIN ? middle : null
}

/**
 * Which rates of a lane cannot be meant, such as a price in cents sent as dollars: a hundred times off, they would move
 * the reference rate of a lane for months. `logRates` are the lane's ln rates, less the length-of-haul curve where miles
 * are known; `middle` is the tenant's (see `tenantMiddle`).
 *
 * @example [7.6, 7.7, 12.2].filter(outlierTest([7.6, 7.7, 12.2], null)) // [12.2]
 */
export function outlierTest(
  logRates: ArrayLike<number>,
  middle: number | null,
): (logRate: number) => boolean {
  if (logRates.length >= LANE_RATES_MIN) {
    // Rates within one factor of each other are within that factor of their median: no sort for nearly every lane.
    if (spreadOf(logRates) <= Math.log(LANE_FACTOR)) return () => false
    const laneMiddle = median(logRates) ?? Number.NaN
    return (logRate) => Math.abs(logRate - laneMiddle) > Math.log(LANE_FACTOR)
  }
  return (logRate) => middle !== null && Math.abs(logRate - middle) > Math.log(TENANT_FACTOR)
}

/** The distance of the largest value from the smallest. */
function spreadOf(values: ArrayLike<number>): number {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length; at++) {
    least = Math.min(least, values[at] as number)
    most = Math.max(most, values[at] as number)
  }
  return most - least
}
