import { useDebouncedValue } from '@mantine/hooks'
import { typingPauseMs } from '#client/debounce.ts'
import { useAnswer } from '../api/index.ts'
import { adviceOn, type PricedQuote, type QuoteAdvice } from './quote-facts.ts'

/** The conversion of a quote's amounts to the brokerage's default basis in US dollars. */
export type RateConversion = NonNullable<QuoteAdvice['conversion']>

const asItIs: RateConversion = { times: 1, plus: 0, by: null }

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

/**
 * The conversion of a quote's amounts. Null if they cannot be converted, undefined while the answer is loading.
 *
 * @param isStated whether the quote states its terms; otherwise nothing is converted
 */
export function useRateConversion(
  quote: PricedQuote,
  customer: string,
  { isStated, isComplete }: { readonly isStated: boolean; readonly isComplete: boolean },
): RateConversion | null | undefined {
  const asked = JSON.stringify(adviceOn(customer, [{ ...quote, quoted_rate: null, estimated_cost: null }]))
  const [settled] = useDebouncedValue(asked, typingPauseMs)
  const { data } = useAnswer(
    'advise-quotes',
    { body: JSON.parse(settled) },
    { enabled: isStated && isComplete, staleMs: 60_000, comesBack: true },
  )
  if (!isStated) return asItIs
  const [result] = data?.results ?? []
  if (settled !== asked || result === undefined) return undefined
  return result.status === 200 ? result.conversion : null
}
