import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/quote-requests.ts'
import { recordEvent } from '../../audit/index.ts'
import { laneChanges as changes, laneHistory } from '../../database/queries/index.ts'
import type { LaneRow } from '../../database/schema/index.ts'
import { laneAnswer } from '../../lanes/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { lockedLane } from './named-lane.ts'

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

/** Restores what a change of a quote replaced, and records that as a change, too. @throws Problem not-found */
export async function rollBackChange(
  call: Call<typeof contract.rollback>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.rollback>> {
  const { caller, params, body } = call
  return database.inTenant(caller.tenant, async (transaction) => {
    const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
    // The time is that of the database's clock, as for signed updates: updates that arrived before are older than the
    // rollback.
    const at = await changes.databaseNow(transaction)
    const change = await laneHistory.findChange(transaction, caller.tenant, lane.lane_id, body.change_id)
    if (change === null) throw problem('not-found', `Quote ${lane.lane_ref} has no change ${body.change_id}.`)
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
}
