import type { Steps } from '../steps.ts'
import { allChoices, type ChoiceProblem, isWithin, type Ranges, usedBy, worthOf } from './choice-problem.ts'
import { dualPricesInSteps } from './dual-prices.ts'
import { bestAtPrices, improvedInSteps, repairedInSteps } from './feasible-choice.ts'

/**
 * The proof of a bound: prices for all choices, or two cases that together are all choices: those in which the choice of a group is
 * at most `upTo` (counted from 0 within the group), and the others.
 */
export type Proof =
  | { readonly prices: Float64Array }
  | { readonly group: number; readonly upTo: number; readonly atMost: Proof; readonly above: Proof }

/** The best choices that were found. */
export interface BestChoice {
  /** The number of the choice of each group. Null if none within all limits was found. */
  readonly chosen: Int32Array<ArrayBuffer> | null
  readonly value: number
  /** Nothing is worth more than this. */
  readonly bound: number
  readonly proof: Proof
  /** The prices without cases, which say what a limit costs. */
  readonly prices: Float64Array
  readonly cases: number
}

/** When to stop before the best choice is proven. */
export interface Stopping {
  /** Cases that are examined at most. */
  readonly casesMax: number
  /** True if the time is over. The best choices so far are returned with their bound. */
  readonly isLate: () => boolean
}

/** A case that is not closed: its bound may be above the best value so far. */
interface Case extends Ranges {
  readonly bound: number
  readonly prices: Float64Array
  readonly places: Float64Array
  readonly undecided: Float64Array
  readonly leaf: { proof: Proof }
}

/** Values are whole, so a case whose bound is less than one above the best value has nothing better. */
const roundingOf = (bound: number) => 0.01 + 1e-12 * Math.abs(bound)

/**
 * The best choices, by branch and bound on the bounds of `dualPricesInSteps`. With time enough, the result is proven to be the
 * best; else, `bound` says how far from it the result can be at most.
 *
 * @param start if it is within all limits, the result is at least as good
 */
export function* bestChoiceInSteps(
  problem: ChoiceProblem,
  start: Int32Array<ArrayBuffer>,
  { casesMax, isLate }: Stopping,
): Steps<BestChoice> {
  let chosen: Int32Array<ArrayBuffer> | null = null
  let value = Number.NEGATIVE_INFINITY
  const offer = (one: Int32Array<ArrayBuffer> | null) => {
    if (one === null || !isWithin(problem, usedBy(problem, one))) return
    const worth = worthOf(problem, one)
    if (worth > value) [chosen, value] = [one.slice(), worth]
  }
  offer(start)
  const everything = allChoices(problem)
  const root = yield* priced(problem, everything, value, undefined)
  const open: Case[] = [root]
  const tree: { proof: Proof } = root.leaf
  const lowest = lowestOf(problem)
  const roots = root.prices
  if (chosen !== null)
    offer(yield* improvedInSteps(problem, everything, { chosen: start.slice(), prices: roots }))
  let closed = Number.NEGATIVE_INFINITY
  let cases = 1
  while (open.length > 0) {
    const at = widest(open)
    const worst = open[at] as Case
    if (worst.bound < value + 1 - roundingOf(worst.bound) || worst.bound < lowest) break
    open.splice(at, 1)
    offer(yield* fromPrices(problem, worst))
    if (worst.bound < value + 1 - roundingOf(worst.bound)) {
      closed = Math.max(closed, worst.bound)
      continue
    }
    const split = cases >= casesMax || isLate() ? null : splitOf(worst)
    if (split === null) {
      // Not split: the case keeps its bound. If nothing was found yet, other cases may still have choices within the limits.
      closed = Math.max(closed, worst.bound)
      if (chosen === null && cases < casesMax && !isLate()) continue
      break
    }
    const { group, upTo } = split
    const high = worst.high.slice()
    high[group] = upTo
    const low = worst.low.slice()
    low[group] = upTo + 1
    const atMost = yield* priced(problem, { low: worst.low, high }, value, worst.prices)
    const above = yield* priced(problem, { low, high: worst.high }, value, worst.prices)
    cases += 2
    worst.leaf.proof = {
      group,
      upTo: upTo - (problem.first[group] as number),
      get atMost() {
        return atMost.leaf.proof
      },
      get above() {
        return above.leaf.proof
      },
    }
    for (const one of [atMost, above]) {
      if (one.bound < lowest || one.bound < value + 1 - roundingOf(one.bound))
        closed = Math.max(closed, one.bound)
      else open.push(one)
    }
  }
  const bound = open.reduce((most, one) => Math.max(most, one.bound), closed)
  return { chosen, value, bound: Math.max(bound, value), proof: tree.proof, prices: roots, cases }
}

