import { formatDollars } from '../money.ts'
import type { AppliedRules, Limit, MinimumTerms, PricingRule } from './pricing-rules.ts'
import { conditionsInWords } from './rule-conditions.ts'

/** @example marginInWords({ pct: 15, cents: 15000 }) // '15% and $150' */
function marginInWords({ pct, cents, centsPerMile, rateCentsPerMile }: MinimumTerms): string {
  return [
    ...(pct === undefined ? [] : [`${pct}% margin`]),
    ...(cents === undefined ? [] : [`${formatDollars(cents)} margin`]),
    ...(centsPerMile === undefined ? [] : [`${formatDollars(centsPerMile)} margin per mile`]),
    ...(rateCentsPerMile === undefined ? [] : [`${formatDollars(rateCentsPerMile)} per mile`]),
  ].join(' and ')
}

/**
 * Each limit of the rules in words, with its reason. `reason` says why a rule applies; by default, it names the conditions.
 *
 * @example appliedInWords(applied) // ['Minimum $2,000 (15% margin), because: customer Harvest, over 1,000 miles.']
 */
export function appliedInWords(
  applied: AppliedRules,
  reason = ({ conditions }: PricingRule) => conditionsInWords(conditions),
): string[] {
  const { minimum, target, maximum, roundTo, validDays, contradicts } = applied
  const because = (rule: PricingRule) => `because: ${reason(rule)}`
  const part = (name: string, limit: Omit<Limit, 'outside'> | null, terms: MinimumTerms | undefined) => {
    if (limit === null || terms === undefined) return []
    const amount = limit.rateCents === null ? '' : ` ${formatDollars(limit.rateCents)}`
    const unknown =
      limit.missing === null
        ? ''
        : limit.missing === 'cost'
          ? ', but the truck cost is unknown'
          : ', but the miles are unknown'
    return [`${name}${amount} (${marginInWords(terms)})${unknown}, ${because(limit.rule)}.`]
  }
  return [
    ...part('Minimum', minimum, minimum?.rule.terms.minimum),
    ...part('Target', target, target?.rule.terms.target),
    ...part('Maximum', maximum, maximum?.rule.terms.maximum),
    ...(contradicts
      ? ['The minimum is above the maximum: the minimum applies, and the maximum is ignored.']
      : []),
    ...(roundTo === null ? [] : [`Rounded up to ${formatDollars(roundTo.value)}, ${because(roundTo.rule)}.`]),
    ...(validDays === null
      ? []
      : [
          `Valid for ${validDays.value} ${validDays.value === 1 ? 'day' : 'days'}, ${because(validDays.rule)}.`,
        ]),
  ]
}
