import type { Static } from 'typebox'
import { forecastQuotesPerPushMax, unknownPlacesLookedUpMax } from '#contract/limits.ts'
import {
  checkQuotes,
  type PushedQuoteResult,
  pushedOutcome,
  pushedQuote,
  pushOutcomes,
  pushQuotes,
} from '#contract/push-quotes.ts'
import type { PushedQuoteField } from '#engine/quote-update.ts'
import type { Steps } from '#engine/steps.ts'
import { type Pricing, pricingOf, quoteForecaster } from '../../book/index.ts'
import {
  quoteChanges as changes,
  defaultBasisOf,
  type NewQuoteRequest,
  type NextValues,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import {
  type Draft,
  enter,
  isForecast,
  isSameLane,
  mayExpectCost,
  mergePush,
  missingOfNew,
  newOfPush,
  type PushedColumns,
  readPush,
  type SentPush,
} from '../../entering/index.ts'
import { closestFinder, readAskedLane, unknownPlaces } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import {
  type CheckedItem,
  countResults,
  eachInSteps,
  itemChecker,
  type PushedBy,
  pushItems,
  type RefusedItem,
  refused,
  unknownQuote,
  type WithQuote,
} from './pushed-items.ts'

type Outcome = Static<typeof pushedOutcome>
type Result = Static<typeof PushedQuoteResult>

const quotesOf = itemChecker<SentPush>(pushedQuote, 'A quote')
const outcomesOf = itemChecker<Outcome>(pushedOutcome, 'An outcome')

/** Applies up to a hundred valid items. New quotes are created if `create` is set. */
async function applyHundred(
  transaction: TenantTransaction,
  quotes: readonly WithQuote<Checked & PushedColumns>[],
  by: PushedBy,
  {
    identifiers,
    pricing,
    create,
    isLive,
  }: {
    identifiers: Parts['database']['identifiers']
    pricing: Pricing | null
    create: boolean
    isLive: boolean
  },
): Promise<(Result | RefusedItem)[]> {
  const { tenant, tokenId } = by.caller
  const now = await changes.databaseNow(transaction)
  // Read even if the push states no basis, because the saved quotes may state one.
  const assumed = await defaultBasisOf(transaction, tenant)
  const signature = { tokenId, signedAtSeconds: by.signed.timestampSeconds, now: by.now }
  const drafts: Draft[] = []
  const created: number[] = []
  const results = quotes.map((quote, at): Result | RefusedItem => {
    const { index, item, quote: saved } = quote
    if (saved !== null) {
      const { next, kept, rule } = mergePush(saved, quote, signature, { now, assumed })
      const differs = changes.differencesForApi(saved, next).length > 0
      drafts.push({ kind: 'change', quote: saved, next, origin: { source: 'tms', tokenId, rule } })
      return {
        ...named(index, saved.lane_ref, saved.lane_id, saved.external_id),
        result: differs ? 'updated' : 'unchanged',
        ...(kept.length === 0 ? {} : { kept }),
      }
    }
    const { external_id: externalId } = item
    if (!create || externalId === undefined) return unknownQuote(quote)
    const missing = missingOfNew(item)
    if (missing.length > 0) return refused(quote, missing)
    created[drafts.length] = at
    drafts.push(newOfPush(quote, externalId, signature, pricing, now))
    return { ...named(index, '', 0, externalId), result: 'created' }
  })
  const entered = await enter(transaction, drafts, {
    tenant,
    identifiers,
    changedAt: now,
    ...(isLive && pricing !== null ? { forecast: forecaster(transaction, by, pricing) } : {}),
  })
  for (const [nth, { quotes }] of entered.entries()) {
    const [at, made] = [created[nth], quotes[0]]
    if (at === undefined || made === undefined) continue
    results[at] = { ...(results[at] as Result), lane_ref: made.laneRef, lane_id: made.quoteId }
  }
  return results
}

/** Adds a forecast to a new quote that is undecided and was quoted within a day. */
function forecaster(
  transaction: TenantTransaction,
  { caller: { tenant }, now }: PushedBy,
  pricing: Pricing,
): (request: NewQuoteRequest) => Promise<NewQuoteRequest> {
  const forecastOf = quoteForecaster(pricing, { tenant, now, read: (work) => work(transaction) })
  return async (request) => {
    if (!isForecast(request, now)) return request
    const { customerName, createdAt: at, createdBy: repId } = request
    const quotes = []
    for (const quote of request.quotes) {
      const quotedFor = { customerName, repId, rateType: quote.rate_type ?? null }
      quotes.push({ ...quote, forecast: await forecastOf({ lane: quote, quotedFor, at }) })
    }
    return { ...request, quotes }
  }
}

function named(index: number, laneRef: string, quoteId: number, externalId: string | null) {
  return {
    index,
    status: 200 as const,
    lane_ref: laneRef,
    lane_id: quoteId,
    ...(externalId === null ? {} : { external_id: externalId }),
  }
}

type Checked = CheckedItem<Partial<SentPush> & { readonly lane_ref?: string }>

/** The results of a push with the places that may be misspelled. The lookups of similar names run in steps. */
function* withUnknownPlaces(
  results: readonly (Result | RefusedItem)[],
  checked: readonly Checked[],
): Steps<(Result | RefusedItem)[]> {
  const closest = closestFinder(unknownPlacesLookedUpMax)
  const named: (Result | RefusedItem)[] = []
  for (const result of results) {
    const { origin, destination } = checked[result.index]?.item ?? {}
    const sent = origin === undefined || destination === undefined ? null : { origin, destination }
    const places =
      sent === null || result.status !== 200 ? [] : unknownPlaces(sent, readAskedLane(sent), closest)
    named.push(places.length === 0 ? result : { ...(result as Result), unknown_places: places })
    yield
  }
  return named
}

async function push(
  checked: readonly Checked[],
  by: PushedBy,
  parts: Pick<Parts, 'books' | 'database' | 'tenantLimit' | 'monotonic'>,
  create: boolean,
): Promise<(Result | RefusedItem)[]> {
  const read = await eachInSteps(checked, (one) => ({
    ...one,
    ...(one.errors.length === 0 ? readPush(one.item, by.now, one.errors) : noColumns),
  }))
  const needsPricing = create && checked.some(({ item }) => mayExpectCost(item, by.now))
  const pricing = needsPricing ? await pricingOf(parts, by.caller.tenant, by.now) : null
  const results = await pushItems<(typeof read)[number], Result>(
    read,
    by,
    parts,
    (transaction, valid) =>
      applyHundred(transaction, valid, by, {
        identifiers: parts.database.identifiers,
        pricing,
        create,
        isLive: by.isCheck !== true && checked.length <= forecastQuotesPerPushMax,
      }),
    isSameLane,
  )
  return await yieldBetweenSteps(withUnknownPlaces(results, checked))
}

const noColumns = { columns: new Map<PushedQuoteField, NextValues>() }

export const pushQuoteEndpoints: ServedEndpoint[] = [
  serve(pushQuotes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(await quotesOf(body.quotes), { caller, signed, now }, parts, true)
    return { ...countResults(results), results }
  }),

  serve(checkQuotes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(
      await quotesOf(body.quotes),
      { caller, signed, now, isCheck: true },
      parts,
      true,
    )
    return {
      ...countResults(results),
      results: results.map((one) => {
        if (one.status !== 200 || one.result !== 'created') return one
        const { lane_ref: _, lane_id: __, ...checked } = one
        return checked
      }),
    }
  }),

  serve(pushOutcomes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(await outcomesOf(body.outcomes), { caller, signed, now }, parts, false)
    return { ...countResults(results), results }
  }),
]
