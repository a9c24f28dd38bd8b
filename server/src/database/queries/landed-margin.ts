import { sql } from 'kysely'

/**
 * Margin that was quoted and margin that landed, as every query over lanes says them. Amounts are cents. A rate of zero
 * is no price and a cost of zero no estimate: neither is compared.
 */

/** AR and AP are both booked: the margin has landed. */
export const marginLanded = sql<boolean>`(lanes.customer_rate_cents is not null and lanes.truck_cost_cents is not null)`

/** AR minus AP; null while one of them is unknown. */
export const landedMarginCents = sql<number | null>`(lanes.customer_rate_cents - lanes.truck_cost_cents)`

/** What the truck was expected to cost when the rate was quoted: the rep's own estimate, else what AP history said. */
export const quotedCostCents = sql<
  number | null
>`coalesce(nullif(lanes.estimated_cost_cents, 0), nullif(lanes.expected_cost_cents, 0))`

/** Quoted rate minus the cost expected then; null while one of them is unknown. */
export const quotedMarginCents = sql<number | null>`(nullif(lanes.quoted_rate_cents, 0) - ${quotedCostCents})`

/** The margin that landed and the margin that was quoted are both known. */
export const marginComparable = sql<boolean>`(${marginLanded} and ${quotedMarginCents} is not null)`
