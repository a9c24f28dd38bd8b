import { problem } from '#contract/errors.ts'
import * as contract from '#contract/quote-requests.ts'
import { lanes } from '../../database/queries/index.ts'
import { laneAnswer } from '../../lanes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { listChanges } from './list-changes.ts'
import { askedRef, noLane } from './named-lane.ts'
import { quoteLanes, quoteRequestAnswer } from './quote-lanes.ts'
import { requoteLane } from './requote-lane.ts'
import { rollBackChange } from './roll-back-change.ts'
import { setOutcome } from './set-outcome.ts'

export const quoteEndpoints: ServedEndpoint[] = [
  serve(contract.createQuoteRequest, ({ caller, body, now }, parts) =>
    quoteLanes(body, { tenant: caller.tenant, userId: caller.userId, now, isApproved: false }, parts),
  ),

  serve(contract.getQuoteRequest, async ({ caller, params }, { database }) => {
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await lanes.findQuoteRequest(transaction, caller.tenant, params.request_id)
      if (found === null)
        throw problem('not-found', `There is no quote request ${params.request_id} in this brokerage.`)
      return quoteRequestAnswer(transaction, caller.tenant, found)
    })
  }),

  serve(contract.getLane, async ({ caller, params }, { database }) => {
    const ref = askedRef(params.lane_ref)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, ref)
      if (lane === null) throw noLane(ref)
      return laneAnswer(transaction, caller.tenant, lane)
    })
  }),

  serve(contract.requote, ({ caller, params, body, now }, parts) =>
    requoteLane(
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
