import type { Static } from 'typebox'
import type { CurvePoint, Estimate, MarginRisk, Optimum } from '#contract/estimate.ts'
import type { AppliedRules } from '#contract/pricing-rules.ts'
import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import type { ScopeQuote } from '#engine/book/scope-counts.ts'
import { borrowedType } from '#engine/estimate/borrowed-type.ts'
import type { ErrorSpread } from '#engine/estimate/cost-errors.ts'
import type { OfferExplanation } from '#engine/estimate/estimate-offer.ts'
import {
  type CostModel,
  costsAhead,
  type ExpectedCost,
  errorSpread,
  seasonOf,
} from '#engine/estimate/expected-cost.ts'
import type { NoGround } from '#engine/estimate/ground.ts'
import type { Interval } from '#engine/estimate/interval.ts'
import { marginAtRisk, riskSentence } from '#engine/estimate/margin-at-risk.ts'
import { reachDays } from '#engine/estimate/reach.ts'
import { daysSince, nearbyDecided, quotesUsed, trustOf } from '#engine/estimate/trust.ts'
import { dollarsFromCents, dollarsIfKnown, formatDollars } from '#engine/money.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { NamedCustomer } from '../../book/index.ts'
import { rulesAnswer } from './applied-rules.ts'
import type { AppraisedOffer } from './appraise-offer.ts'

/** Hauls below this many miles are priced per day, so their rate per mile says little. */
export const shortHaulMiles = 250
/** How far the lower and the higher rate are from the offer, as a fraction of it. */
const otherRateShare = 0.03

/** The estimate of an offer. Its members are four extras of markup. */
export interface EstimatedOffer {
  readonly estimate: Static<typeof Estimate>
  readonly curve: Static<typeof CurvePoint>[]
  readonly optimum: Static<typeof Optimum> | null
  readonly rules: Static<typeof AppliedRules>
  /** Null if no truck cost is known. */
  readonly risk: Static<typeof MarginRisk> | null
}

const interval = ({ low, high }: Interval) => ({ low, high })

/**
 * An appraised offer at a rate, in the form of the API.
 *
 * @param rateCents in US dollars on the basis of the brokerage
 */
export function estimatedOffer(offer: AppraisedOffer, rateCents: number, now: number): EstimatedOffer {
  const { appraisal, history, equipmentCode, customer } = offer
  const estimate = appraisal.explain(rateCents)
  const { models } = appraisal
  if (estimate === null || models === null) throw new Error('An estimate needs the book of its brokerage.')
  const { costs } = models
  const leftOut = new Set(appraisal.belief?.fold?.leftOut.map(({ quoteId }) => quoteId))
  const ofLane = history.filter((quote) => quote.equipmentCode === equipmentCode)
  const used = quotesUsed(ofLane, leftOut, now)
  const { load, expected } = appraisal
  const pool = poolAnswer(appraisal, models, estimate)
  return {
    estimate: {
      pool,
      probability: estimate.probability,
      interval_80: estimate.interval80 === null ? null : interval(estimate.interval80),
      interval_95: estimate.interval95 === null ? null : interval(estimate.interval95),
      reference_rate: dollarsIfKnown(estimate.referenceRateCents),
      equipment: equipmentCode,
      miles: appraisal.miles,
      decided: estimate.decided,
      won: estimate.won,
      used: {
        decided: used.decided,
        won: used.won,
        newest_quoted_at: used.newestAt === null ? null : new Date(used.newestAt).toISOString(),
      },
      losses: {
        lost: estimate.decided - estimate.won,
        not_about_price: estimate.lostForOtherReasons,
        about_price_share: rounded(models.estimator.otherLosses.mislabeled),
      },
      ...customerAnswer(customer, estimate, appraisal.facts.rateType),
      trust: trustOf({
        interval80: estimate.interval80,
        borrowedShare: estimate.borrowedShare,
        newestDays: used.newestAt === null ? null : daysSince(used.newestAt, now),
        nearby: nearbyDecided(used, estimate.borrowedFrom),
      }),
      borrowed_share: estimate.borrowedShare,
      borrowed_from: estimate.borrowedFrom.map((from) => ({ ...from })),
      expected_cost: expected === null ? null : costAnswer(expected, costs, load),
      expected_margin: dollarsIfKnown(estimate.expectedMarginCents),
      flags: flagsOf(estimate, offer, now),
      would_raise_confidence: estimate.wouldRaiseConfidence.map((raised) => ({
        more_decided_quotes: raised.moreDecidedQuotes,
        width_80_now: raised.width80Now,
        width_80_then: raised.width80Then,
      })),
      would_change_answer: estimate.wouldChangeAnswer.map((changed) => ({ ...changed })),
      undecided: undecidedAnswer(estimate),
      at_other_rates: atOtherRates(estimate, rateCents),
      sentence: sentence(estimate, rateCents, { used: used.decided, pool }),
    },
    curve: estimate.curve.map(pointAnswer),
    optimum: optimumAnswer(estimate),
    rules: rulesAnswer(appraisal, rateCents),
    risk: riskAnswer(appraisal, rateCents, errorSpread(costs, appraisal.lane.costKeys)),
  }
}

