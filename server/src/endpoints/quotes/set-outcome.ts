import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import type * as contract from '#contract/quote-requests.ts'
import { laneChanges as changes, lanes } from '../../database/queries/index.ts'
import { laneAnswer } from '../../lanes/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { counterErrors, counterOfferTo } from './counter-offers.ts'
import { askedRef, lockedLane, noLane } from './named-lane.ts'
import {
  keepsPendingAsIs,
  outcomeByPerson,
  replacedWords,
  voidWords,
  wrongReason,
} from './outcome-by-person.ts'
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
}
