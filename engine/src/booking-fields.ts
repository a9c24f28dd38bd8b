import type { Currency, RateBasis } from './rate-basis.ts'

/**
 * The form of a field's value: whole cents, text, a time in epoch milliseconds, what an amount includes, its currency, or charges
 * by name as `chargesText` writes them.
 */
export type BookingUnit = 'cents' | 'text' | 'time' | 'basis' | 'currency' | 'charges'
interface UnitValues {
  readonly cents: number
  readonly text: string
  readonly time: number
  readonly basis: RateBasis
  readonly currency: Currency
  readonly charges: string
}

/** The properties of a booking field. Events are built from a quote's history, so a field that is in events is audited. */
type BookingFieldRow = {
  /** The field's name in responses, in events and in the history of a quote. */
  readonly shown: string
  /** The field's name in a signed update and in an imported file; null for a field that only a cancellation sets. */
  readonly sent: string | null
  /** The field's column in the table `quotes`. */
  readonly column: string
  readonly unit: BookingUnit
  /** The field with the currency of an amount; absent for other fields. */
  readonly currency?: 'customer_currency' | 'truck_currency'
  /** The field's column in an exported file; null if exported files do not include the field. */
  readonly csv: string | null
  /** What a cancellation does to the field. */
  readonly cancellation: 'clears' | 'keeps' | 'sets'
} & (
  | { readonly audited: true; readonly inEvents: boolean }
  | { readonly audited: false; readonly inEvents: false }
)

/**
 * The fields of a booking. Queries, the audit log, events, responses, imports and exports are all generated from this
 * table. CONTRIBUTING.md lists the other changes that a new field needs.
 */
