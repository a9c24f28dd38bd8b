/** How a quote ended. `pending` is a quote nobody has answered yet; won and lost quotes are "decided". */
export type Outcome = 'won' | 'lost' | 'pending'

/**
 * One quote as pricing sees it: a lane line of a quote request, reduced to the facts that count.
 *
 * `rateCents` is the rate that counts: the booked customer rate when the TMS has pushed one, else the quoted rate.
 * `costCents` is the booked truck cost when pushed, else the estimate, else null.
 * Times are epoch milliseconds; `miles` are loaded miles, null where unknown.
 */
export interface PastQuote {
  readonly laneId: number
  readonly rateCents: number
  readonly costCents: number | null
  readonly outcome: Outcome
  readonly quotedAt: number
  readonly miles: number | null
}

/**
 * The rate that counts for a lane, in cents: booked AR when there is one, else what was quoted.
 *
 * @example rateThatCounts({ quotedRateCents: 210000, customerRateCents: 205000 }) // 205000
 */
export function rateThatCounts(lane: { quotedRateCents: number; customerRateCents: number | null }): number {
  return lane.customerRateCents ?? lane.quotedRateCents
}

/**
 * The cost that counts for a lane, in cents: booked AP when there is one, else the estimate, else null.
 *
 * @example costThatCounts({ estimatedCostCents: 170000, truckCostCents: null }) // 170000
 */
export function costThatCounts(lane: {
  estimatedCostCents: number | null
  truckCostCents: number | null
}): number | null {
  return lane.truckCostCents ?? lane.estimatedCostCents
}

/** Won or lost: a quote somebody answered. */
export function isDecided(quote: { outcome: Outcome }): boolean {
  return quote.outcome !== 'pending'
}
