import type { Currency } from '#engine/rate-basis.ts'

/**
 * The currencies that a text states, in a cell, in the name of a column, or in a line above the header. Lanewise stores US and
 * Canadian dollars. All other currencies are found, too, so that they are refused by name.
 */

/** Where a text is. It decides which three letters are a currency: `all` is one only in a cell, beside an amount. */
type CurrencyPlace = 'cell' | 'header' | 'note'

export interface CurrencySplit {
  /** The text without its currencies. */
  readonly rest: string
  /** The currencies, each once: an ISO 4217 code, or a sign that several currencies have. */
  readonly currencies: readonly string[]
}

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))
/** Codes that are also words of English. In names of columns, they count only in brackets. */
const englishWords: ReadonlySet<string> = new Set('ALL BOB CUP GEL MAD MOP PEN RON SOS TOP TRY'.split(' '))
/** The codes that count anywhere in a line above the header. The others could be a name. */
const frequentCodes: ReadonlySet<string> = new Set(['USD', 'CAD', 'MXN', 'EUR', 'GBP'])

/** Letters before or behind a dollar sign. */
const dollarsOf: Readonly<Record<string, string>> = {
  US: 'USD',
  USA: 'USD',
  USD: 'USD',
  C: 'CAD',
  CA: 'CAD',
  CAN: 'CAD',
  CAD: 'CAD',
  CDN: 'CAD',
  MX: 'MXN',
  MEX: 'MXN',
  MXN: 'MXN',
  MN: 'MXN',
  A: 'AUD',
  AU: 'AUD',
  AUD: 'AUD',
  NZ: 'NZD',
  NZD: 'NZD',
  HK: 'HKD',
  HKD: 'HKD',
  SG: 'SGD',
  SGD: 'SGD',
  R: 'BRL',
  NT: 'TWD',
}
/** Several currencies have the yen sign. Other signs are named as they are. */
const signs: Readonly<Record<string, string>> = { '€': 'EUR', '£': 'GBP', '₹': 'INR', '₩': 'KRW' }

const countryBefore = /(?<!\p{L})(U\.\s?S\.|USD?|C(?:AD?|AN|DN)?|ME?XN?|AUD?|A|NZD?|HKD?|SGD?|NT|R)\s?\$/giu
const countryBehind = /\$\s?(USD|USA?|CAD|CAN?|CDN|MEX|MXN?|M\.?N\.?|AUD?|NZD?|HKD?|SGD?)(?!\p{L})/giu
const dollarWords =
  /(?<!\p{L})(canadian|cdn|can\.?|cad|us|u\.\s?s\.|usd|american|united states)\s?(?:dollars?|funds|currency)(?!\p{L})/giu
const frenchDollars = /(?<!\p{L})dollars? (canadien|américain)s?(?!\p{L})/giu
const otherWords =
  /(?<!\p{L})(euros?|(?:mexican )?pesos?|(?:british )?pounds? sterling|british pounds?|sterling|yen|yuan|renminbi|rmb|rupees?)(?!\p{L})/giu
