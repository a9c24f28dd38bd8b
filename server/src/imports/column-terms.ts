import type { Currency } from '#engine/rate-basis.ts'
import { currenciesOfNote, quoted } from '../csv/index.ts'

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
