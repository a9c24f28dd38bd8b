import { LOST, PENDING } from '../book/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { dayOf, HALF_LIFE_DAYS } from './day.ts'
import { type MarketDays, marketDay } from './market-days.ts'
import { sigmoid } from './price-response.ts'
import { isPooled, type QuotedLanes } from './quoted-lanes.ts'
import { clip } from './vector.ts'

/** Decided quotes without any other loss that are added to a tenant. */
const TENANT_QUOTES = 5
/** Quotes at the tenant's share that are added to a lane: if lanes differ as much as they can, and if they do not differ. */
const LANE_QUOTES_MIN = 3
const LANE_QUOTES_MAX = 300
/** The evidence, in pairs of a lane's quotes, that is assumed to say that lanes do not differ. */
const ALIKE_PAIRS = 200
/** Losses that are assumed to be about the price, at the mean rate of all losses. */
const ASSUMED_LOSSES = 10
/** The standard deviation of the mislabeled share before any evidence. Its mean is 0: reasons are taken at their word. */
const MISLABELED_DEVIATION = 0.4
const ROWS_PER_STEP = 20_000

/**
 * A tenant's losses for other reasons than the price, such as capacity. They say nothing about a rate, so they are no evidence for
 * the win curve. But they are losses all the same: the curve is multiplied by the share of quotes that are not lost that way.
 */
export interface OtherLosses {
  /** The share of these losses that are about the price in truth: they are as much higher than other quotes as if they were. */
  readonly mislabeled: number
  /** By how much the log odds that such a loss is about the price grow with the log rate. */
  readonly slope: number
  /** The share of decided quotes that are lost for other reasons in truth, by recency. */
  readonly share: number
  /** How many quotes at this share are added to a lane: few if the shares of lanes differ. */
  readonly laneQuotes: number
}

/** Of a tenant without such losses. */
export const NO_OTHER_LOSSES: OtherLosses = { mislabeled: 0, slope: 0, share: 0, laneQuotes: LANE_QUOTES_MAX }

/**
 * The part of a loss for another reason that is about the price, by its rate: a high rate makes it more likely. 0 if reasons are right.
 *
 * @example aboutPrice({ mislabeled: 0.5, slope: 6, share: 0.1, laneQuotes: 20 }, 0.1) // 0.646
 */
export function aboutPrice({ mislabeled, slope }: OtherLosses, x: number): number {
  if (mislabeled === 0 || mislabeled === 1) return mislabeled
  return sigmoid(Math.log(mislabeled / (1 - mislabeled)) + slope * x)
}

/** A lane's decided quotes and those of them that were lost for another reason, by recency. */
export interface OutcomeWeights {
  readonly decidedWeight: number
  readonly otherWeight: number
}

/**
 * The share of a lane's quotes that the price decides: 1 without losses for other reasons. The lane's own share is mixed with
 * some quotes at the tenant's.
 *
 * @example decidedByPrice({ mislabeled: 0, slope: 0, share: 0.1, laneQuotes: 20 }, null) // 0.9
 */
export function decidedByPrice(
  { mislabeled, share, laneQuotes }: OtherLosses,
  lane: OutcomeWeights | null,
): number {
  if (share === 0) return 1
  const { decidedWeight, otherWeight } = lane ?? { decidedWeight: 0, otherWeight: 0 }
  return 1 - ((1 - mislabeled) * otherWeight + laneQuotes * share) / (decidedWeight + laneQuotes)
}

/** The sums of some quotes: their number, and the sum of their distances from the mean rate of their lanes. */
interface DistanceSums {
  count: number
  distance: number
}

/**
 * What a tenant's losses for other reasons say.
 *
 * Losses that have nothing to do with the price are at the same rates as all quotes; losses about the price are at higher ones.
 * With d the mean distance in log rate from a lane's mean rate, the mislabeled share is (d other - d all) / (d price - d all),
 * shrunk toward 0 as far as chance explains it.
 *
 * @param rows all rows in the order of time
 * @param logRates by row; NaN for quotes that are left out
 */
