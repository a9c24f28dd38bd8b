import { Text } from '@mantine/core'
import type { Quote } from '#contract/quote.ts'
import type { ComparedBasis, RateBasis } from '#contract/rate-basis.ts'
import { basisWords, termsBehind } from '#engine/rate-basis.ts'
import { counted } from './formats.ts'

/** The basis and currency of the amounts of an answer, and the quotes that were converted to them or not counted. */
export function BasisNote({ basis }: { basis: ComparedBasis | undefined }) {
  if (basis === undefined) return null
  const other = basisWords[basis.amounts === 'all_in' ? 'linehaul' : 'all_in']
  const { charges, schedule, exchange } = basis.converted_by
  const apart = basis.kept_apart - basis.kept_apart_in_cad
  return (
    <Text component="p" size="xs" c="dimmed">
      Rates, costs and margins are {basisWords[basis.amounts]}, in US dollars.
      {charges > 0 && ` ${counted(charges, 'quote')} with ${other} amounts converted by their charges.`}
      {schedule > 0 &&
        ` ${counted(schedule, 'quote')} with ${other} amounts converted by the fuel schedule of the day.`}
      {exchange > 0 &&
        ` ${counted(exchange, 'quote')} with Canadian dollars converted by the exchange rate of the day.`}
      {apart > 0 &&
        ` ${counted(apart, 'quote')} with ${other} amounts not counted: neither a fuel charge nor the surcharge of the day is known.`}
      {basis.kept_apart_in_cad > 0 &&
        ` ${counted(basis.kept_apart_in_cad, 'quote')} with Canadian dollars not counted: the exchange rate of the day or the fuel charge is not known.`}
      {basis.other_modes !== undefined &&
        ` ${counted(basis.other_modes, 'quote')} with stops or of another mode than truckload not counted.`}
    </Text>
  )
}

/**
 * The stated terms of an amount: the currency, if it is not US dollars, and the basis. Null without either.
 *
 * @example sentTerms('linehaul', 'CAD') // 'CAD linehaul'
 */
export function sentTerms(basis: RateBasis | null, currency: Quote['quoted_currency']): string | null {
  return termsBehind({ basis, currency }).trim() || null
}

type SentAmounts = Pick<
  Quote,
  | 'quoted_basis'
  | 'customer_basis'
  | 'truck_basis'
  | 'quoted_currency'
  | 'customer_currency'
  | 'truck_currency'
  | 'customer_rate'
  | 'truck_cost'
>

/**
 * Explains why the order of a list by rate or by margin can look wrong: its amounts are on different terms. Null if all terms are
 * the same. A basis that was not stated counts as different from every stated basis.
 */
export function orderInWords(sort: string, quotes: readonly SentAmounts[]): string | null {
  const by = /^(rate|margin)_/.exec(sort)?.[1]
  const terms = new Set(
    quotes.flatMap((quote) => [
      sentTerms(quote.quoted_basis, quote.quoted_currency),
      ...(quote.customer_rate === null ? [] : [sentTerms(quote.customer_basis, quote.customer_currency)]),
      ...(quote.truck_cost === null ? [] : [sentTerms(quote.truck_basis, quote.truck_currency)]),
    ]),
  )
  if (by === undefined || terms.size < 2) return null
  const asSent = 'The order compares the amounts as they were sent, whatever their basis and currency.'
  return by === 'rate' ? asSent : `${asSent} Quotes whose AR and AP are on different terms are last.`
}

/** Says by which amounts a list is sorted: the text of `orderInWords`. */
export function OrderNote({ sort, lanes: quotes }: { sort: string; lanes: readonly SentAmounts[] }) {
  const words = orderInWords(sort, quotes)
  return words === null ? null : (
    <Text component="p" size="xs" c="dimmed">
      {words}
    </Text>
  )
}
