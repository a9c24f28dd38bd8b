import { type RawBuilder, sql } from 'kysely'
import type { PerformanceSums } from '#engine/performance.ts'
import type { LaneRow, TenantTransaction } from '../schema/index.ts'
import type { TenantId } from '../session/index.ts'
import {
  landedMarginCents,
  marginComparable,
  marginLanded,
  quotedCostCents,
  quotedMarginCents,
} from './landed-margin.ts'
import { type LaneFilter, matching } from './lane-lists.ts'

/** The columns that rows are grouped by, up to three. A rep is the user who quoted, not the user who imported a lane. */
const groupings = {
  lane: [sql`origin_key`, sql`destination_key`, sql`equipment_code`],
  customer: [sql`lower(coalesce(customer_name, quoted_customer_name))`],
  rep: [sql`case when import_id is null then created_by end`],
  equipment: [sql`equipment_code`],
  month: [sql`date_trunc('month', created_at at time zone 'UTC')`],
} as const satisfies Record<string, readonly RawBuilder<unknown>[]>

export type PerformanceGrouping = keyof typeof groupings

/** The sort values of rows, as numbers that a cursor can contain. Rows with null are last. */
const ranks = {
  quotes: sql`quotes::float8`,
  win_rate: sql`won::float8 / nullif(won + lost, 0)`,
  margin: sql`case when shipments > 0 then ("customerRateCents" - "truckCostCents")::float8 end`,
  margin_pct: sql`("customerRateCents" - "truckCostCents")::float8 / nullif("customerRateCents", 0)`,
  landed_vs_quoted: sql`case when "comparableShipments" > 0 then ("comparableMarginCents" - "quotedMarginCents")::float8 end`,
  month: sql`extract(epoch from part_1::timestamp)::float8`,
} as const satisfies Record<string, RawBuilder<unknown>>

export type PerformanceRank = keyof typeof ranks

/** The end of a page: the sort value of its last row (null if it has none), its number of quotes, and its key. */
export interface PerformanceCursor {
  readonly rank: number | null
  readonly quotes: number
  readonly key: string
}

export interface PerformanceRow extends PerformanceSums {
  readonly key: string
  /** The values of the group: places and equipment for a lane, else the key. */
  readonly parts: readonly string[]
  /** For a customer: the name as written. */
  readonly written: string
  readonly rank: number | null
}

export interface PerformancePage {
  readonly rows: readonly PerformanceRow[]
  readonly rowsTotal: number
  readonly totals: PerformanceSums
}

export interface PerformanceOrder {
  readonly rank: PerformanceRank
  readonly direction: 'asc' | 'desc'
  readonly cursor: PerformanceCursor | null
  readonly limit: number
}

const sumNames = [
  'quotes',
  'won',
  'lost',
  'shipments',
  'customerRateCents',
  'truckCostCents',
  'comparableShipments',
  'comparableMarginCents',
  'quotedMarginCents',
] as const satisfies (keyof PerformanceSums)[]

const sums = sql`
  count(*) as quotes,
  count(*) filter (where outcome = 'won') as won,
  count(*) filter (where outcome = 'lost') as lost,
  count(*) filter (where ${marginLanded}) as shipments,
  coalesce(sum(customer_rate_cents) filter (where ${marginLanded}), 0)::bigint as "customerRateCents",
  coalesce(sum(truck_cost_cents) filter (where ${marginLanded}), 0)::bigint as "truckCostCents",
  count(*) filter (where ${marginComparable}) as "comparableShipments",
  coalesce(sum(${landedMarginCents}) filter (where ${marginComparable}), 0)::bigint as "comparableMarginCents",
  coalesce(sum(${quotedMarginCents}) filter (where ${marginComparable}), 0)::bigint as "quotedMarginCents"`

function after(cursor: PerformanceCursor | null, direction: 'asc' | 'desc'): RawBuilder<boolean> {
  if (cursor === null) return sql<boolean>`true`
  const { rank, quotes, key } = cursor
  const next = sql<boolean>`(quotes < ${quotes}::bigint or (quotes = ${quotes}::bigint and key > ${key} collate "C"))`
  if (rank === null) return sql<boolean>`(rank is null and ${next})`
  const beyond = direction === 'desc' ? sql`<` : sql`>`
  return sql<boolean>`(rank is null or rank ${beyond} ${rank}::float8 or (rank = ${rank}::float8 and ${next}))`
}

/**
 * The sums per lane, customer, rep, equipment type, or month of a selection, one page at a time, and the sums of all rows.
 * Rows with equal sort values are ordered by number of quotes, most first, then by key.
 */
