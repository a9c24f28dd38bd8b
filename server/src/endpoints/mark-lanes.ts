import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { markLanes } from '#contract/mark-lanes.ts'
import {
  type ChangingLane,
  laneChanges as changes,
  pushedLanes,
  type Setter,
  settersOf,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { laneAnswers } from '../lanes/index.ts'
import { serve } from './endpoint-call.ts'
import { noLane } from './named-lane.ts'
import { outcomeByPerson, voidWords, wrongReason } from './outcome-by-person.ts'

type Asked = BodyOf<typeof markLanes>['lanes'][number]
type Result = AnswerOf<typeof markLanes>['results'][number]

function checkLanes(asked: readonly Asked[]): void {
  const errors: FieldError[] = []
  const first = new Map<string, number>()
  for (const [index, { lane_ref, outcome, reason }] of asked.entries()) {
    const before = first.get(lane_ref)
    if (before === undefined) first.set(lane_ref, index)
    else {
      const detail = `This lane_ref is also in item ${before}. Send each lane once.`
      errors.push({ pointer: `/lanes/${index}/lane_ref`, code: 'repeated', detail })
    }
    if (reason !== undefined && outcome !== 'lost') errors.push(wrongReason(`lanes/${index}/reason`))
  }
  if (errors.length > 0) throw invalid(errors)
}

/** True if the quote is void, or if someone else changed the outcome since the caller read it. */
function hasConflict(lane: LaneRow, { outcome, reason, expected_outcome: expected }: Asked): boolean {
  if (lane.voided_at !== null) return true
  if (expected === undefined || lane.outcome === expected) return false
  // A lane that already has the new outcome is no conflict.
  return lane.outcome !== outcome || lane.outcome_reason !== (reason ?? null)
}

const sources = {
  dashboard: 'The dashboard',
  tms: 'The TMS',
  import: 'An import',
  lanewise: 'Lanewise',
} as const

function conflictWords(lane: LaneRow, setter: Setter | null): string {
  if (lane.voided_at !== null) return voidWords(lane)
  const who = setter === null ? 'Someone' : (setter.name ?? sources[setter.source])
  const outcome = lane.outcome === 'pending' ? 'pending again' : lane.outcome
  return `${who} marked this quote ${outcome} after you loaded it.`
}

/** The conflicts with the current lanes, by index of the item. */
async function conflictsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  conflicts: readonly { readonly index: number; readonly lane: LaneRow }[],
): Promise<(readonly [index: number, result: Result])[]> {
  if (conflicts.length === 0) return []
  const lanes = conflicts.map(({ lane }) => lane)
  const answers = await laneAnswers(transaction, tenant, lanes)
  const setters = await settersOf(
    transaction,
    tenant,
    lanes.map(({ lane_id }) => ({ laneId: lane_id, column: 'outcome' })),
  )
  return conflicts.flatMap(({ index, lane }, nth) => {
    const answer = answers[nth]
    if (answer === undefined) return []
    const detail = conflictWords(lane, setters[nth] ?? null)
    return [[index, { index, status: 409, lane_ref: lane.lane_ref, detail, lane: answer }] as const]
  })
}

/** Marks several lanes in one transaction. */
export const markLanesEndpoint = serve(
  markLanes,
  async ({ caller, body: { lanes: asked }, now }, { database }) => {
    checkLanes(asked)
    const { tenant, userId } = caller
    return database.inTenant(tenant, async (transaction) => {
      const named = { externalIds: [], laneRefs: asked.map(({ lane_ref }) => lane_ref) }
      const locked = await pushedLanes.lockNamedLanes(transaction, tenant, named)
      const byRef = new Map(locked.map((lane) => [lane.lane_ref, lane]))
      const clock = await changes.databaseNow(transaction)
      const changing: (ChangingLane & { readonly index: number })[] = []
      const conflicts: { readonly index: number; readonly lane: LaneRow }[] = []
      const results = new Map<number, Result>()
      for (const [index, item] of asked.entries()) {
        const { lane_ref } = item
        const lane = byRef.get(lane_ref)
        if (lane === undefined) {
          results.set(index, { index, status: 404, lane_ref, detail: noLane(lane_ref).message })
        } else if (hasConflict(lane, item)) conflicts.push({ index, lane })
        else {
          const next = outcomeByPerson(lane, item, { at: new Date(now), clock })
          changing.push({ index, lane, next, origin: { source: 'dashboard', userId } })
        }
      }
      const changed = await changes.changeLanes(transaction, tenant, changing, new Date(now))
      const marked = await laneAnswers(transaction, tenant, changed)
      for (const [nth, { index }] of changing.entries()) {
        const lane = marked[nth]
        if (lane !== undefined) results.set(index, { index, status: 200, lane })
      }
      for (const [index, result] of await conflictsOf(transaction, tenant, conflicts))
        results.set(index, result)
      return {
        results: asked.flatMap((_, index) => results.get(index) ?? []),
        marked: changing.length,
        failed: asked.length - changing.length,
      }
    })
  },
)
