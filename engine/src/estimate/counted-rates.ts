/**
 * Which of the brokerage's rates count in its estimates? Those of today or earlier that are no typing errors. This file also puts
 * the rates of a lane next to each other, so that a preparation reads each lane once. Methods: the rule for outliers is in
 * left-out.ts; lanes are ordered by a counting sort (https://en.wikipedia.org/wiki/Counting_sort).
 * docs/model-estimate.md, "Excluded quotes".
 */

import type { QuotedLanes } from '../quotes/quoted-lanes.ts'
import { medianInSteps, type Steps } from '../steps.ts'
import { type CountedRows, logRateOf, whyUndated } from './lane-fold.ts'
import { outlierTest, tenantMiddle } from './left-out.ts'
import type { HaulLog } from './rate-by-miles.ts'

const ROWS_PER_STEP = 5_000

/** The rates of a brokerage that count in its estimates. */
export interface CountedRates {
  /** The log rate of each quote that counts, by row; NaN for the others. */
  readonly logRates: Float64Array
  /** The lanes with a rate that counts, in the order of their first quotes. */
  readonly laneOrder: readonly number[]
  /** The brokerage's median log rate; null with few rates. */
  readonly middle: number | null
  /** The rows of a lane that count; null if quotes changed since. */
  readonly rowsOf: (lane: number) => CountedRows | null
}

/** @param rows all rows in the order of time */
export function* countedRatesInSteps(
  quoted: QuotedLanes,
  rows: Int32Array,
  { day, haulLog }: { day: number; haulLog: HaulLog },
): Steps<CountedRates> {
  const { columns } = quoted
  const { changes } = columns
  const logRates = new Float64Array(columns.rows).fill(Number.NaN)
  const dated = new Float64Array(rows.length)
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const rateCents = columns.rateCents[row]!
    if (whyUndated(rateCents, columns.quotedAt[row]!, day) === null) {
      const logRate = logRateOf(rateCents, columns.miles[row]!, haulLog)
      logRates[row] = logRate
      dated[count++] = logRate
    }
    if (at % ROWS_PER_STEP === 0) yield
  }
  const middle = tenantMiddle(count, yield* medianInSteps(dated.subarray(0, count)))
  const byLane = yield* sortedByLane(quoted, rows, logRates)
  const laneOrder = yield* withoutOutliers(quoted, byLane, { rows, logRates, middle })
  const rowsOf = (lane: number): CountedRows | null => {
    if (columns.changes !== changes) return null
    const [from, to] = [byLane.from[lane] ?? 0, byLane.to[lane] ?? 0]
    return { rows: byLane.rows.subarray(from, to), logRates: byLane.logRates.subarray(from, to) }
  }
  return { logRates, laneOrder, middle, rowsOf }
}

/** Rows by lane, and in the order of time within a lane: those of a lane are at `from` (inclusive) to `to` (exclusive). */
interface RowsByLane extends CountedRows {
  readonly from: Int32Array
  readonly to: Int32Array
}

function* sortedByLane(
  { columns, laneCount }: QuotedLanes,
  rows: Int32Array,
  logRates: Float64Array,
): Steps<RowsByLane> {
  const from = new Int32Array(laneCount + 1)
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const lane = columns.lane[row]!
    if (lane >= 0 && lane < laneCount && !Number.isNaN(logRates[row])) from[lane + 1]!++
    if (at % (10 * ROWS_PER_STEP) === 0) yield
  }
  for (let lane = 0; lane < laneCount; lane++) from[lane + 1]! += from[lane]!
  const to = from.slice(0, laneCount)
  const sorted = {
    from,
    to,
    rows: new Int32Array(from[laneCount] ?? 0),
    logRates: new Float64Array(from[laneCount] ?? 0),
  }
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const lane = columns.lane[row]!
    const logRate = logRates[row]!
    if (lane >= 0 && lane < laneCount && !Number.isNaN(logRate)) {
      const place = to[lane]!
      sorted.rows[place] = row
      sorted.logRates[place] = logRate
      to[lane] = place + 1
    }
    if (at % (4 * ROWS_PER_STEP) === 0) yield
  }
  return sorted
}

/** Removes outliers from the rows of each lane, and from `logRates`. Returns the lanes in the order of their first quotes. */
function* withoutOutliers(
  { columns, laneCount }: QuotedLanes,
  byLane: RowsByLane,
  { rows, logRates, middle }: { rows: Int32Array; logRates: Float64Array; middle: number | null },
): Steps<number[]> {
  let looked = 0
  for (let lane = 0; lane < laneCount; lane++) {
    const [from, to] = [byLane.from[lane]!, byLane.to[lane]!]
    const isOutlier = outlierTest(byLane.logRates.subarray(from, to), middle)
    let kept = from
    for (let at = from; at < to; at++) {
      const row = byLane.rows[at]!
      const logRate = byLane.logRates[at]!
      if (isOutlier(logRate)) {
        logRates[row] = Number.NaN
        continue
      }
      byLane.rows[kept] = row
      byLane.logRates[kept++] = logRate
    }
    byLane.to[lane] = kept
    looked += to - from + 20
    if (looked < ROWS_PER_STEP) continue
    looked = 0
    yield
  }
  const laneOrder: number[] = []
  const known = new Uint8Array(laneCount)
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const lane = columns.lane[row]!
    if (known[lane] === 0 && !Number.isNaN(logRates[row])) {
      known[lane] = 1
      laneOrder.push(lane)
    }
    if (at % (10 * ROWS_PER_STEP) === 0) yield
  }
  return laneOrder
}
