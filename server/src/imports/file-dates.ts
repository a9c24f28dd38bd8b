import type { DateOrder } from '#contract/date-orders.ts'
import { LocalClock } from '#engine/local-clock.ts'
import {
  type Cell,
  type DateReader,
  dateColumns,
  datedFields,
  dateReader,
  dateTerms,
  type FileTime,
  noDates,
  type OrderNote,
  type SeenDates,
  utcDates,
} from '../csv/index.ts'
import type { Columns } from './columns.ts'
import type { ImportNote } from './import-notes.ts'

export type DateField = (typeof datedFields)[number]

/** How the brokerage of a file writes dates. */
export interface DateSettings {
  /** An IANA name. Times without a zone are in it. */
  readonly timeZone: string
  /** The order of day and month, if a file does not show it. */
  readonly order: DateOrder
}

/** What the columns of a file show about the order of day and month. A field without dates in numbers is absent. */
export type SeenInDates = ReadonlyMap<DateField, SeenDates>

/** Reads the dates of a row. */
export interface RowDates {
  time(field: DateField, text: string): Cell<FileTime>
  /** A day whose year may be absent. `now` is in epoch milliseconds. */
  day(field: DateField, text: string, now: number): Cell<string>
  /** The beginning of a day such as 2026-03-01, in epoch milliseconds. */
  startOf(day: string): number
}

/** Dates as the interface reads them: month first, and UTC without a zone. */
export const interfaceDates: RowDates = {
  time: (_, text) => utcDates.time(text),
  day: (_, text, now) => utcDates.dayNear(text, now),
  startOf: (day) => Date.parse(day),
}

/** Reads the dates of one file in the time zone of its brokerage, each column in its order of day and month. */
export class FileDates implements RowDates {
  /** The order of day and month of all columns with dates in numbers; null without such dates, or with two orders. */
  readonly order: DateOrder | null
  readonly #notes: readonly ImportNote[]
  readonly #readers: ReadonlyMap<DateField, DateReader>
  readonly #default: DateReader
  readonly #timeZone: string
  #hasLocalTimes = false

  constructor({ columns, seen }: ReadFile, { order, timeZone }: DateSettings) {
    const clock = new LocalClock(timeZone)
    this.#timeZone = timeZone
    this.#default = dateReader(columns.dates ?? order, clock)
    const fields = datedFields.filter((field) => columns.positions[field] !== undefined)
    const named = fields.map((field) => ({
      name: columns.names[field] ?? field,
      seen: seen.dates.get(field) ?? noDates(),
    }))
    const { readers, notes } = dateColumns(named, { chosen: columns.dates, setting: order }, clock)
    this.#notes = [...notes.map(orderNote), ...named.flatMap(({ name }) => zoneNote(name))]
    this.#readers = new Map(
      readers.flatMap((reader, at) => {
        const field = fields[at]
        return field === undefined ? [] : [[field, reader]]
      }),
    )
    const orders = new Set([...seen.dates.keys()].map((field) => this.#reader(field).order))
    const [first = null] = orders
    this.order = orders.size === 1 ? first : null
  }

  time(field: DateField, text: string): Cell<FileTime> {
    const cell = this.#reader(field).time(text)
    if ('value' in cell && !cell.value.hasZone) this.#hasLocalTimes = true
    return cell
  }

  day(field: DateField, text: string, now: number): Cell<string> {
    return this.#reader(field).dayNear(text, now)
  }

  startOf(day: string): number {
    return this.#default.clock.momentOf(Date.parse(day))
  }

  /** How the dates of the rows that were read until now were understood. */
  notes(): ImportNote[] {
    const zone = `Times without a zone are in ${this.#timeZone}.`
    return [
      ...this.#notes,
      ...(this.#hasLocalTimes
        ? [{ code: 'time_zone' as const, column: null, detail: zone, choices: [] }]
        : []),
    ]
  }

  #reader(field: DateField): DateReader {
    return this.#readers.get(field) ?? this.#default
  }
}

/** A sentence about the order of a column, as a note of an import. */
export function orderNote(note: OrderNote): ImportNote {
  return { code: 'date_order', ...note, choices: [...note.choices] }
}

/** A sentence about the zone in the name of a column. */
function zoneNote(name: string): ImportNote[] {
  const { zone } = dateTerms(name)
  const detail = `${name}: times without a zone are in ${zone}, as the name of the column says.`
  return zone === null ? [] : [{ code: 'time_zone', column: name, detail, choices: [] }]
}

interface ReadFile {
  readonly columns: Columns
  readonly seen: { readonly dates: SeenInDates }
}
