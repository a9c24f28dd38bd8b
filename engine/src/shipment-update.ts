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

/** What is booked on a lane: each value is null until somebody has said it. Amounts in whole cents. */
export interface Booking {
  readonly customerRateCents: number | null
  readonly truckCostCents: number | null
  readonly customerName: string | null
  readonly carrierName: string | null
  readonly carrierNotes: string | null
  readonly bookedAt: number | null
}
export type BookingField = keyof Booking

export const bookingFields: readonly BookingField[] = [
  'customerRateCents',
  'truckCostCents',
  'customerName',
  'carrierName',
  'carrierNotes',
  'bookedAt',
]

/** The part of a lane that a shipment update can change. `signedAt` is the signed second of each field's last write. */
export interface BookedLane {
  readonly booking: Booking
  readonly signedAt: Readonly<Partial<Record<BookingField, number>>>
  readonly outcome: LaneOutcome
  /** The outcome from before the booking that won the lane: what a cancellation restores. */
  readonly outcomeBeforeBooking: LaneOutcome | null
}

/** A signed update: the fields it carries (an absent one leaves), and the second it was signed, clamped to now. */
export interface ShipmentUpdate {
  readonly fields: Readonly<Partial<Booking>>
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
}

/**
 * Merges a shipment update into a lane.
 *
 * Each field follows the newest signature: a value signed before the one a field holds is not applied, so that
 * replays and re-ordered deliveries end in the state of the deliveries in signed order. Two updates of the same second
 * follow their arrival. An update that carries customer rate or truck cost is a booking, and a booking is a win, but an
 * outcome that a person set after a booking stands.
 *
 * @example
 * applyShipmentUpdate(pendingLane, { fields: { customerRateCents: 215000 }, signedAtSeconds: 1772373600 }, now)
 *   // lane.outcome.outcome 'won', lane.outcome.source 'tms', applied ['customerRateCents'], updated true
 */
export function applyShipmentUpdate(
  lane: BookedLane,
  update: ShipmentUpdate,
  now: number,
  staleWrites: 'reject' | 'apply' = 'reject',
): AppliedShipmentUpdate {
  const carried = bookingFields.filter((field) => update.fields[field] !== undefined)
  const applied = carried.filter(
    (field) => staleWrites === 'apply' || update.signedAtSeconds >= (lane.signedAt[field] ?? 0),
  )
  const booking = { ...lane.booking }
  const signedAt = { ...lane.signedAt }
  for (const field of applied) {
    write(booking, field, update.fields)
    signedAt[field] = update.signedAtSeconds
  }
  const won =
    isBooked(update.fields) && applied.some(isBookedAmount)
      ? outcomeOfBooking({ outcome: lane.outcome, isBooked: isBooked(lane.booking) }, 'tms', now)
      : null
  const next: BookedLane = {
    booking,
    signedAt,
    outcome: won?.outcome ?? lane.outcome,
    outcomeBeforeBooking: won === null ? lane.outcomeBeforeBooking : won.beforeBooking,
  }
  return {
    lane: next,
    applied,
    updated:
      carried.length > 0 &&
      (applied.length > 0 || carried.every((field) => lane.booking[field] === update.fields[field])),
    rule: won?.rule ?? null,
  }
}

function write<F extends BookingField>(
  booking: { -readonly [K in F]: Booking[K] },
  field: F,
  fields: Partial<Booking>,
) {
  const value = fields[field]
  if (value !== undefined) booking[field] = value as Booking[F]
}

function isBookedAmount(field: BookingField): boolean {
  return field === 'customerRateCents' || field === 'truckCostCents'
}

/** Whether a customer rate or a truck cost is booked. */
export function isBooked(fields: Partial<Booking>): boolean {
  return (fields.customerRateCents ?? null) !== null || (fields.truckCostCents ?? null) !== null
}