export async function performanceBy(
  transaction: TenantTransaction,
  tenant: TenantId,
  grouping: PerformanceGrouping,
  filter: LaneFilter,
  order: PerformanceOrder,
): Promise<PerformancePage> {
  const [first, second, third]: readonly RawBuilder<unknown>[] = groupings[grouping]
  const part = (column: RawBuilder<unknown> | undefined) =>
    column === undefined ? sql`''` : sql`coalesce((${column})::text, '')`
  const written = grouping === 'customer' ? sql`min(coalesce(customer_name, quoted_customer_name))` : sql`''`
  const selection = transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(matching(filter))
  const totals = sql.join(
    sumNames.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`),
  )
  const direction = order.direction === 'desc' ? sql`desc` : sql`asc`
  type Row = PerformanceSums & {
    part_1: string
    part_2: string
    part_3: string
    written: string
    key: string
  }
  const { rows } = await sql<{
    rowsTotal: number
    totals: PerformanceSums
    rows: (Row & { rank: number | null })[]
  }>`
    with groups as materialized (
      select ${part(first)} as part_1, ${part(second)} as part_2, ${part(third)} as part_3,
        ${written} as written, ${sums}
      from (${selection}) as lanes
      group by ${sql.join(groupings[grouping])}
    ),
    ranked as (
      select *, concat_ws('>', part_1, nullif(part_2, ''), nullif(part_3, '')) collate "C" as key,
        ${ranks[order.rank]} as rank
      from groups
    ),
    page as (
      select * from ranked where ${after(order.cursor, order.direction)}
      order by rank ${direction} nulls last, quotes desc, key
      limit ${order.limit}
    )
    select
      (select count(*) from groups) as "rowsTotal",
      (select row_to_json(total) from (select ${totals} from groups) as total) as totals,
      (select coalesce(json_agg(page order by rank ${direction} nulls last, quotes desc, key), '[]') from page) as rows
  `.execute(transaction)
  const [found] = rows
  if (found === undefined) throw new Error('A select without from returned no row.')
  return {
    rowsTotal: found.rowsTotal,
    totals: found.totals,
    rows: found.rows.map(({ part_1, part_2, part_3, ...row }) => ({
      ...row,
      parts: [part_1, part_2, part_3],
    })),
  }
}

/** A city pair and an equipment type, by their keys. */
export interface LaneKeys {
  readonly originKey: string
  readonly destinationKey: string
  readonly equipmentCode: string
}

/** The places of lanes in their latest spelling, in the given order. */
export async function placesOfLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly LaneKeys[],
): Promise<{ origin: string; destination: string }[]> {
  const { rows } = await sql<{ origin: string; destination: string }>`
    select written.origin, written.destination
    from unnest(
      ${lanes.map((lane) => lane.originKey)}::text[],
      ${lanes.map((lane) => lane.destinationKey)}::text[],
      ${lanes.map((lane) => lane.equipmentCode)}::text[]
    ) with ordinality as asked (origin_key, destination_key, equipment_code, place)
    cross join lateral (
      select lanes.origin, lanes.destination
      from lanes
      where lanes.tenant_id = ${tenant} and lanes.origin_key = asked.origin_key
        and lanes.destination_key = asked.destination_key and lanes.equipment_code = asked.equipment_code
      order by lanes.created_at desc, lanes.lane_id desc
      limit 1
    ) as written
    order by asked.place
  `.execute(transaction)
  return rows
}

/** A shipment whose landed margin is below the quoted one, with the cost that the quote was based on. */
export type GapRow = LaneRow & { readonly quoted_cost_cents: number; readonly shortfall_cents: number }

export interface GapCursor {
  readonly shortfallCents: number
  readonly laneId: number
}

const shortfallCents = sql<number>`(${quotedMarginCents} - ${landedMarginCents})`

/** Shipments whose landed margin is below the quoted one, greatest shortfall first, after `cursor`. */
export async function listMarginGaps(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
  page: { cursor: GapCursor | null; limit: number },
): Promise<GapRow[]> {
  let query = transaction
    .selectFrom('lanes')
    .selectAll()
    .select(sql<number>`${quotedCostCents}`.as('quoted_cost_cents'))
    .select(shortfallCents.as('shortfall_cents'))
    .where('tenant_id', '=', tenant)
    .where(matching({ ...filter, booked: true }))
    .where(marginComparable)
    .where(shortfallCents, '>', 0)
  const { cursor } = page
  if (cursor !== null) {
    query = query.where(
      sql<boolean>`(${shortfallCents}, lane_id) < (${cursor.shortfallCents}::bigint, ${cursor.laneId}::bigint)`,
    )
  }
  return query.orderBy(shortfallCents, 'desc').orderBy('lane_id', 'desc').limit(page.limit).execute()
}

export interface GapTotals {
  readonly compared: number
  readonly below: number
  readonly shortfallCents: number
}

/** The number of shipments with both margins, the number below their quoted margin, and the total shortfall. */
export async function marginGapTotals(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<GapTotals> {
  return transaction
    .selectFrom('lanes')
    .select([
      sql<number>`count(*)`.as('compared'),
      sql<number>`count(*) filter (where ${shortfallCents} > 0)`.as('below'),
      sql<number>`coalesce(sum(${shortfallCents}) filter (where ${shortfallCents} > 0), 0)::bigint`.as(
        'shortfallCents',
      ),
    ])
    .where('tenant_id', '=', tenant)
    .where(matching({ ...filter, booked: true }))
    .where(marginComparable)
    .executeTakeFirstOrThrow()
}
