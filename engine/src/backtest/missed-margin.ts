/**
 * Which loads were won too cheaply, and which were quoted below their truck's cost? A won load would also have been won at a
 * higher rate with the chance P(higher) / P(quoted). Method: Bayes' theorem: curves that made the win likely count more.
 * docs/decisions/0073-margin-at-risk.md.
 */

import { type CostModel, expectedCost } from '../estimate/expected-cost.ts'
import { NOISE_NODES } from '../estimate/interval.ts'
import { offerPosition, priceWeight, referenceRateCents } from '../estimate/lane-reference.ts'
import { bestRate } from '../estimate/optimum.ts'
import { isOwnCost } from '../estimate/own-cost.ts'
import { type Posterior, winMean } from '../estimate/posterior.ts'
import { brake, effectiveRate, sigmoid } from '../estimate/price-response.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { DEVIATIONS_80 } from '../statistics/normal-cdf.ts'
import { isUnlikelyCost } from './dollars.ts'
import type { TestDay } from './walk-forward.ts'

/** `won_too_low`: won clearly below the rates that are nearly as good as the best one. `not_worth`: won or pending below the cost. */
export const MISSED_KINDS = ['won_too_low', 'not_worth'] as const
export type MissedKind = (typeof MISSED_KINDS)[number]

/** Why a won or pending quote is not judged. `at_edge`: its best rate is the lowest or the highest rate tried. */
export type NotJudged = 'without_cost' | 'without_rate' | 'unlikely_cost' | 'at_edge'

/** A quote with its quoted rate, and with the truck cost known when it was made: the rep's cost, else the expected cost. */
export interface JudgeableQuote extends LaneQuote {
  readonly quotedRateCents: number
  readonly quotedCostCents: number | null
}

/**
 * The estimated margin that a quote missed because of its rate, by what was known on the morning of its day. Money in cents.
 *
 * `winSdCents` and `costSdCents` say how uncertain the amount is (standard deviations): because of the win curve, and of the cost.
 */
export interface MissedMargin {
  readonly quoteId: number
  readonly kind: MissedKind
  readonly amountCents: number
  readonly winSdCents: number
  readonly costSdCents: number
  readonly rateCents: number
  readonly costCents: number
  /** The lowest rate that was nearly as good as the best one (*Safer* on the desk). */
  readonly betterRateCents: number
  /** The chance of winning at the quoted rate; `chanceAtBetter`: at the better rate. */
  readonly chance: number
  readonly chanceAtBetter: number
}

/** Calls `see` with the weight of each possible win curve of a lane, and its win probabilities at two relative rates. */
function eachCurve(
  { levels, steepness, weights, shape, noise }: Posterior,
  [one, other]: readonly [number, number],
  see: (weight: number, atOne: number, atOther: number) => void,
): void {
  const rates = [effectiveRate(one, shape), effectiveRate(other, shape)] as const
  const stops = [brake(one), brake(other)] as const
  for (const node of NOISE_NODES) {
    for (let c = 0; c < weights.length; c++) {
      const level = levels[c]! + node.shift * noise
      const steep = steepness[c]!
      see(
        node.weight * weights[c]!,
        shape.ceiling * sigmoid(level - steep * rates[0] - stops[0]),
        shape.ceiling * sigmoid(level - steep * rates[1] - stops[1]),
      )
    }
  }
}

/**
 * The chance that a load won at one rate would also have been won at a higher one, and the standard deviation of that chance over
 * the possible win curves. Curves that made the win likely weigh more.
 */
function stillWonChance(posterior: Posterior, from: number, to: number): { mean: number; sd: number } {
  let [sum, kept, squares] = [0, 0, 0]
  eachCurve(posterior, [from, to], (weight, before, after) => {
    const seen = weight * before
    const share = before === 0 ? 0 : after / before
    sum += seen
    kept += seen * share
    squares += seen * share * share
  })
  if (sum === 0) return { mean: 0, sd: 0 }
  const mean = kept / sum
  return { mean, sd: Math.sqrt(Math.max(0, squares / sum - mean * mean)) }
}

/** How uncertain the win probability at a relative rate is: its standard deviation over the possible win curves. */
function chanceSd(posterior: Posterior, x: number): number {
  let [mean, squares] = [0, 0]
  eachCurve(posterior, [x, x], (weight, chance) => {
    mean += weight * chance
    squares += weight * chance * chance
  })
  return Math.sqrt(Math.max(0, squares - mean * mean))
}

/**
 * Judges a won or pending quote by what was known on the morning of its day: the win curve, the going rate, and the truck cost that
 * the rep entered or that was expected. Null if its rate is neither too low nor below its cost.
 *
 * A quote that was won below the better rate (the lowest that is nearly as good as the best) misses
 * `P(better) / P(rate) x (better - cost) - (rate - cost)`: it was won, so the customer would also have paid the better rate with the
 * chance `P(better) / P(rate)`. The quote counts if the 80 % range of this amount over the win curves is above zero. In simulations,
 * raising rates to the better rate earns more than raising them to the best one, and the estimate is closer to the truth.
 *
 * A quote below its cost loses `cost - rate` if it is won. For a pending quote, this loss is multiplied by its chance of winning. A won
 * quote below its cost is `not_worth`, never `won_too_low`.
 *
 * @example missedMargin(test, { ...quote, quotedCostCents: 100_00, quotedRateCents: 90_00 }, costs) // 1000 cents, not_worth
 */
