import {
  type Booking,
  type BookingField,
  type BookingName,
  bookingFields,
  bookingTable,
  ofEachBookingField,
} from '#engine/booking-fields.ts'
import { quoteColumnOf, quoteFields, quoteTable } from '#engine/quote-fields.ts'
import type { JsonRow, QuoteRow } from '../../schema/index.ts'

export type BookingColumn = BookingName<'column'>
export type BookedColumns = Pick<QuoteRow, BookingColumn>

/** The column of each field of a booking. */
export const bookingColumns = ofEachBookingField(
  bookingFields,
  (field) => bookingTable[field].column,
) as unknown as { readonly [F in BookingField]: BookingName<'column', F> }

/** The columns of a quote that are times and can change. */
const momentColumns: ReadonlySet<string> = new Set([
  ...bookingFields
    .filter((field) => bookingTable[field].unit === 'time')
    .map((field) => bookingColumns[field]),
  ...quoteFields.filter((field) => quoteTable[field].unit === 'time').map(quoteColumnOf),
  'decided_at',
  'updated_at',
  'voided_at',
])

/** The columns of a booking, each with the value that `value` returns for its field. */
export function bookedColumns(value: (field: BookingField) => string | number | Date | null): BookedColumns {
  const columns: Partial<Record<BookingColumn, string | number | Date | null>> = {}
  for (const field of bookingFields) columns[bookingColumns[field]] = value(field)
  return columns as unknown as BookedColumns
}

/** The booking of a quote, in the form of the engine. */
export function bookingOf(quote: BookedColumns): Booking {
  const values = ofEachBookingField(bookingFields, (field) => {
    const value = quote[bookingColumns[field]]
    return value instanceof Date ? value.getTime() : value
  })
  return values as Booking
}

/** Converts a value of the engine to a column value: a time becomes a Date. */
export function columnValue(
  field: BookingField,
  value: string | number | null,
): string | number | Date | null {
  return bookingTable[field].unit === 'time' && value !== null ? new Date(value) : value
}

/** The booking in the columns of a quote. */
export function columnsOf(booking: Booking): BookedColumns {
  return bookedColumns((field) => columnValue(field, booking[field]))
}

/** Parses the times of a quote, or of some of its columns, that the database returned as JSON. */
export function quoteOfJson<Columns extends object>(quote: JsonRow<Columns>): Columns {
  const read = Object.entries(quote).map(([column, value]) => [
    column,
    momentColumns.has(column) && typeof value === 'string' ? new Date(value) : value,
  ])
  return Object.fromEntries(read) as Columns
}
