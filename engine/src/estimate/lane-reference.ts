/**
 * What is the going rate of this lane today, in dollars? It is the lane's own level, moved with the market, mixed with the
 * brokerage's average for its miles and with the lane's rates of the other type (spot or contract). The fewer quotes a part has,
 * the less it counts. Method: credibility-weighted mean (Bühlmann and Straub, 1970); the formulas are in reference-rate.ts.
 * docs/estimate-formulas.md, "The reference rate" and "Spot and contract".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { laneOf } from './current-lane.ts'
import type { Estimator } from './estimator.ts'
import { curvePosition, FULL_WEIGHT, type PriceWeight } from './price-response.ts'
import { levelWeight, type Morning, referenceOf } from './reference-rate.ts'

/**
 * The reference rate of a lane today, in fractional cents: see `referenceOf`. A rate of the other type on the lane counts as some quotes,
 * corrected by the usual difference between the types. Null if the brokerage has no quotes.
 */
export function referenceRateCents(
  model: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): number | null {
  const own = ownReference(model, identity, miles)
  const other = otherReference(model, identity, miles)
  if (own === null || other === null) return expOrNull(own?.log ?? other?.log ?? null)
  return Math.exp((own.weight * own.log + other.weight * other.log) / (own.weight + other.weight))
}

const expOrNull = (log: number | null) => (log === null ? null : Math.exp(log))

/** The share of a lane's reference rate that is from its rate of the other type. */
export function otherReferenceShare(model: Estimator, identity: LaneIdentity): number {
  const other = otherReference(model, identity, null)
  const own = ownReference(model, identity, null)
  return other === null ? 0 : other.weight / (other.weight + (own?.weight ?? 0))
}

/** A reference rate: its logarithm in cents, and its weight in quotes. */
interface WeighedReference {
  readonly log: number
  readonly weight: number
}

function ownReference(
  model: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): WeighedReference | null {
  const level = laneOf(model, identity.key)?.level
  const morning = model.market.now ?? (level === undefined ? null : FIRST_MORNING)
  if (morning === null) return null
  const known = level === undefined ? 0 : levelWeight(level, model.day)
  return {
    log: referenceOf(level, morning) + model.haulLog(miles),
    weight: known + morning.tenantWeight,
  }
}

/** The reference rate of a lane by its quotes of the other type. Null if it has none. */
export function otherReference(
  { borrowing }: Estimator,
  identity: LaneIdentity,
  miles: number | null,
): WeighedReference | null {
  if (borrowing === null) return null
  const { from, rateOffset, rateWeight } = borrowing
  const level = laneOf(from, identity.key)?.level
  const found = level === undefined ? null : ownReference(from, identity, miles)
  if (level === undefined || found === null) return null
  const known = levelWeight(level, from.day)
  return { log: found.log + rateOffset, weight: (rateWeight * known) / (known + 1) }
}

/** The market of a brokerage that had no quote when the model was prepared: only the lane's own rates count. */
const FIRST_MORNING: Morning = {
  index: 0,
  mean: 0,
  likeness: 0,
  usualWeight: 0,
  tenantWeight: 0,
  firstDayWeight: 0,
}

/** The position of an offer on its lane's curve: see `curvePosition` and `priceWeight`. */
export function offerPosition(
  model: Estimator,
  identity: LaneIdentity,
  offer: { rateCents: number; referenceCents: number },
): number {
  const { rateCents, referenceCents } = offer
  return curvePosition({ referenceCents, priceWeight: priceWeight(model, identity) }, rateCents)
}

/**
 * Below the reference rate of a lane never quoted, a distance counts this much less than above it. Whoever quotes a new lane knows
 * something about it: a low rate is often no bargain, but the rate of a cheap lane (errors in variables attenuate a slope; Fuller,
 * Measurement Error Models, 1987). Above, the same would make the best rate the highest one that is tried.
 */
const BARGAIN_SHARE = 0.5

/**
 * How much a difference from the reference rate counts on a lane: fully, or if neither rate type was ever quoted on it, as much as the
 * brokerage's lanes are alike (`laneLikeness`), and less below the reference rate.
 */
export function priceWeight(model: Estimator, identity: LaneIdentity): PriceWeight {
  const isKnown =
    laneOf(model, identity.key)?.level !== undefined || otherReference(model, identity, null) !== null
  if (isKnown) return FULL_WEIGHT
  const likeness = model.market.now?.likeness ?? 1
  return { below: BARGAIN_SHARE * likeness, above: likeness }
}
