/**
 * Do you win more often than usual these weeks, on all lanes (drift)? And does a single lane's win rate change from month to
 * month by more than chance (swing)? Methods: recent surprises with exponential forgetting, times the slope of a ridge regression
 * (https://en.wikipedia.org/wiki/Ridge_regression); extra-binomial variation by moments (Williams, Applied Statistics 31, 1982).
 * docs/estimate-formulas.md, "The curve", Drift and Swings.
 */

import { dayOf } from '../day.ts'
import { LOST, PENDING, WON } from '../quotes/quote-columns.ts'
import type { QuotedLanes } from '../quotes/quoted-lanes.ts'
import type { Steps } from '../steps.ts'
import { type AnswerTimes, type Leaning, leaningAt } from './answer-times.ts'
import type { OtherLosses } from './other-losses.ts'
import { clip } from './vector.ts'

/** After this many days, an unexpected outcome counts half as much in the drift. */
const DRIFT_HALF_LIFE_DAYS = 5
/** "No drift" counts as much as this information, the sum of p (1 - p): as 40 quotes with a chance p of one half. */
const LEAST_INFORMATION = 10
/** Evidence that drifts last until the next quotes halves after this many days; "they do not last" has the weight GAIN_DOUBT. */
const GAIN_HALF_LIFE_DAYS = 45
const GAIN_DOUBT = 4
const GAIN_MAX = 1.5
/**
 * After this many days, an outcome counts half as much in its lane's win rate, to which some quotes at the brokerage's win rate are
 * added.
 */
const LANE_HALF_LIFE_DAYS = 60
const TENANT_QUOTES = 2

/** The outcomes of a lane in a block of this many days are compared with its win rate before the block. */
const BLOCK_DAYS = 30
/** A block counts only if the win rate before it is known from this many quotes. */
const KNOWN_QUOTES_MIN = 8
/** "Win rates of lanes do not swing" counts as much as this sum of squared information. */
const STEADY_INFORMATION = 50
const SWING_MAX = 1.5
const ROWS_PER_STEP = 50_000

/** The wins and decided quotes of each lane, weighted by age, on the day of its last quote. */
interface LaneWinRates {
  readonly won: Float64Array
  readonly decided: Float64Array
  readonly day: Float64Array
  /** The current block of each lane, and the sums in it. */
  readonly block: Int32Array
  readonly surprise: Float64Array
  readonly information: Float64Array
  /** How well the lane's win rate was known at the start of the block, as information. */
  readonly before: Float64Array
}

/** How the win rates of a brokerage's lanes move. */
export interface Swings {
  /** How much more often than usual the brokerage wins at present, as a shift of log odds for all lanes. */
  readonly drift: number
  /** How far a lane's win rate in a month is from what was expected: a standard deviation in log odds. */
  readonly ofLanes: number
}

/** Sums over blocks: of the squared surprise minus the part that chance explains, and of the squared information. */
interface SwingSums {
  excess: number
  squares: number
}

/** The sums of a day's outcomes minus their lanes' win rates. */
interface DaySums {
  surprise: number
  /** The sum of p (1 - p) over the outcomes, where p is the lane's win rate. */
  information: number
  won: number
  decided: number
}

/**
 * How the win rates of all lanes drift together, and how much each lane's win rate swings by itself.
 *
 * The surprise of an outcome is 1 (won) or 0 (lost), minus the win rate of its lane so far. The drift on a day is the sum of recent
 * surprises divided by their information. Whether a drift lasts until the next quotes is learned from the brokerage's own past: the drift
 * is multiplied by a gain, the regression slope of surprises on the drift of the morning before them. The gain is near 0 for a brokerage
 * whose win rate only varies by chance.
 *
 * The swing is how much the surprises of a lane in 30 days vary beyond the chance of single outcomes and the uncertainty of its win rate.
 * The swing is far above 0 where outcomes come in batches, such as several lines of one order.
 *
 * @param rows all rows in the order of time
 * @param logRates by row; NaN for quotes that are left out
 */
