import { invalid, problem } from '#contract/errors.ts'
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
import { type AdviceRefused, loadText, shownAdvice } from '../pricing/shown-advice.ts'
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
> &
  Partial<Pick<QuoteRow, 'rate_type' | 'mode' | 'stops'>> & { readonly quoted_customer_name: string }

/** The advice that a person saw on quotes to check. */
export interface AdviceSeen {
  /** By the index of the quote. Undefined: current numbers count. */
  readonly advice: readonly (string | undefined)[]
  /** The pointer of a quote's fields in the body. */
  readonly pointerOf: (index: number) => string
  readonly secretKeys: Parts['secretKeys']
}

/** The customer of quotes to check, who makes them, and the book and the rules. */
export interface CheckedBy {
  readonly customer: NamedCustomer | null
  readonly by: QuotedBy
  readonly pricing: Pricing
}

/** A quote to save: its appraisal, the appraisal at its rate, and its forecast. */
export interface CheckedRate {
  readonly appraisal: Appraisal
  readonly offer: AppraisedRate
  /** The forecast to save with the quote; null if there is none. */
  readonly forecast: string | null
  /** Why the advice of the person does not count; null if it does, or if there is none. */
  readonly adviceRefused: AdviceRefused | null
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
 * Appraises quotes of one customer, before they are in the book, to check their rates against the rules: by the advice that the person
 * saw, else by the current book. A saved quote would itself move the going rate.
 */
export async function checkRates(
  quoted: readonly RateToCheck[],
  { customer, by, pricing }: CheckedBy,
  { database }: Pick<Parts, 'database'>,
  seen: AdviceSeen | null = null,
): Promise<CheckedRate[]> {
  const { tenant, userId, now } = by
  const read: Reader = (work) => database.inTenant(tenant, work)
  const appraise = appraiser(pricing, { tenant, now, read })
  const checked: CheckedRate[] = []
  for (const [index, quote] of quoted.entries()) {
    const asked = {
      lane: quote,
      quotedFor: {
        customerName: quote.quoted_customer_name,
        repId: userId,
        rateType: quote.rate_type ?? null,
      },
      quoted: quote,
      enteredCents: quote.estimated_cost_cents ?? null,
      customer,
    }
    const current = await appraise(asked)
    const found = adviceOn(index, quote, { current, by, pricing }, seen)
    const appraisal =
      found !== null && 'shown' in found ? await appraise({ ...asked, shown: found.shown }) : current
    const offer = appraisal.at(quote.quoted_rate_cents)
    checked.push({
      appraisal,
      offer,
      forecast: recordedForecast(appraisal, offer, quote, now),
      adviceRefused: found !== null && 'error' in found ? found : null,
    })
  }
  return checked
}

/** The advice that the person saw on a quote, or why it does not count; null if none was sent. */
function adviceOn(
  index: number,
  { quoted_customer_name: customerName, quoted_rate_cents: rateCents, ...load }: RateToCheck,
  { current, by, pricing }: { readonly current: Appraisal } & Pick<CheckedBy, 'by' | 'pricing'>,
  seen: AdviceSeen | null,
): ReturnType<typeof shownAdvice> | null {
  const text = seen?.advice[index]
  if (seen === null || text === undefined) return null
  const { tenant, userId, now } = by
  const pointer = `${seen.pointerOf(index)}/advice`
  return shownAdvice(
    text,
    { appraisal: current, offer: current.at(rateCents) },
    { tenant, userId, customerName, load: loadText(load), now, settings: pricing.settings, pointer },
    seen.secretKeys,
  )
}

/** @throws a 422 for advice on another quote, or made up, and a 409 for advice that is too old */
export function refuseOtherAdvice(checked: readonly Pick<CheckedRate, 'adviceRefused'>[]): void {
  const refused = checked.flatMap(({ adviceRefused }) => adviceRefused ?? [])
  const wrong = refused.filter(({ isStale }) => !isStale).map(({ error }) => error)
  if (wrong.length > 0) throw invalid(wrong)
  const errors = refused.map(({ error }) => error)
  if (errors[0] !== undefined) throw problem('state-conflict', errors[0].detail, { errors })
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
