import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import { rulesMax } from '#contract/limits.ts'
import {
  addPricingRule,
  changePricingRule,
  listPricingRules,
  removePricingRule,
} from '#contract/pricing-rules.ts'
import { conditionsInWords, type RuleConditions, sameConditions } from '#engine/rules/rule-conditions.ts'
import { recordEvent } from '../../audit/index.ts'
import { people, pricingRules, teams } from '../../database/queries/index.ts'
import type { StoredRule, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { readConditions, readTerms, ruleAnswer } from './rule-forms.ts'

type RuleBody = Pick<BodyOf<typeof addPricingRule>, 'conditions' | 'terms'>

/** The active person and the team that conditions name. */
async function namedIn(
  transaction: TenantTransaction,
  tenant: TenantId,
  { rep_id: repId, team_id: teamId }: RuleBody['conditions'],
): Promise<Pick<RuleConditions, 'rep' | 'team'>> {
  const rep = repId === undefined ? null : await people.findUser(transaction, tenant, repId)
  const team = teamId === undefined ? null : await teams.teamName(transaction, tenant, teamId)
  return {
    ...(rep?.status === 'active' ? { rep: { userId: rep.user_id, text: rep.name } } : {}),
    ...(teamId === undefined || team === null ? {} : { team: { teamId, text: team } }),
  }
}

/** Parses a rule that is the body, or the member of it that `within` points to. @throws a 422 with every wrong field */
export async function readRule(
  transaction: TenantTransaction,
  tenant: TenantId,
  body: RuleBody,
  within = '',
) {
  const errors: FieldError[] = []
  const conditions = readConditions(
    body.conditions,
    await namedIn(transaction, tenant, body.conditions),
    errors,
  )
  const terms = readTerms(body.terms, errors)
  if (errors.length > 0) {
    throw invalid(
      errors.map((error) => ('pointer' in error ? { ...error, pointer: within + error.pointer } : error)),
    )
  }
  return { conditions, terms }
}

function checkConditions(
  rules: readonly StoredRule[],
  conditions: RuleConditions,
  ruleId: number | null,
): void {
  const other = rules.find((rule) => rule.ruleId !== ruleId && sameConditions(rule.conditions, conditions))
  if (other === undefined) return
  throw problem(
    'state-conflict',
    `Rule ${other.ruleId} has the same conditions (${conditionsInWords(conditions)}), so the two would contradict each other. Change rule ${other.ruleId} instead. Nothing was changed.`,
  )
}

/** The rule with a number. @throws Problem not-found */
export function ruleOf(rules: readonly StoredRule[], ruleId: number): StoredRule {
  const found = rules.find((rule) => rule.ruleId === ruleId)
  if (found === undefined) throw problem('not-found', `There is no pricing rule ${ruleId} in this brokerage.`)
  return found
}

/** A rule as the audit log keeps it. */
const audited = (rule: StoredRule) => {
  const { rule_id, because, terms, on } = ruleAnswer(rule)
  return { rule_id, because, terms, on }
}

export const pricingRuleEndpoints: ServedEndpoint[] = [
  serve(listPricingRules, ({ caller: { tenant } }, { database }) =>
    database.inTenant(tenant, async (transaction) => {
      const rules = []
      for (const rule of await pricingRules.readRules(transaction, tenant)) {
        const customer = rule.conditions.customer?.text
        // A rule names its customer, which a team may hide.
        if (customer !== undefined && (await teams.isHiddenCustomer(transaction, tenant, customer))) continue
        rules.push(ruleAnswer(rule))
      }
      return { rules }
    }),
  ),

  serve(addPricingRule, (call, { database }) => {
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
  }),

  serve(changePricingRule, (call, { database }) => {
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
  }),

  serve(removePricingRule, (call, { database }) => {
    const { tenant } = call.caller
    return database.inTenant(tenant, async (transaction) => {
      const rules = await pricingRules.lockRules(transaction, tenant)
      const before = ruleOf(rules, call.params.rule_id)
      const left = rules.filter((rule) => rule !== before)
      await pricingRules.saveRules(transaction, tenant, left)
      await recordEvent(transaction, call, 'pricing-rule-removed', { about: { before: audited(before) } })
      return { rules: left.map(ruleAnswer) }
    })
  }),
]
