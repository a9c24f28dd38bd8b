import type { Confidence } from './confidence.ts'
import { formatDollars } from './money.ts'
import type { WinProbability, WinProbabilityMethod } from './win-probability.ts'
import { counted, percent, wonOf } from './wording.ts'

/** Everything the sentence may speak of. */
export interface VerdictFacts {
  readonly proposedRateCents: number
  /** What `markupPct` compares with: the market rate sent along, or the median of the lane's quotes. */
  readonly reference: { readonly source: 'market_rate' | 'median'; readonly cents: number } | null
  readonly markupPct: number | null
  readonly method: WinProbabilityMethod
  readonly win: WinProbability
  readonly confidence: Confidence
  readonly suggestedRateCents: number | null
  /** All quotes of the lane, and those of them that are decided, whatever their rate. */
  readonly quoteCount: number
  readonly decidedCount: number
}

/**
 * The advice in one plain sentence, made from the numbers and nothing else. It tells what share was won in the past; it
 * promises nothing about the next quote.
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
    return `You have ${quotes} on this lane, but no won or lost quote carries a rate, so there is no win probability or suggested rate yet.`
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

/** From here on the evened-out share is another story than the raw one, and the sentence tells both. */
const FAR_FROM_RAW = 0.15

function shareWon({ win, method }: VerdictFacts, probability: number): string {
  const share = percent(probability)
  if (win.flags.includes('above_ceiling')) {
    return `it is above every rate you have quoted here, so a pessimistic ${share} stands in for the share won`
  }
  switch (method) {
    case 'at_or_below': {
      if (win.rawShare === null) {
        return `it is below every rate decided here, so the share you won at your lowest rates stands in (${share})`
      }
      const won = wonOf(win.winsAtOrBelow, win.decidedAtOrBelow)
      const raw = percent(win.rawShare)
      const farFromRaw = Math.abs(probability - win.rawShare) > FAR_FROM_RAW
      const smoothed =
        raw === share
          ? share
          : win.pooled && farFromRaw
            ? `${raw}; evened out with your dearer quotes, which did better, ${share}`
            : `smoothed to ${share}`
      return `you ${won} at this rate or lower (${smoothed})`
    }
    case 'literal':
      return `your wins at this rate or lower are ${win.winsAtOrBelow} of all ${counted(win.decided, 'decided quote')} (${share})`
    case 'revealed':
      return `of the quotes that tell about this rate, won at it or higher or lost at it or lower, the share won is ${share}`
  }
}

function suggestion({ proposedRateCents }: VerdictFacts, suggestedRateCents: number): string {
  const suggested = `the suggested rate is ${formatDollars(suggestedRateCents)}`
  const difference = suggestedRateCents - proposedRateCents
  if (difference === 0) return `${suggested}, the same`
  return `${suggested}, ${formatDollars(Math.abs(difference))} ${difference > 0 ? 'higher' : 'lower'}`
}
