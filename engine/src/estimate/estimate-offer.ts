/**
 * How likely does $2,100 win this lane, how sure is that, which rate would earn most, and what would change the answer? This file
 * reads the answers from the lane's win curve (lane-win-curve.ts) and names what limits them, such as "few_quotes". No method of
 * its own.
 * docs/model-estimate.md, "Points of the curve, and what would change the answer" and "Flags".
 */

import type { LaneIdentity } from '../quotes/lane-identity.ts'
import { earningRate, type Optimum } from './best-rate.ts'
import { countedOutcomes, laneOf } from './current-lane.ts'
import type { Estimator } from './estimator.ts'
import type { NoGround } from './ground.ts'
import { type Interval, type IntervalCurve, intervalsAt, winQuantiles, withEnds } from './interval.ts'
import { addQuote, type Knots } from './knots.ts'
import type { LaneFold } from './lane-fold.ts'
import { type LaneForCustomer, type LaneWinCurve, laneWinCurve, type PosteriorFor } from './lane-win-curve.ts'
import { bestRate, chanceOn, expectedMarginCents } from './optimum.ts'
import { winMean } from './posterior.ts'
import { curvePosition, relativeRate } from './price-response.ts'
import { scopeOf } from './scope-tree.ts'
import { clip } from './vector.ts'

const CURVE_STEP = 0.02
const CURVE_HALF_WIDTH = 0.3
const CURVE_LIMIT = 0.6
/** Below this number of quotes that the price decided on the lane, `few_quotes` is set. Medium confidence starts at this number. */
const FEW_QUOTES = 5
/** An offer further than this from the reference rate (in ln) is flagged, because hardly any quotes are that far from it. */
const FAR_FROM_REFERENCE = 0.5
const MORE_QUOTES = [5, 15] as const
const MARKET_MOVE = 0.05

/** Conditions that limit how far an estimate can be trusted. */
export type EstimateFlag =
  | 'bad_offer'
  | NoGround
  | 'unseen_lane'
  | 'no_decided_quotes'
  | 'few_quotes'
  | 'all_won'
  | 'all_lost'
  | 'one_rate'
  | 'far_from_reference'
  | 'outliers_left_out'
  | 'bad_rates_left_out'
  | 'future_quotes_left_out'
  | 'no_cost'
  | 'no_rate_earns'
  | 'optimum_at_edge'
  | 'cost_above_market'

/** One point of the curve: a rate, its win probability with intervals, and the lane's quotes nearest to the rate. */
export interface CurvePoint {
  readonly rateCents: number
  readonly probability: number
  readonly interval80: Interval
  readonly interval95: Interval
  /** The lane's quotes whose rates, moved to today's market, are nearest to this point. */
  readonly nearby: { readonly won: number; readonly lost: number; readonly pending: number }
}

/** A wider scope that the estimate borrows from, and its decided quotes on other lanes. */
export interface BorrowedFrom {
  readonly scope: string
  readonly decided: number
  readonly won: number
  readonly lanes: number
}

/** The width of the 80 % interval now, and with more decided quotes near this rate. */
export interface RaisedConfidence {
  readonly moreDecidedQuotes: number
  readonly width80Now: number
  readonly width80Then: number
}

/** The win probability after a single change. */
export interface ChangedAnswer {
  readonly change: 'next_won' | 'next_lost' | 'market_up_5_pct' | 'market_down_5_pct'
  readonly probability: number
}

/**
 * How much the win probability depends on the lane's pending quotes: at one end all of them are lost, at the other they are
 * won as often as the lane's decided quotes (or, without any, as often as the estimate says).
 */
export interface UndecidedRange {
  readonly quotes: number
  readonly ifLost: number
  readonly ifWonAlike: number
}

