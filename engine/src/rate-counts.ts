import type { Outcome, PastQuote } from './history.ts'

/** Won, lost and pending quotes at one rate. A rate of 0 means that the quote has no price. */
export interface RateCount {
  readonly rateCents: number
  readonly won: number
  readonly lost: number
  readonly pending: number
}

/**
 * Counts the quotes of a lane by effective rate, cheapest first. Each rate occurs once.
 *
 * @example // 2000L 1800W 2000W
 * // [{ rateCents: 180000, won: 1, lost: 0, pending: 0 }, { rateCents: 200000, won: 1, lost: 1, pending: 0 }]
 */
export function countRates(history: readonly Pick<PastQuote, 'rateCents' | 'outcome'>[]): RateCount[] {
  const counter = new RateCounter()
  for (const { rateCents, outcome } of history) counter.add(rateCents, outcome)
  return counter.counts()
}

/** Counts quotes by rate, one quote at a time. See `countRates`. */
export class RateCounter {
  readonly #counts = new Map<number, { rateCents: number; won: number; lost: number; pending: number }>()

  add(rateCents: number, outcome: Outcome): void {
    let count = this.#counts.get(rateCents)
    if (count === undefined) {
      count = { rateCents, won: 0, lost: 0, pending: 0 }
      this.#counts.set(rateCents, count)
    }
    count[outcome] += 1
  }

  counts(): RateCount[] {
    return [...this.#counts.values()].sort((a, b) => a.rateCents - b.rateCents)
  }
}
