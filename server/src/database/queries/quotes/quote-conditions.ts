import { type RawBuilder, sql } from 'kysely'
import type { Outcome } from '#engine/history.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { TenantId } from '../../session/index.ts'

/** The outcome of a quote as statistics count it: an expired quote is pending, or lost if the brokerage has set that. */
export function countedOutcome(tenant: TenantId): RawBuilder<Outcome> {
  return sql<Outcome>`case
    when quotes.outcome <> 'expired' then quotes.outcome
    when (select one.expired_counts_as_lost from tenants as one where one.tenant_id = ${tenant}) then 'lost'
    else 'pending' end`
}

/** Whether a quote was lost for another reason than its price. A loss without a reason counts as about the price. */
export const isLostForOtherReason = sql<boolean>`coalesce(
  outcome = 'lost' and outcome_reason <> 'price' and superseded_by is null, false)`

/** The stated rate type of a quote, else the default of the brokerage. */
export function rateTypeOf(tenant: TenantId): RawBuilder<RateType> {
  return sql<RateType>`coalesce(quotes.rate_type,
    (select one.default_rate_type from tenants as one where one.tenant_id = ${tenant}))`
}

export function isOfRateType(tenant: TenantId, rateType: RateType): RawBuilder<boolean> {
  return sql<boolean>`${rateTypeOf(tenant)} = ${rateType}`
}
