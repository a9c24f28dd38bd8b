import { sql } from 'kysely'

/**
 * SQL for the quoted margin and the landed margin, shared by all queries over lanes. Amounts are in cents. A rate of zero is
 * not a price and a cost of zero is not an estimate, so neither is compared.
 */

/** Whether the margin has landed: AR and AP are both booked. */
export const marginLanded = sql<boolean>`(lanes.customer_rate_cents is not null and lanes.truck_cost_cents is not null)`

/** AR minus AP; null if either is unknown. */
export const landedMarginCents = sql<number | null>`(lanes.customer_rate_cents - lanes.truck_cost_cents)`

/** The truck cost expected at the time of the quote: the rep's estimate, else the estimate from AP history. */
export const quotedCostCents = sql<
  number | null
>`coalesce(nullif(lanes.estimated_cost_cents, 0), nullif(lanes.expected_cost_cents, 0))`

/** The quoted rate minus the expected cost; null if either is unknown. */
export const quotedMarginCents = sql<number | null>`(nullif(lanes.quoted_rate_cents, 0) - ${quotedCostCents})`

/** Whether both the landed and the quoted margin are known. */
export const marginComparable = sql<boolean>`(${marginLanded} and ${quotedMarginCents} is not null)`
