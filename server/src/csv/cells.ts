import { isDay, isDisplayText, readTime } from '#contract/fields.ts'
import { nameLengthMax } from '#contract/limits.ts'
import { equipmentCode, equipmentFault } from '#engine/equipment.ts'
import type { SavedOutcome } from '#engine/history.ts'
import { AMOUNT_CENTS_MAX } from '#engine/money.ts'
import { chargesText, readCharges } from '#engine/named-charges.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { americanAmount } from '#engine/written-amount.ts'

/** The result of reading one cell: its value, or what it must be, worded to follow "must be". */
export type Cell<T> = { readonly value: T } | { readonly wrong: string }

/** The most characters of a cell: the longest value, 20 charges by name, has some 1,000. */
export const cellLengthMax = 1_000

/**
 * The trimmed text of a cell. Unwraps ="0012", by which spreadsheets keep leading zeros. Null when empty. All readers of files and
 * pasted text use it. A cell above `cellLengthMax` is cut and gets an ellipsis, which `readCell` and every reader refuse.
 */
export function cellText(raw: string | undefined): string | null {
  if (raw === undefined) return null
  const whole = raw.trim()
  const trimmed = whole.length > cellLengthMax ? `${whole.slice(0, cellLengthMax)}…` : whole
  if (trimmed.startsWith('="') && trimmed.endsWith('"') && !trimmed.slice(2, -1).includes('"')) {
    return trimmed.slice(2, -1).trim() || null
  }
  return trimmed || null
}

/** Reads the text of a cell, and refuses one above `cellLengthMax`. */
export function readCell<T>(text: string, reader: (text: string) => Cell<T>): Cell<T> {
  return text.length > cellLengthMax
    ? { wrong: `at most ${cellLengthMax.toLocaleString('en-US')} characters long` }
    : reader(text)
}

/** A value for an error message: shortened to 60 characters, without control characters. */
export function quoted(text: string): string {
  const shown = [...text.slice(0, 240).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')].slice(0, 60).join('')
  return `"${shown}${shown.length < text.length ? '…' : ''}"`
}

/** Rejects a formula: a spreadsheet that opens an export would run it, and its result is not in the file. */
function isFormula(text: string): boolean {
  return text.startsWith('=')
}

const formulaWrong = 'a value, not a formula; save the file with values instead of formulas'

/** A name or an id of at most 200 characters. Line breaks become spaces. */
export function readText(text: string): Cell<string> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const value = text.replace(/\s+/g, ' ')
  if ([...value].length > nameLengthMax) return { wrong: `at most ${nameLengthMax} characters long` }
  return isDisplayText(value) ? { value } : { wrong: 'text without control characters' }
}

/** The text of an amount. Empty for a dash or a word such as TBD, which mean that there is none. */
export function amountText(cell: string): string {
  return /^(\$?\s*[-–—]+|n\/?a|tbd)$/i.test(cell) ? '' : cell.replace(/(usd|dollars)$/i, '').trimEnd()
}

/** Reads yes or no, also as true and false, 1 and 0, or X. @example readYesNo('TRUE') // { value: true } */
export function readYesNo(text: string): Cell<boolean> {
  const word = foldedWords(text)
  if (/^(yes|y|true|t|1|x|cancell?ed|void|voided)$/.test(word)) return { value: true }
  return /^(no|n|false|f|0|active|not cancell?ed)$/.test(word) ? { value: false } : { wrong: 'yes or no' }
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

/** Reads an equipment code or name. @example readEquipment("53' reefer") // { value: 'R' } */
export function readEquipment(text: string): Cell<string> {
  const code = equipmentCode(text)
  return code === null ? { wrong: equipmentFault(text) } : { value: code }
}

/** Reads miles up to 10,000. Zero means unknown. */
export function readMiles(text: string): Cell<number | null> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const number = text.replace(/(?<!\s)\s*(mi|miles?)\.?$/i, '')
  if (!/^(\d+|\d{1,3}(,\d{3})+)(\.\d*)?$|^\.\d+$/.test(number)) {
    return { wrong: 'a number of miles such as 780.5' }
  }
  const miles = Number(number.replaceAll(',', ''))
  if (miles > 10_000) return { wrong: 'at most 10,000 miles' }
  return { value: miles === 0 ? null : miles }
}

const dateWrong =
  'a date such as 2026-03-01, 2026-03-01 14:30, 2026-03-01T14:30:00Z, 3/1/2026 2:30 PM (month first), 1-Mar-2026 or Mar 1, 2026'