/** Rounds a probability or share to thousandths. */
const rounded = (share: number) => Math.round(1000 * share) / 1000

function poolAnswer(
  { facts: { rateType }, lane }: Appraisal,
  models: NonNullable<Appraisal['models']>,
  { borrowedShare }: OfferExplanation,
): Static<typeof Estimate>['pool'] {
  const found = borrowedType(models.estimator, lane, borrowedShare ?? 1)
  return {
    rate_type: rateType,
    answered_by: models.rateType,
    borrowed:
      found === null
        ? null
        : {
            curve_share: rounded(found.curveShare),
            rate_share: rounded(found.rateShare),
            outcome_weight: rounded(found.weight),
            rate_difference_pct: Math.round(1000 * Math.expm1(found.rateOffset)) / 10,
            lanes_of_both: found.lanesOfBoth,
          },
  }
}

function customerAnswer(
  customer: NamedCustomer | null,
  { probabilityOfAll }: OfferExplanation,
  rateType: RateType,
): Pick<Static<typeof Estimate>, 'customer'> {
  if (customer === null || customer.effects === null) return {}
  const { effects, spread } = customer.effects[rateType]
  const effect = customer.hash === null ? undefined : effects.get(customer.hash)
  return {
    customer: {
      name: customer.name,
      decided: effect?.decided ?? 0,
      won: effect?.won ?? 0,
      differ: spread > 0,
      probability_of_all: probabilityOfAll,
    },
  }
}

/** The conditions that limit the estimate. */
function flagsOf(
  estimate: OfferExplanation,
  { appraisal: { miles, expected }, history }: AppraisedOffer,
  now: number,
): string[] {
  const newest = history.at(-1)
  const onlyOld = newest !== undefined && newest.quotedAt < now - reachDays * 86_400_000
  return [
    ...estimate.flags,
    ...(onlyOld ? ['only_old_quotes'] : []),
    ...(isBeyondQuotes(estimate.optimum, history) ? ['optimum_beyond_quotes'] : []),
    ...(miles === null ? ['miles_unknown'] : miles < shortHaulMiles ? ['short_haul'] : []),
    ...(expected !== null && !expected.ownCurve ? ['default_cost_curve'] : []),
  ]
}

/** The risk of an offer around its cost; null if none is known. */
function riskAnswer(
  { cost }: Appraisal,
  rateCents: number,
  spread: ErrorSpread,
): Static<typeof MarginRisk> | null {
  if (cost === null || !(rateCents > 0)) return null
  const risk = marginAtRisk({ costCents: cost.cents, spread }, rateCents)
  const { lowCents, medianCents, highCents } = risk.margin
  return {
    cost: dollarsFromCents(cost.cents),
    cost_source: cost.source,
    margin: {
      low: dollarsFromCents(lowCents),
      median: dollarsFromCents(medianCents),
      high: dollarsFromCents(highCents),
    },
    loss_chance: Math.round(1e4 * risk.lossChance) / 1e4,
    safe_rate: dollarsFromCents(risk.safeRateCents),
    costs: risk.costs.map(({ share, cents }) => ({ share, amount: dollarsFromCents(cents) })),
    own_loads: risk.ownErrors,
    sentence: riskSentence(risk, rateCents),
  }
}

