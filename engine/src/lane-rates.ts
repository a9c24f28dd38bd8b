import { type Confidence, confidence } from './confidence.ts'
import type { Outcome, PastQuote } from './history.ts'
import { type RateBand, rateBand } from './rate-band.ts'
import { nonIncreasingFit } from './statistics/isotonic.ts'
import { type SuggestedRate, suggestedRate } from './suggested-rate.ts'

/** How many quotes of one rate were won, lost and not yet answered. A rate of 0 is no price. */
export interface RateCount {
  readonly rateCents: number
  readonly won: number
  readonly lost: number
  readonly pending: number
}

/**
 * The quotes of a lane counted by the rate that counts, cheapest first, each rate once.
 *
 * @example // 2000L 1800W 2000W
 * // [{ rateCents: 180000, won: 1, lost: 0, pending: 0 }, { rateCents: 200000, won: 1, lost: 1, pending: 0 }]
 */
export function countRates(history: readonly Pick<PastQuote, 'rateCents' | 'outcome'>[]): RateCount[] {
  const counter = new RateCounter()
  for (const { rateCents, outcome } of history) counter.add(rateCents, outcome)
  return counter.counts()
}

/** Counts quotes by rate one by one: see `countRates`. */
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

/**
 * A lane's rates, prepared once, so that each offer is answered by a binary search. "Priced" is a rate above 0;
 * "decided" is won or lost and priced.
 *
 * Of the decided rates there are plain lists, cheapest first, and no object for each: thousands of lanes are kept in
 * memory at once.
 */
export interface LaneRates {
  /** Each rate that was ever decided, cheapest first. */
  readonly ratesCents: readonly number[]
  /** What the so many cheapest rates hold, of none of them at 0, of all of them at the end: see `winsIn`, `decidedIn`. */
  readonly countsOfCheapest: readonly number[]
  /** For each rate, the pooled share won at it or lower. */
  readonly pooledShares: readonly number[]
  /** All quotes, whatever their rate. */
  readonly quotes: number
  /** Won or lost, whatever their rate. */
  readonly answered: number
  readonly unpriced: number
  readonly wins: number
  readonly losses: number
  /** Priced, and not yet answered. */
  readonly pending: number
  readonly decided: number
  readonly confidence: Confidence
  /** Over all priced quotes, decided or not. */
  readonly band: RateBand | null
  readonly suggestion: SuggestedRate
}

/**
 * Wins and decided quotes stand in one number, the wins in its upper half: of each rate in memory there are three numbers,
 * not four. Exact to 67 million quotes of a lane.
 */
const winsUnit = 2 ** 26

/** The wins of a sum of `countsOfCheapest`. */
export function winsIn(counts: number | undefined): number {
  return Math.floor((counts ?? 0) / winsUnit)
}

/** The decided quotes of a sum of `countsOfCheapest`. */
export function decidedIn(counts: number | undefined): number {
  return (counts ?? 0) % winsUnit
}

/**
 * A lane prepared for any number of offers, from its counts by rate in any order. Counts of one rate that come apart
 * are added together.
 *
 * @example laneRates(countRates(history)) // once; then adviseMarkup(lane, offer) for each offer
 */
export function laneRates(counts: readonly RateCount[]): LaneRates {
  const ascending = counts.toSorted((a, b) => a.rateCents - b.rateCents)
  const priced = ascending.filter((count) => count.rateCents > 0)
  const groups = decidedGroups(priced)
  const quotes = sumOf(ascending, (count) => count.won + count.lost + count.pending)
  const wins = sumOf(priced, (count) => count.won)
  const losses = sumOf(priced, (count) => count.lost)
  const pending = sumOf(priced, (count) => count.pending)
  return {
    ratesCents: groups.map((group) => group.rateCents),
    countsOfCheapest: runningSums(groups.map((group) => group.won * winsUnit + group.decided)),
    pooledShares: pooledShares(groups),
    quotes,
    answered: sumOf(ascending, (count) => count.won + count.lost),
    unpriced: quotes - wins - losses - pending,
    wins,
    losses,
    pending,
    decided: wins + losses,
    confidence: confidence(wins + losses),
    band: rateBand(ascending),
    suggestion: suggestedRate(ascending),
  }
}

interface DecidedGroup {
  readonly rateCents: number
  won: number
  decided: number
}

/** One group for each decided rate, from counts of priced quotes in ascending order. */
function decidedGroups(priced: readonly RateCount[]): DecidedGroup[] {
  const groups: DecidedGroup[] = []
  for (const { rateCents, won, lost } of priced) {
    const decided = won + lost
    if (decided === 0) continue
    const last = groups.at(-1)
    if (last !== undefined && last.rateCents === rateCents) {
      last.won += won
      last.decided += decided
    } else groups.push({ rateCents, won, decided })
  }
  return groups
}

/** For each rate, the pooled share won at it or lower. */
function pooledShares(groups: readonly DecidedGroup[]): number[] {
  const fitted = nonIncreasingFit(
    groups.map((group) => group.won / group.decided),
    groups.map((group) => group.decided),
  )
  let won = 0
  let decided = 0
  let lowest = 1
  return groups.map((group, at) => {
    won += (fitted[at] ?? 0) * group.decided
    decided += group.decided
    // The running mean of a falling sequence falls; the minimum only stops the last bit of a sum from rising.
    lowest = Math.min(lowest, won / decided)
    return lowest
  })
}

/** The sum of none, of the first, of the first two, and so on. @example runningSums([2, 1]) // [0, 2, 3] */
function runningSums(values: readonly number[]): number[] {
  const sums = new Array<number>(values.length + 1).fill(0)
  let sum = 0
  for (const [at, value] of values.entries()) {
    sum += value
    sums[at + 1] = sum
  }
  return sums
}

function sumOf(counts: readonly RateCount[], quotesOf: (count: RateCount) => number): number {
  return counts.reduce((sum, count) => sum + quotesOf(count), 0)
}
