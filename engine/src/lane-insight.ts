import { type LaneBucket, laneBuckets } from './buckets.ts'
import type { PastQuote } from './history.ts'
import type { HistoryCount } from './history-counts.ts'
import type { LaneScope } from './scopes.ts'
import { type LaneScores, laneScores, par, type ScoreBasis } from './scores.ts'
import { type LaneSignals, laneSignals } from './signals.ts'
import { roundHalfAway } from './statistics/round-half-away.ts'
import { summary } from './summary.ts'

export interface LaneQuestion {
  /** The quotes of the scope that is answered from, as they stand now. */
  readonly counts: readonly HistoryCount[]
  /** The tenant's totals over all lanes, these quotes included. */
  readonly parent: { readonly wins: number; readonly decided: number }
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
}

/**
 * What a lane's history tells: its counts, four scores, four signals and a sentence. The history counts every quote;
 * the scores look at the last 13 periods of 30 days. Call it with at least one quote; a lane without any is "not found".
 * The answer stays the same until `countsHoldUntil`.
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
      signals,
      ...(buckets.length === 0 && older > 0 ? { lastQuoteMonth: lastMonth(counts) } : {}),
    }),
    evidence: { ...scored.basis, buckets, olderQuotes: older, futureQuotes: future },
  }
}

function sumOf<Count>(counts: readonly Count[], amountOf: (count: Count) => number): number {
  return counts.reduce((sum, count) => sum + amountOf(count), 0)
}

/** The plain mean of the rates above zero, 0 when there is none. Sums of whole cents are exact in any order. */
function plainAverageRate(counts: readonly HistoryCount[]): number {
  const priced = sumOf(counts, (count) => count.priced)
  return priced === 0 ? 0 : sumOf(counts, (count) => count.rateSumCents) / priced
}

/** The priced quotes of one mileage and the sum of their rates that count; miles are null where unknown. */
export interface MilesCount {
  readonly miles: number | null
  readonly priced: number
  readonly rateSumCents: number
}

/** Quotes counted by their loaded miles; those without a rate above zero are left out. */
export function countMiles(quotes: readonly Pick<PastQuote, 'rateCents' | 'miles'>[]): MilesCount[] {
  const counter = new MilesCounter()
  for (const { rateCents, miles } of quotes) counter.add(rateCents, miles ?? Number.NaN)
  return counter.counts()
}

/** Counts quotes by miles one by one: see `countMiles`. Miles are NaN where unknown. */
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
 * The average rate of a wider scope, in cents, each rate scaled to the asked lane's `miles` by the tenant's
 * length-of-haul curve: dollars of other mileages would be wrong, not merely wide. Null when no quote carries a rate.
 *
 * The rates of one mileage are summed before they are scaled, unknown miles first, then the shortest: this grouping and
 * order are the definition, to the last bit, whatever the order of the groups.
 *
 * @example // one quote of 100000 cents over 100 miles, scaled to 200 by a curve that doubles: 200000
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

/** The month of the newest quote, as a reader says it. @example 'December 2017' */
function lastMonth(counts: readonly HistoryCount[]): string {
  const month = counts.reduce((last, count) => Math.max(last, count.month), 0)
  return `${MONTHS[month % 12]} ${Math.floor(month / 12)}`
}
