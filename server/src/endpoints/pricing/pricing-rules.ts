import type { AnswerOf } from '#contract/endpoint.ts'
import * as contract from '#contract/pricing-rules.ts'
import { pricingRules, teams } from '../../database/queries/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { addPricingRule, changePricingRule, removePricingRule } from './change-pricing-rules.ts'
import { ruleAnswer } from './rule-forms.ts'

/** The pricing rules, without those that name a customer whom the reader may not see. */
async function listPricingRules(
  { caller: { tenant } }: Call<typeof contract.listPricingRules>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.listPricingRules>> {
  return database.inTenant(tenant, async (transaction) => {
    const rules = []
    for (const rule of await pricingRules.readRules(transaction, tenant)) {
      const customer = rule.conditions.customer?.text
      // A rule that names a hidden customer is left out.
      if (customer !== undefined && (await teams.isHiddenCustomer(transaction, tenant, customer))) continue
      rules.push(ruleAnswer(rule))
    }
    return { rules }
  })
}

export const pricingRuleEndpoints: ServedEndpoint[] = [
  serve(contract.listPricingRules, listPricingRules),
  serve(contract.addPricingRule, addPricingRule),
  serve(contract.changePricingRule, changePricingRule),
  serve(contract.removePricingRule, removePricingRule),
]
