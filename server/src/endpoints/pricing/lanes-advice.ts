import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, Problem } from '#contract/errors.ts'
import { adviseLanes, deskLane } from '#contract/lanes-advice.ts'
import { shape } from '#contract/shape.ts'
import { newestQuotes } from '#engine/book/scope-counts.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { type BrokerageBook, type OpenBook, ownScope, type QuoteParties } from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { chargesErrors, quotedTerms } from '../../entering/index.ts'
import { type AskedLane, lanePlaces, readAskedLane } from '../../lanes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type AskedBy, serve } from '../endpoint-call.ts'
import { itemErrors } from '../integration/item-errors.ts'
import type { Parts } from '../parts.ts'
import { outsideErrors } from '../quotes/outside-rules.ts'
import { inUsdOnBasis, quoteConversion } from '../quotes/quote-conversion.ts'
import { partiesOf } from './applied-rules.ts'
import { type EstimatedOffer, estimatedOffer } from './markup-estimate.ts'
import { type OfferCustomer, offerCustomer } from './offer-customer.ts'
import { rateChecker } from './rate-check.ts'

type Lane = BodyOf<typeof adviseLanes>['lanes'][number]
type Result = AnswerOf<typeof adviseLanes>['results'][number]

const laneShape = shape(deskLane, 'body')
const inLane = (name: string) => ({ pointer: `/${name}` })
/** Lanes whose wrong places get suggestions: each takes some milliseconds. */
const guessedLanesMax = 4

const wrong = (index: number, errors: readonly FieldError[]): Result => ({ index, ...itemErrors(errors) })

/**
 * The estimate of a lane. Without a rate it is that of the rate to quote by the rules, or else
 * of the going rate, in whole dollars as people quote.
 */
async function estimateOf(
  asked: AskedLane,
  {
    rateCents,
    costCents,
    pickupDate,
    customer,
  }: {
    readonly rateCents: number | null
    readonly costCents: number | null
    readonly pickupDate: string | null
    readonly customer: OfferCustomer | null
  },
  { quotes: book, settings }: OpenBook<BrokerageBook>,
  { parties, now }: { readonly parties: QuoteParties; readonly now: number },
): Promise<{ readonly rateCents: number; readonly offer: EstimatedOffer }> {
  const { places, equipmentCode } = asked
  const scope = ownScope(book.quotes, asked, equipmentCode)
  const history = await yieldBetweenSteps(newestQuotes(book.quotes, scope, Number.POSITIVE_INFINITY))
  const model = await book.advice(now)
  const at = (proposedRateCents: number) =>
    estimatedOffer(
      model,
      { ...places, equipmentCode, proposedRateCents, costCents, pickupDate, customer },
      history,
      { rules: settings.rules, parties, experiment: settings.experiment, now },
    )
  if (rateCents !== null) return { rateCents, offer: await at(rateCents) }
  // The optimum does not depend on the proposed rate.
  const first = await at(anyRateCents)
  const best = first.optimum?.experiment?.rate ?? first.rules.rate
  if (best === null) return { rateCents: anyRateCents, offer: first }
  const bestCents = Math.max(1, Math.round(best)) * 100
  return { rateCents: bestCents, offer: await at(bestCents) }
}

const anyRateCents = 200_000

/** The amounts of a lane as they were sent, and on the terms of the brokerage; null if absent or not comparable. */
async function comparedAmounts(
  lane: Lane,
  { places }: AskedLane,
  by: {
    readonly tenant: TenantId
    readonly now: number
    readonly basis: RateBasis
    readonly customerName: string | null
  },
  parts: Parts,
) {
  const terms = quotedTerms(lane)
  const { miles = null } = lanePlaces(places.origin, places.destination, null)
  const conversion = await quoteConversion(
    { quoted: terms, miles, customerName: by.customerName },
    by.basis,
    by,
    parts,
  )
  const cents = (amount: number | undefined) => (amount === undefined ? null : centsFromDollars(amount))
  const compared = (amount: number | null) => (amount === null ? null : inUsdOnBasis(conversion, amount))
  const [sentCents, sentCostCents] = [cents(lane.quoted_rate), cents(lane.estimated_cost)]
  return {
    terms,
    conversion,
    sentCents,
    sentCostCents,
    rateCents: compared(sentCents),
    costCents: compared(sentCostCents),
  }
}

async function answersFor(
  { lanes, customer: name }: BodyOf<typeof adviseLanes>,
  { caller, now }: AskedBy & { readonly caller: { readonly userId: number } },
  parts: Parts,
): Promise<AnswerOf<typeof adviseLanes>> {
  const open = await parts.books.read(caller.tenant)
  const check = await rateChecker(parts, caller.tenant, now)
  const quoted = { customerName: name ?? null, repId: caller.userId, rateType: null }
  const parties = await partiesOf(open.settings.rules, quoted, caller.tenant, parts)
  const { quotes: book } = open
  const customer =
    name === undefined
      ? null
      : await offerCustomer(name, caller.tenant, { book, model: await book.advice(now) }, parts)
  const results: Result[] = []
  let guessed = 0

  async function answerTo(lane: Lane, index: number): Promise<Result> {
    const errors = laneShape.errors(lane)
    if (errors.length > 0) return wrong(index, errors)
    const asked = readAskedLane(lane, inLane, guessed < guessedLanesMax)
    const charges = chargesErrors('quoted', 'quoted_rate', lane)
    if (charges.length > 0) return wrong(index, charges)
    const by = { tenant: caller.tenant, now, basis: open.settings.basis, customerName: name ?? null }
    const { terms, conversion, sentCents, sentCostCents, rateCents, costCents } = await comparedAmounts(
      lane,
      asked,
      by,
      parts,
    )
    const pickupDate = lane.pickup_date ?? null
    const wanted = { rateCents, costCents, pickupDate, customer }
    const { rateCents: atCents, offer } = await estimateOf(asked, wanted, open, { parties, now })
    const { estimate, optimum } = offer
    const checked =
      sentCents === null
        ? null
        : await check('quoted_rate', {
            ...lanePlaces(asked.places.origin, asked.places.destination, estimate.miles),
            equipment_code: estimate.equipment ?? '',
            pickup_date: pickupDate,
            rateCents: sentCents,
            enteredCostCents: sentCostCents,
            quoted: terms,
            ...quoted,
          })
    const isKnown = estimate.probability !== null
    return {
      index,
      status: 200,
      rate: rateCents === null && !isKnown ? null : atCents / 100,
      estimate: isKnown ? estimate : null,
      optimum,
      warnings: checked?.warnings ?? [],
      outside_rules:
        checked === null
          ? []
          : outsideErrors(checked.verdict, false, '').map(({ code, detail }) => ({ code, detail })),
      rules: offer.rules,
      conversion:
        conversion === null
          ? null
          : {
              times: conversion.times,
              plus: dollarsFromCents(conversion.plusCents ?? 0),
              by: conversion.by,
            },
    }
  }

  for (const [index, lane] of lanes.entries()) {
    try {
      results.push(await answerTo(lane, index))
    } catch (error) {
      if (!(error instanceof Problem) || error.errors === undefined) throw error
      guessed++
      results.push(wrong(index, error.errors))
    }
  }
  return { results }
}

export const lanesAdviceEndpoint = serve(adviseLanes, ({ body, caller, now }, parts) =>
  answersFor(body, { caller, now }, parts),
)
