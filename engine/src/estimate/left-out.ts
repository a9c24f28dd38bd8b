/**
 * Is $140 for 900 miles a bargain or a typing error? A rate far from the rates quoted on its lane at about the same time counts less,
 * and very far from them not at all, so that one typing error hardly moves a lane. Methods: the distance from a moving median
 * (Hampel's identifier; Davies and Gather, JASA 88, 1993), and weights that fall smoothly to zero (a redescending M-estimator; Hampel,
 * Ronchetti, Rousseeuw and Stahel, Robust Statistics, 1986).
 * docs/estimate-formulas.md, "Rates that count less".
 */

import { DEVIATIONS_PER_MEDIAN_DEVIATION } from '../outliers.ts'
import { median } from '../statistics/median.ts'
import { medianInSteps, nthInSteps, type Steps } from '../steps.ts'

/** Why a quote is excluded from the estimate. Excluded quotes are still displayed. */
export type LeftOutReason = 'bad_rate' | 'future' | 'outlier'

/** A rate has its full weight up to this many spreads of the lane (times the tail of the brokerage), and less beyond. */
const FULL_WEIGHT_SPREADS = 2
/** A rate this many spreads of the lane away has no weight: the quote is left out. */
const NO_WEIGHT_SPREADS = 4
/** A pending quote waits outside beyond this many spreads: nobody has accepted or refused it. */
const PENDING_SPREADS = 3
/** A rate is compared with the median of this many rates of its lane, those nearest in time. */
const WINDOW = 11
/** The spread of a lane with fewer rates than this is the usual one. */
const SPREAD_RATES_MIN = 3
/** Lanes with fewer rates than this lean on the brokerage's median for the miles, too. */
const OWN_RATES_MIN = 5
/** The brokerage must have at least this many rates. */
const TENANT_RATES_MIN = 20
/** The usual spread counts as this many rates of a lane. */
const USUAL_RATES = 15
/** The spread of lanes before any evidence, and the least spread: standard deviations of log rates. */
const USUAL_SPREAD = 0.1
const SPREAD_MIN = 0.02

/** A twentieth of a normal distribution is further away than this many standard deviations. */
const DEVIATIONS_OF_A_TWENTIETH = 1.96

/** A brokerage's log rates over all lanes: the median, and two robust standard deviations. */
export interface TenantRates {
  /** Null with fewer than 20 rates. */
  readonly middle: number | null
  /** Of all rates around the median. */
  readonly deviation: number
  /** Of the rates of one lane around the moving median of the lane: the usual spread. */
  readonly spread: number
  /**
   * How much further away than in a normal distribution the furthest twentieth of these rates is, at least 1: where rates far from
   * the others are usual, they are no errors.
   */
  readonly tail: number
}

/** The rates of a brokerage over all lanes, before the spread of its lanes is known. Reorders `logRates`. */
export function* tenantRatesInSteps(logRates: Float64Array): Steps<TenantRates> {
  const middle = logRates.length < TENANT_RATES_MIN ? null : yield* medianInSteps(logRates)
  if (middle === null) return { middle: null, deviation: 0, spread: USUAL_SPREAD, tail: 1 }
  const distance = (yield* medianInSteps(logRates.map((value) => Math.abs(value - middle)))) ?? 0
  return { middle, deviation: DEVIATIONS_PER_MEDIAN_DEVIATION * distance, spread: USUAL_SPREAD, tail: 1 }
}

/** The usual spread of lanes and its tail, from the distances of all rates on lanes with at least five. Reorders `distances`. */
export function* usualSpreadInSteps(distances: Float64Array): Steps<Pick<TenantRates, 'spread' | 'tail'>> {
  if (distances.length < TENANT_RATES_MIN) return { spread: USUAL_SPREAD, tail: 1 }
  const spread = DEVIATIONS_PER_MEDIAN_DEVIATION * ((yield* medianInSteps(distances)) ?? 0)
  const far = yield* nthInSteps(distances, Math.floor(0.95 * distances.length))
  return {
    spread: Math.max(SPREAD_MIN, spread),
    tail: Math.max(1, far / DEVIATIONS_OF_A_TWENTIETH / Math.max(SPREAD_MIN, spread)),
  }
}

/** The log rates of a lane in the order of time (see `logRateOf`), which of them are pending, and their days. */
export interface RatesOfLane {
  readonly logRates: ArrayLike<number>
  readonly isPending: (at: number) => boolean
  readonly dayOf: (at: number) => number
}

