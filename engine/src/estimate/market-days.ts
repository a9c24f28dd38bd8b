/**
 * Where was the market on the day of each quote? A quote of March is compared with the going rates of March, not with those of
 * today. The formulas, and the names of their methods, are in reference-rate.ts.
 * docs/estimate-formulas.md, "The reference rate".
 */

import { dayOf } from '../day.ts'
import { PENDING, type QuoteColumns } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { addDay, emptyMarket, type Morning, morningOf, type RateSeen } from './reference-rate.ts'

/** A brokerage's market on a day with quotes: before the first quote, and the index after the last. */
export interface MarketDay {
  readonly day: number
  readonly morning: Morning | null
  readonly indexAfter: number
}

/** A brokerage's market on each day with quotes, oldest first, and the market after the last day. */
export interface MarketDays {
  readonly days: readonly MarketDay[]
  readonly now: Morning | null
}

/**
 * The market of a brokerage, day by day: the part of the reference rate that all lanes have in common. A lane's pending quotes of a
 * day count together as one quote: without them, the market would be as old as the newest outcomes; counted singly, many offers at
 * one odd rate would move it.
 *
 * @param rows the rows to read, in the order of time
 * @param counted the log rates by row, NaN for quotes that are left out, and how much each counts
 */
export function* marketDaysInSteps(
  columns: QuoteColumns,
  rows: Int32Array,
  { logRates, weights }: { readonly logRates: Float64Array; readonly weights: Float64Array },
): Steps<MarketDays> {
  const market = emptyMarket()
  const days: MarketDay[] = []
  let seen: RateSeen[] = []
  /** The weighted sum of the log rates of the day's pending quotes, and of their weights, by lane. */
  const pending = new Map<number, { sum: number; weight: number; count: number }>()
  let day = Number.NaN
  const endDay = () => {
    for (const [lane, { sum, weight, count }] of pending)
      seen.push({ lane, logRate: sum / weight, weight: weight / count })
    pending.clear()
    if (seen.length === 0) return
    const morning = morningOf(market)
    addDay(market, day, seen)
    days.push({ day, morning, indexAfter: market.index })
    seen = []
  }
  // `rows.entries()` would make an array of each row.
  for (let at = 0; at < rows.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = rows[at]!
    const logRate = logRates[row] ?? Number.NaN
    if (Number.isNaN(logRate)) continue
    const quoteDay = dayOf(columns.quotedAt[row]!)
    if (quoteDay !== day) {
      endDay()
      day = quoteDay
    }
    if (columns.outcomeOf(row) === PENDING) {
      const lane = columns.lane[row]!
      const of = pending.get(lane) ?? { sum: 0, weight: 0, count: 0 }
      of.sum += weights[row]! * logRate
      of.weight += weights[row]!
      of.count++
      pending.set(lane, of)
    } else seen.push({ lane: columns.lane[row]!, logRate, weight: weights[row]! })
  }
  endDay()
  return { days, now: morningOf(market) }
}

const ROWS_PER_STEP = 2_000

/** The market of a day. A day without quotes has the market that the previous quoted day ended with. */
export function marketDay({ days, now }: MarketDays, day: number): MarketDay {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((days[middle]?.day ?? 0) < day) low = middle + 1
    else high = middle
  }
  const found = days[low]
  if (found?.day === day) return found
  const morning = found === undefined ? now : found.morning
  return { day, morning, indexAfter: morning?.index ?? 0 }
}
