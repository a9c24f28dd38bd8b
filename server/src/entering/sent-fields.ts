import type { FieldError } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import type { Mode } from '#engine/load-mode.ts'
import { centsFromDollars } from '#engine/money.ts'
import {
  type QuoteFieldOf,
  type QuoteName,
  type QuoteStampGroup,
  type QuoteUnit,
  type QuoteUnitOf,
  type QuoteWay,
  quoteFieldsOf,
  quoteTable,
} from '#engine/quote-fields.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import type { NextValues } from '../database/queries/index.ts'
import { readEquipment, readLanePlaces } from '../quotes/index.ts'
import { accessorialCents, type SentCharges, storedCharges } from './charges-errors.ts'

/** The value of a field in a body of JSON, by its unit: amounts in dollars, times in ISO 8601. */
interface SentUnits {
  readonly place: string
  readonly equipment: string
  readonly rate: number
  readonly cost: number
  readonly charge: number
  readonly charges: SentCharges
  readonly basis: RateBasis
  readonly currency: Currency
  readonly rateType: 'spot' | 'contract'
  readonly mode: Mode
  readonly stops: readonly string[]
  readonly miles: number
  readonly text: string
  readonly time: string
  readonly day: string
}

/** The ways in by which a quote arrives as JSON. */
type SentWay = Exclude<QuoteWay, 'file'>
/** The fields of a quote in the JSON of one way in. Absent fields were not sent. */
export type SentQuote<Way extends SentWay> = {
  readonly [F in QuoteFieldOf<Way> as NonNullable<QuoteName<'sent', F>>]?:
    | SentUnits[QuoteUnitOf<F>]
    | undefined
}

/** The sent fields as columns of a quote, in groups. A group is signed and stamped as one. A field that no push sets is its own group. */
export type SentColumns = ReadonlyMap<QuoteStampGroup | 'marketRate', NextValues>

/** Converts a sent value to its column, by unit. Null for a unit that is read together with other fields. */
const inColumn: {
  readonly [U in QuoteUnit]: ((sent: SentUnits[U]) => string | number | Date | null) | null
} = {
  place: null,
  miles: null,
  stops: null,
  equipment: null,
  charges: null,
  rate: centsFromDollars,
  cost: centsFromDollars,
  charge: centsFromDollars,
  time: (sent) => new Date(readTime(sent) ?? Number.NaN),
  basis: (sent) => sent,
  currency: (sent) => sent,
  rateType: (sent) => sent,
  mode: (sent) => sent,
  text: (sent) => sent,
  day: (sent) => sent,
}

/**
 * Reads the fields of a quote that a body of JSON carries. A wrong place or equipment adds an error at `${pointer}/${field}`, and is
 * left out. The body fits its schema, and its charges were checked with `chargesErrors`.
 *
 * @param acceptUnknown accepts an unknown city whose spelling is close to that of a known city
 * @example readSentFields('push', { quoted_rate: 2150 }, errors).get('quotedRate') // { quoted_rate_cents: 215000 }
 */
export function readSentFields<Way extends SentWay>(
  way: Way,
  sent: SentQuote<Way>,
  errors: FieldError[],
  {
    pointer = '',
    acceptUnknown = true,
  }: { readonly pointer?: string; readonly acceptUnknown?: boolean } = {},
): SentColumns {
  const columns = new Map<QuoteStampGroup | 'marketRate', NextValues>()
  const fields = sent as SentQuote<'push'>
  const at = (name: string) => ({ pointer: `${pointer}/${name}` })
  const { origin, destination, stops, miles, equipment } = fields
  if (origin !== undefined && destination !== undefined) {
    const route = {
      origin,
      destination,
      ...(stops === undefined ? {} : { stops }),
      ...(miles === undefined ? {} : { miles }),
    }
    const places = readLanePlaces(route, at, errors, acceptUnknown)
    if (places !== null) columns.set('places', places as NextValues)
  }
  if (equipment !== undefined) {
    const code = readEquipment(equipment, at('equipment'), errors)
    if (code !== null) columns.set('equipment', { equipment: code, equipment_code: code })
  }
  for (const field of quoteFieldsOf(way)) {
    const { column, unit, stamp, sent: name } = quoteTable[field]
    const value = name === null ? undefined : (fields as Readonly<Record<string, unknown>>)[name]
    const read = inColumn[unit] as ((sent: unknown) => string | number | Date | null) | null
    if (value === undefined || read === null || stamp === 'quotedAccessorials') continue
    columns.set(stamp ?? 'marketRate', { [column]: read(value) })
  }
  const accessorials = accessorialCents(fields.quoted_accessorials, fields.quoted_charges)
  if (accessorials !== null) {
    const named = fields.quoted_charges === undefined ? null : storedCharges(fields.quoted_charges)
    columns.set('quotedAccessorials', { quoted_accessorials_cents: accessorials, quoted_charges: named })
  }
  return columns
}
