import { type DateOrder, dateOrders } from '#contract/date-orders.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { LocalClock } from '#engine/local-clock.ts'
import {
  type ColumnOrder,
  columnOrders,
  type DateReader,
  dateReader,
  givenText,
  noDates,
  orderConflict,
  orderNote,
  pushedCells,
  seeDate,
  utcDates,
} from '#server/csv/index.ts'
import type { ColumnsOf, CsvFile } from './csv-file.ts'
import { CommandFailed } from './exits.ts'

const fieldsOf = (unit: 'time' | 'day'): readonly string[] =>
  pushedCells.flatMap((one) => (one.unit === unit ? one.name : []))
const timeFields = [...fieldsOf('time'), 'decided_at']
const dateFields = [...timeFields, ...fieldsOf('day')]

/** The options about the dates of a file, as typed. */
export interface DateOptions {
  readonly timeZone?: string | undefined
  readonly dates?: string | undefined
}

/** How the dates of a file are read. */
export interface PushDates {
  /** The reader of a field that has a column. */
  readonly readerOf: (field: string) => DateReader
  /** Sentences about the order of day and month. */
  readonly notes: readonly string[]
}

/**
 * How each column of dates is read: its order of day and month as its cells show, or as chosen, and times without a zone in the chosen
 * zone. Nothing is assumed, because the settings of the brokerage are not known here.
 *
 * @throws CommandFailed if the order, or the zone of a time, is neither shown by the file nor chosen
 */
export function pushDates(
  file: CsvFile & { readonly columns: ColumnsOf<string> },
  { timeZone, dates }: DateOptions,
): PushDates {
  const chosen = chosenOrder(dates)
  const clock = new LocalClock(chosenZone(timeZone) ?? 'UTC')
  const columns = dateFields.flatMap((field) => {
    const at = file.columns[field]
    return at === undefined ? [] : [{ field, at, name: file.header[at] ?? field, seen: noDates() }]
  })
  for (const { field, at, name, seen } of columns) {
    const isTime = timeFields.includes(field)
    for (const [index, cells] of file.rows.entries()) {
      const text = givenText(cells[at], 'time')
      if (text === null) continue
      seeDate(seen, text, index + 2)
      if (isTime && timeZone === undefined) refuseLocal(text, name, index + 2)
    }
    const conflict = orderConflict(name, seen)
    if (conflict !== null) throw new CommandFailed(2, conflict.detail)
  }
  const orders = columnOrders(columns, { chosen, setting: 'month_first' })
  for (const order of orders) refuseUnknownOrder(order)
  const readers = new Map(
    columns.map(({ field }, at) => [field, dateReader(orders[at]?.order ?? 'month_first', clock)]),
  )
  return {
    readerOf: (field) => readers.get(field) ?? utcDates,
    notes: orders.flatMap((order) => orderNote(order)?.detail ?? []),
  }
}

function chosenOrder(dates: string | undefined): DateOrder | null {
  if (dates === undefined) return null
  const chosen = dateOrders.find((one) => one === dates)
  if (chosen === undefined) {
    throw new CommandFailed(2, `--dates must be ${dateOrders.join(' or ')}; it is "${dates}".`)
  }
  return chosen
}

function chosenZone(timeZone: string | undefined): string | null {
  if (timeZone === undefined) return null
  const zone = timeZoneNamed(timeZone)
  if (zone === null) {
    throw new CommandFailed(2, `--time-zone must be a name such as America/Chicago; it is "${timeZone}".`)
  }
  return zone
}

function refuseLocal(text: string, column: string, row: number): void {
  const cell = utcDates.time(text)
  // The day may be the first number. Then a date without a zone has no zone in that order, either.
  const read = 'value' in cell ? cell : dateReader('day_first', utcDates.clock).time(text)
  if (!('value' in read) || read.value.hasZone) return
  throw new CommandFailed(
    2,
    `The times of "${column}" have no time zone: row ${row} has "${text}". Choose the zone of your brokerage with --time-zone, such as --time-zone America/Chicago, or write the zone into the file, as in 2026-03-01T14:30-06:00.`,
  )
}

function refuseUnknownOrder({ name, seen: { example }, because }: ColumnOrder): void {
  if (because !== 'setting' || example === null) return
  throw new CommandFailed(
    2,
    `The dates of "${name}" can be read in two ways: ${example} may have the month first or the day first. Choose --dates month_first or --dates day_first, or write the dates as 2026-03-01.`,
  )
}
