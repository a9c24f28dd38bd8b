import { pastQuotes, pricingRules } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary } from './method.ts'

/** The database functions of pricing rules. */
export const ruleMethods: Readonly<Record<string, Method>> = {
  'pricing-rules.readRules': returnsCanary(({ transaction, tenant }) =>
    pricingRules.readRules(transaction, tenant),
  ),
  'pricing-rules.lockRules': returnsCanary(({ transaction, tenant }) =>
    pricingRules.lockRules(transaction, tenant),
  ),
  'pricing-rules.saveRules': changesRows(({ transaction, tenant }) =>
    pricingRules.saveRules(transaction, tenant, []),
  ),
  'past-quotes.pastQuotes': returnsCanary(({ transaction, tenant }) =>
    pastQuotes(transaction, tenant, { since: new Date(0), limit: 50 }),
  ),
}
