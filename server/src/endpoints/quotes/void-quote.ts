import { problem } from '#contract/errors.ts'
import { restoreQuote, voidQuote } from '#contract/void-quote.ts'
import { isBooked } from '#engine/shipment-update.ts'
import { bookingOf, quoteChanges as changes, savedQuotes } from '../../database/queries/index.ts'
import type { QuoteRow } from '../../database/schema/index.ts'
import { oneQuoteAnswer } from '../../quotes/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { askedRef, lockedQuote } from './named-quote.ts'
import { refusedReopenings, restoringWords } from './reopened-quotes.ts'

/** @throws Problem outside-rules if restoring the quote would offer a rate that the rules do not let this person quote */
async function refuseOutside(
  { caller, params, now }: Call<typeof restoreQuote>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<void> {
  const quote = await parts.database.inTenant(caller.tenant, (transaction) =>
    savedQuotes.findQuote(transaction, caller.tenant, askedRef(params.lane_ref)),
  )
  if (quote === null || quote.voided_at === null) return
  const { outcome } = quote
  const errors = (await refusedReopenings([{ quote, outcome }], { caller, now }, parts)).get(quote.lane_id)
  if (errors === undefined) return
  throw problem('outside-rules', restoringWords(errors[0]?.detail ?? ''), { errors })
}

/** Voids or restores a quote: sets the values that `valuesOf` returns, in one transaction. */
async function changeVoid(
  { caller, params, now }: Pick<Call<typeof restoreQuote>, 'caller' | 'params' | 'now'>,
  { database }: Pick<Parts, 'database'>,
  valuesOf: (quote: QuoteRow) => Pick<QuoteRow, 'voided_at' | 'void_reason'>,
) {
  return database.inTenant(caller.tenant, async (transaction) => {
    const quote = await lockedQuote(transaction, caller.tenant, params.lane_ref)
    const origin = { source: 'dashboard', userId: caller.userId } as const
    const changed = await changes.changeQuote(
      transaction,
      caller.tenant,
      quote,
      valuesOf(quote),
      origin,
      new Date(now),
    )
    return oneQuoteAnswer(transaction, caller.tenant, changed)
  })
}

export const voidQuoteEndpoints: ServedEndpoint[] = [
  serve(voidQuote, (call, parts) =>
    changeVoid(call, parts, (quote) => {
      if (isBooked(bookingOf(quote))) {
        throw problem(
          'state-conflict',
          `Quote ${quote.lane_ref} is booked, so it was not a mistake. Cancel the booking in the TMS first.`,
        )
      }
      return { voided_at: quote.voided_at ?? new Date(call.now), void_reason: call.body.reason }
    }),
  ),

  serve(restoreQuote, async (call, parts) => {
    await refuseOutside(call, parts)
    return changeVoid(call, parts, () => ({ voided_at: null, void_reason: null }))
  }),
]