export const bookingTable = {
  customerRateCents: {
    shown: 'customer_rate',
    sent: 'customer_rate',
    column: 'customer_rate_cents',
    unit: 'cents',
    currency: 'customer_currency',
    csv: 'Customer rate',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckCostCents: {
    shown: 'truck_cost',
    sent: 'truck_cost',
    column: 'truck_cost_cents',
    unit: 'cents',
    currency: 'truck_currency',
    csv: 'Truck cost',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerName: {
    shown: 'customer_name',
    sent: 'customer_name',
    column: 'customer_name',
    unit: 'text',
    csv: 'Customer',
    // A cancelled truck does not change which customer is billed.
    cancellation: 'keeps',
    audited: true,
    inEvents: true,
  },
  carrierName: {
    shown: 'carrier_name',
    sent: 'carrier_name',
    column: 'carrier_name',
    unit: 'text',
    csv: 'Carrier',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  carrierNotes: {
    shown: 'carrier_notes',
    sent: 'carrier_mc',
    column: 'carrier_notes',
    unit: 'text',
    csv: 'Carrier MC',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  bookedAt: {
    shown: 'booked_at',
    sent: 'booked_at',
    column: 'booked_at',
    unit: 'time',
    csv: 'Booked at',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerBasis: {
    shown: 'customer_basis',
    sent: 'customer_basis',
    column: 'customer_basis',
    unit: 'basis',
    csv: 'Customer basis',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerFuelCents: {
    shown: 'customer_fuel',
    sent: 'customer_fuel',
    column: 'customer_fuel_cents',
    unit: 'cents',
    currency: 'customer_currency',
    csv: 'Customer fuel',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerAccessorialsCents: {
    shown: 'customer_accessorials',
    sent: 'customer_accessorials',
    column: 'customer_accessorials_cents',
    unit: 'cents',
    currency: 'customer_currency',
    csv: 'Customer accessorials',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckBasis: {
    shown: 'truck_basis',
    sent: 'truck_basis',
    column: 'truck_basis',
    unit: 'basis',
    csv: 'Truck basis',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckFuelCents: {
    shown: 'truck_fuel',
    sent: 'truck_fuel',
    column: 'truck_fuel_cents',
    unit: 'cents',
    currency: 'truck_currency',
    csv: 'Truck fuel',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckAccessorialsCents: {
    shown: 'truck_accessorials',
    sent: 'truck_accessorials',
    column: 'truck_accessorials_cents',
    unit: 'cents',
    currency: 'truck_currency',
    csv: 'Truck accessorials',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerCurrency: {
    shown: 'customer_currency',
    sent: 'customer_currency',
    column: 'customer_currency',
    unit: 'currency',
    csv: 'Customer currency',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  customerCharges: {
    shown: 'customer_charges',
    sent: 'customer_charges',
    column: 'customer_charges',
    unit: 'charges',
    csv: 'Customer charges',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckCurrency: {
    shown: 'truck_currency',
    sent: 'truck_currency',
    column: 'truck_currency',
    unit: 'currency',
    csv: 'Truck currency',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  truckCharges: {
    shown: 'truck_charges',
    sent: 'truck_charges',
    column: 'truck_charges',
    unit: 'charges',
    csv: 'Truck charges',
    cancellation: 'clears',
    audited: true,
    inEvents: true,
  },
  /** When the booking was cancelled. A quote with a customer rate or truck cost is not cancelled. */
  cancelledAt: {
    shown: 'cancelled_at',
    sent: null,
    column: 'cancelled_at',
    unit: 'time',
    csv: 'Cancelled at',
    cancellation: 'sets',
    audited: true,
    inEvents: true,
  },
  cancelReason: {
    shown: 'cancel_reason',
    sent: null,
    column: 'cancel_reason',
    unit: 'text',
    csv: 'Cancel reason',
    cancellation: 'sets',
    audited: true,
    inEvents: true,
  },
} as const satisfies Record<string, BookingFieldRow>

type BookingTable = typeof bookingTable
export type BookingField = keyof BookingTable

/** The fields whose row in `bookingTable` has the members of `Row`. */
type FieldsThat<Row> = {
  [F in BookingField]: BookingTable[F] extends Row ? F : never
}[BookingField]
export type SentBookingField = FieldsThat<{ sent: string }>
export type ClearedBookingField = FieldsThat<{ cancellation: 'clears' }>
export type CancellationField = FieldsThat<{ cancellation: 'sets' }>
export type CsvBookingField = FieldsThat<{ csv: string }>

/** The name of a field in the context that `Where` selects. */
export type BookingName<
  Where extends 'shown' | 'sent' | 'column' | 'csv',
  F extends BookingField = BookingField,
> = BookingTable[F][Where]

export type BookingUnitOf<F extends BookingField> = BookingTable[F]['unit']
/** The value of a field: amounts in whole cents, times in epoch milliseconds. */
export type BookingValue<F extends BookingField> = UnitValues[BookingUnitOf<F>]

/** The booking of a quote that was won. A value is null until it is known. Amounts in whole cents, times in epoch milliseconds. */
export type Booking = { readonly [F in BookingField]: BookingValue<F> | null }

export const bookingFields = Object.keys(bookingTable) as readonly BookingField[]
/** The fields that a signed update and an imported file can contain. */
export const sentBookingFields = bookingFields.filter(isSent)
export function isSent(field: BookingField): field is SentBookingField {
  return bookingTable[field].sent !== null
}
/** The fields that a cancellation sets to null. An update cannot send them together with a cancellation. */
export const clearedBookingFields = bookingFields.filter(
  (field): field is ClearedBookingField => bookingTable[field].cancellation === 'clears',
)

export const cancellationFields = bookingFields.filter(
  (field): field is CancellationField => bookingTable[field].cancellation === 'sets',
)
export const csvBookingFields = bookingFields.filter(
  (field): field is CsvBookingField => bookingTable[field].csv !== null,
)

/** Maps each field to the result of `value(field)`. */
export function ofEachBookingField<F extends BookingField, V>(
  fields: readonly F[],
  value: (field: F) => V,
): { [field in F]: V } {
  // A loop, because each row of a file passes here.
  const values: { [field in F]?: V } = {}
  for (const field of fields) values[field] = value(field)
  return values as { [field in F]: V }
}
