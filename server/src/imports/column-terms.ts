import type { Currency } from '#engine/rate-basis.ts'
import {
  amountFields,
  currenciesOfNote,
  headerTerms,
  type ImportFieldName,
  isStored,
  quoted,
} from '../csv/index.ts'

/** The currency of the amounts of a file that state none of their own. */
export interface FileCurrency {
  /** Null if the map says `currency=`: lines above the header then state nothing. */
  readonly currency: Currency | null
  /** `map`: the person who imports the file chose it. Otherwise, the line above the header that states it. */
  readonly from: 'map' | { readonly line: string }
}

interface StatedAbove<Known extends string> {
  readonly currency: Known
  readonly from: { readonly line: string }
}

/** Of several columns for an amount, those in US dollars per load, if there are any. */
export function inUsDollars(
  candidates: readonly number[],
  field: ImportFieldName,
  headers: readonly string[],
): readonly number[] {
  if (candidates.length < 2 || !amountFields.has(field)) return candidates
  const plain = candidates.filter((position) => {
    const { unit, currencies } = headerTerms(headers[position] ?? '')
    return unit === null && currencies.every((currency) => currency === 'USD')
  })
  return plain.length > 0 ? plain : candidates
}

/** Why the amounts of a column cannot be read as a field, by the name of the column; null if they can. */
export function headerFault(name: string, field: ImportFieldName): string | null {
  const { unit, currencies } = headerTerms(name)
  const [currency, other] = currencies
  const orLeaveOut = `or leave the field out with the map ${field}=.`
  const column = `The column ${quoted(name)}`
  if (unit !== null) {
    return `${column} has amounts ${unit}, and ${field} is in dollars per load. Choose a column with dollars per load, ${orLeaveOut}`
  }
  if (other !== undefined) {
    return `${column} names ${currencies.join(' and ')}. Rename it, so that it names one currency, ${orLeaveOut}`
  }
  return currency === undefined || isStored(currency)
    ? null
    : `${column} has amounts in ${currency}, and ${currency} is not stored. Convert them to US or Canadian dollars, ${orLeaveOut}`
}

/**
 * The currency that the lines above a header state. Null if they state none.
 *
 * @example currencyAbove([{ cells: ['All amounts in CAD'] }], quoteCurrencies)
 *   // { stated: { currency: 'CAD', from: { line: 'All amounts in CAD' } } }
 */
export function currencyAbove<Known extends string>(
  above: readonly { readonly cells: readonly string[] }[],
  known: readonly Known[],
): { readonly stated: StatedAbove<Known> } | { readonly fault: string } | null {
  const lines = above.map(({ cells }) => cells.join(' ').trim())
  const found = lines.flatMap((line) => currenciesOfNote(line).map((currency) => ({ line, currency })))
  const [first, ...others] = found
  if (first === undefined) return null
  const { line, currency } = first
  const different = others.find((one) => one.currency !== currency)
  if (different !== undefined) {
    return { fault: `name ${currency} and ${different.currency}: ${quoted(different.line)}` }
  }
  const stored = known.find((one) => one === currency)
  return stored !== undefined
    ? { stated: { currency: stored, from: { line } } }
    : { fault: `say ${currency}, which is not stored: ${quoted(line)}` }
}
