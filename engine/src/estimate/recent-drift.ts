import { PENDING, WON } from '../book/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { dayOf } from './day.ts'
import type { QuotedLanes } from './quoted-lanes.ts'
import { clip } from './vector.ts'

/** The half-life of an unexpected outcome in the drift, in days. */
const DRIFT_HALF_LIFE_DAYS = 5
/** Information, in quotes x p (1 - p), that is assumed to say that there is no drift. */
const LEAST_INFORMATION = 10
/** The half-life of the evidence that drifts last, in days, and the assumed evidence that they do not. */
const GAIN_HALF_LIFE_DAYS = 45
const GAIN_DOUBT = 4
const GAIN_MAX = 1.5
/** The half-life of a lane's own win rate, in days, and the quotes at the tenant's win rate that are added to it. */
const LANE_HALF_LIFE_DAYS = 60
const TENANT_QUOTES = 2

/** A lane's wins and decided quotes, both fading, on the day of its last quote. */
interface LaneRates {
  readonly won: Float64Array
  readonly decided: Float64Array
  readonly day: Float64Array
}

/** The sums of a day's outcomes minus their lanes' win rates. */
interface DaySums {
  surprise: number
  /** The sum of p (1 - p). */
  information: number
  won: number
  decided: number
}

/**
 * How much more often than usual the tenant wins at present, as a shift of log odds for all lanes.
 *
 * The surprise of an outcome is won (1) or lost (0), minus the win rate of its lane so far. The drift on a day is the sum of
 * recent surprises divided by their information. Whether a drift lasts until the next quotes is learned from the tenant's
 * own past: the gain is the regression of surprises on the drift of the morning before them. It is near 0 for a tenant whose
 * win rate only varies by chance.
 *
 * @param rows all rows in the order of time
 * @param logRates by row; NaN for quotes that are left out
 */
export function* recentDriftInSteps(
  { columns, laneCount }: QuotedLanes,
  rows: Int32Array,
  { logRates, day: today }: { readonly logRates: Float64Array; readonly day: number },
): Steps<number> {
  const lanes: LaneRates = {
    won: new Float64Array(laneCount),
    decided: new Float64Array(laneCount),
    day: new Float64Array(laneCount),
  }
  const counts = (row: number) =>
    columns.outcome[row] !== PENDING && !Number.isNaN(logRates[row] ?? Number.NaN)
  let [surprise, information] = [0, 0]
  let [product, squares] = [0, 0]
  let [won, decided] = [0, 0]
  let yesterday = Number.NaN
  const driftOn = (day: number) => {
    const fade = Number.isNaN(yesterday) ? 0 : 2 ** (-(day - yesterday) / DRIFT_HALF_LIFE_DAYS)
    return (surprise * fade) / (information * fade + LEAST_INFORMATION)
  }
  for (let from = 0; from < rows.length; ) {
    const day = dayOf(columns.quotedAt[rows[from] as number] as number)
    if (day > today) break
    let to = from + 1
    while (to < rows.length && dayOf(columns.quotedAt[rows[to] as number] as number) === day) to++
    const ofDay = rows.subarray(from, to).filter(counts)
    from = to
    if (ofDay.length === 0) continue
    const drift = driftOn(day)
    const sums = daySums(columns, lanes, { rows: ofDay, day, tenantRate: (won + 1) / (decided + 2) })
    const gainFade = Number.isNaN(yesterday) ? 0 : 2 ** (-(day - yesterday) / GAIN_HALF_LIFE_DAYS)
    const driftFade = Number.isNaN(yesterday) ? 0 : 2 ** (-(day - yesterday) / DRIFT_HALF_LIFE_DAYS)
    product = product * gainFade + sums.surprise * drift
    squares = squares * gainFade + sums.information * drift * drift
    surprise = surprise * driftFade + sums.surprise
    information = information * driftFade + sums.information
    won += sums.won
    decided += sums.decided
    yesterday = day
    yield
  }
  return clip(product / (squares + GAIN_DOUBT), 0, GAIN_MAX) * driftOn(today)
}

/** Compares a day's outcomes with their lanes' win rates before the day, and then adds them to the lanes. */
function daySums(
  { lane: laneOf, outcome }: QuotedLanes['columns'],
  lanes: LaneRates,
  { rows, day, tenantRate }: { readonly rows: Int32Array; readonly day: number; readonly tenantRate: number },
): DaySums {
  const sums: DaySums = { surprise: 0, information: 0, won: 0, decided: rows.length }
  const fadeOf = (lane: number) => 2 ** (-(day - (lanes.day[lane] as number)) / LANE_HALF_LIFE_DAYS)
  for (const row of rows) {
    const lane = laneOf[row] as number
    const fade = fadeOf(lane)
    const rate =
      ((lanes.won[lane] as number) * fade + TENANT_QUOTES * tenantRate) /
      ((lanes.decided[lane] as number) * fade + TENANT_QUOTES)
    sums.surprise += (outcome[row] === WON ? 1 : 0) - rate
    sums.information += rate * (1 - rate)
  }
  for (const row of rows) {
    const lane = laneOf[row] as number
    const fade = fadeOf(lane)
    const win = outcome[row] === WON ? 1 : 0
    lanes.won[lane] = (lanes.won[lane] as number) * fade + win
    lanes.decided[lane] = (lanes.decided[lane] as number) * fade + 1
    lanes.day[lane] = day
    sums.won += win
  }
  return sums
}
