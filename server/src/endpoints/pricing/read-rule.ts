import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import type * as contract from '#contract/pricing-rules.ts'
import { conditionsInWords, type RuleConditions, sameConditions } from '#engine/rules/rule-conditions.ts'
import { people, teams } from '../../database/queries/index.ts'
import type { StoredRule, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readConditions, readTerms } from './rule-forms.ts'

type RuleBody = Pick<BodyOf<typeof contract.addPricingRule>, 'conditions' | 'terms'>

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

/** Parses a rule. `within` points to its member of the body; empty if the body is the rule. @throws a 422 with every wrong field */
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

/** @throws Problem state-conflict if another rule has these conditions. `ruleId` is the rule that has them; null for a new one. */
export function checkConditions(
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