export interface OfferExplanation {
  readonly probability: number | null
  readonly interval80: Interval | null
  readonly interval95: Interval | null
  readonly referenceRateCents: number | null
  readonly decided: number
  readonly won: number
  /** How many of the lost quotes were lost for other reasons than the price. */
  readonly lostForOtherReasons: number
  /** The win probability without regard to the customer. */
  readonly probabilityOfAll: number | null
  /** The share of the estimate that comes from other lanes: 1 without own decided quotes, near 0 with many. */
  readonly borrowedShare: number | null
  readonly borrowedFrom: readonly BorrowedFrom[]
  readonly curve: readonly CurvePoint[]
  /** The expected margin of the offer; `atStakeCents` is how much it is below that of the optimum. Null without a cost. */
  readonly expectedMarginCents: number | null
  readonly atStakeCents: number | null
  readonly optimum: Optimum | null
  readonly flags: readonly EstimateFlag[]
  readonly wouldRaiseConfidence: readonly RaisedConfidence[]
  readonly wouldChangeAnswer: readonly ChangedAnswer[]
  /** Null without pending quotes on the lane. */
  readonly undecided: UndecidedRange | null
}

/** An offer to explain, with the win curve of its lane and the best rate. */
export interface OfferToExplain {
  readonly estimator: Estimator
  readonly lane: LaneIdentity
  /** Null if there is not enough to go on. */
  readonly belief: LaneWinCurve | null
  /** Why `belief` is null; null if it is not. */
  readonly missing: NoGround | null
  /** The going rate, which may be known without a win curve, in fractional cents. */
  readonly goingCents: number | null
  readonly offerRateCents: number
  /** The truck cost that the best rate was computed with; null if none is known. */
  readonly costCents: number | null
  readonly optimum: Optimum | null
}

function noAnswer(
  flags: EstimateFlag[],
  borrowed: readonly BorrowedFrom[],
  known: { readonly lane: LaneFold | null; readonly goingCents: number | null },
): OfferExplanation {
  return {
    probability: null,
    interval80: null,
    interval95: null,
    referenceRateCents: known.goingCents,
    ...countsOf(known.lane),
    borrowedShare: null,
    probabilityOfAll: null,
    borrowedFrom: borrowed,
    curve: [],
    expectedMarginCents: null,
    atStakeCents: null,
    optimum: null,
    flags,
    wouldRaiseConfidence: [],
    wouldChangeAnswer: [],
    undecided: null,
  }
}

/** The decided quotes of other lanes by scope, narrowest first. Each scope counts all its lanes except this one. */
function borrowedFrom(model: Estimator, identity: LaneIdentity): BorrowedFrom[] {
  const counted = countedOutcomes(model, identity.key)
  const own = counted && counted.decided > 0 ? 1 : 0
  const out: BorrowedFrom[] = []
  for (let scope = scopeOf(model, identity); ; ) {
    out.push({
      scope: scope.name,
      decided: scope.decided - (counted?.decided ?? 0),
      won: scope.won - (counted?.won ?? 0),
      lanes: scope.lanes - own,
    })
    if (!scope.parent) return out
    scope = scope.parent
  }
}

function laneFlags(lane: LaneFold | null): EstimateFlag[] {
  const flags: EstimateFlag[] = []
  if (!lane || lane.quotes.length === 0) flags.push('unseen_lane')
  else if (lane.decided === 0) flags.push('no_decided_quotes')
  else if (lane.byPrice < FEW_QUOTES) flags.push('few_quotes')
  if (lane && lane.decided > 0) {
    if (lane.won === lane.decided) flags.push('all_won')
    if (lane.won === 0) flags.push('all_lost')
    if (lane.decided > 1 && new Set(lane.quotes.map((quote) => quote.rateCents)).size === 1)
      flags.push('one_rate')
  }
  const reasons = new Set(lane?.leftOut.map(({ reason }) => reason))
  if (reasons.has('outlier')) flags.push('outliers_left_out')
  if (reasons.has('bad_rate')) flags.push('bad_rates_left_out')
  if (reasons.has('future')) flags.push('future_quotes_left_out')
  return flags
}

/** The decided quotes of a lane in an answer: each load once. */
function countsOf(lane: LaneFold | null): Pick<OfferExplanation, 'decided' | 'won' | 'lostForOtherReasons'> {
  return {
    decided: (lane?.decided ?? 0) - (lane?.refused ?? 0),
    won: lane?.won ?? 0,
    lostForOtherReasons: lane?.other ?? 0,
  }
}

function withQuotes(knots: Knots, quotes: readonly { x: number; won: boolean; weight: number }[]): Knots {
  const copy = { wins: knots.wins.slice(), losses: knots.losses.slice() }
  for (const quote of quotes) addQuote(copy, quote)
  return copy
}

