import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { dateFields, type ImportFieldName, importFields, quoted, shortened } from '../csv/index.ts'
import { type ColumnProblem, listed } from './column-problems.ts'

/** An unread column, and the fields that it may be, by its name or by one with a similar spelling. */
export interface FreeColumn {
  readonly name: string
  readonly position: number
  readonly fields: readonly ImportFieldName[]
}

/** Information that an import needs, and the sets of fields that provide it: one set of `anyOf` is enough. */
export interface ColumnNeed {
  readonly what: string
  readonly anyOf: readonly (readonly ImportFieldName[])[]
  readonly isMet: boolean
  /** What an import assumes without it; null if it is required. */
  readonly assumed: string | null
}

export const ends = [
  { both: 'origin', city: 'origin_city', state: 'origin_state', zip: 'origin_zip', what: 'pickup' },
  {
    both: 'destination',
    city: 'destination_city',
    state: 'destination_state',
    zip: 'destination_zip',
    what: 'delivery',
  },
] as const

/** The requirements of a quote's row, or, with a lane_ref and no places, of an update of a quote. */
export function columnNeeds(has: (field: ImportFieldName) => boolean): ColumnNeed[] {
  const oneOf = (what: string, fields: readonly ImportFieldName[]): ColumnNeed => ({
    what,
    anyOf: fields.map((field) => [field]),
    isMet: fields.some(has),
    assumed: null,
  })
  if (has('lane_ref') && !ends.some(({ both, city, zip }) => has(both) || has(city) || has(zip))) {
    return [oneOf(bookingNeed, bookingFields)]
  }
  return [
    ...ends.flatMap(({ both, city, state, zip, what }): ColumnNeed[] => [
      {
        what: `the place of ${what}`,
        anyOf: [[both], [city, state], [zip]],
        isMet: has(both) || has(city) || has(zip),
        assumed: null,
      },
      ...(has(city) && !has(both) && !has(zip) ? [oneOf(`the state of ${what}`, [state])] : []),
    ]),
    oneOf('the equipment', ['equipment']),
    oneOf('the rate', ['quoted_rate', 'customer_rate']),
    { ...oneOf('the date', dateFields), assumed: assumedDate },
  ]
}

const assumedDate =
  'All quotes count as quoted at the time of the import. Old rates then count as current, and all quotes are in one month.'

const bookingNeed = 'a booking or an outcome'

/** The fields that a row with a lane_ref can update. */
const bookingFields = [...sentBookingFields.map((field) => bookingTable[field].sent), 'outcome'] as const

/** The problem of a missing need, with a column that may provide it. */
export function missing({ what, anyOf }: ColumnNeed, free: readonly FreeColumn[]): ColumnProblem {
  const fields = anyOf.flatMap(([first]) => (first === undefined ? [] : [first]))
  const [field = 'origin'] = fields
  const close = free.find(({ fields: may }) => may.some((one) => fields.includes(one)))
  const start =
    what === bookingNeed ? `A file with lane_ref needs a column with ${what}:` : `No column has ${what}:`
  const wanted = `${start} the column must be named ${fields.join(' or ')}, or a known other name such as ${listed(
    importFields[field].aliases.slice(0, 3),
  )}.`
  const which = fields.find((one) => close?.fields.includes(one)) ?? field
  return {
    code: 'header',
    column: shortened(close?.name ?? field),
    detail:
      close === undefined
        ? `${wanted} Or name its column with the map ${field}=COLUMN.`
        : `${wanted} If the column ${quoted(close.name)} is the right one, use the map ${which}=${shortened(close.name)}.`,
  }
}
