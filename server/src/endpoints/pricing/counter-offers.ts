import { counterAdvice } from '#contract/counter-offers.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { newestQuotes } from '#engine/book/scope-counts.ts'
import {
  bestBetween,
  bestChoice,
  type ChanceAfterCounter,
  counterChances,
  NO_CHOICE,
} from '#engine/estimate/counter-offer.ts'
import { offerBelief } from '#engine/estimate/offer-belief.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import { daysSince, trustOf } from '#engine/estimate/trust.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown, formatDollars } from '#engine/money.ts'
import { unconvertedCents } from '#engine/rate-basis.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { ownScope } from '../../book/index.ts'
import { lanes } from '../../database/queries/index.ts'
import type { LaneRow } from '../../database/schema/index.ts'
import { readAskedLane } from '../../lanes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type Call, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { askedRef, noLane } from '../quotes/named-lane.ts'
import { outsideErrors } from '../quotes/outside-rules.ts'
import { inUsdOnBasis, quoteConversion } from '../quotes/quote-conversion.ts'
import { partiesOf } from './applied-rules.ts'
import { counterErrors, refuseIfClosed } from './counter-rate.ts'
import { estimatedOffer, offerFacts } from './markup-estimate.ts'
import { offerCustomer } from './offer-customer.ts'
import { rateChecker } from './rate-check.ts'

type CounterCall = Call<typeof counterAdvice>
type CounterAnswer = AnswerOf<typeof counterAdvice>
type Choice = CounterAnswer['accept']

/** Points of the curve in the answer: enough for the dashboard to interpolate while a rate is typed. */
const curvePoints = 25
const inPlaces = (name: string) => ({ parameter: name })

const cents = (dollars: number | undefined) => (dollars === undefined ? null : centsFromDollars(dollars))

/** The amounts of a counter-offer in the currency and on the basis of the quote, in cents. */
interface Amounts {
  readonly quotedCents: number
  readonly counterCents: number
  /** The sent rate to counter with. */
  readonly sentCents: number | null
}

function amountsOf(lane: LaneRow, { counter_rate, rate }: CounterCall['query']): Amounts {
  refuseIfClosed(lane)
  const errors: FieldError[] = counterErrors(lane, counter_rate).map(({ pointer: _, ...error }) => ({
    ...error,
    parameter: 'counter_rate',
  }))
  const [counterCents, quotedCents] = [cents(counter_rate) ?? 0, lane.quoted_rate_cents]
  const sentCents = cents(rate)
  if (sentCents !== null && (sentCents <= counterCents || sentCents >= quotedCents)) {
    errors.push({
      parameter: 'rate',
      code: 'invalid',
      detail: `rate must be between counter_rate and the quoted rate of ${formatDollars(quotedCents)}.`,
    })
  }
  if (errors.length > 0) throw invalid(errors)
  return { quotedCents, counterCents, sentCents }
}

/** The advice that the brokerage's own quotes give on the lane and the customer of a quote. */
async function knownAbout(lane: LaneRow, { caller, query, now }: CounterCall, parts: Parts) {
  const { tenant, userId } = caller
  const open = await parts.books.read(tenant)
  const { quotes: book, settings } = open
  const model = await book.advice(now)
  const asked = readAskedLane(lane, inPlaces, false)
  const scope = ownScope(book.quotes, asked, asked.equipmentCode)
  const history = await yieldBetweenSteps(newestQuotes(book.quotes, scope, Number.POSITIVE_INFINITY))
  const customerName = lane.quoted_customer_name
  const quoted = { customerName, repId: userId, rateType: lane.rate_type ?? null }
  const parties = await partiesOf(settings.rules, quoted, tenant, parts)
  const conversion = await quoteConversion(
    { quoted: lane, miles: lane.miles, customerName },
    settings.basis,
    { tenant, now },
    parts,
  )
  const enteredCents = cents(query.estimated_cost) ?? lane.estimated_cost_cents
  const costCents = enteredCents === null ? null : inUsdOnBasis(conversion, enteredCents)
  const customer = await offerCustomer(customerName, tenant, { book, model }, parts)
  const offer = {
    ...asked.places,
    equipmentCode: asked.equipmentCode,
    costCents,
    pickupDate: lane.pickup_date,
    customer,
  }
  const circumstances = { rules: settings.rules, parties, experiment: null, now }
  const facts = await offerFacts(model, offer, history, circumstances)
  const quotedCents = inUsdOnBasis(conversion, lane.quoted_rate_cents)
  return {
    facts,
    conversion,
    enteredCents,
    basis: lane.quoted_basis ?? settings.basis,
    belief: quotedCents === null ? null : offerBelief(facts.question),
    estimated:
      quotedCents === null
        ? null
        : await estimatedOffer(model, { ...offer, proposedRateCents: quotedCents }, history, circumstances),
  }
}

