import type { BodyOf } from '#contract/endpoint.ts'
import { readTime } from '#contract/fields.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { centsFromDollars } from '#engine/money.ts'
import { applyShipmentUpdate, type BookedLane, type Booking } from '#engine/shipment-update.ts'
import { bookingColumns, changeLane } from '../database/lane-changes.ts'
import { type LaneRow, type LaneValues, lockLane } from '../database/lanes.ts'
import { findRecordedAnswer, lockRequestDigest, recordShipmentUpdate } from '../database/shipment-updates.ts'
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

function bookedLane(lane: LaneRow): BookedLane {
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
    outcome: lane.outcome,
    outcomeSource: lane.outcome_source,
    decidedAt: lane.decided_at?.getTime() ?? null,
  }
}

function moment(at: number | null): Date | null {
  return at === null ? null : new Date(at)
}

function laneValues(lane: LaneRow, next: BookedLane, truckCostApplied: boolean): LaneValues {
  const { booking } = next
  return {
    [bookingColumns.customerRateCents]: booking.customerRateCents,
    [bookingColumns.truckCostCents]: booking.truckCostCents,
    [bookingColumns.customerName]: booking.customerName,
    [bookingColumns.carrierName]: booking.carrierName,
    [bookingColumns.carrierNotes]: booking.carrierNotes,
    [bookingColumns.bookedAt]: moment(booking.bookedAt),
    truck_cost_source: truckCostApplied ? 'tms' : lane.truck_cost_source,
    signed_at: JSON.stringify(next.signedAt),
    outcome: next.outcome,
    outcome_source: next.outcomeSource,
    outcome_reason: next.outcome === 'lost' ? lane.outcome_reason : null,
    decided_at: moment(next.decidedAt),
  }
}

/**
 * One transaction: the same request again gets its stored answer; else the lane is found by its ref, merged, saved with
 * its change, and the update is kept on record. No queue and no retraining: the next read uses the new facts.
 */
export const shipmentUpdateEndpoint = serve(shipmentUpdate, async ({ caller, body, signed, now }, parts) => {
  const { database, config } = parts
  const at = new Date(now)
  // A fast clock cannot reserve the future: a signature counts from the server's now at the latest.
  const signedAtSeconds = Math.min(signed.timestampSeconds, Math.floor(now / 1000))
  return database.inTenant(caller.tenant, async (transaction) => {
    await lockRequestDigest(transaction, caller.tenant, signed.requestDigest)
    const earlier = await findRecordedAnswer(transaction, caller.tenant, signed.requestDigest)
    if (earlier !== null) {
      return new Reply(
        { status: 'ok' as const, lane_id: earlier.laneId, updated: earlier.updated },
        { 'Idempotent-Replayed': 'true' },
      )
    }
    const lane = await lockLane(transaction, caller.tenant, body.lane_ref)
    if (lane === null) throw noLane(body.lane_ref)
    const merged = applyShipmentUpdate(
      bookedLane(lane),
      { fields: carriedFields(body), signedAtSeconds },
      now,
      config.staleWrites,
    )
    if (merged.applied.length > 0) {
      await changeLane(
        transaction,
        caller.tenant,
        lane,
        laneValues(lane, merged.lane, merged.applied.includes('truckCostCents')),
        { source: 'tms', tokenId: caller.tokenId },
        at,
      )
    }
    await recordShipmentUpdate(transaction, caller.tenant, {
      digest: signed.requestDigest,
      laneId: lane.lane_id,
      signedAt: new Date(signed.timestampSeconds * 1000),
      receivedAt: at,
      tokenId: caller.tokenId,
      carried: body,
      applied: merged.applied,
      updated: merged.updated,
    })
    return { status: 'ok' as const, lane_id: lane.lane_id, updated: merged.updated }
  })
})
