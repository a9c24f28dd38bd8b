import { sql } from 'kysely'
import { bookingFields } from '#engine/booking-fields.ts'
import { bookingColumns } from './booking-columns.ts'

/** Whether a row of `quotes` has a booking, even a cancelled one. A customer's name alone is no booking. */
export const inShipments = sql<boolean>`(${sql.join(
  bookingFields
    .filter((field) => field !== 'customerName')
    .map((field) => sql`quotes.${sql.ref(bookingColumns[field])} is not null`),
  sql` or `,
)})`
