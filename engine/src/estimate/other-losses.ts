/**
 * Does a load that was lost because no truck was free say that its rate was too high? No: such a loss is no evidence for the win curve.
 * But the next load can be lost that way as well, so the curve is multiplied by the share of quotes that the price decides. Reasons
 * can be wrong ("no response" often means that another broker was cheaper), so their rates are compared with those of losses about
 * the price. Methods: moments of a mixture of two groups (Pearson, 1894), shrunk toward "the reasons are right", and credibility for
 * the share of each lane (Bühlmann and Straub, 1970).
 * docs/estimate-formulas.md, "Losses for other reasons".
 */

import { dayOf } from '../day.ts'
import { LOST, PENDING, WON } from '../quotes/quote-columns.ts'
import { isPooled, type QuotedLanes } from '../quotes/quoted-lanes.ts'
import type { Steps } from '../steps.ts'
import { HALF_LIFE_DAYS } from './knots.ts'
import { type MarketDays, marketDay } from './market-days.ts'
import { sigmoid } from './price-response.ts'
import { clip } from './vector.ts'

/** "No quote is lost for other reasons" counts as much as this many decided quotes of the brokerage. */
const TENANT_QUOTES = 5
/** A lane's own share of other losses is mixed with this many quotes at the brokerage's share. */
const LANE_QUOTES = 10
/** "Losses about the price are at the mean rate of all losses" counts as much as this many losses. */
const ASSUMED_LOSSES = 10
/** How far reasons can be wrong before any evidence: the standard deviation of the mislabeled share, whose mean is 0. */
const MISLABELED_DEVIATION = 0.4
const ROWS_PER_STEP = 20_000

/** A brokerage's losses for other reasons than the price, such as capacity. */
export interface OtherLosses {
  /** The share of these losses that are about the price in truth: 1 if their rates are as high as those of losses about the price. */
  readonly mislabeled: number
  /** By how much the log odds that such a loss is about the price grow with the log rate. */
  readonly slope: number
  /** The share of decided quotes that are lost for other reasons in truth; recent quotes count more. */
  readonly share: number
}

/** Of a brokerage without such losses. */
export const NO_OTHER_LOSSES: OtherLosses = { mislabeled: 0, slope: 0, share: 0 }

/**
 * The part of a loss for another reason that is about the price, by its relative rate x: a high rate makes it more likely. 0 if reasons
 * are right.
 *
 * @example aboutPrice({ mislabeled: 0.5, slope: 6, share: 0.1 }, 0.1) // 0.646
 */
export function aboutPrice({ mislabeled, slope }: OtherLosses, x: number): number {
  if (mislabeled === 0 || mislabeled === 1) return mislabeled
  return sigmoid(Math.log(mislabeled / (1 - mislabeled)) + slope * x)
}

/** The sums of the weights of a lane's decided quotes, of their squares, and of those that were lost for another reason. */
export interface OutcomeWeights {
  readonly decidedWeight: number
  readonly decidedSquares: number
  readonly otherWeight: number
}

/**
 * The share of a lane's quotes that the price decides: 1 in a brokerage without losses for other reasons.
 *
 * @param lane null for a lane never quoted
 * @example decidedByPrice({ mislabeled: 0, slope: 0, share: 0.1 }, null) // 0.9
 */
export function decidedByPrice(
  { mislabeled, share }: OtherLosses,
  lane: Omit<OutcomeWeights, 'decidedSquares'> | null,
): number {
  if (share === 0) return 1
  const { decidedWeight, otherWeight } = lane ?? { decidedWeight: 0, otherWeight: 0 }
  return 1 - ((1 - mislabeled) * otherWeight + LANE_QUOTES * share) / (decidedWeight + LANE_QUOTES)
}

/**
 * By how much the chance in a weighted sum of outcomes is smaller than in as many whole outcomes (Kish, Survey Sampling, 1965): the sum of
 * the squared weights, divided by the sum of the weights. 1 without outcomes.
 *
 * @example weightOfWeights({ decidedWeight: 1.5, decidedSquares: 1.25 }) // 0.8333, of a quote of today and one of 60 days ago
 */
export function weightOfWeights(
  lane: Pick<OutcomeWeights, 'decidedWeight' | 'decidedSquares'> | null,
): number {
  return lane === null || lane.decidedWeight === 0 ? 1 : lane.decidedSquares / lane.decidedWeight
}

/** Some quotes: their number, and the sum of their distances in log rate from the mean of their lanes. */
interface DistanceSums {
  count: number
  distance: number
}

/**
 * What a brokerage's losses for other reasons say. Losses that have nothing to do with the price are at the same rates as all quotes, and
 * losses about the price are at higher ones. With d the mean distance in log rate from the mean of a lane, the mislabeled share is
 * `(d other - d all) / (d price - d all)`, shrunk toward 0 as far as chance explains it.
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
  const isOther = (row: number) => columns.outcomeOf(row) === LOST && columns.isForOtherReason(row)
  const decided = rows.filter(
    (row) =>
      isPooled(quoted, row) &&
      columns.outcomeOf(row) !== PENDING &&
      !Number.isNaN(logRates[row] ?? Number.NaN) &&
      columns.lane[row]! >= 0,
  )
  if (!decided.some(isOther)) return NO_OTHER_LOSSES
  yield

  const values = new Float64Array(decided.length)
  const sums = new Float64Array(quoted.laneCount)
  const counts = new Float64Array(quoted.laneCount)
  const weights = { decided: TENANT_QUOTES, other: 0 }
  for (const [at, row] of decided.entries()) {
    if (at % ROWS_PER_STEP === 0) yield
    const lane = columns.lane[row]!
    const quoteDay = dayOf(columns.quotedAt[row]!)
    const value = logRates[row]! - marketDay(market, quoteDay).indexAfter
    values[at] = value
    sums[lane]! += value
    counts[lane]!++
    const weight = 2 ** (-(day - quoteDay) / HALF_LIFE_DAYS)
    weights.decided += weight
    if (isOther(row)) weights.other += weight
  }
  const all: DistanceSums = { count: 0, distance: 0 }
  const other: DistanceSums = { count: 0, distance: 0 }
  const price: DistanceSums = { count: 0, distance: 0 }
  let squares = 0
  for (const [at, row] of decided.entries()) {
    if (at % ROWS_PER_STEP === 0) yield
    const lane = columns.lane[row]!
    const distance = values[at]! - sums[lane]! / counts[lane]!
    squares += distance * distance
    for (const to of [all, ...(isOther(row) ? [other] : columns.outcomeOf(row) === WON ? [] : [price])]) {
      to.count++
      to.distance += distance
    }
  }
  const { mislabeled, slope } = mislabeledShare({ all, other, price }, squares / all.count)
  return { mislabeled, slope, share: ((1 - mislabeled) * weights.other) / weights.decided }
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
