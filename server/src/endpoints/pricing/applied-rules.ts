import type { Static } from 'typebox'
import type * as contract from '#contract/pricing-rules.ts'
import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppliedRules,
  checkRate,
  type MinimumTerms,
  type PricingRule,
} from '#engine/rules/pricing-rules.ts'
import { conditionsInWords } from '#engine/rules/rule-conditions.ts'
import { marginAnswer } from './rule-forms.ts'

type Answer = Static<typeof contract.AppliedRules>

const reasonOf = ({ ruleId, conditions }: PricingRule) => ({
  rule_id: ruleId,
  because: conditionsInWords(conditions),
})

/** The rules that apply to an appraised quote at a rate, in the form of the API. */
export function rulesAnswer(
  { rules: applied, rates: { toQuote } }: Pick<Appraisal, 'rules' | 'rates'>,
  rateCents: number,
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
    rate: dollarsIfKnown(toQuote?.rateCents ?? null),
    verdict: verdict.state,
    reasons: verdict.reasons.map(({ detail }) => detail),
    explanation: appliedInWords(applied),
  }
}
