import { type DateOrder, dateOrders } from '#contract/date-orders.ts'
import type { LocalClock } from '#engine/local-clock.ts'
import { type DateReader, dateNumbers, dateReader, readDay } from './date-cells.ts'
import { dateTerms, minutesOfHeader } from './date-terms.ts'

/** A date of a file that shows the order of day and month. */
interface SeenDate {
  readonly line: number
  readonly date: string
}

/** What the cells of one column show about the order of day and month. */
export interface SeenDates {
  /** The first date that can be read in this order only. */
  month_first: SeenDate | null
  day_first: SeenDate | null
  /** The first date that can be read in both orders, as two different days. */
  example: string | null
  /** Whether each date that can be read in both orders has dots. */
  isDotted: boolean
  /** What the dates show if each may begin with two digits of its year, as 26-03-02 does; null if one of them does not. */
  twoDigits: TwoDigitDates | null
}

interface TwoDigitDates {
  readonly firsts: Set<number>
  readonly lasts: Set<number>
  /** The first date, or the first one that ends with no likely year. */
  example: SeenDate | null
}

export const noDates = (): SeenDates => ({
  month_first: null,
  day_first: null,
  example: null,
  isDotted: true,
  twoDigits: { firsts: new Set(), lasts: new Set(), example: null },
})

/** Years of loads by their last two digits, which no month has: 2013 to 2039. */
const isLikelyYear = (digits: number) => digits >= 13 && digits <= 39
/** A year this much later than the other one is the likelier year of a load. */
const laterYears = 4

/**
 * The date that shows that the dates of a column begin with their years: some would end with an unlikely year, or they would have more
 * years than days, or a year long ago. Null if they do not.
 */
function yearFirst({ twoDigits }: SeenDates): SeenDate | null {
  if (twoDigits === null) return null
  const { firsts, lasts, example } = twoDigits
  const isOlder = Math.max(...firsts) - Math.max(...lasts) >= laterYears
  const areYears =
    ![...lasts].every(isLikelyYear) || firsts.size < lasts.size || (firsts.size === lasts.size && isOlder)
  return areYears ? example : null
}

/** Adds the date of a cell to what its column shows. */
export function seeDate(seen: SeenDates, text: string, line: number): void {
  const numbers = dateNumbers(text)
  if (numbers === null) return
  const { one, other, isDotted, date, year } = numbers
  const last = year?.length === 2 ? Number(year) : null
  if (last === null || !isLikelyYear(one) || other > 12 || last < 1 || last > 31) seen.twoDigits = null
  else if (seen.twoDigits !== null) {
    const { firsts, lasts, example } = seen.twoDigits
    if (example === null || ([...lasts].every(isLikelyYear) && !isLikelyYear(last))) {
      seen.twoDigits.example = { line, date }
    }
    firsts.add(one)
    lasts.add(last)
  }
  const canBe = (month: number, day: number) => month >= 1 && month <= 12 && day >= 1 && day <= 31
  const [monthFirst, dayFirst] = [canBe(one, other), canBe(other, one)]
  if (monthFirst && dayFirst) {
    if (one === other) return
    seen.example ??= wholeDate(date) === null ? null : date
    seen.isDotted &&= isDotted
  } else if (monthFirst) seen.month_first ??= { line, date }
  else if (dayFirst) seen.day_first ??= { line, date }
}

export interface OrderConflict {
  /** `years`: it is not known which numbers are the years. */
  readonly of: 'order' | 'years'
  readonly line: number
  readonly detail: string
}

/**
 * Why a column cannot be read: one date needs one order, and another date the other one, or its dates seem to begin with
 * their years. Null if it can.
 *
 * @param chosen the order that a person chose; absent for files for which none can be chosen
 */
export function orderConflict(
  name: string,
  seen: SeenDates,
  chosen?: DateOrder | null,
): OrderConflict | null {
  const { month_first: month, day_first: day } = seen
  const beginning = chosen === 'day_first' ? null : yearFirst(seen)
  if (beginning !== null) {
    const { line, date } = beginning
    const [year = '', other = '', last = ''] = date.split(/[-/.]/)
    const ways = [`20${year}-${other}-${last}`, `20${last}-${other}-${year}`].map((one) => dayInWords(one))
    return {
      of: 'years',
      line,
      detail: `The dates of ${name} must have years of four digits: ${date} on line ${line} may be ${ways.join(' or ')}. Write the dates as 2026-03-01${chosen === undefined ? '' : ', or if they are day first, state dates=day_first'}.`,
    }
  }
  if (month === null || day === null) return null
  const [first, second] = month.line <= day.line ? [month, day] : [day, month]
  const words = (one: SeenDate) =>
    `${one.date} on line ${one.line} can only be ${one === day ? 'day first' : 'month first'}`
  return {
    of: 'order',
    line: second.line,
    detail: `The dates of ${name} must all be day first, or all be month first: ${words(first)}, and ${words(second)}. Correct one of them, or write the dates as 2026-03-01.`,
  }
}

