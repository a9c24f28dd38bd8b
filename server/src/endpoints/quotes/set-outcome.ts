import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import type * as contract from '#contract/quote-requests.ts'
import { quoteChanges as changes, savedQuotes } from '../../database/queries/index.ts'
import { oneQuoteAnswer } from '../../quotes/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { counterErrors, counterOfferTo } from './counter-offers.ts'
import { askedRef, lockedQuote, noQuote } from './named-quote.ts'
import { outcomesByPerson, replacedWords, voidWords, wrongReason } from './outcome-by-person.ts'
import { refusedReopenings, reopeningWords } from './reopened-quotes.ts'

/** Sets the outcome of a quote as a person marks it. @throws Problem not-found, state-conflict for a void or superseded quote, outside-rules, 422 */
export async function setOutcome(
  { caller, params, body, now }: Call<typeof contract.setOutcome>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.setOutcome>> {
  const { outcome, reason, counter_rate } = body
  const errors = [
    ...(reason !== undefined && outcome !== 'lost' ? [wrongReason('reason')] : []),
    ...(counter_rate !== undefined && outcome !== 'lost' ? [wrongReason('counter_rate')] : []),
  ]
  if (errors.length > 0) throw invalid(errors)
  const at = new Date(now)
  const { database } = parts
  const known = await database.inTenant(caller.tenant, (transaction) =>
    savedQuotes.findQuote(transaction, caller.tenant, askedRef(params.lane_ref)),
  )
  if (known === null) throw noQuote(params.lane_ref)
  const refused = await refusedReopenings([{ quote: known, ...body }], { caller, now }, parts)
  return database.inTenant(caller.tenant, async (transaction) => {
    const quote = await lockedQuote(transaction, caller.tenant, params.lane_ref)
    if (quote.voided_at !== null) throw problem('state-conflict', voidWords(quote))
    const replaced = replacedWords(quote, body)
    if (replaced !== null) throw problem('state-conflict', replaced)
    const named = counter_rate === undefined ? null : counterOfferTo(quote, counter_rate)
    const wrongCounter = named === null ? [] : counterErrors(named)
    if (wrongCounter.length > 0) throw invalid(wrongCounter)
    const outside = refused.get(quote.lane_id)
    if (outside !== undefined) {
      throw problem('outside-rules', reopeningWords(body.outcome, outside[0]?.detail ?? ''), {
        errors: outside,
      })
    }
    const outcomeOf = await outcomesByPerson(transaction, caller, at)
    const next = {
      ...outcomeOf(quote, body),
      ...(named === null ? {} : { counter_rate_cents: named.counterCents }),
    }
    const origin = { source: 'dashboard', userId: caller.userId } as const
    return oneQuoteAnswer(
      transaction,
      caller.tenant,
      await changes.changeQuote(transaction, caller.tenant, quote, next, origin, at),
    )
  })
}
