import type { Steps } from '../steps.ts'
import type { BestChoice, Proof } from './best-choice.ts'
import type { BidLane, BidLimits, BidProblem, LimitRow } from './bid-lanes.ts'
import { allChoices, type ChoiceProblem, type Ranges } from './choice-problem.ts'

/** Prices are whole numbers of trillionths of a cent per unit of a row, written as text. */
const PRICE_UNIT = 1e12
const GROUPS_PER_STEP = 100

/**
 * A proof in a certificate: prices by row, or two cases. `up_to` counts the rates that are not below the least margin share, and last
 * the choice not to bid.
 */
export type WrittenProof =
  | { readonly prices: readonly string[] }
  | {
      readonly lane: number
      readonly up_to: number
      readonly at_most: WrittenProof
      readonly above: WrittenProof
    }

/**
 * Everything that another program needs to verify chosen rates and their bound: recipes/verify-portfolio.mjs. It contains the inputs, so
 * that the program computes the expected margins itself.
 */
export interface Certificate {
  readonly format: 'lanewise portfolio 1'
  readonly lanes: readonly BidLane[]
  readonly limits: BidLimits
  /** For each limit: its kind, and the region and one of its weeks for a cap. */
  readonly rows: readonly {
    readonly kind: LimitRow['kind']
    readonly region?: string
    readonly week?: number
  }[]
  /** The place on the menu by lane; null: not bid. */
  readonly chosen: readonly (number | null)[]
  readonly marginCents: number
  /** No rates within the limits have a larger expected margin. */
  readonly boundCents: number
  readonly proof: WrittenProof
}

/** The prices as written. The bound is computed from these, so that it is the bound that a reader computes. */
const written = (prices: Float64Array): bigint[] =>
  [...prices].map((price) => BigInt(Math.round(price * PRICE_UNIT)))

/**
 * The bound that follows from a proof by whole-number arithmetic: at prices, the sum of the limits times the prices, and of the most
 * that a choice of each lane is worth after paying for what it uses; for cases, that of the larger case.
 */
export function* exactBoundInSteps({ problem }: Pick<BidProblem, 'problem'>, proof: Proof): Steps<number> {
  return Number(yield* boundIn(problem, proof, allChoices(problem)))
}

function* boundIn(problem: ChoiceProblem, proof: Proof, { low, high }: Ranges): Steps<bigint> {
  if ('prices' in proof) return yield* boundAt(problem, written(proof.prices), { low, high })
  const { group, upTo } = proof
  const start = problem.first[group] as number
  const [least, most] = [low[group] as number, high[group] as number]
  high[group] = Math.min(most, start + upTo)
  const atMost = yield* boundIn(problem, proof.atMost, { low, high })
  high[group] = most
  low[group] = Math.max(least, start + upTo + 1)
  const above = yield* boundIn(problem, proof.above, { low, high })
  low[group] = least
  return atMost > above ? atMost : above
}

function* boundAt(
  { groups, limits, values, rowStart, groupRows, useStart, uses }: ChoiceProblem,
  prices: readonly bigint[],
  { low, high }: Ranges,
): Steps<bigint> {
  const unit = BigInt(PRICE_UNIT)
  let sum = 0n
  for (const [row, price] of prices.entries()) sum += price * BigInt(limits[row] as number)
  for (let group = 0; group < groups; group++) {
    if (group % GROUPS_PER_STEP === GROUPS_PER_STEP - 1) yield
    let top: bigint | null = null
    const from = rowStart[group] as number
    for (let choice = low[group] as number; choice <= (high[group] as number); choice++) {
      let net = unit * BigInt(values[choice] as number)
      let at = useStart[choice] as number
      for (let row = from; row < (rowStart[group + 1] as number); row++) {
        const price = prices[groupRows[row] as number] as bigint
        const use = uses[at++] as number
        if (price !== 0n && use !== 0) net -= price * BigInt(use)
      }
      if (top === null || net > top) top = net
    }
    sum += top ?? 0n
  }
  // The margin is whole cents, so the bound is rounded down.
  const down = sum / unit
  return sum < 0n && down * unit !== sum ? down - 1n : down
}

function writtenProof(proof: Proof): WrittenProof {
  if ('prices' in proof) return { prices: written(proof.prices).map(String) }
  const { group, upTo, atMost, above } = proof
  return { lane: group, up_to: upTo, at_most: writtenProof(atMost), above: writtenProof(above) }
}

/** The certificate of the best rates that were found. @param bid the problem, for the goal of margin */
export function* certificateInSteps(
  { lanes, limits }: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  bid: BidProblem,
  best: BestChoice & { readonly chosen: Int32Array },
): Steps<Certificate> {
  const { problem, rows, expected } = bid
  return {
    format: 'lanewise portfolio 1',
    lanes,
    limits,
    rows: rows.map((row) =>
      row.kind === 'region'
        ? { kind: row.kind, region: row.region, week: row.weeks[0] as number }
        : { kind: row.kind },
    ),
    chosen: [...best.chosen].map(
      (choice, lane) => expected[lane]?.[choice - (problem.first[lane] as number)]?.place ?? null,
    ),
    marginCents: best.value,
    boundCents: yield* exactBoundInSteps(bid, best.proof),
    proof: writtenProof(best.proof),
  }
}
