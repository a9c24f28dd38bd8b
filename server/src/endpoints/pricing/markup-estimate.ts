import type { Static } from 'typebox'
import type { CurvePoint, Estimate, MarginRisk, Optimum } from '#contract/estimate.ts'
import type { AppliedRules } from '#contract/pricing-rules.ts'
import { identityOf, type PreparedAdvice } from '#engine/book/quote-book.ts'
import type { ScopeQuote } from '#engine/book/scope-counts.ts'
import type { ErrorSpread } from '#engine/estimate/cost-errors.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { estimateOffer, type OfferEstimate } from '#engine/estimate/estimate-offer.ts'
import { laneInSteps } from '#engine/estimate/estimator.ts'
import {
  type CostModel,
  costsAhead,
  type ExpectedCost,
  errorSpread,
  expectedCost,
  seasonOf,
} from '#engine/estimate/expected-cost.ts'
import type { Interval } from '#engine/estimate/interval.ts'
import { marginAtRisk, riskSentence } from '#engine/estimate/margin-at-risk.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import { reachDays } from '#engine/estimate/reach.ts'
import { daysSince, quotesUsed, trustOf } from '#engine/estimate/trust.ts'
import { isWeekend, weekendSentence } from '#engine/estimate/weekend-pickup.ts'
import { dollarsFromCents, dollarsIfKnown, formatDollars } from '#engine/money.ts'
import {
  type Experiment,
  permitsExperiment,
  type Suggestion,
  suggestionOf,
} from '#engine/pilot/experiment.ts'
import type { Place } from '#engine/place.ts'
import {
  type AppliedRules as AppliedTerms,
  applyRules,
  type PricingRule,
} from '#engine/rules/pricing-rules.ts'
import { median } from '#engine/statistics/median.ts'
import { factsOf, type QuoteParties } from '../../book/index.ts'
import { knownOrFolded, lanePlaces } from '../../lanes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { rulesAnswer } from './applied-rules.ts'
import { customerAnswer, type OfferCustomer } from './offer-customer.ts'

/** Hauls below this many miles are priced per day, so their rate per mile says little. */
export const shortHaulMiles = 250
/** The relative difference of the lower and the higher rate from the offer. */
const otherRateShare = 0.03

interface Offer {
  readonly origin: Place
  readonly destination: Place
  /** Null for all types. */
  readonly equipmentCode: string | null
  readonly proposedRateCents: number
  /** The truck cost that the caller expects; null to use the one expected from AP history. */
  readonly costCents?: number | null
  /** Null or absent if unknown. */
  readonly pickupDate?: string | null
  /** Null for all customers. */
  readonly customer?: OfferCustomer | null
}

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

/** The most quoted equipment type of the city pair, for an offer without one. */
function commonestEquipment(history: readonly ScopeQuote[]): string | null {
  const counts = new Map<string, number>()
  for (const { equipmentCode } of history) counts.set(equipmentCode, (counts.get(equipmentCode) ?? 0) + 1)
  return (
    [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1))[0]?.[0] ?? null
  )
}

function milesOf(
  offer: Pick<Offer, 'origin' | 'destination'>,
  history: readonly ScopeQuote[],
): number | null {
  const stated = history.flatMap(({ miles }) => (miles === null ? [] : [miles]))
  if (stated.length > 0) return median(stated)
  return lanePlaces(offer.origin, offer.destination, null).miles ?? null
}

interface Circumstances {
  readonly rules: readonly PricingRule[]
  readonly parties: QuoteParties
  readonly now: number
  readonly experiment: Experiment | null
}

function laneOf(offer: Pick<Offer, 'origin' | 'destination'>, equipmentCode: string | null) {
  const [origin, destination] = [knownOrFolded(offer.origin), knownOrFolded(offer.destination)]
  return identityOf({
    originKey: origin.key,
    destinationKey: destination.key,
    originState: origin.state,
    destinationState: destination.state,
    equipmentCode,
  })
}

/** What is known about an offer whatever its rate: its lane, its miles, its expected cost, and the rules that apply. */
export async function offerFacts(
  { estimator, costs }: PreparedAdvice,
  offer: Omit<Offer, 'proposedRateCents'>,
  history: readonly ScopeQuote[],
  circumstances: Pick<Circumstances, 'rules' | 'parties'>,
) {
  const equipmentCode = offer.equipmentCode ?? commonestEquipment(history)
  const lane = laneOf(offer, equipmentCode)
  const miles = milesOf(offer, history)
  // A lane with many quotes takes long, so the work yields between steps.
  const fold = await yieldBetweenSteps(laneInSteps(estimator, lane.key))
  const load = { costKeys: lane.costKeys, miles, weekendPickup: isWeekend(offer.pickupDate ?? null) }
  const cost = expectedCost(costs, load)
  const known = { equipmentCode, miles, cost, decided: fold?.decided ?? 0 }
  return {
    equipmentCode,
    miles,
    fold,
    cost,
    load,
    applied: rulesFor(offer, known, circumstances),
    question: { estimator, lane, miles, customer: offer.customer ?? null },
  }
}

