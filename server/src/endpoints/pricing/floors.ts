import type { Static } from 'typebox'
import type { Tenant, updateTenant } from '#contract/brokerage-settings.ts'
import type { BodyOf } from '#contract/endpoint.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { type MinimumTerms, minimumOfAll, type RuleTerms } from '#engine/rules/pricing-rules.ts'
import { isForAll } from '#engine/rules/rule-conditions.ts'
import { people, pricingRules } from '../../database/queries/index.ts'
import type { StoredRule, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/**
 * The floors of the brokerage in its settings: the minimum of the pricing rule for all quotes.
 */
export function floorsAnswer({
  pct,
  cents,
  rateCentsPerMile,
}: MinimumTerms): Static<typeof Tenant>['floors'] {
  return {
    margin_pct: pct ?? null,
    margin: dollarsIfKnown(cents ?? null),
    rate_per_mile: dollarsIfKnown(rateCentsPerMile ?? null),
  }
}

/** The floors in the words of the audit log. */
const audited = ({ pct, cents, rateCentsPerMile }: MinimumTerms) => ({
  floor_margin_pct: pct ?? null,
  floor_margin_cents: cents ?? null,
  floor_rate_per_mile_cents: rateCentsPerMile ?? null,
})

/** The terms of a rule with changed floors; null if no term is left. */
function withFloors(
  terms: RuleTerms,
  floors: NonNullable<BodyOf<typeof updateTenant>['floors']>,
): RuleTerms | null {
  // 0 removes a floor.
  const changed = (
    sent: number | undefined,
    before: number | undefined,
    read: (amount: number) => number | null,
  ) => (sent === undefined ? before : sent === 0 ? undefined : (read(sent) ?? undefined))
  const { minimum: before = {}, ...others } = terms
  const entries = Object.entries({
    ...before,
    pct: changed(floors.margin_pct, before.pct, (percent) => percent),
    cents: changed(floors.margin, before.cents, centsFromDollars),
    rateCentsPerMile: changed(floors.rate_per_mile, before.rateCentsPerMile, centsFromDollars),
  }).filter(([, value]) => value !== undefined)
  const next = entries.length === 0 ? others : { ...others, minimum: Object.fromEntries(entries) }
  return Object.keys(next).length === 0 ? null : next
}

/** Changes the floors, and returns what changed, in the words of the audit log. */
export async function changeFloors(
  transaction: TenantTransaction,
  tenant: TenantId,
  floors: BodyOf<typeof updateTenant>['floors'],
  { userId, now }: { readonly userId: number; readonly now: number },
): Promise<{ readonly name: string; readonly from: number | null; readonly to: number | null }[]> {
  if (floors === undefined) return []
  const rules = await pricingRules.lockRules(transaction, tenant)
  const before = rules.find(({ conditions }) => isForAll(conditions))
  const terms = withFloors(before?.isOn === true ? before.terms : {}, floors)
  const others = rules.filter((rule) => rule !== before)
  const made: StoredRule[] =
    terms === null
      ? []
      : [
          {
            ruleId: before?.ruleId ?? (await people.nextTenantNumber(transaction, tenant, 'pricing-rule')),
            conditions: {},
            terms,
            isOn: true,
            changedAt: new Date(now).toISOString(),
            changedBy: userId,
          },
        ]
  const after = [...others, ...made]
  const [from, to] = [rules, after].map((list) => audited(minimumOfAll(pricingRules.rulesInForce(list))))
  const changes = (Object.keys(audited({})) as (keyof ReturnType<typeof audited>)[]).map((name) => ({
    name,
    from: from?.[name] ?? null,
    to: to?.[name] ?? null,
  }))
  if (changes.some((one) => one.from !== one.to)) await pricingRules.saveRules(transaction, tenant, after)
  return changes
}
