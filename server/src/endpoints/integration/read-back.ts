import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { changesPageDefault } from '#contract/limits.ts'
import { readQuotes, readShipments } from '#contract/read-back.ts'
import { bookingFields } from '#engine/booking-fields.ts'
import type { ServiceCaller } from '../../access/index.ts'
import {
  bookingOf,
  type ChangedLane,
  type ChangePlace,
  lanesBookedBefore,
  pushedLanes,
} from '../../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { laneAnswers } from '../../lanes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'

type Changed = AnswerOf<typeof readQuotes>['quotes'][number]

const start: ChangePlace = { version: -1, laneId: 0 }

function placeOf(cursor: string | undefined): ChangePlace {
  if (cursor === undefined) return start
  const [version, laneId, ...more] = cursorPosition(cursor) ?? []
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(laneId) || more.length > 0) {
    throw invalid([
      {
        parameter: 'cursor',
        code: 'invalid',
        detail: 'cursor must be the next_cursor of an earlier answer.',
      },
    ])
  }
  return { version: version as number, laneId: laneId as number }
}

/** A page of changed lanes. `listed` chooses the lanes to report; one without its row is reported as removed. */
async function changesPage(
  transaction: TenantTransaction,
  tenant: TenantId,
  query: QueryOf<typeof readQuotes>,
  listed: (
    transaction: TenantTransaction,
    changed: readonly ChangedLane[],
  ) => Promise<readonly ChangedLane[]>,
): Promise<{ changed: Changed[]; next_cursor: string; more: boolean }> {
  const limit = query.limit ?? changesPageDefault
  const after = placeOf(query.cursor)
  const since = query.cursor === undefined ? query.updated_since : undefined
  const rows = await pushedLanes.readLaneChanges(
    transaction,
    tenant,
    after,
    {
      updatedSince: since === undefined ? null : new Date(readTime(since) ?? Number.NaN),
      laneRef: query.lane_ref ?? null,
      externalId: query.external_id ?? null,
    },
    limit,
  )
  const shown = await listed(transaction, rows)
  const answers = await laneAnswers(
    transaction,
    tenant,
    shown.flatMap(({ lane }) => lane ?? []),
  )
  const answerOf = new Map(answers.map((lane) => [lane.lane_id, lane]))
  const last = rows.at(-1) ?? after
  return {
    changed: shown.map(({ version, laneId }): Changed => {
      const lane = answerOf.get(laneId)
      return lane === undefined
        ? { version, removed: true, lane_id: laneId }
        : { version, removed: false, lane }
    }),
    next_cursor: cursorText([last.version, last.laneId]),
    more: rows.length === limit,
  }
}

const hasBooking = (lane: LaneRow) => {
  const { customerName: _, ...booking } = bookingOf(lane)
  return bookingFields.some((field) => field !== 'customerName' && booking[field] !== null)
}

function read<E extends typeof readQuotes | typeof readShipments>(
  { caller, query }: { readonly caller: ServiceCaller; readonly query: QueryOf<E> },
  { database }: Parts,
  listed: Parameters<typeof changesPage>[3],
) {
  return database.inTenant(caller.tenant, (transaction) =>
    changesPage(transaction, caller.tenant, query, listed),
  )
}

export const readBackEndpoints: ServedEndpoint[] = [
  serve(readQuotes, async (call, parts) => {
    const { changed, ...page } = await read(call, parts, async (_, rows) => rows)
    return { quotes: changed, ...page }
  }),

  serve(readShipments, async (call, parts) => {
    const { tenant } = call.caller
    const { changed, ...page } = await read(call, parts, async (transaction, rows) => {
      // A lane that never had a booking was never in the list, so it is not reported as removed.
      const unbooked = rows.flatMap(({ lane }) => (lane === null || hasBooking(lane) ? [] : lane.lane_id))
      const bookedBefore = await lanesBookedBefore(transaction, tenant, unbooked)
      return rows
        .filter(({ lane }) => lane === null || hasBooking(lane) || bookedBefore.has(lane.lane_id))
        .map((row) => (row.lane === null || hasBooking(row.lane) ? row : { ...row, lane: null }))
    })
    return { shipments: changed, ...page }
  }),
]
