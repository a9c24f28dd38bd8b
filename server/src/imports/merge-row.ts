import { bookingTable } from '#engine/booking-fields.ts'
import { equipmentCode } from '#engine/equipment.ts'
import { isSame, type OutcomeRule, outcomeFrom, withImportedBooking } from '#engine/lane-outcome.ts'
import { readPlace } from '#engine/place.ts'
import { type QuoteName, quotedTermsFields, quoteTable } from '#engine/quote-fields.ts'
import { type QuotedTerms, type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import { heldBooking, isBooked } from '#engine/shipment-update.ts'
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
import type { LaneRow } from '../database/schema/index.ts'
import { chargesInOtherCurrency, removedByTerms, termsOf } from '../lanes/index.ts'
import type {
  ImportedLane,
  ReportedBooking,
  ReportedLane,
  ReportedQuote,
  ReportedQuoteField,
} from './rows.ts'

/** The amounts of a quote that are read on the terms of the rate of their row. */
const costFields = ['estimatedCostCents', 'marketRateCents'] as const satisfies readonly ReportedQuoteField[]

/**
 * A value of a file that is not applied because a newer value is kept, or because it is on other terms than the quoted rate. Amounts
 * in dollars, times in ISO 8601.
 */
export interface KeptField {
  readonly field: ImportFieldName
  /** The column of the quote with the value that is kept. */
  readonly column:
    | 'outcome'
    | 'outcome_reason'
    | (typeof bookingColumns)[keyof ReportedBooking]
    | QuoteName<'column', ReportedQuoteField>
  readonly fileValue: string | number
  readonly keptValue: string | number | null
  /** Why an amount of the row does not fit the quoted rate of the quote. Absent if a newer value is kept. */
  readonly because?: string
}

export interface MergedRow {
  readonly values: NextValues
  readonly kept: readonly KeptField[]
  readonly rule: OutcomeRule | null
}

/**
 * The changes of a row to an existing quote.
 *
 * A value in the row replaces the value of the quote; an absent value changes nothing. A file has no signature and no date, so
 * three kinds of values are not replaced, and are listed in `kept`: a value that the TMS signed or a person restored by a rollback,
 * with what it includes; an outcome that a person or the TMS set, when the row has no booking; and an outcome that a person set after
 * the booking. A cost or a market rate on other terms than the quoted rate is listed, too. A booking is a win: `outcomeFrom` decides,
 * as for a signed update.
 *
 * `decidedAt` (epoch milliseconds) is when the customer decided, if the row does not state it. `assumed` is the default basis.
 *
 * @example mergeRow(pendingLane, { booking: { customerRateCents: 215000 }, outcome: 'won', ... }, { decidedAt, assumed })
 *   // { values: { customer_rate_cents: 215000, outcome: 'won', ... }, kept: [], rule: 'booking_is_a_win' }
 */
export function mergeRow(
  lane: LaneRow,
  row: ReportedLane,
  { decidedAt, assumed }: { readonly decidedAt: number; readonly assumed: RateBasis },
): MergedRow {
  const values: Record<string, unknown> = {}
  const { quote, kept } = quoteToMerge(lane, row, assumed)
  for (const [field, value] of Object.entries(quote) as [ReportedQuoteField, string | number][]) {
    const { column, sent, stamp } = quoteTable[field]
    if (plain(lane[column]) === value) continue
    // A file does not replace a pushed value.
    if (stamp !== null && (lane.quote_signed_at[stamp]?.[0]?.sender ?? null) !== null) {
      const shownAs = (one: string | number | null) =>
        column.endsWith('_cents')
          ? Number(one) / 100
          : column === 'created_at'
            ? new Date(one ?? 0).toISOString()
            : (one ?? '')
      const holds = plain(lane[column])
      kept.push({
        field: sent,
        column,
        fileValue: shownAs(value),
        keptValue: holds === null ? null : shownAs(holds),
      })
      continue
    }
    values[column] = column === 'created_at' ? new Date(value) : value
  }
  Object.assign(values, removedByTerms(lane, values as NextValues, assumed))
  for (const [field, value] of Object.entries(row.booking) as [keyof ReportedBooking, string | number][]) {
    const column = bookingColumns[field]
    const holds = field === 'customerName' ? (lane[column] ?? lane.quoted_customer_name) : lane[column]
    if (plain(holds) === value) continue
    const amount = amountOf[field]
    if (isSigned(lane, field) || (amount !== undefined && amountStands(lane, row.booking, amount, assumed))) {
      kept.push({
        field: bookingTable[field].sent,
        column,
        fileValue: shown(value, field),
        keptValue: holds === null ? null : shown(plain(holds), field),
      })
      continue
    }
    values[column] = columnValue(field, value)
    if (field === 'truckCostCents') values.truck_cost_source = 'import'
  }
  Object.assign(values, chargesInOtherCurrency(lane, values as NextValues))
  const held = { ...lane, ...values } as LaneRow
  // A booking that the TMS cancelled stays cancelled, so none of its amounts was applied.
  const books = isBooked(row.booking) && isBooked(bookingOf(held))
  const ended = mergeOutcome(lane, row, books ? held : null, row.decidedAt ?? decidedAt)
  return {
    values: { ...values, ...ended.values },
    kept: [...kept, ...ended.kept],
    rule: ended.rule,
  }
}

/**
 * The quote that a row reports, without its terms if they are not those of the existing quote, and then without the amounts that
 * would become other ones: a cost of $1,500 linehaul beside a rate of $2,000 all-in would look like a margin of $500.
 */
function quoteToMerge(
  lane: LaneRow,
  row: ReportedLane,
  assumed: RateBasis,
): { readonly quote: ReportedQuote; readonly kept: KeptField[] } {
  if (saysTermsOfQuote(lane, row, assumed)) return { quote: row.quote, kept: [] }
  const held = termsOf(lane)
  const said = { basis: row.quote.quotedBasis ?? null, currency: row.quote.quotedCurrency ?? null }
  const isOtherCurrency = !sameTerms({ ...said, basis: null }, { ...held, basis: null }, assumed)
  const isOther: Readonly<Record<(typeof costFields)[number], boolean>> = {
    estimatedCostCents: !sameTerms(said, held, assumed),
    // A market rate has no basis of its own.
    marketRateCents: isOtherCurrency,
  }
  const left = costFields.filter((field) => isOther[field])
  const because = `because the quoted rate ${isOtherCurrency ? 'is in another currency' : 'is on another basis'} than the row`
  const kept = left.flatMap((field): KeptField[] => {
    const { column, sent: name } = quoteTable[field]
    const sent = row.quote[field]
    const stands = lane[column]
    if (sent === undefined || sent === stands) return []
    const keptValue = stands === null ? null : stands / 100
    return [{ field: name, column, fileValue: sent / 100, keptValue, because }]
  })
  const leftOut: ReadonlySet<string> = new Set([...quotedTermsFields, ...left])
  const quote = Object.fromEntries(Object.entries(row.quote).filter(([field]) => !leftOut.has(field)))
  return { quote, kept }
}

/** What AR and AP of a quote include, in the form of a quote's terms. */
const bookedTerms = {
  customer: ({ customer_basis: basis, customer_currency: currency }: LaneRow): QuotedTerms => ({
    basis,
    currency,
  }),
  truck: ({ truck_basis: basis, truck_currency: currency }: LaneRow): QuotedTerms => ({ basis, currency }),
}

/**
 * Whether the basis and the charges of a row are those of the quote. A won row without a quoted rate states those of its customer
 * rate. They count for a quote whose rate an earlier file took from the same customer rate: the file then corrects both.
 */
function saysTermsOfQuote(lane: LaneRow, { quote, booking }: ReportedLane, assumed: RateBasis): boolean {
  if (quote.quotedRateCents !== undefined) return true
  if (lane.import_id === null || booking.customerRateCents !== lane.quoted_rate_cents) return false
  const terms = termsOf(lane)
  return lane.customer_rate_cents === null
    ? terms.basis === null && terms.currency === null
    : lane.customer_rate_cents === lane.quoted_rate_cents &&
        sameTerms(terms, bookedTerms.customer(lane), assumed)
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
 * Whether what a row states about an amount is not applied: a file may not replace the amount, and the row has another amount or
 * other terms. A signed $2,000 would otherwise become another amount, without another number.
 */
function amountStands(
  lane: LaneRow,
  row: ReportedBooking,
  of: 'customer' | 'truck',
  assumed: RateBasis,
): boolean {
  const field = of === 'customer' ? 'customerRateCents' : 'truckCostCents'
  const held = lane[bookingColumns[field]]
  if (held === null || !isSigned(lane, field)) return false
  const terms = bookedTerms[of](lane)
  const said = { basis: row[`${of}Basis`] ?? terms.basis, currency: row[`${of}Currency`] ?? terms.currency }
  return (row[field] ?? held) !== held || !sameTerms(terms, said, assumed)
}

/** @param booked the quote with the booking of the row; null if the row books nothing */
function mergeOutcome(
  lane: LaneRow,
  row: ReportedLane,
  booked: LaneRow | null,
  decidedAt: number,
): MergedRow {
  const nothing: MergedRow = { values: {}, kept: [], rule: null }
  const { outcome, reason } = row
  if (outcome === null) return nothing
  const stands: MergedRow = {
    ...nothing,
    kept: [{ field: 'outcome', column: 'outcome', fileValue: outcome, keptValue: lane.outcome }],
  }
  if (isBooked(row.booking) && booked === null) return lane.outcome === outcome ? nothing : stands
  if (booked !== null) {
    const shown = outcomeOf(lane)
    const won = wonByFile(lane, booked, decidedAt)
    if (!isSame(won.outcome, shown)) {
      return { values: outcomeValues(won.outcome, won.facts), kept: [], rule: 'booking_is_a_win' }
    }
    if (lane.outcome !== outcome) return stands
  } else if (lane.outcome !== outcome) {
    const mayReplace =
      lane.outcome === 'pending' || ['import', 'lanewise'].includes(lane.outcome_source ?? '')
    if (!mayReplace) return stands
    return {
      ...nothing,
      values: {
        outcome,
        outcome_source: 'import',
        outcome_reason: reason,
        decided_at: new Date(decidedAt),
      },
    }
  }
  // The quote already has this outcome. The row may complete or correct its reason and time when they came from a file.
  const isOfFile = lane.outcome_source === 'import'
  if (!isOfFile && reason !== null && lane.outcome_reason !== null && lane.outcome_reason !== reason) {
    return {
      ...nothing,
      kept: [
        {
          field: 'outcome_reason',
          column: 'outcome_reason',
          fileValue: reason,
          keptValue: lane.outcome_reason,
        },
      ],
    }
  }
  return {
    ...nothing,
    values: {
      ...(reason !== null && reason !== lane.outcome_reason ? { outcome_reason: reason } : {}),
      ...(isOfFile && row.decidedAt !== null && row.decidedAt !== lane.decided_at?.getTime()
        ? { decided_at: new Date(row.decidedAt) }
        : {}),
    },
  }
}

/** The outcome after the booking of a file. A file that repeats what the TMS booked, or what a file won, changes no outcome. */
function wonByFile(lane: LaneRow, booked: LaneRow, decidedAt: number) {
  const shown = outcomeOf(lane)
  const facts = outcomeFactsOf(lane)
  const isKnown = shown.outcome === 'won' && (shown.source === 'tms' || shown.source === 'import')
  const isDecidedByPerson = shown.source === 'dashboard' && isBooked(bookingOf(lane))
  if (isKnown || isDecidedByPerson) return { outcome: shown, facts }
  const next = withImportedBooking(facts, decidedAt)
  return { outcome: outcomeFrom(next, heldBooking(bookingOf(booked), booked.signed_at, shown)), facts: next }
}

/** The columns in which a row differs from the quote that its id names. Such a row needs its own id. */
export function otherLane(
  lane: LaneRow,
  row: ImportedLane['lane'],
): { readonly field: 'origin' | 'destination' | 'equipment'; readonly is: string; readonly was: string }[] {
  // Stored texts are parsed again, because the rules for places and equipment may have changed since.
  const same = {
    origin: lane.origin_key === row.origin_key || readPlace(lane.origin)?.key === row.origin_key,
    destination:
      lane.destination_key === row.destination_key ||
      readPlace(lane.destination)?.key === row.destination_key,
    equipment:
      lane.equipment_code === row.equipment_code || equipmentCode(lane.equipment) === row.equipment_code,
  }
  return (['origin', 'destination', 'equipment'] as const)
    .filter((field) => !same[field])
    .map((field) => ({ field, is: row[field], was: lane[field] }))
}

/**
 * True when a file does not replace a field's value: the TMS signed it (a cancellation signs that it is empty), or a
 * person restored it by a rollback, which leaves a stamp without a sender.
 */
function isSigned(lane: LaneRow, field: keyof ReportedBooking): boolean {
  const [stamp] = lane.signed_at[field] ?? []
  return stamp !== undefined && (stamp.sender !== null || lane[bookingColumns[field]] !== null)
}

function plain(value: string | number | Date | null): string | number | null {
  return value instanceof Date ? value.getTime() : value
}

function shown(value: string | number | null, field: keyof ReportedBooking): string | number {
  if (typeof value !== 'number') return value ?? ''
  return bookingTable[field].unit === 'time' ? new Date(value).toISOString() : value / 100
}
