/**
 * Will trucks cost more in four weeks, because they did so in the same weeks of earlier years? Only if earlier years predicted
 * the past weeks of this brokerage. Method: the seasonal naive forecast (Hyndman and Athanasopoulos, Forecasting: Principles and
 * Practice), times the slope of a regression through zero, shrunk toward "no season".
 * docs/estimate-formulas.md, "Costs 7, 14 and 28 days ahead".
 */

import { QUOTES_PER_STEP, type Steps } from '../steps.ts'

/** The same weekday one year earlier. */
const YEAR_DAYS = 364
/** The most earlier years that are compared. */
const YEARS_MAX = 3
/** The level of costs on a day is the mean over the loads up to a week before and after, and needs this many loads. */
const AROUND_DAYS = 7
const LOADS_MIN = 5
/** "No season" counts as much as this many earlier years. */
const NO_SEASON_YEARS = 1
/** A season needs at least this many past weeks that can be compared with earlier years. */
export const SEASON_WEEKS_MIN = 13
/** In the share of the earlier movement that is expected again, "no season" counts as much as this many weeks. */
const SHARE_WEIGHT = 13
/**
 * The largest share: a movement that returns fully after one earlier year has 2, because `earlierMovement` divides the sum by one more
 * year.
 */
const SHARE_MAX = 2
/** Earlier years are evidence only if they reduce the mean error of forecasts to at most this share of it. */
const ERROR_SHARE_MAX = 0.9
const LOADS_PER_STEP = 10 * QUOTES_PER_STEP
const HISTORY_DAYS = (YEARS_MAX + 1) * YEAR_DAYS + 60

/**
 * Loads in the order of time: the day, the lane and the residual (ln cost minus the length-of-haul curve) of each; NaN if the load
 * is not usable. In columns, because an object for each of a million loads would be garbage.
 */
export interface LoadColumns {
  readonly days: Int32Array
  readonly lanes: Int32Array
  readonly values: Float64Array
  /** Every lane number is below this. */
  readonly laneCount: number
}

/** How far loads were above the mean of their lane, in ln cost: running sums by day. Entry n has the days before `first` + n. */
export interface CostDays {
  readonly first: number
  readonly sums: Float64Array
  readonly loads: Float64Array
}

/** How much of the movement of costs in the same weeks of earlier years is expected again. Share 0: no seasonal evidence. */
export interface SeasonShare {
  readonly share: number
  /** The number of weeks that could be compared with earlier years. */
  readonly checks: number
}

/**
 * Adds up the loads of the last four years by day. Null if the loads span less than a year and 13 weeks: then too few weeks can be
 * compared with an earlier year.
 */
export function* costDaysInSteps(
  { days, lanes, values, laneCount }: LoadColumns,
  day: number,
): Steps<CostDays | null> {
  const laneSums = new Float64Array(laneCount)
  const laneLoads = new Float64Array(laneCount)
  let first: number | null = null
  for (let nth = 0; nth < days.length; nth++) {
    if (nth % LOADS_PER_STEP === 0) yield
    const value = values[nth]!
    const on = days[nth]!
    if (Number.isNaN(value) || on < day - HISTORY_DAYS) continue
    // The first usable load is the oldest.
    if (first === null) {
      first = on
      if (day - first < YEAR_DAYS + 7 * SEASON_WEEKS_MIN) return null
    }
    const lane = lanes[nth]!
    laneSums[lane]! += value
    laneLoads[lane]!++
  }
  if (first === null) return null
  const sums = new Float64Array(day - first + 2)
  const loads = new Float64Array(day - first + 2)
  for (let nth = 0; nth < days.length; nth++) {
    if (nth % LOADS_PER_STEP === 0) yield
    const value = values[nth]!
    const on = days[nth]!
    if (Number.isNaN(value) || on < first) continue
    const lane = lanes[nth]!
    const at = on - first + 1
    sums[at] = sums[at]! + value - laneSums[lane]! / laneLoads[lane]!
    loads[at]!++
  }
  for (let at = 1; at < sums.length; at++) {
    sums[at]! += sums[at - 1]!
    loads[at]! += loads[at - 1]!
  }
  return { first, sums, loads }
}

/** The mean level of costs within a week of a day. Null with fewer than five loads. */
function levelAround({ first, sums, loads }: CostDays, day: number): number | null {
  const inside = (at: number) => Math.min(Math.max(at, 0), sums.length - 1)
  const from = inside(day - AROUND_DAYS - first)
  const to = inside(day + AROUND_DAYS + 1 - first)
  const count = loads[to]! - loads[from]!
  return count < LOADS_MIN ? null : (sums[to]! - sums[from]!) / count
}

function movement(days: CostDays, from: number, ahead: number): number | null {
  const before = levelAround(days, from)
  const after = levelAround(days, from + ahead)
  return before === null || after === null ? null : after - before
}

/**
 * How costs moved in the `ahead` days after `from` in the same weeks of earlier years, in ln cost: the sum over at most three
 * years, divided by their number plus one. Null without an earlier year.
 */
export function earlierMovement(days: CostDays, from: number, ahead: number): number | null {
  let sum = 0
  let years = 0
  for (let year = 1; year <= YEARS_MAX; year++) {
    const moved = movement(days, from - year * YEAR_DAYS, ahead)
    if (moved === null) continue
    sum += moved
    years++
  }
  return years === 0 ? null : sum / (years + NO_SEASON_YEARS)
}

/**
 * Compares, for every week of the past, the movement of the costs with that of the same weeks in earlier years. The share is the least
 * squares slope, shrunk by 13 weeks without a season and limited to 0 to 2. It is 0 with fewer than 13 weeks, or if the earlier years do
 * not reduce the mean absolute error by 10 %.
 *
 * @example seasonShare(null, { day: 20_000, ahead: 28 }) // { share: 0, checks: 0 }
 */
export function seasonShare(
  days: CostDays | null,
  { day, ahead }: { day: number; ahead: number },
): SeasonShare {
  const pairs: { actual: number; earlier: number }[] = []
  if (days === null) return { share: 0, checks: 0 }
  for (let from = day - ahead - AROUND_DAYS; from >= days.first + YEAR_DAYS; from -= 7) {
    const actual = movement(days, from, ahead)
    const earlier = earlierMovement(days, from, ahead)
    if (actual !== null && earlier !== null) pairs.push({ actual, earlier })
  }
  const checks = pairs.length
  if (checks < SEASON_WEEKS_MIN) return { share: 0, checks }
  const sum = (of: (pair: { actual: number; earlier: number }) => number) =>
    pairs.reduce((total, pair) => total + of(pair), 0)
  const spread = sum(({ earlier }) => earlier * earlier)
  if (spread === 0) return { share: 0, checks }
  const slope = sum(({ actual, earlier }) => actual * earlier) / spread
  const share = Math.min(SHARE_MAX, Math.max(0, (slope * checks) / (checks + SHARE_WEIGHT)))
  const error = sum(({ actual, earlier }) => Math.abs(actual - share * earlier))
  return { share: error <= ERROR_SHARE_MAX * sum(({ actual }) => Math.abs(actual)) ? share : 0, checks }
}