export function* otherLossesInSteps(
  quoted: QuotedLanes,
  rows: Int32Array,
  { logRates, day, market }: { logRates: Float64Array; day: number; market: MarketDays },
): Steps<OtherLosses> {
  const { columns } = quoted
  const isDecided = (row: number) =>
    isPooled(quoted, row) &&
    columns.outcomeOf(row) !== PENDING &&
    !Number.isNaN(logRates[row] ?? Number.NaN) &&
    (columns.lane[row] as number) >= 0
  const isOther = (row: number) => columns.outcomeOf(row) === LOST && columns.isForOtherReason(row)
  let found = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    if (isOther(row) && isDecided(row)) found++
    if (at % ROWS_PER_STEP === 0) yield
  }
  if (found === 0) return NO_OTHER_LOSSES

  const values = new Float64Array(columns.rows)
  const sums = new Float64Array(quoted.laneCount)
  const counts = new Float64Array(quoted.laneCount)
  const others = new Float64Array(quoted.laneCount)
  const weights = { decided: TENANT_QUOTES, other: 0 }
  for (let at = 0; at < rows.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = rows[at] as number
    if (!isDecided(row)) continue
    const lane = columns.lane[row] as number
    const quoteDay = dayOf(columns.quotedAt[row] as number)
    const value = (logRates[row] as number) - marketDay(market, quoteDay).indexAfter
    values[row] = value
    sums[lane] = (sums[lane] as number) + value
    counts[lane] = (counts[lane] as number) + 1
    const weight = 2 ** (-(day - quoteDay) / HALF_LIFE_DAYS)
    weights.decided += weight
    if (!isOther(row)) continue
    weights.other += weight
    others[lane] = (others[lane] as number) + 1
  }
  const [all, other, price] = [0, 1, 2].map((): DistanceSums => ({ count: 0, distance: 0 })) as [
    DistanceSums,
    DistanceSums,
    DistanceSums,
  ]
  let squares = 0
  const add = (to: DistanceSums, distance: number) => {
    to.count++
    to.distance += distance
  }
  for (let at = 0; at < rows.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = rows[at] as number
    if (!isDecided(row)) continue
    const lane = columns.lane[row] as number
    const distance = (values[row] as number) - (sums[lane] as number) / (counts[lane] as number)
    squares += distance * distance
    add(all, distance)
    if (isOther(row)) add(other, distance)
    else if (columns.outcomeOf(row) === LOST) add(price, distance)
  }
  const { mislabeled, slope } = mislabeledShare({ all, other, price }, squares / all.count)
  const share = ((1 - mislabeled) * weights.other) / weights.decided
  return { mislabeled, slope, share, laneQuotes: laneQuotesOf(counts, others) }
}

/**
 * How many quotes at the tenant's share a lane's own share is worth: p (1 - p) / variance of lanes, the variance by pairs of quotes of
 * one lane. With y = 1 for another reason, the mean of (y1 - p) (y2 - p) over such pairs is the variance of the shares of lanes.
 */
function laneQuotesOf(counts: Float64Array, others: Float64Array): number {
  const [count, other] = [counts, others].map((of) => of.reduce((sum, value) => sum + value, 0))
  const p = (other ?? 0) / Math.max(1, count ?? 0)
  let [products, pairs] = [0, 0]
  for (let lane = 0; lane < counts.length; lane++) {
    const n = counts[lane] as number
    if (n < 2) continue
    const surprise = (others[lane] as number) - n * p
    const squares = (others[lane] as number) * (1 - p) ** 2 + (n - (others[lane] as number)) * p ** 2
    // Each lane with the weight of its quotes, so that one large lane does not decide.
    products += (surprise ** 2 - squares) / (n - 1)
    pairs += n
  }
  const variance = Math.max(0, products) / (pairs + ALIKE_PAIRS)
  return clip((p * (1 - p)) / Math.max(variance, 1e-9), LANE_QUOTES_MIN, LANE_QUOTES_MAX)
}

function mislabeledShare(
  { all, other, price }: Readonly<Record<'all' | 'other' | 'price', DistanceSums>>,
  variance: number,
): Pick<OtherLosses, 'mislabeled' | 'slope'> {
  const mean = all.distance / all.count
  // How far losses about the price are above the mean of all quotes: with ten losses like all others, whatever their reason.
  const ofLosses = (price.distance + other.distance) / (price.count + other.count) - mean
  const above =
    (price.distance - price.count * mean + ASSUMED_LOSSES * ofLosses) / (price.count + ASSUMED_LOSSES)
  if (above <= 0 || variance <= 0) return NO_OTHER_LOSSES
  const information = (above * above) / (variance / other.count)
  const measured = (other.distance / other.count - mean) / above
  const mislabeled = clip((information * measured) / (information + 1 / MISLABELED_DEVIATION ** 2), 0, 1)
  return { mislabeled, slope: above / variance }
}
