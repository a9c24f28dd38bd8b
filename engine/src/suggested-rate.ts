import { roundToCent } from './money.ts'
import type { RateCount } from './rate-counts.ts'
import { groupOfNth } from './statistics/group-of-nth.ts'

export type SuggestedRateBasis = 'below_lowest_loss' | 'average_win' | 'capped_below_lowest_loss'

export interface SuggestedRate {
  /** Whole cents, or null when no quote is decided. */
  readonly rateCents: number | null
  readonly basis: SuggestedRateBasis | null
  /** The number of wins in the average. */
  readonly winsUsed: number
  /** The losing rate that capped the suggestion, or null if no losing rate did. */
  readonly cappedByCents: number | null
  /** The number of losses at a rate below a typical win. Price was not the reason for these losses. */
  readonly lossesIgnored: number
}

/** The suggestion stays at least this percentage below the lowest losing rate. */
export const LOSS_CUSHION_PERCENT = 2

/**
 * Which rate should a quote start from, by the lane's own wins and losses alone? A rule of thumb (docs/model.md, "Suggested
 * rate"), from the counts by rate, cheapest first: the average winning rate, capped at 2 % below the lowest losing rate. Losses
 * below the lower median of the wins are ignored, because price was not the reason for them. Without wins, the suggestion is 2 %
 * below the lowest loss. Quotes with a rate of zero are excluded.
 *
 * @example // 2000W 2100W 2200W 2110L 2300L
 * // 206780 cents: the average of 2100 is capped at 2 % below 2110
 */
export function suggestedRate(counts: readonly RateCount[]): SuggestedRate {
  const won = counts.filter((count) => count.rateCents > 0 && count.won > 0)
  const lost = counts.filter((count) => count.rateCents > 0 && count.lost > 0)
  const winsUsed = won.reduce((sum, count) => sum + count.won, 0)
  // The lower median is a rate that a customer accepted.
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
  // Sums of whole cents are exact in any order.
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
