import type { Steps } from '../steps.ts'
import type { ChoiceProblem, Ranges } from './choice-problem.ts'

/**
 * Prices of the rows, at least 0, and the bound that follows from them: no permitted choice is worth more than the sum of the
 * limits at these prices, and of the best choice of each group after paying for what it uses (Lagrangian relaxation:
 * Fisher 1981, "The Lagrangian relaxation method for solving integer programming problems").
 */
export interface Priced {
  readonly prices: Float64Array
  readonly bound: number
  /** For each group: the mean place of its choices in the relaxed problem, and how undecided it is, from 0 to 1. */
  readonly places: Float64Array
  readonly undecided: Float64Array
}

/** The temperatures of the smoothing, in units of the mean best value of a group: from the first, and from known prices. */
const TEMPERATURES = [0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001]
const TEMPERATURES_NEAR = [0.01, 0.001, 0.0001]
const STEPS_AT_ONE = 14
/** A step may change a price by this much at most, in scaled units, beyond the largest price. */
const STEP_MAX = 1
/** Choices examined per step of the work. */
const CHOICES_PER_STEP = 10_000

/** Values and uses divided so that both are around one. */
interface Scales {
  readonly value: number
  readonly row: Float64Array
}

function scalesOf({
  groups,
  rows,
  first,
  values,
  rowStart,
  groupRows,
  useStart,
  uses,
}: ChoiceProblem): Scales {
  let sum = 0
  const row = new Float64Array(rows)
  const counts = new Float64Array(rows)
  for (let group = 0; group < groups; group++) {
    let best = 0
    const start = rowStart[group] as number
    const width = (rowStart[group + 1] as number) - start
    for (let choice = first[group] as number; choice < (first[group + 1] as number); choice++) {
      best = Math.max(best, Math.abs(values[choice] as number))
      for (let which = 0; which < width; which++) {
        const number = groupRows[start + which] as number
        const use = Math.abs(uses[(useStart[choice] as number) + which] as number)
        if (use === 0) continue
        row[number] = (row[number] as number) + use
        counts[number] = (counts[number] as number) + 1
      }
    }
    sum += best
  }
  return {
    value: groups === 0 || sum === 0 ? 1 : sum / groups,
    row: row.map((total, number) => (total === 0 ? 1 : total / (counts[number] as number))),
  }
}

/** The smoothed bound at scaled prices, with its derivatives, and the exact bound. */
interface Evaluated {
  readonly smooth: number
  /** In units of values. */
  readonly bound: number
}

/**
 * Minimizes the bound over the prices. The bound has kinks, so a smooth function takes its place: the maximum over the choices of
 * a group becomes `t ln sum exp(v / t)`, whose temperature `t` falls from level to level (Nesterov 2005, "Smooth minimization of
 * non-smooth functions"). Each level takes Newton's steps on the prices that are not held at 0 (Bertsekas 1982, "Projected
 * Newton methods for optimization problems with simple constraints"). The best exact bound that was seen is returned, so that
 * the result is a valid bound whatever the steps did.
 *
 * @param near prices of a similar problem
 * @param enough stops at a bound below this
 */
export function* dualPricesInSteps(
  problem: ChoiceProblem,
  ranges: Ranges,
  options: { readonly near?: Float64Array; readonly enough?: number } = {},
): Steps<Priced> {
  const { near, enough = Number.NEGATIVE_INFINITY } = options
  const scales = scalesOf(problem)
  const { rows, limits } = problem
  const work = new Relaxation(problem, ranges, scales)
  let prices = new Float64Array(rows)
  if (near !== undefined)
    prices = near.map((price, row) => (price * (scales.row[row] as number)) / scales.value)
  let best = { bound: Number.POSITIVE_INFINITY, prices }
  const note = (found: Evaluated, at: Float64Array<ArrayBuffer>) => {
    if (found.bound < best.bound) best = { bound: found.bound, prices: at }
  }
  const temperatures = near === undefined ? TEMPERATURES : TEMPERATURES_NEAR
  levels: for (const temperature of temperatures) {
    for (let nth = 0; nth < STEPS_AT_ONE; nth++) {
      const now = yield* work.evaluate(prices, temperature, true)
      note(now, prices)
      if (best.bound < enough) break levels
      const free = freeRows(prices, work.gradient)
      if (free.length === 0) break
      const step = newtonStep(work, free, prices)
      const next = yield* shorter(work, { prices, step, now, temperature }, note)
      if (next === null) break
      prices = next.prices
      if (next.gain < 1e-7 * Math.max(1, Math.abs(now.smooth))) break
    }
  }
  yield* work.evaluate(best.prices, 0.003, false)
  const unscaled = best.prices.map((price, row) => (price * scales.value) / (scales.row[row] as number))
  const { places, undecided } = work
  return {
    prices: limits.length === 0 ? new Float64Array(0) : unscaled,
    bound: best.bound,
    places,
    undecided,
  }
}