function undecidedAnswer({ undecided }: OfferExplanation): Static<typeof Estimate>['undecided'] {
  if (undecided === null) return null
  return { quotes: undecided.quotes, if_lost: undecided.ifLost, if_won_alike: undecided.ifWonAlike }
}

function pointAnswer(point: OfferExplanation['curve'][number]): Static<typeof CurvePoint> {
  return {
    rate: dollarsFromCents(point.rateCents),
    probability: point.probability,
    interval_80: interval(point.interval80),
    interval_95: interval(point.interval95),
    nearby: { ...point.nearby },
  }
}

function costAnswer(
  cost: ExpectedCost,
  costs: CostModel,
  lane: Parameters<typeof costsAhead>[1],
): NonNullable<Static<typeof Estimate>['expected_cost']> {
  return {
    amount: dollarsFromCents(cost.costCents),
    low: dollarsFromCents(cost.lowCents),
    high: dollarsFromCents(cost.highCents),
    own_loads: cost.ownLoads,
    own_curve: cost.ownCurve,
    borrowed_share: rounded(cost.borrowed),
    ahead: costsAhead(costs, lane).map((ahead) => ({
      days: ahead.days,
      amount: dollarsFromCents(ahead.costCents),
      low: dollarsFromCents(ahead.lowCents),
      high: dollarsFromCents(ahead.highCents),
      season_pct: ahead.season === null ? null : Math.round(1000 * Math.expm1(ahead.season)) / 10,
    })),
    season: seasonOf(costs),
  }
}

function optimumAnswer({ optimum, atStakeCents }: OfferExplanation): Static<typeof Optimum> | null {
  if (optimum === null) return null
  return {
    rate: dollarsFromCents(optimum.rateCents),
    win_probability: optimum.winProbability,
    expected_margin: dollarsFromCents(optimum.expectedMarginCents),
    flat_zone: {
      low: dollarsFromCents(optimum.flatZone.lowCents),
      high: dollarsFromCents(optimum.flatZone.highCents),
    },
    at_edge: optimum.atEdge,
    floor: dollarsIfKnown(optimum.floorCents),
    floored_rate: dollarsFromCents(optimum.flooredRateCents),
    floored_expected_margin: dollarsFromCents(optimum.flooredExpectedMarginCents),
    at_stake: dollarsFromCents(atStakeCents ?? 0),
  }
}

/** True when the best rate is outside the range of the lane's quotes, where the curve is extrapolated. */
function isBeyondQuotes(optimum: OfferExplanation['optimum'], history: readonly ScopeQuote[]): boolean {
  const priced = history.filter(({ rateCents }) => rateCents > 0)
  if (optimum === null || priced.length === 0) return false
  return (
    priced.every(({ rateCents }) => rateCents < optimum.rateCents) ||
    priced.every(({ rateCents }) => rateCents > optimum.rateCents)
  )
}

