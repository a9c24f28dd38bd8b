import { expressionBuilder, sql } from 'kysely'
import { MISSED_KINDS, type MissedKind } from '#engine/backtest/missed-margin.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { landedMarginCents, marginLanded } from '../quotes/landed-margin.ts'
import { type LaneFilter, matching } from '../quotes/lane-lists.ts'
import { expiredIsLost } from './compared-basis.ts'
import { joinMerged } from './performance.ts'

const { float8s, int4s, int8s } = binaryArrays

/** In SQL, a kind is its position in `MISSED_KINDS`. */
const positionOf = (kind: MissedKind) => sql`${MISSED_KINDS.indexOf(kind)}::integer`

/** Judged quotes in columns. */
export interface JudgedQuotes {
  readonly laneId: Float64Array
  /** The position in `MISSED_KINDS`. */
  readonly kind: Uint8Array
  readonly amountCents: Float64Array
  readonly winSdCents: Float32Array
  readonly costSdCents: Float32Array
}

/**
 * Sums of judged quotes, in cents. `sdSum` is the sum of the standard deviations of the lanes, and `sdSquares` the sum of their
 * squares: `missedRange` of the engine computes the range from both.
 */
export interface MissedSums {
  readonly quotes: number
  readonly amountCents: number
  readonly sdSum: number
  readonly sdSquares: number
  /** The quotes whose AR and AP are booked by now, and the margin of these bookings. */
  readonly booked: number
  readonly bookedMarginCents: number
}

export interface MissedRow extends MissedSums {
  readonly key: string
  readonly parts: readonly string[]
  readonly written: string
}

export interface MissedCursor {
  readonly amountCents: number
  readonly key: string
}

const laneKeys = sql`origin_key, destination_key, equipment_code`

/** Whether the view has to convert the margin of a booking: an amount says its basis or its currency. */
const hasTerms = sql`(${marginLanded}
  and coalesce(lanes.customer_basis, lanes.truck_basis, lanes.customer_currency, lanes.truck_currency) is not null)`

/**
 * The table `judged`: the quotes that still have the outcome that they were judged for, with the customer that each counts for now,
 * and the margin of the booking in US dollars on the default basis, as other statistics convert it. A quote that was voided, or that
 * the current person may not see, is not in it. The view is read once for all of them: read for each quote, it reads all days of
 * fuel and exchange again each time.
 */
function judgedLanes(tenant: TenantId, judged: JudgedQuotes, filter: LaneFilter) {
  return sql`still_judged as materialized (
    select lanes.lane_id, found.place, found.kind, found.amount, found.win_sd, found.cost_sd,
      lanes.origin_key, lanes.destination_key, lanes.equipment_code, coalesce(merged.main_key, lanes.customer_key) as customer,
      btrim(coalesce(lanes.customer_name, lanes.quoted_customer_name)) as written,
      ${landedMarginCents} as margin, ${hasTerms} as has_terms
    from unnest(${int8s(judged.laneId)}::bigint[], ${int4s(judged.kind)}::integer[],
      ${int8s(judged.amountCents)}::bigint[], ${float8s(judged.winSdCents)}::float8[],
      ${float8s(judged.costSdCents)}::float8[]) with ordinality as found (lane_id, kind, amount, win_sd, cost_sd, place)
    join lanes on lanes.tenant_id = ${tenant} and lanes.lane_id = found.lane_id
    ${joinMerged(tenant)}
    where ${matching(filter, tenant)(expressionBuilder<Tables, 'lanes'>())}
      and (lanes.outcome = 'won' or (found.kind = ${positionOf('not_worth')} and (lanes.outcome = 'pending'
        or (lanes.outcome = 'expired' and not ${expiredIsLost(tenant)}))))
  ), converted as materialized (
    select lane_id, customer_rate_cents - truck_cost_cents as margin from counted_lanes
    where tenant_id = ${tenant} and lane_id = any (array(select lane_id from still_judged where has_terms))
  ), judged as materialized (
    select still_judged.*, case when has_terms then converted.margin else still_judged.margin end as booked
    from still_judged left join converted using (lane_id)
  )`
}

const sumsOfLane = sql`count(*) as quotes, sum(amount) as amount,
  sum(win_sd) ^ 2 + sum(cost_sd ^ 2) as variance, count(booked) as booked, sum(booked) as booked_margin`
const sumsOfLanes = sql`coalesce(sum(quotes), 0)::bigint as quotes, coalesce(sum(amount), 0)::bigint as "amountCents",
  coalesce(sum(sqrt(variance)), 0) as "sdSum", coalesce(sum(variance), 0) as "sdSquares",
  coalesce(sum(booked), 0)::bigint as booked, coalesce(sum(booked_margin), 0)::bigint as "bookedMarginCents"`

