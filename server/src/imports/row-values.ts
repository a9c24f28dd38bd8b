import type { BookingValue, SentBookingField } from '#engine/booking-fields.ts'
import type { SavedOutcome } from '#engine/history.ts'
import type { Place } from '#engine/place.ts'
import {
  type QuoteFieldOf,
  type QuoteValue,
  quotedTermsFields,
  quoteFieldsOf,
  quoteTable,
} from '#engine/quote-fields.ts'
import type { OutcomeReason } from '#engine/quote-outcome.ts'
import { type Cell, quoteCells, type ReadOutcome, readOutcome, readReason } from '../csv/index.ts'
import { readStops } from './place-cells.ts'
import { readBookingCells, withAssumedBases } from './row-charges.ts'
import type { RowContext, RowReader } from './row-reader.ts'

/** A booking as a row reports it. An absent member is not reported. Amounts in whole cents. */
export type ReportedBooking = { readonly [F in SentBookingField]?: BookingValue<F> }

/** The fields of a quote that a row reports with one value each. Its places, equipment and customer are read separately. */
export type ReportedQuoteField = Exclude<
  QuoteFieldOf<'file'>,
  'origin' | 'destination' | 'equipment' | 'quotedCustomerName'
>

const readApart: ReadonlySet<string> = new Set(['origin', 'destination', 'equipment', 'quotedCustomerName'])

export const reportedFields = quoteFieldsOf('file').filter(
  (field): field is ReportedQuoteField => !readApart.has(field),
)

export type QuoteValues = { readonly [F in ReportedQuoteField]: QuoteValue<F> | null }

/** A quote as a row reports it. An absent member is not reported. Amounts in whole cents. */
export type ReportedQuote = { readonly [F in ReportedQuoteField]?: QuoteValue<F> }

/** What a row reports about a quote that exists already. */
export interface ReportedRow {
  readonly quote: ReportedQuote
  readonly booking: ReportedBooking
  /** Null when the row reports no outcome. Only an edited row reports that a quote is pending again. */
  readonly outcome: SavedOutcome | null
  readonly reason: OutcomeReason | null
  readonly decidedAt: number | null
}

/** Reads the cells that both kinds of row can have: booking and outcome. */
export function readEnd(row: RowReader, { now, columns }: RowContext) {
  const given = row.readCached('outcome', readOutcome)
  const reasonText = row.text('outcome_reason')
  return {
    ...withAssumedBases(readBookingCells(row, now), row, columns),
    given,
    reason: given?.reason ?? (reasonText === null ? null : readReason(reasonText)),
    decidedAt: row.past('decided_at', now),
  }
}

export type End = ReturnType<typeof readEnd>

export function outcomeOf(end: End): ReadOutcome['outcome'] {
  if (end.given !== null) return end.given.outcome
  return end.customerRateCents !== null || end.truckCostCents !== null ? 'won' : 'pending'
}

/** Fields of the quoted rate's terms, which `readQuotedCharges` reads. */
const isOfTerms: ReadonlySet<string> = new Set(quotedTermsFields)

type TermsField = (typeof quotedTermsFields)[number]

export type OwnValues = { readonly [F in Exclude<ReportedQuoteField, TermsField>]: QuoteValue<F> | null }

export const ownFields = reportedFields.filter((field): field is keyof OwnValues => !isOfTerms.has(field))

/** Times first, because a day without its year is near the time of the quote. */
const readOrder = ownFields.toSorted(
  (one, other) => Number(quoteTable[other].unit === 'time') - Number(quoteTable[one].unit === 'time'),
)

/** Reads the fields of a quote that follow from one cell each, by their unit. */
export function readOwnFields(row: RowReader, now: number): OwnValues {
  const values: Record<string, unknown> = {}
  for (const field of readOrder) {
    const { sent, unit } = quoteTable[field]
    if (unit === 'time') values[field] = row.past(sent, now)
    else if (unit === 'day')
      values[field] = row.dayNear(sent, typeof values.quotedAt === 'number' ? values.quotedAt : now)
    else {
      // Many rows share a rep or a type of rate; few share an amount.
      const isShared = unit === 'rateType' || unit === 'mode' || field === 'repName'
      const reader = (unit === 'stops' ? readStops : quoteCells[unit]) as (
        text: string,
      ) => Cell<string | number | null>
      values[field] = isShared ? row.readCached(sent, reader) : row.read(sent, reader)
    }
  }
  return values as unknown as OwnValues
}

/** The valid cells of a quote's row. Amounts in whole cents, times in epoch milliseconds. */
export interface QuoteCells {
  /** From the origin to the destination. */
  readonly route: readonly Place[]
  /** The equipment code. */
  readonly equipment: string
  readonly end: End
  /** The values of the row's own cells. */
  readonly own: OwnValues
  /** The quoted rate, or else the booked one. */
  readonly rate: number
  /**
   * What the row reports about its quote. In a row that is not won, the customer rate is the quoted rate, and the truck cost is the
   * estimated cost. Implausible miles are left out.
   */
  readonly quote: QuoteValues
  readonly createdAt: number
}
