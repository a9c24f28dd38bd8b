import { type Confidence, decidedToNextConfidence } from './confidence.ts'
import type { LaneRates } from './lane-rates.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'
import type { SuggestedRate } from './suggested-rate.ts'
import { verdict } from './verdict.ts'
import { type WinProbability, type WinProbabilityMethod, winProbability } from './win-probability.ts'

/** The rate a broker plans to quote, in cents, above 0, and the market rate (null if unknown). */
export interface MarkupQuestion {
  readonly proposedRateCents: number
  readonly marketRateCents: number | null
  readonly method: WinProbabilityMethod
}

/** Pricing advice for an offer, from the lane's history. Every number is null when no quote is decided. */
export interface MarkupAdvice {
  readonly winProbability: number | null
  readonly confidence: Confidence
  /** Percent above (or below) the reference rate, one decimal. This is neither margin % nor markup over cost. */
  readonly markupPct: number | null
  readonly suggestedRateCents: number | null
  readonly rateBand: {
    readonly floorCents: number | null
    readonly medianCents: number | null
    readonly ceilingCents: number | null
  }
  readonly verdict: string
  readonly evidence: MarkupEvidence
}

/** The counts that the advice is based on. Quotes with a rate of zero are included only in `quotes` and `unpriced`. */
export interface MarkupEvidence {
  readonly quotes: number
  readonly unpriced: number
  readonly wins: number
  readonly losses: number
  readonly pending: number
  readonly decided: number
  /** How much the win rate of the lane depends on its pending quotes; null without pending or without decided ones. */
  readonly undecided: WinRateRange | null
  /** How many more decided quotes are needed for the next confidence level; null at the highest level. */
  readonly decidedToNextConfidence: number | null
  readonly method: WinProbabilityMethod
  readonly flags: WinProbability['flags']
  readonly winsAtOrBelow: number
  readonly decidedAtOrBelow: number
  readonly rawShare: number | null
  readonly pooled: boolean
  readonly reference: { readonly source: 'market_rate' | 'median'; readonly cents: number } | null
  readonly suggestion: Omit<SuggestedRate, 'rateCents'>
}

/** The win rate if all pending quotes are lost, and if they are won as often as the decided ones. Shares from 0 to 1. */
export interface WinRateRange {
  readonly winRateIfLost: number
  readonly winRateIfWonAlike: number
}

/** @example undecidedRange({ wins: 6, decided: 8, pending: 2 }) // { winRateIfLost: 0.6, winRateIfWonAlike: 0.75 } */
function undecidedRange(counts: { wins: number; decided: number; pending: number }): WinRateRange | null {
  const { wins, decided, pending } = counts
  return pending === 0 || decided === 0
    ? null
    : { winRateIfLost: wins / (decided + pending), winRateIfWonAlike: wins / decided }
}

/**
 * The advice on an offered rate on one lane. `lane` comes from `laneRates`, over the brokerage's own quotes of that city pair (and
 * equipment, if requested).
 *
 * If no quote with a rate above zero is decided, every number is null and the verdict explains why. An empty history gives the same
 * nulls; callers return "not found" for a lane without quotes.
 *
 * @example // the ten quotes 1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L, offer 200000, no market rate
 * // { winProbability: 0.9, confidence: 'medium', markupPct: -1.2, suggestedRateCents: 191000,
 * //   rateBand: { floorCents: 180000, medianCents: 202500, ceilingCents: 225000 }, ... }
 */
export function adviseMarkup(lane: LaneRates, offer: MarkupQuestion): MarkupAdvice {
  const { proposedRateCents, method } = offer
  const { confidence, decided, suggestion } = lane
  const win = winProbability(lane, proposedRateCents, method)
  const band = decided === 0 ? null : lane.band
  const reference = band === null ? null : referenceOf(offer.marketRateCents, band.medianCents)
  const markup = reference === null ? null : markupPct(proposedRateCents, reference.cents)
  return {
    winProbability: win.probability,
    confidence,
    markupPct: markup,
    suggestedRateCents: suggestion.rateCents,
    rateBand: band ?? { floorCents: null, medianCents: null, ceilingCents: null },
    verdict: verdict({
      proposedRateCents,
      reference,
      markupPct: markup,
      method,
      win,
      confidence,
      suggestedRateCents: suggestion.rateCents,
      quoteCount: lane.quotes,
      decidedCount: lane.answered,
    }),
    evidence: {
      quotes: lane.quotes,
      unpriced: lane.unpriced,
      wins: lane.wins,
      losses: lane.losses,
      pending: lane.pending,
      decided,
      undecided: undecidedRange({ wins: lane.wins, decided, pending: lane.pending }),
      decidedToNextConfidence: decidedToNextConfidence(decided),
      method,
      flags: win.flags,
      winsAtOrBelow: win.winsAtOrBelow,
      decidedAtOrBelow: win.decidedAtOrBelow,
      rawShare: win.rawShare,
      pooled: win.pooled,
      reference,
      suggestion: {
        basis: suggestion.basis,
        winsUsed: suggestion.winsUsed,
        cappedByCents: suggestion.cappedByCents,
        lossesIgnored: suggestion.lossesIgnored,
      },
    },
  }
}

function referenceOf(marketRateCents: number | null, medianCents: number): MarkupEvidence['reference'] {
  // A market rate of zero cannot be a reference.
  return marketRateCents !== null && marketRateCents > 0
    ? { source: 'market_rate', cents: marketRateCents }
    : { source: 'median', cents: medianCents }
}

/**
 * The difference between a rate and a reference (both in whole cents, the reference above 0), in percent with one
 * decimal. Halves round away from zero, exactly, because the inputs are whole cents.
 *
 * @example markupPct(214000, 200000) // 7
 */
export function markupPct(rateCents: number, referenceCents: number): number {
  return roundHalfAway(((rateCents - referenceCents) * 1000) / referenceCents, 0) / 10
}
