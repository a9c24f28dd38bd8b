import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/quote-requests.ts'
import { recordEvent } from '../../audit/index.ts'
import { quoteChanges as changes, quoteHistory } from '../../database/queries/index.ts'
import type { QuoteRow } from '../../database/schema/index.ts'
import { oneQuoteAnswer } from '../../quotes/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { lockedQuote } from './named-quote.ts'

/** The values to restore, with an outcome's time. The rolled-back change may not contain the time, because a later change cleared it. */
function decidedInTime(
  quote: QuoteRow,
  values: Partial<changes.ChangeableValues>,
  at: Date,
): Partial<changes.ChangeableValues> {
  const outcome = values.outcome ?? quote.outcome
  // A rollback of an expiry is a person's decision, so that the quote does not expire again.
  if (quote.outcome === 'expired' && outcome === 'pending')
    return { ...values, outcome_source: 'dashboard', decided_at: null }
  const decidedAt = values.decided_at === undefined ? quote.decided_at : values.decided_at
  return (outcome === 'pending') === (decidedAt === null)
    ? values
    : { ...values, decided_at: outcome === 'pending' ? null : at }
}

/** Restores what a change of a quote replaced, and records that as a change, too. @throws Problem not-found */
export async function rollBackChange(
  call: Call<typeof contract.rollback>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.rollback>> {
  const { caller, params, body } = call
  return database.inTenant(caller.tenant, async (transaction) => {
    const quote = await lockedQuote(transaction, caller.tenant, params.lane_ref)
    // The time is that of the database's clock, as for signed updates: updates that arrived before are older than the
    // rollback.
    const at = await changes.databaseNow(transaction)
    const change = await quoteHistory.findChange(transaction, caller.tenant, quote.lane_id, body.change_id)
    if (change === null)
      throw problem('not-found', `Quote ${quote.lane_ref} has no change ${body.change_id}.`)
    const next = decidedInTime(quote, changes.rollbackValues(quote, change.before, at), at)
    const origin = {
      source: 'dashboard',
      userId: caller.userId,
      rolledBackChange: change.change_number,
    } as const
    const rolledBack = await changes.changeQuote(transaction, caller.tenant, quote, next, origin, at)
    const answer = await oneQuoteAnswer(transaction, caller.tenant, rolledBack)
    await recordEvent(transaction, call, 'change-rolled-back', {
      about: { lane_ref: quote.lane_ref, change_id: change.change_number },
    })
    return answer
  })
}
