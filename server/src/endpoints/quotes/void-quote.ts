import { problem } from '#contract/errors.ts'
import { restoreQuote, voidQuote } from '#contract/void-quote.ts'
import { isBooked } from '#engine/shipment-update.ts'
import { bookingOf, laneChanges as changes } from '../../database/queries/index.ts'
import type { LaneRow } from '../../database/schema/index.ts'
import { laneAnswer } from '../../lanes/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { lockedLane } from './named-lane.ts'

/** Voids or restores a quote: sets the values that `valuesOf` returns, in one transaction. */
async function changeVoid(
  { caller, params, now }: Pick<Call<typeof restoreQuote>, 'caller' | 'params' | 'now'>,
  { database }: Parts,
  valuesOf: (lane: LaneRow) => Pick<LaneRow, 'voided_at' | 'void_reason'>,
) {
  return database.inTenant(caller.tenant, async (transaction) => {
    const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
    const origin = { source: 'dashboard', userId: caller.userId } as const
    const changed = await changes.changeLane(
      transaction,
      caller.tenant,
      lane,
      valuesOf(lane),
      origin,
      new Date(now),
    )
    return laneAnswer(transaction, caller.tenant, changed)
  })
}

export const voidQuoteEndpoints: ServedEndpoint[] = [
  serve(voidQuote, (call, parts) =>
    changeVoid(call, parts, (lane) => {
      if (isBooked(bookingOf(lane))) {
        throw problem(
          'state-conflict',
          `Quote ${lane.lane_ref} is booked, so it was not a mistake. Cancel the booking in the TMS first.`,
        )
      }
      return { voided_at: lane.voided_at ?? new Date(call.now), void_reason: call.body.reason }
    }),
  ),

  serve(restoreQuote, (call, parts) =>
    changeVoid(call, parts, () => ({ voided_at: null, void_reason: null })),
  ),
]
