import { priceWeight, referenceRateCents } from '../estimate/estimator.ts'
import { type CostModel, expectedCost } from '../estimate/expected-cost.ts'
import { bestRate, expectedMarginCents, type RateFloors } from '../estimate/optimum.ts'
import type { LaneQuote } from '../estimate/quoted-lanes.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import type { TestDay } from './walk-forward.ts'

/** Fewer quotes or lanes than this give no dollar figure: its range would be drawn from next to nothing. */
export const DOLLAR_QUOTES_MIN = 30
export const DOLLAR_LANES_MIN = 5
/** A cost over four times what was expected that morning, or under a quarter of it, is a slip of the pen, not a truck. */
const COST_FACTOR = 4
const DRAWS = 2000
const SEED = 20_260_101

/** A tested quote in money: what the model expected of the rate quoted, and of the rate it would have shown. Cents. */
export interface PricedQuote {
  readonly lane: string
  /** P(win at the rate quoted) x (rate quoted - cost). */
  readonly quotedCents: number
  /** P(win at the best rate) x (best rate - cost). */
  readonly bestCents: number
  /** What came of it: rate less cost where won, nothing where lost. */
  readonly earnedCents: number
  /** Where the rate quoted lay: below, in or above the rates the model would have called as good as the best. */
  readonly place: 'below' | 'as_good' | 'above'
  readonly atEdge: boolean
}

/** Why a tested quote is in no dollar figure. */
export type Unpriced = 'without_cost' | 'without_optimum' | 'unlikely_cost'

/**
 * Prices a tested quote with what was known on its morning: the chances and the expected cost that set the best rate are
 * of that day. Both margins are then counted against the quote's own cost, so that what the seller knew of the truck and
 * the model did not is to the seller's credit. The floors of today are kept.
 *
 * @example priceQuote(test, { ...quote, costCents: null }, { costs, floors: {} }) // 'without_cost'
 */
export function priceQuote<Quote extends LaneQuote>(
  { model, posteriorFor }: TestDay<Quote>,
  quote: Quote,
  terms: { costs: CostModel; floors: RateFloors },
): PricedQuote | Unpriced {
  const { costCents, rateCents, lane, miles } = quote
  if (costCents === null || !(costCents > 0) || !Number.isFinite(costCents)) return 'without_cost'
  const referenceCents = referenceRateCents(model, lane, miles)
  const expected = expectedCost(terms.costs, { costKeys: lane.costKeys, miles })
  if (referenceCents === null || expected === null) return 'without_optimum'
  if (Math.abs(Math.log(costCents / expected.costCents)) > Math.log(COST_FACTOR)) return 'unlikely_cost'
  const curve = { posterior: posteriorFor(quote), referenceCents, priceWeight: priceWeight(model, lane) }
  const best = bestRate({ ...curve, costCents: expected.costCents, miles, floors: terms.floors })
  // A floor above the flat zone makes itself the only rate that is as good.
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

/** Sums over tested quotes, in cents. `differenceCents` is best less quoted; its range is over lanes. */
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

/** Sums the priced quotes; null where there are too few of them to say anything. */
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
 * The 80 % range of a sum over lanes: as many lanes are drawn with replacement, 2,000 times over from one seed, and the
 * sums' 10th and 90th percentiles are taken. Quotes of one lane rise and fall together, so whole lanes are drawn.
 *
 * @example rangeOfSum([500, 500, 500]) // { lowCents: 1500, highCents: 1500 }
 */
export function rangeOfSum(byLane: readonly number[]): { lowCents: number; highCents: number } {
  const random = seededNumbers(SEED)
  const sums = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    for (let i = 0; i < byLane.length; i++) sum += byLane[Math.floor(random() * byLane.length)] ?? 0
    sums[draw] = sum
  }
  sums.sort()
  const at = (share: number) => sums[Math.round(share * (DRAWS - 1))] ?? 0
  return { lowCents: at(0.1), highCents: at(0.9) }
}
