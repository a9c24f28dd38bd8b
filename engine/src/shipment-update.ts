import {
  type Booking,
  type BookingField,
  bookingFields,
  type CancellationField,
  cancellationFields,
  clearedBookingFields,
  ofEachBookingField,
  type SentBookingField,
} from './booking-fields.ts'
import {
  type FieldStamps,
  isTooFarAhead,
  messagesOfSecond,
  type Stamp,
  stampFields,
  stampOf,
} from './field-stamps.ts'
import {
  type CurrentBooking,
  cancelledAtFrom,
  isSame,
  type OutcomeFacts,
  type OutcomeRule,
  outcomeFrom,
  type QuoteOutcome,
  withBooking,
  withCancellation,
  withPossibleTimes,
} from './quote-outcome.ts'

export type BookingStamps = Readonly<Partial<Record<BookingField, FieldStamps>>>

/** The part of a quote that a shipment update can change. */
export interface BookedQuote {
  readonly booking: Booking
  readonly stamps: BookingStamps
  readonly outcome: QuoteOutcome
  /** The facts from which the outcome is derived. */
  readonly facts: OutcomeFacts
}

/** A signed update. An absent field keeps the quote's value. */
export interface ShipmentUpdate {
  readonly fields: Readonly<Partial<Pick<Booking, SentBookingField>>>
  /** Set when the update cancels the booking. */
  readonly cancellation?: { readonly reason: string | null }
  /** The service token that sent the update. */
  readonly sender: number
  readonly signedAtSeconds: number
}

export interface AppliedShipmentUpdate {
  readonly lane: BookedQuote
  /** The fields whose value this update set, changed or confirmed. */
  readonly applied: readonly BookingField[]
  /** True if the quote now has the values of this update, from it or from an earlier one with equal values. */
  readonly updated: boolean
  /** The rule that changed the outcome; null if the outcome did not change. */
  readonly rule: OutcomeRule | null
  /** Whether the quote changed, including its stamps. */
  readonly changed: boolean
}

/**
 * Merges a shipment update into a quote. `now` is the time of the database's clock, in epoch milliseconds.
 *
 * The value with the newest signature counts (see `stampFields`), so repeated and reordered messages end in the same state as
 * messages in signed order. An update with a customer rate or truck cost is a booking. A cancellation clears the booking and
 * records the cancellation time. A newer booking of the same quote clears the cancellation.
 *
 * @example
 * applyShipmentUpdate(pendingLane, { fields: { customerRateCents: 215000 }, sender: 3, signedAtSeconds: 1772373600 }, now)
 *   // lane.outcome.outcome 'won', lane.outcome.source 'tms', applied ['customerRateCents'], updated true
 */
export function applyShipmentUpdate(
  quote: BookedQuote,
  update: ShipmentUpdate,
  now: number,
  staleWrites: 'reject' | 'apply' = 'reject',
): AppliedShipmentUpdate {
  const isCancellation = update.cancellation !== undefined
  const content = JSON.stringify([update.fields, update.cancellation ?? null])
  const message = stampOf({ ...update, content }, now)
  const rank = rankOf(message, update, quote)
  const stamp = rank === 0 ? message : { ...message, rank }
  // Times that are too far ahead were recorded while the clock was wrong: they count as just before this message.
  const known = isTooFarAhead(update.signedAtSeconds, now)
    ? quote.facts
    : withPossibleTimes(quote.facts, (second) => isTooFarAhead(second, now), stamp.effective - 1)
  const added = factsAfter(known, update, stamp.effective)
  const facts = added === known ? quote.facts : added
  const fields = carriedFields(update, facts)
  const carried = bookingFields.filter((field) => fields[field] !== undefined)
  const { written, stamps } = stampFields(quote.stamps, carried, stamp, now, staleWrites)
  const merged = { ...quote.booking, ...only(fields, written) }
  // The update that clears the last amount cancels the booking, even if another sender's cancellation has a later time.
  const cleared = isBooked(quote.booking) && !isBooked(merged) ? only(fields, cancelFields) : {}
  const settled = { ...merged, ...(isBooked(merged) ? notCancelled : cleared) }
  // A message that is older than the current cancellation can still tell when the booking was cancelled first.
  const isSettled = settled.cancelledAt === null || facts === quote.facts
  const booking = isSettled ? settled : { ...settled, cancelledAt: cancelledAtFrom(facts) }
  const isCancelled = booking.cancelledAt !== null
  const applied = carried.filter((field) => written.has(field) && booking[field] === fields[field])
  const held = currentBooking(booking, stamps, quote.outcome)
  const decides =
    facts !== quote.facts || written.has('bookedAt') || held.isBooked !== isBooked(quote.booking)
  const outcome = decides ? outcomeFrom(facts, held) : quote.outcome
  return {
    lane: { booking, stamps, outcome, facts },
    applied,
    updated: isCancellation
      ? isCancelled
      : carried.length > 0 &&
        (applied.length > 0 || carried.every((field) => quote.booking[field] === fields[field])),
    rule: isSame(outcome, quote.outcome)
      ? null
      : held.isBooked
        ? 'booking_is_a_win'
        : 'cancellation_takes_back_the_win',
    changed:
      facts !== quote.facts ||
      carried.some((field) => written.has(field) || stamps[field] !== quote.stamps[field]),
  }
}

