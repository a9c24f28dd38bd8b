import { roleAtLeast } from '#contract/endpoint.ts'
import type { QuoteOutcome } from '#engine/quote-outcome.ts'
import { isBooked } from '#engine/shipment-update.ts'
import type { PersonCaller } from '../../access/index.ts'
import { pricingOf } from '../../book/index.ts'
import { bookingOf, pricingRules, quoteHistory } from '../../database/queries/index.ts'
import type { QuoteRow } from '../../database/schema/index.ts'
import type { Parts } from '../parts.ts'
import { checkRates } from './check-rates.ts'
import { outsideErrors } from './outside-rules.ts'

/**
 * A quote that was pending this recently can be marked without a check, and one that was voided this recently can be restored, to
 * correct a mistake or for a late acceptance.
 */
const correctionMs = 24 * 3_600_000

/**
 * Whether marking a quote offers its rate again: a quote that was decided or has expired becomes pending, or one that was lost or has
 * expired becomes won. Restoring a voided quote is marking it with its own outcome. A mark never reopens a booked quote, whose rate no
 * rule can prevent any more.
 *
 * @example isReopened(lostQuote, 'won') // true
 */
function isReopened(quote: QuoteRow, to: QuoteOutcome['outcome']): boolean {
  if (isBooked(bookingOf(quote)) || to === 'lost' || to === 'expired') return false
  return quote.voided_at !== null || (quote.outcome !== 'pending' && quote.outcome !== to)
}

type Errors = ReturnType<typeof outsideErrors>

/**
 * The quotes that a person may not mark, by lane_id, each with the errors: the mark would offer its rate again, and the pricing rules
 * do not let this person quote that rate today, or limit validity, and that of the quote has ended. Without this check, an old or
 * imported quote that was lost would be a way around approval. Empty for admins, who could also import such a quote.
 */
export async function refusedReopenings(
  asked: readonly { readonly quote: QuoteRow; readonly outcome: QuoteOutcome['outcome'] }[],
  { caller, now }: { readonly caller: PersonCaller; readonly now: number },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<ReadonlyMap<number, Errors>> {
  const { tenant, userId } = caller
  const reopenings = asked.filter(({ quote, outcome }) => isReopened(quote, outcome))
  if (reopenings.length === 0 || roleAtLeast(caller.role, 'admin')) return new Map()
  const reopened = reopenings.map(({ quote }) => quote)
  const { rules, recent } = await parts.database.inTenant(tenant, async (transaction) => ({
    rules: await pricingRules.readRules(transaction, tenant),
    recent: await quoteHistory.quotesPendingSince(
      transaction,
      tenant,
      reopened.map(({ lane_id }) => lane_id),
      new Date(now - correctionMs),
    ),
  }))
  const over = pricingRules.limitValidity(rules)
    ? new Map(reopenings.flatMap(({ quote, outcome }) => validityErrors(quote, outcome, now)))
    : new Map<number, Errors>()
  if (!pricingRules.refuseQuotes(rules)) return over
  const toCheck = reopened.filter(({ lane_id, voided_at: voided }) =>
    voided === null ? !recent.has(lane_id) : voided.getTime() < now - correctionMs,
  )
  const pricing = await pricingOf(parts, tenant, now)
  const by = { tenant, userId, now, isApproved: false }
  // No customer is passed: the rules find it by its name in the quote, and its effect on the chance does not matter here.
  const checked = await checkRates(toCheck, { customer: null, by, pricing }, parts)
  return new Map([
    ...over,
    ...toCheck.flatMap(({ lane_id }, index) => {
      const verdict = checked[index]?.offer.verdict
      const errors = verdict === undefined ? [] : outsideErrors(verdict, false, '/outcome')
      return errors.length === 0 ? [] : [[lane_id, errors] as const]
    }),
  ])
}

/** The error of a quote that would be pending after the end of its validity, by its lane_id. A restored one expires at once. */
function validityErrors(
  { lane_id, valid_until: end, voided_at: voided }: QuoteRow,
  to: QuoteOutcome['outcome'],
  now: number,
): (readonly [number, Errors])[] {
  if (to !== 'pending' || voided !== null || end === null || end.getTime() > now) return []
  const detail = `It was valid until ${end.toISOString()}.`
  return [[lane_id, [{ pointer: '/outcome', code: 'blocked', detail }]]]
}

const words = (deed: string, instead: string, detail: string) =>
  `${deed} would quote its rate again, which is outside the pricing rules: ask for approval of a new quote, or ask an admin to ${instead} it. ${detail}`

/** Why a quote cannot be restored, in words. */
export function restoringWords(detail: string): string {
  return words('Restoring the quote', 'restore', detail)
}

/** Why a quote cannot be marked, in words. */
export function reopeningWords(outcome: QuoteOutcome['outcome'], detail: string): string {
  return words(`The quote is closed, and ${outcome === 'won' ? 'winning' : 'reopening'} it`, 'mark', detail)
}
