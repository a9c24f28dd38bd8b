import { type BodyOf, type Role, roleAtLeast } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import type { setOutcome } from '#contract/quote-requests.ts'
import { quoteChanges as changes, pricingRules } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

type Asked = Pick<BodyOf<typeof setOutcome>, 'outcome' | 'reason'>

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
 * Returns the function that gives the columns to change of a quote that a person marks at `at`, the time of the request.
 *
 * A quote that a person set to pending does not expire. Where rules limit how long a rate is valid, that would be a way around them: a
 * mark of pending leaves a pending quote as it is, and a quote that a member reopens expires as one that nobody marked.
 */
export async function outcomesByPerson(
  transaction: TenantTransaction,
  { tenant, role }: { readonly tenant: TenantId; readonly role: Role },
  at: Date,
) {
  const clock = await changes.databaseNow(transaction)
  const isLimited = pricingRules.limitValidity(await pricingRules.readRules(transaction, tenant))
  return (quote: QuoteRow, asked: Asked) => {
    const { outcome } = asked
    if (isLimited && outcome === 'pending' && quote.outcome === 'pending') return {}
    const stillExpires = isLimited && outcome === 'pending' && !roleAtLeast(role, 'admin')
    return outcomeByPerson(quote, asked, { at, clock, stillExpires })
  }
}

/** The columns to change of a quote that a person marks at `at`, the time of the request. `clock` is the time of the database. */
export function outcomeByPerson(
  quote: QuoteRow,
  { outcome, reason }: Asked,
  { at, clock, stillExpires = false }: { at: Date; clock: Date; stillExpires?: boolean },
) {
  const decided = quote.outcome === outcome ? (quote.decided_at ?? at) : at
  const decision = {
    outcome,
    reason: reason ?? null,
    source: stillExpires ? null : 'dashboard',
    decidedAt: outcome === 'pending' ? null : decided.getTime(),
  } as const
  return changes.decisionValues(quote, decision, clock)
}