/**
 * The rank of a message among those of its second: bookings have even ranks, and cancellations odd ones. A cancellation cancels the
 * bookings that arrived before it. A booking that arrives after it follows it, if there was a booking to cancel; else the cancellation
 * overtook this booking.
 */
function rankOf(
  message: Stamp,
  { fields, cancellation }: ShipmentUpdate,
  { stamps, facts }: BookedQuote,
): number {
  const { top, repeated } = messagesOfSecond(Object.values(stamps), message)
  const base = cancellation === undefined ? 0 : 1
  if (repeated !== null) return Math.max(base, repeated)
  const highest = top?.rank ?? 0
  const isSameKind = highest % 2 === base
  if (top === null || isSameKind) return Math.max(base, highest)
  const follows = base === 1 || (isBooked(fields) && cancelledOne(facts, top.effective))
  return follows ? highest + 1 : highest - 1
}

/** Whether the cancellation of a second cancelled a booking that is known. */
function cancelledOne({ bookings, cancellations }: OutcomeFacts, second: number): boolean {
  return bookings.some(
    (booked) => booked <= second && !cancellations.some((at) => at >= booked && at < second),
  )
}

/** The facts after an update. An update with a customer rate or a truck cost is a booking. */
function factsAfter(
  facts: OutcomeFacts,
  { fields, cancellation }: ShipmentUpdate,
  second: number,
): OutcomeFacts {
  if (cancellation !== undefined) return withCancellation(facts, second)
  return isBooked(fields) ? withBooking(facts, second) : facts
}

/** The booking of a quote, as far as its outcome depends on it. `shown` is the quote's outcome before. */
export function currentBooking(booking: Booking, stamps: BookingStamps, shown: QuoteOutcome): CurrentBooking {
  const isSigned = amountFields.some(
    (field) => booking[field] !== null && (stamps[field]?.[0]?.sender ?? null) !== null,
  )
  return {
    isBooked: isBooked(booking),
    // After a rollback, amounts that the TMS had signed have no sender.
    isSigned: isSigned || (shown.outcome === 'won' && shown.source === 'tms'),
    bookedAt: booking.bookedAt,
  }
}

/**
 * The field values that an update sets. A cancellation sets the booking fields to null and sets the cancellation
 * time.
 */
function carriedFields(update: ShipmentUpdate, facts: OutcomeFacts): Partial<Booking> {
  if (update.cancellation === undefined) return update.fields
  const cancelled: Pick<Booking, CancellationField> = {
    cancelledAt: cancelledAtFrom(facts),
    cancelReason: update.cancellation.reason,
  }
  return { ...update.fields, ...ofEachBookingField(clearedBookingFields, () => null), ...cancelled }
}

function only(fields: Partial<Booking>, names: ReadonlySet<string>): Partial<Booking> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)))
}

const cancelFields: ReadonlySet<string> = new Set(cancellationFields)
const notCancelled = ofEachBookingField(cancellationFields, () => null)

const amountFields = ['customerRateCents', 'truckCostCents'] as const

/** Whether a customer rate or a truck cost is booked. */
export function isBooked({ customerRateCents, truckCostCents }: Partial<Booking>): boolean {
  return (customerRateCents ?? null) !== null || (truckCostCents ?? null) !== null
}
