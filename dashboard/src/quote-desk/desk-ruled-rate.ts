import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppliedRules,
  limitsOf,
  type MinimumTerms,
  type PricingRule,
  type RuleTerms,
  ruledRate,
} from '#engine/rules/pricing-rules.ts'
import type { Answer } from '../api/index.ts'
import { dollars } from '../shared-ui/index.ts'

type Rules = NonNullable<Answer<'quote-advice'>['rules']>
type Limit = NonNullable<Rules['minimum']>

/** What is known about a lane, in dollars. */
export interface RuleFacts {
  readonly typedCost: number | null
  readonly expectedCost: {
    readonly amount: number
    readonly own_loads: number
    readonly own_curve: boolean
  } | null
  readonly miles: number | null
}

/** The rules of an answer, applied to a lane. */
export interface LaneRules {
  readonly applied: AppliedRules
  /** The conditions of each rule in words. */
  readonly because: ReadonlyMap<number, string>
}

const cents = (amount: number | null) => (amount === null ? null : Math.round(amount * 100))

function termsOf({ terms }: Limit): MinimumTerms {
  const { margin_pct, margin, margin_per_mile, rate_per_mile } = terms
  return {
    ...(margin_pct === undefined ? {} : { pct: margin_pct }),
    ...(margin === undefined ? {} : { cents: margin * 100 }),
    ...(margin_per_mile === undefined ? {} : { centsPerMile: margin_per_mile * 100 }),
    ...(rate_per_mile === undefined ? {} : { rateCentsPerMile: rate_per_mile * 100 }),
  }
}

/** The answer has the conditions of its rules in words only. */
const ruleOf = (ruleId: number, terms: RuleTerms = {}): PricingRule => ({ ruleId, conditions: {}, terms })

/**
 * Applies the rules of an answer as the service does. An entered cost changes the limits at once, without a request. Null
 * without rules.
 */
export function laneRules(rules: Rules | undefined, facts: RuleFacts): LaneRules | null {
  if (rules === undefined) return null
  const { minimum, target, maximum, rounding, validity } = rules
  const part = (name: 'minimum' | 'target' | 'maximum', limit: Rules['minimum']) =>
    limit === null ? null : { value: termsOf(limit), rule: ruleOf(limit.rule_id, { [name]: termsOf(limit) }) }
  const { typedCost, expectedCost, miles } = facts
  const isOwn = expectedCost !== null && (expectedCost.own_curve || expectedCost.own_loads > 0)
  const applied = limitsOf(
    {
      minimum: part('minimum', minimum),
      target: part('target', target),
      maximum: part('maximum', maximum),
      roundTo: rounding === null ? null : { value: rounding.to * 100, rule: ruleOf(rounding.rule_id) },
      validDays: validity === null ? null : { value: validity.days, rule: ruleOf(validity.rule_id) },
      belowMinimum: minimum?.outside ?? 'warn',
      aboveMaximum: maximum?.outside ?? 'warn',
    },
    {
      enteredCents: typedCost !== null && typedCost > 0 ? cents(typedCost) : null,
      expectedCents: isOwn ? cents(expectedCost.amount) : null,
      miles,
    },
  )
  const named = [minimum, target, maximum, rounding, validity].filter((one) => one !== null)
  return { applied, because: new Map(named.map(({ rule_id, because }) => [rule_id, because])) }
}

/** Each limit in words, with its reason. */
export function rulesInWords({ applied, because }: LaneRules): string[] {
  return appliedInWords(applied, ({ ruleId }) => because.get(ruleId) ?? '')
}

/** A rate within the rules. */
export interface QuotableRate {
  readonly rate: number
  readonly from: 'best' | 'target' | 'minimum' | 'maximum'
  /** What the rules changed, in words; empty if nothing. @example 'rounded to $25 by rule 3 (over 700 miles)' */
  readonly changed: string
}

/**
 * The rate to quote in whole dollars, as people quote: the target of the rules or else the wanted rate, within the limits and
 * rounded.
 *
 * @param wanted the best rate, or else the going rate
 */
export function quotableRate(rules: LaneRules | null, wanted: number): QuotableRate {
  if (rules === null) return { rate: Math.round(wanted), from: 'best', changed: '' }
  const { applied, because } = rules
  const ruled = ruledRate(applied, wanted * 100)
  if (ruled === null) return { rate: Math.round(wanted), from: 'best', changed: '' }
  const { from, isRounded, rateCents } = ruled
  const { low, high } = limitsIn(rules)
  const by = ({ ruleId }: PricingRule) => `rule ${ruleId} (${because.get(ruleId) ?? ''})`
  const limit = from === 'best' ? null : applied[from]
  const words = {
    minimum: 'raised to the minimum of',
    maximum: 'lowered to the maximum of',
    target: 'the target of',
  }
  return {
    rate: isRounded
      ? rateCents / 100
      : Math.max(Math.ceil(low ?? 0), Math.min(Math.floor(high ?? Infinity), Math.round(rateCents / 100))),
    from,
    changed: [
      ...(limit === null || from === 'best' ? [] : [`${words[from]} ${by(limit.rule)}`]),
      ...(isRounded && applied.roundTo !== null
        ? [`rounded to ${dollars(applied.roundTo.value / 100)} by ${by(applied.roundTo.rule)}`]
        : []),
    ].join(', '),
  }
}

/** The lowest and the highest rate that the rules allow, in dollars; null without such a limit. */
export function limitsIn({ applied }: LaneRules): {
  readonly low: number | null
  readonly high: number | null
} {
  const { minimum, maximum, contradicts } = applied
  const whole = (rateCents: number | null | undefined, round: (cents: number) => number) =>
    rateCents == null ? null : round(rateCents) / 100
  return {
    low: whole(minimum?.rateCents, (amount) => Math.ceil(amount - 1e-6)),
    high: contradicts ? null : whole(maximum?.rateCents, (amount) => Math.floor(amount + 1e-6)),
  }
}
