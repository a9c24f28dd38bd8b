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
  /** Null if it is not known, such as before a rate is quoted. Required, so that no caller skips the rules for contract quotes. */
  readonly rateType: 'spot' | 'contract' | null
}

/** Whether a rule depends on the tables of customers or of teams. The rules of most brokerages do not. */
export function asksForParties(rules: readonly PricingRule[]): boolean {
  return rules.some(
    ({ conditions: { customer, tier, team } }) =>
      customer !== undefined || tier !== undefined || team !== undefined,
  )
}

/** The parties of a quote if no rule depends on those tables. */
export function namedParties({ repId, rateType }: QuotedFor): QuoteParties {
  return { customerKeys: [], tier: null, teamIds: [], repId, rateType }
}

/** The customer of a quote with all names that count for it, and the teams of its rep, as far as the rules depend on them. */
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
  // For a person who may not see the customer, it is a customer that no rule names.
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
