import { invalid, problem } from '#contract/errors.ts'
import {
  createQuoteRequest,
  getLane,
  getQuoteRequest,
  listChanges,
  requote,
  rollback,
  setOutcome,
} from '#contract/quote-requests.ts'
import { recordEvent } from '../../audit/index.ts'
import { laneChanges as changes, laneHistory, lanes } from '../../database/queries/index.ts'
import type { LaneRow } from '../../database/schema/index.ts'
import { laneAnswer } from '../../lanes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { counterErrors, counterOfferTo } from './counter-offers.ts'
import { askedRef, lockedLane, noLane } from './named-lane.ts'
import {
  keepsPendingAsIs,
  outcomeByPerson,
  replacedWords,
  voidWords,
  wrongReason,
} from './outcome-by-person.ts'
import { quoteLanes, quoteRequestAnswer } from './quote-lanes.ts'
import { refusedReopenings, reopeningWords } from './reopened-quotes.ts'
import { requoteLane } from './requote-lane.ts'

/**
 * The values to restore. An outcome and its time are restored together: a change records only what it changed, so the
 * time may have been cleared by a later change.
 */
function decidedInTime(
  lane: LaneRow,
  values: Partial<changes.HeldValues>,
  at: Date,
): Partial<changes.HeldValues> {
  const outcome = values.outcome ?? lane.outcome
  // A rollback of an expiry is a person's decision, so that the quote does not expire again.
  if (lane.outcome === 'expired' && outcome === 'pending')
    return { ...values, outcome_source: 'dashboard', decided_at: null }
  const decidedAt = values.decided_at === undefined ? lane.decided_at : values.decided_at
  return (outcome === 'pending') === (decidedAt === null)
    ? values
    : { ...values, decided_at: outcome === 'pending' ? null : at }
}

export const quoteEndpoints: ServedEndpoint[] = [
  serve(createQuoteRequest, ({ caller, body, now }, parts) =>
    quoteLanes(body, { tenant: caller.tenant, userId: caller.userId, now, isApproved: false }, parts),
  ),

  serve(getQuoteRequest, async ({ caller, params }, { database }) => {
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await lanes.findQuoteRequest(transaction, caller.tenant, params.request_id)
      if (found === null)
        throw problem('not-found', `There is no quote request ${params.request_id} in this brokerage.`)
      return quoteRequestAnswer(transaction, caller.tenant, found)
    })
  }),

  serve(getLane, async ({ caller, params }, { database }) => {
    const ref = askedRef(params.lane_ref)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, ref)
      if (lane === null) throw noLane(ref)
      return laneAnswer(transaction, caller.tenant, lane)
    })
  }),

  serve(requote, ({ caller, params, body, now }, parts) =>
    requoteLane(
      params.lane_ref,
      body,
      { tenant: caller.tenant, userId: caller.userId, now, isApproved: false },
      parts,
    ),
  ),

  serve(setOutcome, async ({ caller, params, body, now }, parts) => {
    const { outcome, reason, counter_rate } = body
    const errors = [
      ...(reason !== undefined && outcome !== 'lost' ? [wrongReason('reason')] : []),
      ...(counter_rate !== undefined && outcome !== 'lost' ? [wrongReason('counter_rate')] : []),
    ]
    if (errors.length > 0) throw invalid(errors)
    const at = new Date(now)
    const { database } = parts
    const known = await database.inTenant(caller.tenant, (transaction) =>
      lanes.findLane(transaction, caller.tenant, askedRef(params.lane_ref)),
    )
    if (known === null) throw noLane(params.lane_ref)
    const refused = await refusedReopenings([{ lane: known, ...body }], { caller, now }, parts)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      if (lane.voided_at !== null) throw problem('state-conflict', voidWords(lane))
      const replaced = replacedWords(lane, body)
      if (replaced !== null) throw problem('state-conflict', replaced)
      const named = counter_rate === undefined ? null : counterOfferTo(lane, counter_rate)
      const wrongCounter = named === null ? [] : counterErrors(named)
      if (wrongCounter.length > 0) throw invalid(wrongCounter)
      const outside = refused.get(lane.lane_id)
      if (outside !== undefined) {
        throw problem('outside-rules', reopeningWords(body.outcome, outside[0]?.detail ?? ''), {
          errors: outside,
        })
      }
      const isKept = await keepsPendingAsIs(transaction, caller.tenant)
      if (isKept(lane, body)) return laneAnswer(transaction, caller.tenant, lane)
      const next = {
        ...outcomeByPerson(lane, body, { at, clock: await changes.databaseNow(transaction) }),
        ...(named === null ? {} : { counter_rate_cents: named.counterCents }),
      }
      const origin = { source: 'dashboard', userId: caller.userId } as const
      return laneAnswer(
        transaction,
        caller.tenant,
        await changes.changeLane(transaction, caller.tenant, lane, next, origin, at),
      )
    })
  }),

  serve(listChanges, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, askedRef(params.lane_ref))
      if (lane === null) throw noLane(params.lane_ref)
      const rows = await laneHistory.listChanges(transaction, caller.tenant, lane.lane_id)
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
    }),
  ),

  serve(rollback, async (call, { database }) => {
    const { caller, params, body } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      // The time is that of the database's clock, as for signed updates: updates that arrived before are older than the
      // rollback.
      const at = await changes.databaseNow(transaction)
      const change = await laneHistory.findChange(transaction, caller.tenant, lane.lane_id, body.change_id)
      if (change === null)
        throw problem('not-found', `Lane ${lane.lane_ref} has no change ${body.change_id}.`)
      const next = decidedInTime(lane, changes.rollbackValues(lane, change.before, at), at)
      const origin = {
        source: 'dashboard',
        userId: caller.userId,
        rolledBackChange: change.change_number,
      } as const
      const rolledBack = await changes.changeLane(transaction, caller.tenant, lane, next, origin, at)
      const answer = await laneAnswer(transaction, caller.tenant, rolledBack)
      await recordEvent(transaction, call, 'change-rolled-back', {
        about: { lane_ref: lane.lane_ref, change_id: change.change_number },
      })
      return answer
    })
  }),
]
