import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import { chargesText, readCharges } from '#engine/named-charges.ts'
import { isNotGiven } from '#engine/not-given.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { americanAmount } from '#engine/written-amount.ts'
import { type Cell, cellLengthMax, foldedWords, formulaWrong, isFormula } from './cells.ts'
import { type CurrencySplit, quoteCurrencies, splitCurrency } from './currency-words.ts'

/** An amount as a cell states it, before its number is read. */
export interface StatedAmount<Known extends string = Currency> {
  /** The text without its currency. Empty for a dash or a word such as TBD, which mean that there is no amount. */
  readonly text: string
  /** The currency that the cell states; null if it states none, or only a dollar sign. */
  readonly currency: Known | null
  /** Why the currency is refused, worded to follow "must be"; null if it is not. */
  readonly wrong: string | null
}

/**
 * Separates an amount from its currency. All readers of files and pasted rows use it.
 *
 * @example statedAmount('C$1,850') // { text: '1,850', currency: 'CAD', wrong: null }
 * @example statedAmount('€1850').wrong // 'in US or Canadian dollars, because EUR is not stored; convert it'
 */
export function statedAmount(cell: string): StatedAmount {
  return statedAmountIn(cell, quoteCurrencies)
}

/** As `statedAmount`, for amounts that are stored in the currencies `known`. */
export function statedAmountIn<Known extends string>(
  cell: string,
  known: readonly Known[],
): StatedAmount<Known> {
  if (/^\$?[\d.,]+$/.test(cell)) return { text: cell, currency: null, wrong: null }
  const { rest, currencies } = splitCurrency(cell, 'cell')
  const plain = rest.replace(/(?<!\s)\s*dollars?$/i, '')
  const text = isNotGiven('amount', plain) ? '' : plain
  return { text, ...storedCurrency(currencies, known) }
}

/** The currency of an amount, or why it is refused. */
function storedCurrency<Known extends string>(
  currencies: readonly string[],
  known: readonly Known[],
): Pick<StatedAmount<Known>, 'currency' | 'wrong'> {
  const [first, other] = currencies
  if (first === undefined) return { currency: null, wrong: null }
  if (other !== undefined) {
    return { currency: null, wrong: `in one currency; it names ${currencies.join(' and ')}` }
  }
  const currency = known.find((one) => one === first) ?? null
  if (currency !== null) return { currency, wrong: null }
  const words = known.includes('MXN' as Known)
    ? 'US or Canadian dollars or Mexican pesos'
    : 'US or Canadian dollars'
  return { currency: null, wrong: `in ${words}, because ${first} is not stored; convert it` }
}

/**
 * Rounds a number of a workbook half up to cents: a formula such as =1800/0.85 is stored with all its decimals. Other text is
 * returned as it is, also 1.855 CAD, which may be typed text.
 *
 * @example roundedAmount('2117.6470588235293') // '2117.65'
 */
