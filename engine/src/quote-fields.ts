import type { Mode } from './load-mode.ts'
import type { Currency, RateBasis } from './rate-basis.ts'

/** How a quote enters the service: by a request of the quote desk or the API, a signed push, a row of a file, or a requote. */
export type QuoteWay = 'request' | 'push' | 'file' | 'requote'

/**
 * The form in which the value of a field is saved. `rate`, `cost` and `charge` are whole cents: a rate is more than zero, a cost of
 * zero in a file means that it is not known, and a charge of zero means that there is none. `charges` are charges by name, as
 * `chargesText` writes them; stops are places, as `stopsText` writes them. A time is epoch milliseconds, a day is YYYY-MM-DD.
 */
interface UnitValues {
  readonly place: string
  readonly equipment: string
  readonly rate: number
  readonly cost: number
  readonly charge: number
  readonly charges: string
  readonly basis: RateBasis
  readonly currency: Currency
  readonly rateType: 'spot' | 'contract'
  readonly mode: Mode
  readonly stops: string
  readonly miles: number
  readonly text: string
  readonly time: number
  readonly day: string
}
export type QuoteUnit = keyof UnitValues

/** Whether a value of the unit is an amount in whole cents. @example isAmountUnit('charge') // true */
export function isAmountUnit(unit: QuoteUnit): unit is 'rate' | 'cost' | 'charge' {
  return unit === 'rate' || unit === 'cost' || unit === 'charge'
}

interface QuoteFieldRow {
  /** The field's name in the history of a quote and in events. */
  readonly shown: string
  /** The field's name in a request, in a push, and in an imported file; null for a field that no sender sets. */
  readonly sent: string | null
  /** The field's column in the table `quotes`. */
  readonly column: string
  /** Columns that are computed from the value. A rollback restores them with it; the history never shows them. */
  readonly derived: readonly string[]
  readonly unit: QuoteUnit
  /** Whether every quote has the field. */
  readonly needed: boolean
  /** The ways to set the field. */
  readonly ways: readonly QuoteWay[]
  /**
   * The group of fields with one stamp: of two pushes, the newer one sets all of them. Null for a field that no push sets. Stamps
   * are saved under these names.
   */
  readonly stamp: string | null
  /**
   * `on basis`: the amount is converted with the terms of the quoted rate. `in currency`: only its currency is converted. `terms`: the
   * field is one of these terms. Null for other fields.
   */
  readonly terms: 'on basis' | 'in currency' | 'terms' | null
  /** Whether a requote takes the value of the earlier quote, unless another value is sent. */
  readonly copiedByRequote: boolean
  /** Whether the cost, the chance or the rules of a quote depend on the field: every request for a price must send it. */
  readonly priced: boolean
  /** The field's column in an exported file; null if exported files do not include the field. */
  readonly csv: string | null
}

const text = {
  derived: [],
  unit: 'text',
  needed: false,
  terms: null,
  copiedByRequote: false,
  priced: false,
  csv: null,
} as const
const allWays = ['request', 'push', 'file', 'requote'] as const

/**
 * The fields of a quote. SQL statements, the history, events, exports, pushes, imports and requotes are generated from this table.
 * Every field is in the history and in events. CONTRIBUTING.md lists the other changes that a new field needs.
 */
