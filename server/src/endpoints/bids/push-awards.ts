import type { Static } from 'typebox'
import { pushBidAwards, pushedAward, type RefusedAward } from '#contract/bid-awards.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import { shape } from '#contract/shape.ts'
import { centsFromDollars } from '#engine/money.ts'
import { awardOf, laneNamed, readSentPlace } from '../../bids/index.ts'
import { type bidAwards, bids } from '../../database/queries/index.ts'
import type { BidLaneRow } from '../../database/schema/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { itemErrors } from '../integration/item-errors.ts'
import type { Parts } from '../parts.ts'
import { bidOf } from './find-bid.ts'
import { isNewAward, saveAwards } from './save-awards.ts'

type Item = Static<typeof pushedAward>
type Result = AnswerOf<typeof pushBidAwards>['results'][number]

const itemShape = shape(pushedAward, 'body')

function refused(index: number, sent: unknown, errors: readonly FieldError[]): Static<typeof RefusedAward> {
  const { lane_id: laneId } = (typeof sent === 'object' && sent !== null ? sent : {}) as Partial<Item>
  const isValid = laneId !== undefined && itemShape.errors({ lane_id: laneId, state: 'open' }).length === 0
  return { index, ...(isValid ? { lane_id: laneId } : {}), ...itemErrors(errors) }
}

const invalidItem = (pointer: string, detail: string): FieldError => ({ pointer, code: 'invalid', detail })

/** The lane that an item names, or why it names none. */
function laneOf(item: Item, find: ReturnType<typeof laneNamed>): BidLaneRow | FieldError {
  const { lane_id: laneId = null, origin, destination, equipment } = item
  if (laneId === null && (origin === undefined || destination === undefined)) {
    return invalidItem('/lane_id', 'lane_id is missing: send it, or origin and destination.')
  }
  const places = { origin: null as string | null, destination: null as string | null }
  if (laneId === null) {
    for (const end of ['origin', 'destination'] as const) {
      places[end] = readSentPlace(item[end] ?? '')
      if (places[end] === null)
        return invalidItem(`/${end}`, `${end} must be a known place, such as Dallas, TX.`)
    }
  }
  const row = find({ laneId, ...places, equipmentCode: equipment?.trim().toUpperCase() })
  return typeof row === 'string' ? invalidItem(laneId === null ? '/origin' : '/lane_id', row) : row
}

/** Text that orders two awards with equal times of signature, so that their order of arrival does not matter. */
const textOf = (award: string | null, cents: number | null, loads: number | null) =>
  JSON.stringify([award ?? 'open', cents, loads])

/** Whether an award that was signed at a time comes too late to change what is stored. */
function isKept(row: BidLaneRow, award: bidAwards.LaneAward, signedAt: Date): boolean {
  const stored = row.award_signed_at?.getTime() ?? Number.NEGATIVE_INFINITY
  if (stored !== signedAt.getTime()) return stored > signedAt.getTime()
  return textOf(row.award, row.award_cents, row.award_loads) > textOf(award.award, award.cents, award.loads)
}

async function push(
  { caller: { tenant }, body, signed, now }: Call<typeof pushBidAwards>,
  { database }: Parts,
): Promise<AnswerOf<typeof pushBidAwards>> {
  const signedAt = new Date(signed.timestampSeconds * 1_000)
  const results: Result[] = []
  await database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, body.bid_id, { lock: true })
    const rows = await bids.lanesOfBid(transaction, tenant, body.bid_id)
    const find = laneNamed(rows)
    const first = new Map<number, number>()
    const awards: bidAwards.LaneAward[] = []
    for (const [index, sent] of (body.awards as readonly unknown[]).entries()) {
      const errors = itemShape.errors(sent)
      if (errors.length > 0) {
        results.push(refused(index, sent, errors))
        continue
      }
      const item = sent as Item
      const row = laneOf(item, find)
      if ('code' in row) {
        results.push(refused(index, sent, [row]))
        continue
      }
      const lane = row.lane_number
      const before = first.get(lane)
      if (before !== undefined) {
        results.push(
          refused(index, sent, [
            invalidItem('/lane_id', `Item ${before} of this call is about the same lane.`),
          ]),
        )
        continue
      }
      first.set(lane, index)
      const award: bidAwards.LaneAward =
        item.state === 'open'
          ? { lane, award: null, cents: null, loads: null }
          : awardOf(row, {
              state: item.state,
              cents: item.rate === undefined ? null : centsFromDollars(item.rate),
              loads: item.loads ?? null,
            })
      const result = !isNewAward(row, award) ? 'unchanged' : isKept(row, award, signedAt) ? 'kept' : 'updated'
      if (result !== 'kept') awards.push(award)
      results.push({ index, status: 200, result, lane })
    }
    const how = ' by another system'
    await saveAwards(transaction, tenant, body.bid_id, rows, {
      awards,
      how,
      userId: null,
      signedAt,
      now: new Date(now),
    })
  })
  const counted = (...of: readonly string[]) =>
    results.filter((one) => one.status === 200 && of.includes(one.result)).length
  return {
    updated: counted('updated'),
    unchanged: counted('unchanged', 'kept'),
    failed: results.filter(({ status }) => status !== 200).length,
    results,
  }
}

export const pushAwardEndpoints: ServedEndpoint[] = [serve(pushBidAwards, push)]
