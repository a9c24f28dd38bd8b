import { dateFromSerial, isDateFormat, isPercentFormat, tokenize } from 'numfmt'
import { currenciesIn, currencyOfSymbol } from './workbook-currency.ts'

/** Writes the number of a cell as text, by the format of the cell. */
export type NumberWriter = (value: number) => string

/** The number formats that a workbook refers to by number only (ECMA-376, 18.8.30), if they change how a number is read. */
export const builtInFormats: readonly (readonly [string, string])[] = [
  ['9', '0%'],
  ['10', '0.00%'],
  // Also the dates of Chinese, Japanese, Korean and Thai programs.
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map(
    (id) => [String(id), 'm/d/yyyy'] as const,
  ),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47].map((id) => [String(id), 'h:mm:ss'] as const),
  ['22', 'm/d/yyyy h:mm'],
]

/**
 * How the numbers of a format are written: a date as ISO 8601, a percent with its sign, an amount with the code of its currency,
 * unless it is US dollars, and a number such as a ZIP code with its leading zeros. Other numbers are plain, and none is rounded or
 * grouped.
 *
 * @param use1904 true if the days of dates count from 1904
 * @example numberWriter('[$CAD] #,##0.00', false)(1850.5) // '1850.5 CAD'
 */
export function numberWriter(code: string, use1904: boolean): NumberWriter {
  if (isDateFormat(code)) return (days) => dateText(days, use1904)
  if (/^0{2,}$/.test(code)) return (value) => String(value).padStart(code.length, '0')
  // Numbers such as 7.000000000000001, which 100 times 0.07 is, have no more than 15 exact digits.
  if (isPercentFormat(code)) return (value) => `${Number((value * 100).toPrecision(15))}%`
  const unit = unitOf(code)
  return unit === '' ? String : (value) => `${value}${unit}`
}

/** The most days of a date: the last one is 31 December 9999. */
const daysEnd = 2_958_466

/** A day count of a spreadsheet as a date, with the time of day if it has one; the number itself if it is no date. */
function dateText(days: number, use1904: boolean): string {
  const counted = use1904 ? days + 1462 : days
  const date = counted >= 0 && counted < daysEnd ? dateFromSerial(counted) : null
  if (date === null) return String(days)
  const [year, month, day, hours, minutes, seconds] = date
  const two = (part: number) => String(part).padStart(2, '0')
  const written = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  const hasTime = hours !== 0 || minutes !== 0 || seconds !== 0
  return hasTime ? `${written} ${two(hours)}:${two(minutes)}:${two(seconds)}` : written
}

/** What must be written after the numbers of a format, because the number alone would mean something else. */
function unitOf(code: string): string {
  const { symbols, words, isScaled } = shownWith(code)
  const currencies = new Set([...symbols.flatMap(currencyOfSymbol), ...currenciesIn(words)])
  // An amount in a format with two currencies is refused by whoever reads it.
  const currency = [...currencies].filter((one) => one !== 'USD').join('/')
  const cents = /¢|\bcents?\b/i.test(words) ? '¢' : ''
  const per = /(\/|\bper) ?[a-z]{1,12}\b/i.exec(words)?.[0] ?? ''
  const distance = per === '' && /\b(kms?|kilomet(er|re)s?)\b/i.test(words) ? 'km' : ''
  // A percent sign or a k as text does not divide or multiply: 18.5 is shown as 18.5%. After a scale, the number is the whole amount.
  const percent = words.includes('%') ? '%' : ''
  const thousands = /\bk\b|thousands?/i.test(words) && !isScaled ? 'k' : ''
  return `${cents}${percent}${thousands}${[currency, per, distance].map((one) => (one === '' ? '' : ` ${one}`)).join('')}`
}

/** The symbols in brackets, such as $-1009, and the other text that a format shows beside its numbers. */
function shownWith(code: string) {
  const symbols: string[] = []
  let words = ''
  let isScaled = false
  for (const { type, value } of tokensOf(code)) {
    if (type === 'SCALE') isScaled = true
    if (type === 'LOCALE') symbols.push(value)
    else if (textTokens.has(type)) words += value
    else if (!digitTokens.has(type)) words += ' '
  }
  return { symbols, words, isScaled }
}

const textTokens = new Set(['STRING', 'CHAR', 'ESCAPED', 'CURRENCY', 'SPACE', 'SLASH'])
const digitTokens = new Set(['HASH', 'ZERO', 'QMARK', 'GROUP', 'POINT', 'SCALE'])

/** The parts of a format; none if it is no format. */
function tokensOf(code: string): readonly { readonly type: string; readonly value: string }[] {
  try {
    return tokenize(code)
  } catch {
    return []
  }
}

/** A cell of CSV text, in quotes if it contains a comma or quotes. */
export const csvCell = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/**
 * The text of a cell with text. A line break becomes a space, so that each row is one line. A number with three or more decimals,
 * which may be 1,855 in the writing of another country, is marked as text: in a workbook, a number without the mark is a number.
 *
 * @example textCell('1.855') // '="1.855"'
 */
export function textCell(text: string): string {
  const decoded = text.includes('_x') ? text.replaceAll(/_x([0-9a-f]{4})_/gi, characterOf) : text
  const line = /[\r\n\t]/.test(decoded) ? decoded.replaceAll(/[\r\n\t]+/g, ' ') : decoded
  return /^[^\d"]{0,8}\d[\d,]*\.\d{3,}[^\d".]{0,8}$/.test(line) ? `="${line}"` : line
}

/** Workbooks write a character that XML does not permit by its number, such as _x000D_. */
const characterOf = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))
