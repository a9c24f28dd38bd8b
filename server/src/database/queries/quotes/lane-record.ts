import { sql } from 'kysely'
import { type Outcome, rateThatCounts } from '#engine/history.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { laneSeenByViewer } from '../customers/teams.ts'
import { isOfRateType } from '../pricing/rule-conditions.ts'
import { landedMarginCents, marginLanded } from './landed-margin.ts'

/** The quotes of a city pair, by the keys of its places: all, or those of a rate type. */
export interface Corridor {
  readonly originKey: string
  readonly destinationKey: string
  readonly rateType?: RateType
}

/** Totals of the quotes on a city pair in one month with one type of equipment: counts, and sums in cents. */
export interface EquipmentMonth {
  readonly equipmentCode: string
  /** `2026-03`, in UTC. */
  readonly month: string
  readonly quotes: number
  readonly won: number
  readonly lost: number
  readonly pending: number
  readonly rateCents: number
  /** Quotes with a rate above zero, which averages are computed from. */
  readonly rates: number
  readonly marginCents: number
  /** Quotes whose AR and AP are both known, and the sum of their AR. */
  readonly margins: number
  readonly marginBaseCents: number
}

/** The months of a city pair, in a time zone, for each type of equipment, oldest first. */
export async function monthsOfCorridor(
  transaction: TenantTransaction,
  tenant: TenantId,
  { originKey, destinationKey, rateType }: Corridor,
  timeZone: string,
): Promise<EquipmentMonth[]> {
  // The effective rate (see engine/src/history.ts) in SQL, so that the database can sum the quotes of a month.
  const rate = sql`coalesce(customer_rate_cents, quoted_rate_cents)`
  const { rows } = await sql<EquipmentMonth>`
    select
      equipment_code as "equipmentCode",
      to_char(created_at at time zone ${timeZone}, 'YYYY-MM') as month,
      count(*) as quotes,
      count(*) filter (where outcome = 'won') as won,
      count(*) filter (where outcome = 'lost') as lost,
      count(*) filter (where outcome = 'pending') as pending,
      sum(${rate})::bigint as "rateCents",
      count(*) filter (where ${rate} > 0) as rates,
      coalesce(sum(${landedMarginCents}) filter (where ${marginLanded}), 0)::bigint as "marginCents",
      count(*) filter (where ${marginLanded}) as margins,
      coalesce(sum(customer_rate_cents) filter (where ${marginLanded}), 0)::bigint as "marginBaseCents"
    from counted_lanes as lanes
    where tenant_id = ${tenant} and origin_key = ${originKey} and destination_key = ${destinationKey}
      and superseded_by is null
      and ${rateType === undefined ? sql`true` : isOfRateType(tenant, rateType)} and ${laneSeenByViewer(tenant)}
    group by 1, 2
    order by 2, 1
  `.execute(transaction)
  return rows
}

/** A quote of a lane, as a dot on a chart. Amounts are in cents. */
export interface LanePoint {
  readonly laneRef: string
  readonly rateCents: number
  /** Whether the rate is the booked AR. */
  readonly booked: boolean
  readonly outcome: Outcome
  readonly quotedAt: Date
  readonly customerName: string
  /** AR minus AP, if both are booked. */
  readonly marginCents: number | null
}

/** The newest quotes of a city pair (of one type of equipment, when given), newest first, at most `max`. */
export async function pointsOfCorridor(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    originKey,
    destinationKey,
    rateType,
    equipmentCode,
  }: Corridor & { readonly equipmentCode: string | null },
  max: number,
): Promise<LanePoint[]> {
  let query = transaction
    .selectFrom('counted_lanes as lanes')
    .select((lane) => [
      'lane_ref',
      'quoted_rate_cents',
      'customer_rate_cents',
      'outcome',
      'created_at',
      landedMarginCents.as('margin_cents'),
      lane.fn.coalesce('customer_name', 'quoted_customer_name').as('customer'),
    ])
    .where('tenant_id', '=', tenant)
    .where('superseded_by', 'is', null)
    .where(laneSeenByViewer(tenant))
    .where('origin_key', '=', originKey)
    .where('destination_key', '=', destinationKey)
  if (equipmentCode !== null) query = query.where('equipment_code', '=', equipmentCode)
  if (rateType !== undefined) query = query.where(isOfRateType(tenant, rateType))
  const rows = await query.orderBy('created_at', 'desc').orderBy('lane_id', 'desc').limit(max).execute()
  return rows.map((row) => ({
    laneRef: row.lane_ref,
    rateCents: rateThatCounts({
      quotedRateCents: row.quoted_rate_cents,
      customerRateCents: row.customer_rate_cents,
    }),
    booked: row.customer_rate_cents !== null,
    outcome: row.outcome,
    quotedAt: row.created_at,
    customerName: row.customer,
    marginCents: row.margin_cents,
  }))
}
