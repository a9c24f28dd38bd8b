import type { Answer } from '../api/index.ts'
import { dollars } from '../shared-ui/index.ts'

export type Rule = Answer<'list-pricing-rules'>['rules'][number]
type Margin = NonNullable<Rule['terms']['minimum']>

export const outsideWords = {
  warn: 'save with a warning',
  approval: 'needs approval',
  block: 'refused',
} as const

/** @example marginWords({ margin_pct: 12, margin: 150 }) // 'a margin of 12% and $150' */
function marginWords({ margin_pct, margin, margin_per_mile, rate_per_mile }: Margin): string {
  const margins = [
    ...(margin_pct === undefined ? [] : [`${margin_pct}%`]),
    ...(margin === undefined ? [] : [dollars(margin)]),
    ...(margin_per_mile === undefined ? [] : [`${dollars(margin_per_mile)} a mile`]),
  ]
  return [
    ...(margins.length === 0 ? [] : [`a margin of ${margins.join(' and ')}`]),
    ...(rate_per_mile === undefined ? [] : [`a rate of ${dollars(rate_per_mile)} a mile`]),
  ].join(' and ')
}

/** @example termsWords({ minimum: { margin_pct: 12 }, outside: 'block' }) // 'at least a margin of 12%; otherwise refused' */
export function termsWords({
  minimum,
  target,
  maximum,
  round_to,
  valid_days,
  outside,
}: Rule['terms']): string {
  const parts = [
    ...(minimum === undefined ? [] : [`at least ${marginWords(minimum)}`]),
    ...(target === undefined ? [] : [`target: ${marginWords(target)}`]),
    ...(maximum === undefined ? [] : [`at most ${marginWords(maximum)}`]),
    ...(round_to === undefined ? [] : [`rounded up to ${dollars(round_to)}`]),
    ...(valid_days === undefined ? [] : [`valid ${valid_days} ${valid_days === 1 ? 'day' : 'days'}`]),
    ...(outside === undefined ? [] : [`otherwise ${outsideWords[outside]}`]),
  ]
  return parts.join('; ')
}
