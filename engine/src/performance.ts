import { DEVIATIONS_80 } from './statistics/normal-cdf.ts'
import { percentOf } from './statistics/percent-of.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'

/** Counts and sums over a selection of quotes. Amounts are whole cents. */
export interface PerformanceSums {
  readonly quotes: number
  readonly won: number
  readonly lost: number
  /** Quotes whose booked customer rate (AR) and truck cost (AP) are both known. The next two fields are their sums. */
  readonly shipments: number
  readonly customerRateCents: number
  readonly truckCostCents: number
  /** The shipments whose quoted rate and expected cost at quote time are also known. */
  readonly comparableShipments: number
  readonly comparableMarginCents: number
  readonly quotedMarginCents: number
  /** Over the comparable shipments: by how much AP is above the expected cost and, in `lostToRateCents`, AR below the quoted rate. */
  readonly lostToCostCents: number
  readonly lostToRateCents: number
  /** Quotes whose quoted rate and expected cost at quote time are known. The next three fields are a part of them. */
  readonly quotesWithCost: number
  readonly quotedTooLow: number
  readonly quotedTooLowWon: number
  /** The cents by which the won quotes were too low. */
  readonly quotedTooLowCents: number
}

/** Results of a selection of quotes. Percentages have one decimal, amounts are cents. A value is null without data. */
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
  readonly lostToCostCents: number | null
  readonly lostToRateCents: number | null
  readonly gainedCents: number | null
  readonly quotedTooLowCents: number | null
}

/**
 * How did these loads do, and did they earn what was quoted (docs/model.md, "Quoted and landed margin", "Win rate of a period")?
 * The win rate, the actual margin, and the difference between the actual and the quoted margin. Each amount covers the shipments
 * for which it is known. It is null, not zero, if there are none. landedVsQuotedCents is gainedCents (lower costs than expected,
 * and higher rates than quoted) minus lostToCostCents minus lostToRateCents.
 *
 * @example
 * // 3 won and 1 lost of 5 quotes; one shipment at AR $2,000 and AP $1,700, quoted with a margin of $350:
 * // { decided: 4, pending: 1, winRatePct: 75, marginCents: 30000, marginPct: 15, landedVsQuotedCents: -5000, ... }
 */
export function performanceOf(sums: PerformanceSums): Performance {
  const decided = sums.won + sums.lost
  const marginCents = sums.customerRateCents - sums.truckCostCents
  const landedVsQuotedCents = sums.comparableMarginCents - sums.quotedMarginCents
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
    landedVsQuotedCents: isCompared ? landedVsQuotedCents : null,
    lostToCostCents: isCompared ? sums.lostToCostCents : null,
    lostToRateCents: isCompared ? sums.lostToRateCents : null,
    gainedCents: isCompared ? landedVsQuotedCents + sums.lostToCostCents + sums.lostToRateCents : null,
    quotedTooLowCents: sums.quotesWithCost > 0 ? sums.quotedTooLowCents : null,
  }
}

/**
 * The 80 % confidence interval of the win rate: Wilson's score interval (E. B. Wilson, "Probable Inference", 1927),
 * in percent with one decimal. Null when no quote is decided. With few quotes the interval is wide: 2 wins of 2
 * quotes do not prove a win rate of 100 %.
 *
 * @example winRateInterval(7, 10) // { lowPct: 49.7, highPct: 84.6 }
 */
function winRateInterval(won: number, decided: number): { lowPct: number; highPct: number } | null {
  if (decided === 0) return null
  const square = DEVIATIONS_80 ** 2
  const share = won / decided
  const middle = (share + square / (2 * decided)) / (1 + square / decided)
  const half =
    (DEVIATIONS_80 * Math.sqrt((share * (1 - share)) / decided + square / (4 * decided ** 2))) /
    (1 + square / decided)
  return {
    lowPct: roundHalfAway(100 * Math.max(0, middle - half), 1),
    highPct: roundHalfAway(100 * Math.min(1, middle + half), 1),
  }
}

/** A shipment whose actual margin is compared with its quoted margin. Amounts are whole cents. */
export interface ComparedShipment {
  readonly quotedRateCents: number
  readonly quotedCostCents: number
  readonly customerRateCents: number
  readonly truckCostCents: number
}

/** The amount by which a margin fell short, in cents, and the cause: a lower AR, a higher AP, or both. */
export interface Shortfall {
  readonly shortfallCents: number
  readonly because: 'rate' | 'cost' | 'both'
}

/**
 * The amount by which the actual margin is below the quoted margin, and the cause. Null if it is not below.
 *
 * @example
 * shortfall({ quotedRateCents: 215000, quotedCostCents: 180000, customerRateCents: 215000, truckCostCents: 190000 })
 * // { shortfallCents: 10000, because: 'cost' }
 */
export function shortfall(shipment: ComparedShipment): Shortfall | null {
  const lowerRate = shipment.quotedRateCents - shipment.customerRateCents
  const higherCost = shipment.truckCostCents - shipment.quotedCostCents
  const shortfallCents = lowerRate + higherCost
  if (shortfallCents <= 0) return null
  const because = lowerRate <= 0 ? 'cost' : higherCost <= 0 ? 'rate' : 'both'
  return { shortfallCents, because }
}
