import { type RatesToQuote, ratesToQuote } from '#engine/appraisal/rates-to-quote.ts'
import { bestRateOver, earningRate, type Optimum } from '#engine/estimate/best-rate.ts'
import { isOwnCost } from '#engine/estimate/own-cost.ts'
import { appliedInWords } from '#engine/rules/applied-in-words.ts'
import {
  type AppliedRules,
  limitsOf,
  type MinimumTerms,
  type PricingRule,
  type RuledRate,
  type RuleTerms,
} from '#engine/rules/pricing-rules.ts'
import type { Answer } from '../api/index.ts'
import { dollars, readCurve } from '../shared-ui/index.ts'

type Advice = Answer<'quote-advice'>
type Rules = NonNullable<Advice['rules']>
type Limit = NonNullable<Rules['minimum']>

/** The parts of a quote's advice that rates to quote are computed from. Without a curve, the optimum of the answer applies. */
export interface RateAdvice {
  readonly curve?: Advice['curve']
  readonly optimum?: Advice['optimum']
  readonly rules?: Rules
  readonly estimate?: Pick<
    NonNullable<Advice['estimate']>,
    'probability' | 'expected_cost' | 'reference_rate' | 'miles'
  > | null
}

/** The appraisal of a quote in the browser. Amounts are cents. */
export interface DeskAppraisal {
  readonly applied: AppliedRules
  /** The conditions of each rule in words. */
  readonly because: ReadonlyMap<number, string>
  readonly optimum: Optimum | null
  readonly rates: RatesToQuote
}

const cents = (amount: number) => Math.round(amount * 100)
const centsIfKnown = (amount: number | null | undefined) => (amount == null ? null : cents(amount))

function termsOf({ terms }: Limit): MinimumTerms {
  const { margin_pct, margin, margin_per_mile, rate_per_mile } = terms
  return {
    ...(margin_pct === undefined ? {} : { pct: margin_pct }),
    ...(margin === undefined ? {} : { cents: margin * 100 }),
    ...(margin_per_mile === undefined ? {} : { centsPerMile: margin_per_mile * 100 }),
    ...(rate_per_mile === undefined ? {} : { rateCentsPerMile: rate_per_mile * 100 }),
  }
}

/** A rule without conditions, because the answer has them only in words. */
const ruleOf = (ruleId: number, terms: RuleTerms = {}): PricingRule => ({ ruleId, conditions: {}, terms })

/**
 * The appraisal of a quote from the service's advice. After a typed cost, the browser computes the limits and the best rate at
 * once, with the service's functions, from the curve of the answer.
 *
 * @param typedCost in dollars, on the terms of the brokerage
 */
export function deskAppraisal(advice: RateAdvice, typedCost: number | null): DeskAppraisal {
  const { estimate, rules } = advice
  const expected = estimate?.expected_cost ?? null
  const isOwn = expected !== null && isOwnCost({ ownCurve: expected.own_curve, ownLoads: expected.own_loads })
  const enteredCents = typedCost !== null && typedCost > 0 ? cents(typedCost) : null
  const { applied, because } = appliedRules(rules, {
    enteredCents,
    expectedCents: isOwn ? cents(expected.amount) : null,
    miles: estimate?.miles ?? null,
  })
  const optimum = optimumOf(advice, enteredCents, applied)
  // Without a chance there is not enough to go on, so the going rate only says what is usual.
  const goingCents = estimate?.probability == null ? null : centsIfKnown(estimate.reference_rate)
  const costCents = enteredCents ?? centsIfKnown(expected?.amount)
  return {
    applied,
    because,
    optimum,
    rates: ratesToQuote({ rules: applied, optimum, goingCents, costCents }),
  }
}

/** The rules of an answer with their limits for these costs. */
function appliedRules(
  rules: Rules | undefined,
  costs: Parameters<typeof limitsOf>[1],
): Pick<DeskAppraisal, 'applied' | 'because'> {
  const { minimum, target, maximum, rounding, validity } = rules ?? noRules
  const part = (name: 'minimum' | 'target' | 'maximum', limit: Rules['minimum']) =>
    limit === null ? null : { value: termsOf(limit), rule: ruleOf(limit.rule_id, { [name]: termsOf(limit) }) }
  const applied = limitsOf(
    {
      minimum: part('minimum', minimum),
      target: part('target', target),
      maximum: part('maximum', maximum),
      roundTo: rounding === null ? null : { value: cents(rounding.to), rule: ruleOf(rounding.rule_id) },
      validDays: validity === null ? null : { value: validity.days, rule: ruleOf(validity.rule_id) },
      belowMinimum: minimum?.outside ?? 'warn',
      aboveMaximum: maximum?.outside ?? 'warn',
    },
    costs,
  )
  const named = [minimum, target, maximum, rounding, validity].filter((one) => one !== null)
  return { applied, because: new Map(named.map(({ rule_id, because }) => [rule_id, because])) }
}

const noRules = { minimum: null, target: null, maximum: null, rounding: null, validity: null }

/** The optimum for the typed cost, or else the optimum of the answer. */
function optimumOf(
  { curve = [], optimum, estimate }: RateAdvice,
  enteredCents: number | null,
  { minimum }: AppliedRules,
): Optimum | null {
  const referenceCents = centsIfKnown(estimate?.reference_rate)
  if (enteredCents !== null && referenceCents !== null && curve.length > 0) {
    return earningRate(
      bestRateOver({
        chanceAt: (rateCents) => readCurve(curve, rateCents / 100)?.probability ?? 0,
        referenceCents,
        costCents: enteredCents,
        floorCents: minimum?.rateCents ?? null,
      }),
    )
  }
  if (optimum == null) return null
  return {
    rateCents: cents(optimum.rate),
    winProbability: optimum.win_probability,
    expectedMarginCents: cents(optimum.expected_margin),
    flatZone: { lowCents: cents(optimum.flat_zone.low), highCents: cents(optimum.flat_zone.high) },
    atEdge: optimum.at_edge,
    floorCents: centsIfKnown(optimum.floor),
    flooredRateCents: cents(optimum.floored_rate),
    flooredExpectedMarginCents: cents(optimum.floored_expected_margin),
  }
}

/** Each limit in words, with its reason. */
export function rulesInWords({ applied, because }: Pick<DeskAppraisal, 'applied' | 'because'>): string[] {
  return appliedInWords(applied, ({ ruleId }) => because.get(ruleId) ?? '')
}

/**
 * The changes of a rate by the rules, in words; empty without changes.
 *
 * @example changedInWords(appraisal, rate) // 'rounded to $25 by rule 3 (over 700 miles)'
 */
export function changedInWords(
  { applied, because }: Pick<DeskAppraisal, 'applied' | 'because'>,
  { from, isRounded }: RuledRate,
): string {
  const by = ({ ruleId }: PricingRule) => `rule ${ruleId} (${because.get(ruleId) ?? ''})`
  const limit = from === 'best' ? null : applied[from]
  const words = {
    minimum: 'raised to the minimum of',
    maximum: 'lowered to the maximum of',
    target: 'the target of',
  }
  return [
    ...(limit === null || from === 'best' ? [] : [`${words[from]} ${by(limit.rule)}`]),
    ...(isRounded && applied.roundTo !== null
      ? [`rounded to ${dollars(applied.roundTo.value / 100)} by ${by(applied.roundTo.rule)}`]
      : []),
  ].join(', ')
}
