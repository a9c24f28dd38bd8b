/**
 * Which of the brokerage's rates count in its estimates? Those of today or earlier that are no typing errors. This file also puts
 * the rates of a lane next to each other, so that a preparation reads each lane once. Methods: the rule for outliers is in
 * left-out.ts; lanes are ordered by a counting sort (https://en.wikipedia.org/wiki/Counting_sort).
 * docs/estimate-formulas.md, "Excluded quotes".
 */

import { dayOf } from '../day.ts'
import { PENDING } from '../quotes/quote-columns.ts'
import type { QuotedLanes } from '../quotes/quoted-lanes.ts'
import type { Steps } from '../steps.ts'
import { type CountedRows, logRateOf, whyUndated } from './lane-fold.ts'
import {
  distancesOfRates,
  type RatesOfLane,
  type TenantRates,
  tenantRatesInSteps,
  usualSpreadInSteps,
  weightsOfRates,
} from './left-out.ts'
import type { HaulLog } from './rate-by-miles.ts'

const ROWS_PER_STEP = 5_000
/** Lanes with at least this many rates say how far the rates of a lane usually are from each other. */
const SPREAD_RATES_MIN = 5

/** The rates of a brokerage that count in its estimates. */
export interface CountedRates {
  /** The log rate of each quote that counts, by row; NaN for the others. */
  readonly logRates: Float64Array
  /** How much each rate counts, by row: from 0 to 1. */
  readonly weights: Float64Array
  /** The lanes with a rate that counts, in the order of their first quotes. */
  readonly laneOrder: readonly number[]
  readonly tenantRates: TenantRates
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
  const byLane = yield* sortedByLane(quoted, rows, logRates)
  const ofAll = yield* tenantRatesInSteps(dated.subarray(0, count))
  const tenantRates = { ...ofAll, ...(yield* usualSpread(quoted, byLane)) }
  const weights = new Float64Array(columns.rows)
  const spreads = new Float64Array(quoted.laneCount)
  const laneOrder = yield* weighted(quoted, byLane, { rows, logRates, weights, spreads, tenantRates })
  const rowsOf = (lane: number): CountedRows | null => {
    if (columns.changes !== changes) return null
    const [from, to] = [byLane.from[lane] ?? 0, byLane.to[lane] ?? 0]
    return {
      rows: byLane.rows.subarray(from, to),
      logRates: byLane.logRates.subarray(from, to),
      weights: byLane.weights.subarray(from, to),
      spread: spreads[lane] ?? ofAll.spread,
    }
  }
  return { logRates, weights, laneOrder, tenantRates, rowsOf }
}

/** Rows by lane, and in the order of time within a lane: those of a lane are at `from` (inclusive) to `to` (exclusive). */
interface RowsByLane extends Omit<CountedRows, 'spread'> {
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
    weights: new Float64Array(from[laneCount] ?? 0),
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

/** The rates of a lane in the order of time, without those that are left out already. */
function ratesOfLane({ columns }: QuotedLanes, byLane: RowsByLane, lane: number): RatesOfLane {
  const [from, to] = [byLane.from[lane]!, byLane.to[lane]!]
  return {
    logRates: byLane.logRates.subarray(from, to),
    isPending: (at) => columns.outcomeOf(byLane.rows[from + at]!) === PENDING,
    dayOf: (at) => dayOf(columns.quotedAt[byLane.rows[from + at]!]!),
  }
}

/** The usual spread of lanes with at least five rates. */
function* usualSpread(quoted: QuotedLanes, byLane: RowsByLane): Steps<Pick<TenantRates, 'spread' | 'tail'>> {
  const distances = new Float64Array(byLane.rows.length)
  let count = 0
  let looked = 0
  for (let lane = 0; lane < quoted.laneCount; lane++) {
    const rates = ratesOfLane(quoted, byLane, lane)
    if (rates.logRates.length < SPREAD_RATES_MIN) continue
    const { compared } = distancesOfRates(rates, null)
    distances.set(compared, count)
    count += compared.length
    looked += rates.logRates.length
    if (looked < ROWS_PER_STEP) continue
    looked = 0
    yield
  }
  return yield* usualSpreadInSteps(distances.subarray(0, count))
}

/**
 * Gives each row its weight, and removes those without weight from the rows of their lane and from `logRates`. Returns the lanes in the
 * order of their first quotes.
 */
function* weighted(
  quoted: QuotedLanes,
  byLane: RowsByLane,
  {
    rows,
    logRates,
    weights,
    spreads,
    tenantRates,
  }: {
    readonly rows: Int32Array
    readonly logRates: Float64Array
    readonly weights: Float64Array
    readonly spreads: Float64Array
    readonly tenantRates: TenantRates
  },
): Steps<number[]> {
  const { columns, laneCount } = quoted
  let looked = 0
  for (let lane = 0; lane < laneCount; lane++) {
    const [from, to] = [byLane.from[lane]!, byLane.to[lane]!]
    const found = weightsOfRates(ratesOfLane(quoted, byLane, lane), tenantRates)
    spreads[lane] = found.spread
    let kept = from
    for (let at = from; at < to; at++) {
      const row = byLane.rows[at]!
      const weight = found.weights[at - from]!
      if (weight === 0) {
        logRates[row] = Number.NaN
        continue
      }
      weights[row] = weight
      byLane.rows[kept] = row
      byLane.weights[kept] = weight
      byLane.logRates[kept++] = byLane.logRates[at]!
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
