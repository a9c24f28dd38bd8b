import type { BodyOf } from '#contract/endpoint.ts'
import { readTime } from '#contract/fields.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { centsFromDollars } from '#engine/money.ts'
import { applyShipmentUpdate, type BookedLane, type Booking } from '#engine/shipment-update.ts'
import {
  bookingColumns,
  type HeldValues,
  outcomeBeforeBooking,
  outcomeOf,
  outcomeValues,
} from '../database/lane-changes.ts'
import { type BookedLaneRow, bookShipment } from '../database/shipment-updates.ts'
import { Reply, serve } from './call.ts'
import { noLane } from './quote-requests.ts'

/** The fields an update carries, in the units of a lane: cents, epoch milliseconds. An absent field stays absent. */
function carriedFields(body: BodyOf<typeof shipmentUpdate>): Partial<Booking> {
  return {
    ...(body.customer_rate === undefined ? {} : { customerRateCents: centsFromDollars(body.customer_rate) }),
    ...(body.truck_cost === undefined ? {} : { truckCostCents: centsFromDollars(body.truck_cost) }),
    ...(body.customer_name === undefined ? {} : { customerName: body.customer_name }),
    ...(body.carrier_name === undefined ? {} : { carrierName: body.carrier_name }),
    ...(body.carrier_mc === undefined ? {} : { carrierNotes: body.carrier_mc }),
    ...(body.booked_at === undefined ? {} : { bookedAt: readTime(body.booked_at) }),
  }
}

function bookedLane(lane: BookedLaneRow): BookedLane {
  return {
    booking: {
      customerRateCents: lane.customer_rate_cents,
      truckCostCents: lane.truck_cost_cents,
      customerName: lane.customer_name,
      carrierName: lane.carrier_name,
      carrierNotes: lane.carrier_notes,
      bookedAt: lane.booked_at?.getTime() ?? null,
    },
    signedAt: lane.signed_at,
    outcome: outcomeOf(lane),
    outcomeBeforeBooking: outcomeBeforeBooking(lane),
  }
}

function moment(at: number | null): Date | null {
  return at === null ? null : new Date(at)
}

function heldValues(lane: BookedLaneRow, next: BookedLane, truckCostApplied: boolean): HeldValues {
  const { booking } = next
  return {
    [bookingColumns.customerRateCents]: booking.customerRateCents,
    [bookingColumns.truckCostCents]: booking.truckCostCents,
    [bookingColumns.customerName]: booking.customerName,
    [bookingColumns.carrierName]: booking.carrierName,
    [bookingColumns.carrierNotes]: booking.carrierNotes,
    [bookingColumns.bookedAt]: moment(booking.bookedAt),
    truck_cost_source: truckCostApplied ? 'tms' : lane.truck_cost_source,
    signed_at: next.signedAt,
    ...outcomeValues({ outcome: next.outcome, beforeBooking: next.outcomeBeforeBooking }),
  }
}

/**
 * The same request again gets its stored answer; else the lane is found by its ref, merged, saved with its change, and the
 * update is kept on record, all of it in one commit. No queue and no retraining: the next read uses the new facts.
 */
export const shipmentUpdateEndpoint = serve(shipmentUpdate, async ({ caller, body, signed, now }, parts) => {
  const { database, config } = parts
  const at = new Date(now)
  // A fast clock cannot reserve the future: a signature counts from the server's now at the latest.
  const signedAtSeconds = Math.min(signed.timestampSeconds, Math.floor(now / 1000))
  const request = { digest: signed.requestDigest, laneRef: body.lane_ref }
  const answer = await bookShipment(database, caller.tenant, request, (lane) => {
    const merged = applyShipmentUpdate(
      bookedLane(lane),
      { fields: carriedFields(body), signedAtSeconds },
      now,
      config.staleWrites,
    )
    const { applied, updated, rule } = merged
    return {
      next: applied.length === 0 ? null : heldValues(lane, merged.lane, applied.includes('truckCostCents')),
      origin: { source: 'tms', tokenId: caller.tokenId, rule },
      signedAt: new Date(signed.timestampSeconds * 1000),
      receivedAt: at,
      tokenId: caller.tokenId,
      carried: body,
      applied,
      updated,
    }
  })
  if (answer === null) throw noLane(body.lane_ref)
  const told = { status: 'ok' as const, lane_id: answer.laneId, updated: answer.updated }
  return answer.replayed ? new Reply(told, { 'Idempotent-Replayed': 'true' }) : told
})
