import type { QueryClient } from '@tanstack/react-query'
import type { Lane } from '#contract/lane.ts'
import type { Answer } from './call.ts'

/** Operations whose answers contain `lanes`. */
const listsOfLanes = ['list-lanes', 'list-shipments', 'get-quote-request'] as const

/**
 * Updates a quote in all cached answers without a new request. Lists keep their order and length, so that the row that
 * the user works on stays in place.
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

/** Marks all answers as stale after quotes changed. Reloads only the history of these quotes at once, the rest on next use. */
export async function lanesHaveChanged(queries: QueryClient, laneRefs: readonly string[]): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'me' && queryKey[0] !== 'list-changes',
    refetchType: 'none',
  })
  for (const lane_ref of laneRefs) {
    await queries.invalidateQueries({ queryKey: ['list-changes', { params: { lane_ref } }] })
  }
}
