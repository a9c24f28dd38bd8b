import { type LaneBucket, laneBuckets } from './buckets.ts'
import type { PastQuote } from './history.ts'
import type { HistoryCount } from './history-counts.ts'
import type { LaneScope } from './scopes.ts'
import { type LaneScores, laneScores, par, type ScoreBasis } from './scores.ts'
import { type LaneSignals, laneSignals } from './signals.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'
import { summary } from './summary.ts'

export interface LaneQuestion {
  /** Current quote counts of `usedScope`. */
  readonly counts: readonly HistoryCount[]
  /** The brokerage's totals over all lanes, including this one. */
  readonly parent: { readonly wins: number; readonly decided: number }
  readonly askedScope: LaneScope
  readonly usedScope: LaneScope
  /**
   * The average rate of a scope wider than the lane, whose rates are scaled to the lane's miles first (see `rescaledAverage`). Null
   * means the plain mean of the effective rates.
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

/** Unweighted counts of the scope's quotes. */
export interface LaneHistory {
  readonly totalQuotes: number
  readonly wins: number
  readonly losses: number
  /** Percentage of decided quotes won, one decimal. 0 if no quote is decided; the summary then states this. */
  readonly winRatePct: number
  /** Calendar months (UTC) with a quote. */
  readonly monthsActive: number
  /** May include a fraction of a cent. 0 when no quote has a rate. */
  readonly avgRateCents: number
}

export interface LaneEvidence extends ScoreBasis {
  readonly buckets: readonly LaneBucket[]
  /** Number of quotes that the history counts but that are too old for the scores. */
  readonly olderQuotes: number
  /** Number of quotes that the history counts but that are dated after now, and therefore in no bucket. */
  readonly futureQuotes: number
}

/**
 * How does this lane do, in one sentence and four signals (docs/model.md, "Lane insight")? The history counts every quote; the
 * scores use the last 13 periods of 30 days. Requires at least one quote: a lane without quotes is "not found". The result is valid
 * until `countsSameUntil`.
 *
 * @example
 * // describeLane({ counts: countHistory(quotes, now), parent: { wins: 40, decided: 100 }, askedScope: 'equipment',
 * //   usedScope: 'corridor', avgRateCents: null }).signals // { strength: 'strong', trend: 'heating', ... }
 */
export function describeLane(question: LaneQuestion): LaneInsight {
  const { counts, askedScope, usedScope } = question
  const wins = sumOf(counts, (count) => count.won)
  const losses = sumOf(counts, (count) => count.lost)
  const decided = wins + losses
  const history: LaneHistory = {
    totalQuotes: decided + sumOf(counts, (count) => count.pending),
    wins,
    losses,
    winRatePct: decided === 0 ? 0 : roundHalfAway((wins * 1000) / decided, 0) / 10,
    monthsActive: new Set(counts.map((count) => count.month)).size,
    avgRateCents: question.avgRateCents ?? plainAverageRate(counts),
  }
  const { buckets, older, future } = laneBuckets(counts)
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
      quotes: history.totalQuotes,
      wins,
      decided,
      winRatePct: history.winRatePct,
      monthsActive: history.monthsActive,
      avgRateCents: history.avgRateCents,
      rateIsScaled: question.avgRateCents !== null,
      signals,
      ...(buckets.length === 0 && older > 0 ? { lastQuoteMonth: lastMonth(counts) } : {}),
    }),
    evidence: { ...scored.basis, buckets, olderQuotes: older, futureQuotes: future },
  }
}

function sumOf<Count>(counts: readonly Count[], amountOf: (count: Count) => number): number {
  return counts.reduce((sum, count) => sum + amountOf(count), 0)
}

/** The mean of the rates above zero, or 0 when there are none. Sums of whole cents are exact in any order. */
function plainAverageRate(counts: readonly HistoryCount[]): number {
  const priced = sumOf(counts, (count) => count.priced)
  return priced === 0 ? 0 : sumOf(counts, (count) => count.rateSumCents) / priced
}

/** The number of priced quotes at one mileage and the sum of their effective rates. Miles are null if unknown. */
export interface MilesCount {
  readonly miles: number | null
  readonly priced: number
  readonly rateSumCents: number
}

/** Counts quotes by loaded miles. Quotes without a rate above zero are excluded. */
export function countMiles(quotes: readonly Pick<PastQuote, 'rateCents' | 'miles'>[]): MilesCount[] {
  const counter = new MilesCounter()
  for (const { rateCents, miles } of quotes) counter.add(rateCents, miles ?? Number.NaN)
  return counter.counts()
}

/** Counts quotes by miles, one quote at a time. See `countMiles`. Unknown miles are passed as NaN. */
export class MilesCounter {
  readonly #groups = new Map<number, { miles: number | null; priced: number; rateSumCents: number }>()

  add(rateCents: number, miles: number): void {
    if (rateCents <= 0) return
    let group = this.#groups.get(miles)
    if (group === undefined) {
      group = { miles: Number.isNaN(miles) ? null : miles, priced: 0, rateSumCents: 0 }
      this.#groups.set(miles, group)
    }
    group.priced++
    group.rateSumCents += rateCents
  }

  counts(): MilesCount[] {
    return [...this.#groups.values()]
  }
}

/**
 * The average rate of a scope wider than the lane, in cents. Each rate is first scaled to the requested lane's `miles` by the
 * brokerage's length-of-haul curve, because rates of hauls of other lengths are not comparable. Null when no quote has a rate.
 *
 * The rates of each mileage are summed, then scaled, then added: unknown miles first, then from short to long. This fixed order
 * makes the result identical to the last bit for any order of `groups`.
 *
 * @example // one quote of 100000 cents for 100 miles, scaled to 200 miles by a curve that doubles the rate: 200000
 */
export function rescaledAverage(
  groups: readonly MilesCount[],
  miles: number,
  haulLog: (miles: number | null) => number,
): number | null {
  const priced = sumOf(groups, (group) => group.priced)
  if (priced === 0) return null
  const here = haulLog(miles)
  const shortestFirst = groups.toSorted((a, b) => (a.miles ?? -1) - (b.miles ?? -1))
  return sumOf(shortestFirst, (group) => group.rateSumCents * Math.exp(here - haulLog(group.miles))) / priced
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

/** The month of the newest quote, as text. @example 'December 2017' */
function lastMonth(counts: readonly HistoryCount[]): string {
  const month = counts.reduce((last, count) => Math.max(last, count.month), 0)
  return `${MONTHS[month % 12]} ${Math.floor(month / 12)}`
}
