import { type CallFailed, useAnswer } from '../api/index.ts'
import type { CodeBooking, CodeLane } from '../code-samples/index.ts'

/** The lane in the example programs of a brokerage without quotes. Its advice is "not found". */
const anyLane: CodeLane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', rate: 2150 }
/** The truck cost of an example without an expected cost, as a share of the rate. A margin of 14% is typical. */
const typicalCostShare = 0.86

export interface IntegrationExample {
  /** The newest pending quote, with the rate and the cost of an example booking; null when no quote is pending. */
  readonly booking: (CodeBooking & { readonly lane: string }) | null
  /** The lane with the most quotes. */
  readonly busy: CodeLane
  readonly error: CallFailed | null
  readonly isLoading: boolean
  readonly again: () => void
}

/** The values in the example programs of the brokerage: a pending quote to book, and a busy lane for rate advice. */
export function useIntegrationExample(): IntegrationExample {
  // Always reloaded, because a program may have booked the quote in the meantime.
  const open = useAnswer(
    'list-quotes',
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
              Math.round(newest.quoted_rate * typicalCostShare),
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
