import { identityOf, type LanePlaces } from '../book/quote-book.ts'
import { confidence } from '../confidence.ts'
import { earningRate, type Optimum } from '../estimate/best-rate.ts'
import { laneInSteps } from '../estimate/current-lane.ts'
import { explainOffer, type OfferExplanation } from '../estimate/estimate-offer.ts'
import type { Estimator } from '../estimate/estimator.ts'
import {
  type CostModel,
  type ExpectedCost,
  expectedCost,
  type LoadToCost,
} from '../estimate/expected-cost.ts'
import { isPlaced, missingOutcomes, type NoGround } from '../estimate/ground.ts'
import { intervalsAt } from '../estimate/interval.ts'
import { referenceRateCents } from '../estimate/lane-reference.ts'
import { type LaneWinCurve, laneWinCurve, type OfferCustomer } from '../estimate/lane-win-curve.ts'
import { bestRate, chanceOn } from '../estimate/optimum.ts'
import { outcomesBehind } from '../estimate/outcomes-behind.ts'
import { isOwnCost } from '../estimate/own-cost.ts'
import { type ModelsByType, modelsFor, type PreparedModels } from '../estimate/prepared-models.ts'
import { curvePosition } from '../estimate/price-response.ts'
import { fuelOfMiles } from '../fuel-surcharge.ts'
import type { LaneIdentity } from '../quotes/lane-identity.ts'
import {
  type AmountConversion,
  type AmountTerms,
  amountConversion,
  convertedCents,
  type RateBasis,
} from '../rate-basis.ts'
import type { RateType } from '../rate-type.ts'
import { type RateWarning, rateWarnings } from '../rate-warnings.ts'
import { laneWinRate } from '../recorded-forecast.ts'
import {
  type AppliedRules,
  checkRate,
  checkUnknownRate,
  limitsOf,
  type PricingRule,
  type RuleCosts,
  type RuleVerdict,
  termsFor,
} from '../rules/pricing-rules.ts'
import type { QuoteFacts } from '../rules/rule-conditions.ts'
import { median } from '../statistics/median.ts'
import type { Steps } from '../steps.ts'
import { decidedMiles, type KnownMiles } from './decided-miles.ts'
import { type RatesToQuote, ratesToQuote } from './rates-to-quote.ts'
import { type Chance, type DayCharges, dayShown, type ShownAppraisal } from './shown-appraisal.ts'

/** The customer of a quote, and the rep who makes it. */
export interface QuoteParties extends Pick<QuoteFacts, 'customerKeys' | 'tier' | 'repId' | 'teamIds'> {
  /** Null means the brokerage's default. */
  readonly rateType: RateType | null
}

/** The settings of a brokerage that decide about rates. */
export interface AppraisalSettings {
  readonly rules: readonly PricingRule[]
  /** Linehaul or all-in: the basis of the brokerage's statistics and of all amounts of an appraisal, in US dollars. */
  readonly basis: RateBasis
  /** The rate type of quotes that do not state one. */
  readonly rateType: RateType
}

/** A quote to appraise. It has no rate: `Appraisal.at` judges rates. */
export interface QuoteToAppraise {
  readonly lane: Omit<LanePlaces, 'equipmentCode'> & {
    /** Null if not known; then rules for an equipment do not apply. */
    readonly equipmentCode: string | null
  }
  readonly miles: KnownMiles
  readonly parties: QuoteParties
  /** Null gives an estimate for customers in general. */
  readonly customer: OfferCustomer | null
  /** What the rate and the cost include, and their currency. */
  readonly terms: AmountTerms
  readonly day: DayCharges
  /** The truck cost that somebody entered, on `terms`; null or 0 if nobody did. */
  readonly enteredCents: number | null
  /** For a past quote: the cost expected when it was made (null: none). It replaces today's expected cost. */
  readonly expectedThenCents?: number | null
  /** The appraisal that a person saw, to judge the quote by it; null or absent: by current quotes and rules. */
  readonly shown?: ShownAppraisal | null
  /** Epoch milliseconds. */
  readonly now: number
}

