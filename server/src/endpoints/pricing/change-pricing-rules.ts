import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { rulesMax } from '#contract/limits.ts'
import type * as contract from '#contract/pricing-rules.ts'
import { recordEvent } from '../../audit/index.ts'
import { people, pricingRules } from '../../database/queries/index.ts'
import type { StoredRule } from '../../database/schema/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { checkConditions, readRule, ruleOf } from './read-rule.ts'
import { ruleAnswer } from './rule-forms.ts'

/** A rule in the form of the audit log. */
const audited = (rule: StoredRule) => {
  const { rule_id, because, terms, on } = ruleAnswer(rule)
  return { rule_id, because, terms, on }
}

/** Adds a pricing rule. @throws Problem 422 with every wrong field, or state-conflict if another rule has the same conditions */
export async function addPricingRule(
  call: Call<typeof contract.addPricingRule>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.addPricingRule>> {
  const { tenant, userId } = call.caller
  return database.inTenant(tenant, async (transaction) => {
    // Locked first, so a team that the rule names is not removed meanwhile.
    const rules = await pricingRules.lockRules(transaction, tenant)
    const read = await readRule(transaction, tenant, call.body)
    checkConditions(rules, read.conditions, null)
    if (rules.length >= rulesMax) {
      throw problem(
        'state-conflict',
        `The brokerage has ${rulesMax} pricing rules, the most that are possible. Remove one first. Nothing was changed.`,
      )
    }
    const rule = {
      ruleId: await people.nextTenantNumber(transaction, tenant, 'pricing-rule'),
      ...read,
      isOn: call.body.on ?? true,
      changedAt: new Date(call.now).toISOString(),
      changedBy: userId,
    }
    await pricingRules.saveRules(transaction, tenant, [...rules, rule])
    await recordEvent(transaction, call, 'pricing-rule-added', { about: { after: audited(rule) } })
    return ruleAnswer(rule)
  })
}

/** Replaces a pricing rule. @throws Problem not-found, 422 with every wrong field, or state-conflict */
export async function changePricingRule(
  call: Call<typeof contract.changePricingRule>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.changePricingRule>> {
  const { tenant, userId } = call.caller
  return database.inTenant(tenant, async (transaction) => {
    // Locked first, so a team that the rule names is not removed meanwhile.
    const rules = await pricingRules.lockRules(transaction, tenant)
    const read = await readRule(transaction, tenant, call.body)
    const before = ruleOf(rules, call.params.rule_id)
    checkConditions(rules, read.conditions, before.ruleId)
    const rule = {
      ruleId: before.ruleId,
      ...read,
      isOn: call.body.on ?? true,
      changedAt: new Date(call.now).toISOString(),
      changedBy: userId,
    }
    await pricingRules.saveRules(
      transaction,
      tenant,
      rules.map((one) => (one === before ? rule : one)),
    )
    await recordEvent(transaction, call, 'pricing-rule-changed', {
      about: { before: audited(before), after: audited(rule) },
    })
    return ruleAnswer(rule)
  })
}

/** Removes a pricing rule. @throws Problem not-found */
export async function removePricingRule(
  call: Call<typeof contract.removePricingRule>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.removePricingRule>> {
  const { tenant } = call.caller
  return database.inTenant(tenant, async (transaction) => {
    const rules = await pricingRules.lockRules(transaction, tenant)
    const before = ruleOf(rules, call.params.rule_id)
    const left = rules.filter((rule) => rule !== before)
    await pricingRules.saveRules(transaction, tenant, left)
    await recordEvent(transaction, call, 'pricing-rule-removed', { about: { before: audited(before) } })
    return { rules: left.map(ruleAnswer) }
  })
}