type Known = Awaited<ReturnType<typeof knownAbout>>

/** The truck cost in the currency and on the basis of the quote; null if none is known. */
function costOf({
  facts,
  conversion,
  enteredCents,
}: Known): { cents: number; source: 'entered' | 'expected' } | null {
  if (enteredCents !== null && enteredCents > 0) return { cents: enteredCents, source: 'entered' }
  if (conversion === null || facts.cost === null || !isOwnCost(facts.cost)) return null
  return { cents: Math.round(unconvertedCents(conversion, facts.cost.costCents)), source: 'expected' }
}

/** The chance of each rate; null without quotes to learn from. */
function chancesOf({ belief, conversion }: Known, { quotedCents, counterCents }: Amounts) {
  if (belief === null) return null
  const [quoted, counter] = [quotedCents, counterCents].map((amount) => inUsdOnBasis(conversion, amount))
  if (quoted == null || counter == null) return null
  const chance = counterChances(belief, { quotedCents: quoted, counterCents: counter })
  return (rateCents: number) => chance(inUsdOnBasis(conversion, rateCents) ?? 0)
}

/** Limits of the rules in the currency and on the basis of the quote. */
function limitsFor({ facts, conversion }: Known) {
  const { minimum, maximum, roundTo, contradicts } = facts.applied
  const own = (rateCents: number | null | undefined) =>
    rateCents == null || conversion === null ? null : unconvertedCents(conversion, rateCents)
  return {
    lowCents: own(minimum?.rateCents),
    highCents: contradicts ? null : own(maximum?.rateCents),
    roundToCents: roundTo?.value ?? null,
  }
}

interface Priced {
  readonly costCents: number | null
  readonly check: (rateCents: number) => Promise<Pick<Choice, 'warnings' | 'outside_rules'>>
}

async function choiceAt(
  rateCents: number,
  chance: ChanceAfterCounter | null,
  { costCents, check }: Priced,
): Promise<Choice> {
  const marginCents = costCents === null ? null : rateCents - costCents
  return {
    rate: dollarsFromCents(rateCents),
    win_probability: chance?.probability ?? null,
    interval_80: chance === null ? null : { ...chance.interval80 },
    margin: dollarsIfKnown(marginCents),
    margin_pct: marginCents === null ? null : percentOf(marginCents, rateCents),
    expected_margin:
      chance === null || marginCents === null ? null : dollarsFromCents(chance.probability * marginCents),
    ...(await check(rateCents)),
  }
}

const agreed: ChanceAfterCounter = { probability: 1, interval80: { low: 1, high: 1 } }

/** The expected margin of a choice, for `bestChoice`. */
function worthOf(choice: Choice | null): number | null {
  return choice === null || choice.outside_rules.some(({ code }) => code === 'blocked')
    ? NO_CHOICE
    : choice.expected_margin
}