/** How much the rates of a lane count, and how far they are from each other. */
export interface RateWeights {
  /** By position: from 0 (left out) to 1. */
  readonly weights: Float64Array
  /** The standard deviation of the lane's log rates, mixed with the usual spread of the brokerage's lanes. */
  readonly spread: number
}

/**
 * How much each rate of a lane counts.
 *
 * @example weightsOfRates({ logRates: [7.6, 7.7, 12.2], isPending: () => false, dayOf: () => 0 }, tenant).weights // 1, 1, 0
 */
export function weightsOfRates(rates: RatesOfLane, tenant: TenantRates): RateWeights {
  const count = rates.logRates.length
  const weights = new Float64Array(count).fill(1)
  const { distances, compared } = distancesOfRates(rates, tenant.middle)
  const own =
    compared.length < SPREAD_RATES_MIN
      ? tenant.spread
      : Math.max(SPREAD_MIN, DEVIATIONS_PER_MEDIAN_DEVIATION * (median(compared) ?? 0))
  const spread = (compared.length * own + USUAL_RATES * tenant.spread) / (compared.length + USUAL_RATES)
  if (tenant.middle === null && count < SPREAD_RATES_MIN) {
    // Nothing to compare them with. An undecided rate waits outside: alone, a typing error would be the going rate of its lane.
    for (let at = 0; at < count; at++) if (rates.isPending(at)) weights[at] = 0
    return { weights, spread }
  }
  const scale =
    count === 1 ? Math.hypot(spread, tenant.deviation) : spread * Math.sqrt(1 + 1 / compared.length)
  for (let at = 0; at < count; at++) {
    const distance = distances[at]! / (scale * tenant.tail)
    if (distance <= FULL_WEIGHT_SPREADS) continue
    weights[at] = rates.isPending(at) && distance > PENDING_SPREADS ? 0 : weightAt(distance)
  }
  return { weights, spread }
}

/** The weight of a rate by its distance in spreads: 1 up to 2, falling smoothly to 0 at 4. */
function weightAt(distance: number): number {
  const beyond = (distance - FULL_WEIGHT_SPREADS) / (NO_WEIGHT_SPREADS - FULL_WEIGHT_SPREADS)
  return beyond >= 1 ? 0 : (1 - beyond * beyond) ** 2
}

/** By position: how far each rate is from the rates near it; and the distances of the rates that others are compared with. */
export interface RateDistances {
  readonly distances: Float64Array
  readonly compared: readonly number[]
}

/**
 * The distance of each log rate of a lane from the median of those nearest in time. Of the pending quotes of a day, only the first is
 * among those: hundreds of wrong rates in one file do not look right. On a lane with fewer than five rates, the brokerage's median is.
 */
export function distancesOfRates(
  { logRates, isPending, dayOf }: RatesOfLane,
  middle: number | null,
): RateDistances {
  const base: number[] = []
  const isCompared = new Uint8Array(logRates.length)
  let pendingDay = Number.NaN
  for (let at = 0; at < logRates.length; at++) {
    if (isPending(at)) {
      if (dayOf(at) === pendingDay) continue
      pendingDay = dayOf(at)
    }
    isCompared[at] = 1
    base.push(logRates[at]!)
  }
  const ofAll = base.length <= WINDOW ? centerOf(base, middle) : null
  /** The rates from `start` on, in ascending order. */
  const near = base.slice(0, WINDOW).sort((one, other) => one - other)
  let start = 0
  const distances = new Float64Array(logRates.length)
  const compared: number[] = []
  for (let at = 0, before = 0; at < distances.length; at++) {
    const from = Math.min(Math.max(before - Math.floor(WINDOW / 2), 0), base.length - WINDOW)
    for (; start < from; start++) replaceSorted(near, base[start]!, base[start + WINDOW]!)
    distances[at] = Math.abs(logRates[at]! - (ofAll ?? near[near.length >> 1]!))
    if (isCompared[at] === 0) continue
    compared.push(distances[at]!)
    before++
  }
  return { distances, compared }
}

/** Replaces a value in an ascending list by another: much faster than to sort the window of each rate. */
function replaceSorted(sorted: number[], old: number, value: number): void {
  let place = sorted.indexOf(old)
  for (; place > 0 && sorted[place - 1]! > value; place--) sorted[place] = sorted[place - 1]!
  for (; place < sorted.length - 1 && sorted[place + 1]! < value; place++) sorted[place] = sorted[place + 1]!
  sorted[place] = value
}

function centerOf(base: readonly number[], middle: number | null): number {
  if (middle === null || base.length >= OWN_RATES_MIN) return median(base) ?? 0
  return base.length === 1 ? middle : (median([...base, middle]) ?? 0)
}