export async function estimatedOffer(
  model: PreparedAdvice,
  offer: Offer,
  history: readonly ScopeQuote[],
  circumstances: Circumstances,
): Promise<EstimatedOffer> {
  const { rules, now, experiment } = circumstances
  const { costs } = model
  const { equipmentCode, miles, fold, cost, load, applied, question } = await offerFacts(
    model,
    offer,
    history,
    circumstances,
  )
  const { lane } = question
  const estimate = estimateOffer({
    ...question,
    offerRateCents: offer.proposedRateCents,
    expectedCostCents: offer.costCents ?? cost?.costCents ?? null,
    floorCents: applied.minimum?.rateCents ?? null,
  })
  const leftOut = new Set(fold?.leftOut.map(({ laneId }) => laneId))
  const ofLane = history.filter((quote) => quote.equipmentCode === equipmentCode)
  const used = quotesUsed(ofLane, leftOut, now)
  const flags = flagsOf(estimate, { history, miles, cost, now })
  const others = atOtherRates(estimate, offer.proposedRateCents)
  return {
    estimate: {
      probability: estimate.probability,
      interval_80: estimate.interval80 === null ? null : interval(estimate.interval80),
      interval_95: estimate.interval95 === null ? null : interval(estimate.interval95),
      reference_rate: dollarsIfKnown(estimate.referenceRateCents),
      equipment: equipmentCode,
      miles,
      decided: estimate.decided,
      won: estimate.won,
      used: {
        decided: used.decided,
        won: used.won,
        newest_quoted_at: used.newestAt === null ? null : new Date(used.newestAt).toISOString(),
      },
      ...customerAnswer(offer, estimate),
      trust: trustOf({
        interval80: estimate.interval80,
        borrowedShare: estimate.borrowedShare,
        newestDays: used.newestAt === null ? null : daysSince(used.newestAt, now),
      }),
      borrowed_share: estimate.borrowedShare,
      borrowed_from: estimate.borrowedFrom.map((from) => ({ ...from })),
      expected_cost: cost === null ? null : costAnswer(cost, costs, load),
      expected_margin: dollarsIfKnown(estimate.expectedMarginCents),
      flags,
      would_raise_confidence: estimate.wouldRaiseConfidence.map((raised) => ({
        more_decided_quotes: raised.moreDecidedQuotes,
        width_80_now: raised.width80Now,
        width_80_then: raised.width80Then,
      })),
      would_change_answer: estimate.wouldChangeAnswer.map((changed) => ({ ...changed })),
      undecided: undecidedAnswer(estimate),
      at_other_rates: others,
      sentence: sentence(estimate, offer.proposedRateCents, used.decided),
    },
    curve: estimate.curve.map(pointAnswer),
    optimum: optimumAnswer(
      estimate,
      experiment === null || !permitsExperiment(rules)
        ? null
        : suggestionOf(experiment, { lane: lane.key, day: dayOf(now), optimum: estimate.optimum }),
    ),
    rules: rulesAnswer(applied, {
      rateCents: offer.proposedRateCents,
      bestCents: estimate.optimum?.rateCents ?? estimate.referenceRateCents,
    }),
    risk: riskAnswer(offer, cost, errorSpread(costs, lane.costKeys)),
  }
}

/** The conditions that limit the estimate. */
function flagsOf(
  estimate: OfferEstimate,
  {
    history,
    miles,
    cost,
    now,
  }: {
    readonly history: readonly ScopeQuote[]
    readonly miles: number | null
    readonly cost: ExpectedCost | null
    readonly now: number
  },
): string[] {
  const newest = history.at(-1)
  const onlyOld = newest !== undefined && newest.quotedAt < now - reachDays * 86_400_000
  return [
    ...estimate.flags,
    ...(onlyOld ? ['only_old_quotes'] : []),
    ...(isBeyondQuotes(estimate.optimum, history) ? ['optimum_beyond_quotes'] : []),
    ...(miles === null ? ['miles_unknown'] : miles < shortHaulMiles ? ['short_haul'] : []),
    ...(cost !== null && !cost.ownCurve ? ['default_cost_curve'] : []),
  ]
}

/** The rules that apply to an offer. */
function rulesFor(
  offer: Omit<Offer, 'proposedRateCents'>,
  known: {
    readonly equipmentCode: string | null
    readonly miles: number | null
    readonly cost: ExpectedCost | null
    readonly decided: number
  },
  { rules, parties }: { readonly rules: readonly PricingRule[]; readonly parties: QuoteParties },
): AppliedTerms {
  const [origin, destination] = [knownOrFolded(offer.origin), knownOrFolded(offer.destination)]
  const { miles, cost } = known
  const lane = {
    origin_key: origin.key,
    destination_key: destination.key,
    origin_state: origin.state,
    destination_state: destination.state,
    origin_market: origin.market,
    destination_market: destination.market,
    equipment_code: known.equipmentCode,
    miles,
  }
  const entered = offer.costCents ?? null
  return applyRules(rules, factsOf(lane, parties, known.decided), {
    enteredCents: entered !== null && entered > 0 ? entered : null,
    expectedCents: isOwnCost(cost) ? cost.costCents : null,
    miles,
  })
}

