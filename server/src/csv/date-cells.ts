import type { DateOrder } from '#contract/date-orders.ts'
import { isDay, readTime, zoneMinutes } from '#contract/fields.ts'
import { LocalClock } from '#engine/local-clock.ts'
import { type Cell, formulaWrong, isFormula } from './cells.ts'

/** What a date must be, with the order in which the numbers of 3/1/2026 are read. */
const dateWrong = (order: DateOrder) =>
  `a date such as 2026-03-01, 2026-03-01 14:30, 2026-03-01T14:30:00Z, ${order === 'day_first' ? '1/3/2026 2:30 PM (day first)' : '3/1/2026 2:30 PM (month first)'}, 1-Mar-2026 or Mar 1, 2026`

/** The names of `zoneMinutes`, or an offset. */
const zone = '(?:Z|UTC|GMT|(?:AK|[NAECMP])[SD]T|HST|[+-]\\d{2}(?::?\\d{2})?)'
const time = `(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,]\\d{1,9})?)?(?:\\s*([AP]M))?(?:\\s*(${zone}))?`
const isoForm = new RegExp(`^(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})(?:[T ]+${time})?$`, 'i')
const compactForm = new RegExp(`^(\\d{4})(\\d{2})(\\d{2})(?:[T ]+${time})?$`, 'i')
const numbersForm = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})(?:,?\\s+${time})?$`, 'i')
/** As the interface and most programs write a time. */
const plainForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?Z$/
const withoutYear = /^(\d{1,2})[-/](\d{1,2})$/

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthName =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const weekday = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?'
const yearAndTime = `(?:[-, ]{1,2}(\\d{4}|\\d{2}))?(?:,? ${time})?$`
const dayThenName = new RegExp(`^${weekday}(\\d{1,2})[- ]${monthName}${yearAndTime}`, 'i')
const nameThenDay = new RegExp(`^${weekday}${monthName}[- ](\\d{1,2})(?:st|nd|rd|th)?${yearAndTime}`, 'i')

/** The number of a month, by its name; null for another text. @example monthOf('Sept.') // 9 */
export function monthOf(name: string): number | null {
  const at = months.indexOf(name.slice(0, 3).toLowerCase())
  return at < 0 ? null : at + 1
}

/** A date as it is written. The year is empty if it is absent. `time`: hour, minute, second, AM or PM, zone. */
interface Written {
  readonly year: string
  readonly month: string
  readonly day: string
  readonly time: readonly (string | undefined)[]
}

function writtenDate(text: string, order: DateOrder): Written | null {
  const [, year, , month, day, ...isoTime] = isoForm.exec(text) ?? []
  if (year !== undefined && month !== undefined && day !== undefined) {
    return { year, month, day, time: isoTime }
  }
  const [, one, , other, numbersYear, ...numbersTime] = numbersForm.exec(text) ?? []
  if (one !== undefined && other !== undefined) {
    return { ...inOrder([one, other], order), year: numbersYear ?? '', time: numbersTime }
  }
  return namedDate(text) ?? compactDate(text)
}

function inOrder([one, other]: readonly [string, string], order: DateOrder) {
  return order === 'day_first' ? { day: one, month: other } : { month: one, day: other }
}

function namedDate(text: string): Written | null {
  const [, day, month, year = '', ...time] = dayThenName.exec(text) ?? []
  if (day !== undefined && month !== undefined) return { year, month: `${monthOf(month)}`, day, time }
  const [, name, nameDay, nameYear = '', ...nameTime] = nameThenDay.exec(text) ?? []
  return name === undefined || nameDay === undefined
    ? null
    : { year: nameYear, month: `${monthOf(name)}`, day: nameDay, time: nameTime }
}

function compactDate(text: string): Written | null {
  const [, year, month, day, ...time] = compactForm.exec(text) ?? []
  return year === undefined || month === undefined || day === undefined ? null : { year, month, day, time }
}

/** A local time as if it were UTC, in epoch milliseconds, and the offset from UTC in minutes that the text states. */
interface WallTime {
  readonly wall: number
  readonly offset: number | null
  /** Whether the text has a time of day. */
  readonly hasTime: boolean
}

function wallTimeOf(text: string, order: DateOrder): Cell<WallTime> {
  if (isFormula(text)) return { wrong: formulaWrong }
  const wrong = dateWrong(order)
  const [, plain] = plainForm.exec(text) ?? []
  if (plain !== undefined) {
    const wall = readTime(`${plain}Z`)
    return wall === null ? { wrong } : { value: { wall, offset: 0, hasTime: true } }
  }
  const written = writtenDate(text, order)
  if (written === null) return { wrong }
  if (written.year === '') return { wrong: `${wrong}, with its year` }
  const [hourText = '0', minute = '00', second = '00', half, zoneText] = written.time
  const hour = half === undefined ? hourText : hourOfHalf(Number(hourText), half)
  const offset = zoneText === undefined ? null : offsetOf(zoneText)
  if (hour === null || Number.isNaN(offset)) return { wrong }
  const year = fullYear(written.year)
  const two = (part: string) => part.padStart(2, '0')
  const wall = readTime(`${year}-${two(written.month)}-${two(written.day)}T${two(hour)}:${minute}:${second}Z`)
  return wall === null ? { wrong } : { value: { wall, offset, hasTime: written.time[0] !== undefined } }
}

/** Two digits mean 1970 to 2069. */
function fullYear(year: string): string {
  return year.length === 4 ? year : `${Number(year) >= 70 ? 19 : 20}${year}`
}

function hourOfHalf(hour: number, half: string): string | null {
  if (hour < 1 || hour > 12) return null
  return String((hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0))
}

/** Minutes; NaN for an offset of a day or more. */
function offsetOf(text: string): number {
  const named = zoneMinutes.get(text.toUpperCase())
  if (named !== undefined) return named
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(3).replace(':', ''))]
  if (hours > 23 || minutes > 59) return Number.NaN
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** A time of a file, in epoch milliseconds. */
export interface FileTime {
  readonly at: number
  /** The time if a local time without a zone were UTC. Digests of rows contain it, so a change of the time zone does not change them. */
  readonly asUtc: number
  readonly hasZone: boolean
}

/** Reads the dates of a column: in the order of day and month that applies to it, and in the time zone of a brokerage. */
export interface DateReader {
  readonly order: DateOrder
  readonly clock: LocalClock
  time(text: string): Cell<FileTime>
  /** As `readDay`. */
  day(text: string): Cell<string>
  /** As `readDayNear`. */
  dayNear(text: string, now: number): Cell<string>
}

/** The most days that a reader of dates holds, because thousands of rows share them. Longer texts have a time of day, and are not held. */
const [daysMax, dayLengthMax] = [2_000, 20] as const

/**
 * Reads dates in an order of day and month, and times without a zone on the clock of a time zone.
 *
 * @param minutes the offset from UTC of times of day without a zone, if it is another one. A day alone is one of the time zone
 * @example dateReader('day_first', new LocalClock('America/Chicago')).day('3/1/2026') // { value: '2026-01-03' }
 */
export function dateReader(order: DateOrder, clock: LocalClock, minutes: number | null = null): DateReader {
  const days = new Map<string, Cell<string>>()
  const day = (text: string) => {
    const known = days.get(text)
    if (known !== undefined) return known
    const cell = readDay(text, order)
    if (days.size >= daysMax) days.clear()
    // A substring would hold the whole piece of the file in memory, so the text is copied.
    if (text.length <= dayLengthMax) days.set(Buffer.from(text).toString(), cell)
    return cell
  }
  return {
    order,
    clock,
    time: (text) => {
      const cell = wallTimeOf(text, order)
      if ('wrong' in cell) return cell
      const { wall, hasTime } = cell.value
      const offset = cell.value.offset ?? (hasTime ? minutes : null)
      if (offset === null) return { value: { at: clock.momentOf(wall), asUtc: wall, hasZone: false } }
      const at = wall - offset * 60_000
      return { value: { at, asUtc: at, hasZone: true } }
    },
    day,
    dayNear: (text, now) => {
      const whole = day(text)
      // The local time is computed only for a day without its year: a file has many days.
      return 'value' in whole ? whole : readDayNear(text, clock.wallTime(now), order)
    },
  }
}

/** As the interface reads dates: month first, and UTC without a zone. */
export const utcDates = dateReader('month_first', new LocalClock('UTC'))

/**
 * Reads a time as epoch milliseconds: ISO 8601, month/day/year, or a date with the name of its month, each with or without a time of
 * day. A date without a time of day is midnight. A time without a zone is UTC. Two-digit years are 1970 to 2069.
 *
 * @example readMoment('3/1/2026 2:30 PM') // { value: 1772375400000 }
 * @example readMoment('1-Mar-26') // { value: 1772323200000 }
 */
export function readMoment(text: string): Cell<number> {
  const cell = utcDates.time(text)
  return 'value' in cell ? { value: cell.value.at } : cell
}

/** Reads a calendar day. A time of day after the date is dropped, without applying its zone. */
export function readDay(text: string, order: DateOrder = 'month_first'): Cell<string> {
  const cell = wallTimeOf(text, order)
  if ('wrong' in cell) return cell
  const value = new Date(cell.value.wall).toISOString().slice(0, 10)
  return isDay(value) ? { value } : { wrong: dateWrong(order) }
}

const dayMs = 86_400_000

/**
 * Reads a calendar day whose year may be absent, such as `Dec 3` or `12/3`: it is the one nearest to `now` (local epoch milliseconds),
 * because people leave the year out of days that are near.
 *
 * @example readDayNear('Dec 3', Date.UTC(2026, 10, 25)) // { value: '2026-12-03' }
 */
export function readDayNear(text: string, now: number, order: DateOrder = 'month_first'): Cell<string> {
  const whole = readDay(text, order)
  if ('value' in whole) return whole
  const [, one, other] = withoutYear.exec(text) ?? []
  const numbers = one === undefined || other === undefined ? null : inOrder([one, other], order)
  const named = namedDate(text)
  const written = named?.year === '' ? named : numbers
  if (written === null) return whole
  const year = new Date(now).getUTCFullYear()
  const cells = [year - 1, year, year + 1].map((near) =>
    readDay(`${near}-${written.month}-${written.day}`, order),
  )
  const distance = (cell: Cell<string>) =>
    'value' in cell
      ? Math.abs(Date.parse(cell.value) - Math.floor(now / dayMs) * dayMs)
      : Number.POSITIVE_INFINITY
  return cells.reduce((best, cell) => (distance(cell) < distance(best) ? cell : best))
}

/** The two numbers at the beginning of a date in numbers, which are a month and a day in either order; null for another text. */
export interface DateNumbers {
  readonly one: number
  readonly other: number
  readonly isDotted: boolean
  /** The date without its time of day. */
  readonly date: string
  /** Its two or four digits; null for a date without a year. */
  readonly year: string | null
}

/** @example dateNumbers('3/1/2026 2:30 PM') // { one: 3, other: 1, isDotted: false, date: '3/1/2026', year: '2026' } */
export function dateNumbers(text: string): DateNumbers | null {
  const [, one, mark, other, year] = numbersForm.exec(text) ?? []
  if (year !== undefined) {
    const date = [one, other, year].join(mark)
    return { one: Number(one), other: Number(other), isDotted: mark === '.', date, year }
  }
  const [, first, second] = withoutYear.exec(text) ?? []
  if (first === undefined) return null
  return { one: Number(first), other: Number(second), isDotted: false, date: text, year: null }
}
