/**
 * Is $140 for 900 miles a bargain or a typing error? A rate counts as an error if it is too many times above or below the median, so that
 * rates that are too low are found, too. Method: a fixed limit around the median, a rule of thumb.
 * docs/model-estimate.md, "Excluded quotes".
 */

import { median } from '../statistics/median.ts'

/** Why a quote is excluded from the estimate. Excluded quotes are still displayed. */
export type LeftOutReason = 'bad_rate' | 'future' | 'outlier'

/**
 * On a lane with at least three rates, an outlier is above four times the lane's median rate, or below a quarter of it.
 */
const LANE_FACTOR = 4
const LANE_RATES_MIN = 3
/**
 * On a lane with fewer rates, an outlier is above twenty times the brokerage's median for its miles, or below a twentieth of the
 * median. The brokerage must have at least 20 rates.
 */
const TENANT_FACTOR = 20
const TENANT_RATES_MIN = 20

/** The brokerage's median rate over all lanes; null with fewer than 20 rates. */
export function tenantMiddle(count: number, middle: number | null): number | null {
  return count >= TENANT_RATES_MIN ? middle : null
}

/**
 * Returns a test that finds rates of a lane that are errors, such as a price in cents sent as dollars. A rate a hundred times too
 * high would distort the lane's reference rate for months. `logRates` are the lane's log rates (see `logRateOf`), and `middle` is
 * the result of `tenantMiddle`.
 *
 * @example [7.6, 7.7, 12.2].filter(outlierTest([7.6, 7.7, 12.2], null)) // [12.2]
 */
export function outlierTest(
  logRates: ArrayLike<number>,
  middle: number | null,
): (logRate: number) => boolean {
  if (logRates.length >= LANE_RATES_MIN) {
    // If all rates are within the factor of each other, none is an outlier. This avoids a sort on nearly every lane.
    if (spreadOf(logRates) <= Math.log(LANE_FACTOR)) return () => false
    const laneMiddle = median(logRates) ?? Number.NaN
    return (logRate) => Math.abs(logRate - laneMiddle) > Math.log(LANE_FACTOR)
  }
  return (logRate) => middle !== null && Math.abs(logRate - middle) > Math.log(TENANT_FACTOR)
}

function spreadOf(values: ArrayLike<number>): number {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length; at++) {
    least = Math.min(least, values[at]!)
    most = Math.max(most, values[at]!)
  }
  return most - least
}
