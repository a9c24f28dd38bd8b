import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type CallFailed, call, useAnswer } from '../api/index.ts'
import type { Bid, BidLane, Totals } from './bid-words.ts'

/** While lanes are priced, their number is read this often. */
const pricingEveryMs = 1_000

/** A bid, read again while its lanes are priced. */
export function useBid(bidId: number) {
  return useAnswer(
    'get-bid',
    { params: { bid_id: bidId } },
    { everyMs: (bid) => (bid?.pricing.is_running === true ? pricingEveryMs : false) },
  )
}

const lanesKey = (bidId: number) => ['list-bid-lanes', bidId] as const

async function allLanes(bidId: number, signal: AbortSignal): Promise<BidLane[]> {
  const lanes: BidLane[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: { lanes: BidLane[]; next_after: number | null } = await call('list-bid-lanes', {
      params: { bid_id: bidId },
      query: { after },
      signal,
    })
    lanes.push(...page.lanes)
    after = page.next_after
  }
  return lanes
}

/** All lanes of a bid. */
export function useBidLanes(bidId: number) {
  return useQuery<BidLane[], CallFailed>({
    queryKey: lanesKey(bidId),
    queryFn: ({ signal }) => allLanes(bidId, signal),
  })
}

/** Puts what a change answered into what the page shows, or reads everything again. */
export function useBidChanged(bidId: number) {
  const queries = useQueryClient()
  const changed = useCallback(
    (lanes: readonly BidLane[], totals: Totals, lastChange: number) => {
      const byNumber = new Map(lanes.map((lane) => [lane.lane, lane]))
      queries.setQueryData<BidLane[]>(lanesKey(bidId), (known) =>
        known?.map((lane) => byNumber.get(lane.lane) ?? lane),
      )
      const key = ['get-bid', { params: { bid_id: bidId } }]
      const known = queries.getQueryData<Bid>(key)
      if (known !== undefined) {
        queries.setQueryData<Bid>(key, { ...known, totals, last_change: lastChange })
        const { needed, blocked, approved } = known.approval
        // The answer does not say which rates need an approval.
        if (totals.below_minimum > 0 || needed + blocked + approved > 0)
          void queries.invalidateQueries({ queryKey: key })
      }
      void queries.invalidateQueries({ queryKey: ['list-bid-changes'] })
    },
    [queries, bidId],
  )
  const reread = useCallback(
    () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => /-bid(s|-|$)/.test(String(queryKey[0])),
      }),
    [queries],
  )
  return { changed, reread }
}