/** @example 'Accepting $2,050 earns $230. Countering with $2,100 earns $280 if the customer agrees, on average $140.' */
function sentenceOf(accept: Choice, counter: Choice | null): string {
  const words = (dollars: number) => formatDollars(Math.round(dollars) * 100)
  const earns = (margin: number) => (margin < 0 ? `loses ${words(-margin)}` : `earns ${words(margin)}`)
  const rate = (choice: Choice) => formatDollars(Math.round(choice.rate * 100))
  if (accept.margin === null) return 'No truck cost is known, so the choices cannot be compared.'
  const first = `Accepting ${rate(accept)} ${earns(accept.margin)}.`
  if (counter?.margin == null || counter.expected_margin === null) return first
  return `${first} Countering with ${rate(counter)} ${earns(counter.margin)} if the customer agrees, on average ${words(counter.expected_margin)}.`
}

async function counterAnswer(call: CounterCall, parts: Parts): Promise<CounterAnswer> {
  const { caller, params, now } = call
  const { tenant, userId } = caller
  const ref = askedRef(params.lane_ref)
  const lane = await parts.database.inTenant(tenant, (transaction) =>
    lanes.findLane(transaction, tenant, ref),
  )
  if (lane === null) throw noLane(ref)
  const amounts = amountsOf(lane, call.query)
  const { quotedCents, counterCents } = amounts
  const known = await knownAbout(lane, call, parts)
  const cost = costOf(known)
  const chances = chancesOf(known, amounts)
  const checkRate = await rateChecker(parts, tenant, now)
  const priced: Priced = {
    costCents: cost?.cents ?? null,
    check: async (rateCents) => {
      const { warnings, verdict } = await checkRate('quoted_rate', {
        ...lane,
        rateCents,
        enteredCostCents: known.enteredCents,
        quoted: lane,
        customerName: lane.quoted_customer_name,
        repId: userId,
        rateType: lane.rate_type ?? null,
      })
      const outside = outsideErrors(verdict, false, '').map(({ code, detail }) => ({ code, detail }))
      return { warnings, outside_rules: outside }
    },
  }
  const worth =
    chances === null || cost === null
      ? null
      : (rateCents: number) => chances(rateCents).probability * (rateCents - cost.cents)
  const suggestedCents = bestBetween({ quotedCents, counterCents, ...limitsFor(known) }, worth)
  const counteredCents = amounts.sentCents ?? suggestedCents
  const chance = counteredCents === null ? null : (chances?.(counteredCents) ?? null)
  const accept = await choiceAt(counterCents, agreed, priced)
  const counter = counteredCents === null ? null : await choiceAt(counteredCents, chance, priced)
  const estimate = known.estimated?.estimate ?? null
  const newest = estimate?.used.newest_quoted_at ?? null
  return {
    lane_ref: lane.lane_ref,
    quoted_rate: dollarsFromCents(quotedCents),
    counter_rate: dollarsFromCents(counterCents),
    currency: lane.quoted_currency ?? 'USD',
    basis: known.basis,
    comparable: known.conversion !== null,
    cost: cost === null ? null : { amount: dollarsFromCents(cost.cents), source: cost.source },
    accept,
    counter,
    suggested_rate: dollarsIfKnown(suggestedCents),
    best: bestChoice(worthOf(accept), worthOf(counter)),
    curve:
      chances === null
        ? []
        : Array.from({ length: curvePoints }, (_, nth) => {
            const rateCents = counterCents + (nth * (quotedCents - counterCents)) / (curvePoints - 1)
            const { probability, interval80 } = chances(rateCents)
            return { rate: dollarsFromCents(rateCents), probability, interval_80: { ...interval80 } }
          }),
    trust:
      estimate === null || chance === null
        ? null
        : trustOf({
            interval80: chance.interval80,
            borrowedShare: estimate.borrowed_share,
            newestDays: newest === null ? null : daysSince(Date.parse(newest), now),
          }),
    estimate: estimate?.probability == null ? null : estimate,
    sentence: sentenceOf(accept, counter),
  }
}

export const counterAdviceEndpoint = serve(counterAdvice, counterAnswer)
