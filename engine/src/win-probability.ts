import { isDecided, type PastQuote } from './history.ts'
import { nonIncreasingFit } from './statistics/isotonic.ts'

/**
 * How "historical wins at comparable or lower rates divided by total decided quotes" is read.
 *
 * - `at_or_below` (default): of the decided quotes at this rate or lower, the share that was won, pooled so that a
 *   dearer rate never has a larger share.
 * - `literal`: wins at this rate or lower over all decided quotes. It rises with the rate up to the ceiling.
 * - `revealed`: of the quotes that say something about this rate (a win at it or above, a loss at it or below), the
 *   share of wins. It falls steeply: good only where price alone decides.
 */
export type WinProbabilityMethod = 'at_or_below' | 'literal' | 'revealed'

/** Where the offer lies outside what was ever quoted. */
export type WinProbabilityFlag = 'above_ceiling' | 'below_floor'

export interface WinProbability {
  /** Within 0 and 1, or null when no quote is decided. */
  readonly probability: number | null
  readonly flags: readonly WinProbabilityFlag[]
  readonly winsAtOrBelow: number
  readonly decidedAtOrBelow: number
  /** `winsAtOrBelow / decidedAtOrBelow` before pooling and clamping, or null when nothing was decided at or below. */
  readonly rawShare: number | null
  /** Whether pooling changed the share: a dearer rate had won more often than a cheaper one. */
  readonly pooled: boolean
  /** Decided quotes with a rate above zero: the population. */
  readonly decided: number
}

/** A quote up to 2 % dearer than the offer still counts as comparable. In whole percent, so that the test is exact. */
export const COMPARABLE_TOLERANCE_PERCENT = 2

/** Half a quote is kept back on either side, so that no lane ever promises a sure win or a sure loss. */
export const WITHHELD_QUOTES = 0.5

/**
 * The share of quotes won, as the lane's own history has it, for an offer of `proposedRateCents` (above 0). It is a
 * count over the past, not a forecast.
 *
 * Decided quotes with a rate above 0 are grouped by equal rate, cheapest first. The share won at each rate is pooled
 * with its neighbours until it no longer rises (pool adjacent violators), and C is its running mean: the pooled share
 * won at this rate or lower. With n decided quotes, C is held within f and 1 - f, f = 0.5 / (n + 1). Above the highest
 * rate ever quoted (decided or not) the answer is f, the pessimistic floor, flagged `above_ceiling`; below the lowest
 * decided rate it is C of the lowest, flagged `below_floor`.
 *
 * @example // 1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L, offer 2000, at_or_below
 * // 0.9: four of the five were won, pooled with the 2050 win above
 */
export function winProbability(
  history: readonly PastQuote[],
  proposedRateCents: number,
  method: WinProbabilityMethod,
): WinProbability {
  const groups = groupByRate(history)
  const decided = groups.reduce((sum, group) => sum + group.decided, 0)
  if (decided === 0) {
    return {
      probability: null,
      flags: [],
      winsAtOrBelow: 0,
      decidedAtOrBelow: 0,
      rawShare: null,
      pooled: false,
      decided: 0,
    }
  }
  const comparable = groups.filter((group) => isComparable(group.rateCents, proposedRateCents))
  const winsAtOrBelow = comparable.reduce((sum, group) => sum + group.wins, 0)
  const decidedAtOrBelow = comparable.reduce((sum, group) => sum + group.decided, 0)
  const counts = {
    winsAtOrBelow,
    decidedAtOrBelow,
    rawShare: decidedAtOrBelow === 0 ? null : winsAtOrBelow / decidedAtOrBelow,
    decided,
  }
  const floor = WITHHELD_QUOTES / (decided + 1)
  if (history.every((quote) => proposedRateCents > quote.rateCents)) {
    return { probability: floor, flags: ['above_ceiling'], ...counts, pooled: false }
  }
  const flags: WinProbabilityFlag[] = comparable.length === 0 ? ['below_floor'] : []
  const clamp = (share: number) => Math.min(1 - floor, Math.max(floor, share))
  switch (method) {
    case 'at_or_below': {
      const at = Math.max(1, comparable.length)
      const share = pooledShareAtOrBelow(groups)[at - 1] ?? 0
      const raw = counts.rawShare ?? (groups[0]?.wins ?? 0) / (groups[0]?.decided ?? 1)
      return { probability: clamp(share), flags, ...counts, pooled: Math.abs(share - raw) > 1e-12 }
    }
    case 'literal':
      // Not held above the floor: the literal reading says that a rate cheaper than every quote has won nothing.
      return { probability: winsAtOrBelow / decided, flags, ...counts, pooled: false }
    case 'revealed': {
      // Between the dearest win and the cheapest loss no quote speaks; the plain share of wins stands in.
      const wins = groups.reduce((sum, group) => sum + group.wins, 0)
      const share = revealedShare(history, proposedRateCents) ?? wins / decided
      return { probability: clamp(share), flags, ...counts, pooled: false }
    }
  }
}

/**
 * The revealed reading before it is held away from 0 and 1: wins at this rate or above / (those + losses at this rate
 * or below), with no tolerance. Null when no quote says anything about this rate.
 *
 * @example // 1900W 2000L 2050W, offer 2000
 * // 0.5: the 2050 win speaks for it, the 2000 loss against it
 */
export function revealedShare(history: readonly PastQuote[], proposedRateCents: number): number | null {
  let winsAtOrAbove = 0
  let lossesAtOrBelow = 0
  for (const { outcome, rateCents } of history) {
    if (rateCents <= 0) continue
    if (outcome === 'won' && rateCents >= proposedRateCents) winsAtOrAbove += 1
    if (outcome === 'lost' && rateCents <= proposedRateCents) lossesAtOrBelow += 1
  }
  const telling = winsAtOrAbove + lossesAtOrBelow
  return telling === 0 ? null : winsAtOrAbove / telling
}

/** Whether a past rate is at most 2 % above the offer. Whole cents times whole percent: no rounding error decides. */
function isComparable(rateCents: number, proposedRateCents: number): boolean {
  return rateCents * 100 <= proposedRateCents * (100 + COMPARABLE_TOLERANCE_PERCENT)
}

interface RateGroup {
  readonly rateCents: number
  decided: number
  wins: number
}

/** Decided quotes by equal rate, cheapest first. */
function groupByRate(history: readonly PastQuote[]): RateGroup[] {
  const groups = new Map<number, RateGroup>()
  for (const quote of history) {
    if (!isDecided(quote) || quote.rateCents <= 0) continue
    let group = groups.get(quote.rateCents)
    if (group === undefined) {
      group = { rateCents: quote.rateCents, decided: 0, wins: 0 }
      groups.set(quote.rateCents, group)
    }
    group.decided += 1
    if (quote.outcome === 'won') group.wins += 1
  }
  return [...groups.values()].sort((a, b) => a.rateCents - b.rateCents)
}

/** For each rate, the pooled share won at it or lower. */
function pooledShareAtOrBelow(groups: readonly RateGroup[]): number[] {
  const fitted = nonIncreasingFit(
    groups.map((group) => group.wins / group.decided),
    groups.map((group) => group.decided),
  )
  let wins = 0
  let decided = 0
  let lowest = 1
  return groups.map((group, at) => {
    wins += (fitted[at] ?? 0) * group.decided
    decided += group.decided
    // The running mean of a falling sequence falls; the minimum only stops the last bit of a sum from rising.
    lowest = Math.min(lowest, wins / decided)
    return lowest
  })
}
