import { percentOf } from './statistics/percent-of.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'

/** Counts and sums over the lanes of a selection. Amounts are whole cents. */
export interface PerformanceSums {
  readonly quotes: number
  readonly won: number
  readonly lost: number
  /** Lanes whose booked AR and AP are both known, with their sums. */
  readonly shipments: number
  readonly customerRateCents: number
  readonly truckCostCents: number
  /** Of these, the ones whose quoted rate and cost expected when quoted are known, too. */
  readonly comparableShipments: number
  readonly comparableMarginCents: number
  readonly quotedMarginCents: number
}

/** How a selection of lanes did. Shares in percent with one decimal, amounts in cents; null of nothing. */
export interface Performance {
  readonly pending: number
  readonly decided: number
  readonly winRatePct: number | null
  readonly winRateInterval: { readonly lowPct: number; readonly highPct: number } | null
  readonly customerRateCents: number | null
  readonly truckCostCents: number | null
  readonly marginCents: number | null
  readonly marginPct: number | null
  readonly quotedMarginCents: number | null
  readonly landedVsQuotedCents: number | null
}

/**
 * The win rate, the margin that landed, and how it compares with the margin that was quoted. Each amount is over the
 * shipments for which it is known, and null where there is none: no booking is not a margin of zero.
 *
 * @example
 * // 3 won and 1 lost of 5 quotes; one shipment at AR $2,000 and AP $1,700, quoted with a margin of $350:
 * // { decided: 4, pending: 1, winRatePct: 75, marginCents: 30000, marginPct: 15, landedVsQuotedCents: -5000, ... }
 */
export function performanceOf(sums: PerformanceSums): Performance {
  const decided = sums.won + sums.lost
  const marginCents = sums.customerRateCents - sums.truckCostCents
  const isBooked = sums.shipments > 0
  const isCompared = sums.comparableShipments > 0
  return {
    pending: sums.quotes - decided,
    decided,
    winRatePct: percentOf(sums.won, decided),
    winRateInterval: winRateInterval(sums.won, decided),
    customerRateCents: isBooked ? sums.customerRateCents : null,
    truckCostCents: isBooked ? sums.truckCostCents : null,
    marginCents: isBooked ? marginCents : null,
    marginPct: isBooked ? percentOf(marginCents, sums.customerRateCents) : null,
    quotedMarginCents: isCompared ? sums.quotedMarginCents : null,
    landedVsQuotedCents: isCompared ? sums.comparableMarginCents - sums.quotedMarginCents : null,
  }
}

/** Four times in five a normal variable lies within this many deviations: the 90 % point of the standard normal. */
export const WIN_RATE_DEVIATIONS = 1.2815515655446004

/**
 * Where the win rate would lie four times in five with this many decided quotes: Wilson's score interval at 80 %
 * (E. B. Wilson, "Probable Inference", 1927), in percent with one decimal; null while none is decided. Two wins of two
 * are no sure thing, and it says so.
 *
 * @example winRateInterval(7, 10) // { lowPct: 49.7, highPct: 84.6 }
 */
function winRateInterval(won: number, decided: number): { lowPct: number; highPct: number } | null {
  if (decided === 0) return null
  const square = WIN_RATE_DEVIATIONS ** 2
  const share = won / decided
  const middle = (share + square / (2 * decided)) / (1 + square / decided)
  const half =
    (WIN_RATE_DEVIATIONS * Math.sqrt((share * (1 - share)) / decided + square / (4 * decided ** 2))) /
    (1 + square / decided)
  return {
    lowPct: roundHalfAway(100 * Math.max(0, middle - half), 1),
    highPct: roundHalfAway(100 * Math.min(1, middle + half), 1),
  }
}

/** A shipment whose margin is compared with the quoted one. Amounts are whole cents. */
export interface ComparedShipment {
  readonly quotedRateCents: number
  readonly quotedCostCents: number
  readonly customerRateCents: number
  readonly truckCostCents: number
}

/** What a margin fell short by, in cents, and why: a lower AR, a dearer truck, or both. */
export interface Shortfall {
  readonly shortfallCents: number
  readonly because: 'rate' | 'cost' | 'both'
}

/**
 * How far the margin that landed is below the quoted one, and why; null when it is not.
 *
 * @example
 * shortfall({ quotedRateCents: 215000, quotedCostCents: 180000, customerRateCents: 215000, truckCostCents: 190000 })
 * // { shortfallCents: 10000, because: 'cost' }
 */
export function shortfall(shipment: ComparedShipment): Shortfall | null {
  const lowerRate = shipment.quotedRateCents - shipment.customerRateCents
  const dearerTruck = shipment.truckCostCents - shipment.quotedCostCents
  const shortfallCents = lowerRate + dearerTruck
  if (shortfallCents <= 0) return null
  const because = lowerRate <= 0 ? 'cost' : dearerTruck <= 0 ? 'rate' : 'both'
  return { shortfallCents, because }
}