/** The rows whose price may move: those with a price, and those at 0 that are used beyond their limit. */
function freeRows(prices: Float64Array, gradient: Float64Array): number[] {
  const free: number[] = []
  for (const [row, price] of prices.entries())
    if (price > 1e-12 || (gradient[row] as number) < 0) free.push(row)
  return free
}

/** Newton's step for the free rows, by Cholesky's decomposition of their second derivatives. */
function newtonStep(
  { rows, gradient, second }: Relaxation,
  free: readonly number[],
  prices: Float64Array,
): Float64Array {
  const size = free.length
  let trace = 0
  for (const row of free) trace += second[row * rows + row] as number
  const ridge = 1e-9 + (1e-7 * trace) / size
  const lower = new Float64Array(size * size)
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) {
      let sum = second[(free[i] as number) * rows + (free[j] as number)] as number
      if (i === j) sum += ridge
      for (let k = 0; k < j; k++) sum -= (lower[i * size + k] as number) * (lower[j * size + k] as number)
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(sum, ridge)) : sum / (lower[j * size + j] as number)
    }
  const solved = new Float64Array(size)
  for (let i = 0; i < size; i++) {
    let sum = -(gradient[free[i] as number] as number)
    for (let k = 0; k < i; k++) sum -= (lower[i * size + k] as number) * (solved[k] as number)
    solved[i] = sum / (lower[i * size + i] as number)
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = solved[i] as number
    for (let k = i + 1; k < size; k++) sum -= (lower[k * size + i] as number) * (solved[k] as number)
    solved[i] = sum / (lower[i * size + i] as number)
  }
  const longest = solved.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
  const most = STEP_MAX + prices.reduce((top, price) => Math.max(top, price), 0)
  const step = new Float64Array(rows)
  for (const [i, row] of free.entries()) step[row] = (solved[i] as number) * Math.min(1, most / longest)
  return step
}

/** Halves a step until it lowers the smoothed bound. Null if no part of it does. */
function* shorter(
  work: Relaxation,
  from: {
    readonly prices: Float64Array<ArrayBuffer>
    readonly step: Float64Array
    readonly now: Evaluated
    readonly temperature: number
  },
  note: (found: Evaluated, at: Float64Array<ArrayBuffer>) => void,
): Steps<{ readonly prices: Float64Array<ArrayBuffer>; readonly gain: number } | null> {
  const slopeBefore = work.gradient.slice()
  for (let share = 1; share > 1e-4; share /= 2) {
    const prices = from.prices.map((price, row) => Math.max(0, price + share * (from.step[row] as number)))
    let expected = 0
    for (const [row, price] of prices.entries())
      expected += (slopeBefore[row] as number) * (price - (from.prices[row] as number))
    const found = yield* work.evaluate(prices, from.temperature, false)
    note(found, prices)
    const gain = from.now.smooth - found.smooth
    if (gain > 0 && gain >= -1e-4 * expected) return { prices, gain }
  }
  return null
}

/** The relaxed problem on ranges of choices. Keeps its arrays between evaluations. */
class Relaxation {
  readonly rows: number
  readonly gradient: Float64Array
  /** The second derivatives, row by row; only of evaluations that ask for them. */
  readonly second: Float64Array
  readonly places: Float64Array
  readonly undecided: Float64Array
  readonly #problem: ChoiceProblem
  readonly #ranges: Ranges
  readonly #scales: Scales
  readonly #worths: Float64Array

  constructor(problem: ChoiceProblem, ranges: Ranges, scales: Scales) {
    this.#problem = problem
    this.#ranges = ranges
    this.#scales = scales
    this.rows = problem.rows
    this.gradient = new Float64Array(problem.rows)
    this.second = new Float64Array(problem.rows * problem.rows)
    this.places = new Float64Array(problem.groups)
    this.undecided = new Float64Array(problem.groups)
    let widest = 0
    for (let group = 0; group < problem.groups; group++)
      widest = Math.max(widest, (problem.first[group + 1] as number) - (problem.first[group] as number))
    this.#worths = new Float64Array(widest)
  }

