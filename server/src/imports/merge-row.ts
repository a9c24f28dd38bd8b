import { bookingTable } from '#engine/booking-fields.ts'
import { equipmentCode } from '#engine/equipment.ts'
import { readPlace } from '#engine/place.ts'
import { type QuoteName, quotedTermsFields, quoteTable } from '#engine/quote-fields.ts'
import { isSame, type OutcomeRule, outcomeFrom, withImportedBooking } from '#engine/quote-outcome.ts'
import { type QuotedTerms, type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import { currentBooking, isBooked } from '#engine/shipment-update.ts'
import type { ImportFieldName } from '../csv/index.ts'
import {
  bookingColumns,
  bookingOf,
  columnValue,
  type NextValues,
  outcomeFactsOf,
  outcomeOf,
  outcomeValues,
} from '../database/queries/index.ts'
import type { QuoteRow } from '../database/schema/index.ts'
import { chargesInOtherCurrency, milesBetweenKeys, removedByTerms, termsOf } from '../quotes/index.ts'
import type { ReportedBooking, ReportedQuote, ReportedQuoteField, ReportedRow } from './row-values.ts'
import type { ImportedQuote } from './rows.ts'

/** Amounts without their own basis and currency: they have those of the row's quoted rate. */
const costFields = ['estimatedCostCents', 'marketRateCents'] as const satisfies readonly ReportedQuoteField[]

/**
 * A value of a file that is not applied, because the quote has a newer value, or because the value is on other terms than the quoted
 * rate. Amounts in dollars, times in ISO 8601.
 */
export interface NotAppliedField {
  readonly field: ImportFieldName
  /** The column of the quote whose value is kept. */
  readonly column:
    | 'outcome'
    | 'outcome_reason'
    | 'decided_at'
    | (typeof bookingColumns)[keyof ReportedBooking]
    | QuoteName<'column', ReportedQuoteField>
  readonly fileValue: string | number
  readonly currentValue: string | number | null
  /** Why an amount of the row does not fit the quoted rate. Absent if the quote has a newer value. */
  readonly because?: string
}

export interface MergeOptions {
  /** When the customer decided, in epoch milliseconds, if the row does not state it. */
  readonly decidedAt: number
  /** The default basis. */
  readonly assumed: RateBasis
  /**
   * Whether the row has only what a person edited in an exported file. Its other cells state the same as the quote, so an edit needs no
   * rate beside it, and removes nothing.
   */
  readonly isEdit?: boolean
}

export interface MergedRow {
  readonly values: NextValues
  readonly notApplied: readonly NotAppliedField[]
  readonly rule: OutcomeRule | null
}

/**
 * The changes of a row to an existing quote.
 *
 * A value in the row replaces the value of the quote; an absent value changes nothing. A file has no signature and no date, so
 * three kinds of values are not replaced, and are listed in `notApplied`: a value that the TMS signed or a person restored by a rollback,
 * with what it includes; an outcome that a person or the TMS set, when the row has no booking; and an outcome that a person set after
 * the booking. A cost or a market rate on other terms than the quoted rate is listed, too. A booking is a win: `outcomeFrom` decides,
 * as for a signed update.
 *
 * @example mergeRow(pendingQuote, { booking: { customerRateCents: 215000 }, outcome: 'won', ... }, { decidedAt, assumed })
 *   // { values: { customer_rate_cents: 215000, outcome: 'won', ... }, notApplied: [], rule: 'booking_is_a_win' }
 */
export function mergeRow(saved: QuoteRow, row: ReportedRow, options: MergeOptions): MergedRow {
  const { decidedAt, assumed, isEdit = false } = options
  const values: Record<string, unknown> = {}
  const { quote, notApplied } = isEdit
    ? { quote: row.quote, notApplied: [] as NotAppliedField[] }
    : quoteToMerge(saved, row, assumed)
  for (const [field, value] of Object.entries(quote) as [ReportedQuoteField, string | number][]) {
    const { column, sent, stamp } = quoteTable[field]
    if (plain(saved[column]) === value) continue
    // A file does not replace a pushed value.
    if (stamp !== null && (saved.quote_signed_at[stamp]?.[0]?.sender ?? null) !== null) {
      const shownAs = (one: string | number | null) =>
        column.endsWith('_cents')
          ? Number(one) / 100
          : column === 'created_at'
            ? new Date(one ?? 0).toISOString()
            : (one ?? '')
      const current = plain(saved[column])
      notApplied.push({
        field: sent,
        column,
        fileValue: shownAs(value),
        currentValue: current === null ? null : shownAs(current),
      })
      continue
    }
    values[column] = column === 'created_at' ? new Date(value) : value
  }
  if (!isEdit) Object.assign(values, removedByTerms(saved, values as NextValues, assumed))
  // The saved miles are those of the other route.
  if (values.stops !== undefined && quote.miles === undefined)
    values.miles = milesBetweenKeys(saved.origin_key, saved.destination_key, values.stops as string | null)
  for (const [field, value] of Object.entries(row.booking) as [keyof ReportedBooking, string | number][]) {
    const column = bookingColumns[field]
    const current = field === 'customerName' ? (saved[column] ?? saved.quoted_customer_name) : saved[column]
    if (plain(current) === value) continue
    const amount = amountOf[field]
    if (
      isSigned(saved, field) ||
      (amount !== undefined && isAmountProtected(saved, row.booking, amount, assumed))
    ) {
      notApplied.push({
        field: bookingTable[field].sent,
        column,
        fileValue: shown(value, field),
        currentValue: current === null ? null : shown(plain(current), field),
      })
      continue
    }
    values[column] = columnValue(field, value)
    if (field === 'truckCostCents') values.truck_cost_source = 'import'
  }
  if (!isEdit) Object.assign(values, chargesInOtherCurrency(saved, values as NextValues))
  const held = { ...saved, ...values } as QuoteRow
  // If the TMS cancelled the booking, it stays cancelled, and the row's booking was not applied.
  const books = isBooked(row.booking) && isBooked(bookingOf(held))
  const ended = mergeOutcome(saved, row, books ? held : null, {
    ...options,
    decidedAt: row.decidedAt ?? decidedAt,
  })
  return {
    values: { ...values, ...ended.values },
    notApplied: [...notApplied, ...ended.notApplied],
    rule: ended.rule,
  }
}

/**
 * The values of a row to apply to a quote. If the row does not set the quote's terms, they are left out, and so are amounts on other
 * terms: a cost of $1,500 linehaul beside a rate of $2,000 all-in would look like a margin of $500.
 */
function quoteToMerge(
  saved: QuoteRow,
  row: ReportedRow,
  assumed: RateBasis,
): { readonly quote: ReportedQuote; readonly notApplied: NotAppliedField[] } {
  if (saysTermsOfQuote(saved, row, assumed)) return { quote: row.quote, notApplied: [] }
  const held = termsOf(saved)
  const said = { basis: row.quote.quotedBasis ?? null, currency: row.quote.quotedCurrency ?? null }
  const isOtherCurrency = !sameTerms({ ...said, basis: null }, { ...held, basis: null }, assumed)
  const isOther: Readonly<Record<(typeof costFields)[number], boolean>> = {
    estimatedCostCents: !sameTerms(said, held, assumed),
    // A market rate has no basis of its own.
    marketRateCents: isOtherCurrency,
  }
  const left = costFields.filter((field) => isOther[field])
  const because = `because the quoted rate ${isOtherCurrency ? 'is in another currency' : 'is on another basis'} than the row`
  const notApplied = left.flatMap((field): NotAppliedField[] => {
    const { column, sent: name } = quoteTable[field]
    const sent = row.quote[field]
    const stands = saved[column]
    if (sent === undefined || sent === stands) return []
    const currentValue = stands === null ? null : stands / 100
    return [{ field: name, column, fileValue: sent / 100, currentValue, because }]
  })
  const leftOut: ReadonlySet<string> = new Set([...quotedTermsFields, ...left])
  const quote = Object.fromEntries(Object.entries(row.quote).filter(([field]) => !leftOut.has(field)))
  return { quote, notApplied }
}

/** The basis and the currency of AR and AP, in the form of a quote's terms. */
const bookedTerms = {
  customer: ({ customer_basis: basis, customer_currency: currency }: QuoteRow): QuotedTerms => ({
    basis,
    currency,
  }),
  truck: ({ truck_basis: basis, truck_currency: currency }: QuoteRow): QuotedTerms => ({ basis, currency }),
}

/**
 * Whether the basis and the charges of a row set those of the quote: the row has a quoted rate, or an earlier file took the quoted
 * rate from this customer rate. The file then corrects both rates.
 */
function saysTermsOfQuote(saved: QuoteRow, { quote, booking }: ReportedRow, assumed: RateBasis): boolean {
  if (quote.quotedRateCents !== undefined) return true
  if (saved.import_id === null || booking.customerRateCents !== saved.quoted_rate_cents) return false
  const terms = termsOf(saved)
  return saved.customer_rate_cents === null
    ? terms.basis === null && terms.currency === null
    : saved.customer_rate_cents === saved.quoted_rate_cents &&
        sameTerms(terms, bookedTerms.customer(saved), assumed)
}

/** The amount that a field of a booking describes. */
const amountOf: Readonly<Partial<Record<keyof ReportedBooking, 'customer' | 'truck'>>> = {
  customerBasis: 'customer',
  customerFuelCents: 'customer',
  customerAccessorialsCents: 'customer',
  customerCharges: 'customer',
  customerCurrency: 'customer',
  truckBasis: 'truck',
  truckFuelCents: 'truck',
  truckAccessorialsCents: 'truck',
  truckCharges: 'truck',
  truckCurrency: 'truck',
}

/**
 * Whether a row's basis, charges and currency of a signed amount are not applied: the row has another amount or other terms.
 * Otherwise a signed $2,000 linehaul could become $2,000 all-in.
 */
function isAmountProtected(
  quote: QuoteRow,
  row: ReportedBooking,
  of: 'customer' | 'truck',
  assumed: RateBasis,
): boolean {
  const field = of === 'customer' ? 'customerRateCents' : 'truckCostCents'
  const held = quote[bookingColumns[field]]
  if (held === null || !isSigned(quote, field)) return false
  const terms = bookedTerms[of](quote)
  const said = { basis: row[`${of}Basis`] ?? terms.basis, currency: row[`${of}Currency`] ?? terms.currency }
  return (row[field] ?? held) !== held || !sameTerms(terms, said, assumed)
}

/** @param booked the quote with the booking of the row; null if the row books nothing */
function mergeOutcome(
  quote: QuoteRow,
  row: ReportedRow,
  booked: QuoteRow | null,
  { decidedAt, isEdit }: MergeOptions,
): MergedRow {
  const nothing: MergedRow = { values: {}, notApplied: [], rule: null }
  const { outcome, reason } = row
  if (outcome === null) return nothing
  const stands: MergedRow = {
    ...nothing,
    notApplied: [{ field: 'outcome', column: 'outcome', fileValue: outcome, currentValue: quote.outcome }],
  }
  if (isBooked(row.booking) && booked === null) return quote.outcome === outcome ? nothing : stands
  if (booked !== null) {
    const shown = outcomeOf(quote)
    const won = wonByFile(quote, booked, decidedAt)
    if (!isSame(won.outcome, shown)) {
      return { values: outcomeValues(won.outcome, won.facts), notApplied: [], rule: 'booking_is_a_win' }
    }
    if (quote.outcome !== outcome) return stands
  } else if (quote.outcome !== outcome) {
    const mayReplace =
      quote.outcome === 'pending' || ['import', 'lanewise'].includes(quote.outcome_source ?? '')
    if (!mayReplace) return stands
    const undecided = outcome === 'pending'
    return {
      ...nothing,
      values: {
        outcome,
        outcome_source: undecided ? null : 'import',
        outcome_reason: reason,
        decided_at: undecided ? null : new Date(decidedAt),
      },
    }
  }
  // The quote already has this outcome. The row may complete or correct its reason and time when they came from a file.
  const isOfFile = quote.outcome_source === 'import'
  if (!isOfFile && reason !== null && quote.outcome_reason !== null && quote.outcome_reason !== reason) {
    return {
      ...nothing,
      notApplied: [
        {
          field: 'outcome_reason',
          column: 'outcome_reason',
          fileValue: reason,
          currentValue: quote.outcome_reason,
        },
      ],
    }
  }
  const staysDecided = isEdit === true && !isOfFile && row.decidedAt !== null
  return {
    ...nothing,
    notApplied: staysDecided ? [decidedAtStays(quote, row.decidedAt ?? decidedAt)] : [],
    values: {
      ...(reason !== null && reason !== quote.outcome_reason ? { outcome_reason: reason } : {}),
      ...(isOfFile && row.decidedAt !== null && row.decidedAt !== quote.decided_at?.getTime()
        ? { decided_at: new Date(row.decidedAt) }
        : {}),
    },
  }
}

/** The edited time of a decision that no file made. */
function decidedAtStays({ decided_at: current }: QuoteRow, edited: number): NotAppliedField {
  return {
    field: 'decided_at',
    column: 'decided_at',
    fileValue: new Date(edited).toISOString(),
    currentValue: current?.toISOString() ?? null,
  }
}

/** The outcome after a file's booking. It stays if the TMS or a file won the quote, or a person decided after the booking. */
function wonByFile(quote: QuoteRow, booked: QuoteRow, decidedAt: number) {
  const shown = outcomeOf(quote)
  const facts = outcomeFactsOf(quote)
  const isKnown = shown.outcome === 'won' && (shown.source === 'tms' || shown.source === 'import')
  const isDecidedByPerson = shown.source === 'dashboard' && isBooked(bookingOf(quote))
  if (isKnown || isDecidedByPerson) return { outcome: shown, facts }
  const next = withImportedBooking(facts, decidedAt)
  return {
    outcome: outcomeFrom(next, currentBooking(bookingOf(booked), booked.signed_at, shown)),
    facts: next,
  }
}

/** The places and equipment in which a row differs from the quote with its id. A row of another lane needs its own id. */
export function otherLane(
  quote: QuoteRow,
  row: ImportedQuote['columns'],
): { readonly field: 'origin' | 'destination' | 'equipment'; readonly is: string; readonly was: string }[] {
  // Stored texts are parsed again, because the rules for places and equipment may have changed since.
  const same = {
    origin: quote.origin_key === row.origin_key || readPlace(quote.origin)?.key === row.origin_key,
    destination:
      quote.destination_key === row.destination_key ||
      readPlace(quote.destination)?.key === row.destination_key,
    equipment:
      quote.equipment_code === row.equipment_code || equipmentCode(quote.equipment) === row.equipment_code,
  }
  return (['origin', 'destination', 'equipment'] as const)
    .filter((field) => !same[field])
    .map((field) => ({ field, is: row[field], was: quote[field] }))
}

/**
 * True when a file does not replace a field's value: the TMS signed it (a cancellation signs that it is empty), or a
 * person restored it by a rollback, which leaves a stamp without a sender.
 */
function isSigned(quote: QuoteRow, field: keyof ReportedBooking): boolean {
  const [stamp] = quote.signed_at[field] ?? []
  return stamp !== undefined && (stamp.sender !== null || quote[bookingColumns[field]] !== null)
}

function plain(value: string | number | Date | null): string | number | null {
  return value instanceof Date ? value.getTime() : value
}

function shown(value: string | number | null, field: keyof ReportedBooking): string | number {
  if (typeof value !== 'number') return value ?? ''
  return bookingTable[field].unit === 'time' ? new Date(value).toISOString() : value / 100
}