/** A rate for an appraised quote, and what the service says about it. */
export interface AppraisedRate {
  /** The rate in US dollars on the basis of the brokerage; null if it cannot be converted. */
  readonly rateCents: number | null
  readonly verdict: RuleVerdict
  /** Null if there is no history to estimate the chance from. */
  readonly chance: Chance | null
  /** Rate minus cost; null without a cost. */
  readonly marginCents: number | null
  /** Reasons to confirm the rate. Empty for a quote in Canadian dollars, because the sentences name US dollars. */
  readonly warnings: readonly RateWarning[]
}

/**
 * All results for one quote. Every advice, check, forecast and text reads them here, so that no two of them differ. Amounts are cents, in
 * US dollars on the brokerage's basis. The cost and the limits of the rules are whole cents.
 */
export interface Appraisal {
  readonly lane: LaneIdentity
  /** The models that the appraisal uses, and their rate type; null without a book. */
  readonly models: (PreparedModels & { readonly rateType: RateType }) | null
  /** Null if unknown. */
  readonly miles: number | null
  /** The miles of the quote itself, which convert its amounts; not the usual ones of its lane. Null if unknown. */
  readonly ownMiles: number | null
  /** The number of decided quotes of the lane that count in the estimate. */
  readonly decided: number
  /** The number of quotes of the lane that count, decided or not. */
  readonly quotes: number
  /** Makes sent amounts comparable; null if a fuel surcharge or an exchange rate that it needs is not known. */
  readonly conversion: AmountConversion | null
  /** The expected cost, even if no load of the brokerage supports it (see `isOwnCost`). Null if unknown. */
  readonly expected: ExpectedCost | null
  /** The load that the cost is expected for. */
  readonly load: LoadToCost
  /**
   * The cost that margins and risks are computed with: the entered cost, else the expected cost if it is the brokerage's own (`isOwnCost`).
   */
  readonly cost: { readonly cents: number; readonly source: 'entered' | 'expected' } | null
  /** The cost that the best rate is computed with: the entered cost, else any expected cost. */
  readonly optimumCostCents: number | null
  readonly facts: QuoteFacts
  readonly costs: RuleCosts
  readonly rules: AppliedRules
  /**
   * The going rate of the lane, in fractional cents. Null if the brokerage has no quotes or does not fit into memory, or if an end is
   * unknown and the lane has fewer than five decided quotes.
   */
  readonly goingCents: number | null
  /** The estimated win curve of the lane. Null if there is not enough to go on: see `NoGround`. */
  readonly belief: LaneWinCurve | null
  /** Null without a cost, without enough to go on, or if no rate earns anything. */
  readonly optimum: Optimum | null
  readonly rates: RatesToQuote
  /** Judges a sent rate, or the rate of a counter-offer, on the terms of the quote. */
  readonly at: (sentCents: number) => AppraisedRate
  /** The estimate at a comparable rate, its explanations and the win curve around it. Null without a book. */
  readonly explain: (rateCents: number) => OfferExplanation | null
  /** The win rate of the lane and its plain forecast (see `laneWinRate`); null without a book. */
  readonly laneWinRate: number | null
  /** What to judge this quote by later, as it is shown now at a comparable rate; null without one. */
  readonly shownAt: (rateCents: number | null) => ShownAppraisal
}

/**
 * What should this load be quoted at, what does it cost, do the rules allow it, and how likely is it won? This function alone decides the
 * distance, the expected cost, the conversion, the rules, the chance and the optimum of a quote. The statistical methods are in `estimate`.
 *
 * Without a book (a brokerage that does not fit into memory), no cost is expected and nothing is estimated; the rules apply as far
 * as they can be computed. In steps, because a lane with many quotes takes long.
 *
 * @example
 * const appraisal = finished(appraise(book, settings, input))
 * appraisal.rules.minimum?.rateCents // 234320, for 12 % over a cost of $2,062.01
 * appraisal.at(225000).verdict.state // 'block'
 */
