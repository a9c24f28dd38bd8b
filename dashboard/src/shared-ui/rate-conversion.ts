import type { QuoteAdvice } from './quote-facts.ts'

/** The conversion of a quote's amounts to the brokerage's default basis in US dollars. */
export type RateConversion = NonNullable<QuoteAdvice['conversion']>

/** The conversion of a quote that states no terms. */
export const asItIs: RateConversion = { times: 1, plus: 0, by: null }

/** @example converted({ times: 1, plus: 400, by: 'charges' }, 2400) // 2800 */
export function converted({ times, plus }: RateConversion, amount: number): number {
  return Math.round((amount * times + plus) * 100) / 100
}

/**
 * The rate that `converted` turns into `rate`, in whole dollars.
 *
 * @example onOwnTerms({ times: 1, plus: 400, by: 'charges' }, 2800) // 2400
 */
export function onOwnTerms({ times, plus }: RateConversion, rate: number): number {
  return times === 1 && plus === 0 ? rate : Math.round((rate - plus) / times)
}
