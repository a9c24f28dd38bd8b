import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import type { requote } from '#contract/quote-requests.ts'
import { centsFromDollars, formatDollars } from '#engine/money.ts'
import { chargesFit, type RateBasis } from '#engine/rate-basis.ts'
import { costColumns, type Pricing, pricingOf, termsOfQuote } from '../../book/index.ts'
import { people, savedQuotes } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { chargesErrors, enter, requoteOf } from '../../entering/index.ts'
import { oneQuoteAnswer } from '../../quotes/index.ts'
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
import { checkCounterOffer, isAccepted, recordCounterOffer, winAccepted } from './counter-offers.ts'
import { orHidden } from './hidden-customers.ts'
import { askedRef, lockedQuote, noQuote } from './named-quote.ts'

type Requote = BodyOf<typeof requote>

/**
 * @throws a 409 if an offer for the load is already won. This happens, for example, if an acceptance is sent twice, because its
 *   answer was lost or two people sent it.
 */
async function refuseIfWon(transaction: TenantTransaction, tenant: TenantId, quote: QuoteRow): Promise<void> {
  const won = await savedQuotes.lockedWon(transaction, tenant, quote)
  if (won === null) return
  const which =
    won === quote.lane_ref
      ? `Quote ${won}`
      : `Quote ${won}, an offer for the load of quote ${quote.lane_ref},`
  throw problem(
    'state-conflict',
    `${which} is won, so the load needs no further offer. Set it pending first if that is wrong, or make a new quote request for another load.`,
  )
}

/** The errors of a requote's charges: those that were sent, or those copied from the earlier quote. */
function requoteErrors(body: Requote, before: QuoteRow, assumed: RateBasis): FieldError[] {
  const sent = chargesErrors('quoted', 'quoted_rate', body)
  if (sent.length > 0) return sent
  const terms = termsOfQuote(requoteOf(body, before, assumed))
  const amount = { ...terms, cents: centsFromDollars(body.quoted_rate) ?? 0 }
  if (chargesFit(amount, 'all_in')) return []
  const detail = `quoted_rate must be more than the charges of the earlier quote, which it contains: ${formatDollars((terms.fuelCents ?? 0) + (terms.accessorialCents ?? 0))}. It is ${formatDollars(amount.cents)}. Send quoted_fuel and quoted_accessorials if they changed.`
  return [{ pointer: '/quoted_rate', code: 'invalid', detail }]
}

/** The error if the load has a later quote that the person may not see. */
const noNextQuote = () =>
  problem(
    'state-conflict',
    'You cannot quote this load again. Make a new quote request, or ask an admin. Nothing was saved.',
  )

/** A requote before it is saved: the quote as it would be, and the check of its rate. */
interface CheckedRequote extends CheckedRate {
  readonly next: QuoteRow
}

async function checkNext(
  ref: string,
  body: Requote,
  by: QuotedBy,
  pricing: Pricing,
  parts: Pick<Parts, 'database' | 'secretKeys'>,
): Promise<CheckedRequote> {
  const { quoted, assumed } = await parts.database.inTenant(by.tenant, async (transaction) => {
    const found = await savedQuotes.findQuote(transaction, by.tenant, askedRef(ref))
    if (found === null) throw noQuote(ref)
    // This is checked before the rules, so that nobody requests approval of a rate that cannot be quoted.
    await refuseIfWon(transaction, by.tenant, found)
    return { quoted: found, assumed: await people.defaultBasisOf(transaction, by.tenant) }
  })
  checkCounterOffer(quoted, body)
  const errors = requoteErrors(body, quoted, assumed)
  if (errors.length > 0) throw invalid(errors)
  const next = { ...quoted, ...requoteOf(body, quoted, assumed) }
  const customer = await customerToQuote(next.quoted_customer_name, pricing, by.tenant, parts)
  const seen = { advice: [body.advice], pointerOf: () => '', secretKeys: parts.secretKeys }
  const [checked] = await checkRates([next], { customer, by, pricing }, parts, seen)
  if (checked === undefined) throw new Error('A rate that is checked has an appraisal.')
  return { ...checked, next }
}

/** Checks a requote without saving it. @throws a 404, a 409 if the load is won, or a 422 for a wrong field */
export async function checkRequote(
  ref: string,
  body: Requote,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<CheckedRequote> {
  return checkNext(ref, body, by, await pricingOf(parts, by.tenant, by.now), parts)
}

/**
 * Quotes the load of a quote again. With `counter_rate`, the rate that the customer named is saved with the earlier quote, and the
 * requote is won if it is at that rate.
 *
 * @throws like `checkRequote`, and a 422 if the rate is outside the rules
 */
export async function saveRequote(
  ref: string,
  body: Requote,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
): Promise<AnswerOf<typeof requote>> {
  const { tenant, userId, now } = by
  const { database } = parts
  const pricing = await pricingOf(parts, tenant, now)
  const checked = await checkNext(ref, body, by, pricing, parts)
  refuseOtherAdvice([checked])
  refuseOutside([checked], by, () => '/quoted_rate')
  const recorded = { userId, at: new Date(now) }
  const make = async (transaction: TenantTransaction) => {
    const quoted = await lockedQuote(transaction, tenant, ref)
    // Again, under the lock: somebody else may have accepted since the check.
    await refuseIfWon(transaction, tenant, quoted)
    checkCounterOffer(quoted, body)
    if (body.counter_rate !== undefined)
      await recordCounterOffer(transaction, tenant, quoted, body.counter_rate, recorded)
    const next = {
      ...requoteOf(body, quoted, await people.defaultBasisOf(transaction, tenant)),
      ...costColumns(checked.appraisal.expected, pricing),
      valid_until: validUntil(checked, body.valid_hours, now),
      createdBy: userId,
      createdAt: recorded.at,
      // An accepted requote gets no forecast, because its outcome is already known.
      forecast: isAccepted(body) ? null : checked.forecast,
    }
    const { identifiers } = database
    const [entered] = await enter(transaction, [{ kind: 'requote', quoted, next }], { tenant, identifiers })
    const made = entered?.row
    if (made === undefined || made === null) throw new Error('A requote makes a quote.')
    const offered = isAccepted(body) ? await winAccepted(transaction, tenant, made, recorded) : made
    const answer = await oneQuoteAnswer(transaction, tenant, offered)
    await by.also?.(transaction, [made.lane_ref])
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(noNextQuote))
  return { ...answered, warnings: warningsOf(checked) }
}