/** The order of a column, and why. */
export interface ColumnOrder {
  readonly name: string
  readonly seen: SeenDates
  readonly order: DateOrder
  /** `dates`: its own dates can only be read so. `name`: its name says so. `column`: the dates of another column. `setting`: that of the brokerage. */
  readonly because: 'dates' | 'chosen' | 'name' | 'column' | 'dots' | 'setting'
  /** The column whose dates decided. */
  readonly column: string
}

/**
 * The order of day and month in each column of a file. The dates of a column decide, if they can be read in one order only.
 * Otherwise the order that a person chose, else that in the name of the column, such as DD/MM/YYYY, else that of the other columns,
 * if their dates need the same one, else day first for dates with dots, else the setting of the brokerage.
 *
 * @param columns the names of the columns with dates, and what their cells show
 */
export function columnOrders(
  columns: readonly { readonly name: string; readonly seen: SeenDates }[],
  { chosen, setting }: { readonly chosen: DateOrder | null; readonly setting: DateOrder },
): ColumnOrder[] {
  const shown = dateOrders.flatMap((order) => {
    const column = columns.find(({ seen }) => seen[order] !== null)
    return column === undefined ? [] : [{ order, column: column.name }]
  })
  const [only, contrary] = shown
  return columns.map(({ name, seen }) => {
    const own = dateOrders.find((order) => seen[order] !== null)
    const of = { name, seen, column: name }
    if (own !== undefined) return { ...of, order: own, because: 'dates' }
    if (chosen !== null) return { ...of, order: chosen, because: 'chosen' }
    const named = dateTerms(name).order
    if (named !== null) return { ...of, order: named, because: 'name' }
    if (only !== undefined && contrary === undefined) return { ...of, ...only, because: 'column' }
    if (seen.example !== null && seen.isDotted) return { ...of, order: 'day_first', because: 'dots' }
    return { ...of, order: setting, because: 'setting' }
  })
}

/** How the columns of dates of one file are read, in the order of the columns. */
interface ReadColumns {
  readonly readers: readonly DateReader[]
  /** Sentences about the order of day and month, for columns where it matters. */
  readonly notes: readonly OrderNote[]
}

/** Reads each column of dates in its order (`columnOrders`), in the zone that its name states, else on the clock of the brokerage. */
export function dateColumns(
  columns: Parameters<typeof columnOrders>[0],
  choice: Parameters<typeof columnOrders>[1],
  clock: LocalClock,
): ReadColumns {
  const orders = columnOrders(columns, choice)
  return {
    readers: orders.map(({ name, order }) => dateReader(order, clock, minutesOfHeader(name))),
    notes: orders.flatMap((order) => orderNote(order) ?? []),
  }
}

const words = { month_first: 'month first', day_first: 'day first' } as const

/** A sentence about the order of a column, and the other order that a person can choose. */
export interface OrderNote {
  readonly column: string
  readonly detail: string
  readonly choices: readonly { readonly map: string; readonly detail: string }[]
}

/**
 * How the dates of a column were read; null if no date of the column has another day in the other order.
 *
 * @example orderNote(order)?.detail // 'Quote Date: month first, so 3/1/2026 is March 1, 2026.'
 */
export function orderNote({ name, seen, order, because, column }: ColumnOrder): OrderNote | null {
  const { example } = seen
  if (example === null) return null
  const shown = seen[order]
  const why =
    because === 'column'
      ? ` like ${column}`
      : shown === null
        ? ''
        : ` as in ${shown.date} on line ${shown.line}`
  const detail = `${name}: ${words[order]}${why}, so ${example} is ${dayInWords(example, order)}.`
  const other = order === 'day_first' ? 'month_first' : 'day_first'
  const choice = `${other === 'day_first' ? 'Day first' : 'Month first'}: ${dayInWords(example, other)}`
  const choices = because === 'dates' ? [] : [{ map: `dates=${other}`, detail: choice }]
  return { column: name, detail, choices }
}

/** A date in words, in the order in which it is read. @example dayInWords('3/1/2026', 'day_first') // '3 January 2026' */
function dayInWords(date: string, order: DateOrder = 'month_first'): string {
  const day = wholeDate(date, order)
  if (day === null) return date
  const form = new Intl.DateTimeFormat(order === 'day_first' ? 'en-GB' : 'en-US', {
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
    ...(hasYear(date) ? { year: 'numeric' } : {}),
  })
  return form.format(new Date(day))
}

const hasYear = (date: string) => date.split(/[-/.]/).length === 3

/** A date as YYYY-MM-DD, in any year if it has none; null if it is not a date that is read. */
function wholeDate(date: string, order?: DateOrder): string | null {
  const read = readDay(hasYear(date) ? date : `${date.replace('-', '/')}/2000`, order)
  return 'value' in read ? read.value : null
}