  /** Evaluates the smoothed bound, its gradient and the exact bound at scaled prices. */
  *evaluate(prices: Float64Array, temperature: number, withSecond: boolean): Steps<Evaluated> {
    const { groups, rows, limits, rowStart, groupRows, useStart, uses } = this.#problem
    const { low, high } = this.#ranges
    const { value: unit, row: rowUnits } = this.#scales
    const { gradient } = this
    const worths = this.#worths
    let smooth = 0
    let exact = 0
    for (let row = 0; row < rows; row++) {
      const limit = (limits[row] as number) / (rowUnits[row] as number)
      gradient[row] = limit
      smooth += limit * (prices[row] as number)
    }
    exact = smooth
    if (withSecond) this.second.fill(0)
    const means = new Float64Array(64)
    let examined = 0
    for (let group = 0; group < groups; group++) {
      const from = low[group] as number
      const to = high[group] as number
      const start = rowStart[group] as number
      const width = (rowStart[group + 1] as number) - start
      examined += (to - from + 1) * (1 + width)
      if (examined > CHOICES_PER_STEP) {
        examined = 0
        yield
      }
      const top = this.#weigh(group, prices)
      exact += top
      let sum = 0
      for (let nth = 0; nth <= to - from; nth++) {
        // Shares below e^-30 are 0.
        const distance = ((worths[nth] as number) - top) / temperature
        const share = distance < -30 ? 0 : Math.exp(distance)
        worths[nth] = share
        sum += share
      }
      smooth += top + temperature * Math.log(sum)
      const wide = width > means.length ? new Float64Array(width) : means
      wide.fill(0)
      let place = 0
      let most = 0
      for (let nth = 0; nth <= to - from; nth++) {
        const share = (worths[nth] as number) / sum
        if (share === 0) continue
        if (share > most) most = share
        place += share * nth
        const at = useStart[from + nth] as number
        for (let which = 0; which < width; which++)
          wide[which] =
            (wide[which] as number) +
            (share * (uses[at + which] as number)) / (rowUnits[groupRows[start + which] as number] as number)
        if (!withSecond || sum === 1) continue
        this.#curve(group, {
          factor: share / temperature,
          of: (which) =>
            (uses[at + which] as number) / (rowUnits[groupRows[start + which] as number] as number),
        })
      }
      this.places[group] = place
      this.undecided[group] = 1 - most
      for (let which = 0; which < width; which++) {
        const row = groupRows[start + which] as number
        const mean = wide[which] as number
        gradient[row] = (gradient[row] as number) - mean
      }
      if (withSecond && sum !== 1)
        this.#curve(group, { factor: -1 / temperature, of: (which) => wide[which] as number })
    }
    return { smooth, bound: exact * unit }
  }

  /** Writes what each allowed choice of a group is worth after paying, and returns the most. */
  #weigh(group: number, prices: Float64Array): number {
    const { values, rowStart, groupRows, useStart, uses } = this.#problem
    const { value: unit, row: rowUnits } = this.#scales
    const worths = this.#worths
    const from = this.#ranges.low[group] as number
    const to = this.#ranges.high[group] as number
    const start = rowStart[group] as number
    const width = (rowStart[group + 1] as number) - start
    let top = Number.NEGATIVE_INFINITY
    for (let choice = from; choice <= to; choice++) {
      let worth = (values[choice] as number) / unit
      const at = useStart[choice] as number
      for (let which = 0; which < width; which++) {
        const row = groupRows[start + which] as number
        worth -= ((prices[row] as number) * (uses[at + which] as number)) / (rowUnits[row] as number)
      }
      worths[choice - from] = worth
      if (worth > top) top = worth
    }
    return top
  }

  /** Adds the products of a group's uses to the second derivatives. */
  #curve(
    group: number,
    { factor, of }: { readonly factor: number; readonly of: (which: number) => number },
  ): void {
    const { rows, rowStart, groupRows } = this.#problem
    const { second } = this
    const start = rowStart[group] as number
    const width = (rowStart[group + 1] as number) - start
    for (let which = 0; which < width; which++) {
      const row = groupRows[start + which] as number
      const use = factor * of(which)
      for (let other = 0; other <= which; other++) {
        const otherRow = groupRows[start + other] as number
        const both = use * of(other)
        second[row * rows + otherRow] = (second[row * rows + otherRow] as number) + both
        if (row !== otherRow) second[otherRow * rows + row] = (second[otherRow * rows + row] as number) + both
      }
    }
  }
}
