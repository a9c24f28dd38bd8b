/**
 * What would the model's best rates have been worth in dollars, compared with the quoted rates? Nobody quoted the best rates, so the model
 * itself estimates their margins: the direct method of off-policy evaluation (Dudík, Langford and Li, 2011), which tends to overestimate
 * (Smith and Winkler, "The Optimizer's Curse", 2006). The range comes from resampling whole lanes: a cluster bootstrap (Efron, 1979).
 * docs/backtest.md, "The dollar estimate".
 */

import { type CostModel, expectedCost } from '../estimate/expected-cost.ts'
import { priceWeight, referenceRateCents } from '../estimate/lane-reference.ts'
import { bestRate, expectedMarginCents } from '../estimate/optimum.ts'
import type { LaneQuote } from '../quotes/quoted-lanes.ts'
import { type MinimumTerms, minimumRateCents } from '../rules/pricing-rules.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { finished, type Steps } from '../steps.ts'
import type { TestDay } from './walk-forward.ts'

/** Minimum numbers of quotes and lanes for a dollar figure. With fewer, its range would be meaningless. */
export const DOLLAR_QUOTES_MIN = 30
export const DOLLAR_LANES_MIN = 5
/** A cost above 4 times the expected cost of that day, or below a quarter of it, is treated as a data entry error. */
const COST_FACTOR = 4
const DRAWS = 2000
const SEED = 20_260_101

/** Margins of a tested quote, in cents: expected at the quoted rate, expected at the model's best rate, and actual. */
export interface PricedQuote {
  readonly lane: string
  /** P(win at the quoted rate) x (quoted rate - cost). */
  readonly quotedCents: number
  /** P(win at the best rate) x (best rate - cost). */
  readonly bestCents: number
  /** The actual margin: rate minus cost if won, 0 if lost. */
  readonly earnedCents: number
  /** Whether the quoted rate was below, within or above the range that the model considers as good as the best rate. */
  readonly place: 'below' | 'as_good' | 'above'
  readonly atEdge: boolean
}

/** Why a tested quote is excluded from the dollar figures. */
export type Unpriced = 'without_cost' | 'without_optimum' | 'unlikely_cost'

/** Whether a cost is so far from the expected cost of its day that it is probably a data entry error. */
export function isUnlikelyCost(costCents: number, expectedCents: number): boolean {
  return Math.abs(Math.log(costCents / expectedCents)) > Math.log(COST_FACTOR)
}

/**
 * Computes the margins of a tested quote from what was known at the start of its day. Both margins use the quote's own cost, so that a rep
 * who knew the truck's cost better than the model gets credit for it. The minimum is by today's rule.
 *
 * @example priceQuote(test, { ...quote, costCents: null }, { costs, minimum: {} }) // 'without_cost'
 */
export function priceQuote<Quote extends LaneQuote>(
  { modelFor, posteriorFor }: TestDay<Quote>,
  quote: Quote,
  terms: { costs: CostModel; minimum: MinimumTerms },
): PricedQuote | Unpriced {
  const { costCents, rateCents, lane, miles } = quote
  if (costCents === null || !(costCents > 0) || !Number.isFinite(costCents)) return 'without_cost'
  const model = modelFor(quote)
  const referenceCents = referenceRateCents(model, lane, miles)
  const expected = expectedCost(terms.costs, { costKeys: lane.costKeys, miles })
  if (referenceCents === null || expected === null) return 'without_optimum'
  if (isUnlikelyCost(costCents, expected.costCents)) return 'unlikely_cost'
  const curve = { posterior: posteriorFor(quote), referenceCents, priceWeight: priceWeight(model, lane) }
  const { costCents: expectedCents } = expected
  const floorCents = minimumRateCents(terms.minimum, { costCents: expectedCents, miles })
  const best = bestRate({ ...curve, costCents: expectedCents, floorCents })
  // If the lowest allowed rate is above the flat zone, only that rate is as good as the best one.
  const low = Math.max(best.flatZone.lowCents, best.floorCents ?? 0)
  const high = Math.max(best.flatZone.highCents, best.floorCents ?? 0)
  return {
    lane: lane.key,
    quotedCents: expectedMarginCents({ ...curve, costCents }, rateCents),
    bestCents: expectedMarginCents({ ...curve, costCents }, best.flooredRateCents),
    earnedCents: quote.outcome === 'won' ? rateCents - costCents : 0,
    place: rateCents < low ? 'below' : rateCents > high ? 'above' : 'as_good',
    atEdge: best.atEdge,
  }
}

/** Sums over tested quotes: margins in cents, and numbers of quotes by `place`. `differenceCents` is best minus quoted, with its range. */
export interface DollarEstimate {
  readonly quotes: number
  readonly lanes: number
  readonly quotedCents: number
  readonly bestCents: number
  readonly earnedCents: number
  readonly differenceCents: number
  readonly range80: { readonly lowCents: number; readonly highCents: number }
  readonly below: number
  readonly asGood: number
  readonly above: number
  readonly atEdge: number
}

/** Sums the priced quotes. Null if there are too few quotes or lanes. */
export function dollarEstimate(priced: readonly PricedQuote[]): DollarEstimate | null {
  const lanes = new Map<string, number>()
  const sum = { quotedCents: 0, bestCents: 0, earnedCents: 0, below: 0, as_good: 0, above: 0, atEdge: 0 }
  for (const quote of priced) {
    lanes.set(quote.lane, (lanes.get(quote.lane) ?? 0) + quote.bestCents - quote.quotedCents)
    sum.quotedCents += quote.quotedCents
    sum.bestCents += quote.bestCents
    sum.earnedCents += quote.earnedCents
    sum[quote.place]++
    if (quote.atEdge) sum.atEdge++
  }
  if (priced.length < DOLLAR_QUOTES_MIN || lanes.size < DOLLAR_LANES_MIN) return null
  const { as_good: asGood, ...sums } = sum
  return {
    quotes: priced.length,
    lanes: lanes.size,
    ...sums,
    asGood,
    differenceCents: sum.bestCents - sum.quotedCents,
    range80: rangeOfSum([...lanes.values()]),
  }
}

/**
 * The 80 % bootstrap range of a sum over lanes: the 10th and 90th percentiles of 2,000 sums, each over as many lanes
 * drawn with replacement, from a fixed seed. Whole lanes are drawn because quotes on the same lane are correlated.
 *
 * @example rangeOfSum([500, 500, 500]) // { lowCents: 1500, highCents: 1500 }
 */
export function rangeOfSum(byLane: readonly number[]): { lowCents: number; highCents: number } {
  return finished(rangeOfSumInSteps(byLane))
}

const DRAWN_PER_STEP = 50_000

export function* rangeOfSumInSteps(
  byLane: readonly number[],
): Steps<{ lowCents: number; highCents: number }> {
  const drawsPerStep = Math.max(1, Math.floor(DRAWN_PER_STEP / Math.max(1, byLane.length)))
  const random = seededNumbers(SEED)
  const sums = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    for (let i = 0; i < byLane.length; i++) sum += byLane[Math.floor(random() * byLane.length)] ?? 0
    sums[draw] = sum
    if (draw % drawsPerStep === 0) yield
  }
  sums.sort()
  const at = (share: number) => sums[Math.round(share * (DRAWS - 1))] ?? 0
  return { lowCents: at(0.1), highCents: at(0.9) }
}