/**
 * The sums of each kind in the order of `MISSED_KINDS`, and the rows of one kind by lane or customer, the largest amount first,
 * after `cursor`.
 */
export async function missedBy(
  transaction: TenantTransaction,
  tenant: TenantId,
  judged: JudgedQuotes,
  asked: {
    readonly by: 'lane' | 'customer'
    readonly kind: MissedKind
    readonly filter: LaneFilter
    readonly cursor: MissedCursor | null
    readonly limit: number
  },
): Promise<{ totals: readonly MissedSums[]; rowsTotal: number; rows: readonly MissedRow[] }> {
  const { by, kind, filter, cursor, limit } = asked
  const group = by === 'lane' ? laneKeys : sql`customer`
  // Errors add up within a lane, so a group is summed by lane first.
  const laneInGroup = by === 'lane' ? laneKeys : sql`${laneKeys}, customer`
  const parts = by === 'lane' ? sql`array[${laneKeys}]` : sql`array[customer]`
  const name = by === 'lane' ? sql`''` : sql`mode() within group (order by written)`
  const after =
    cursor === null
      ? sql``
      : sql`where "amountCents" < ${cursor.amountCents}::bigint
          or ("amountCents" = ${cursor.amountCents}::bigint and key > ${cursor.key} collate "C")`
  const { rows } = await sql<{
    totals: readonly MissedSums[]
    rowsTotal: number
    rows: readonly MissedRow[]
  }>`
    with ${judgedLanes(tenant, judged, filter)},
    groups as (
      select ${parts} as parts, array_to_string(${parts}, '>') collate "C" as key, min(written) as written, ${sumsOfLanes}
      from (
        select ${laneInGroup}, ${name} as written, ${sumsOfLane} from judged where kind = ${positionOf(kind)}
        group by ${laneInGroup}
      ) as of_lane
      group by ${group}
    ),
    page as (select * from groups ${after} order by "amountCents" desc, key limit ${limit})
    select
      (select json_agg(total order by total.kind) from (
        select kinds.kind, ${sumsOfLanes} from generate_series(0, ${MISSED_KINDS.length - 1}::integer) as kinds (kind)
        left join (select kind, ${sumsOfLane} from judged group by kind, ${laneKeys}) as of_lane on of_lane.kind = kinds.kind
        group by kinds.kind
      ) as total) as totals,
      (select count(*) from groups) as "rowsTotal",
      (select coalesce(json_agg(page order by "amountCents" desc, key), '[]') from page) as rows
  `.execute(transaction)
  const [found] = rows
  if (found === undefined) throw new Error('A select without from returned no row.')
  return found
}

export interface ListedMissed {
  readonly laneId: number
  readonly amountCents: number
}

/** A listed quote, and its position in the columns of the judged quotes, from zero. */
export interface PlacedMissed extends ListedMissed {
  readonly at: number
  /** The margin of its booking, if there is one. */
  readonly bookedCents: number | null
}

/** The judged quotes of one kind, the largest amount first, after `cursor`, and with `withTotals` the sums of all of them. */
export async function listMissed(
  transaction: TenantTransaction,
  tenant: TenantId,
  judged: JudgedQuotes,
  asked: {
    readonly kind: MissedKind
    readonly filter: LaneFilter
    readonly cursor: ListedMissed | null
    readonly limit: number
    readonly withTotals: boolean
  },
): Promise<{ totals: MissedSums | null; quotes: readonly PlacedMissed[] }> {
  const { kind, filter, cursor, limit, withTotals } = asked
  const after =
    cursor === null
      ? sql``
      : sql`and (amount < ${cursor.amountCents}::bigint
          or (amount = ${cursor.amountCents}::bigint and lane_id < ${cursor.laneId}::bigint))`
  const totals = sql`(select row_to_json(total) from (
        select ${sumsOfLanes} from (
          select ${sumsOfLane} from judged where kind = ${positionOf(kind)} group by ${laneKeys}
        ) as of_lane
      ) as total)`
  const { rows } = await sql<{ totals: MissedSums | null; quotes: readonly PlacedMissed[] }>`
    with ${judgedLanes(tenant, judged, filter)}
    select ${withTotals ? totals : sql`null`} as totals,
      (select coalesce(json_agg(page order by page."amountCents" desc, page."laneId" desc), '[]') from (
        select lane_id as "laneId", amount as "amountCents", place - 1 as at, booked as "bookedCents" from judged
        where kind = ${positionOf(kind)} ${after}
        order by amount desc, lane_id desc limit ${limit}
      ) as page) as quotes
  `.execute(transaction)
  const [found] = rows
  if (found === undefined) throw new Error('A select without from returned no row.')
  return found
}
