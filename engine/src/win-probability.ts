import { decidedIn, type LaneRates, winsIn } from './lane-rates.ts'

/**
 * Three interpretations of "historical wins at comparable or lower rates divided by total decided quotes".
 *
 * - `at_or_below` (default): the share of decided quotes at this rate or lower that was won, pooled so that a higher rate never has
 *   a larger share.
 * - `literal`: wins at this rate or lower divided by all decided quotes. It rises with the rate up to the ceiling.
 * - `revealed`: wins at this rate or higher divided by the sum of these wins and the losses at this rate or lower. It falls
 *   steeply, so it is useful only if price alone decides.
 */
export type WinProbabilityMethod = 'at_or_below' | 'literal' | 'revealed'

/** Set if the offer is outside the range of past rates. */
export type WinProbabilityFlag = 'above_ceiling' | 'below_floor'

export interface WinProbability {
  /** Between 0 and 1, or null when no quote is decided. */
  readonly probability: number | null
  readonly flags: readonly WinProbabilityFlag[]
  readonly winsAtOrBelow: number
  readonly decidedAtOrBelow: number
  /** `winsAtOrBelow / decidedAtOrBelow` before pooling and clamping, or null when `decidedAtOrBelow` is 0. */
  readonly rawShare: number | null
  /** Whether pooling changed the share because a higher rate had won more often than a lower rate. */
  readonly pooled: boolean
  /** Number of decided quotes with a rate above zero. */
  readonly decided: number
}

/** A past rate up to 2 % above the offer is comparable. A whole number, so that the comparison is exact. */
export const COMPARABLE_TOLERANCE_PERCENT = 2

/** Pseudo-count because of which no offer is a certain win or loss: the probability is never 0 or 1. */
export const WITHHELD_QUOTES = 0.5

/**
 * How often did you win this lane at this rate or lower? The share of quotes won for an offer of `proposedRateCents` (above 0): a
 * count over the past, not a forecast. docs/model.md, "Win probability" and "Pooling".
 *
 * The lane's decided quotes with a rate above 0 are grouped by rate, cheapest first (`laneRates`). The share won at each rate is
 * pooled with its neighbors until it no longer rises (pool adjacent violators, Barlow et al., 1972). C is the running mean of the
 * pooled shares: the pooled share won at this rate or lower. With n decided quotes, C is clamped to f and 1 - f, with
 * `f = 0.5 / (n + 1)`. Above the highest rate ever quoted (decided or not) the result is f, the pessimistic floor, flagged
 * `above_ceiling`. Below the lowest decided rate the result is C of the lowest rate, flagged `below_floor`.
 *
 * @example // 1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L, offer 2000, at_or_below
 * // 0.9: four of five quotes at 2040 or lower were won, pooled with the win at 2050
 */
export function winProbability(
  lane: LaneRates,
  proposedRateCents: number,
  method: WinProbabilityMethod,
): WinProbability {
  const { decided } = lane
  if (decided === 0 || lane.band === null) return NOTHING_DECIDED
  // Whole cents times whole percent: rounding errors cannot affect the comparison.
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
    // An offer below every decided rate uses the cheapest rate.
    const at = Math.max(1, comparable)
    const share = lane.pooledShares[at - 1] ?? 0
    const raw = winsIn(lane.countsOfCheapest[at]) / decidedIn(lane.countsOfCheapest[at])
    probability = clamped(floor, share)
    pooled = Math.abs(share - raw) > 1e-12
  } else if (method === 'literal') {
    // Not clamped: in the literal method, an offer below every decided rate has no wins.
    probability = winsAtOrBelow / decided
  } else {
    // No quote is relevant between the highest win and the lowest loss, so the overall share of wins is used.
    probability = clamped(floor, revealedShare(lane, proposedRateCents) ?? lane.wins / decided)
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

/** Clamps a share to the range from `floor` to `1 - floor`. */
function clamped(floor: number, share: number): number {
  return Math.min(1 - floor, Math.max(floor, share))
}

/**
 * The `revealed` share before clamping: wins at this rate or above / (these wins + losses at this rate or below),
 * without tolerance. Null if there are no such wins or losses.
 *
 * @example // 1900W 2000L 2050W, offer 2000
 * // 0.5: one win (2050) and one loss (2000)
 */
export function revealedShare(lane: LaneRates, proposedRateCents: number): number | null {
  const upTo = ratesUpTo(lane.ratesCents, 1, proposedRateCents)
  const below = ratesUpTo(lane.ratesCents, 1, proposedRateCents - 1)
  const winsAtOrAbove = lane.wins - winsIn(lane.countsOfCheapest[below])
  const lossesAtOrBelow = decidedIn(lane.countsOfCheapest[upTo]) - winsIn(lane.countsOfCheapest[upTo])
  const relevant = winsAtOrAbove + lossesAtOrBelow
  return relevant === 0 ? null : winsAtOrAbove / relevant
}

/** The number of rates, sorted from the cheapest, for which `rate * factor` is at most `limit`. */
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
