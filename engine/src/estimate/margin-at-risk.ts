/**
 * If you win at $2,000, how likely does the truck cost more than that? The truck's cost varies as past costs varied around their
 * forecasts. Method: quantiles of the margin, as in value at risk (https://en.wikipedia.org/wiki/Value_at_risk).
 * docs/estimate-formulas.md, "Margin at risk".
 */

import { formatDollars } from '../money.ts'
import { type ErrorSpread, errorAt, errorBelow } from './cost-errors.ts'

/** The chance of losing money at the safe rate. */
const LOSS_CHANCE_MAX = 0.1

/** The shares of loads for which `costs` has a truck cost: every twentieth, and both ends. */
export const COST_SHARES = [
  0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
  0.95, 0.99,
] as const

/** How much a rate may earn or lose, because the truck cost is uncertain. Amounts in cents, may be fractional. */
export interface MarginAtRisk {
  /** The margin that 10 %, 50 % and 90 % of such loads stay below. */
  readonly margin: { readonly lowCents: number; readonly medianCents: number; readonly highCents: number }
  /** The chance that the truck costs more than the rate. */
  readonly lossChance: number
  /** Below this rate, the chance of losing money is above one in ten. */
  readonly safeRateCents: number
  /** The truck cost that each of `COST_SHARES` of such loads stays below. */
  readonly costs: readonly { readonly share: number; readonly cents: number }[]
  /** How many past loads of the brokerage the distribution is computed from; old ones count less. */
  readonly ownErrors: number
}

/**
 * How much a rate may earn or lose if the quote is won: the truck cost varies around the expected one as the brokerage's past truck
 * costs did.
 *
 * @example marginAtRisk({ costCents: 170000, spread }, 200000).lossChance // 0.22, for an error of 20 % and no own loads
 */
export function marginAtRisk(
  { costCents, spread }: { readonly costCents: number; readonly spread: ErrorSpread },
  rateCents: number,
): MarginAtRisk {
  const costAt = (share: number) => costCents * Math.exp(errorAt(spread, share))
  const marginAt = (share: number) => rateCents - costAt(1 - share)
  return {
    margin: { lowCents: marginAt(0.1), medianCents: marginAt(0.5), highCents: marginAt(0.9) },
    lossChance: 1 - errorBelow(spread, Math.log(rateCents / costCents)),
    safeRateCents: costAt(1 - LOSS_CHANCE_MAX),
    costs: COST_SHARES.map((share) => ({ share, cents: costAt(share) })),
    ownErrors: Math.round(spread.counts.count),
  }
}

/** @example riskSentence(marginAtRisk({ costCents: 170000, spread }, 200000), 200000)
 * // 'At $2,000, about 22 of 100 such loads would lose money. From $2,346, at most 10 of 100 would.'
 */
export function riskSentence({ lossChance, safeRateCents }: MarginAtRisk, rateCents: number): string {
  const lost = Math.round(100 * lossChance)
  const often = lost < 1 ? 'fewer than 1' : lost > 99 ? 'more than 99' : `about ${lost}`
  const safe = formatDollars(100 * Math.ceil(safeRateCents / 100))
  const from =
    rateCents >= safeRateCents ? `Below ${safe}, more than 10 would` : `From ${safe}, at most 10 of 100 would`
  return `At ${formatDollars(rateCents)}, ${often} of 100 such loads would lose money. ${from}.`
}
