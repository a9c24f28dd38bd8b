import type { JsonRow, QuoteRow } from '../../schema/index.ts'
import { type Database, LockTimeout, type TenantId } from '../../session/index.ts'
import { quoteOfJson } from './booking-columns.ts'
import { type OfferRow, supersedingOf } from './offers.ts'
import {
  type ChangeableValues,
  type ChangeOrigin,
  type NextValues,
  quoteChange,
  settledBy,
} from './quote-changes.ts'

/** The answer to a signed request. A repeated request gets the same answer. */
export interface RecordedAnswer {
  readonly quoteId: number
  readonly updated: boolean
  readonly replayed: boolean
}

/** The state of a quote that the decision on a signed update is based on. */
export type BookedQuoteRow = ChangeableValues & OfferRow & Pick<QuoteRow, 'quote_signed_at'>

/** Another offer for the load of a quote: a row, and its version. */
interface OtherOffer {
  readonly seen: string
  readonly lane: JsonRow<BookedQuoteRow>
}

/** The facts of the event about an update of which nothing was applied. */
export interface NotApplied {
  readonly signed_at: string
  readonly fields: readonly string[]
}

/** The effect of a signed update on its quote, and the saved record of the update, applied or not. */
export interface ShipmentBooking {
  /** The new values of the quote; null if nothing is applied. */
  readonly next: Partial<ChangeableValues> | null
  readonly origin: ChangeOrigin
  readonly signedAt: Date
  readonly tokenId: number
  readonly carried: unknown
  readonly applied: readonly string[]
  readonly updated: boolean
  /** Null if something was applied, or there was nothing to apply. */
  readonly notApplied: NotApplied | null
}

/** The result of find_booking: an earlier answer to the request, or its quote, the row's version, and the database's time. */
type Found =
  | { readonly answer: { readonly lane_id: number; readonly updated: boolean } }
  | {
      readonly seen: string
      readonly now: number
      readonly lane: JsonRow<BookedQuoteRow>
      /** Absent if the load was quoted only once. */
      readonly offers?: readonly OtherOffer[]
    }

/**
 * How often an update is retried after a concurrent change of its quote. One of several concurrent updates always succeeds.
 * A brokerage may send ten requests per second, so more conflicts than this in a row cannot come from other updates.
 */
const triesMax = 50

/**
 * Books a signed update in two messages: one that reads, and one that writes everything and commits. `decide` returns the
 * effect on the quote at the time of the database's clock, in epoch milliseconds. The quote is not locked in between: if it was
 * changed meanwhile, nothing is written, and `decide` runs again on the new values. Equal requests run one after another,
 * and all get the answer of the first. Null if the tenant has no such quote.
 *
 * @throws LockTimeout if the quote, or the same request, is locked by another transaction for too long
 */
export async function bookShipment(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  request: { readonly digest: Buffer; readonly laneRef: string },
  decide: (quote: BookedQuoteRow, now: number) => ShipmentBooking,
): Promise<RecordedAnswer | null> {
  const named = [request.digest, request.laneRef]
  let found = await database.callInTenant<Found | null>(tenant, 'find_booking', named)
  for (let tries = 0; tries < triesMax; tries++) {
    if (found === null) return null
    if ('answer' in found) {
      return { quoteId: found.answer.lane_id, updated: found.answer.updated, replayed: true }
    }
    const quote = quoteOfJson<BookedQuoteRow>(found.lane)
    const booking = decide(quote, found.now)
    const written: Found | { readonly booked: true } | null = await database.callInTenant(
      tenant,
      'book_shipment',
      [...named, JSON.stringify(bookingOf(found, quote, booking))],
    )
    if (written !== null && 'booked' in written) {
      return { quoteId: quote.lane_id, updated: booking.updated, replayed: false }
    }
    found = written
  }
  throw new LockTimeout('The quote was changed during every attempt.')
}

/** The JSON argument of book_shipment. */
function bookingOf(
  { seen, now, offers = [] }: Exclude<Found, { answer: object }>,
  quote: BookedQuoteRow,
  booking: ShipmentBooking,
) {
  const { origin } = booking
  const receivedAt = new Date(now)
  const { next, others } = settled(quote, booking.next, offers, receivedAt)
  const written = next === null ? null : quoteChange(quote, next, origin, receivedAt)
  return {
    lane_id: quote.lane_id,
    seen,
    ...(offers.length === 0 || written === null ? {} : { offers: others }),
    // Omit null members, because the database reads an absent member as SQL null, but a JSON null as a value.
    ...(written === null ? {} : { held: written.held }),
    ...(written === null || written.change === null ? {} : { change: written.change }),
    signed_at: booking.signedAt,
    received_at: receivedAt,
    token_id: booking.tokenId,
    carried: booking.carried,
    applied: booking.applied,
    updated: booking.updated,
    ...(booking.notApplied === null ? {} : { not_applied: booking.notApplied }),
  }
}

/** The new values of a booked quote, including its `superseded_by`, and the changes of the other offers for its load. */
function settled(
  quote: BookedQuoteRow,
  booked: NextValues | null,
  offers: readonly OtherOffer[],
  at: Date,
): { next: NextValues | null; others: object[] } {
  if (booked === null || offers.length === 0) return { next: booked, others: [] }
  const after: BookedQuoteRow = { ...quote, ...booked }
  const rows = offers.map((other) => ({ seen: other.seen, row: quoteOfJson<BookedQuoteRow>(other.lane) }))
  const superseding = new Map(
    supersedingOf([after, ...rows.map(({ row }) => row)]).map(({ row, next }) => [row.lane_id, next]),
  )
  return {
    next: { ...booked, ...superseding.get(quote.lane_id) },
    others: rows.map(({ seen, row }) => {
      const next = superseding.get(row.lane_id)
      const written = next === undefined ? null : quoteChange(row, next, settledBy, at)
      return { lane_id: row.lane_id, seen, ...written }
    }),
  }
}
