import { type FieldStamps, stampFields, stampOf } from './field-stamps.ts'
import type { LaneOutcome } from './shipment-update.ts'

/**
 * The fields of a quote that another system can push, and that converge one by one. `places` is origin, destination and
 * miles together; `outcome` is the outcome, its reason and its time together.
 */
export const pushedQuoteFields = [
  'places',
  'equipment',
  'quotedRate',
  'estimatedCost',
  'quotedBasis',
  'quotedCurrency',
  'quotedFuel',
  'quotedAccessorials',
  'customer',
  'rep',
  'quotedAt',
  'validUntil',
  'rateType',
  'pickupDate',
  'outcome',
] as const
export type PushedQuoteField = (typeof pushedQuoteFields)[number]

/** The stamps of each pushed field of a quote. */
export type QuoteStamps = Readonly<Partial<Record<PushedQuoteField, FieldStamps>>>

/** The part of a lane that decides what a pushed quote changes. */
export interface PushedLane {
  readonly stamps: QuoteStamps
  readonly outcome: LaneOutcome
  readonly outcomeBeforeBooking: LaneOutcome | null
  /** Whether a customer rate or truck cost is booked. */
  readonly isBooked: boolean
}

/** A pushed quote: the fields that it carries, and its outcome if `outcome` is among them. */
export interface PushedQuote {
  readonly carried: readonly PushedQuoteField[]
  readonly outcome: LaneOutcome | null
  /** The service token that sent the quote. */
  readonly sender: number
  readonly signedAtSeconds: number
}

export interface AppliedQuote {
  /** The fields whose value this push sets. Their values may be equal to those that the lane has. */
  readonly written: ReadonlySet<PushedQuoteField>
  readonly stamps: QuoteStamps
  readonly stampsChanged: boolean
  /** The outcome of the lane and the outcome that a cancellation restores; null if neither changes. */
  readonly outcome: { readonly outcome: LaneOutcome; readonly beforeBooking: LaneOutcome | null } | null
  /** True if the pushed outcome waits behind a booking: a booked lane is won until the booking is cancelled. */
  readonly outcomeWaits: boolean
}

/**
 * Decides what a pushed quote changes in a lane. `now` is the time of the database's clock, in epoch milliseconds.
 *
 * Each field keeps the value with the newest signature, by the same rule as shipment updates (see `stampFields`), so
 * repeated and reordered deliveries end in the same state as deliveries in signed order. A booking is a win: an outcome
 * that is pushed for a booked lane is kept for a cancellation of the booking, which restores it.
 *
 * @example
 * applyPushedQuote(pendingLane, { carried: ['outcome'], outcome: lost, sender: 3, signedAtSeconds: 1772373600 }, now)
 *   // { written: Set { 'outcome' }, outcome: { outcome: lost, beforeBooking: null }, outcomeWaits: false, ... }
 */
export function applyPushedQuote(
  lane: PushedLane,
  { carried, outcome, sender, signedAtSeconds }: PushedQuote,
  now: number,
): AppliedQuote {
  const { written, stamps, changed } = stampFields(
    lane.stamps,
    carried,
    stampOf(sender, signedAtSeconds, now),
  )
  const sets = outcome !== null && written.has('outcome')
  const kept = lane.outcomeBeforeBooking
  return {
    written,
    stamps,
    stampsChanged: changed,
    outcome: !sets
      ? null
      : lane.isBooked
        ? { outcome: lane.outcome, beforeBooking: outcome }
        : { outcome, beforeBooking: kept },
    outcomeWaits: sets && lane.isBooked && outcome.outcome !== lane.outcome.outcome,
  }
}
