import type { Steps } from '../steps.ts'

/** One choice of a group: what it is worth, and what it uses of each row of its group. All are whole numbers. */
export interface Choice {
  readonly value: number
  /** In the order of the group's rows. A negative amount adds to the row. */
  readonly uses: readonly number[]
}

/** Of each group, exactly one choice is made. */
export interface ChoiceGroup {
  /** The numbers of the rows that the choices use. */
  readonly rows: readonly number[]
  readonly choices: readonly Choice[]
}

/**
 * A multiple-choice knapsack problem with several rows: one choice of each group, the largest sum of values, and in each row a
 * sum of uses of at most its limit. In columns, because 5,000 lanes with 15 rates are 80,000 choices, read thousands of times.
 */
export interface ChoiceProblem {
  readonly groups: number
  readonly rows: number
  readonly limits: Float64Array
  /** The choices of group i are those from `first[i]` to before `first[i + 1]`. */
  readonly first: Int32Array
  readonly values: Float64Array
  /** The rows of group i are `groupRows[rowStart[i]]` to before `rowStart[i + 1]`. */
  readonly rowStart: Int32Array
  readonly groupRows: Int32Array
  /** The uses of a choice, in the order of its group's rows, from `useStart[choice]` on. */
  readonly useStart: Int32Array
  readonly uses: Float64Array
}

const GROUPS_PER_STEP = 50

/**
 * Packs a problem.
 *
 * @throws RangeError if the sums could be too large to be exact
 */
export function* choiceProblemInSteps(
  groups: number,
  groupAt: (nth: number) => ChoiceGroup,
  limits: readonly number[],
): Steps<ChoiceProblem> {
  const [first, rowStart, useStart] = [[0], [0], [0]]
  const groupRows: number[] = []
  const values: number[] = []
  const uses: number[] = []
  const largest = new Float64Array(limits.length)
  let worth = 0
  for (let nth = 0; nth < groups; nth++) {
    if (nth % GROUPS_PER_STEP === 0) yield
    const group = groupAt(nth)
    for (const row of group.rows) groupRows.push(row)
    rowStart.push(groupRows.length)
    const used = new Float64Array(group.rows.length)
    let most = 0
    for (const { value, uses: amounts } of group.choices) {
      values.push(value)
      most = Math.max(most, Math.abs(value))
      for (const [which, amount] of amounts.entries()) {
        used[which] = Math.max(used[which] as number, Math.abs(amount))
        uses.push(amount)
      }
      useStart.push(uses.length)
    }
    first.push(values.length)
    worth += most
    for (const [which, row] of group.rows.entries())
      largest[row] = (largest[row] as number) + (used[which] as number)
  }
  if (worth > Number.MAX_SAFE_INTEGER || largest.some((sum) => sum > Number.MAX_SAFE_INTEGER))
    throw new RangeError('The loads times the rates of this bid are too large to add exactly.')
  return {
    groups,
    rows: limits.length,
    limits: Float64Array.from(limits),
    first: Int32Array.from(first),
    values: Float64Array.from(values),
    rowStart: Int32Array.from(rowStart),
    groupRows: Int32Array.from(groupRows),
    useStart: Int32Array.from(useStart),
    uses: Float64Array.from(uses),
  }
}

/** The choices that are allowed of each group, as a range: from `low[i]` to `high[i]`, both included. */
export interface Ranges {
  readonly low: Int32Array
  readonly high: Int32Array
}

/** All choices. */
export function allChoices({ groups, first }: ChoiceProblem): Ranges {
  return { low: first.slice(0, groups), high: first.slice(1).map((end) => end - 1) }
}

/** What choices use of each row. @param chosen the number of the choice of each group */
export function usedBy(problem: ChoiceProblem, chosen: Int32Array): Float64Array {
  const used = new Float64Array(problem.rows)
  for (let group = 0; group < problem.groups; group++)
    addUses(problem, { group, choice: chosen[group] as number }, used, 1)
  return used
}

/** Adds the uses of a choice to `used`, or takes them away (`sign` -1). */
export function addUses(
  { rowStart, groupRows, useStart, uses }: ChoiceProblem,
  { group, choice }: { readonly group: number; readonly choice: number },
  used: Float64Array,
  sign: 1 | -1,
): void {
  let at = useStart[choice] as number
  for (let row = rowStart[group] as number; row < (rowStart[group + 1] as number); row++) {
    const number = groupRows[row] as number
    used[number] = (used[number] as number) + sign * (uses[at++] as number)
  }
}

/** The sum of the values of choices. */
export function worthOf({ values }: ChoiceProblem, chosen: Int32Array): number {
  let sum = 0
  for (const choice of chosen) sum += values[choice] as number
  return sum
}

/** Whether no row uses more than its limit. */
export function isWithin({ limits }: ChoiceProblem, used: Float64Array): boolean {
  return limits.every((limit, row) => (used[row] as number) <= limit)
}
