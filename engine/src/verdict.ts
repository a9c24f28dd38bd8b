import type { Confidence } from './confidence.ts'
import { formatDollars } from './money.ts'
import type { WinProbability, WinProbabilityMethod } from './win-probability.ts'
import { counted, percent, wonOf } from './wording.ts'

/** The values that the verdict is built from. */
export interface VerdictFacts {
  readonly proposedRateCents: number
  /** The reference rate of `markupPct`: the market rate in the request, or the median of the lane's quotes. */
  readonly reference: { readonly source: 'market_rate' | 'median'; readonly cents: number } | null
  readonly markupPct: number | null
  readonly method: WinProbabilityMethod
  readonly win: WinProbability
  readonly confidence: Confidence
  readonly suggestedRateCents: number | null
  /** All quotes of the lane, and its decided quotes, both including unpriced quotes. */
  readonly quoteCount: number
  readonly decidedCount: number
}

/**
 * States the advice in one plain sentence, built only from the numbers. The sentence reports the share of past quotes that was won;
 * it makes no forecast for the next quote.
 *
 * @example
 * // '$2,000 is 1.2% below the median of your quotes on this lane; you won 4 of 5 decided quotes at this rate or lower
 * // (smoothed to 90%); the suggested rate is $1,910, $90 lower (medium confidence: 10 decided quotes).'
 */
export function verdict(facts: VerdictFacts): string {
  const { win, confidence, suggestedRateCents } = facts
  if (win.probability === null || suggestedRateCents === null) return undecidedVerdict(facts)
  const trust = `${confidence} confidence: ${counted(win.decided, 'decided quote')}`
  return `${comparison(facts)}; ${shareWon(facts, win.probability)}; ${suggestion(facts, suggestedRateCents)} (${trust}).`
}

function undecidedVerdict({ quoteCount, decidedCount }: VerdictFacts): string {
  if (quoteCount === 0)
    return 'You have no quotes on this lane yet, so there is nothing to compare this rate with.'
  const quotes = counted(quoteCount, 'quote')
  if (decidedCount > 0) {
    return `You have ${quotes} on this lane, but no won or lost quote has a rate, so there is no win probability or suggested rate yet.`
  }
  const undecided = quoteCount === 1 ? 'it is not decided yet' : 'none of them is decided yet'
  return `You have ${quotes} on this lane and ${undecided}, so there is no win probability or suggested rate to show.`
}

function comparison({ proposedRateCents, reference, markupPct }: VerdictFacts): string {
  const proposed = formatDollars(proposedRateCents)
  if (reference === null || markupPct === null) return `For ${proposed}`
  const against =
    reference.source === 'market_rate'
      ? `the market rate of ${formatDollars(reference.cents)}`
      : 'the median of your quotes on this lane'
  if (proposedRateCents === reference.cents) return `${proposed} is exactly ${against}`
  const side = proposedRateCents > reference.cents ? 'above' : 'below'
  const distance = markupPct === 0 ? 'a little' : `${Math.abs(markupPct).toFixed(1)}%`
  return `${proposed} is ${distance} ${side} ${against}`
}

/** If the smoothed share differs from the raw share by more than this, the sentence explains why. */
const FAR_FROM_RAW = 0.15

function shareWon({ win, method }: VerdictFacts, probability: number): string {
  const share = percent(probability)
  if (win.flags.includes('above_ceiling')) {
    return `it is above every rate you have quoted on this lane, so the win probability is a pessimistic ${share}`
  }
  switch (method) {
    case 'at_or_below': {
      if (win.rawShare === null) {
        return `it is below every decided rate on this lane, so the share of quotes won at your lowest rates is used (${share})`
      }
      const won = wonOf(win.winsAtOrBelow, win.decidedAtOrBelow)
      const raw = percent(win.rawShare)
      const farFromRaw = Math.abs(probability - win.rawShare) > FAR_FROM_RAW
      const smoothed =
        raw === share
          ? share
          : win.pooled && farFromRaw
            ? `${raw}; smoothed to ${share} because your higher quotes won more often`
            : `smoothed to ${share}`
      return `you ${won} at this rate or lower (${smoothed})`
    }
    case 'literal':
      return `your wins at this rate or lower are ${win.winsAtOrBelow} of all ${counted(win.decided, 'decided quote')} (${share})`
    case 'revealed':
      return `of your quotes that won at this rate or higher or lost at this rate or lower, ${share} won`
  }
}

function suggestion({ proposedRateCents }: VerdictFacts, suggestedRateCents: number): string {
  const suggested = `the suggested rate is ${formatDollars(suggestedRateCents)}`
  const difference = suggestedRateCents - proposedRateCents
  if (difference === 0) return `${suggested}, the same`
  return `${suggested}, ${formatDollars(Math.abs(difference))} ${difference > 0 ? 'higher' : 'lower'}`
}
