import { getBidRound } from '#contract/bid-rounds.ts'
import type * as bidContract from '#contract/bids.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { bidRoundListedMax } from '#contract/limits.ts'
import { isSameWork, joinedLanes, type RoundLane, roundDifference } from '#engine/bid/bid-rounds.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { ReadLane } from '../../bids/index.ts'
import { bidAwards, bids } from '../../database/queries/index.ts'
import type { BidLaneRow, BidRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { bidOf } from './find-bid.ts'

type ComparedLane = Pick<
  BidLaneRow,
  'lane_number' | 'lane_key' | 'origin' | 'destination' | 'equipment_code' | 'loads'
>

const roundLane = (row: ComparedLane): RoundLane => ({
  lane: row.lane_number,
  key: row.lane_key,
  origin: row.origin,
  destination: row.destination,
  equipment: row.equipment_code,
  loads: row.loads,
})

/**
 * The round that a new bid follows; null for a first round.
 *
 * @throws Problem invalid for a bid that the person cannot see, or of another customer
 */
export async function previousRound(
  { caller: { tenant }, query }: Call<typeof bidContract.createBid>,
  { database }: Parts,
): Promise<BidRow | null> {
  const { follows, customer } = query
  if (follows === undefined) return null
  return database.inTenant(tenant, async (transaction) => {
    const wrong = (detail: string) => invalid([{ parameter: 'follows', code: 'invalid', detail }])
    const row = await bids.findBid(transaction, tenant, follows)
    if (row === null) {
      throw wrong(`follows must be the number of a bid; there is no bid ${follows} in this brokerage.`)
    }
    const keyOf = (name: string) => bidAwards.customerKeyOf(transaction, tenant, name)
    if ((await keyOf(row.customer_name)) !== (await keyOf(customer))) {
      throw wrong(`follows must be a bid of ${customer}; bid ${follows} is of ${row.customer_name}.`)
    }
    return row
  })
}

/**
 * The lanes of a new bid with what they keep of the round before: the places that people chose for a text, and the rates of lanes that
 * are the same work.
 */
export async function continuedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  previous: BidRow | null,
  read: readonly ReadLane[],
): Promise<bids.NewBidLane[]> {
  const before = previous === null ? [] : await bids.lanesOfBid(transaction, tenant, previous.bid_id)
  const placeOf = new Map(
    before.flatMap((lane) => [
      [`origin ${lane.origin_sent}`, lane.origin] as const,
      [`destination ${lane.destination_sent}`, lane.destination] as const,
    ]),
  )
  const placed = read.map((lane) => ({
    ...lane,
    origin: lane.origin ?? placeOf.get(`origin ${lane.origin_sent}`) ?? null,
    destination: lane.destination ?? placeOf.get(`destination ${lane.destination_sent}`) ?? null,
  }))
  const joined = joinedLanes(placed.map(roundLane), before.map(roundLane))
  const rowOf = new Map(before.map((lane) => [lane.lane_number, lane]))
  return placed.map((lane) => {
    const old = rowOf.get(joined.get(lane.lane_number) ?? 0)
    const cents = old?.rate_cents ?? null
    const keepsRate = old !== undefined && isSameWork(roundLane(lane), roundLane(old))
    return {
      ...lane,
      previous_lane: old?.lane_number ?? null,
      previous_rate_cents: cents,
      rate_cents: keepsRate ? cents : null,
    }
  })
}

const placesOf = ({ origin, destination, origin_sent, destination_sent }: BidLaneRow) => ({
  origin: origin ?? origin_sent,
  destination: destination ?? destination_sent,
})

async function round(
  { caller: { tenant }, params }: Call<typeof getBidRound>,
  { database }: Parts,
): Promise<AnswerOf<typeof getBidRound>> {
  return database.inTenant(tenant, async (transaction) => {
    const row = await bidOf(transaction, tenant, params.bid_id)
    const previous =
      row.previous_bid_id === null ? null : await bids.findBid(transaction, tenant, row.previous_bid_id)
    if (previous === null) {
      throw problem('state-conflict', `Bid ${row.bid_id} is a first round: there is none before it.`)
    }
    const lanes = await bids.lanesOfBid(transaction, tenant, row.bid_id)
    const before = await bids.lanesOfBid(transaction, tenant, previous.bid_id)
    const joined = new Map(
      lanes.flatMap(({ lane_number: lane, previous_lane: old }) =>
        old === null ? [] : [[lane, old] as const],
      ),
    )
    const { added, removed, changed } = roundDifference(lanes.map(roundLane), before.map(roundLane), joined)
    const [isAdded, isRemoved] = [new Set(added), new Set(removed)]
    return {
      previous: { bid_id: previous.bid_id, name: previous.name, stage: previous.stage },
      counts: {
        joined: joined.size,
        added: added.length,
        removed: removed.length,
        changed: new Set(changed.map(({ lane }) => lane)).size,
      },
      added: lanes
        .filter(({ lane_number: lane }) => isAdded.has(lane))
        .slice(0, bidRoundListedMax)
        .map((lane) => ({ lane: lane.lane_number, ...placesOf(lane) })),
      removed: before
        .filter(({ lane_number: lane }) => isRemoved.has(lane))
        .slice(0, bidRoundListedMax)
        .map((lane) => ({
          lane: lane.lane_number,
          ...placesOf(lane),
          rate: dollarsIfKnown(lane.rate_cents),
        })),
      changed: changed.slice(0, bidRoundListedMax).map((change) => ({ ...change })),
      feedback: feedbackOf(lanes),
    }
  })
}

function feedbackOf(lanes: readonly BidLaneRow[]): AnswerOf<typeof getBidRound>['feedback'] {
  const ranked = lanes.filter(({ rank }) => rank !== null)
  const above = lanes.flatMap(({ rate_cents: rate, target_cents: target, loads }) =>
    rate === null || target === null || rate <= target ? [] : [{ cents: rate - target, loads: loads ?? 0 }],
  )
  return {
    ranked: ranked.length,
    first: ranked.filter(({ rank }) => rank === 1).length,
    targeted: lanes.filter(({ target_cents: target }) => target !== null).length,
    above_target: above.length,
    to_target: dollarsFromCents(above.reduce((sum, { cents, loads }) => sum + cents * loads, 0)),
  }
}

export const bidRoundEndpoints: ServedEndpoint[] = [serve(getBidRound, round)]
