import { type BookingUnit, bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { type GivenKind, isNotGiven } from '#engine/not-given.ts'
import { type QuoteUnit, quoteFields, quoteTable } from '#engine/quote-fields.ts'
import { cellText } from './cells.ts'

/**
 * What the cells of a field contain, by its unit: it decides which words mean that there is no value. Null where an empty cell means a
 * default or is an error. There, the field's reader refuses such a word.
 */
export const kindOfUnit: Readonly<Record<QuoteUnit | BookingUnit, GivenKind | null>> = {
  cents: 'amount',
  rate: 'amount',
  cost: 'amount',
  charge: 'amount',
  charges: 'amount',
  miles: 'miles',
  text: 'name',
  time: 'time',
  day: 'time',
  basis: null,
  currency: null,
  rateType: null,
  mode: null,
  stops: 'name',
  place: null,
  equipment: null,
}

/** As `kindOfUnit`, by the name of a field. Fields without a kind are not in it. */
export const kindOfField: ReadonlyMap<string, GivenKind | null> = new Map<string, GivenKind | null>([
  ...[
    ...quoteFields.map((field) => quoteTable[field]),
    ...sentBookingFields.map((field) => bookingTable[field]),
  ].map(({ sent, unit }) => [sent ?? '', kindOfUnit[unit]] as const),
  ['carrier_mc', 'id'],
  ['decided_at', 'time'],
  ['updated_at', 'time'],
  ['reference', 'id'],
  ['external_id', 'id'],
  ['lane_ref', 'id'],
  ['origin_city', 'city'],
  ['destination_city', 'city'],
  ['origin_zip', 'zip'],
  ['destination_zip', 'zip'],
])

/**
 * The trimmed text of a cell, as `cellText`. Null also for a text that says that there is no value of this kind, such as `N/A`.
 *
 * @param kind null for a field whose reader refuses such a text
 * @example givenText('#REF!', 'name') // null
 */
export function givenText(raw: string | undefined, kind: GivenKind | null): string | null {
  const text = cellText(raw)
  return text === null || (kind !== null && isNotGiven(kind, text)) ? null : text
}
