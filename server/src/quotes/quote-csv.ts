import type { Quote } from '#contract/quote.ts'
import { bookingTable, type CsvBookingField, csvBookingFields } from '#engine/booking-fields.ts'
import { stopsText } from '#engine/load-stops.ts'
import { type CsvQuoteField, csvQuoteFields, isAmountUnit, quoteTable } from '#engine/quote-fields.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { Steps } from '#engine/steps.ts'
import { csvHead, csvLinesInSteps, guardedCell } from '../csv/index.ts'

const money = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))

/** Charges by name, as an import reads them. */
function charges(named: Quote['quoted_charges']): string | null {
  return named?.map(({ name, amount }) => `${name} ${money(amount)}`).join('; ') ?? null
}

/** The brokerage's defaults, for quotes that do not state their own. */
export interface AssumedOfQuotes {
  readonly basis: RateBasis
  readonly rateType: RateType
}

/** A quote, with the defaults of its brokerage. */
type Exported = Quote & { readonly default_basis: RateBasis; readonly default_rate_type: RateType }
type Column = readonly [header: string, cell: (quote: Exported) => string | number | null]

/** The amount whose basis or currency a field states. */
const amountOf: Readonly<Partial<Record<CsvBookingField, 'customer_rate' | 'truck_cost'>>> = {
  customerBasis: 'customer_rate',
  customerCurrency: 'customer_rate',
  truckBasis: 'truck_cost',
  truckCurrency: 'truck_cost',
}

/**
 * The cell of a basis or a currency that was not stated. It states the assumption, because an import into another brokerage would
 * assume that brokerage's basis, and the currency of the row.
 */
function assumed(field: CsvBookingField, quote: Exported): string | null {
  const amount = amountOf[field]
  if (amount === undefined || quote[amount] === null) return null
  if (bookingTable[field].unit === 'basis') return quote.default_basis
  return quote.quoted_currency === null ? null : 'USD'
}

/** The column of a booking field. Amounts have two decimals. */
function booked(field: CsvBookingField): Column {
  const { csv, shown, unit } = bookingTable[field]
  return [
    csv,
    (quote) => {
      const value = quote[shown]
      if (unit === 'cents') return money(value as number | null)
      return Array.isArray(value) ? charges(value) : (value ?? assumed(field, quote))
    },
  ]
}
/** Booking fields with a column next to a related one. The other booking fields follow the margin. */
const besideTheQuote: ReadonlySet<CsvBookingField> = new Set([
  'customerName',
  'customerRateCents',
  'truckCostCents',
])

/** The column of a field of the quote. A basis or a rate type that was not stated is the default one. */
function quoted(field: CsvQuoteField): Column {
  const { csv, shown, unit } = quoteTable[field]
  if (shown === 'stops') return [csv, ({ stops }) => stopsText(stops)]
  const name = shown === 'quoted_at' ? 'created_at' : shown
  return [
    csv,
    (quote) => {
      const value = quote[name]
      if (isAmountUnit(unit)) return money(value as number | null)
      if (Array.isArray(value)) return charges(value)
      if (unit === 'rateType') return value ?? quote.default_rate_type
      return value ?? (unit === 'basis' ? quote.default_basis : null)
    },
  ]
}

/** The fields of a quote between its places and its estimated cost, in the order of their columns. */
const placedFields = [
  'quotedCustomerName',
  'origin',
  'destination',
  'equipment',
  'miles',
  'pickupDate',
  'quotedRateCents',
  'quotedBasis',
  'quotedFuelCents',
  'quotedAccessorialsCents',
  'quotedCharges',
  'quotedCurrency',
  'estimatedCostCents',
] as const satisfies readonly CsvQuoteField[]
/** The other fields, whose columns follow the booking. */
const laterFields = csvQuoteFields.filter(
  (field) =>
    !([...placedFields, 'quotedAt', 'marketRateCents', 'repName'] as CsvQuoteField[]).includes(field),
)

/**
 * The columns of an exported quote, named as the industry names them. Any brokerage can import the file: an import reads "Quote ID" as
 * the quote with this lane_ref, and where there is none, as the reference of a new quote. "Superseded by" and "Voided at" mark the
 * quotes that count in no figure, which the import leaves out of another brokerage.
 */
const columns: readonly Column[] = [
  ['Quote ID', (quote) => quote.lane_ref],
  ['Customer reference', (quote) => quote.reference],
  quoted('quotedAt'),
  [quoteTable.repName.csv, (quote) => quote.quoted_by?.name ?? quote.rep_name],
  booked('customerName'),
  ...placedFields.map(quoted),
  ['Cost from AP history', (quote) => money(quote.expected_cost?.amount ?? null)],
  [
    'AP history basis',
    (quote) => (quote.expected_cost === null ? null : (quote.expected_basis ?? quote.default_basis)),
  ],
  quoted('marketRateCents'),
  ['Outcome', (quote) => quote.outcome],
  ['Outcome reason', (quote) => quote.outcome_reason],
  ['Outcome from', (quote) => quote.outcome_source],
  ['Decided at', (quote) => quote.decided_at],
  booked('customerRateCents'),
  booked('truckCostCents'),
  ['Truck cost from', (quote) => quote.truck_cost_source],
  ['Margin', (quote) => money(quote.margin)],
  ['Margin %', (quote) => quote.margin_pct],
  ['Margin basis', (quote) => quote.margin_basis],
  ['Margin currency', (quote) => quote.margin_currency],
  ...csvBookingFields.filter((field) => !besideTheQuote.has(field)).map(booked),
  ...laterFields.map(quoted),
  ['Updated at', (quote) => quote.updated_at],
  ['Superseded by', (quote) => quote.superseded_by],
  ['Voided at', (quote) => quote.voided_at],
]

/** The names of the columns of an exported file of quotes. */
export const quoteCsvHeaders = columns.map(([header]) => header)

/** The UTF-8 byte order mark and the header line. */
export const quoteCsvHead = csvHead(quoteCsvHeaders)

/** The cells of a quote in an exported file, as a spreadsheet shows them. */
export function quoteCsvCells(quote: Quote, { basis, rateType }: AssumedOfQuotes): string[] {
  const exported = { ...quote, default_basis: basis, default_rate_type: rateType }
  return columns.map(([, cell]) => guardedCell(cell(exported)))
}

/** One line per quote: dollars with two decimals, times in ISO 8601, empty cells for unknown values. */
export function quoteCsvLines(quotes: readonly Quote[], { basis, rateType }: AssumedOfQuotes): Steps<string> {
  return csvLinesInSteps(quotes, (quote) => {
    const exported = { ...quote, default_basis: basis, default_rate_type: rateType }
    return columns.map(([, cell]) => cell(exported))
  })
}
