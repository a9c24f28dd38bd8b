import { sql } from 'kysely'
import { bookingFields } from '#engine/booking-fields.ts'
import { bookingColumns } from './booking-columns.ts'

/** Whether a row of `quotes` has a booking, also a cancelled one. The customer's name alone is none. */
export const inShipments = sql<boolean>`(${sql.join(
  bookingFields
    .filter((field) => field !== 'customerName')
    .map((field) => sql`quotes.${sql.ref(bookingColumns[field])} is not null`),
  sql` or `,
)})`
