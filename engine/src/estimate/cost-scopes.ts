/**
 * What does a truck cost on a lane with one load of its own? Mostly what trucks cost between its states and regions, and a little what that
 * load cost. Each scope, from the brokerage to the lane, counts by its number of loads; old loads count less. Method: hierarchical
 * credibility (Jewell, 1975; https://en.wikipedia.org/wiki/B%C3%BChlmann_model).
 * docs/estimate-formulas.md, "Expected cost".
 */

/**
 * How much a scope takes from the next wider one: the wider scope counts as much as this many loads of the narrower. The scopes: the
 * brokerage; the region pair, origin state, destination state and state pair, each with equipment; the corridor; the corridor with
 * equipment. The origin and destination states tell whether trucks are scarce at one end, which reduces the error on lanes without loads.
 */
const CHAIN_WEIGHTS = [10, 6, 8, 8, 4, 2, 1] as const
/**
 * The number of scopes that follow the market index: all that are wider than a corridor. A corridor's own costs do not: many of its
 * trucks are bought at agreed prices, which stay when the market moves. Measured on 4,183 US truckloads:
 * docs/decisions/0010-the-calibrated-estimate.md.
 */
const MARKET_SCOPES = 5
const HALF_LIFE_DAYS = 45
/** `newestGap` reads a lane's three newest loads. Six are in memory, because some may be removed. */
const NEWEST_LOADS = 3
const NEWEST_MAX = 6
/**
 * Among a lane's newest loads, a load counts half as much as one that is 0.7 days newer. The weight of them all halves every 90 days. The
 * level of the scopes counts as a thousandth of a load beside them.
 */
const NEWEST_HALF_LIFE_DAYS = 0.7
const STALE_HALF_LIFE_DAYS = 90
const NEWEST_PRIOR = 0.001
const OLDEST_DAYS = 20_000

/**
 * Sums over the loads of a scope, weighted by age, so that a load can be added or removed. The residual of a load is how far its
 * truck cost is above the length-of-haul curve, in ln cost.
 */
export interface Residual {
  weight: number
  /** Sum of weight x residual. */
  sum: number
  /** Sum of weight x market index on the load's day. */
  moved: number
  loads: number
}

/** The days and residuals of a lane's newest loads, oldest first. */
export interface NewestLoads {
  readonly days: number[]
  readonly values: number[]
}

/** The scopes of a lane, widest first, and its newest loads. */
export interface CostChain {
  readonly scopes: readonly (Residual | undefined)[]
  readonly newest: NewestLoads | undefined
}

/** A load to add to its scopes (`count` 1) or to remove (-1). */
export interface CountedLoad {
  readonly day: number
  /** The load's weight on the day of the model. */
  readonly weight: number
  readonly value: number
  /** The market index on the morning of the load's day. */
  readonly index: number
  readonly count: 1 | -1
}

/**
 * The residual that is expected on a lane: from the widest scope to the narrowest, `e = (w mu + m0 e) / (w + m0)`, with a scope's weight w
 * and mean mu, and m0 from `CHAIN_WEIGHTS`. A scope without loads does not change e.
 *
 * @example chainResidual([{ weight: 40, mean: 0.05 }, null, null, null, null, null, null]) // .04
 */
export function chainResidual(levels: readonly ({ weight: number; mean: number } | null)[]): number {
  return CHAIN_WEIGHTS.reduce((wider, prior, i) => {
    const level = levels[i]
    return level ? (level.weight * level.mean + prior * wider) / (level.weight + prior) : wider
  }, 0)
}

/** The weight on the day `on` of a load of `day`. It is never 0, because errors of old loads are computed from ratios of weights. */
export function weightOf(day: number, on: number): number {
  return 2 ** (-Math.min(on - day, OLDEST_DAYS) / HALF_LIFE_DAYS)
}

/**
 * `chainResidual` for a lane's scopes, without an array per load. It starts at `index`, multiplies the weights by `scale`, and moves the
 * means of the `moving` widest scopes from the market of their loads' days to the market `index`.
 */
export function chainOf(
  { scopes }: CostChain,
  { scale, index, moving = MARKET_SCOPES }: { scale: number; index: number; moving?: number },
): number {
  let wider = index
  for (let i = 0; i < scopes.length; i++) {
    const residual = scopes[i]
    if (residual === undefined || residual.loads === 0) continue
    const prior = CHAIN_WEIGHTS[i] ?? 1
    const weight = residual.weight * scale
    const mean =
      i < moving ? (residual.sum - residual.moved) / residual.weight + index : residual.sum / residual.weight
    wider = (weight * mean + prior * wider) / (weight + prior)
  }
  return wider
}

/**
 * How far a lane's three newest loads are from `level`, in ln cost, as seen on `day`; 0 without loads. See `NEWEST_HALF_LIFE_DAYS`.
 *
 * @example newestGap({ scopes: [], newest: { days: [10], values: [0.2] } }, 0.1, 10) // .0999
 */
export function newestGap({ newest }: CostChain, level: number, day: number): number {
  if (newest === undefined) return 0
  const { days, values } = newest
  const last = days.at(-1)
  if (last === undefined) return 0
  const stale = 2 ** (-Math.max(0, day - last) / STALE_HALF_LIFE_DAYS)
  let weights = 0
  let sum = 0
  for (let i = Math.max(0, days.length - NEWEST_LOADS); i < days.length; i++) {
    const weight = stale * 2 ** (-(last - days[i]!) / NEWEST_HALF_LIFE_DAYS)
    weights += weight
    sum += weight * (values[i]! - level)
  }
  return sum / (weights + NEWEST_PRIOR)
}

/** Adds a load to the scopes of its lane and to its newest loads, or removes it. */
export function countIn({ scopes, newest }: CostChain, load: CountedLoad): void {
  const weight = load.count * load.weight
  for (const residual of scopes) {
    if (residual === undefined) continue
    residual.weight += weight
    residual.sum += weight * load.value
    residual.moved += weight * load.index
    residual.loads += load.count
  }
  if (newest !== undefined) countNewest(newest, load)
}

function countNewest({ days, values }: NewestLoads, { day, value, count }: CountedLoad): void {
  if (count < 0) {
    const at = values.findLastIndex((one, i) => one === value && days[i] === day)
    if (at < 0) return
    days.splice(at, 1)
    values.splice(at, 1)
    return
  }
  if (day >= (days.at(-1) ?? day)) {
    days.push(day)
    values.push(value)
  } else {
    const at = days.findLastIndex((one) => one <= day) + 1
    days.splice(at, 0, day)
    values.splice(at, 0, value)
  }
  if (days.length <= NEWEST_MAX) return
  days.shift()
  values.shift()
}
