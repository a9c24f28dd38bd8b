import { basisWords } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  asItIs,
  converted,
  dollars,
  noTerms,
  onOwnTerms,
  type QuoteAdvice,
  readDollars,
  saysTerms,
  termsInWords,
} from '../shared-ui/index.ts'
import type { DeskQuote } from './desk-draft.ts'

/** A quote, converted for the comparison with the brokerage's other quotes. */
export interface ComparedQuote {
  /** The quote with its amounts on the terms of the brokerage, or without amounts while they cannot be converted. */
  readonly lane: DeskQuote
  /** Converts a rate of the advice to the terms of the quote; null while that is not possible. */
  readonly own: (rate: number) => number | null
  /** The basis of the advice's numbers, and the conversions, in words. */
  readonly words: string
  /** Why a typed rate is not compared; null if it is, or if none is typed. */
  readonly notCompared: string | null
}

const byWords = {
  charges: 'by its charges',
  schedule: 'by the fuel schedule of today',
  exchange: 'by the exchange rate of today',
} as const

/**
 * What a quote lacks whose amounts cannot be converted. A typed fuel charge is not missing, nor is one that the basis does not need.
 *
 * @param assumed the brokerage's default basis, on which quotes are compared
 * @example missingOf({ currency: 'CAD', basis: '', fuel: '' }, 'all_in') // 'the exchange rate of today'
 */
export function missingOf(
  { currency, basis, fuel }: Pick<DeskQuote, 'currency' | 'basis' | 'fuel'>,
  assumed: 'linehaul' | 'all_in',
): string {
  const lacksFuel = basis !== '' && basis !== assumed && fuel.trim() === ''
  if (currency !== 'CAD') return 'the fuel charge'
  return lacksFuel ? 'the exchange rate of today, or the fuel charge,' : 'the exchange rate of today'
}

/**
 * Converts the typed amounts of a quote to the default basis in US dollars, on which the advice compares them.
 *
 * @param advice on the quote; null while it is loading
 */
export function useComparedQuote(
  quote: DeskQuote,
  advice: Pick<QuoteAdvice, 'conversion'> | null,
): ComparedQuote {
  const { default_basis: assumed } = useSession().tenant
  const conversion = saysTerms(quote) ? advice?.conversion : asItIs
  const usual = `${basisWords[assumed]}, in US dollars`
  const [rate, cost] = [readDollars(quote.rate), readDollars(quote.cost)]
  const stated = `Your ${rate === null ? 'rate' : dollars(rate)} (${termsInWords(quote, assumed)})`
  if (conversion === undefined || conversion === null) {
    const missing = missingOf(quote, assumed)
    return {
      lane: { ...quote, rate: '', cost: '', market: '' },
      own: () => null,
      words:
        conversion === undefined
          ? `Numbers are ${usual}.`
          : `Numbers are ${usual}. Enter ${missing.replace(/,$/, '')}${missing.includes('fuel') ? ', or load a fuel schedule in the settings' : ''}.`,
      notCompared:
        rate === null
          ? null
          : conversion === undefined
            ? `${stated} is compared as soon as the service has converted it.`
            : `${stated} cannot be compared: ${missing} is not known.`,
    }
  }
  const text = (amount: number | null) => (amount === null ? '' : String(converted(conversion, amount)))
  const isSame = conversion.times === 1 && conversion.plus === 0
  return {
    lane: isSame ? quote : { ...quote, rate: text(rate), cost: text(cost), market: '', ...noTerms },
    own: (of) => onOwnTerms(conversion, of),
    notCompared: null,
    words:
      isSame || rate === null || conversion.by === null
        ? `Numbers are ${usual}.`
        : `Numbers are ${usual}. ${stated} is ${dollars(converted(conversion, rate))}, converted ${byWords[conversion.by]}.`,
  }
}
