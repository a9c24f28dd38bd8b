import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { centsFromDollars } from '#engine/money.ts'
import { applyShipmentUpdate, type BookedLane, type ShipmentUpdate } from '#engine/shipment-update.ts'
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

type Body = BodyOf<typeof shipmentUpdate>

/** The fields an update carries, in the units of a lane: cents, epoch milliseconds. An absent field stays absent. */
function carriedFields(body: Body): ShipmentUpdate['fields'] {
  return {
    ...(body.customer_rate === undefined ? {} : { customerRateCents: centsFromDollars(body.customer_rate) }),
    ...(body.truck_cost === undefined ? {} : { truckCostCents: centsFromDollars(body.truck_cost) }),
    ...(body.customer_name === undefined ? {} : { customerName: body.customer_name }),
    ...(body.carrier_name === undefined ? {} : { carrierName: body.carrier_name }),
    ...(body.carrier_mc === undefined ? {} : { carrierNotes: body.carrier_mc }),
    ...(body.booked_at === undefined ? {} : { bookedAt: readTime(body.booked_at) }),
  }
}

const notWithCancelled = [
  'customer_rate',
  'truck_cost',
  'carrier_name',
  'carrier_mc',
  'booked_at',
] as const satisfies readonly (keyof Body)[]

/** An update either books or cancels: a body that says both is refused, so that neither is guessed. */
function checkCancellation(body: Body): void {
  const errors: FieldError[] =
    body.cancelled === true
      ? notWithCancelled
          .filter((field) => body[field] !== undefined)
          .map((field) => ({
            pointer: `/${field}`,
            code: 'invalid',
            detail: `${field} cannot be sent with cancelled: true, which clears it. Send the cancellation alone, or leave out cancelled.`,
          }))
      : body.cancel_reason === undefined
        ? []
        : [
            {
              pointer: '/cancel_reason',
              code: 'invalid',
              detail:
                'cancel_reason is only accepted with cancelled: true. Add cancelled: true, or leave out cancel_reason.',
            },
          ]
  if (errors.length > 0) throw invalid(errors)
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
      cancelledAt: lane.cancelled_at?.getTime() ?? null,
      cancelReason: lane.cancel_reason,
    },
    stamps: lane.signed_at,
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
    [bookingColumns.cancelledAt]: moment(booking.cancelledAt),
    [bookingColumns.cancelReason]: booking.cancelReason,
    truck_cost_source:
      booking.truckCostCents === null ? null : truckCostApplied ? 'tms' : lane.truck_cost_source,
    signed_at: next.stamps,
    ...outcomeValues({ outcome: next.outcome, beforeBooking: next.outcomeBeforeBooking }),
  }
}

/**
 * The same request again gets its stored answer; else the lane is found by its ref, merged, saved with its change, and the
 * update is kept on record, all of it in one commit. No queue and no retraining: the next read uses the new facts.
 */
export const shipmentUpdateEndpoint = serve(shipmentUpdate, async ({ caller, body, signed }, parts) => {
  const { database, config } = parts
  checkCancellation(body)
  const update: ShipmentUpdate = {
    fields: carriedFields(body),
    ...(body.cancelled === true ? { cancellation: { reason: body.cancel_reason ?? null } } : {}),
    sender: caller.tokenId,
    signedAtSeconds: signed.timestampSeconds,
  }
  const request = { digest: signed.requestDigest, laneRef: body.lane_ref }
  const answer = await bookShipment(database, caller.tenant, request, (lane, now) => {
    const merged = applyShipmentUpdate(bookedLane(lane), update, now, config.staleWrites)
    const { applied, updated, rule } = merged
    return {
      next: merged.changed ? heldValues(lane, merged.lane, applied.includes('truckCostCents')) : null,
      origin: { source: 'tms', tokenId: caller.tokenId, rule },
      signedAt: new Date(signed.timestampSeconds * 1000),
      tokenId: caller.tokenId,
      carried: body,
      applied,
      updated,
    }
  })
  if (answer === null) throw noLane(body.lane_ref)
  const result = { status: 'ok' as const, lane_id: answer.laneId, updated: answer.updated }
  return answer.replayed ? new Reply(result, { 'Idempotent-Replayed': 'true' }) : result
})
