import type { Outcome } from './history.ts'

export type OutcomeSource = 'dashboard' | 'tms' | 'import'

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
  readonly outcome: Outcome
  readonly outcomeSource: OutcomeSource | null
  readonly decidedAt: number | null
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
  readonly changed: boolean
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
 *   // lane.outcome 'won', lane.outcomeSource 'tms', applied ['customerRateCents'], updated true
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
  const becomesWon =
    isBooked(update.fields) && applied.some(isBookedAmount) && !aPersonDecidedAfterBooking(lane)
  const outcomeChanges = becomesWon && !(lane.outcome === 'won' && lane.outcomeSource === 'tms')
  const next: BookedLane = {
    booking,
    signedAt,
    ...(outcomeChanges
      ? {
          outcome: 'won',
          outcomeSource: 'tms',
          decidedAt: lane.outcome === 'won' ? (lane.decidedAt ?? now) : now,
        }
      : { outcome: lane.outcome, outcomeSource: lane.outcomeSource, decidedAt: lane.decidedAt }),
  }
  return {
    lane: next,
    applied,
    updated:
      carried.length > 0 &&
      (applied.length > 0 || carried.every((field) => lane.booking[field] === update.fields[field])),
    changed: outcomeChanges || applied.some((field) => lane.booking[field] !== booking[field]),
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

function isBooked(fields: Partial<Booking>): boolean {
  return (fields.customerRateCents ?? null) !== null || (fields.truckCostCents ?? null) !== null
}

/** A booking makes the TMS the source of the outcome, so a dashboard outcome on a booked lane was set after it. */
function aPersonDecidedAfterBooking(lane: BookedLane): boolean {
  return lane.outcomeSource === 'dashboard' && isBooked(lane.booking)
}
