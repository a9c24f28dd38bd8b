import type { BodyOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import type { setOutcome } from '#contract/quote-requests.ts'
import { quoteChanges as changes, pricingRules } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/** Why a voided quote cannot be marked. */
export function voidWords({ lane_ref }: Pick<QuoteRow, 'lane_ref'>): string {
  return `Quote ${lane_ref} is void, so no outcome of it counts. Restore it first.`
}

/** Whether a later offer for the same load counts instead of this one. */
function isReplaced({
  superseded_by,
  quote_count,
}: Pick<QuoteRow, 'superseded_by' | 'quote_count'>): boolean {
  return superseded_by !== null && Number(superseded_by.split('-').at(-1)) > quote_count
}

/** Why an offer cannot be won that a later one for the same load replaced; null if it can. */
export function replacedWords(
  quote: Pick<QuoteRow, 'superseded_by' | 'quote_count' | 'lane_ref'>,
  { outcome }: Pick<BodyOf<typeof setOutcome>, 'outcome'>,
): string | null {
  if (outcome !== 'won' || !isReplaced(quote)) return null
  return `Quote ${quote.superseded_by} is a later offer for the load of quote ${quote.lane_ref}, and a load is won once: mark that one won, or void it first if the customer took this rate.`
}

/** The error of a field that is only for a loss. @param path of the field, such as "lanes/0/reason" */
export function wrongReason(path: string): FieldError {
  const field = path.split('/').at(-1) ?? path
  return {
    pointer: `/${path}`,
    code: 'invalid',
    detail: `${field} is only accepted with outcome lost; remove it.`,
  }
}

/**
 * Whether a mark of pending leaves a pending quote unchanged. Otherwise, the quote would never expire, because a person decided that
 * it stays open. That would be a way around rules that limit how long a rate is valid.
 */
export async function keepsPendingAsIs(transaction: TenantTransaction, tenant: TenantId) {
  const isLimited = pricingRules.limitValidity(await pricingRules.readRules(transaction, tenant))
  return (quote: QuoteRow, { outcome }: Pick<BodyOf<typeof setOutcome>, 'outcome'>) =>
    isLimited && outcome === 'pending' && quote.outcome === 'pending'
}

/** The columns to change of a quote that a person marks at `at`, the time of the request. `clock` is the time of the database. */
export function outcomeByPerson(
  quote: QuoteRow,
  { outcome, reason }: Pick<BodyOf<typeof setOutcome>, 'outcome' | 'reason'>,
  { at, clock }: { readonly at: Date; readonly clock: Date },
) {
  const decided = quote.outcome === outcome ? (quote.decided_at ?? at) : at
  const decision = {
    outcome,
    reason: reason ?? null,
    source: 'dashboard',
    decidedAt: outcome === 'pending' ? null : decided.getTime(),
  } as const
  return changes.decisionValues(quote, decision, clock)
}
