import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/quote-requests.ts'
import { quoteChanges as changes, quoteHistory, savedQuotes } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { askedRef, noQuote } from './named-quote.ts'

/** The history of a quote, newest change first. @throws Problem not-found */
export async function listChanges(
  { caller, params }: Call<typeof contract.listChanges>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.listChanges>> {
  return database.inTenant(caller.tenant, async (transaction) => {
    const quote = await savedQuotes.findQuote(transaction, caller.tenant, askedRef(params.lane_ref))
    if (quote === null) throw noQuote(params.lane_ref)
    const rows = await quoteHistory.listChanges(transaction, caller.tenant, quote.lane_id)
    return {
      changes: rows.map((row) => ({
        change_id: row.change_number,
        source: row.source,
        changed_by: row.user_id === null ? null : { user_id: row.user_id, name: row.user_name ?? '' },
        changed_at: row.changed_at.toISOString(),
        before: changes.auditedForApi(row.before),
        after: changes.auditedForApi(row.after),
        rule: row.rule,
        rolled_back_change_id: row.rolled_back_change,
      })),
    }
  })
}