/** The points are that far from the going rate in ln(rate), even on a lane whose position on the curve changes more slowly. */
function curveOf(
  { posterior, referenceCents, priceWeight }: LaneWinCurve,
  intervals: IntervalCurve,
  lane: { offerRateCents: number; quotes: LaneFold['quotes'] },
): CurvePoint[] {
  const offer = relativeRate(lane.offerRateCents, referenceCents)
  const first = Math.floor(
    clip(Math.min(-CURVE_HALF_WIDTH, offer), -CURVE_LIMIT, CURVE_LIMIT) / CURVE_STEP + 1e-9,
  )
  const last = Math.ceil(
    clip(Math.max(CURVE_HALF_WIDTH, offer), -CURVE_LIMIT, CURVE_LIMIT) / CURVE_STEP - 1e-9,
  )
  const nearby = new Map<number, { won: number; lost: number; pending: number }>()
  for (const quote of lane.quotes) {
    const place = clip(Math.round(quote.x / CURVE_STEP), first, last)
    const counts = nearby.get(place) ?? { won: 0, lost: 0, pending: 0 }
    counts[quote.outcome]++
    nearby.set(place, counts)
  }
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const distance = (first + i) * CURVE_STEP
    const x = distance * (distance < 0 ? priceWeight.below : priceWeight.above)
    const mean = winMean(posterior, x)
    return {
      rateCents: referenceCents * Math.exp(distance),
      probability: mean,
      ...intervalsAt(intervals, { x, mean }),
      nearby: nearby.get(first + i) ?? { won: 0, lost: 0, pending: 0 },
    }
  })
}

/** The 80 % interval after five and after fifteen more quotes near this rate, if they are won as often as expected. */
function raisedConfidence(
  lane: { knots: Knots; posteriorFor: PosteriorFor },
  offer: { x: number; probability: number; width80: number },
): RaisedConfidence[] {
  return MORE_QUOTES.map((more) => {
    const knots = withQuotes(lane.knots, [
      { x: offer.x, won: true, weight: more * offer.probability },
      { x: offer.x, won: false, weight: more * (1 - offer.probability) },
    ])
    const then = lane.posteriorFor(knots)
    const [low = 0, high = 1] = winQuantiles(then, offer.x, [0.1, 0.9])
    const interval = withEnds({ low, high }, then.shape.ceiling)
    return {
      moreDecidedQuotes: more,
      width80Now: offer.width80,
      width80Then: Math.min(offer.width80, interval.high - interval.low),
    }
  })
}

function changedAnswers(lane: LaneWinCurve, rateCents: number): ChangedAnswer[] {
  const x = curvePosition(lane, rateCents)
  const afterNext = (won: boolean) =>
    winMean(lane.posteriorFor(withQuotes(lane.knots, [{ x, won, weight: 1 }])), x)
  return [
    { change: 'next_won', probability: afterNext(true) },
    { change: 'next_lost', probability: afterNext(false) },
    {
      change: 'market_up_5_pct',
      probability: chanceOn(lane)(rateCents / (1 + MARKET_MOVE)),
    },
    {
      change: 'market_down_5_pct',
      probability: chanceOn(lane)(rateCents / (1 - MARKET_MOVE)),
    },
  ]
}

function undecidedRange(
  lane: LaneFold | null,
  posteriorFor: PosteriorFor,
  { x, probability }: { x: number; probability: number },
): UndecidedRange | null {
  const pending = (lane?.quotes ?? []).filter(({ outcome }) => outcome === 'pending')
  if (lane === null || pending.length === 0) return null
  const share = lane.byPrice === 0 ? probability : lane.won / lane.byPrice
  const ifWon = (winShare: number) => {
    const settled = pending.flatMap(({ x: at, weight }) => [
      { x: at, won: true, weight: weight * winShare },
      { x: at, won: false, weight: weight * (1 - winShare) },
    ])
    return winMean(posteriorFor(withQuotes(lane.knots, settled)), x)
  }
  return { quotes: pending.length, ifLost: ifWon(0), ifWonAlike: ifWon(share) }
}