export function roundedAmount(cell: string): string {
  const match = /^(-?)(\d{0,15})\.(\d{3,20})( [A-Z]{3})?$/.exec(cell.trim())
  if (match === null) return cell
  const [, sign = '', whole = '', decimals = '', currency = ''] = match
  if (currency !== '' && whole.length <= 3 && decimals.length === 3) return cell
  const up = decimals.charAt(2) >= '5' ? 1n : 0n
  const digits = `${BigInt(`${whole}${decimals.slice(0, 2)}`) + up}`.padStart(3, '0')
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}${currency}`
}

const canadianWrong = 'in US dollars, or without a currency beside a column Currency that says CAD'
const amountWrong = 'an amount of dollars such as 1850.00 or $1,850.00'

/**
 * Reads an amount above zero as whole cents. Accepts a dollar sign, USD and the notations of `americanAmount`. Rejects three
 * decimals, because 1.850 means 1,850 in many countries. Zeros after the second decimal are ignored, because spreadsheets
 * add them. A reader that stores the currency takes it off first with `statedAmount`.
 *
 * @example readMoney('$1,850.00') // { value: 185000 }
 * @example readMoney('1.850,00') // { value: 185000 }
 * @example readMoney('1.850') // { wrong: 'an amount of dollars such as 1850.00 or $1,850.00, with at most two decimals' }
 */
export function readMoney(cell: string): Cell<number> {
  const [, plain, cents] = plainAmount.exec(cell) ?? []
  if (plain !== undefined) return wholeCents(plain, cents ?? '')
  if (isFormula(cell)) return { wrong: formulaWrong }
  const { text, currency, wrong } = statedAmount(cell)
  if (wrong !== null) return { wrong }
  if (currency === 'CAD') return { wrong: canadianWrong }
  if (text.endsWith('%')) return { wrong: `${amountWrong}, not a percentage` }
  const amount = americanAmount(text.replace(/^(-?)\$\s*/, '$1'))
  if (/^\(.*\)$/.test(amount) || amount.startsWith('-')) return { wrong: 'greater than 0' }
  const match = /^(\d+|\d{1,3}(?:,\d{3})+)?(?:\.(\d*))?$/.exec(amount)
  const whole = match?.[1]?.replaceAll(',', '') ?? ''
  const decimals = match?.[2] ?? ''
  if (match === null || (whole === '' && decimals === '')) return { wrong: amountWrong }
  if (decimals.length === 3 || /[1-9]/.test(decimals.slice(2))) {
    return { wrong: `${amountWrong}, with at most two decimals` }
  }
  if (whole.replace(/^0+/, '').length > 7) return { wrong: 'at most $9,999,999.99' }
  return wholeCents(whole, decimals)
}

/** How most cells of a file state an amount. */
const plainAmount = /^(\d{1,7})(?:\.(\d{1,2}))?$/

function wholeCents(whole: string, decimals: string): Cell<number> {
  // Computed from the digits, because floating-point arithmetic could lose a cent.
  const cents = Number(whole || '0') * 100 + Number(decimals.slice(0, 2).padEnd(2, '0'))
  if (cents > AMOUNT_CENTS_MAX) return { wrong: 'at most $9,999,999.99' }
  return cents > 0 ? { value: cents } : { wrong: 'greater than 0' }
}

/** As readMoney, but zero means unknown: load boards write 0 when no truck is found yet. */
export function readCost(cell: string): Cell<number | null> {
  const { text, wrong } = statedAmount(cell)
  if (wrong === null && /^(?:\$\s*)?(?:0+(?:\.0*)?|\.0+)$/.test(text)) return { value: null }
  const read = readMoney(cell)
  return 'wrong' in read && read.wrong === 'greater than 0' ? { wrong: '0 or more' } : read
}

/** As readMoney, but zero is a value: there is no such charge. */
export function readCharge(text: string): Cell<number> {
  const cell = readCost(text)
  return 'wrong' in cell ? cell : { value: cell.value ?? 0 }
}

/** Reads the basis of an amount. @example readBasis('All-in') // { value: 'all_in' } */
export function readBasis(text: string): Cell<RateBasis> {
  const word = foldedWords(text).replaceAll(' ', '')
  if (/^(linehaul|linehaulonly|lh|base|baserate|plusfuel|linehaulplusfuel|withoutfuel)$/.test(word)) {
    return { value: 'linehaul' }
  }
  return /^(allin|allinrate|allinclusive|total|flat|withfuel|includingfuel|fuelincluded)$/.test(word)
    ? { value: 'all_in' }
    : { wrong: 'linehaul or all_in' }
}

/** Reads a currency of quotes. @example readCurrency('Canadian dollars') // { value: 'CAD' } */
export function readCurrency(text: string): Cell<Currency> {
  return readCurrencyIn(text, quoteCurrencies)
}

/** Reads one of the currencies `known`. @example readCurrencyIn('MX$', ['USD', 'CAD', 'MXN']) // { value: 'MXN' } */
export function readCurrencyIn<Known extends string>(text: string, known: readonly Known[]): Cell<Known> {
  const word = foldedWords(text).replaceAll(' ', '')
  const { rest, currencies } = splitCurrency(text, 'cell')
  const named =
    /^(us|usdollars?|dollars?)$/.test(word) || text.trim() === '$'
      ? ['USD']
      : /^(ca|can|cadollars?)$/.test(word)
        ? ['CAD']
        : /[\p{L}\d]/u.test(rest)
          ? []
          : currencies
  const value = named.length === 1 ? known.find((one) => one === named[0]) : undefined
  const list = `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`
  return value === undefined ? { wrong: `${list}; other currencies are not stored` } : { value }
}

/**
 * Separates accessorial charges by name from their currency, which stands before or behind each amount.
 *
 * @example statedCharges('detention C$75') // { text: 'detention 75', currency: 'CAD', wrong: null }
 */
export function statedCharges(cell: string): StatedAmount {
  const found = new Set<string>()
  const parts = cell.split(/[;\n]/).map((whole) => {
    const part = whole.slice(0, cellLengthMax)
    const last = [...part.matchAll(/[\d.,]+/g)].findLast(([number]) => /\d/.test(number))
    if (last === undefined) return part
    const [amount] = last
    const behind = part.slice(last.index + amount.length)
    const name = currencyAtEnd(part.slice(0, last.index))
    const after = splitCurrency(behind, 'cell')
    for (const currency of [...name.currencies, ...after.currencies]) found.add(currency)
    return `${name.rest}${amount}${after.currencies.length === 0 ? behind : after.rest}`
  })
  const stated = storedCurrency([...found], quoteCurrencies)
  // Earlier versions read USD as a part of a charge's name. It stays there, so that such a row keeps its digest.
  const isKept = found.size === 0 || (stated.currency === 'USD' && readCharges(cell) !== null)
  return { text: isKept ? cell : parts.join(';'), ...stated }
}

/** A sign, a word or two words at the end of the text before an amount, which may be its currency. */
const lastWords = [/(?!\$)\p{Sc}$/u, /(?<![^\s:=])[^\s:=]+$/, /(?<![^\s:=])[^\s:=]+\s+[^\s:=]+$/]

/** Takes the currency off the end of a charge's name. A currency within the name stays: EUR pallets are pallets. */
function currencyAtEnd(name: string): CurrencySplit {
  const trimmed = name.trimEnd()
  for (const form of lastWords) {
    const at = trimmed.search(form)
    if (at < 0) continue
    const { rest, currencies } = splitCurrency(trimmed.slice(at), 'header')
    if (currencies.length > 0 && !/[\p{L}\d]/u.test(rest)) return { rest: name.slice(0, at), currencies }
  }
  return { rest: name, currencies: [] }
}

/**
 * Reads accessorial charges by name.
 *
 * @example readNamedCharges('detention 75; lumper 120') // { value: 'detention 75.00; lumper 120.00' }
 */
export function readNamedCharges(cell: string): Cell<string> {
  if (isFormula(cell)) return { wrong: formulaWrong }
  const { text, currency, wrong } = statedCharges(cell)
  if (wrong !== null) return { wrong }
  if (currency === 'CAD') return { wrong: canadianWrong }
  const charges = readCharges(text)
  return charges === null
    ? {
        wrong:
          'charges such as "detention 75; lumper 120", each name once (a column with one amount is accessorials or a rate)',
      }
    : { value: chargesText(charges) }
}

/**
 * Reads accessorial charges by name into the form of the API, in dollars.
 *
 * @example readSentCharges('detention 75') // { value: [{ name: 'detention', amount: 75 }] }
 */
export function readSentCharges(text: string): Cell<{ name: string; amount: number }[]> {
  const read = readNamedCharges(text)
  return 'wrong' in read
    ? read
    : { value: (readCharges(read.value) ?? []).map(({ name, cents }) => ({ name, amount: cents / 100 })) }
}
