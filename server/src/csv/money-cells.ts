import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import { chargesText, readCharges } from '#engine/named-charges.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { americanAmount } from '#engine/written-amount.ts'
import { type Cell, foldedWords, formulaWrong, isFormula } from './cells.ts'

/** The text of an amount. Empty for a dash or a word such as TBD, which mean that there is none. */
export function amountText(cell: string): string {
  return /^(\$?\s*[-–—]+|n\/?a|tbd)$/i.test(cell) ? '' : cell.replace(/(usd|dollars)$/i, '').trimEnd()
}
const amountWrong = 'an amount of dollars such as 1850.00 or $1,850.00'

const otherCurrency = /€|£|\b(CAD|MXN|EUR|GBP)\b|\b(CA?|MX)\s?\$/i

/**
 * Reads an amount above zero as whole cents. Accepts a dollar sign, USD and the notations of `americanAmount`. Rejects three
 * decimals, because 1.850 means 1,850 in many countries. Zeros after the second decimal are ignored, because spreadsheets
 * add them.
 *
 * @example readMoney('$1,850.00') // { value: 185000 }
 * @example readMoney('1.850,00') // { value: 185000 }
 * @example readMoney('1.850') // { wrong: 'an amount of dollars such as 1850.00 or $1,850.00, with at most two decimals' }
 */
export function readMoney(text: string): Cell<number> {
  if (isFormula(text)) return { wrong: formulaWrong }
  if (otherCurrency.test(text))
    return { wrong: 'in US dollars, or without a currency beside a column Currency that says CAD' }
  const amount = americanAmount(
    text.replace(/^(-?)(?:USD\s*|US\$\s*|\$\s*)/i, '$1').replace(/(?<!\s)\s*(?:USD|US\$)$/i, ''),
  )
  if (/^\(.*\)$/.test(amount) || amount.startsWith('-')) return { wrong: 'greater than 0' }
  const match = /^(\d+|\d{1,3}(?:,\d{3})+)?(?:\.(\d*))?$/.exec(amount)
  const whole = match?.[1]?.replaceAll(',', '') ?? ''
  const decimals = match?.[2] ?? ''
  if (match === null || (whole === '' && decimals === '')) return { wrong: amountWrong }
  if (decimals.length === 3 || /[1-9]/.test(decimals.slice(2))) {
    return { wrong: `${amountWrong}, with at most two decimals` }
  }
  if (whole.replace(/^0+/, '').length > 7) return { wrong: 'at most $9,999,999.99' }
  // Computed from the digits, because floating-point arithmetic could lose a cent.
  const cents = Number(whole || '0') * 100 + Number(decimals.slice(0, 2).padEnd(2, '0'))
  if (cents > AMOUNT_CENTS_MAX) return { wrong: 'at most $9,999,999.99' }
  return cents > 0 ? { value: cents } : { wrong: 'greater than 0' }
}

/** As readMoney, but zero means unknown: load boards write 0 when no truck is found yet. */
export function readCost(text: string): Cell<number | null> {
  if (/^(?:USD\s*|US\$\s*|\$\s*)?(?:0+(?:\.0*)?|\.0+)$/i.test(text)) return { value: null }
  const cell = readMoney(text)
  return 'wrong' in cell && cell.wrong === 'greater than 0' ? { wrong: '0 or more' } : cell
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

/** Reads a currency. @example readCurrency('Canadian dollars') // { value: 'CAD' } */
export function readCurrency(text: string): Cell<Currency> {
  const word = foldedWords(text).replaceAll(' ', '')
  if (/^(us|usd|usdollars?|dollars?)$/.test(word) || text.trim() === '$') return { value: 'USD' }
  return /^(ca|can|cad|cdn|canadiandollars?|cadollars?)$/.test(word)
    ? { value: 'CAD' }
    : { wrong: 'USD or CAD; other currencies are not stored' }
}

/**
 * Reads accessorial charges by name.
 *
 * @example readNamedCharges('detention 75; lumper 120') // { value: 'detention 75.00; lumper 120.00' }
 */
export function readNamedCharges(text: string): Cell<string> {
  if (isFormula(text)) return { wrong: formulaWrong }
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