export function missedMargin<Quote extends JudgeableQuote>(
  { modelFor, posteriorFor }: TestDay<Quote>,
  quote: Quote,
  costs: CostModel,
): MissedMargin | NotJudged | null {
  const { quoteId, lane, miles, quotedRateCents: rateCents, outcome, quotedCostCents } = quote
  const expected = expectedCost(costs, { costKeys: lane.costKeys, miles })
  const costCents = quotedCostCents ?? (isOwnCost(expected) ? expected.costCents : null)
  if (costCents === null || expected === null) return 'without_cost'
  if (isUnlikelyCost(costCents, expected.costCents)) return 'unlikely_cost'
  const model = modelFor(quote)
  const referenceCents = referenceRateCents(model, lane, miles)
  if (referenceCents === null) return 'without_rate'
  const posterior = posteriorFor(quote)
  const position = (cents: number) => offerPosition(model, lane, { rateCents: cents, referenceCents })
  const x = position(rateCents)
  const chance = winMean(posterior, x)
  const curve = { posterior, referenceCents, priceWeight: priceWeight(model, lane) }
  const best = bestRate({ ...curve, costCents, floorCents: null })
  // The uncertainty of the cost, from the 80 % range of the expected cost.
  const costSd = (costCents * Math.log(expected.highCents / expected.lowCents)) / (2 * DEVIATIONS_80)
  const found = {
    quoteId,
    rateCents,
    costCents,
    betterRateCents: best.flatZone.lowCents,
    chance,
    chanceAtBetter: winMean(posterior, position(best.flatZone.lowCents)),
  }
  if (rateCents < costCents) {
    const loss = costCents - rateCents
    const isPending = outcome === 'pending'
    const share = isPending ? chance : 1
    return {
      ...found,
      kind: 'not_worth',
      amountCents: share * loss,
      winSdCents: isPending ? chanceSd(posterior, x) * loss : 0,
      costSdCents: share * costSd,
    }
  }
  if (outcome !== 'won') return null
  if (best.atEdge) return 'at_edge'
  const betterCents = best.flatZone.lowCents
  if (rateCents >= betterCents) return null
  const kept = stillWonChance(posterior, x, position(betterCents))
  const amountCents = kept.mean * (betterCents - costCents) - (rateCents - costCents)
  const winSdCents = kept.sd * (betterCents - costCents)
  if (amountCents <= DEVIATIONS_80 * winSdCents) return null
  return {
    ...found,
    kind: 'won_too_low',
    amountCents,
    winSdCents,
    costSdCents: (1 - kept.mean) * costSd,
  }
}

/** The quotes with a missed margin in columns, so that a thread does not pass an object for each. */
export interface MissedColumns {
  readonly quoteId: Float64Array
  /** The position in `MISSED_KINDS`. */
  readonly kind: Uint8Array
  readonly amountCents: Float64Array
  readonly winSdCents: Float32Array
  readonly costSdCents: Float32Array
  readonly rateCents: Float64Array
  readonly costCents: Float64Array
  readonly betterRateCents: Float64Array
  readonly chance: Float32Array
  readonly chanceAtBetter: Float32Array
}

/**
 * Puts missed margins into columns, in the same order. Amounts are rounded to whole cents; standard deviations are not.
 *
 * @example missedColumns([]).quoteId.length // 0
 */
export function missedColumns(quotes: readonly MissedMargin[]): MissedColumns {
  return {
    quoteId: Float64Array.from(quotes, ({ quoteId }) => quoteId),
    kind: Uint8Array.from(quotes, ({ kind }) => MISSED_KINDS.indexOf(kind)),
    amountCents: Float64Array.from(quotes, ({ amountCents }) => Math.round(amountCents)),
    winSdCents: Float32Array.from(quotes, ({ winSdCents }) => winSdCents),
    costSdCents: Float32Array.from(quotes, ({ costSdCents }) => costSdCents),
    rateCents: Float64Array.from(quotes, ({ rateCents }) => rateCents),
    costCents: Float64Array.from(quotes, ({ costCents }) => Math.round(costCents)),
    betterRateCents: Float64Array.from(quotes, ({ betterRateCents }) => Math.round(betterRateCents)),
    chance: Float32Array.from(quotes, ({ chance }) => chance),
    chanceAtBetter: Float32Array.from(quotes, ({ chanceAtBetter }) => chanceAtBetter),
  }
}

/**
 * The share of the error's variance that all lanes have in common: errors of the curve's shape and of the market, which do not average out.
 * With 0.2, the ranges of 18 of 20 simulated brokerages contained the true missed margin; with 0.02, those of 14.
 */
const SHARED_ERROR = 0.2

/**
 * The 80 % range of the missed margin of several lanes, from the standard deviation of each lane. Within a lane, the caller adds up
 * `winSdCents`, because all quotes have the same win curve, and the squares of `costSdCents`. Between lanes, the squares add up, except for
 * the share `SHARED_ERROR`.
 *
 * @example missedRange(0, { sumOfSquares: 10_000, sum: 100 }) // { lowCents: -128.16, highCents: 128.16 } for one lane
 */
export function missedRange(
  amountCents: number,
  laneSd: { readonly sumOfSquares: number; readonly sum: number },
): { lowCents: number; highCents: number } {
  const variance = (1 - SHARED_ERROR) * laneSd.sumOfSquares + SHARED_ERROR * laneSd.sum ** 2
  const half = DEVIATIONS_80 * Math.sqrt(Math.max(0, variance))
  return { lowCents: amountCents - half, highCents: amountCents + half }
}