/** A bound below this means that no choices are within all limits. */
function lowestOf({ groups, first, values }: ChoiceProblem): number {
  let sum = 0
  for (let group = 0; group < groups; group++) {
    let least = Number.POSITIVE_INFINITY
    for (let choice = first[group] as number; choice < (first[group + 1] as number); choice++)
      least = Math.min(least, values[choice] as number)
    sum += least
  }
  return sum - 1
}

function widest(open: readonly Case[]): number {
  let at = 0
  for (const [nth, one] of open.entries()) if (one.bound > (open[at] as Case).bound) at = nth
  return at
}

function* priced(
  problem: ChoiceProblem,
  ranges: Ranges,
  value: number,
  near: Float64Array | undefined,
): Steps<Case> {
  const hopeless = impossibleRow(problem, ranges, value)
  if (hopeless !== null) {
    const none = new Float64Array(problem.groups)
    return {
      ...ranges,
      ...hopeless,
      places: none,
      undecided: none,
      leaf: { proof: { prices: hopeless.prices } },
    }
  }
  const enough = Number.isFinite(value) ? value + 1 - 2 * roundingOf(value) : Number.NEGATIVE_INFINITY
  const found = yield* dualPricesInSteps(problem, ranges, near === undefined ? { enough } : { near, enough })
  return { ...ranges, ...found, leaf: { proof: { prices: found.prices } } }
}

/** If even the least use of a row is above its limit, a price of that row alone proves that nothing is possible. */
function impossibleRow(
  problem: ChoiceProblem,
  { low, high }: Ranges,
  value: number,
): { readonly prices: Float64Array; readonly bound: number } | null {
  const { groups, rows, limits, values, rowStart, groupRows, useStart, uses } = problem
  const least = new Float64Array(rows)
  let most = 0
  for (let group = 0; group < groups; group++) {
    const from = rowStart[group] as number
    for (let row = from; row < (rowStart[group + 1] as number); row++) {
      let smallest = Number.POSITIVE_INFINITY
      for (let choice = low[group] as number; choice <= (high[group] as number); choice++)
        smallest = Math.min(smallest, uses[(useStart[choice] as number) + row - from] as number)
      const number = groupRows[row] as number
      least[number] = (least[number] as number) + smallest
    }
    let best = Number.NEGATIVE_INFINITY
    for (let choice = low[group] as number; choice <= (high[group] as number); choice++)
      best = Math.max(best, values[choice] as number)
    most += best
  }
  const row = least.findIndex((use, number) => use > (limits[number] as number))
  if (row === -1) return null
  // Each unit of the excess costs so much that the bound falls below everything that is possible.
  const target = Math.min(lowestOf(problem), Number.isFinite(value) ? value : 0) - 1
  const prices = new Float64Array(rows)
  prices[row] = Math.max(0, most - target) / ((least[row] as number) - (limits[row] as number)) + 1e-9
  return { prices, bound: target }
}

/** Choices from the prices of a case, repaired and improved within it. */
function* fromPrices(problem: ChoiceProblem, one: Case): Steps<Int32Array<ArrayBuffer> | null> {
  const { prices } = one
  const repaired = yield* repairedInSteps(problem, one, {
    chosen: bestAtPrices(problem, one, prices),
    prices,
  })
  return repaired === null ? null : yield* improvedInSteps(problem, one, { chosen: repaired, prices })
}

/** The group that the prices leave most undecided, and where to split its choices. Null if each group has one choice left. */
function splitOf({ low, high, places, undecided }: Case): { group: number; upTo: number } | null {
  let best: number | null = null
  for (let group = 0; group < low.length; group++) {
    if (low[group] === high[group]) continue
    if (best === null || (undecided[group] as number) > (undecided[best] as number)) best = group
  }
  if (best === null) return null
  const [from, to] = [low[best] as number, high[best] as number]
  return { group: best, upTo: Math.min(to - 1, from + Math.floor(places[best] as number)) }
}
