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
import { type FieldStamps, type Stamp, stampFields, stampOf } from './field-stamps.ts'
import type { StoredOutcome } from './history.ts'

/** `lanewise` is the service itself. */
export type OutcomeSource = 'dashboard' | 'tms' | 'import' | 'lanewise'
export type OutcomeReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'

/** The rules that change an outcome automatically. The history of a lane records the rule behind each change. */
export type OutcomeRule =
  | 'booking_is_a_win'
  | 'cancellation_takes_back_the_win'
  | 'validity_ended'
  | 'validity_extended'

/** The outcome of a quote, its reason and source, and the time of the decision (epoch milliseconds). */
export interface LaneOutcome {
  readonly outcome: StoredOutcome
  readonly reason: OutcomeReason | null
  readonly source: OutcomeSource | null
  readonly decidedAt: number | null
}

/** An outcome set by a rule. A cancellation restores `beforeBooking`. */
export interface RuledOutcome {
  readonly outcome: LaneOutcome
  readonly beforeBooking: LaneOutcome | null
  readonly rule: OutcomeRule
}

/**
 * The outcome of a lane after a booking, or null if the outcome does not change. The rule is the same for every
 * source: a booking (a booked customer rate or truck cost) is a win and replaces any earlier outcome. An outcome that
 * a person sets after the booking is kept.
 *
 * `isBooked` is whether the lane held a customer rate or truck cost before this booking. A booking replaces the
 * source of the outcome, so a dashboard outcome on a booked lane was set after the booking.
 *
 * @example
 * outcomeOfBooking({ outcome: lostByAPerson, isBooked: false }, 'import', now)
 *   // { outcome: { outcome: 'won', source: 'import', ... }, beforeBooking: lostByAPerson, rule: 'booking_is_a_win' }
 */
export function outcomeOfBooking(
  lane: { readonly outcome: LaneOutcome; readonly isBooked: boolean },
  source: 'tms' | 'import',
  decidedAt: number,
): RuledOutcome | null {
  const { outcome: before, isBooked } = lane
  if (before.source === 'dashboard' && isBooked) return null
  // A file that repeats what the TMS booked does not become the source of the win.
  if (before.outcome === 'won' && (before.source === source || before.source === 'tms')) return null
  return {
    outcome: {
      outcome: 'won',
      reason: null,
      source,
      decidedAt: before.outcome === 'won' ? (before.decidedAt ?? decidedAt) : decidedAt,
    },
    beforeBooking: before,
    rule: 'booking_is_a_win',
  }
}

/**
 * The outcome of a lane after a cancellation, or null if the outcome does not change. The cancellation reverts the
 * win from the booking: the lane gets its outcome from before the booking, else `pending`. An outcome that a person
 * set after the booking is kept.
 *
 * `isBooked` is whether the lane held a customer rate or truck cost before the cancellation.
 */
function outcomeOfCancellation(lane: {
  readonly outcome: LaneOutcome
  readonly outcomeBeforeBooking: LaneOutcome | null
  readonly isBooked: boolean
}): RuledOutcome | null {
  const { outcome, outcomeBeforeBooking } = lane
  if (!lane.isBooked || outcome.outcome !== 'won' || outcome.source === 'dashboard') return null
  return {
    outcome: outcomeBeforeBooking ?? { outcome: 'pending', reason: null, source: null, decidedAt: null },
    // Kept for a rollback of this cancellation: it restores the win, and a later cancellation must revert the win
    // again.
    beforeBooking: outcomeBeforeBooking,
    rule: 'cancellation_takes_back_the_win',
  }
}

/** The stamps of each booking field. */
export type BookingStamps = Readonly<Partial<Record<BookingField, FieldStamps>>>

/** The part of a lane that a shipment update can change. */
export interface BookedLane {
  readonly booking: Booking
  readonly stamps: BookingStamps
  readonly outcome: LaneOutcome
  /** The outcome before the booking. A cancellation restores this outcome. */
  readonly outcomeBeforeBooking: LaneOutcome | null
}

/** A signed update. An absent field leaves the lane's value unchanged. */
export interface ShipmentUpdate {
  readonly fields: Readonly<Partial<Pick<Booking, SentBookingField>>>
  /** Set when the update cancels the booking. */
  readonly cancellation?: { readonly reason: string | null }
  /** The service token that sent the update. */
  readonly sender: number
  readonly signedAtSeconds: number
}

