import { isDay, readTime } from '#contract/fields.ts'
import { type Cell, formulaWrong, isFormula } from './cells.ts'

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
