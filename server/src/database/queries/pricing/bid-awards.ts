import { sql } from 'kysely'
import type { RateType } from '#engine/rate-type.ts'
import type { BidLaneRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { laneSeenByViewer, seenByViewer } from '../customers/teams.ts'
import { isDirectLoad } from '../quotes/direct-loads.ts'
import { rateTypeOf } from './rule-conditions.ts'

/** What became of a lane. */
export interface LaneAward {
  readonly lane: number
  readonly award: BidLaneRow['award']
  readonly cents: number | null
  readonly loads: number | null
}

/**
 * Says what became of lanes. The caller has locked the bid and compared the versions, or the times of the signatures. A repetition keeps the
 * version, so that a person's open page is not refused.
 */
export async function setAwards(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  awards: readonly LaneAward[],
  signedAt: Date,
): Promise<void> {
  await sql`
    update bid_lanes as known
    set award = sent.award, award_cents = sent.cents, award_loads = sent.loads, award_signed_at = ${signedAt},
      version = known.version + case
        when (known.award, known.award_cents, known.award_loads) is distinct from (sent.award, sent.cents, sent.loads)
        then 1 else 0 end
    from tenants as one cross join unnest(
      ${awards.map(({ lane }) => lane)}::integer[], ${awards.map(({ award }) => award)}::text[],
      ${awards.map(({ cents }) => cents)}::integer[], ${awards.map(({ loads }) => loads)}::integer[]
    ) as sent (lane, award, cents, loads)
    where one.tenant_id = ${tenant} and known.tenant_id = one.tenant_id and known.bid_id = ${bidId}
      and known.lane_number = sent.lane
  `.execute(transaction)
}

/** An awarded lane of a bid whose contract has a first day. */
export interface AwardedLaneRow {
  readonly bidId: number
  /** The key of the customer that the bid's name counts for. */
  readonly customer: string
  readonly startsOn: string
  readonly months: number
  readonly lane: number
  readonly origin: string
  readonly destination: string
  readonly equipmentCode: string | null
  readonly loads: number | null
}

/** The awarded lanes of the newest bids that the person may see, and that have a first day of their contract. */
export async function awardedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  max: number,
): Promise<AwardedLaneRow[]> {
  const { rows } = await sql<AwardedLaneRow>`
    select bids.bid_id as "bidId", coalesce(known.main_key, customer_key(bids.customer_name)) as customer,
      bids.starts_on as "startsOn", bids.contract_months as months, lane.lane_number as lane, lane.origin,
      lane.destination, lane.equipment_code as "equipmentCode", lane.award_loads as loads
    from bids
    join bid_lanes as lane on lane.tenant_id = ${tenant} and lane.bid_id = bids.bid_id and lane.award = 'awarded'
    left join customer_aliases as known
      on known.tenant_id = ${tenant} and known.customer_key = customer_key(bids.customer_name)
    where bids.tenant_id = ${tenant} and bids.starts_on is not null
      and lane.origin is not null and lane.destination is not null
      and ${seenByViewer(tenant, sql`customer_key(bids.customer_name)`)}
    order by bids.bid_id desc, lane.lane_number
    limit ${max}
  `.execute(transaction)
  return rows
}

/** An awarded rate of a contract that is in force. */
export interface AwardedRateRow {
  readonly bidId: number
  readonly name: string
  readonly lane: number
  readonly equipmentCode: string | null
  readonly cents: number
  readonly startsOn: string
  readonly endsOn: string
}

/** The awarded rates of a customer between two places, of contracts in force on a day; the newest contract first. */
export async function awardedRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  asked: {
    readonly customer: string
    readonly origin: string
    readonly destination: string
    /** Null: any. */
    readonly equipmentCode: string | null
    /** Null: today in the time zone of the brokerage. */
    readonly day: string | null
    readonly now: Date
    readonly max: number
  },
): Promise<AwardedRateRow[]> {
  const { rows } = await sql<AwardedRateRow>`
    select bids.bid_id as "bidId", bids.name, lane.lane_number as lane, lane.equipment_code as "equipmentCode",
      lane.award_cents as cents, bids.starts_on as "startsOn",
      (bids.starts_on + make_interval(months => bids.contract_months) - interval '1 day')::date as "endsOn"
    from tenants as one
    join bid_lanes as lane on lane.tenant_id = ${tenant} and lane.award = 'awarded'
      and lane.origin = ${asked.origin} and lane.destination = ${asked.destination}
      and lane.award_cents is not null
    join bids on bids.tenant_id = ${tenant} and bids.bid_id = lane.bid_id
    left join customer_aliases as known
      on known.tenant_id = ${tenant} and known.customer_key = customer_key(bids.customer_name)
    where one.tenant_id = ${tenant}
      and coalesce(known.main_key, customer_key(bids.customer_name)) = ${asked.customer}
      and ${seenByViewer(tenant, sql`customer_key(bids.customer_name)`)}
      and (lane.equipment_code is null or ${asked.equipmentCode}::text is null or lane.equipment_code = ${asked.equipmentCode}::text)
      and coalesce(${asked.day}::date, (${asked.now}::timestamptz at time zone one.time_zone)::date)
        between bids.starts_on and (bids.starts_on + make_interval(months => bids.contract_months) - interval '1 day')::date
    order by bids.starts_on desc, bids.bid_id desc, lane.equipment_code nulls last, lane.lane_number
    limit ${asked.max}
  `.execute(transaction)
  return rows
}

/** Contract quotes of a day that customers asked for, and those of them that were booked. */
export interface ContractDay {
  readonly customer: string
  readonly originKey: string
  readonly destinationKey: string
  readonly equipmentCode: string
  readonly day: string
  readonly tendered: number
  readonly booked: number
}

/** The direct truckloads that customers asked for at contract rates since a day, by lane and day. A void quote and a superseded offer are none. */
export async function contractDays(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, max }: { readonly since: string; readonly max: number },
): Promise<ContractDay[]> {
  const { rows } = await sql<ContractDay>`
    select coalesce(known.main_key, lanes.customer_key) as customer, origin_key as "originKey",
      destination_key as "destinationKey", equipment_code as "equipmentCode",
      (lanes.created_at at time zone one.time_zone)::date as day,
      count(*)::integer as tendered, count(booked_at)::integer as booked
    from tenants as one
    join lanes on lanes.tenant_id = one.tenant_id
    left join customer_aliases as known
      on known.tenant_id = ${tenant} and known.customer_key = lanes.customer_key
    where one.tenant_id = ${tenant} and lanes.tenant_id = ${tenant}
      and lanes.created_at >= (${since}::date)::timestamp at time zone one.time_zone
      and voided_at is null and superseded_by is null and ${isDirectLoad}
      and ${rateTypeOf(tenant)} = ${'contract' satisfies RateType}
      and ${laneSeenByViewer(tenant)}
    group by 1, 2, 3, 4, 5
    limit ${max}
  `.execute(transaction)
  return rows
}

/** The key of the customer that a name counts for: its own, or that of the customer it was merged into. */
export async function customerKeyOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<string> {
  const { rows } = await sql<{ key: string }>`
    select coalesce(known.main_key, customer_key(${name})) as key
    from tenants as one
    left join customer_aliases as known on known.tenant_id = ${tenant} and known.customer_key = customer_key(${name})
    where one.tenant_id = ${tenant}
  `.execute(transaction)
  return rows[0]?.key ?? ''
}