/**
 * The calibrated estimate of an offer: the win probability with 80 % and 95 % intervals, the curve around the offer, the rate with
 * the highest expected margin, the share borrowed from other lanes by scope, and the effect of changes.
 *
 * Numbers are never NaN. If no estimate is possible (the brokerage has no quotes, or the offer is not a positive number), the
 * numbers are null and a flag gives the reason. Formulas: docs/estimate-formulas.md.
 *
 * @example explainOffer({ estimator, lane, belief, offerRateCents: 0, costCents: null, optimum: null, missing: null, goingCents: null }).flags // ['bad_offer']
 */
export function explainOffer(offer: OfferToExplain): OfferExplanation {
  const { estimator, lane: identity, belief, missing, goingCents, offerRateCents, costCents, optimum } = offer
  const borrowed = borrowedFrom(estimator, identity)
  const lane = belief?.fold ?? laneOf(estimator, identity.key)
  const known = { lane, goingCents }
  if (!(offerRateCents > 0 && Number.isFinite(offerRateCents)))
    return noAnswer(['bad_offer'], borrowed, known)
  const flags = laneFlags(lane)
  if (belief === null) return noAnswer([missing ?? 'no_quotes', ...flags], borrowed, known)

  const { referenceCents, borrowedShare, posterior, ofAll, knots, posteriorFor } = belief
  const intervals = belief.intervals()
  const x = curvePosition(belief, offerRateCents)
  if (Math.abs(x) > FAR_FROM_REFERENCE) flags.push('far_from_reference')
  const probability = winMean(posterior, x)
  const { interval80, interval95 } = intervalsAt(intervals, { x, mean: probability })

  const ownMargin = costCents === null ? null : expectedMarginCents({ ...belief, costCents }, offerRateCents)
  if (costCents === null) flags.push('no_cost')
  else if (optimum === null) flags.push('no_rate_earns')
  if (optimum?.atEdge) flags.push('optimum_at_edge')
  if (costCents !== null && costCents >= referenceCents) flags.push('cost_above_market')

  return {
    probability,
    interval80,
    interval95,
    referenceRateCents: referenceCents,
    ...countsOf(lane),
    borrowedShare,
    probabilityOfAll: winMean(ofAll, x),
    borrowedFrom: borrowed,
    curve: curveOf(belief, intervals, { offerRateCents, quotes: lane?.quotes ?? [] }),
    expectedMarginCents: ownMargin,
    atStakeCents: optimum && ownMargin !== null ? Math.max(0, optimum.expectedMarginCents - ownMargin) : null,
    optimum,
    flags,
    wouldRaiseConfidence: raisedConfidence(
      { knots, posteriorFor },
      { x, probability, width80: interval80.high - interval80.low },
    ),
    wouldChangeAnswer: changedAnswers(belief, offerRateCents),
    undecided: undecidedRange(lane, posteriorFor, { x, probability }),
  }
}

/** A question about an offer on a lane, without pricing rules, customer and rep. */
export interface OfferQuestion extends Omit<LaneForCustomer, 'customer'> {
  readonly customer?: LaneForCustomer['customer']
  readonly offerRateCents: number
  readonly expectedCostCents: number | null
  /** The lowest rate that the brokerage's rules allow. */
  readonly floorCents?: number | null
}

/**
 * The estimate of an offer from the estimator alone: see `explainOffer`. The service calls `appraise` instead.
 *
 * @example estimateOffer({ estimator, lane, offerRateCents: 0, miles: null, expectedCostCents: null }).flags // ['bad_offer']
 */
export function estimateOffer(question: OfferQuestion): OfferExplanation {
  const { estimator, lane, offerRateCents, expectedCostCents: cost, floorCents = null } = question
  const costCents = cost !== null && Number.isFinite(cost) && cost > 0 ? cost : null
  const belief = laneWinCurve({ customer: null, ...question })
  const optimum =
    belief === null || costCents === null ? null : earningRate(bestRate({ ...belief, costCents, floorCents }))
  const goingCents = belief?.referenceCents ?? null
  return explainOffer({
    estimator,
    lane,
    belief,
    missing: null,
    goingCents,
    offerRateCents,
    costCents,
    optimum,
  })
}
