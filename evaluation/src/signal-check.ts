import { type LaneBucket, laneBuckets } from '#engine/buckets.ts'
import { countHistory } from '#engine/history-counts.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { laneScores, par } from '#engine/scores.ts'
import { type LaneSignals, laneSignals } from '#engine/signals.ts'

const MONTH = 30 * 86_400_000

/** The results of lanes with one value of a signal, in the 30 days after it was computed. */
export interface SignalOutcome {
  readonly signal: string
  readonly word: string
  readonly lanes: number
  readonly decided: number
  readonly winRate: number
  /** How much lanes differ: the standard deviation of their win rates in these days, over lanes with at least 3 decided quotes. */
  readonly spread: number
}

export interface SignalCheck {
  readonly outcomes: readonly SignalOutcome[]
  /** The share of cases (a lane in a month) in which one more quote changes a signal to its opposite. */
  readonly oppositeFlips: number
}

const OPPOSITES: readonly (readonly [keyof LaneSignals, string, string])[] = [
  ['strength', 'strong', 'weak'],
  ['trend', 'heating', 'cooling'],
  ['consistency', 'reliable', 'erratic'],
  ['timing', 'aligned', 'misaligned'],
]

function opposed(one: LaneSignals, other: LaneSignals): boolean {
  return OPPOSITES.some(
    ([signal, high, low]) =>
      (one[signal] === high && other[signal] === low) || (one[signal] === low && other[signal] === high),
  )
}

function count(quotes: readonly LaneQuote[]): { wins: number; decided: number } {
  const wins = quotes.filter((quote) => quote.outcome === 'won').length
  return { wins, decided: wins + quotes.filter((quote) => quote.outcome === 'lost').length }
}

function withOneMore(buckets: readonly LaneBucket[], won: boolean): LaneBucket[] {
  return buckets.map((bucket, i) =>
    i < buckets.length - 1
      ? bucket
      : {
          quotes: bucket.quotes + 1,
          wins: bucket.wins + (won ? 1 : 0),
          losses: bucket.losses + (won ? 0 : 1),
        },
  )
}

/**
 * Computes the signals of every lane, month by month from the third month, and compares them with the following
 * month.
 */
export function checkSignals(quotes: readonly LaneQuote[]): SignalCheck {
  const first = Math.min(...quotes.map((quote) => quote.quotedAt))
  const last = Math.max(...quotes.map((quote) => quote.quotedAt))
  const lanes = new Map<string, LaneQuote[]>()
  for (const quote of quotes) lanes.set(quote.lane.key, [...(lanes.get(quote.lane.key) ?? []), quote])
  const months = new Map<string, { wins: number; decided: number; rates: number[]; lanes: number }>()
  let asked = 0
  let flips = 0
  for (let now = first + 2 * MONTH; now + MONTH <= last; now += MONTH) {
    const tenant = count(quotes.filter((quote) => quote.quotedAt <= now))
    for (const all of lanes.values()) {
      const past = all.filter((quote) => quote.quotedAt <= now)
      if (past.length === 0) continue
      const { buckets } = laneBuckets(countHistory(past, now))
      const standard = par(tenant, count(past))
      const signals = laneSignals(laneScores(buckets, standard))
      const next = count(all.filter((quote) => quote.quotedAt > now && quote.quotedAt <= now + MONTH))
      for (const won of [true, false]) {
        asked++
        if (opposed(signals, laneSignals(laneScores(withOneMore(buckets, won), standard)))) flips++
      }
      if (next.decided === 0) continue
      for (const [signal, word] of Object.entries(signals)) {
        const key = `${signal} ${word}`
        const month = months.get(key) ?? { wins: 0, decided: 0, rates: [], lanes: 0 }
        month.wins += next.wins
        month.decided += next.decided
        month.lanes++
        if (next.decided >= 3) month.rates.push(next.wins / next.decided)
        months.set(key, month)
      }
    }
  }
  const outcomes = [...months].map(([key, month]) => {
    const [signal = '', word = ''] = key.split(' ')
    const mean = month.rates.reduce((sum, rate) => sum + rate, 0) / month.rates.length
    const variance = month.rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / month.rates.length
    return {
      signal,
      word,
      lanes: month.lanes,
      decided: month.decided,
      winRate: month.wins / month.decided,
      spread: Math.sqrt(variance),
    }
  })
  return { outcomes, oppositeFlips: flips / asked }
}
