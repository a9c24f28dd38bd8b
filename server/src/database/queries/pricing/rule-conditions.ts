import { type RawBuilder, sql } from 'kysely'
import type { RateType } from '#engine/rate-type.ts'
import { bySpecificity, type MinimumTerms, type PricingRule } from '#engine/rules/pricing-rules.ts'
import type { RuleConditions, RulePlace } from '#engine/rules/rule-conditions.ts'
import type { TenantId } from '../../session/index.ts'

const columnsOf = {
  origin: { place: 'origin_key', market: 'origin_market', state: 'origin_state' },
  destination: { place: 'destination_key', market: 'destination_market', state: 'destination_state' },
} as const

/** The rate type of a lane, as it says or by the default of the brokerage. */
export function rateTypeOf(tenant: TenantId): RawBuilder<RateType> {
  return sql<RateType>`coalesce(lanes.rate_type,
    (select one.default_rate_type from tenants as one where one.tenant_id = ${tenant}))`
}

/** Whether a lane is of a rate type. */
export function isOfRateType(tenant: TenantId, rateType: RateType): RawBuilder<boolean> {
  return sql<boolean>`${rateTypeOf(tenant)} = ${rateType}`
}

/** Whether a lane meets conditions, as `meets` of the engine says; a test compares the two. Confidence is not among them. */
function meetsConditions(
  tenant: TenantId,
  { customer, tier, rep, team, equipment, milesOver, milesTo, rateType, ...ends }: RuleConditions,
): RawBuilder<boolean> {
  const quotedFor = sql`customer_key(lanes.quoted_customer_name)`
  const at = (end: 'origin' | 'destination', place: RulePlace | undefined) =>
    place === undefined ? [] : [sql`${sql.ref(`lanes.${columnsOf[end][place.kind]}`)} = ${place.key}`]
  const conditions = [
    ...(customer === undefined
      ? []
      : [
          sql`(${quotedFor} = ${customer.key} or ${quotedFor} in (
            select alias.customer_key from customer_aliases as alias
            join customer_aliases as named
              on named.tenant_id = ${tenant} and named.customer_id = alias.customer_id
            where alias.tenant_id = ${tenant} and named.customer_key = ${customer.key}
          ))`,
        ]),
    ...at('origin', ends.origin),
    ...at('destination', ends.destination),
    ...(tier === undefined
      ? []
      : [
          sql`${quotedFor} in (
            select alias.customer_key from customer_aliases as alias
            join customers as known on known.tenant_id = ${tenant} and known.customer_id = alias.customer_id
            where alias.tenant_id = ${tenant} and lower(known.tier) = lower(${tier})
          )`,
        ]),
    ...(rep === undefined ? [] : [sql`lanes.created_by = ${rep.userId}`]),
    ...(team === undefined
      ? []
      : [
          sql`lanes.created_by in (
            select of_team.user_id from team_members as of_team
            where of_team.tenant_id = ${tenant} and of_team.team_id = ${team.teamId}
          )`,
        ]),
    ...(equipment === undefined ? [] : [sql`lanes.equipment_code = ${equipment}`]),
    ...(milesOver === undefined ? [] : [sql`lanes.miles > ${milesOver}`]),
    ...(milesTo === undefined ? [] : [sql`lanes.miles <= ${milesTo}`]),
    ...(rateType === undefined ? [] : [sql`${isOfRateType(tenant, rateType)}`]),
  ]
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/**
 * SQL for a value of the minimum that applies to a lane, which is that of the most specific rule with a minimum; `otherwise`
 * where none applies. Rules with a condition on the confidence are left out: the confidence at the time of a quote is not stored.
 */
export function byMinimumOfLane<Value>(
  tenant: TenantId,
  rules: readonly PricingRule[],
  {
    ofMinimum,
    otherwise,
  }: { ofMinimum: (minimum: MinimumTerms) => RawBuilder<Value>; otherwise: RawBuilder<Value> },
): RawBuilder<Value> {
  const cases = rules
    .toSorted(bySpecificity)
    .flatMap(({ conditions, terms: { minimum } }) =>
      minimum === undefined || conditions.confidenceAtMost !== undefined
        ? []
        : [sql`when ${meetsConditions(tenant, conditions)} then ${ofMinimum(minimum)}`],
    )
  return cases.length === 0 ? otherwise : sql<Value>`(case ${sql.join(cases, sql` `)} else ${otherwise} end)`
}
