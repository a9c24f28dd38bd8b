import { type RawBuilder, sql } from 'kysely'
import type { MinimumTerms, PricingRule } from '#engine/rules/pricing-rules.ts'
import type { TenantId } from '../../session/index.ts'
import { byMinimumOfLane } from '../pricing/rule-conditions.ts'

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

/** The losses within the difference between landed and quoted margin; 0 where there is none. */
export const lostToCostCents = sql<number | null>`greatest(lanes.truck_cost_cents - ${quotedCostCents}, 0)`
export const lostToRateCents = sql<
  number | null
>`greatest(lanes.quoted_rate_cents - lanes.customer_rate_cents, 0)`
/**
 * Whether AR and AP are on the same basis and in the same currency, so that they can be compared as they are. `assumed` is the
 * basis of an amount that states none. Without it, such an amount is only on the basis of another one that states none.
 */
export const comparableAsBooked = (assumed: RawBuilder<unknown> = sql`'not stated'`) =>
  sql<boolean>`(coalesce(lanes.truck_basis, ${assumed}) = coalesce(lanes.customer_basis, ${assumed})
  and coalesce(lanes.truck_currency, 'USD') = coalesce(lanes.customer_currency, 'USD'))`
/** Whether AP is above AR as they are. The condition of the index lanes_at_a_loss. */
export const bookedAtALoss = sql<boolean>`(lanes.truck_cost_cents > lanes.customer_rate_cents)`

/**
 * The lowest rate of a quote: the expected cost, or the minimum above it, as in `minimumRateCents` of the engine; null if no
 * cost was expected.
 */
function lowestRateCents({
  pct,
  cents,
  centsPerMile,
  rateCentsPerMile,
}: MinimumTerms): RawBuilder<number | null> {
  const costs = [
    quotedCostCents,
    ...(pct === undefined ? [] : [sql`ceil(${quotedCostCents} / (1 - ${pct}::float8 / 100))`]),
    ...(cents === undefined ? [] : [sql`${quotedCostCents} + ${cents}::integer`]),
    ...(centsPerMile === undefined
      ? []
      : [sql`ceil(${quotedCostCents} + coalesce(lanes.miles, 0) * ${centsPerMile}::integer)`]),
    ...(typeof rateCentsPerMile === 'number'
      ? [sql`ceil(coalesce(lanes.miles, 0) * ${rateCentsPerMile}::integer)`]
      : []),
  ]
  // greatest ignores nulls, and the last floor is known without a cost.
  return sql<
    number | null
  >`(case when ${quotedCostCents} is not null then greatest(${sql.join(costs)})::bigint end)`
}

/**
 * The amount by which a quote is below the lowest rate of the rule that applies to it: positive if it was too low; null if either
 * is unknown.
 */
export function tooLowCents(tenant: TenantId, rules: readonly PricingRule[]): RawBuilder<number | null> {
  const lowest = byMinimumOfLane(tenant, rules, { ofMinimum: lowestRateCents, otherwise: quotedCostCents })
  return sql<number | null>`(${lowest} - nullif(lanes.quoted_rate_cents, 0))`
}
