/**
 * By how many percent are the brokerage's rates above the market? Totals are compared, so a load of $4,000 counts twice as much
 * as one of $2,000. No statistical method.
 * docs/market-rates.md, "Where you stand".
 */

import { type MarketKind, percentAbove } from './market-rate.ts'

/** Amounts of one kind, compared with market rates of the same kind: the loads that have a market rate, and both totals in cents. */
export interface AgainstMarket {
  readonly loads: number
  readonly ownCents: number
  readonly marketCents: number
}

/** The customer rates that were won and lost, and the truck costs that were paid, each compared with the market. */
export interface Standing {
  readonly won: AgainstMarket
  readonly lost: AgainstMarket
  readonly paid: AgainstMarket
}

/** The sums of the quotes of one lane on one day, in cents. */
export interface LaneDay {
  readonly won: DaySum
  readonly lost: DaySum
  readonly paid: DaySum
}

export interface DaySum {
  readonly count: number
  readonly cents: number
}

const none: AgainstMarket = { loads: 0, ownCents: 0, marketCents: 0 }

/** The sums before any load is added. */
export const noStanding: Standing = { won: none, lost: none, paid: none }

/**
 * Adds the loads of a day to a sum. `market` has the market rates of the lane on that day in cents: what customers pay, for won and lost,
 * and what carriers are paid, for paid. A null market rate adds nothing.
 *
 * @example addDay(noStanding, { won: { count: 2, cents: 410000 }, lost: zero, paid: zero }, { sell: 200000, buy: null }).won
 * // { loads: 2, ownCents: 410000, marketCents: 400000 }
 */
export function addDay(
  sum: Standing,
  day: LaneDay,
  market: Readonly<Record<MarketKind, number | null>>,
): Standing {
  const plus = (
    before: AgainstMarket,
    { count, cents }: DaySum,
    marketCents: number | null,
  ): AgainstMarket =>
    count === 0 || marketCents === null
      ? before
      : {
          loads: before.loads + count,
          ownCents: before.ownCents + cents,
          marketCents: before.marketCents + count * marketCents,
        }
  return {
    won: plus(sum.won, day.won, market.sell),
    lost: plus(sum.lost, day.lost, market.sell),
    paid: plus(sum.paid, day.paid, market.buy),
  }
}

export function addStanding(one: Standing, other: Standing): Standing {
  const plus = (a: AgainstMarket, b: AgainstMarket): AgainstMarket => ({
    loads: a.loads + b.loads,
    ownCents: a.ownCents + b.ownCents,
    marketCents: a.marketCents + b.marketCents,
  })
  return { won: plus(one.won, other.won), lost: plus(one.lost, other.lost), paid: plus(one.paid, other.paid) }
}

/** How many percent the brokerage's amounts are above the market, one decimal; null without a load. */
export function abovePct({ loads, ownCents, marketCents }: AgainstMarket): number | null {
  return loads === 0 || marketCents === 0 ? null : percentAbove(ownCents, marketCents)
}

/** Cents paid above the market; 0 if the brokerage pays the market or less. */
export function paidAboveCents({ paid }: Standing): number {
  return Math.max(0, paid.ownCents - paid.marketCents)
}

/** Cents by which the quotes, won and lost, are below the market; 0 if they are not. */
export function quotedBelowCents({ won, lost }: Standing): number {
  return Math.max(0, won.marketCents + lost.marketCents - won.ownCents - lost.ownCents)
}
