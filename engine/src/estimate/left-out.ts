import { median } from '../statistics/median.ts'
import { finished, mapInSteps, QUOTES_PER_STEP, type Steps } from '../steps.ts'

/** Why a quote does not count in the estimate. It is still shown. */
export type LeftOutReason = 'bad_rate' | 'future' | 'outlier'

/** On a lane with three rates or more, an outlier is over four times the lane's median rate, or under a quarter of it. */
const LANE_FACTOR = 4
const LANE_RATES_MIN = 3
/** On a lane with fewer rates, twenty times off the tenant's median (for its miles), once the tenant has 20 rates. */
const TENANT_FACTOR = 20
const TENANT_RATES_MIN = 20

/**
 * Which rates cannot be meant, such as a price in cents sent as dollars: a hundred times off, they would move the
 * reference rate of a lane for months. `logRates` are ln rates, less the length-of-haul curve where miles are known.
 *
 * @example outliers([{ lane: 'a', logRate: 7.6 }, { lane: 'a', logRate: 7.7 }, { lane: 'a', logRate: 12.2 }])
 *   // [false, false, true]
 */
export function outliers(rates: readonly LaneRate[]): boolean[] {
  return finished(outliersInSteps(rates))
}

interface LaneRate {
  readonly lane: string
  readonly logRate: number
}

/** As outliers, in steps. */
export function* outliersInSteps(rates: readonly LaneRate[]): Steps<boolean[]> {
  const lanes = new Map<string, number[]>()
  for (const [i, { lane, logRate }] of rates.entries()) {
    const known = lanes.get(lane)
    if (known) known.push(logRate)
    else lanes.set(lane, [logRate])
    if (i % QUOTES_PER_STEP === 0) yield
  }
  const laneMedians = new Map<string, number>()
  for (const [lane, logRates] of lanes) {
    if (logRates.length >= LANE_RATES_MIN) laneMedians.set(lane, median(logRates) ?? Number.NaN)
    if (laneMedians.size % MEDIANS_PER_STEP === 0) yield
  }
  const tenantMedian = rates.length >= TENANT_RATES_MIN ? median(rates.map((rate) => rate.logRate)) : null
  return yield* mapInSteps(rates, ({ lane, logRate }) => {
    const laneMedian = laneMedians.get(lane)
    if (laneMedian !== undefined) return Math.abs(logRate - laneMedian) > Math.log(LANE_FACTOR)
    return tenantMedian !== null && Math.abs(logRate - tenantMedian) > Math.log(TENANT_FACTOR)
  })
}

/** Lanes whose middle rate is found in one step. */
const MEDIANS_PER_STEP = 50
