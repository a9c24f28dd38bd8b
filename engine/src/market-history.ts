/**
 * Which market rate was in use on each past day, for thousands of lanes? The rate is chosen as in market-rate.ts, but once for all lanes in
 * the same areas. No statistical method.
 * docs/market-rates.md, "Where you stand".
 */

import { compareRates, MARKET_RATE_RULE, type MarketRate, marketRateState } from './market-rate.ts'
import type { RateBasis } from './rate-basis.ts'

/** A market rate, converted as far as possible without the miles of a lane, and how to convert it with them if they are needed. */
export interface RateToCompare<Rate extends MarketRate> {
  readonly rate: Rate
  /** Null if the miles change nothing. */
  readonly ofMiles: ((miles: number) => Rate) | null
}

/** Why no market rate of a day is usable. If several reasons apply, the first is named. */
const REASONS = ['other_basis', 'other_currency', 'stale'] as const
export type WhyNoMarketRate = (typeof REASONS)[number]

/** The comparison of the rates of one history on one day, for every lane in its areas. */
interface HistoryDay<Rate extends MarketRate> {
  readonly usable: Rate | null
  /** The rates before `usable` that the miles of a lane may make usable. */
  readonly byMiles: readonly ((miles: number) => Rate)[]
  readonly reasons: ReadonlySet<WhyNoMarketRate>
}

const dayMs = 86_400_000

/**
 * The market rates of one pair of areas, one equipment and one kind. All lanes in the areas share it, so that the rates of a day
 * are compared once, and not for each lane.
 */
export class MarketHistory<Rate extends MarketRate> {
  /** Comparisons made so far. Callers that work in steps read it. */
  comparisons = 0
  readonly #basis: RateBasis
  /** Newest first. */
  readonly #rates: readonly RateToCompare<Rate>[]
  readonly #days = new Map<number, HistoryDay<Rate>>()

  /** @param basis the basis of the brokerage */
  constructor(rates: readonly RateToCompare<Rate>[], basis: RateBasis) {
    this.#rates = rates.toSorted((one, other) => compareRates(one.rate, other.rate))
    this.#basis = basis
  }

  /** The rate to use for a lane at a time, in epoch milliseconds; null if none is usable. */
  usableAt(at: number, miles: () => number | null): Rate | null {
    const { usable, byMiles } = this.#at(at)
    const known = byMiles.length === 0 ? null : miles()
    if (known === null) return usable
    const wanted = { at, basis: this.#basis }
    for (const convert of byMiles) {
      const rate = convert(known)
      this.comparisons++
      if (marketRateState(rate, wanted) === 'usable') return rate
    }
    return usable
  }

  /** The time of the next rate after a time, when a rate can become usable; infinity if there is none. */
  nextAfter(at: number): number {
    return this.#rates[this.#firstUntil(at) - 1]?.rate.asOf ?? Number.POSITIVE_INFINITY
  }

  /** Whether the miles of a lane decide which rate is usable at a time. */
  needsMiles(at: number): boolean {
    return this.#at(at).byMiles.length > 0
  }

  /** Whether rates are unusable at a time for this reason. Only meaningful if no rate is usable. */
  has(reason: WhyNoMarketRate, at: number): boolean {
    return this.#at(at).reasons.has(reason)
  }

  #at(at: number): HistoryDay<Rate> {
    const known = this.#days.get(at)
    if (known !== undefined) return known
    const day = this.#compare(at)
    this.#days.set(at, day)
    return day
  }

  #compare(at: number): HistoryDay<Rate> {
    const byMiles: ((miles: number) => Rate)[] = []
    const reasons = new Set<WhyNoMarketRate>()
    const wanted = { at, basis: this.#basis }
    for (let index = this.#firstUntil(at); index < this.#rates.length; index++) {
      const { rate, ofMiles } = this.#rates[index] as RateToCompare<Rate>
      this.comparisons++
      const state = marketRateState(rate, wanted)
      if (state === 'usable') return { usable: rate, byMiles, reasons }
      if (state !== 'future') reasons.add(state)
      if (state === 'stale') {
        // All further rates are older.
        if (rate.asOf + MARKET_RATE_RULE.staleDays * dayMs <= at) break
      } else if (ofMiles !== null) byMiles.push(ofMiles)
    }
    return { usable: null, byMiles, reasons }
  }

  /** The index of the newest rate that is not after a time. */
  #firstUntil(at: number): number {
    let [low, high] = [0, this.#rates.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#rates[middle] as RateToCompare<Rate>).rate.asOf > at) low = middle + 1
      else high = middle
    }
    return low
  }
}

/**
 * The rate of one kind that `chooseMarketRate` would choose at a time, without its sentence, for many lanes and days. Without a usable
 * rate, the first reason of `REASONS` that applies; null if no rate was published by then.
 *
 * @param histories the histories of a lane's areas, most specific first
 * @param miles of the lane; null if they are not known
 */
export function marketRateAt<Rate extends MarketRate>(
  histories: readonly MarketHistory<Rate>[],
  at: number,
  miles: () => number | null,
): { readonly used: Rate | null; readonly why: WhyNoMarketRate | null } {
  for (const history of histories) {
    const used = history.usableAt(at, miles)
    if (used !== null) return { used, why: null }
  }
  return { used: null, why: REASONS.find((reason) => histories.some((one) => one.has(reason, at))) ?? null }
}

/**
 * The time until which `marketRateAt` chooses the same rate for every lane: a newer rate is published then, or the chosen one becomes too
 * old. Without a chosen rate it is `at`, because the reason can change at any time.
 */
export function sameRateUntil<Rate extends MarketRate>(
  histories: readonly MarketHistory<Rate>[],
  at: number,
): number {
  let until = Number.POSITIVE_INFINITY
  for (const history of histories) {
    if (history.needsMiles(at)) return at
    until = Math.min(until, history.nextAfter(at))
    const used = history.usableAt(at, () => null)
    if (used === null) continue
    const stale = used.asOf + MARKET_RATE_RULE.staleDays * dayMs
    return Math.min(until, used.validUntil ?? stale, stale)
  }
  return histories.length === 0 ? until : at
}
