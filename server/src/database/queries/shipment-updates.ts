import type { JsonRow } from '../schema/index.ts'
import { type Database, LockTimeout, type TenantId } from '../session/index.ts'
import { laneOfJson } from './booking-columns.ts'
import { type ChangeOrigin, type HeldValues, laneChange } from './lane-changes.ts'

/** The answer to a signed request: the first time, or the same again. */
export interface RecordedAnswer {
  readonly laneId: number
  readonly updated: boolean
  readonly replayed: boolean
}

/** What a signed update is decided on: what its lane holds. */
export type BookedLaneRow = HeldValues & { readonly lane_id: number }

/** What a signed update does to its lane, and what is kept of it, applied or not. */
export interface ShipmentBooking {
  /** What the lane then holds; null where nothing is applied. */
  readonly next: Partial<HeldValues> | null
  readonly origin: ChangeOrigin
  readonly signedAt: Date
  readonly tokenId: number
  readonly carried: unknown
  readonly applied: readonly string[]
  readonly updated: boolean
}

/** As find_booking answers: that the request was answered before, or its lane, the version of the row and the database's time. */
type Found =
  | { readonly answer: { readonly lane_id: number; readonly updated: boolean } }
  | { readonly seen: string; readonly now: number; readonly lane: JsonRow<BookedLaneRow> }

/**
 * Somebody else's change between the two messages is no reason to give up: one of those who change a lane at once always
 * gets on. A brokerage has ten requests a second, so more in a row than this are not other updates.
 */
const triesMax = 50

/**
 * Books a signed update in two messages: one that reads, one that writes all and commits. `decide` says what it does to its
 * lane at the time of the database's clock, in epoch milliseconds. The lane is not held in between: when somebody else has changed it meanwhile, nothing is written, and it is decided
 * anew on what it then holds. Equal requests take turns, and all but the first get the answer of the first. Null when the
 * tenant has no such lane.
 *
 * @throws LockTimeout when the lane, or the same request, is held by somebody else for too long
 */
export async function bookShipment(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  request: { readonly digest: Buffer; readonly laneRef: string },
  decide: (lane: BookedLaneRow, now: number) => ShipmentBooking,
): Promise<RecordedAnswer | null> {
  const named = [request.digest, request.laneRef]
  let found = await database.callInTenant<Found | null>(tenant, 'find_booking', named)
  for (let tries = 0; tries < triesMax; tries++) {
    if (found === null) return null
    if ('answer' in found) {
      return { laneId: found.answer.lane_id, updated: found.answer.updated, replayed: true }
    }
    const lane = laneOfJson<BookedLaneRow>(found.lane)
    const booking = decide(lane, found.now)
    const written: Found | { readonly booked: true } | null = await database.callInTenant(
      tenant,
      'book_shipment',
      [...named, JSON.stringify(bookingOf(found, lane, booking))],
    )
    if (written !== null && 'booked' in written) {
      return { laneId: lane.lane_id, updated: booking.updated, replayed: false }
    }
    found = written
  }
  throw new LockTimeout('The lane was changed again and again.')
}

/** What book_shipment takes beside the names of the request. */
function bookingOf(
  { seen, now }: { readonly seen: string; readonly now: number },
  lane: BookedLaneRow,
  booking: ShipmentBooking,
) {
  const { next, origin } = booking
  const receivedAt = new Date(now)
  const written = next === null ? null : laneChange(lane, next, origin, receivedAt)
  return {
    lane_id: lane.lane_id,
    seen,
    // What is not there is null to the database; a null of JSON would not be.
    ...(written === null ? {} : { held: written.held }),
    ...(written === null || written.change === null ? {} : { change: written.change }),
    signed_at: booking.signedAt,
    received_at: receivedAt,
    token_id: booking.tokenId,
    carried: booking.carried,
    applied: booking.applied,
    updated: booking.updated,
  }
}