export function* appraise(
  prepared: ModelsByType | null,
  settings: AppraisalSettings,
  input: QuoteToAppraise,
): Steps<Appraisal> {
  const { rules: given, basis } = settings
  const lane = identityOf(input.lane)
  const book = prepared === null ? null : modelsFor(prepared, input.parties.rateType ?? settings.rateType)
  const from = book?.estimator.borrowing?.from
  if (from !== undefined) yield* laneInSteps(from, lane.key)
  const fold = book === null ? null : yield* laneInSteps(book.estimator, lane.key)
  const shown = input.shown ?? null
  const { load, expected: current } = loadOf(book, lane, input)
  const { expected, miles } = shown ?? { expected: current, miles: load.miles }
  const { day, conversion, entered, costs, optimumCostCents } = amountsOf(input, basis, { expected, miles })
  const facts = factsOf(input, settings, { miles, decided: fold?.decided ?? 0 })
  const terms = shown?.terms ?? termsFor(given, facts)
  const rules = limitsOf(terms, costs)
  const cost = believedCost(costs)
  const { missing, ...going } = groundOf(book, lane, { miles, input, decided: fold?.decided ?? 0 })
  const goingCents = shown === null ? going.goingCents : shown.goingCents
  const priced = { lane, miles, rules, entered, optimumCostCents, goingCents }
  const { known, optimum, rates } = recommendations(missing === null ? book : null, input, priced)
  const quotes = shown?.quotes ?? fold?.quotes.length ?? 0
  const at = (sentCents: number) =>
    rateOf(sentCents, { input: { ...input, day }, basis, conversion, rules, cost, quotes, goingCents, known })
  const winRate = shown?.laneWinRate ?? (book === null ? null : winRateOf(book.estimator, lane))
  return {
    lane,
    models: book,
    miles,
    ownMiles: decidedMiles(input.miles),
    decided: fold?.decided ?? 0,
    quotes,
    conversion,
    expected,
    load,
    cost,
    optimumCostCents,
    facts,
    costs,
    rules,
    goingCents,
    get belief() {
      return known()
    },
    get optimum() {
      return optimum()
    },
    get rates() {
      return rates()
    },
    at,
    explain: (rateCents) =>
      book === null
        ? null
        : explainOffer({
            estimator: book.estimator,
            lane,
            belief: known(),
            missing,
            goingCents,
            offerRateCents: rateCents,
            costCents: optimumCostCents,
            optimum: optimum(),
          }),
    laneWinRate: winRate,
    shownAt: (rateCents) => ({
      ...{ terms, expected, miles, day, quotes, goingCents, laneWinRate: winRate },
      at: rateCents === null ? null : { rateCents, chance: chanceAt(input, known, rateCents) },
      best: { enteredCents: entered, rate: rates().best },
    }),
  }
}

/** The going rate of the lane, and why there is no chance and no rate to quote: see `NoGround`. */
function groundOf(
  book: PreparedModels | null,
  lane: LaneIdentity,
  about: { readonly miles: number | null; readonly input: QuoteToAppraise; readonly decided: number },
): Pick<Appraisal, 'goingCents'> & { readonly missing: NoGround | null } {
  if (book === null) return { goingCents: null, missing: 'no_quotes' }
  const goingCents = referenceRateCents(book.estimator, lane, about.miles)
  if (goingCents === null) {
    return { goingCents, missing: book.estimator.quoted.laneCount === 0 ? 'no_quotes' : 'no_outcomes' }
  }
  if (!isPlaced({ decided: about.decided, isMeasured: about.input.miles.measured !== null })) {
    return { goingCents: null, missing: 'no_ground' }
  }
  return { goingCents, missing: missingOutcomes(book.estimator, lane) }
}

/** The charges of the day, the conversion, and the costs that the rules and the optimum use. */
function amountsOf(
  input: QuoteToAppraise,
  basis: RateBasis,
  { expected, miles }: Pick<Appraisal, 'expected' | 'miles'>,
) {
  const day = dayShown(input.shown ?? null, input.day)
  const conversion = conversionOf({ ...input, day }, basis)
  const entered = enteredOf(input, conversion)
  const then = input.expectedThenCents
  const ownCents = then === undefined ? (isOwnCost(expected) ? expected.costCents : null) : then
  return {
    day,
    conversion,
    entered,
    costs: { enteredCents: entered, expectedCents: ownCents, miles },
    optimumCostCents: entered ?? then ?? expected?.costCents ?? null,
  }
}

