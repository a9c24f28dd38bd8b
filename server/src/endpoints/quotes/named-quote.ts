import { invalid, problem } from '#contract/errors.ts'
import { isDisplayText } from '#contract/fields.ts'
import { savedQuotes } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/** The 404 for a quote. It is the same for a quote of another tenant and for one that does not exist. */
export function noQuote(ref: string) {
  return problem('lane-not-found', `No lane was found for lane_ref "${ref}".`)
}

/** A lane_ref from a URL. Any text without control characters is looked up. */
export function askedRef(ref: string): string {
  if ([...ref].length > 200 || !isDisplayText(ref)) {
    throw invalid([
      { parameter: 'lane_ref', code: 'invalid', detail: 'lane_ref must be text of 1 to 200 characters.' },
    ])
  }
  return ref
}

/** The quote, locked until the end of the transaction. */
export async function lockedQuote(transaction: TenantTransaction, tenant: TenantId, ref: string) {
  const quote = await savedQuotes.lockQuote(transaction, tenant, askedRef(ref))
  if (quote === null) throw noQuote(ref)
  return quote
}
