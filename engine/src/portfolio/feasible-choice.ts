import type { Steps } from '../steps.ts'
import { addUses, type ChoiceProblem, isWithin, type Ranges, usedBy } from './choice-problem.ts'

/** Moves of a repair or an improvement. Far more than a start near the optimum needs. */
const MOVES_MAX = 2_000
/** The moves that are tried in pairs: those that lose least at the prices. */
const PAIRED_MAX = 160
const PAIR_ROUNDS_MAX = 60

/** Another choice of one group. */
interface Move {
  readonly group: number
  readonly choice: number
}

/** What a choice is worth after paying for what it uses. */
function netOf(problem: ChoiceProblem, { group, choice }: Move, prices: Float64Array): number {
  const { values, rowStart, groupRows, useStart, uses } = problem
  let net = values[choice] as number
  let at = useStart[choice] as number
  for (let row = rowStart[group] as number; row < (rowStart[group + 1] as number); row++)
    net -= (prices[groupRows[row] as number] as number) * (uses[at++] as number)
  return net
}

/** The best choice of each group after paying for what it uses: the relaxed optimum, which may break limits. */
export function bestAtPrices(
  problem: ChoiceProblem,
  { low, high }: Ranges,
  prices: Float64Array,
): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: problem.groups }, (_, group) => {
    let best = low[group] as number
    let most = Number.NEGATIVE_INFINITY
    for (let choice = best; choice <= (high[group] as number); choice++) {
      const net = netOf(problem, { group, choice }, prices)
      if (net > most) [best, most] = [choice, net]
    }
    return best
  })
}

/**
 * Changes choices until no row uses more than its limit, each time by the move that loses least at the prices for what it
 * removes of the excess. Null if no move removes any.
 */
export function* repairedInSteps(
  problem: ChoiceProblem,
  ranges: Ranges,
  start: { readonly chosen: Int32Array<ArrayBuffer>; readonly prices: Float64Array },
): Steps<Int32Array<ArrayBuffer> | null> {
  const { chosen, prices } = start
  const { groups, limits, rowStart, groupRows, useStart, uses } = problem
  const used = usedBy(problem, chosen)
  const usual = limits.map((limit, row) => Math.max(1, Math.abs(limit), Math.abs(used[row] as number)))
  for (let moves = 0; moves < MOVES_MAX && !isWithin(problem, used); moves++) {
    yield
    let best: Move | null = null
    let most = 0
    for (let group = 0; group < groups; group++) {
      const now = chosen[group] as number
      const from = rowStart[group] as number
      const to = rowStart[group + 1] as number
      let touches = false
      for (let row = from; row < to; row++) {
        const number = groupRows[row] as number
        if ((used[number] as number) > (limits[number] as number)) touches = true
      }
      if (!touches) continue
      const netNow = netOf(problem, { group, choice: now }, prices)
      for (let choice = ranges.low[group] as number; choice <= (ranges.high[group] as number); choice++) {
        if (choice === now) continue
        let removed = 0
        for (let row = from; row < to; row++) {
          const number = groupRows[row] as number
          const before = (used[number] as number) - (limits[number] as number)
          const after =
            before -
            (uses[(useStart[now] as number) + row - from] as number) +
            (uses[(useStart[choice] as number) + row - from] as number)
          removed += (Math.max(0, before) - Math.max(0, after)) / (usual[number] as number)
        }
        if (removed <= 0) continue
        const lost = Math.max(0, netNow - netOf(problem, { group, choice }, prices))
        const score = removed / (lost + 1e-6 * Math.abs(netNow) + 1e-3)
        if (score > most) [best, most] = [{ group, choice }, score]
      }
    }
    if (best === null) return null
    move(problem, chosen, used, best)
  }
  return isWithin(problem, used) ? chosen : null
}

function move(problem: ChoiceProblem, chosen: Int32Array, used: Float64Array, { group, choice }: Move): void {
  addUses(problem, { group, choice: chosen[group] as number }, used, -1)
  addUses(problem, { group, choice }, used, 1)
  chosen[group] = choice
}

