import type { PastQuote } from './history.ts'
import { roundToCent } from './money.ts'
import { lowerMedian } from './statistics/lower-median.ts'
import { mean } from './statistics/mean.ts'

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
 * The rate the lane's history recommends: the average of the winning rates, kept 2 % below the lowest losing rate. A
 * loss below the lower median win is ignored, because a price that low was not the reason. With no wins it is 2 % below
 * the lowest loss. Quotes with a rate of zero do not count.
 *
 * @example // 2000W 2100W 2200W 2110L 2300L
 * // 206780 cents: the average 2100 is held to 2110 less 2 %
 */
export function suggestedRate(history: readonly PastQuote[]): SuggestedRate {
  const wins = ratesOf(history, 'won')
  const losses = ratesOf(history, 'lost')
  const averageWin = mean(wins)
  const typicalWin = lowerMedian(wins)
  if (averageWin === null || typicalWin === null) {
    const lowestLoss = lowest(losses)
    return {
      rateCents: lowestLoss === null ? null : roundToCent(lessCushion(lowestLoss)),
      basis: lowestLoss === null ? null : 'below_lowest_loss',
      winsUsed: 0,
      cappedByCents: lowestLoss,
      lossesIgnored: 0,
    }
  }
  const comparable = losses.filter((rateCents) => rateCents >= typicalWin)
  const lowestLoss = lowest(comparable)
  const counts = { winsUsed: wins.length, lossesIgnored: losses.length - comparable.length }
  if (lowestLoss !== null && lessCushion(lowestLoss) < averageWin) {
    return {
      rateCents: roundToCent(lessCushion(lowestLoss)),
      basis: 'capped_below_lowest_loss',
      cappedByCents: lowestLoss,
      ...counts,
    }
  }
  return { rateCents: roundToCent(averageWin), basis: 'average_win', cappedByCents: null, ...counts }
}

function ratesOf(history: readonly PastQuote[], outcome: 'won' | 'lost'): number[] {
  return history
    .filter((quote) => quote.outcome === outcome && quote.rateCents > 0)
    .map((quote) => quote.rateCents)
}

function lowest(rates: readonly number[]): number | null {
  return rates.length === 0 ? null : rates.reduce((a, b) => Math.min(a, b))
}

function lessCushion(rateCents: number): number {
  return (rateCents * (100 - LOSS_CUSHION_PERCENT)) / 100
}