const isoForm =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?$/i
const usForm = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4}|\d{2})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)?)?$/i

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthName =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const weekday = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?'
const yearAndTime = '(?:[-, ]{1,2}(\\d{4}|\\d{2}))?(?:,? (\\d{1,2}:\\d{2}(?::\\d{2})?(?: ?[AP]M)?))?$'
const dayFirst = new RegExp(`^${weekday}(\\d{1,2})[- ]${monthName}${yearAndTime}`, 'i')
const monthFirst = new RegExp(`^${weekday}${monthName}[- ](\\d{1,2})(?:st|nd|rd|th)?${yearAndTime}`, 'i')

/** The number of a month, by its name; null for another text. @example monthOf('Sept.') // 9 */
export function monthOf(name: string): number | null {
  const at = months.indexOf(name.slice(0, 3).toLowerCase())
  return at < 0 ? null : at + 1
}

/** A date with the name of its month, in the American form; null for another text. The year is empty if it is absent. */
function numberedDate(
  text: string,
): { readonly monthDay: string; readonly year: string; readonly time: string } | null {
  const [, day, month, year = '', time = ''] = dayFirst.exec(text) ?? []
  if (day !== undefined && month !== undefined) return { monthDay: `${monthOf(month)}/${day}`, year, time }
  const [, named, namedDay, namedYear = '', namedTime = ''] = monthFirst.exec(text) ?? []
  return named === undefined
    ? null
    : { monthDay: `${monthOf(named)}/${namedDay}`, year: namedYear, time: namedTime }
}

/**
 * Reads a time as epoch milliseconds: ISO 8601, the American month/day/year, or a date with the name of its month, each with or
 * without a time of day. A date without a time of day is midnight. A time without a zone is UTC. Two-digit years are 1970 to 2069.
 *
 * @example readMoment('3/1/2026 2:30 PM') // { value: 1772375400000 }
 * @example readMoment('1-Mar-26') // { value: 1772323200000 }
 */
export function readMoment(text: string): Cell<number> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const iso = isoForm.exec(text)
  if (iso !== null) {
    const [, year, , month, day, hour, minute, second, zone] = iso
    return moment([year, month, day], [hour, minute, second], zone)
  }
  const named = numberedDate(text)
  if (named?.year === '') return { wrong: `${dateWrong}, with its year` }
  const us = usForm.exec(named === null ? text : `${named.monthDay}/${named.year} ${named.time}`.trim())
  if (us === null) return { wrong: dateWrong }
  const [, month, , day, yearText = '', hourText, minute, second, half] = us
  const year = yearText.length === 2 ? `${Number(yearText) >= 70 ? 19 : 20}${yearText}` : yearText
  if (half === undefined) return moment([year, month, day], [hourText, minute, second], undefined)
  const hour = Number(hourText)
  if (hour < 1 || hour > 12) return { wrong: dateWrong }
  const hours = (hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0)
  return moment([year, month, day], [String(hours), minute, second], undefined)
}

function moment(
  [year = '', month = '', day = '']: (string | undefined)[],
  [hour = '0', minute = '00', second = '00']: (string | undefined)[],
  zoneText: string | undefined,
): Cell<number> {
  const zone =
    zoneText === undefined || /^(z|utc)$/i.test(zoneText)
      ? 'Z'
      : zoneText.length === 3
        ? `${zoneText}:00`
        : zoneText
  const two = (part: string) => part.padStart(2, '0')
  const value = readTime(`${year}-${two(month)}-${two(day)}T${two(hour)}:${minute}:${second}${zone}`)
  return value === null ? { wrong: dateWrong } : { value }
}

/** Reads a calendar day. A time of day after the date is dropped, without applying its zone. */
export function readDay(text: string): Cell<string> {
  const cell = readMoment(text.replace(/(?<!\s)\s*(Z|UTC|[+-]\d{2}:\d{2})$/i, ''))
  if ('wrong' in cell) return cell
  const value = new Date(cell.value).toISOString().slice(0, 10)
  return isDay(value) ? { value } : { wrong: dateWrong }
}

const dayMs = 86_400_000
const withoutYear = /^(\d{1,2})[-/](\d{1,2})$/

/**
 * Reads a calendar day whose year may be absent, such as `Dec 3` or `12/3`: it is the one nearest to `now` (epoch milliseconds), because
 * people leave the year out of days that are near.
 *
 * @example readDayNear('Dec 3', Date.UTC(2026, 10, 25)) // { value: '2026-12-03' }
 */
