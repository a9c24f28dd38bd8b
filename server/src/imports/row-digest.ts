import { bookingTable, type SentBookingField, sentBookingFields } from '#engine/booking-fields.ts'
import { digestedTerms, quoteTable } from '#engine/quote-fields.ts'
import { type ImportFieldName, readText, withoutGuards } from '../csv/index.ts'
import type { RowReader } from './row-reader.ts'
import { outcomeOf, ownFields, type QuoteCells } from './row-values.ts'

/** Booking fields with a fixed position in `contentOf`. The others follow at the end. */
const fixedFields: ReadonlySet<SentBookingField> = new Set([
  'customerRateCents',
  'truckCostCents',
  'customerName',
  'carrierName',
  'carrierNotes',
  'bookedAt',
])

const laterBookingFields = sentBookingFields.filter((field) => !fixedFields.has(field))

/** Own fields with a fixed position in `contentOf`. The others follow at the end. */
const fixedOwnFields: ReadonlySet<string> = new Set([
  'quotedRateCents',
  'estimatedCostCents',
  'marketRateCents',
  'miles',
  'quotedAt',
  'pickupDate',
])

/**
 * All values of a row as one text, for its digest. Their order is fixed, because digests of earlier files are stored. Charges are in
 * it only if there are any. An assumed basis and the rep are in it only if the row has an id. Without an id, the text identifies the
 * row, so another assumed basis, or the rep, which earlier versions did not read, would make it a second quote. Local times are in it
 * as if they were UTC, as earlier versions read them.
 */
export function contentOf({ end, own, quote, ...cells }: QuoteCells, hasId: boolean, row: RowReader): string {
  const digested = (unit: string, sent: ImportFieldName, value: string | number | null) => {
    if (unit === 'currency') return digestedCurrency(row, sent, value)
    return unit !== 'basis' || hasId || row.has(sent) ? value : null
  }
  const all = [
    ...laterBookingFields.map((field) =>
      digested(bookingTable[field].unit, bookingTable[field].sent, end[field]),
    ),
    ...digestedTerms.map((field) => digested(quoteTable[field].unit, quoteTable[field].sent, quote[field])),
  ]
  return JSON.stringify([
    cells.route[0]?.key,
    cells.route.at(-1)?.key,
    cells.equipment,
    own.quotedRateCents,
    end.customerRateCents,
    end.truckCostCents,
    own.estimatedCostCents,
    own.marketRateCents,
    own.miles,
    ...(['customerName', 'carrierName', 'carrierNotes'] as const).map((field) => {
      const { sent } = bookingTable[field]
      return asWritten(row, sent, end[field] ?? formerText(row, sent))
    }),
    outcomeOf(end),
    end.reason,
    row.asUtc('quoted_at'),
    row.asUtc('decided_at'),
    row.asUtc('booked_at'),
    own.pickupDate,
    ...(all.every((value) => value === null) ? [] : all),
    ...laterFields.flatMap((field) =>
      own[field] === null || (field === 'repName' && !hasId)
        ? []
        : [
            [
              quoteTable[field].sent,
              field === 'repName' ? asWritten(row, 'rep_name', own[field]) : own[field],
            ],
          ],
    ),
  ])
}

/**
 * The currency of an amount for the digest of its row. US dollars count only if a column of currencies says so: earlier versions did not
 * read them from cells and names of columns.
 */
function digestedCurrency<Value>(row: RowReader, field: ImportFieldName, value: Value): Value | null {
  if (value !== 'USD' || row.text(field) !== null || row.text('quoted_currency') !== null) return value
  const isOfCustomer = field === 'quoted_currency' && row.text('quoted_rate') === null
  return isOfCustomer && row.text('customer_currency') !== null ? value : null
}

/** A name or an id such as N/A, which earlier versions read as a text. It stays in the digest of its row. */
export function formerText(
  row: RowReader,
  field: 'customer_name' | 'carrier_name' | 'carrier_mc' | 'reference',
): string | null {
  const text = row.notGiven(field)
  const cell = text === null ? null : readText(text)
  return cell !== null && 'value' in cell ? cell.value : null
}

/** A name with the apostrophe that the file has before it. Earlier versions kept it, and their digests are stored. */
function asWritten(row: RowReader, field: ImportFieldName, name: string | null): string | null {
  const text = row.text(field)
  return text === null || withoutGuards(text) === text ? name : text.replace(/\s+/g, ' ')
}

/** Fields that were added later. A row without them keeps its digest. */
const laterFields = ownFields.filter((field) => !fixedOwnFields.has(field))
