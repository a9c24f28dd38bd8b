import type { Outcome, PastQuote } from '#engine/history.ts'
import { type LaneRates, laneRates } from '#engine/lane-rates.ts'
import { countRates } from '#engine/rate-counts.ts'

const OUTCOME_OF_LETTER: Readonly<Record<string, Outcome>> = { W: 'won', L: 'lost', P: 'pending' }

/**
 * Parses a lane history in short notation for tests: rates in dollars, each followed by W (won), L (lost) or P
 * (pending).
 *
 * @example laneHistory('1800W 2000L') // two quotes, of 180000 and 200000 cents
 */
export function laneHistory(text: string): PastQuote[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word, at) => {
      const outcome = OUTCOME_OF_LETTER[word.slice(-1)]
      if (outcome === undefined) throw new Error(`no outcome in "${word}"`)
      return {
        quoteId: at + 1,
        rateCents: Math.round(Number(word.slice(0, -1)) * 100),
        costCents: null,
        outcome,
        quotedAt: Date.UTC(2026, 0, 1 + at),
        miles: null,
      }
    })
}

/** Converts a lane history to the input of `adviseMarkup`. */
export function ratesOf(history: readonly Pick<PastQuote, 'rateCents' | 'outcome'>[]): LaneRates {
  return laneRates(countRates(history))
}

/** The worked example in docs/model.md: ten quotes on one lane, mostly won below $2,000 and mostly lost above. */
export const WORKED_EXAMPLE = laneHistory('1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L')
