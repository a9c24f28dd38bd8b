import type { TenantIds } from './seeded-ids.ts'

/** Returns a pricing rule that changes the rate to quote. */
const ruleForAll = {
  ruleId: 1,
  conditions: {},
  terms: { minimum: { pct: 71.5 } },
  isOn: true,
  changedAt: '2025-12-01T00:00:00.000Z',
  changedBy: null,
}

/** Returns the pricing rules of a brokerage. Only A has a rule that changes all quotes. */
export function pricingRulesOf({ label, import: id }: TenantIds, canary: string): string {
  const text = `${canary}tenants-pricing_rules`
  const ofCustomer = {
    ...ruleForAll,
    ruleId: id,
    conditions: { customer: { key: text.toLowerCase(), text } },
  }
  return JSON.stringify(label === 'A' ? [ruleForAll, ofCustomer] : [ofCustomer])
}

/** Returns a row for a quote that waits for approval. */
export function approvalOf(ids: TenantIds, { canary, at }: { readonly canary: string; readonly at: Date }) {
  const quote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1900 }
  const body = { customer_name: `${canary}approvals-asked`, lanes: [quote] }
  return {
    approval_id: ids.import,
    state: 'waiting',
    asked: JSON.stringify({ kind: 'quote', body }),
    reasons: JSON.stringify([`${canary}approvals-reasons`]),
    requested_by: ids.owner,
    requested_at: at,
    expires_at: new Date('2100-01-01T00:00:00Z'),
    decided_by: null,
    decided_at: null,
    counter_cents: null,
    lane_refs: JSON.stringify([`${canary}approvals-lane_refs`]),
  }
}
