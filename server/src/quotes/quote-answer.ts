import type { Quote } from '#contract/quote.ts'
import {
  type BookingField,
  type BookingName,
  type BookingUnitOf,
  bookingFields,
  bookingTable,
} from '#engine/booking-fields.ts'
import { savedMode } from '#engine/load-mode.ts'
import { stopsOf } from '#engine/load-stops.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { chargesOf } from '#engine/named-charges.ts'
import {
  isAmountUnit,
  type PricedField,
  pricedFields,
  type QuoteColumn,
  type QuoteName,
  quoteFields,
  quoteTable,
} from '#engine/quote-fields.ts'
import { type Currency, type LandedAmounts, landedOnOneBasis, type RateBasis } from '#engine/rate-basis.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import {
  type BookedColumns,
  bookingColumns,
  type QuoteOrigin,
  quoteOrigins,
  statedTerms,
} from '../database/queries/index.ts'
import type { QuoteRow, TenantTransaction, UnshownQuoteColumn } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { convertedBookings } from './counted-quotes.ts'
import { countedMiles } from './lane-places.ts'

/** Quotes in the form of the API, in the given order. Each has its booking, its margin, and the user who quoted it. */
export async function quoteAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  quotes: readonly QuoteRow[],
): Promise<Quote[]> {
  const origins = await quoteOrigins(transaction, tenant, quotes)
  const basis = origins.values().next().value?.defaultBasis ?? 'all_in'
  const converted = await convertedBookings(
    transaction,
    tenant,
    quotes.filter((quote) => isBooked(quote) && landedOf(quote, basis) === null),
    basis,
  )
  return quotes.map((quote) => shownQuote(quote, origins.get(quote.lane_id), converted.get(quote.lane_id)))
}

/** Like `quoteAnswers`, for one quote. */
export async function oneQuoteAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  quote: QuoteRow,
): Promise<Quote> {
  const [answer] = await quoteAnswers(transaction, tenant, [quote])
  if (answer === undefined) throw new Error('A quote has one answer.')
  return answer
}

/**
 * A quote in the form of the API and of events. Omits the columns that only matching and imports use.
 *
 * @param converted AR and AP as statistics convert them; needed if their own charges do not make them comparable
 */
export function shownQuote(
  quote: Omit<QuoteRow, keyof EngineColumns>,
  origin: QuoteOrigin | undefined,
  converted?: LandedAmounts,
): Quote {
  const { truck_cost_cents: ap } = quote
  const basis = origin?.defaultBasis ?? 'all_in'
  const landed = landedOf(quote, basis) ?? converted ?? null
  const marginCents = landed === null ? null : landed.revenueCents - landed.costCents
  const quotedBy = origin?.quotedBy ?? null
  return {
    lane_ref: quote.lane_ref,
    lane_id: quote.lane_id,
    request_id: quote.request_id,
    ...bookingAnswer(quote),
    customer_name: quote.customer_name ?? quote.quoted_customer_name,
    ...quoteAnswer(quote),
    counted_miles: countedMiles(quote),
    reference: origin?.reference ?? null,
    quoted_by: quotedBy === null ? null : { user_id: quotedBy.userId, name: quotedBy.name },
    // An event from before pushed quotes lacks these columns.
    external_id: quote.external_id ?? null,
    quoted_charges: chargesAnswer(quote.quoted_charges, quote.quoted_accessorials_cents),
    mode: savedMode(quote.mode, quote.equipment),
    stops: stopsOf(quote.stops),
    expected_cost: expectedCost(quote),
    // If the rate states no basis, the rate and this cost are both on the default basis.
    expected_basis: (quote.quoted_basis ?? null) === null ? null : (quote.expected_basis ?? null),
    truck_cost_source: ap === null ? null : quote.truck_cost_source,
    customer_charges: chargesAnswer(quote.customer_charges, quote.customer_accessorials_cents),
    truck_charges: chargesAnswer(quote.truck_charges, quote.truck_accessorials_cents),
    margin: dollarsIfKnown(marginCents),
    margin_basis: landed?.basis ?? null,
    margin_currency: landed?.currency ?? null,
    margin_pct: marginCents === null ? null : percentOf(marginCents, landed?.revenueCents ?? 0),
    outcome: quote.outcome,
    outcome_reason: quote.outcome_reason,
    outcome_source: quote.outcome_source,
    decided_at: quote.decided_at?.toISOString() ?? null,
    voided_at: quote.voided_at?.toISOString() ?? null,
    void_reason: quote.void_reason ?? null,
    superseded_by: quote.superseded_by ?? null,
    forecast: quote.forecast ?? null,
    created_at: quote.created_at.toISOString(),
    updated_at: quote.updated_at.toISOString(),
  }
}