/** The plain win rate of the lane, to compare forecasts with. */
function winRateOf(estimator: Estimator, lane: LaneIdentity): number {
  const behind = outcomesBehind(estimator, lane)
  return laneWinRate(behind.lane, behind.all)
}

/** The win curve and the rates that follow from it. They take long, so each is computed when it is first read. */
function recommendations(
  book: PreparedModels | null,
  { customer, shown }: QuoteToAppraise,
  {
    lane,
    miles,
    rules,
    entered,
    optimumCostCents,
    goingCents,
  }: Pick<Appraisal, 'lane' | 'miles' | 'rules' | 'optimumCostCents' | 'goingCents'> & {
    readonly entered: number | null
  },
) {
  const known = once((): LaneWinCurve | null =>
    book === null ? null : laneWinCurve({ estimator: book.estimator, lane, miles, customer }),
  )
  const optimum = once((): Optimum | null => {
    const belief = known()
    const floorCents = rules.minimum?.rateCents ?? null
    if (belief === null || optimumCostCents === null) return null
    return earningRate(bestRate({ ...belief, costCents: optimumCostCents, floorCents }))
  })
  const rates = once((): RatesToQuote => {
    const found = ratesToQuote({
      rules,
      optimum: optimum(),
      goingCents: book === null ? null : goingCents,
      costCents: optimumCostCents,
    })
    return shown == null || shown.best.enteredCents !== entered ? found : { ...found, best: shown.best.rate }
  })
  return { known, optimum, rates }
}

/** Makes a function that computes its value once, at the first call. */
function once<Value>(compute: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: compute() }
    return made.value
  }
}

/** The median of the miles of a lane's quotes, for a lane whose distance is not measured. */
function usualMiles({ quoted }: Estimator, { key }: LaneIdentity): number | null {
  const lane = quoted.laneOf(key)
  const stated: number[] = []
  if (lane === undefined) return null
  quoted.columns.eachRowOf(lane, (row) => {
    const miles = quoted.columns.miles[row]!
    if (!Number.isNaN(miles)) stated.push(miles)
  })
  return median(stated)
}

/**
 * The expected cost of an appraisal, without the rest of it. Null if unknown.
 *
 * @example expectedOf(book, { lane, miles: { typed: null, measured: 781 }, rateType: 'spot' })?.costCents // 171523
 */
export function expectedOf(
  prepared: ModelsByType,
  quote: Pick<QuoteToAppraise, 'lane' | 'miles'> & { readonly rateType: RateType },
): ExpectedCost | null {
  return loadOf(modelsFor(prepared, quote.rateType), identityOf(quote.lane), quote).expected
}

function loadOf(
  book: PreparedModels | null,
  lane: LaneIdentity,
  { miles }: Pick<QuoteToAppraise, 'miles'>,
): { readonly load: LoadToCost; readonly expected: ExpectedCost | null } {
  const counted = decidedMiles(miles) ?? (book === null ? null : usualMiles(book.estimator, lane))
  const load = { costKeys: lane.costKeys, miles: counted }
  return { load, expected: book === null ? null : wholeCost(book.costs, load) }
}

/** The expected cost in whole cents: rounded here and nowhere else. */
function wholeCost(costs: CostModel, load: LoadToCost): ExpectedCost | null {
  const found = expectedCost(costs, load)
  if (found === null) return null
  const { costCents, lowCents, highCents, ...more } = found
  return {
    ...more,
    costCents: Math.round(costCents),
    lowCents: Math.round(lowCents),
    highCents: Math.round(highCents),
  }
}

