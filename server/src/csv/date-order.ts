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
}

export const noDates = (): SeenDates => ({
  month_first: null,
  day_first: null,
  example: null,
  isDotted: true,
})

/** Adds the date of a cell to what its column shows. */
export function seeDate(seen: SeenDates, text: string, line: number): void {
  const numbers = dateNumbers(text)
  if (numbers === null) return
  const { one, other, isDotted, date } = numbers
  const canBe = (month: number, day: number) => month >= 1 && month <= 12 && day >= 1 && day <= 31
  const [monthFirst, dayFirst] = [canBe(one, other), canBe(other, one)]
  if (monthFirst && dayFirst) {
    if (one === other) return
    seen.example ??= wholeDate(date) === null ? null : date
    seen.isDotted &&= isDotted
  } else if (monthFirst) seen.month_first ??= { line, date }
  else if (dayFirst) seen.day_first ??= { line, date }
}

/** Why a column cannot be read: one date needs one order, and another date the other one. Null if it can. */
export function orderConflict(name: string, seen: SeenDates): { detail: string; line: number } | null {
  const { month_first: month, day_first: day } = seen
  if (month === null || day === null) return null
  const [first, second] = month.line <= day.line ? [month, day] : [day, month]
  const words = (one: SeenDate) =>
    `${one.date} on line ${one.line} can only be ${one === day ? 'day first' : 'month first'}`
  return {
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
function dayInWords(date: string, order: DateOrder): string {
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