const isBooked = ({ customer_rate_cents: ar, truck_cost_cents: ap }: BookedColumns) =>
  ar !== null && ap !== null

/** AR and AP on one basis; null if either is unknown or they cannot be compared. Events saved before bases existed lack them. */
function landedOf(quote: BookedColumns, assumed: RateBasis): LandedAmounts | null {
  const { customer_rate_cents: ar, truck_cost_cents: ap } = quote
  if (ar === null || ap === null) return null
  return landedOnOneBasis(
    { cents: ar, ...statedTerms(quote, 'customer') },
    { cents: ap, ...statedTerms(quote, 'truck') },
    assumed,
  )
}

type QuoteAnswer = Pick<Quote, Exclude<QuoteName<'shown'>, 'quoted_at' | 'quoted_charges' | 'stops'>>
/**
 * The fields that are answered alike. The other three are not: `created_at` is the time of the quote, charges by name depend on their
 * sum, and stops are a list.
 */
const answeredFields = quoteFields.filter(
  (field) => field !== 'quotedAt' && field !== 'quotedCharges' && field !== 'stops',
)

/** The fields of the quote in the form of the API: amounts in dollars, times in ISO 8601. */
function quoteAnswer(quote: Pick<QuoteRow, QuoteColumn>): QuoteAnswer {
  const shown = answeredFields.map((field) => {
    const { column, unit, shown: name } = quoteTable[field]
    // An event that is older than the field does not contain it.
    const value = quote[column] ?? null
    return [name, isAmountUnit(unit) ? dollarsIfKnown(value as number | null) : plain(value)]
  })
  return Object.fromEntries(shown) as QuoteAnswer
}

/** The fields of a quote that its price depends on, in the form of the API. */
export type PricedQuote = Pick<Quote, QuoteName<'shown', PricedField>>

export function pricedQuote(quote: Pick<QuoteRow, QuoteColumn>): PricedQuote {
  const shown = {
    ...quoteAnswer(quote),
    quoted_charges: chargesAnswer(quote.quoted_charges, quote.quoted_accessorials_cents),
    stops: stopsOf(quote.stops),
  }
  const priced = pricedFields.map((field) => [quoteTable[field].shown, shown[quoteTable[field].shown]])
  return Object.fromEntries(priced) as PricedQuote
}

/** The type of a value in an answer, by the unit of its field. */
interface ShownUnits {
  readonly cents: number
  readonly text: string
  readonly time: string
  readonly basis: RateBasis
  readonly currency: Currency
  /** Charges are not text in an answer: `shownQuote` makes a list of them. */
  readonly charges: never
}
type ShownBooking = {
  readonly [F in BookingField as BookingName<'shown', F>]: ShownUnits[BookingUnitOf<F>] | null
}

/** The booking fields in the form of the API. A field that the contract does not have is a type error here. */
function bookingAnswer(quote: BookedColumns): {
  [Name in keyof ShownBooking]: Quote[Name] | ShownBooking[Name]
} {
  const shown = bookingFields.map((field) => {
    // An event that is older than the field does not contain it.
    const value = quote[bookingColumns[field]] ?? null
    return [bookingTable[field].shown, typeof value === 'number' ? dollarsFromCents(value) : plain(value)]
  })
  return Object.fromEntries(shown)
}

function plain<Value>(value: Value | Date): Value | string {
  return value instanceof Date ? value.toISOString() : value
}

/** The charges by name, or null. Events saved before the columns existed lack them. */
function chargesAnswer(text: string | null | undefined, accessorialCents: number | null | undefined) {
  const charges = chargesOf(text ?? null, accessorialCents ?? null)
  return charges.length === 0
    ? null
    : charges.map(({ name, cents }) => ({ name, amount: dollarsFromCents(cents) }))
}

type EngineColumns = Pick<QuoteRow, UnshownQuoteColumn>

function expectedCost(
  quote: Pick<QuoteRow, 'expected_cost_cents' | 'expected_cost_low_cents' | 'expected_cost_high_cents'>,
) {
  const { expected_cost_cents: amount, expected_cost_low_cents: low, expected_cost_high_cents: high } = quote
  if (amount === null || low === null || high === null) return null
  return { amount: amount / 100, low: low / 100, high: high / 100 }
}
