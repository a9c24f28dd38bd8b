/**
 * The outcome of a quote in statistics. A `pending` quote has no answer from the customer yet; won and lost quotes are
 * "decided".
 */
export type Outcome = 'won' | 'lost' | 'pending'

/** The outcome that is saved with a quote. An expired quote got no answer; statistics count it as pending or lost. */
export type SavedOutcome = Outcome | 'expired'

/**
 * One quote (one line of a quote request) with the fields that pricing needs. `quoteId` is the quote's own id.
 *
 * `rateCents` is the effective rate: the booked customer rate (AR) if the TMS has sent one, else the quoted rate. `costCents` is
 * the booked truck cost (AP) if the TMS has sent one, else the estimated cost, else null. Times are epoch milliseconds. `miles` are
 * loaded miles, null if unknown.
 */
export interface PastQuote {
  readonly quoteId: number
  readonly rateCents: number
  readonly costCents: number | null
  readonly outcome: Outcome
  readonly quotedAt: number
  readonly miles: number | null
}

/**
 * The effective rate of a quote, in cents: the booked customer rate (AR) if known, else the quoted rate.
 *
 * @example rateThatCounts({ quotedRateCents: 210000, customerRateCents: 205000 }) // 205000
 */
export function rateThatCounts(quote: { quotedRateCents: number; customerRateCents: number | null }): number {
  return quote.customerRateCents ?? quote.quotedRateCents
}

/**
 * The effective cost of a quote, in cents: the booked truck cost (AP) if known, else the estimated cost, else null.
 *
 * @example costThatCounts({ estimatedCostCents: 170000, truckCostCents: null }) // 170000
 */
export function costThatCounts(quote: {
  estimatedCostCents: number | null
  truckCostCents: number | null
}): number | null {
  return quote.truckCostCents ?? quote.estimatedCostCents
}

/** Whether a quote was won or lost. */
export function isDecided(quote: { outcome: Outcome }): boolean {
  return quote.outcome !== 'pending'
}
