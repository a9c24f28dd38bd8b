import type { QuoteParties } from '#engine/appraisal/appraisal.ts'
import { customerKey } from '#engine/customer-name.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import { customers, teams } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/** The customer, the rep and the rate type of a quote, as the caller knows them. */
export interface QuotedFor {
  readonly customerName: string | null
  readonly repId: number | null
  /** Null if unknown, such as before a rate is quoted. Not optional: a caller that forgot it would skip the rules for contract quotes. */
  readonly rateType: 'spot' | 'contract' | null
}

/** Whether a rule depends on the tables of customers or of teams. The rules of most brokerages do not. */
export function asksForParties(rules: readonly PricingRule[]): boolean {
  return rules.some(
    ({ conditions: { customer, tier, team } }) =>
      customer !== undefined || tier !== undefined || team !== undefined,
  )
}

/** The parties of a quote without reading tables: for rules that depend on no customer or team. */
export function namedParties({ repId, rateType }: QuotedFor): QuoteParties {
  return { customerKeys: [], tier: null, teamIds: [], repId, rateType }
}

/** The parties of a quote: the customer's names and tier, and the rep's teams. Reads only what the rules depend on. */
export async function partiesIn(
  transaction: TenantTransaction,
  tenant: TenantId,
  rules: readonly PricingRule[],
  quoted: QuotedFor,
): Promise<QuoteParties> {
  const { customerName, repId } = quoted
  const asks = (wanted: 'customer' | 'tier' | 'team') =>
    rules.some(({ conditions }) => conditions[wanted] !== undefined)
  const parties = {
    ...namedParties(quoted),
    teamIds: repId === null || !asks('team') ? [] : await teams.teamsOfPerson(transaction, tenant, repId),
  }
  if (customerName === null || !(asks('customer') || asks('tier'))) return parties
  // If the customer is hidden from the person, no rule of a customer applies.
  if (await teams.isHiddenCustomer(transaction, tenant, customerName)) return parties
  const known = await customers.findCustomer(transaction, tenant, customerName)
  const aliases = known === null ? [] : await customers.aliasesOf(transaction, tenant, [known.customerId])
  const keys = [customerName, ...aliases.map(({ name }) => name)].map(customerKey)
  return {
    ...parties,
    customerKeys: known === null ? keys : [known.key, ...keys],
    tier: known?.tier ?? null,
  }
}
