import { problem } from '#contract/errors.ts'
import * as contract from '#contract/quote-requests.ts'
import { savedQuotes } from '../../database/queries/index.ts'
import { oneQuoteAnswer } from '../../quotes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { listChanges } from './list-changes.ts'
import { makeQuotes, quoteRequestAnswer } from './make-quotes.ts'
import { askedRef, noQuote } from './named-quote.ts'
import { rollBackChange } from './roll-back-change.ts'
import { saveRequote } from './save-requote.ts'
import { setOutcome } from './set-outcome.ts'

export const quoteEndpoints: ServedEndpoint[] = [
  serve(contract.createQuoteRequest, ({ caller, body, now }, parts) =>
    makeQuotes(body, { tenant: caller.tenant, userId: caller.userId, now, isApproved: false }, parts),
  ),

  serve(contract.getQuoteRequest, async ({ caller, params }, { database }) => {
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await savedQuotes.findQuoteRequest(transaction, caller.tenant, params.request_id)
      if (found === null)
        throw problem('not-found', `There is no quote request ${params.request_id} in this brokerage.`)
      return quoteRequestAnswer(transaction, caller.tenant, found)
    })
  }),

  serve(contract.getQuote, async ({ caller, params }, { database }) => {
    const ref = askedRef(params.lane_ref)
    return database.inTenant(caller.tenant, async (transaction) => {
      const quote = await savedQuotes.findQuote(transaction, caller.tenant, ref)
      if (quote === null) throw noQuote(ref)
      return oneQuoteAnswer(transaction, caller.tenant, quote)
    })
  }),

  serve(contract.requote, ({ caller, params, body, now }, parts) =>
    saveRequote(
      params.lane_ref,
      body,
      { tenant: caller.tenant, userId: caller.userId, now, isApproved: false },
      parts,
    ),
  ),

  serve(contract.setOutcome, setOutcome),

  serve(contract.listChanges, listChanges),

  serve(contract.rollback, rollBackChange),
]
