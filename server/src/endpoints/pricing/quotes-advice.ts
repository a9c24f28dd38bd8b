import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, Problem } from '#contract/errors.ts'
import { includedIn } from '#contract/fields.ts'
import { type AdviceExtra, adviseQuotes, deskQuote } from '#contract/quotes-advice.ts'
import { shape } from '#contract/shape.ts'
import type { CounterOffer } from '#engine/estimate/counter-offer.ts'
import { unpricedBecause } from '#engine/load-mode.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import type { AmountConversion } from '#engine/rate-basis.ts'
import type { LaneInColumns } from '../../book/index.ts'
import { chargesErrors, quotedTerms } from '../../entering/index.ts'
import { readAskedLane, readLanePlaces } from '../../quotes/index.ts'
import { type AskedBy, serve } from '../endpoint-call.ts'
import { itemErrors } from '../integration/item-errors.ts'
import type { Parts } from '../parts.ts'
import { counterErrors } from '../quotes/counter-offers.ts'
import { outsideAnswer } from '../quotes/outside-rules.ts'
import { rulesAnswer } from './applied-rules.ts'
import { offerAppraiser } from './appraise-offer.ts'
import { appraiseCounterOffer, counterOfferAnswer } from './counter-offer.ts'
import { estimatedOffer } from './markup-estimate.ts'
import { fieldWarnings } from './rate-warnings.ts'
import { loadText, sealAdvice } from './shown-advice.ts'

type Quote = BodyOf<typeof adviseQuotes>['lanes'][number]
type Result = AnswerOf<typeof adviseQuotes>['results'][number]
type Converted = Extract<Result, { status: 200 }>['conversion']

const quoteShape = shape(deskQuote, 'body')
const inQuote = (name: string) => ({ pointer: `/${name}` })
/** Only this many quotes get suggestions for wrong places, because each takes some milliseconds. */
const guessedQuotesMax = 4

const wrong = (index: number, errors: readonly FieldError[]): Result => ({ index, ...itemErrors(errors) })

/** The rate to explain if there is neither a sent rate that can be converted nor a rate to quote nor a going rate. */
const anyRateCents = 200_000
const cents = (amount: number | undefined) => (amount === undefined ? null : centsFromDollars(amount))

function conversionAnswer(conversion: AmountConversion | null): Converted {
  return conversion === null
    ? null
    : {
        times: conversion.times,
        plus: dollarsFromCents(conversion.plusCents ?? 0),
        by: conversion.by,
      }
}

/** The rates of a counter-offer in cents; null without one. */
function counterOfferOf({ counter_offer: sent }: Quote): CounterOffer | null {
  if (sent === undefined) return null
  return {
    quotedCents: centsFromDollars(sent.refused_rate) ?? 0,
    counterCents: centsFromDollars(sent.counter_rate) ?? 0,
  }
}

/**
 * The mode and the stops of a quote, as they are saved.
 *
 * @throws a 422 for stops that are no places, or that repeat a place
 */
function loadOf({ mode, ...places }: Quote): Pick<LaneInColumns, 'mode' | 'stops'> {
  if (places.stops === undefined) return { mode: mode ?? null, stops: null }
  const errors: FieldError[] = []
  const { origin, destination, stops } = places
  const read = readLanePlaces({ origin, destination, stops }, inQuote, errors, true)
  if (errors.length > 0) throw invalid(errors)
  return { mode: mode ?? null, stops: read?.stops ?? null }
}

async function answersFor(
  { lanes: quotes, customer: customerName }: BodyOf<typeof adviseQuotes>,
  { caller, now }: AskedBy & { readonly caller: { readonly userId: number } },
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<AnswerOf<typeof adviseQuotes>> {
  const open = await parts.books.read(caller.tenant)
  const askedFor = { tenant: caller.tenant, now, repId: caller.userId, customerName }
  const appraise = await offerAppraiser(open, askedFor, parts)
  const results: Result[] = []
  let guessed = 0

  async function answerTo(quote: Quote, index: number): Promise<Result> {
    const errors = quoteShape.errors(quote)
    if (errors.length > 0) return wrong(index, errors)
    const asked = readAskedLane(quote, inQuote, guessed < guessedQuotesMax)
    const load = loadOf(quote)
    const notPriced = unpricedBecause({ ...load, equipment_code: asked.equipmentCode })
    const offer = counterOfferOf(quote)
    const amounts = [
      ...chargesErrors('quoted', 'quoted_rate', quote),
      ...(offer === null ? [] : counterErrors(offer, '/counter_offer/counter_rate')),
    ]
    if (amounts.length > 0) return wrong(index, amounts)
    const appraised = await appraise({
      asked,
      enteredCents: cents(quote.estimated_cost),
      quoted: quotedTerms(quote),
      miles: quote.miles ?? null,
      rateType: quote.rate_type ?? null,
      ...(notPriced === null ? {} : { load }),
    })
    const { appraisal } = appraised
    const countered = offer === null ? null : appraiseCounterOffer(appraisal, offer)
    const sentCents = cents(quote.quoted_rate) ?? countered?.suggestedCents ?? null
    const sent = sentCents === null ? null : appraisal.at(sentCents)
    // If no rate was sent, the rate to quote is explained, else the going rate.
    const chosenCents = sent?.rateCents ?? appraisal.rates.toQuote?.rateCents ?? null
    const atCents = chosenCents ?? Math.round(appraisal.goingCents ?? anyRateCents)
    const explained = notPriced === null ? estimatedOffer(appraised, atCents, now) : null
    const estimate = explained?.estimate ?? null
    const include = includedIn<AdviceExtra>(quote.include)
    return {
      index,
      status: 200,
      ...(notPriced === null ? {} : { not_priced: notPriced }),
      rate: chosenCents === null && estimate?.probability == null ? null : dollarsFromCents(atCents),
      estimate,
      optimum: explained?.optimum ?? null,
      warnings: sent === null ? [] : fieldWarnings('quoted_rate', sent),
      outside_rules: sent === null ? [] : outsideAnswer(sent),
      rules: rulesAnswer(appraisal, atCents),
      ...(explained !== null && include.has('curve') ? { curve: explained.curve } : {}),
      ...(explained !== null && include.has('risk') ? { risk: explained.risk } : {}),
      advice: sealAdvice(
        appraisal,
        atCents,
        { ...askedFor, userId: caller.userId, load: loadText(load), settings: open.settings },
        parts.secretKeys,
      ),
      conversion: conversionAnswer(appraisal.conversion),
      counter_offer:
        countered === null || explained === null
          ? null
          : counterOfferAnswer(countered, sentCents, explained.estimate, now),
    }
  }

  for (const [index, quote] of quotes.entries()) {
    try {
      results.push(await answerTo(quote, index))
    } catch (error) {
      if (!(error instanceof Problem) || error.errors === undefined) throw error
      guessed++
      results.push(wrong(index, error.errors))
    }
  }
  return { results }
}

export const quotesAdviceEndpoint = serve(adviseQuotes, ({ body, caller, now }, parts) =>
  answersFor(body, { caller, now }, parts),
)
