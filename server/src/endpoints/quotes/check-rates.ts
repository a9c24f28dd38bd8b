import type { Appraisal, AppraisedRate } from '#engine/appraisal/appraisal.ts'
import {
  appraiser,
  type NamedCustomer,
  namedCustomer,
  type Pricing,
  type Reader,
  recordedForecast,
} from '../../book/index.ts'
import type { newQuotes } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'
import { fieldWarnings } from '../pricing/rate-warnings.ts'
import { outsideErrors, outsideRules } from './outside-rules.ts'

/** Who makes a quote, and when. If `isApproved`, an approver has approved its rates, so only a rule that blocks can refuse it. */
export interface QuotedBy {
  readonly tenant: TenantId
  readonly userId: number
  readonly now: number
  readonly isApproved: boolean
  /** Runs in the transaction that makes the quotes. If it throws, no quote is made. */
  readonly also?: (transaction: TenantTransaction, laneRefs: readonly string[]) => Promise<void>
}

/** The columns of a quote that its price depends on. */
export type RateToCheck = Pick<
  newQuotes.NewQuote,
  | 'origin'
  | 'destination'
  | 'origin_market'
  | 'destination_market'
  | newQuotes.CostColumn
  | newQuotes.QuotedAmountColumn
> & { readonly quoted_customer_name: string; readonly rate_type?: QuoteRow['rate_type'] }

/** A quote to save: its appraisal, the appraisal at its rate, and its forecast. */
export interface CheckedRate {
  readonly appraisal: Appraisal
  readonly offer: AppraisedRate
  /** The forecast to save with the quote; null if there is none. */
  readonly forecast: string | null
}

/** Reads the customer of quotes to check. */
export function customerToQuote(
  name: string | undefined,
  pricing: Pricing,
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<NamedCustomer | null> {
  return namedCustomer(name, pricing, tenant, (work) => database.inTenant(tenant, work))
}

/**
 * Appraises quotes of one customer by the current book, before they are in it, to check their rates against the rules. A saved quote
 * would itself move the going rate.
 */
export async function checkRates(
  quoted: readonly RateToCheck[],
  customer: NamedCustomer | null,
  { tenant, userId, now }: QuotedBy,
  pricing: Pricing,
  { database }: Pick<Parts, 'database'>,
): Promise<CheckedRate[]> {
  const read: Reader = (work) => database.inTenant(tenant, work)
  const appraise = appraiser(pricing, { tenant, now, read })
  const checked = []
  for (const quote of quoted) {
    const appraisal = await appraise({
      lane: quote,
      quotedFor: {
        customerName: quote.quoted_customer_name,
        repId: userId,
        rateType: quote.rate_type ?? null,
      },
      quoted: quote,
      enteredCents: quote.estimated_cost_cents ?? null,
      customer,
    })
    const offer = appraisal.at(quote.quoted_rate_cents)
    checked.push({ appraisal, offer, forecast: recordedForecast(appraisal, offer, quote, now) })
  }
  return checked
}

/** @throws a 422 for quotes that the rules block, or that need approval which they do not have */
export function refuseOutside(
  checked: readonly Pick<CheckedRate, 'offer'>[],
  { isApproved }: Pick<QuotedBy, 'isApproved'>,
  pointerOf: (index: number) => string,
): void {
  const errors = checked.flatMap(({ offer }, index) =>
    outsideErrors(offer.verdict, isApproved, pointerOf(index)),
  )
  if (errors.length > 0) throw outsideRules(errors)
}

/** When a quote's rate ends: after the hours that the person chose, or earlier if the rules allow less; null if neither limits it. */
export function validUntil(
  { appraisal }: Pick<CheckedRate, 'appraisal'>,
  validHours: number | undefined,
  now: number,
): Date | null {
  const { validDays } = appraisal.rules
  const hours = Math.min(
    validHours ?? Number.POSITIVE_INFINITY,
    validDays === null ? Number.POSITIVE_INFINITY : validDays.value * 24,
  )
  return Number.isFinite(hours) ? new Date(now + hours * 3_600_000) : null
}

/** The warnings about the rate of a saved quote, in the form of the API. */
export function warningsOf(checked: Pick<CheckedRate, 'offer'> | undefined) {
  return checked === undefined ? [] : fieldWarnings('quoted_rate', checked.offer)
}
