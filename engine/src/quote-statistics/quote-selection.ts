import type { QuoteBook } from '../book/quote-book.ts'
import { customerKey } from '../customer-name.ts'
import { FACTS, type QuoteColumns, REFUSED } from '../quotes/quote-columns.ts'
import type { RateType } from '../rate-type.ts'
import { type CustomerRecords, isHiddenFrom, isSameCustomer } from './customer-records.ts'

/** The conditions that select quotes for statistics. An absent condition selects all quotes. */
export interface QuoteSelection {
  readonly originKey?: string
  readonly destinationKey?: string
  readonly equipmentCode?: string
  readonly rateType?: RateType
  /** A customer by its name in any spelling, with the names that were merged into it. */
  readonly customerName?: string
  /** Only quotes that this person made in Lanewise. Imported quotes are left out, even if their file names the person as rep. */
  readonly quotedBy?: number
  /** Only quotes from the time `from` on, and before the time `to`, in epoch milliseconds. */
  readonly from?: number
  readonly to?: number
  /** Only quotes with a booking or a cancelled booking. */
  readonly booked?: boolean
}

/** The person who reads statistics; null if no customer is hidden. */
export type Reader = { readonly userId: number } | null

/** Whether a row of the columns is selected. */
export type IsSelected = (columns: QuoteColumns, row: number) => boolean

/**
 * Returns a test of whether a row is in the selection. Each lane and customer is tested once, not for each of its quotes.
 *
 * A person does not see quotes of a hidden customer, whether it is named in the quote or in the booking.
 */
export function selectedRows(
  { lanes, names }: QuoteBook,
  selection: QuoteSelection,
  records: CustomerRecords,
  reader: Reader,
): IsSelected {
  const { originKey, destinationKey, equipmentCode, rateType, customerName, quotedBy } = selection
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, booked = false } = selection
  const asksForLane = originKey !== undefined || destinationKey !== undefined || equipmentCode !== undefined
  const ofLane = !asksForLane
    ? null
    : Uint8Array.from(lanes, ({ places }) =>
        Number(
          (originKey === undefined || places.originKey === originKey) &&
            (destinationKey === undefined || places.destinationKey === destinationKey) &&
            (equipmentCode === undefined || places.equipmentCode === equipmentCode),
        ),
      )
  const wanted = customerName === undefined ? null : customerKey(customerName)
  const isSeen = (key: string) => reader === null || !isHiddenFrom(records, reader.userId, key)
  const ofNames =
    wanted === null && reader === null
      ? null
      : Uint8Array.from(names.customers, ({ key, quotedKey }) =>
          Number(
            (wanted === null || isSameCustomer(records, wanted, key)) && isSeen(key) && isSeen(quotedKey),
          ),
        )
  return (columns, row) => {
    // A superseded offer is no load of its own.
    if (columns.outcomeOf(row) === REFUSED) return false
    const quotedAt = columns.quotedAt[row]!
    if (quotedAt < from || quotedAt >= to) return false
    if (rateType !== undefined && columns.rateTypeOf(row) !== rateType) return false
    if (ofLane !== null && ofLane[columns.lane[row]!] !== 1) return false
    if (ofNames !== null && ofNames[columns.names[row]!] !== 1) return false
    if (quotedBy !== undefined && columns.person[row] !== quotedBy) return false
    const facts = columns.facts[row]!
    if (quotedBy !== undefined && (facts & FACTS.imported) !== 0) return false
    return !booked || (facts & FACTS.booked) !== 0
  }
}

/** A test for the rows of quotes with these ids, without offers that another one superseded. */
export function rowsWithIds(ids: Iterable<number>): IsSelected {
  const wanted = new Set(ids)
  return (columns, row) => columns.outcomeOf(row) !== REFUSED && wanted.has(columns.quoteId[row]!)
}
