import { counterAdvice } from '#contract/counter-offers.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import {
  bestBetween,
  bestChoice,
  type ChanceAfterCounter,
  counterChances,
  NO_CHOICE,
} from '#engine/estimate/counter-offer.ts'
import { daysSince, trustOf } from '#engine/estimate/trust.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown, formatDollars } from '#engine/money.ts'
import { unconvertedCents } from '#engine/rate-basis.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { lanes } from '../../database/queries/index.ts'
import type { LaneRow } from '../../database/schema/index.ts'
import { readAskedLane } from '../../lanes/index.ts'
import { type Call, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { askedRef, noLane } from '../quotes/named-lane.ts'
import { outsideAnswer } from '../quotes/outside-rules.ts'
import { offerAppraiser } from './asked-appraisal.ts'
import { fieldWarnings } from './checked-rate.ts'
import { counterErrors, refuseIfClosed } from './counter-rate.ts'
import { estimatedOffer } from './markup-estimate.ts'

type CounterCall = Call<typeof counterAdvice>
type CounterAnswer = AnswerOf<typeof counterAdvice>
type Choice = CounterAnswer['accept']

/** Points of the curve in the answer: enough for the dashboard to interpolate while a rate is typed. */
const curvePoints = 25
/** The chance drops just above the named rate, so the curve has a point there: a cent. */
const justAboveCents = 1
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

/** The appraisal of a quote, with the truck cost that is asked about now. */
async function appraised(lane: LaneRow, { caller, query, now }: CounterCall, parts: Parts) {
  const { tenant, userId } = caller
  const open = await parts.books.read(tenant)
  const askedFor = { tenant, now, repId: userId, customerName: lane.quoted_customer_name }
  const enteredCents = cents(query.estimated_cost) ?? lane.estimated_cost_cents
  const offer = await (await offerAppraiser(open, askedFor, parts))({
    asked: readAskedLane(lane, inPlaces, false),
    enteredCents,
    quoted: lane,
    miles: lane.miles,
    rateType: lane.rate_type ?? null,
  })
  const quotedCents = offer.appraisal.at(lane.quoted_rate_cents).rateCents
  return {
    appraisal: offer.appraisal,
    enteredCents,
    basis: lane.quoted_basis ?? open.settings.basis,
    estimate: quotedCents === null ? null : estimatedOffer(offer, quotedCents, now).estimate,
  }
}

/** The truck cost in the currency and on the basis of the quote; null if none is known. */
function costOf({
  appraisal: { cost, conversion },
  enteredCents,
}: Pick<Awaited<ReturnType<typeof appraised>>, 'appraisal' | 'enteredCents'>): {
  cents: number
  source: 'entered' | 'expected'
} | null {
  if (enteredCents !== null && enteredCents > 0) return { cents: enteredCents, source: 'entered' }
  if (conversion === null || cost === null) return null
  return { cents: Math.round(unconvertedCents(conversion, cost.cents)), source: 'expected' }
}

/** The chance of each rate; null without quotes to learn from. */
function chancesOf({ belief, at }: Appraisal, { quotedCents, counterCents }: Amounts) {
  const [quoted, counter] = [at(quotedCents).rateCents, at(counterCents).rateCents]
  if (belief === null || quoted === null || counter === null) return null
  const chance = counterChances(belief, { quotedCents: quoted, counterCents: counter })
  return (rateCents: number) => chance(at(rateCents).rateCents ?? 0)
}

/** Limits of the rules in the currency and on the basis of the quote. */
function limitsFor({ rules, conversion }: Appraisal) {
  const { minimum, maximum, roundTo, contradicts } = rules
  const own = (rateCents: number | null | undefined) =>
    rateCents == null || conversion === null ? null : unconvertedCents(conversion, rateCents)
  return {
    lowCents: own(minimum?.rateCents),
    highCents: contradicts ? null : own(maximum?.rateCents),
    roundToCents: roundTo?.value ?? null,
  }
}

/** A choice is the appraisal at its rate, with the chance after the counter-offer. */
function choiceAt(
  rateCents: number,
  chance: ChanceAfterCounter | null,
  { appraisal, costCents }: { readonly appraisal: Appraisal; readonly costCents: number | null },
): Choice {
  const offer = appraisal.at(rateCents)
  const marginCents = costCents === null ? null : rateCents - costCents
  return {
    rate: dollarsFromCents(rateCents),
    win_probability: chance?.probability ?? null,
    interval_80: chance === null ? null : { ...chance.interval80 },
    margin: dollarsIfKnown(marginCents),
    margin_pct: marginCents === null ? null : percentOf(marginCents, rateCents),
    expected_margin:
      chance === null || marginCents === null ? null : dollarsFromCents(chance.probability * marginCents),
    warnings: fieldWarnings('quoted_rate', offer),
    outside_rules: outsideAnswer(offer),
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

/** The rates of the curve: the named rate, a cent above it, and at even distances up to the quoted rate. */
function curveRates({ quotedCents, counterCents }: Amounts): number[] {
  const even = Array.from(
    { length: curvePoints },
    (_, nth) => counterCents + (nth * (quotedCents - counterCents)) / (curvePoints - 1),
  )
  return even.toSpliced(1, 0, Math.min(counterCents + justAboveCents, quotedCents))
}

async function counterAnswer(call: CounterCall, parts: Parts): Promise<CounterAnswer> {
  const { caller, params, now } = call
  const { tenant } = caller
  const ref = askedRef(params.lane_ref)
  const lane = await parts.database.inTenant(tenant, (transaction) =>
    lanes.findLane(transaction, tenant, ref),
  )
  if (lane === null) throw noLane(ref)
  const amounts = amountsOf(lane, call.query)
  const { quotedCents, counterCents } = amounts
  const known = await appraised(lane, call, parts)
  const { appraisal, estimate } = known
  const cost = costOf(known)
  const chances = chancesOf(appraisal, amounts)
  const priced = { appraisal, costCents: cost?.cents ?? null }
  const worth =
    chances === null || cost === null
      ? null
      : (rateCents: number) => chances(rateCents).probability * (rateCents - cost.cents)
  const suggestedCents = bestBetween({ quotedCents, counterCents, ...limitsFor(appraisal) }, worth)
  const counteredCents = amounts.sentCents ?? suggestedCents
  const chance = counteredCents === null ? null : (chances?.(counteredCents) ?? null)
  const accept = choiceAt(counterCents, agreed, priced)
  const counter = counteredCents === null ? null : choiceAt(counteredCents, chance, priced)
  const newest = estimate?.used.newest_quoted_at ?? null
  return {
    lane_ref: lane.lane_ref,
    quoted_rate: dollarsFromCents(quotedCents),
    counter_rate: dollarsFromCents(counterCents),
    currency: lane.quoted_currency ?? 'USD',
    basis: known.basis,
    comparable: appraisal.conversion !== null,
    cost: cost === null ? null : { amount: dollarsFromCents(cost.cents), source: cost.source },
    accept,
    counter,
    suggested_rate: dollarsIfKnown(suggestedCents),
    best: bestChoice(worthOf(accept), worthOf(counter)),
    curve:
      chances === null
        ? []
        : curveRates(amounts).map((rateCents) => {
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
