import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { Lane } from '#contract/lane.ts'
import { type Answer, type Body, lanesHaveChanged, useChange } from '../api/index.ts'

/** Reloads everything that shows the quotes of a lane. */
export function quotesOfLaneHaveChanged(queries: QueryClient, { lane_ref }: Pick<Lane, 'lane_ref'>): void {
  void lanesHaveChanged(queries, [lane_ref])
  for (const name of ['list-lanes', 'get-lane', 'get-quote-request'])
    void queries.invalidateQueries({ queryKey: [name] })
}

/** Quotes a lane again. */
export function useRequote(lane: Pick<Lane, 'lane_ref'>, onMade: (made: Answer<'requote'>) => void) {
  const requote = useChange('requote')
  const queries = useQueryClient()
  const send = (body: Body<'requote'>) =>
    requote.mutate(
      { params: { lane_ref: lane.lane_ref }, body },
      {
        onSuccess: (made) => {
          onMade(made)
          quotesOfLaneHaveChanged(queries, lane)
        },
      },
    )
  return { requote, send }
}