export function readDayNear(text: string, now: number): Cell<string> {
  const whole = readDay(text)
  if ('value' in whole) return whole
  const named = numberedDate(text)
  const [, month, day] = withoutYear.exec(text) ?? []
  const monthDay = named?.year === '' ? named.monthDay : month === undefined ? null : `${month}/${day}`
  if (monthDay === null) return whole
  const year = new Date(now).getUTCFullYear()
  const cells = [year - 1, year, year + 1].map((one) => readDay(`${monthDay}/${one}`))
  const distance = (cell: Cell<string>) =>
    'value' in cell
      ? Math.abs(Date.parse(cell.value) - Math.floor(now / dayMs) * dayMs)
      : Number.POSITIVE_INFINITY
  return cells.reduce((best, cell) => (distance(cell) < distance(best) ? cell : best))
}

export type OutcomeReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'
export interface ReadOutcome {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
}

/** The outcome words of TMSs and load boards, folded to lower case with single spaces. */
const outcomeWords: Readonly<Record<string, readonly string[]>> = {
  won: [
    'won',
    'win',
    'w',
    'yes',
    'y',
    'true',
    '1',
    'booked',
    'book',
    'awarded',
    'accepted',
    'approved',
    'converted',
    'closed won',
    'tendered',
    'tender accepted',
    'covered',
    'assigned',
    'dispatched',
    'in transit',
    'loaded',
    'picked up',
    'delivered',
    'complete',
    'completed',
    'invoiced',
    'billed',
    'paid',
  ],
  lost: [
    'lost',
    'loss',
    'lose',
    'l',
    'no',
    'n',
    'false',
    '0',
    'declined',
    'rejected',
    'refused',
    'not awarded',
    'not accepted',
    'closed lost',
    'lost other',
  ],
  'lost price': [
    'lost price',
    'lost on price',
    'lost rate',
    'price',
    'too high',
    'rate too high',
    'price too high',
  ],
  'lost service': ['lost service', 'lost on service'],
  'lost capacity': ['lost capacity', 'no capacity', 'no truck', 'no trucks'],
  'lost no_response': ['no response', 'no answer', 'no reply', 'lost no response', 'unanswered'],
  expired: ['expired', 'quote expired', 'lapsed', 'stale'],
  pending: [
    'pending',
    'sent',
    'open',
    'quoted',
    'new',
    'draft',
    'submitted',
    'active',
    'in progress',
    'awaiting',
    'awaiting response',
    'waiting',
    'undecided',
    'unknown',
  ],
}

const outcomeOfWord: ReadonlyMap<string, string> = new Map(
  Object.entries(outcomeWords).flatMap(([outcome, words]) =>
    words.map((word): [string, string] => [word, outcome]),
  ),
)

function foldedWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

const isOutcome = (word: string | undefined): word is SavedOutcome =>
  word === 'won' || word === 'lost' || word === 'pending' || word === 'expired'

/**
 * Reads an outcome. An unanswered quote is lost for lack of response; an expired one is neither won nor lost. A cancelled load
 * is rejected, because it was neither won nor lost on its rate.
 *
 * @example readOutcome('Lost - Price') // { value: { outcome: 'lost', reason: 'price' } }
 */
export function readOutcome(text: string): Cell<ReadOutcome> {
  const word = foldedWords(text)
  if (/^(load )?(cancell?ed|void|voided|withdrawn|tonu)\b/.test(word)) {
    return {
      wrong:
        'won, lost or pending; remove the rows of cancelled loads, which were neither won nor lost on their rate',
    }
  }
  const [outcome, reason] = outcomeOfWord.get(word)?.split(' ') ?? []
  if (!isOutcome(outcome)) {
    return {
      wrong: 'a known word for won, lost, pending or expired, such as WON, LOST, SENT, EXPIRED or Booked',
    }
  }
  return { value: { outcome, reason: (reason as OutcomeReason | undefined) ?? null } }
}

const reasonWords: readonly (readonly [OutcomeReason, RegExp])[] = [
  ['price', /\b(price|pricing|rate|rates|cost|expensive|high|cheaper)\b/],
  ['capacity', /\b(capacity|truck|trucks|coverage)\b/],
  ['service', /\b(service|transit|late|claims?)\b/],
  ['no_response', /\b(no (response|reply|answer)|expired|unanswered)\b/],
]

/** Reads why a quote was lost. The text is free; what matches no known reason becomes `other`. */
export function readReason(text: string): OutcomeReason {
  const words = foldedWords(text)
  return reasonWords.find(([, form]) => form.test(words))?.[0] ?? 'other'
}
