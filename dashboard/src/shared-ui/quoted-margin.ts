import type { Quote } from '#contract/quote.ts'

export interface QuotedMargin {
  readonly cost: number
  readonly source: 'estimate' | 'history'
  readonly margin: number
  readonly marginPct: number
}

/**
 * The margin of a quote, in dollars and in percent of the rate: the rate minus the rep's cost estimate, or else minus
 * the cost expected from AP history. Null when neither cost is known.
 *
 * @example quotedMargin({ quoted_rate: 2000, estimated_cost: 1700, ... }) // { cost: 1700, source: 'estimate', margin: 300, marginPct: 15 }
 */
export function quotedMargin(
  quote: Pick<
    Quote,
    'quoted_rate' | 'estimated_cost' | 'expected_cost' | 'expected_basis' | 'quoted_basis' | 'quoted_currency'
  >,
): QuotedMargin | null {
  // A cost of zero means that no estimate was entered.
  const own = quote.estimated_cost === 0 ? null : quote.estimated_cost
  // The expected cost is in US dollars. `expected_basis` is null if the rate states no basis.
  const isComparable = quote.quoted_basis === quote.expected_basis && quote.quoted_currency !== 'CAD'
  const expected = isComparable ? (quote.expected_cost?.amount ?? null) : null
  const cost = own ?? expected
  if (cost === null || cost === 0) return null
  const margin = Math.round((quote.quoted_rate - cost) * 100) / 100
  return {
    cost,
    source: own === null ? 'history' : 'estimate',
    margin,
    marginPct: (margin / quote.quoted_rate) * 100,
  }
}

/** Rate per loaded mile; null when the miles are unknown. @example rpm(2150, 781) // 2.753 */
export function rpm(rate: number | null, miles: number | null): number | null {
  return rate === null || miles === null || miles === 0 ? null : rate / miles
}