export function* swingsInSteps(
  { columns, laneCount }: QuotedLanes,
  rows: Int32Array,
  {
    logRates,
    day: today,
    answers,
    otherLosses,
  }: {
    readonly logRates: Float64Array
    readonly day: number
    readonly answers: AnswerTimes
    readonly otherLosses: OtherLosses
  },
): Steps<Swings> {
  const lanes: LaneWinRates = {
    won: new Float64Array(laneCount),
    decided: new Float64Array(laneCount),
    day: new Float64Array(laneCount),
    block: new Int32Array(laneCount).fill(-1),
    surprise: new Float64Array(laneCount),
    information: new Float64Array(laneCount),
    before: new Float64Array(laneCount),
  }
  const swings: SwingSums = { excess: 0, squares: 0 }
  const counts = (row: number) => !Number.isNaN(logRates[row] ?? Number.NaN)
  let [surprise, information] = [0, 0]
  let [product, squares] = [0, 0]
  let [won, decided] = [0, 0]
  let yesterday = Number.NaN
  const driftOn = (day: number) => {
    const fade = Number.isNaN(yesterday) ? 0 : 2 ** (-(day - yesterday) / DRIFT_HALF_LIFE_DAYS)
    return (surprise * fade) / (information * fade + LEAST_INFORMATION)
  }
  for (let from = 0; from < rows.length; ) {
    const day = dayOf(columns.quotedAt[rows[from]!]!)
    if (day > today) break
    let to = from + 1
    while (to < rows.length && dayOf(columns.quotedAt[rows[to]!]!) === day) to++
    const ofDay = rows.subarray(from, to).filter(counts)
    from = to
    if (ofDay.length === 0) continue
    const drift = driftOn(day)
    const sums = daySums(columns, lanes, swings, {
      rows: ofDay,
      day,
      leaning: leaningAt(answers, today - day),
      mislabeled: otherLosses.mislabeled,
      brokerageWinRate: (won + 1) / (decided + 2),
    })
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
  // The last blocks end in the order of time: the digits of a sum depend on its order, and lane numbers on when quotes arrived.
  for (let at = 0; at < rows.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const lane = columns.lane[rows[at]!]!
    if (lane < 0 || lane >= laneCount) continue
    endBlock(lanes, lane, swings)
    lanes.before[lane] = 0
  }
  const swing = swings.excess / (swings.squares + STEADY_INFORMATION)
  return {
    drift: clip(product / (squares + GAIN_DOUBT), 0, GAIN_MAX) * driftOn(today),
    ofLanes: clip(Math.sqrt(Math.max(swing, 0)), 0, SWING_MAX),
  }
}

/** Compares a day's outcomes with their lanes' win rates before the day, and then adds them to the lanes. */
function daySums(
  columns: QuotedLanes['columns'],
  lanes: LaneWinRates,
  swings: SwingSums,
  {
    rows,
    day,
    leaning,
    mislabeled,
    brokerageWinRate,
  }: {
    readonly rows: Int32Array
    readonly day: number
    /** The leaning of a pending quote of the day. */
    readonly leaning: Leaning
    /** How much a loss for another reason than the price counts. */
    readonly mislabeled: number
    readonly brokerageWinRate: number
  },
): DaySums {
  const sums: DaySums = { surprise: 0, information: 0, won: 0, decided: 0 }
  const block = Math.floor(day / BLOCK_DAYS)
  const fadeOf = (lane: number) => 2 ** (-(day - lanes.day[lane]!) / LANE_HALF_LIFE_DAYS)
  const weightOf = (row: number) => {
    const outcome = columns.outcomeOf(row)
    if (outcome === PENDING) return leaning.weight
    return outcome === LOST && columns.isForOtherReason(row) ? mislabeled : 1
  }
  const winOf = (row: number) => {
    const outcome = columns.outcomeOf(row)
    return (outcome === PENDING ? leaning.won : outcome === WON) ? 1 : 0
  }
  for (const row of rows) {
    const weight = weightOf(row)
    if (weight === 0) continue
    const lane = columns.lane[row]!
    const fade = fadeOf(lane)
    const rate =
      (lanes.won[lane]! * fade + TENANT_QUOTES * brokerageWinRate) /
      (lanes.decided[lane]! * fade + TENANT_QUOTES)
    const surprise = weight * (winOf(row) - rate)
    const information = weight * rate * (1 - rate)
    sums.surprise += surprise
    sums.information += information
    if (lanes.block[lane] !== block) {
      endBlock(lanes, lane, swings)
      const known = lanes.decided[lane]! * fade
      lanes.block[lane] = block
      lanes.before[lane] = known < KNOWN_QUOTES_MIN ? 0 : (known + TENANT_QUOTES) * rate * (1 - rate)
      lanes.surprise[lane] = 0
      lanes.information[lane] = 0
    }
    lanes.surprise[lane]! += surprise
    lanes.information[lane]! += information
  }
  for (const row of rows) {
    const weight = weightOf(row)
    if (weight === 0) continue
    const lane = columns.lane[row]!
    const fade = fadeOf(lane)
    const win = weight * winOf(row)
    lanes.won[lane] = lanes.won[lane]! * fade + win
    lanes.decided[lane] = lanes.decided[lane]! * fade + weight
    lanes.day[lane] = day
    sums.won += win
    sums.decided += weight
  }
  return sums
}

/** Ends 30 days of a lane: adds its surprises to the sums, if the lane's win rate was known when the 30 days began. */
function endBlock(lanes: LaneWinRates, lane: number, swings: SwingSums): void {
  const before = lanes.before[lane]!
  if (before === 0) return
  const surprise = lanes.surprise[lane]!
  const information = lanes.information[lane]!
  swings.excess += surprise * surprise - information - (information * information) / before
  swings.squares += information * information
}