const otherSigns = /(?!\$)\p{Sc}/gu
const codes = /(?<!\p{L})(\p{L}{3})(?!\p{L})/gu
const allIn = /^all[ -]?in\b/i
const bracketed = /[([]\s*$/
const stating = /(?:\b(?:in|currency|are|is)|[:=([])\s*$/i

const ofWord = (word: string) =>
  /^euro/i.test(word)
    ? 'EUR'
    : /peso/i.test(word)
      ? 'MXN'
      : /pound|sterling/i.test(word)
        ? 'GBP'
        : /^yen/i.test(word)
          ? 'JPY'
          : /^rupee/i.test(word)
            ? 'INR'
            : 'CNY'

/** The currency that three letters mean at their place; null if they are none there. */
function currencyOfCode(
  code: string,
  { at, whole, place }: { readonly at: number; readonly whole: string; readonly place: CurrencyPlace },
): string | null {
  const upper = code.toUpperCase()
  const currency = upper === 'CDN' ? 'CAD' : upper
  if (!isoCodes.has(currency)) return null
  if (upper === 'ALL' && (place !== 'cell' || allIn.test(whole.slice(at)))) return null
  if (place === 'cell') return currency
  const before = whole.slice(0, at)
  if (place === 'header') return englishWords.has(upper) && !bracketed.test(before) ? null : currency
  if (code !== upper) return null
  return frequentCodes.has(currency) || stating.test(before) || whole.trim() === code ? currency : null
}

/** Stands for a currency that was taken out of a text. */
const gap = '\u0000'

/**
 * Takes the currencies out of a text. A dollar sign alone stays: it states no currency.
 *
 * @example splitCurrency('C$1,850', 'cell') // { rest: '1,850', currencies: ['CAD'] }
 * @example splitCurrency('Sell (CAD)', 'header') // { rest: 'Sell', currencies: ['CAD'] }
 */
export function splitCurrency(text: string, place: CurrencyPlace): CurrencySplit {
  const found: string[] = []
  const take = (currency: string) => {
    found.push(currency)
    return gap
  }
  const marked = text
    .replaceAll(countryBefore, (_, letters: string) => take(ofDollar(letters)))
    .replaceAll(countryBehind, (_, letters: string) => take(ofDollar(letters)))
    .replaceAll(dollarWords, (_, word: string) => take(/^c/i.test(word) ? 'CAD' : 'USD'))
    .replaceAll(frenchDollars, (_, word: string) => take(/^c/i.test(word) ? 'CAD' : 'USD'))
    .replaceAll(otherWords, (_, word: string) => take(ofWord(word)))
    .replaceAll(otherSigns, (sign) => (sign === '¢' ? sign : take(signs[sign] ?? sign)))
    .replaceAll(codes, (code: string, _, at: number, whole: string) => {
      const currency = currencyOfCode(code, { at, whole, place })
      return currency === null ? code : take(currency)
    })
  if (found.length === 0) return { rest: text, currencies: [] }
  return { rest: withoutGaps(marked, place), currencies: [...new Set(found)] }
}

const ofDollar = (letters: string) => dollarsOf[letters.toUpperCase().replaceAll(/[.\s]/g, '')] ?? 'USD'

/** In a cell, a currency stands before or behind the amount: one within it leaves a gap, which no reader accepts. */
function withoutGaps(marked: string, place: CurrencyPlace): string {
  if (place === 'cell')
    return marked.replace(/^([-(]?)[\0\s]+/, '$1').replace(/(?<![\0\s])[\0\s]+(\)?)$/, '$1')
  return marked
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\0[\0 $]*/g, gap)
    .replaceAll(/(?:(?<!\ball )\bin )?[([]? ?(?:\bin )?\0[)\]]?/gi, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
}

/**
 * Whether a cell is a currency and nothing else, as in a column of currencies. Rare codes do not count, because three letters can be
 * an airport or a name.
 *
 * @example ['CAD', 'US dollars', '$', 'DFW'].map(isCurrency) // [true, true, false, false]
 */
export function isCurrency(cell: string): boolean {
  if (cell.length > currencyLengthMax || !/\p{L}/u.test(cell)) return false
  const { rest, currencies } = splitCurrency(cell, 'cell')
  return rest.trim() === '' && currencies.length > 0 && currencies.every((one) => frequentCodes.has(one))
}

/** As long as the longest words for a currency. */
const currencyLengthMax = 30

/** The currencies of quotes. */
export const quoteCurrencies = ['USD', 'CAD'] as const satisfies readonly Currency[]

/** Whether quotes are stored in the currency. */
export function isStored(currency: string): currency is Currency {
  return quoteCurrencies.some((one) => one === currency)
}

const names: Readonly<Record<string, string>> = {
  USD: 'US dollars',
  CAD: 'Canadian dollars',
  MXN: 'Mexican pesos',
}

/** The currency in words. @example currencyWords('CAD') // 'Canadian dollars' */
export function currencyWords(currency: string): string {
  return names[currency] ?? currency
}

/** The currencies that a text above the header states. @example currenciesOfNote('All amounts in CAD') // ['CAD'] */
export function currenciesOfNote(text: string): readonly string[] {
  return splitCurrency(text.slice(0, 1_000), 'note').currencies
}
