import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import type { StoredRule, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'

/** The rules that are on. */
export function rulesInForce(rules: readonly StoredRule[]): PricingRule[] {
  return rules.filter(({ isOn }) => isOn)
}

/** True if a rule that is on blocks quotes or requires approval. */
export function refuseQuotes(rules: readonly StoredRule[]): boolean {
  return rulesInForce(rules).some(({ terms }) => (terms.outside ?? 'warn') !== 'warn')
}

/** Whether a rule that is on says how long quotes are valid. */
export function limitValidity(rules: readonly StoredRule[]): boolean {
  return rulesInForce(rules).some(({ terms }) => terms.validDays !== undefined)
}

export async function readRules(transaction: TenantTransaction, tenant: TenantId): Promise<StoredRule[]> {
  const { pricing_rules } = await transaction
    .selectFrom('tenants')
    .select('pricing_rules')
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
  return pricing_rules
}

/** Like `readRules`, and makes changes of the rules run one after the other. */
export async function lockRules(transaction: TenantTransaction, tenant: TenantId): Promise<StoredRule[]> {
  const { pricing_rules } = await transaction
    .selectFrom('tenants')
    .select('pricing_rules')
    .where('tenant_id', '=', tenant)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return pricing_rules
}

/** Replaces the rules, in the order of their numbers. Read them with `lockRules`. */
export async function saveRules(
  transaction: TenantTransaction,
  tenant: TenantId,
  rules: readonly StoredRule[],
): Promise<void> {
  accessChanged(transaction)
  await transaction
    .updateTable('tenants')
    .set({ pricing_rules: JSON.stringify(rules.toSorted((one, other) => one.ruleId - other.ruleId)) })
    .where('tenant_id', '=', tenant)
    .execute()
}