/** Only a distance of the quote itself converts it, as in statistics: the usual one of its lane changes with each quote. */
function conversionOf(
  { terms, day, miles: known }: Pick<QuoteToAppraise, 'terms' | 'day' | 'miles'>,
  basis: RateBasis,
): AmountConversion | null {
  const miles = decidedMiles(known)
  const { fuelMillsPerMile: mills, usdPerCad } = day
  const scheduledFuelCents = mills === null || miles === null ? null : fuelOfMiles(mills, miles)
  return amountConversion(terms, basis, { scheduledFuelCents, usdPerCad })
}

function enteredOf({ enteredCents }: QuoteToAppraise, conversion: AmountConversion | null): number | null {
  if (enteredCents === null || enteredCents <= 0 || conversion === null) return null
  const converted = convertedCents(conversion, enteredCents)
  return converted !== null && converted > 0 ? converted : null
}

function believedCost({ enteredCents, expectedCents }: RuleCosts): Appraisal['cost'] {
  if (enteredCents !== null) return { cents: enteredCents, source: 'entered' }
  return expectedCents === null ? null : { cents: expectedCents, source: 'expected' }
}

function factsOf(
  { lane, parties }: QuoteToAppraise,
  { rateType }: Pick<AppraisalSettings, 'rateType'>,
  { miles, decided }: { readonly miles: number | null; readonly decided: number },
): QuoteFacts {
  return {
    ...parties,
    rateType: parties.rateType ?? rateType,
    origin: { place: lane.originKey, market: lane.originMarket, state: lane.originState },
    destination: {
      place: lane.destinationKey,
      market: lane.destinationMarket,
      state: lane.destinationState,
    },
    equipmentCode: lane.equipmentCode,
    miles,
    confidence: confidence(decided),
  }
}

/** The results that `rateOf` needs to judge a rate of a quote. */
interface KnownOfQuote extends Pick<Appraisal, 'conversion' | 'rules' | 'cost' | 'quotes' | 'goingCents'> {
  readonly input: QuoteToAppraise
  readonly basis: RateBasis
  readonly known: () => LaneWinCurve | null
}

function rateOf(sentCents: number, about: KnownOfQuote): AppraisedRate {
  const { input, conversion, rules, cost, quotes, goingCents, known } = about
  const rateCents = conversion === null ? null : convertedCents(conversion, sentCents)
  // An amount that cannot be converted cannot be compared.
  if (rateCents === null) {
    return { rateCents, verdict: checkUnknownRate(rules), chance: null, marginCents: null, warnings: [] }
  }
  return {
    rateCents,
    verdict: checkRate(rules, rateCents, { leastCents: leastOf(sentCents, rateCents, about) }),
    get chance() {
      return chanceAt(input, known, rateCents)
    },
    marginCents: cost === null ? null : rateCents - cost.cents,
    get warnings() {
      if (goingCents === null || input.terms.currency === 'CAD') return []
      return rateWarnings({
        rateCents,
        cost,
        floorCents: rules.minimum?.rateCents ?? null,
        goingRate: { cents: goingCents, isOwn: quotes > 0 },
      })
    },
  }
}

/** The lower of the rates with the entered and with the scheduled fuel surcharge: a too high entered one must not satisfy a minimum. */
function leastOf(sentCents: number, rateCents: number, { input, basis }: KnownOfQuote): number {
  const { terms, day, miles } = input
  if (day.fuelMillsPerMile === null || decidedMiles(miles) === null) return rateCents
  const scheduled = conversionOf({ terms: { ...terms, fuelCents: null }, day, miles }, basis)
  const least = scheduled === null ? null : convertedCents(scheduled, sentCents)
  return Math.min(rateCents, least ?? 0)
}

/** The chance that was shown at the rate, else the current one. */
function chanceAt(
  { shown }: Pick<QuoteToAppraise, 'shown'>,
  known: () => LaneWinCurve | null,
  rateCents: number,
): AppraisedRate['chance'] {
  if (shown?.at?.rateCents === rateCents) return shown.at.chance
  const belief = known()
  if (belief === null || !(rateCents > 0)) return null
  const probability = chanceOn(belief)(rateCents)
  return {
    probability,
    ...intervalsAt(belief.intervals(), { x: curvePosition(belief, rateCents), mean: probability }),
  }
}