/** The risk of an offer: around the entered cost, else around the expected one if it says something about the brokerage. */
function riskAnswer(
  { costCents: entered = null, proposedRateCents }: Offer,
  expected: ExpectedCost | null,
  spread: ErrorSpread,
): Static<typeof MarginRisk> | null {
  const isEntered = entered !== null && entered > 0
  const costCents = isEntered ? entered : isOwnCost(expected) ? expected.costCents : null
  if (costCents === null || !(proposedRateCents > 0)) return null
  const risk = marginAtRisk({ costCents, spread }, proposedRateCents)
  const { lowCents, medianCents, highCents } = risk.margin
  return {
    cost: dollarsFromCents(costCents),
    cost_source: isEntered ? 'entered' : 'expected',
    margin: {
      low: dollarsFromCents(lowCents),
      median: dollarsFromCents(medianCents),
      high: dollarsFromCents(highCents),
    },
    loss_chance: Math.round(1e4 * risk.lossChance) / 1e4,
    safe_rate: dollarsFromCents(risk.safeRateCents),
    costs: risk.costs.map(({ share, cents }) => ({ share, amount: dollarsFromCents(cents) })),
    own_loads: risk.ownErrors,
    sentence: riskSentence(risk, proposedRateCents),
  }
}

function undecidedAnswer({ undecided }: OfferEstimate): Static<typeof Estimate>['undecided'] {
  if (undecided === null) return null
  return { quotes: undecided.quotes, if_lost: undecided.ifLost, if_won_alike: undecided.ifWonAlike }
}

function pointAnswer(point: OfferEstimate['curve'][number]): Static<typeof CurvePoint> {
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
    ahead: costsAhead(costs, lane).map((ahead) => ({
      days: ahead.days,
      amount: dollarsFromCents(ahead.costCents),
      low: dollarsFromCents(ahead.lowCents),
      high: dollarsFromCents(ahead.highCents),
      season_pct: ahead.season === null ? null : Math.round(1000 * Math.expm1(ahead.season)) / 10,
    })),
    ...weekendAnswer(costs, lane),
    season: seasonOf(costs),
  }
}

function weekendAnswer({ weekend }: CostModel, { weekendPickup }: Parameters<typeof costsAhead>[1]) {
  const sentence = weekendPickup === true ? weekendSentence(weekend) : null
  if (sentence === null) return {}
  return { weekend: { pct: Math.round(1000 * Math.expm1(weekend.effect)) / 10, sentence } }
}

function optimumAnswer(
  { optimum, atStakeCents }: OfferEstimate,
  suggested: Suggestion | null,
): Static<typeof Optimum> | null {
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
    ...(suggested === null
      ? {}
      : { experiment: { arm: suggested.arm, rate: dollarsFromCents(suggested.rateCents) } }),
  }
}

/** True when the best rate is outside the range of the lane's quotes, where the curve is extrapolated. */
function isBeyondQuotes(optimum: OfferEstimate['optimum'], history: readonly ScopeQuote[]): boolean {
  const priced = history.filter(({ rateCents }) => rateCents > 0)
  if (optimum === null || priced.length === 0) return false
  return (
    priced.every(({ rateCents }) => rateCents < optimum.rateCents) ||
    priced.every(({ rateCents }) => rateCents > optimum.rateCents)
  )
}

/** The curve's points about 3% below and above the offer, which show the effect of a cheaper or dearer quote. */
function atOtherRates(estimate: OfferEstimate, offerCents: number) {
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

/** The interval in words. An end at 0% or 100% is left open, so that no win or loss sounds certain. */
function spokenRange({ low, high }: Interval): string {
  if (low <= 0 && high >= 1) return 'which could be anything'
  if (high >= 1) return `at least ${percent(low)}`
  if (low <= 0) return `at most ${percent(high)}`
  return `between ${percent(low)} and ${percent(high)}`
}

/** One sentence from the fields of the estimate, with its range and its basis. */
function sentence(estimate: OfferEstimate, offerCents: number, used: number): string {
  const { probability, interval80, decided, borrowedShare } = estimate
  if (probability === null || interval80 === null) {
    return 'There is no estimate: this brokerage has no quotes to learn from yet.'
  }
  const basis =
    used === 0
      ? 'entirely from your other lanes'
      : `from ${used} decided ${used === 1 ? 'quote' : 'quotes'} on this lane, ${percent(borrowedShare ?? 1)} borrowed from your other lanes`
  const age = used === 0 && decided > 0 ? "; this lane's own decided quotes are too old to count" : ''
  return `An estimated ${percent(probability)} of quotes at ${formatDollars(offerCents)} win, ${spokenRange(interval80)} with 80% confidence, ${basis}${age}.`
}