/** Whether a move keeps the rows of its group within their limits. */
function fits(
  problem: ChoiceProblem,
  chosen: Int32Array,
  used: Float64Array,
  { group, choice }: Move,
): boolean {
  const { limits, rowStart, groupRows, useStart, uses } = problem
  const from = rowStart[group] as number
  const now = useStart[chosen[group] as number] as number
  const then = useStart[choice] as number
  for (let row = from; row < (rowStart[group + 1] as number); row++) {
    const number = groupRows[row] as number
    const use =
      (used[number] as number) - (uses[now + row - from] as number) + (uses[then + row - from] as number)
    // A row that is not used more may stay as it is.
    if (use > (limits[number] as number)) return false
  }
  return true
}

/** Improves permitted choices by single moves, then by pairs of moves, until none of those that are tried helps. */
export function* improvedInSteps(
  problem: ChoiceProblem,
  ranges: Ranges,
  start: { readonly chosen: Int32Array<ArrayBuffer>; readonly prices: Float64Array },
): Steps<Int32Array<ArrayBuffer>> {
  const { chosen, prices } = start
  const { values } = problem
  const used = usedBy(problem, chosen)
  const gainOf = ({ group, choice }: Move) =>
    (values[choice] as number) - (values[chosen[group] as number] as number)
  yield* singleMoves(problem, ranges, chosen, used)
  for (let round = 0; round < PAIR_ROUNDS_MAX; round++) {
    const moves = likelyMoves(problem, ranges, chosen, prices)
    yield
    let best: readonly [Move, Move] | null = null
    let most = 0
    for (const one of moves) {
      yield
      const before = { group: one.group, choice: chosen[one.group] as number }
      const gain = gainOf(one)
      const mayGain = moves.some((other) => other.group !== one.group && gain + gainOf(other) > most)
      if (!mayGain) continue
      move(problem, chosen, used, one)
      for (const other of moves) {
        const more = gainOf(other)
        if (other.group === one.group || gain + more <= most) continue
        const after = { group: other.group, choice: chosen[other.group] as number }
        move(problem, chosen, used, other)
        if (isWithin(problem, used)) [best, most] = [[one, other], gain + more]
        move(problem, chosen, used, after)
      }
      move(problem, chosen, used, before)
    }
    if (best === null) break
    for (const one of best) move(problem, chosen, used, one)
    yield* singleMoves(problem, ranges, chosen, used)
  }
  return chosen
}

function* singleMoves(
  problem: ChoiceProblem,
  { low, high }: Ranges,
  chosen: Int32Array,
  used: Float64Array,
): Steps<void> {
  const { groups, values } = problem
  for (let moves = 0; moves < MOVES_MAX; moves++) {
    yield
    let best: Move | null = null
    let most = 0
    for (let group = 0; group < groups; group++) {
      const now = values[chosen[group] as number] as number
      for (let choice = low[group] as number; choice <= (high[group] as number); choice++) {
        const gain = (values[choice] as number) - now
        if (gain > most && fits(problem, chosen, used, { group, choice }))
          [best, most] = [{ group, choice }, gain]
      }
    }
    if (best === null) return
    move(problem, chosen, used, best)
  }
}

/** The moves that lose least at the prices. */
function likelyMoves(
  problem: ChoiceProblem,
  { low, high }: Ranges,
  chosen: Int32Array,
  prices: Float64Array,
): Move[] {
  const moves: (Move & { readonly lost: number })[] = []
  let worst = Number.POSITIVE_INFINITY
  for (let group = 0; group < problem.groups; group++) {
    const now = netOf(problem, { group, choice: chosen[group] as number }, prices)
    for (let choice = low[group] as number; choice <= (high[group] as number); choice++) {
      if (choice === chosen[group]) continue
      const lost = now - netOf(problem, { group, choice }, prices)
      if (lost >= worst) continue
      moves.push({ group, choice, lost })
      if (moves.length < 4 * PAIRED_MAX) continue
      moves.sort((one, other) => one.lost - other.lost)
      moves.length = PAIRED_MAX
      worst = moves.at(-1)?.lost ?? worst
    }
  }
  return moves.sort((one, other) => one.lost - other.lost).slice(0, PAIRED_MAX)
}
