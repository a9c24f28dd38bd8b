import { decidedIn, type LaneRates, winsIn } from './lane-rates.ts'

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
 * The lane's decided quotes with a rate above 0 are grouped by equal rate, cheapest first (`laneRates`). The share won at each rate is pooled
 * with its neighbours until it no longer rises (pool adjacent violators), and C is its running mean: the pooled share
 * won at this rate or lower. With n decided quotes, C is held within f and 1 - f, f = 0.5 / (n + 1). Above the highest
 * rate ever quoted (decided or not) the answer is f, the pessimistic floor, flagged `above_ceiling`; below the lowest
 * decided rate it is C of the lowest, flagged `below_floor`. The rates are searched, not walked through.
 *
 * @example // 1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L, offer 2000, at_or_below
 * // 0.9: four of the five were won, pooled with the 2050 win above
 */
export function winProbability(
  lane: LaneRates,
  proposedRateCents: number,
  method: WinProbabilityMethod,
): WinProbability {
  const { decided } = lane
  if (decided === 0 || lane.band === null) return NOTHING_DECIDED
  // Whole cents times whole percent: no rounding error decides what is comparable.
  const comparable = ratesUpTo(lane.ratesCents, 100, proposedRateCents * (100 + COMPARABLE_TOLERANCE_PERCENT))
  const winsAtOrBelow = winsIn(lane.countsOfCheapest[comparable])
  const decidedAtOrBelow = decidedIn(lane.countsOfCheapest[comparable])
  const rawShare = decidedAtOrBelow === 0 ? null : winsAtOrBelow / decidedAtOrBelow
  const floor = WITHHELD_QUOTES / (decided + 1)
  let flags: readonly WinProbabilityFlag[] = comparable === 0 ? BELOW_FLOOR : NO_FLAGS
  let probability = floor
  let pooled = false
  if (proposedRateCents > lane.band.ceilingCents) flags = ABOVE_CEILING
  else if (method === 'at_or_below') {
    // Below every decided rate the cheapest one stands in.
    const at = Math.max(1, comparable)
    const share = lane.pooledShares[at - 1] ?? 0
    const raw = winsIn(lane.countsOfCheapest[at]) / decidedIn(lane.countsOfCheapest[at])
    probability = within(floor, share)
    pooled = Math.abs(share - raw) > 1e-12
  } else if (method === 'literal') {
    // Not held above the floor: the literal reading says that a rate cheaper than every quote has won nothing.
    probability = winsAtOrBelow / decided
  } else {
    // Between the dearest win and the cheapest loss no quote speaks; the plain share of wins stands in.
    probability = within(floor, revealedShare(lane, proposedRateCents) ?? lane.wins / decided)
  }
  return { probability, flags, winsAtOrBelow, decidedAtOrBelow, rawShare, pooled, decided }
}

const NO_FLAGS: readonly WinProbabilityFlag[] = []
const BELOW_FLOOR: readonly WinProbabilityFlag[] = ['below_floor']
const ABOVE_CEILING: readonly WinProbabilityFlag[] = ['above_ceiling']

const NOTHING_DECIDED: WinProbability = {
  probability: null,
  flags: NO_FLAGS,
  winsAtOrBelow: 0,
  decidedAtOrBelow: 0,
  rawShare: null,
  pooled: false,
  decided: 0,
}

/** A share held away from 0 and 1. */
function within(floor: number, share: number): number {
  return Math.min(1 - floor, Math.max(floor, share))
}

/**
 * The revealed reading before it is held away from 0 and 1: wins at this rate or above / (those + losses at this rate
 * or below), with no tolerance. Null when no quote says anything about this rate.
 *
 * @example // 1900W 2000L 2050W, offer 2000
 * // 0.5: the 2050 win speaks for it, the 2000 loss against it
 */
export function revealedShare(lane: LaneRates, proposedRateCents: number): number | null {
  const upTo = ratesUpTo(lane.ratesCents, 1, proposedRateCents)
  const below = ratesUpTo(lane.ratesCents, 1, proposedRateCents - 1)
  const winsAtOrAbove = lane.wins - winsIn(lane.countsOfCheapest[below])
  const lossesAtOrBelow = decidedIn(lane.countsOfCheapest[upTo]) - winsIn(lane.countsOfCheapest[upTo])
  const telling = winsAtOrAbove + lossesAtOrBelow
  return telling === 0 ? null : winsAtOrAbove / telling
}

/** How many of the rates, cheapest first, are at most `limit` when multiplied by `factor`. */
function ratesUpTo(ratesCents: readonly number[], factor: number, limit: number): number {
  let low = 0
  let high = ratesCents.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ratesCents[middle] ?? 0) * factor <= limit) low = middle + 1
    else high = middle
  }
  return low
}
