import type { QueryClient } from '@tanstack/react-query'
import type { Lane } from '#contract/lane.ts'
import type { Answer } from './call.ts'

/** Answers that hold a list of lanes under the same name. */
const listsOfLanes = ['list-lanes', 'list-shipments', 'get-quote-request'] as const

/**
 * Shows a lane as it is now in everything that is on screen or kept, without asking again: the lists keep their order
 * and their length, so that the row one works on stays where it is.
 */
export function showLane(queries: QueryClient, lane: Lane): void {
  for (const name of listsOfLanes) {
    queries.setQueriesData<{ lanes: readonly Lane[] }>({ queryKey: [name] }, (answer) =>
      answer?.lanes.some(({ lane_ref }) => lane_ref === lane.lane_ref)
        ? { ...answer, lanes: answer.lanes.map((one) => (one.lane_ref === lane.lane_ref ? lane : one)) }
        : answer,
    )
  }
  queries.setQueriesData<Answer<'get-lane'>>({ queryKey: ['get-lane'] }, (answer) =>
    answer?.lane_ref === lane.lane_ref ? lane : answer,
  )
}

/** Everything that counts this lane is out of date. Only its changes are asked for at once; the rest when looked at. */
export async function laneHasChanged(queries: QueryClient, laneRef: string): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'me' && queryKey[0] !== 'list-changes',
    refetchType: 'none',
  })
  await queries.invalidateQueries({ queryKey: ['list-changes', { params: { lane_ref: laneRef } }] })
}
