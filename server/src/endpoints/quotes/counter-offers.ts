import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import type { requote } from '#contract/quote-requests.ts'
import type { CounterOffer } from '#engine/estimate/counter-offer.ts'
import { centsFromDollars, formatDollars } from '#engine/money.ts'
import { quoteChanges as changes } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { outcomeByPerson, voidWords } from './outcome-by-person.ts'

type Requoted = Pick<
  BodyOf<typeof requote>,
  'counter_rate' | 'quoted_rate' | 'quoted_basis' | 'quoted_currency'
>

/** The counter-offer for the rate of a quote. @param counterRate dollars */
export function counterOfferTo(
  { quoted_rate_cents: quotedCents }: Pick<QuoteRow, 'quoted_rate_cents'>,
  counterRate: number,
): CounterOffer {
  return { quotedCents, counterCents: centsFromDollars(counterRate) ?? 0 }
}

/** The error of a counter-offer that is not below the quoted rate. @param pointer of its field */
export function counterErrors(
  { quotedCents, counterCents }: CounterOffer,
  pointer = '/counter_rate',
): FieldError[] {
  if (counterCents < quotedCents) return []
  return [
    {
      pointer,
      code: 'invalid',
      detail: `counter_rate must be below the quoted rate of ${formatDollars(quotedCents)}. A customer who agrees to that rate has accepted the quote: mark it won instead.`,
    },
  ]
}

/** Whether a requote is at the rate that the customer named. */
export function isAccepted({ counter_rate, quoted_rate }: Requoted): boolean {
  return counter_rate === quoted_rate
}

/** Checks a requote that answers a counter-offer. Others pass. @throws a 409 if the quote is void, or a 422 */
export function checkCounterOffer(quote: QuoteRow, body: Requoted): void {
  const { counter_rate, quoted_rate, quoted_basis, quoted_currency } = body
  if (counter_rate === undefined) return
  if (quote.voided_at !== null) throw problem('state-conflict', voidWords(quote))
  const offer = counterOfferTo(quote, counter_rate)
  const errors = counterErrors(offer)
  if (quoted_rate < counter_rate) {
    errors.push({
      pointer: '/quoted_rate',
      code: 'invalid',
      detail: `quoted_rate must be at least counter_rate: the customer would pay ${formatDollars(offer.counterCents)}.`,
    })
  }
  const changed = [
    ...(quoted_basis !== undefined && quoted_basis !== quote.quoted_basis ? ['quoted_basis'] : []),
    ...(quoted_currency !== undefined && quoted_currency !== (quote.quoted_currency ?? 'USD')
      ? ['quoted_currency']
      : []),
  ]
  errors.push(
    ...changed.map((field) => ({
      pointer: `/${field}`,
      code: 'invalid' as const,
      detail: `${field} must be that of the quote, because counter_rate is compared with it. Leave it out.`,
    })),
  )
  if (errors.length > 0) throw invalid(errors)
}

/** Who recorded a counter-offer, and when. */
interface Recorded {
  readonly userId: number
  readonly at: Date
}

/**
 * Saves the customer's counter-offer with the quote that it answers. The customer refused the quoted rate, so a quote that is not
 * decided is lost for its price.
 */
export async function recordCounterOffer(
  transaction: TenantTransaction,
  tenant: TenantId,
  quote: QuoteRow,
  counterRate: number,
  { userId, at }: Recorded,
): Promise<QuoteRow> {
  const clock = await changes.databaseNow(transaction)
  const lost = outcomeByPerson(quote, { outcome: 'lost', reason: 'price' }, { at, clock })
  return changes.changeQuote(
    transaction,
    tenant,
    quote,
    {
      counter_rate_cents: centsFromDollars(counterRate),
      ...(quote.outcome === 'lost' ? {} : lost),
    },
    { source: 'dashboard', userId },
    at,
  )
}

/** Marks a quote as won, because it is at the rate that the customer named. */
export async function winAccepted(
  transaction: TenantTransaction,
  tenant: TenantId,
  quote: QuoteRow,
  { userId, at }: Recorded,
): Promise<QuoteRow> {
  const clock = await changes.databaseNow(transaction)
  const won = outcomeByPerson(quote, { outcome: 'won' }, { at, clock })
  return changes.changeQuote(transaction, tenant, quote, won, { source: 'dashboard', userId }, at)
}
