/**
 * How many quotes of this lane were won and lost at each rate? The share of quotes won at each rate or lower never rises with the rate: a
 * load lost at $2,000 would not have been won at $2,100. Method: isotonic regression (https://en.wikipedia.org/wiki/Isotonic_regression).
 * docs/model.md, "Pooling".
 */

import { type Confidence, confidence } from './confidence.ts'
import { type RateBand, rateBand } from './rate-band.ts'
import type { RateCount } from './rate-counts.ts'
import { nonIncreasingFit } from './statistics/isotonic.ts'
import { type SuggestedRate, suggestedRate } from './suggested-rate.ts'

/**
 * A lane's rates, prepared so that each offer needs only a binary search. A "priced" quote has a rate above 0; a "decided" quote is
 * priced and either won or lost.
 *
 * Parallel arrays take less memory than an object per rate: thousands of lanes are in memory at the same time.
 */
export interface LaneRates {
  /** The distinct rates of decided quotes, cheapest first. */
  readonly ratesCents: readonly number[]
  /** Entry n counts the quotes at the n cheapest rates. Read an entry with `winsIn` and `decidedIn`. */
  readonly countsOfCheapest: readonly number[]
  /** The share of quotes won at each rate or lower, averaged with its neighbors so that it never rises with the rate. */
  readonly pooledShares: readonly number[]
  /** All quotes, priced or not. */
  readonly quotes: number
  /** Won or lost quotes, priced or not. */
  readonly answered: number
  readonly unpriced: number
  readonly wins: number
  readonly losses: number
  /** Priced quotes that are neither won nor lost yet. */
  readonly pending: number
  readonly decided: number
  readonly confidence: Confidence
  /** The rate band of all priced quotes, decided or not. */
  readonly band: RateBand | null
  readonly suggestion: SuggestedRate
}

/**
 * Wins and decided quotes are packed into one number to use less memory, wins in the upper bits. Exact up to 67 million quotes per lane.
 */
const winsUnit = 2 ** 26

/** The number of wins in an entry of `countsOfCheapest`. */
export function winsIn(counts: number | undefined): number {
  return Math.floor((counts ?? 0) / winsUnit)
}

/** The number of decided quotes in an entry of `countsOfCheapest`. */
export function decidedIn(counts: number | undefined): number {
  return (counts ?? 0) % winsUnit
}

/**
 * Prepares a lane for any number of offers, from its counts by rate in any order. Counts with the same rate are added
 * together.
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

/** Builds one group per decided rate, from counts of priced quotes in ascending order. */
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

/** The share of quotes won at each rate or lower, pooled by isotonic regression. */
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
    // The running mean of a non-increasing sequence is non-increasing; the minimum only removes floating-point error.
    lowest = Math.min(lowest, won / decided)
    return lowest
  })
}

/** Prefix sums, starting with 0. @example runningSums([2, 1]) // [0, 2, 3] */
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