export const quoteTable = {
  origin: {
    ...text,
    shown: 'origin',
    sent: 'origin',
    column: 'origin',
    derived: ['origin_key', 'origin_state', 'origin_market'],
    unit: 'place',
    needed: true,
    ways: ['request', 'push', 'file'],
    stamp: 'places',
    copiedByRequote: true,
    priced: true,
    csv: 'Origin',
  },
  destination: {
    ...text,
    shown: 'destination',
    sent: 'destination',
    column: 'destination',
    derived: ['destination_key', 'destination_state', 'destination_market'],
    unit: 'place',
    needed: true,
    ways: ['request', 'push', 'file'],
    stamp: 'places',
    copiedByRequote: true,
    priced: true,
    csv: 'Destination',
  },
  equipment: {
    ...text,
    shown: 'equipment',
    sent: 'equipment',
    column: 'equipment',
    derived: ['equipment_code'],
    unit: 'equipment',
    needed: true,
    ways: ['request', 'push', 'file'],
    stamp: 'equipment',
    copiedByRequote: true,
    priced: true,
    csv: 'Equipment',
  },
  quotedCustomerName: {
    ...text,
    shown: 'quoted_customer_name',
    sent: 'customer_name',
    column: 'quoted_customer_name',
    needed: true,
    ways: ['request', 'push', 'file'],
    stamp: 'customer',
    copiedByRequote: true,
    priced: true,
    csv: 'Customer on quote',
  },
  quotedRateCents: {
    ...text,
    shown: 'quoted_rate',
    sent: 'quoted_rate',
    column: 'quoted_rate_cents',
    unit: 'rate',
    needed: true,
    ways: allWays,
    stamp: 'quotedRate',
    priced: true,
    csv: 'Quoted rate',
  },
  estimatedCostCents: {
    ...text,
    shown: 'estimated_cost',
    sent: 'estimated_cost',
    column: 'estimated_cost_cents',
    unit: 'cost',
    ways: allWays,
    stamp: 'estimatedCost',
    terms: 'on basis',
    copiedByRequote: true,
    priced: true,
    csv: 'Estimated cost',
  },
  quotedBasis: {
    ...text,
    shown: 'quoted_basis',
    sent: 'quoted_basis',
    column: 'quoted_basis',
    unit: 'basis',
    ways: allWays,
    stamp: 'quotedBasis',
    terms: 'terms',
    copiedByRequote: true,
    priced: true,
    csv: 'Quoted basis',
  },
  quotedFuelCents: {
    ...text,
    shown: 'quoted_fuel',
    sent: 'quoted_fuel',
    column: 'quoted_fuel_cents',
    unit: 'charge',
    ways: allWays,
    stamp: 'quotedFuel',
    terms: 'terms',
    copiedByRequote: true,
    priced: true,
    csv: 'Quoted fuel',
  },
  quotedAccessorialsCents: {
    ...text,
    shown: 'quoted_accessorials',
    sent: 'quoted_accessorials',
    column: 'quoted_accessorials_cents',
    unit: 'charge',
    ways: allWays,
    stamp: 'quotedAccessorials',
    terms: 'terms',
    copiedByRequote: true,
    priced: true,
    csv: 'Quoted accessorials',
  },
  quotedCharges: {
    ...text,
    shown: 'quoted_charges',
    sent: 'quoted_charges',
    column: 'quoted_charges',
    unit: 'charges',
    ways: allWays,
    stamp: 'quotedAccessorials',
    terms: 'terms',
    copiedByRequote: true,
    priced: true,
    csv: 'Quoted charges',
  },
  quotedCurrency: {
    ...text,
    shown: 'quoted_currency',
    sent: 'quoted_currency',
    column: 'quoted_currency',
    unit: 'currency',
    ways: allWays,
    stamp: 'quotedCurrency',
    terms: 'terms',
    copiedByRequote: true,
    priced: true,
    csv: 'Currency',
  },
  marketRateCents: {
    ...text,
    shown: 'market_rate',
    sent: 'market_rate',
    column: 'market_rate_cents',
    unit: 'cost',
    ways: ['request', 'file', 'requote'],
    stamp: null,
    // A market rate has no basis of its own.
    terms: 'in currency',
    csv: 'Market rate',
  },
  miles: {
    ...text,
    shown: 'miles',
    sent: 'miles',
    column: 'miles',
    unit: 'miles',
    ways: ['request', 'push', 'file'],
    stamp: 'places',
    copiedByRequote: true,
    priced: true,
    csv: 'Miles',
  },
  pickupDate: {
    ...text,
    shown: 'pickup_date',
    sent: 'pickup_date',
    column: 'pickup_date',
    unit: 'day',
    ways: allWays,
    stamp: 'pickupDate',
    copiedByRequote: true,
    csv: 'Pickup date',
  },
  quotedAt: {
    ...text,
    shown: 'quoted_at',
    sent: 'quoted_at',
    column: 'created_at',
    unit: 'time',
    needed: true,
    ways: ['push', 'file'],
    stamp: 'quotedAt',
    csv: 'Quoted at',
  },
  repName: {
    ...text,
    shown: 'rep_name',
    sent: 'rep_name',
    column: 'rep_name',
    derived: ['created_by'],
    ways: ['push', 'file'],
    stamp: 'rep',
    csv: 'Quoted by',
  },
  rateType: {
    ...text,
    shown: 'rate_type',
    sent: 'rate_type',
    column: 'rate_type',
    unit: 'rateType',
    ways: allWays,
    stamp: 'rateType',
    copiedByRequote: true,
    priced: true,
    csv: 'Rate type',
  },
  /** Null: a truckload. */
  mode: {
    ...text,
    shown: 'mode',
    sent: 'mode',
    column: 'mode',
    unit: 'mode',
    ways: allWays,
    stamp: 'mode',
    copiedByRequote: true,
    priced: true,
    csv: 'Mode',
  },
  /** The places between origin and destination. */
  stops: {
    ...text,
    shown: 'stops',
    sent: 'stops',
    column: 'stops',
    unit: 'stops',
    ways: ['request', 'push', 'file'],
    stamp: 'places',
    copiedByRequote: true,
    priced: true,
    csv: 'Stops',
  },
  validUntil: {
    ...text,
    shown: 'valid_until',
    sent: 'valid_until',
    column: 'valid_until',
    unit: 'time',
    ways: ['push'],
    stamp: 'validUntil',
    csv: 'Valid until',
  },
  /** The lower rate that the customer named instead of this quote. A person records it when answering the customer. */
  counterRateCents: {
    ...text,
    shown: 'counter_rate',
    sent: null,
    column: 'counter_rate_cents',
    unit: 'rate',
    ways: [],
    stamp: null,
  },
} as const satisfies Record<string, QuoteFieldRow>

