import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, type Problem, problem } from '#contract/errors.ts'
import type { createQuoteRequest } from '#contract/quote-requests.ts'
import { costColumns, type Pricing, pricingOf } from '../../book/index.ts'
import { newQuotes, savedQuotes } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type Draft, enter, readRequested, requestDigest } from '../../entering/index.ts'
import { quoteAnswers } from '../../quotes/index.ts'
import type { Parts } from '../parts.ts'
import {
  type CheckedRate,
  checkRates,
  customerToQuote,
  type QuotedBy,
  refuseOtherAdvice,
  refuseOutside,
  validUntil,
  warningsOf,
} from './check-rates.ts'
import { hiddenCustomer, orHidden } from './hidden-customers.ts'

/** A quote request in the form of the API. */
export async function quoteRequestAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  found: {
    readonly request: Pick<
      savedQuotes.QuoteRequestRow,
      'request_id' | 'customer_name' | 'reference' | 'created_at'
    >
    readonly quotes: readonly QuoteRow[]
  },
) {
  const { request } = found
  return {
    request_id: request.request_id,
    customer_name: request.customer_name,
    reference: request.reference,
    created_at: request.created_at.toISOString(),
    lanes: await quoteAnswers(transaction, tenant, found.quotes),
  }
}

/** The quotes of a quote request, parsed. @throws a 422 with every wrong field */
export function readQuoteRequest(body: BodyOf<typeof createQuoteRequest>): newQuotes.NewQuote[] {
  const errors: FieldError[] = []
  const acceptUnknown = body.accept_unknown_places === true
  const read = body.lanes.map((quote, index) =>
    readRequested(quote, errors, { pointer: `/lanes/${index}`, acceptUnknown }),
  )
  if (errors.length > 0) throw invalid(errors)
  return read.filter((quote) => quote !== null)
}

/** The request for approval with its places and equipment as they will be saved. Its advice does not last until the decision. */
export function withStoredNames<Body extends BodyOf<typeof createQuoteRequest>>(body: Body): Body {
  const read = readQuoteRequest(body)
  const lanesNamed = body.lanes.map(({ advice: _, ...quote }, index) => {
    const { origin, destination, equipment } = read[index] ?? quote
    return { ...quote, origin, destination, equipment }
  })
  return { ...body, lanes: lanesNamed }
}

/** Appraises the quotes of a request, to check their rates. @throws a 403 if the customer is hidden from the person */
async function checkQuotes(
  read: readonly newQuotes.NewQuote[],
  { customer_name: name, lanes }: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  pricing: Pricing,
  parts: Pick<Parts, 'database' | 'secretKeys'>,
): Promise<CheckedRate[]> {
  const customer = await customerToQuote(name, pricing, by.tenant, parts)
  if (customer?.isHidden === true) throw hiddenCustomer(name)
  const quoted = read.map((quote) => ({ ...quote, quoted_customer_name: name }))
  return checkRates(quoted, { customer, by, pricing }, parts, {
    advice: lanes.map(({ advice }) => advice),
    pointerOf: (index) => `/lanes/${index}`,
    secretKeys: parts.secretKeys,
  })
}

/** Checks the rates of a quote request without saving it. @throws a 422 for a wrong field, and a 403 for a hidden customer */
export async function checkQuoteRequest(
  body: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<CheckedRate[]> {
  return checkQuotes(readQuoteRequest(body), body, by, await pricingOf(parts, by.tenant, by.now), parts)
}

/**
 * The error for a request key that was sent before with another body.
 *
 * @param madeId the quote request that was created with the key; undefined if the person may not see it
 */
function keyReused(key: string | undefined, madeId?: number): Problem {
  const made = madeId === undefined ? '' : `, and created quote request ${madeId}`
  return problem(
    'request-key-reused',
    `request_key ${key} was sent before with another body${made}. Nothing was created this time. Send a new request_key for a new request, or the same body to repeat that one.`,
  )
}

/** Makes the quotes of a request, once for each request_key. @throws a 422 if a rate is outside the rules */
export async function makeQuotes(
  body: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<AnswerOf<typeof createQuoteRequest>> {
  const { tenant, userId, now } = by
  const { database } = parts
  const read = readQuoteRequest(body)
  const pricing = await pricingOf(parts, tenant, now)
  const checked = await checkQuotes(read, body, by, pricing, parts)
  const make = async (transaction: TenantTransaction) => {
    const key = body.request_key
    const digest = requestDigest(body)
    const made = key === undefined ? null : await savedQuotes.findQuoteRequestByKey(transaction, tenant, key)
    if (made !== null) {
      // Requests stored before digests were introduced have none.
      if (made.request.request_digest?.equals(digest) === false) {
        throw keyReused(key, made.request.request_id)
      }
      return quoteRequestAnswer(transaction, tenant, made)
    }
    // The rules are checked only now, because a repeated request returns its quotes even if the rules changed.
    refuseOtherAdvice(checked)
    refuseOutside(checked, by, (index) => `/lanes/${index}/quoted_rate`)
    const [first, ...rest] = read.map((quote, index) => {
      const rate = checked[index]
      return {
        ...quote,
        ...costColumns(rate?.appraisal.expected ?? null, pricing),
        quoted_customer_name: body.customer_name,
        created_at: new Date(now),
        valid_until: rate === undefined ? null : validUntil(rate, body.lanes[index]?.valid_hours, now),
        forecast: rate?.forecast ?? null,
        outcome_before_booking: null,
      }
    })
    if (first === undefined) throw new Error('A quote request has a quote.')
    const draft: Draft = {
      kind: 'new',
      quotes: [first, ...rest],
      by: userId,
      reference: body.reference ?? null,
      importId: null,
      ...(key === undefined ? {} : { repeatable: { key, digest } }),
    }
    const { identifiers } = database
    const [entered] = await enter(transaction, [draft], { tenant, identifiers })
    const quoteIds = entered?.quotes.map(({ quoteId }) => quoteId) ?? []
    const rows = await newQuotes.insertedQuotes(transaction, tenant, quoteIds)
    const answer = await quoteRequestAnswer(transaction, tenant, {
      request: {
        request_id: rows[0]?.request_id ?? 0,
        customer_name: body.customer_name,
        reference: draft.reference,
        created_at: first.created_at,
      },
      quotes: rows,
    })
    await by.also?.(
      transaction,
      rows.map(({ lane_ref }) => lane_ref),
    )
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(() => keyReused(body.request_key)))
  return {
    ...answered,
    lanes: answered.lanes.map((quote, index) => ({ ...quote, warnings: warningsOf(checked[index]) })),
  }
}
