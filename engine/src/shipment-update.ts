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
import type { Outcome } from './history.ts'

export type OutcomeSource = 'dashboard' | 'tms' | 'import'
export type OutcomeReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'

/** The rules that change an outcome without a person. The history of a lane names the rule of each change it made. */
export type OutcomeRule = 'booking_is_a_win' | 'cancellation_takes_back_the_win'

/** How a quote ended, what set it, and when (epoch milliseconds). */
export interface LaneOutcome {
  readonly outcome: Outcome
  readonly reason: OutcomeReason | null
  readonly source: OutcomeSource | null
  readonly decidedAt: number | null
}

/** An outcome that a rule sets. `beforeBooking` is what a cancellation restores. */
export interface RuledOutcome {
  readonly outcome: LaneOutcome
  readonly beforeBooking: LaneOutcome | null
  readonly rule: OutcomeRule
}

/**
 * The outcome that a booking gives a lane, or null when the outcome stays. The rule is the same for every source: a
 * booking (a customer rate or truck cost that was booked) is a win, whatever outcome was set before it. An outcome that
 * a person sets after the booking stands.
 *
 * `isBooked` is whether the lane held a customer rate or truck cost before this booking. A booking replaces the source
 * of the outcome, so a dashboard outcome on a booked lane was set after the booking.
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
 * The outcome that a cancellation gives a lane, or null when the outcome stays: the win that the booking brought is taken
 * back, and the lane gets the outcome it had before the booking, else `pending`. An outcome that a person set after the
 * booking stands.
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
    // Kept: a rollback of the cancellation restores the win, and another cancellation takes it back again.
    beforeBooking: outcomeBeforeBooking,
    rule: 'cancellation_takes_back_the_win',
  }
}

/** When a value was sent, and by which sender. Times in epoch seconds. */
export interface Stamp {
  /** The service token of the signed update; null for the rollback of a person. */
  readonly sender: number | null
  /** The signed time, by the sender's clock. */
  readonly signed: number
  /** The earlier of the signed time and the database's time at arrival. */
  readonly effective: number
}

/** The stamp of the value that a field holds, then the newest stamp of each other sender of the field. */
export type FieldStamps = readonly Stamp[]
export type BookingStamps = Readonly<Partial<Record<BookingField, FieldStamps>>>

/** Whether the sender's clock was ahead of the database's clock when the update arrived. */
function isAhead({ signed, effective }: Stamp): boolean {
  return signed > effective
}

/**
 * Whether a value replaces the one that a field holds.
 *
 * One sender has one clock: its newest signed time wins, whatever the skew of the clock. Two senders have two clocks: if
 * both were ahead of the database's clock, their signed times are compared, else their effective times, so that a fast
 * clock blocks neither another sender nor a person's rollback. In a tie the later arrival wins.
 *
 * @example isNewest([{ sender: 1, signed: 121, effective: 0 }], { sender: 1, signed: 120, effective: 120 }) // false
 */
function isNewest(stamps: FieldStamps, incoming: Stamp): boolean {
  const own = stamps.find(({ sender }) => sender === incoming.sender)
  if (own !== undefined && own.signed > incoming.signed) return false
  const [held] = stamps
  if (held === undefined || held === own) return true
  return isAhead(held) && isAhead(incoming)
    ? incoming.signed >= held.signed
    : incoming.effective >= held.effective
}

/** The stamps of a field after a value arrived: `applied` is whether the field holds that value now. */
function stampsAfter(stamps: FieldStamps, incoming: Stamp, applied: boolean): FieldStamps {
  const others = stamps.filter(({ sender }) => sender !== incoming.sender)
  // A rollback is not a sender: once a newer value replaced it, nothing is compared with it.
  if (applied) return [incoming, ...others.filter(({ sender }) => sender !== null)]
  const own = stamps.find(({ sender }) => sender === incoming.sender)
  return own !== undefined && own.signed >= incoming.signed ? stamps : [...others, incoming]
}

/**
 * The stamps of a field that a rollback restored at `atSeconds` of the database's clock. The rollback is newer than all
 * that arrived before it. A sender whose clock was ahead is as far ahead now: what it signed before the rollback has an
 * earlier time than the one noted here, and what it signs afterwards has a later one.
 *
 * @example stampsAfterRollback([{ sender: 1, signed: 120, effective: 0 }], 10)
 *   // [{ sender: null, signed: 10, effective: 10 }, { sender: 1, signed: 130, effective: 10 }]
 */
export function stampsAfterRollback(stamps: FieldStamps, atSeconds: number): FieldStamps {
  return [
    { sender: null, signed: atSeconds, effective: atSeconds },
    ...stamps
      .filter(({ sender }) => sender !== null)
      .map(({ sender, signed, effective }) => ({
        sender,
        signed: Math.max(signed, atSeconds + signed - effective),
        effective: Math.max(effective, atSeconds),
      })),
  ]
}

/** The part of a lane that a shipment update can change. */
export interface BookedLane {
  readonly booking: Booking
  readonly stamps: BookingStamps
  readonly outcome: LaneOutcome
  /** The outcome from before the booking that won the lane: what a cancellation restores. */
  readonly outcomeBeforeBooking: LaneOutcome | null
}

/** A signed update. An absent field leaves the lane's value. */
export interface ShipmentUpdate {
  readonly fields: Readonly<Partial<Pick<Booking, SentBookingField>>>
  /** Set when the update cancels the booking. */
  readonly cancellation?: { readonly reason: string | null }
  /** The service token that sent it. */
  readonly sender: number
  readonly signedAtSeconds: number
}

export interface AppliedShipmentUpdate {
  readonly lane: BookedLane
  /** The fields whose value this update set, changed or confirmed. */
  readonly applied: readonly BookingField[]
  /** True when the values it carries are what the lane now holds because of it or of an equal earlier one. */
  readonly updated: boolean
  /** The rule that changed the outcome; null when the outcome stays. */
  readonly rule: OutcomeRule | null
  /** Whether `lane` differs from the lane before, in its stamps too. */
  readonly changed: boolean
}

/**
 * Merges a shipment update into a lane. `now` is the time of the database's clock, in epoch milliseconds.
 *
 * Each field follows the newest signature (see `isNewest`), so that replays and re-ordered deliveries end in the state of
 * the deliveries in signed order. An update that carries a customer rate or truck cost is a booking. A cancellation
 * clears the booking and notes its own time; a newer booking of the same lane clears the cancellation.
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
  const stamp: Stamp = { sender, signed, effective: Math.min(signed, Math.floor(now / 1000)) }
  const fields = carriedFields(lane, update, stamp)
  const carried = bookingFields.filter((field) => fields[field] !== undefined)
  const written = new Set(
    carried.filter((field) => staleWrites === 'apply' || isNewest(lane.stamps[field] ?? [], stamp)),
  )
  const stamps: { -readonly [F in BookingField]?: FieldStamps } = { ...lane.stamps }
  for (const field of carried) {
    stamps[field] = stampsAfter(lane.stamps[field] ?? [], stamp, written.has(field))
  }
  const merged = { ...lane.booking, ...only(fields, written) }
  // What clears the last amount has cancelled the booking, even if another sender's cancellation has a later time.
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

/** The value that an update gives each field. A cancellation is the absence of a booking, at its own time. */
function carriedFields(lane: BookedLane, update: ShipmentUpdate, { effective }: Stamp): Partial<Booking> {
  if (update.cancellation === undefined) return update.fields
  const cancelled: Pick<Booking, CancellationField> = {
    // A cancellation that is sent again changes nothing, so the first one keeps its time.
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
