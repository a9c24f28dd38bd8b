import { bucketQuotes, type LaneBucket } from './buckets.ts'
import type { PastQuote } from './history.ts'
import { type Outlier, outliers } from './outliers.ts'
import type { LaneScope } from './scopes.ts'
import { type LaneScores, laneScores, par, type ScoreBasis } from './scores.ts'
import { type LaneSignals, laneSignals } from './signals.ts'
import { mean } from './statistics/mean.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'
import { summary } from './summary.ts'

export interface LaneQuestion {
  /** The quotes of the scope that is answered from. */
  readonly quotes: readonly PastQuote[]
  /** The tenant's totals over all lanes, these quotes included. */
  readonly parent: { readonly wins: number; readonly decided: number }
  /** Epoch milliseconds. */
  readonly now: number
  readonly askedScope: LaneScope
  readonly usedScope: LaneScope
  /**
   * The average rate when it is more than the plain mean: wider scopes scale each rate to the lane's miles first. Null
   * takes the plain mean of the rates that count.
   */
  readonly avgRateCents: number | null
}

export interface LaneInsight {
  readonly scope: LaneScope
  readonly history: LaneHistory
  readonly scores: LaneScores
  readonly signals: LaneSignals
  readonly summary: string
  readonly evidence: LaneEvidence
}

/** Raw counts of the scope. */
export interface LaneHistory {
  readonly totalQuotes: number
  readonly wins: number
  readonly losses: number
  /** Percent of decided quotes won, one decimal; 0 when none is decided (the summary says so). */
  readonly winRatePct: number
  /** Calendar months (UTC) with a quote. */
  readonly monthsActive: number
  /** May carry a fraction of a cent. 0 when no quote carries a rate. */
  readonly avgRateCents: number
}

export interface LaneEvidence extends ScoreBasis {
  readonly buckets: readonly LaneBucket[]
  /** Counted in the history, too old for the scores. */
  readonly olderQuotes: number
  /** Counted in the history, dated after now and therefore in no bucket. */
  readonly futureQuotes: number
  readonly outliers: readonly Outlier[]
}

/**
 * What a lane's history tells: its counts, four scores, four signals and a sentence. The history counts every quote;
 * the scores look at the last 13 periods of 30 days. Call it with at least one quote; a lane without any is "not found".
 *
 * @example
 * // describeLane({ quotes, parent: { wins: 40, decided: 100 }, now, askedScope: 'equipment', usedScope: 'corridor',
 * //   avgRateCents: null }).signals // { strength: 'strong', trend: 'heating', ... }
 */
export function describeLane(question: LaneQuestion): LaneInsight {
  const { quotes, now, askedScope, usedScope } = question
  const wins = quotes.filter((quote) => quote.outcome === 'won').length
  const losses = quotes.filter((quote) => quote.outcome === 'lost').length
  const decided = wins + losses
  const history: LaneHistory = {
    totalQuotes: quotes.length,
    wins,
    losses,
    winRatePct: decided === 0 ? 0 : roundHalfAway((wins * 1000) / decided, 0) / 10,
    monthsActive: new Set(quotes.map((quote) => monthOf(quote.quotedAt))).size,
    avgRateCents: question.avgRateCents ?? plainAverageRate(quotes),
  }
  const { buckets, older, future } = bucketQuotes(quotes, now)
  const scored = laneScores(buckets, par(question.parent, { wins, decided }))
  const signals = laneSignals(scored)
  return {
    scope: usedScope,
    history,
    scores: scored.scores,
    signals,
    summary: summary({
      asked: askedScope,
      used: usedScope,
      quotes: quotes.length,
      wins,
      decided,
      winRatePct: history.winRatePct,
      monthsActive: history.monthsActive,
      avgRateCents: history.avgRateCents,
      signals,
      ...(buckets.length === 0 && older > 0 ? { lastQuoteMonth: lastMonth(quotes) } : {}),
    }),
    evidence: {
      ...scored.basis,
      buckets,
      olderQuotes: older,
      futureQuotes: future,
      outliers: outliers(quotes),
    },
  }
}

/** The plain mean of the rates above zero, 0 when there is none. */
function plainAverageRate(quotes: readonly PastQuote[]): number {
  return mean(quotes.map((quote) => quote.rateCents).filter((rateCents) => rateCents > 0)) ?? 0
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** The month of the newest quote, as a reader says it. @example 'December 2017' */
function lastMonth(quotes: readonly PastQuote[]): string {
  const month = monthOf(quotes.reduce((last, quote) => Math.max(last, quote.quotedAt), 0))
  return `${MONTHS[month % 12]} ${Math.floor(month / 12)}`
}

/** A calendar month in UTC as one number, so that equal months are equal. */
function monthOf(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}