type QuoteTable = typeof quoteTable
export type QuoteField = keyof QuoteTable

/** The fields whose row in `quoteTable` has the members of `Row`. */
type FieldsThat<Row> = { [F in QuoteField]: QuoteTable[F] extends Row ? F : never }[QuoteField]
export type QuoteFieldOf<Way extends QuoteWay> = {
  [F in QuoteField]: Way extends QuoteTable[F]['ways'][number] ? F : never
}[QuoteField]
export type QuoteUnitOf<F extends QuoteField> = QuoteTable[F]['unit']
export type QuoteName<
  Where extends 'shown' | 'sent' | 'column',
  F extends QuoteField = QuoteField,
> = QuoteTable[F][Where]
export type QuoteColumn = QuoteName<'column'>
export type DerivedQuoteColumn = QuoteTable[QuoteField]['derived'][number]
/** The value of a field: amounts in whole cents, times in epoch milliseconds. */
export type QuoteValue<F extends QuoteField> = UnitValues[QuoteUnitOf<F>]

/** The groups of fields that another system can push, each with its own stamp. */
export type QuoteStampGroup = Exclude<QuoteTable[QuoteField]['stamp'], null>

export const quoteFields = Object.keys(quoteTable) as readonly QuoteField[]

export type CsvQuoteField = FieldsThat<{ csv: string }>
export const csvQuoteFields = quoteFields.filter(
  (field): field is CsvQuoteField => quoteTable[field].csv !== null,
)

/** The fields that can be set in one of the ways, in the order of the table. */
export function quoteFieldsOf<Way extends QuoteWay>(way: Way): readonly QuoteFieldOf<Way>[] {
  return quoteFields.filter((field): field is QuoteFieldOf<Way> =>
    (quoteTable[field].ways as readonly QuoteWay[]).includes(way),
  )
}

/** The fields that say what the quoted rate includes, and its currency. */
export const quotedTermsFields = quoteFields.filter(
  (field): field is FieldsThat<{ terms: 'terms' }> => quoteTable[field].terms === 'terms',
)

/** The fields that the price of a quote depends on. */
export const pricedFields = quoteFields.filter((field): field is PricedField => quoteTable[field].priced)
export type PricedField = FieldsThat<{ priced: true }>

/**
 * The order of the terms in the digests of requests and rows. Digests are saved, so this list must not change: later fields are
 * digested by name.
 */
export const digestedTerms = [
  'quotedBasis',
  'quotedFuelCents',
  'quotedAccessorialsCents',
  'quotedCharges',
  'quotedCurrency',
] as const satisfies readonly QuoteField[]

/** The column of a field. @example quoteColumnOf('quotedFuelCents') // 'quoted_fuel_cents' */
export function quoteColumnOf<F extends QuoteField>(field: F): QuoteName<'column', F> {
  return quoteTable[field].column
}
