import { bookingFields, bookingTable } from '#engine/booking-fields.ts'
import { quoteFields, quoteTable } from '#engine/quote-fields.ts'

/** The types of the columns of a quote and of a booking, by the units of their fields. */
const ofQuoteUnit = {
  place: 'text',
  equipment: 'text',
  rate: 'integer',
  cost: 'integer',
  charge: 'integer',
  charges: 'text',
  basis: 'text',
  currency: 'text',
  rateType: 'text',
  mode: 'text',
  stops: 'text',
  miles: 'double',
  text: 'text',
  time: 'time',
  day: 'date',
} as const satisfies Record<(typeof quoteTable)[keyof typeof quoteTable]['unit'], string>
const ofBookingUnit = {
  cents: 'integer',
  text: 'text',
  time: 'time',
  basis: 'text',
  currency: 'text',
  charges: 'text',
} as const satisfies Record<(typeof bookingTable)[keyof typeof bookingTable]['unit'], string>

export type FieldColumnKind = (typeof ofQuoteUnit)[keyof typeof ofQuoteUnit]

/** The columns of `quotes` that are a field of a quote or of a booking, or follow from one, with their kinds. */
export const fieldColumns: readonly (readonly [column: string, kind: FieldColumnKind])[] = [
  ...quoteFields.flatMap((field): [string, FieldColumnKind][] => {
    const { column, unit, derived } = quoteTable[field]
    return [
      [column, ofQuoteUnit[unit]],
      ...derived.map((name): [string, FieldColumnKind] => [name, name === 'created_by' ? 'integer' : 'text']),
    ]
  }),
  ...bookingFields.map((field): [string, FieldColumnKind] => [
    bookingTable[field].column,
    ofBookingUnit[bookingTable[field].unit],
  ]),
]