export interface AppliedShipmentUpdate {
  readonly lane: BookedLane
  /** The fields whose value this update set, changed or confirmed. */
  readonly applied: readonly BookingField[]
  /**
   * True if the lane now holds the values of this update, set by this update or by an earlier update with equal
   * values.
   */
  readonly updated: boolean
  /** The rule that changed the outcome; null if the outcome did not change. */
  readonly rule: OutcomeRule | null
  /** Whether the lane changed, including its stamps. */
  readonly changed: boolean
}

/**
 * Merges a shipment update into a lane. `now` is the time of the database's clock, in epoch milliseconds.
 *
 * Each field keeps the value with the newest signature (see `stampFields`), so replayed and reordered deliveries end in
 * the same state as deliveries in signed order. An update with a customer rate or truck cost is a booking. A
 * cancellation clears the booking and records the cancellation time. A newer booking of the same lane clears the
 * cancellation.
 *
 * @example
 * applyShipmentUpdate(pendingLane, { fields: { customerRateCents: 215000 }, sender: 3, signedAtSeconds: 1772373600 }, now)
 *   // lane.outcome.outcome 'won', lane.outcome.source 'tms', applied ['customerRateCents'], updated true
 */
export function applyShipmentUpdate(
  lane: BookedLane,
  update: ShipmentUpdate,
  now: number,
  staleWrites: 'reject' | 'apply' = 'reject',
): AppliedShipmentUpdate {
  const { sender, signedAtSeconds: signed } = update
  const stamp = stampOf(sender, signed, now)
  const fields = carriedFields(lane, update, stamp)
  const carried = bookingFields.filter((field) => fields[field] !== undefined)
  const { written, stamps } = stampFields(lane.stamps, carried, stamp, staleWrites)
  const merged = { ...lane.booking, ...only(fields, written) }
  // The update that clears the last amount cancels the booking, even if another sender's cancellation has a later time.
  const cleared = isBooked(lane.booking) && !isBooked(merged) ? only(fields, cancelFields) : {}
  const booking = { ...merged, ...(isBooked(merged) ? notCancelled : cleared) }
  const isCancelled = booking.cancelledAt !== null
  const applied = carried.filter((field) => written.has(field) && booking[field] === fields[field])

  const before = { ...lane, isBooked: isBooked(lane.booking) }
  const ruled =
    update.cancellation !== undefined && isCancelled
      ? outcomeOfCancellation(before)
      : applied.some((field) => isBookedAmount(field) && booking[field] !== null)
        ? outcomeOfBooking(before, 'tms', now)
        : null
  return {
    lane: {
      booking,
      stamps,
      outcome: ruled?.outcome ?? lane.outcome,
      outcomeBeforeBooking: ruled === null ? lane.outcomeBeforeBooking : ruled.beforeBooking,
    },
    applied,
    updated:
      update.cancellation !== undefined
        ? isCancelled
        : carried.length > 0 &&
          (applied.length > 0 || carried.every((field) => lane.booking[field] === fields[field])),
    rule: ruled?.rule ?? null,
    changed: carried.some((field) => written.has(field) || stamps[field] !== lane.stamps[field]),
  }
}

/**
 * The field values that an update sets. A cancellation sets the booking fields to null and sets the cancellation
 * time.
 */
function carriedFields(lane: BookedLane, update: ShipmentUpdate, { effective }: Stamp): Partial<Booking> {
  if (update.cancellation === undefined) return update.fields
  const cancelled: Pick<Booking, CancellationField> = {
    // A repeated cancellation changes nothing, so the time of the first cancellation is kept.
    cancelledAt: lane.booking.cancelledAt ?? effective * 1000,
    cancelReason: update.cancellation.reason,
  }
  return { ...update.fields, ...ofEachBookingField(clearedBookingFields, () => null), ...cancelled }
}

function only(fields: Partial<Booking>, names: ReadonlySet<string>): Partial<Booking> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)))
}

const cancelFields: ReadonlySet<string> = new Set(cancellationFields)
const notCancelled = ofEachBookingField(cancellationFields, () => null)

function isBookedAmount(field: BookingField): boolean {
  return field === 'customerRateCents' || field === 'truckCostCents'
}

/** Whether a customer rate or a truck cost is booked. */
export function isBooked({ customerRateCents, truckCostCents }: Partial<Booking>): boolean {
  return (customerRateCents ?? null) !== null || (truckCostCents ?? null) !== null
}
