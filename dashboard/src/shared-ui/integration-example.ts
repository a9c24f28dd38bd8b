import { type CallFailed, useAnswer } from '../api/index.ts'
import type { CodeBooking, CodeLane } from '../code-samples/index.ts'

/** What the programs of a brokerage that has quoted nothing ask about. The answer says that nothing was found. */
const anyLane: CodeLane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', rate: 2150 }
/** Truck cost of an example where none was expected: a margin of 14 % is an ordinary one. */
const usualCostShare = 0.86

export interface IntegrationExample {
  /** The newest open lane and what its booking might bring; null while there is none. */
  readonly booking: (CodeBooking & { readonly lane: string }) | null
  /** The lane quoted most. */
  readonly busy: CodeLane
  readonly error: CallFailed | null
  readonly isLoading: boolean
  readonly again: () => void
}

/** The lanes of the brokerage that its programs name: an open one to book, a busy one to ask about. */
export function useIntegrationExample(): IntegrationExample {
  // Asked anew with each look: a program that was run in between has booked the lane.
  const open = useAnswer(
    'list-lanes',
    { query: { outcome: 'pending', sort: 'newest', limit: 1 } },
    { staleMs: 0 },
  )
  const most = useAnswer(
    'get-performance',
    { query: { by: 'lane', sort: 'quotes', limit: 1 } },
    { staleMs: 300_000 },
  )
  const newest = open.data?.lanes[0]
  const row = most.data?.rows[0]
  const rate =
    row?.customer_rate && row.shipments > 0 ? Math.round(row.customer_rate / row.shipments) : anyLane.rate
  return {
    booking:
      newest === undefined
        ? null
        : {
            laneRef: newest.lane_ref,
            lane: `${newest.origin} → ${newest.destination}`,
            customerRate: newest.quoted_rate,
            truckCost:
              newest.estimated_cost ??
              newest.expected_cost?.amount ??
              Math.round(newest.quoted_rate * usualCostShare),
          },
    busy: row?.lane ? { ...row.lane, rate } : anyLane,
    error: open.error ?? most.error,
    isLoading: open.isLoading || most.isLoading,
    again: () => {
      void open.refetch()
      void most.refetch()
    },
  }
}
