import { useDebouncedValue } from '@mantine/hooks'
import { typingPauseMs } from '#client/debounce.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import { type KeptTerms, saysTerms, termsBody } from './rate-terms.tsx'

/** How amounts of a lane become amounts on the default basis of the brokerage in US dollars. */
export type RateConversion = NonNullable<
  Extract<Answer<'advise-lanes'>['results'][number], { status: 200 }>['conversion']
>

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

/** How rates on these terms are converted. Null if they cannot be converted, undefined while the answer is loading. */
export function useRateConversion(
  {
    origin,
    destination,
    equipment,
    customer,
  }: {
    readonly origin: string
    readonly destination: string
    readonly equipment: string
    readonly customer: string
  },
  terms: KeptTerms,
  isComplete = true,
): RateConversion | null | undefined {
  const isSaid = saysTerms(terms)
  const [code, name] = [equipment.trim(), customer.trim()]
  const asked = JSON.stringify({
    ...(name === '' ? {} : { customer: name }),
    lanes: [
      {
        origin: origin.trim(),
        destination: destination.trim(),
        ...(code === '' ? {} : { equipment: code }),
        ...termsBody(terms),
      },
    ],
  })
  const [settled] = useDebouncedValue(asked, typingPauseMs)
  const { data } = useAnswer(
    'advise-lanes',
    { body: JSON.parse(settled) },
    { enabled: isSaid && isComplete, staleMs: 60_000, comesBack: true },
  )
  if (!isSaid) return asItIs
  const [result] = data?.results ?? []
  if (settled !== asked || result === undefined) return undefined
  return result.status === 200 ? result.conversion : null
}
