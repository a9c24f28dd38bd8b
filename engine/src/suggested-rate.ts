import type { RateCount } from './lane-rates.ts'
import { roundToCent } from './money.ts'
import { groupOfNth } from './statistics/group-of-nth.ts'

export type SuggestedRateBasis = 'below_lowest_loss' | 'average_win' | 'capped_below_lowest_loss'

export interface SuggestedRate {
  /** Whole cents, or null when no quote is decided. */
  readonly rateCents: number | null
  readonly basis: SuggestedRateBasis | null
  /** How many wins were averaged. */
  readonly winsUsed: number
  /** The rate of the loss that the suggestion stays below, or null when none held it down. */
  readonly cappedByCents: number | null
  /** Losses cheaper than a typical win: they were not about price. */
  readonly lossesIgnored: number
}

/** The suggestion stays this share below the lowest losing rate. */
export const LOSS_CUSHION_PERCENT = 2

/**
 * The rate the lane's history recommends, from its counts by rate, cheapest first: the average of the winning rates,
 * kept 2 % below the lowest losing rate. A loss below the lower median win is ignored, because a price that low was not
 * the reason. With no wins it is 2 % below the lowest loss. Quotes with a rate of zero do not count.
 *
 * @example // 2000W 2100W 2200W 2110L 2300L
 * // 206780 cents: the average 2100 is held to 2110 less 2 %
 */
export function suggestedRate(counts: readonly RateCount[]): SuggestedRate {
  const won = counts.filter((count) => count.rateCents > 0 && count.won > 0)
  const lost = counts.filter((count) => count.rateCents > 0 && count.lost > 0)
  const winsUsed = won.reduce((sum, count) => sum + count.won, 0)
  // The lower of the middle two when their number is even: a rate somebody really paid.
  const typicalWin = groupOfNth(won, (count) => count.won, Math.ceil(winsUsed / 2) - 1)
  if (typicalWin === undefined) {
    const lowestLossCents = lost[0]?.rateCents ?? null
    return {
      rateCents: lowestLossCents === null ? null : roundToCent(lessCushion(lowestLossCents)),
      basis: lowestLossCents === null ? null : 'below_lowest_loss',
      winsUsed: 0,
      cappedByCents: lowestLossCents,
      lossesIgnored: 0,
    }
  }
  // Whole cents: their sum is exact, whatever the order.
  const averageWinCents = won.reduce((sum, count) => sum + count.rateCents * count.won, 0) / winsUsed
  const lowestLoss = lost.find((count) => count.rateCents >= typicalWin.rateCents)
  const lossesIgnored = lost.reduce(
    (sum, count) => sum + (count.rateCents < typicalWin.rateCents ? count.lost : 0),
    0,
  )
  if (lowestLoss !== undefined && lessCushion(lowestLoss.rateCents) < averageWinCents) {
    return {
      rateCents: roundToCent(lessCushion(lowestLoss.rateCents)),
      basis: 'capped_below_lowest_loss',
      cappedByCents: lowestLoss.rateCents,
      winsUsed,
      lossesIgnored,
    }
  }
  return {
    rateCents: roundToCent(averageWinCents),
    basis: 'average_win',
    cappedByCents: null,
    winsUsed,
    lossesIgnored,
  }
}

function lessCushion(rateCents: number): number {
  return (rateCents * (100 - LOSS_CUSHION_PERCENT)) / 100
}
