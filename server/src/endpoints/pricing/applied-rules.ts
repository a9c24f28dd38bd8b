import type { Static } from 'typebox'
import type * as contract from '#contract/pricing-rules.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppliedRules,
  checkRate,
  type MinimumTerms,
  type PricingRule,
  ruledRate,
} from '#engine/rules/pricing-rules.ts'
import { conditionsInWords } from '#engine/rules/rule-conditions.ts'
import {
  asksForParties,
  namedParties,
  partiesIn,
  type QuotedFor,
  type QuoteParties,
} from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'
import { marginAnswer } from './rule-forms.ts'

/** The parties of a quote. Unless the rules ask for more than the quote says, nothing is read. */
export async function partiesOf(
  rules: readonly PricingRule[],
  quoted: QuotedFor,
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<QuoteParties> {
  return asksForParties(rules)
    ? database.inTenant(tenant, (transaction) => partiesIn(transaction, tenant, rules, quoted))
    : namedParties(quoted)
}

type Answer = Static<typeof contract.AppliedRules>

const reasonOf = ({ ruleId, conditions }: PricingRule) => ({
  rule_id: ruleId,
  because: conditionsInWords(conditions),
})

/** The rules that apply, in the form of the API. `bestCents`: the rate to quote without them. */
export function rulesAnswer(
  applied: AppliedRules,
  { rateCents, bestCents }: { readonly rateCents: number; readonly bestCents: number | null },
): Answer {
  const limit = (part: AppliedRules['minimum'], terms: MinimumTerms | undefined): Answer['minimum'] =>
    part === null
      ? null
      : {
          rate: dollarsIfKnown(part.rateCents),
          missing: part.missing,
          ...reasonOf(part.rule),
          outside: part.outside,
          terms: marginAnswer(terms ?? {}),
        }
  const { minimum, target, maximum } = applied
  const verdict = checkRate(applied, rateCents)
  const rate = ruledRate(applied, bestCents)
  return {
    minimum: limit(minimum, minimum?.rule.terms.minimum),
    target: limit(target === null ? null : { ...target, outside: 'warn' }, target?.rule.terms.target),
    maximum: limit(maximum, maximum?.rule.terms.maximum),
    rounding:
      applied.roundTo === null
        ? null
        : { to: dollarsFromCents(applied.roundTo.value), ...reasonOf(applied.roundTo.rule) },
    validity:
      applied.validDays === null
        ? null
        : { days: applied.validDays.value, ...reasonOf(applied.validDays.rule) },
    rate: rate === null ? null : dollarsFromCents(Math.ceil(rate.rateCents - 1e-6)),
    verdict: verdict.state,
    reasons: verdict.reasons.map(({ detail }) => detail),
    explanation: appliedInWords(applied),
  }
}