/** The curve's points about 3% below and above the offer, which show the effect of a cheaper or dearer quote. */
function atOtherRates(estimate: OfferExplanation, offerCents: number) {
  const { probability } = estimate
  if (probability === null) return []
  const nearest = (cents: number) =>
    estimate.curve.toSorted(
      (one, other) => Math.abs(one.rateCents - cents) - Math.abs(other.rateCents - cents),
    )[0]
  const lower = nearest(offerCents * (1 - otherRateShare))
  const higher = nearest(offerCents * (1 + otherRateShare))
  return [lower, higher]
    .filter((point) => point !== undefined)
    .filter((point) => (point === lower ? point.rateCents < offerCents : point.rateCents > offerCents))
    .map((point) => ({
      rate: dollarsFromCents(point.rateCents),
      probability: point.probability,
      points: Math.round((point.probability - probability) * 1000) / 10,
      dollars: dollarsFromCents(Math.round(point.rateCents) - offerCents),
    }))
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

/** The interval in words. An end at 0% or 100% is not named, so that no win or loss sounds certain. */
function spokenRange({ low, high }: Interval): string {
  if (low <= 0 && high >= 1) return 'which could be anything'
  if (high >= 1) return `at least ${percent(low)}`
  if (low <= 0) return `at most ${percent(high)}`
  return `between ${percent(low)} and ${percent(high)}`
}

/** The share of the estimate that comes from quotes of the other rate type, in words. Empty if it is below 1%. */
function ofOtherType({ rate_type, answered_by, borrowed }: Static<typeof Estimate>['pool']): string {
  if (rate_type !== answered_by)
    return `; all of it from ${answered_by} quotes, because there are no ${rate_type} quotes`
  const share = Math.max(borrowed?.curve_share ?? 0, borrowed?.rate_share ?? 0)
  if (share < 0.01) return ''
  return `; up to ${percent(share)} from ${rate_type === 'spot' ? 'contract' : 'spot'} quotes`
}

/** How many losses of the lane were not about price, as a sentence. Empty if all were. */
function otherLosses({ decided, won, lostForOtherReasons: other }: OfferExplanation): string {
  const lost = decided - won
  if (other === 0) return ''
  return ` ${other} of ${lost} ${lost === 1 ? 'loss was' : `losses ${other === 1 ? 'was' : 'were'}`} not about price.`
}

/** That there is no rate to quote, as a sentence. Empty if there is one, or if no cost is known. */
function unpaidCost({ flags }: OfferExplanation): string {
  return flags.includes('no_rate_earns')
    ? ' There is no rate to quote: the cost is above all rates that this lane is likely to pay. A lower cost would change that.'
    : ''
}

/** Why there is no chance and no rate to quote, and what would change it. */
const noGroundWords = {
  no_quotes: 'There is no estimate: this brokerage has no quotes to learn from yet.',
  no_ground:
    'There is not enough to go on: an end of this lane is not a known place, and it has fewer than 5 answered quotes.',
  no_outcomes:
    'There is not enough to go on: none of your quotes is won or lost yet. Mark or import quotes that were won and quotes that were lost on price.',
  only_won:
    'There is not enough to go on: none of your quotes was lost on price, so no rate is known to be too high. Mark or import lost quotes, too.',
  only_lost:
    'There is not enough to go on: none of your quotes was won, so no rate is known to win. Mark or import won quotes, too.',
} as const satisfies Record<NoGround, string>

function noGroundInWords(flags: OfferExplanation['flags']): string {
  const missing = (Object.keys(noGroundWords) as NoGround[]).find((flag) => flags.includes(flag))
  return noGroundWords[missing ?? 'no_quotes']
}

/** One sentence from the fields of the estimate, with its range and its basis. */
function sentence(
  estimate: OfferExplanation,
  offerCents: number,
  { used, pool }: { readonly used: number; readonly pool: Static<typeof Estimate>['pool'] },
): string {
  const { probability, interval80, decided, borrowedShare } = estimate
  if (probability === null || interval80 === null) {
    return noGroundInWords(estimate.flags)
  }
  const basis =
    used === 0
      ? 'entirely from your other lanes'
      : `from ${used} decided ${used === 1 ? 'quote' : 'quotes'} on this lane, ${percent(borrowedShare ?? 1)} borrowed from your other lanes`
  const age = used === 0 && decided > 0 ? "; this lane's own decided quotes are too old to count" : ''
  return `An estimated ${percent(probability)} of quotes at ${formatDollars(offerCents)} win, ${spokenRange(interval80)} with 80% confidence, ${basis}${age}${ofOtherType(pool)}.${otherLosses(estimate)}${unpaidCost(estimate)}`
}
