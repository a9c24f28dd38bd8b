/**
 * The currency of the symbol in a format's brackets; none for a bracket without a symbol, which only states a language. A symbol
 * that is not known is returned as it is, so that whoever reads the amount refuses it.
 *
 * @example currencyOfSymbol('$-1009') // ['CAD']
 */
export function currencyOfSymbol(bracket: string): string[] {
  const [, symbol = '', language = ''] = /^([^-]*)(?:-(.*))?$/.exec(bracket) ?? []
  if (symbol.trim() === '') return []
  if (symbol === '$') return [dollarsOfRegion[regionOf(language)] ?? 'USD']
  return [currencyOf(symbol) ?? symbol]
}

/** The currencies that the text of a format names by a code or a symbol. @example currenciesIn('CA$') // ['CAD'] */
export function currenciesIn(words: string): string[] {
  return words
    .split(/[\s/()+;:,-]+/)
    .flatMap((word) => (codesThatAreWords.has(word) ? [] : (currencyOf(word) ?? [])))
}

/** What else the symbols of North America are. The names of other currencies are those of the Unicode CLDR, in `Intl`. */
const otherNames: Readonly<Record<string, string>> = {
  C: 'CAD',
  CA: 'CAD',
  CAN: 'CAD',
  CDN: 'CAD',
  CAD: 'CAD',
  US: 'USD',
  'U.S.': 'USD',
  USD: 'USD',
  MX: 'MXN',
  MEX: 'MXN',
  MXN: 'MXN',
}

/** Codes that are words, too, such as in "ALL IN". */
const codesThatAreWords: ReadonlySet<string> = new Set(['ALL', 'CUP', 'GEL', 'MOP', 'PEN', 'TOP', 'TRY'])

/** The code of a currency by its code or symbol; null if it is neither. */
function currencyOf(word: string): string | null {
  if (word === '$') return 'USD'
  const letters = word.replace(/^\$|\$$/, '').toUpperCase()
  const isWritten = letters !== word.toUpperCase() || letters === 'CDN'
  const other = isWritten ? otherNames[letters] : undefined
  return other ?? currencies().get(word) ?? currencies().get(letters) ?? null
}

let known: Map<string, string> | null = null

/** The codes of all currencies by code and by symbol. */
function currencies(): ReadonlyMap<string, string> {
  known ??= new Map(
    Intl.supportedValuesOf('currency').flatMap((code) => {
      const symbol = new Intl.NumberFormat('en-US', { style: 'currency', currency: code })
        .formatToParts(0)
        .find(({ type }) => type === 'currency')
      return [
        [code, code],
        [symbol?.value ?? code, code],
      ] as const
    }),
  )
  return known
}

/** The currency of a plain dollar sign where it is not the US dollar. */
const dollarsOfRegion: Readonly<Record<string, string>> = {
  AR: 'ARS',
  AU: 'AUD',
  CA: 'CAD',
  CL: 'CLP',
  CO: 'COP',
  HK: 'HKD',
  MX: 'MXN',
  NZ: 'NZD',
  SG: 'SGD',
  TW: 'TWD',
}

/** The region of a language of Windows by its number (MS-LCID), for the regions above. */
const regionOfLanguage: Readonly<Record<string, string>> = {
  '2c0a': 'AR',
  c09: 'AU',
  '1009': 'CA',
  c0c: 'CA',
  '45d': 'CA',
  '85d': 'CA',
  '47c': 'CA',
  '340a': 'CL',
  '47a': 'CL',
  '240a': 'CO',
  c04: 'HK',
  '80a': 'MX',
  '1409': 'NZ',
  '1004': 'SG',
  '4809': 'SG',
  '404': 'TW',
}

/** The region of a language such as 1009 or en-CA; empty if none is stated. */
function regionOf(language: string): string {
  const number = language.toLowerCase().replace(/^0+/, '')
  return regionOfLanguage[number.slice(-4)] ?? /-([A-Z]{2})$/.exec(language)?.[1] ?? ''
}
