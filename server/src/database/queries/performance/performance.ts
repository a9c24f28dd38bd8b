import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import type { PerformanceSums } from '#engine/performance.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import type { LaneRow, Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import {
  landedMarginCents,
  lostToCostCents,
  lostToRateCents,
  marginComparable,
  marginLanded,
  quotedCostCents,
  quotedMarginCents,
  tooLowCents,
} from '../quotes/landed-margin.ts'
import { type LaneFilter, matching } from '../quotes/lane-lists.ts'
import { isMixed, unordered } from './compared-basis.ts'

/** The columns that rows are grouped by, up to three. A rep is the user who quoted, not the user who imported a lane. */
const groupings = {
  lane: () => [sql`origin_key`, sql`destination_key`, sql`equipment_code`],
  customer: () => [sql`coalesce(merged.main_key, lanes.customer_key)`],
  rep: () => [sql`case when import_id is null then created_by end`],
  carrier: () => [sql`lower(carrier_name)`],
  equipment: () => [sql`equipment_code`],
  month: (zone) => [sql`date_trunc('month', created_at at time zone ${zone})`],
} as const satisfies Record<string, (zone: string) => readonly RawBuilder<unknown>[]>

export type PerformanceGrouping = keyof typeof groupings

/** The settings of the brokerage that figures depend on. */
export interface PerformanceSettings {
  /** The rules that are on. */
  readonly rules: readonly PricingRule[]
  /** The IANA time zone in which months begin. */
  readonly timeZone: string
  readonly expiredCountsAsLost: boolean
}

/** The name of each lane as written, where keys are folded. A group is named by its most frequent one. */
const writtenNames: Partial<Record<PerformanceGrouping, RawBuilder<unknown>>> = {
  customer: sql`btrim(coalesce(customer_name, quoted_customer_name))`,
  carrier: sql`coalesce(carrier_name, '')`,
}

/** The sort values of rows, as numbers that a cursor can contain. Rows with null are last. */
const ranks = {
  quotes: sql`quotes::float8`,
  win_rate: sql`won::float8 / nullif(won + lost, 0)`,
  margin: sql`case when shipments > 0 then ("customerRateCents" - "truckCostCents")::float8 end`,
  margin_pct: sql`("customerRateCents" - "truckCostCents")::float8 / nullif("customerRateCents", 0)`,
  landed_vs_quoted: sql`case when "comparableShipments" > 0 then ("comparableMarginCents" - "quotedMarginCents")::float8 end`,
  lost_to_cost: sql`case when "comparableShipments" > 0 then "lostToCostCents"::float8 end`,
  lost_to_rate: sql`case when "comparableShipments" > 0 then "lostToRateCents"::float8 end`,
  quoted_too_low: sql`case when "quotesWithCost" > 0 then "quotedTooLowCents"::float8 end`,
  last_quoted: sql`"lastQuotedMs"::float8`,
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
  /** For a customer or a carrier: the name as written. */
  readonly written: string
  readonly lastQuotedMs: number
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
  /** Only groups with a name, as written or as a key, that contains this text, in any case. */
  readonly named?: string
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
  'lostToCostCents',
  'lostToRateCents',
  'quotesWithCost',
  'quotedTooLow',
  'quotedTooLowWon',
  'quotedTooLowCents',
] as const satisfies (keyof PerformanceSums)[]

/** The amounts of a lane that the sums are made of. Each is computed once per lane: see `performanceBy`. */
const amounts = (tooLow: RawBuilder<number | null>, outcome: RawBuilder<unknown>) => sql`
  ${outcome} as outcome,
  created_at as quoted_at,
  customer_rate_cents as ar,
  truck_cost_cents as ap,
  ${marginLanded} as is_landed,
  ${marginComparable} as is_comparable,
  ${landedMarginCents} as landed,
  ${quotedMarginCents} as quoted,
  ${lostToCostCents} as lost_to_cost,
  ${lostToRateCents} as lost_to_rate,
  ${tooLow} as too_low`

const sums = sql`
  count(*) as quotes,
  count(*) filter (where outcome = 'won') as won,
  count(*) filter (where outcome = 'lost') as lost,
  count(*) filter (where is_landed) as shipments,
  coalesce(sum(ar) filter (where is_landed), 0)::bigint as "customerRateCents",
  coalesce(sum(ap) filter (where is_landed), 0)::bigint as "truckCostCents",
  count(*) filter (where is_comparable) as "comparableShipments",
  coalesce(sum(landed) filter (where is_comparable), 0)::bigint as "comparableMarginCents",
  coalesce(sum(quoted) filter (where is_comparable), 0)::bigint as "quotedMarginCents",
  coalesce(sum(lost_to_cost) filter (where is_comparable), 0)::bigint as "lostToCostCents",
  coalesce(sum(lost_to_rate) filter (where is_comparable), 0)::bigint as "lostToRateCents",
  count(too_low) as "quotesWithCost",
  count(*) filter (where too_low > 0) as "quotedTooLow",
  count(*) filter (where too_low > 0 and outcome = 'won') as "quotedTooLowWon",
  coalesce(sum(too_low) filter (where too_low > 0 and outcome = 'won'), 0)::bigint as "quotedTooLowCents",
  (extract(epoch from max(quoted_at)) * 1000)::bigint as "lastQuotedMs"`

/** Adds up the sums of several groups, in the columns of the same names. */
const totals = sql.join(
  sumNames.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`),
)

/** The outcome of a quote that ended without an answer, as in counted_lanes. */
const expiredAs = (outcome: 'lost' | 'pending') =>
  sql`case outcome when 'expired' then ${sql.lit(outcome)} else outcome end`

function after(cursor: PerformanceCursor | null, direction: 'asc' | 'desc'): RawBuilder<boolean> {
  if (cursor === null) return sql<boolean>`true`
  const { rank, quotes, key } = cursor
  const next = sql<boolean>`(quotes < ${quotes}::bigint or (quotes = ${quotes}::bigint and key > ${key} collate "C"))`
  if (rank === null) return sql<boolean>`(rank is null and ${next})`
  const beyond = direction === 'desc' ? sql`<` : sql`>`
  return sql<boolean>`(rank is null or rank ${beyond} ${rank}::float8 or (rank = ${rank}::float8 and ${next}))`
}

/** The names that were merged into another customer: their quotes count for it. */
export const joinMerged = (tenant: TenantId) => sql`left join (
    select customer_key as merged_key, main_key from customer_aliases
    where tenant_id = ${tenant} and merged_into is not null
  ) as merged on merged.merged_key = lanes.customer_key`

/**
 * The key, the name and the amounts of each lane of a selection. Without an amount to convert, the joins of `counted_lanes` find
 * nothing and take a third of the time, so it reads `lanes`. Only one of the two parts runs.
 */
function amountsBy(
  tenant: TenantId,
  { grouping, columns }: { grouping: PerformanceGrouping; columns: readonly RawBuilder<unknown>[] },
  filter: LaneFilter,
  { rules, expiredCountsAsLost }: PerformanceSettings,
): RawBuilder<unknown> {
  const from = (lanes: RawBuilder<unknown>, outcome: RawBuilder<unknown>) => sql`
    select ${sql.join(columns.map((column, index) => sql`${column} as ${sql.ref(`key_${index + 1}`)}`))},
      ${writtenNames[grouping] ?? sql`''`} as written, ${unordered} as unordered, ${amounts(tooLowCents(tenant, rules), outcome)}
    from ${lanes} ${grouping === 'customer' ? joinMerged(tenant) : sql``}`
  const where = sql`tenant_id = ${tenant} and ${matching(filter, tenant)(expressionBuilder<Tables, 'lanes'>())}`
  const mixed = sql<boolean>`(select ${isMixed(tenant)} from tenants as one where one.tenant_id = ${tenant})`
  // With offset 0, PostgreSQL does not compute the amounts again for each sum.
  return sql`
    ${from(sql`lanes`, expiredAs(expiredCountsAsLost ? 'lost' : 'pending'))} where not ${mixed} and ${where}
    union all
    ${from(sql`counted_lanes as lanes`, sql`outcome`)} where ${mixed} and ${where}
    offset 0`
}

/** A row per group, from `amounts`. */
function groupsOf(
  grouping: PerformanceGrouping,
  keys: readonly RawBuilder<unknown>[],
  named: string | undefined,
): RawBuilder<unknown> {
  const part = (key: RawBuilder<unknown> | undefined) =>
    key === undefined ? sql`''` : sql`coalesce(${key}::text, '')`
  const parts = sql`${part(keys[0])} as part_1, ${part(keys[1])} as part_2, ${part(keys[2])} as part_3`
  if (writtenNames[grouping] === undefined) {
    return sql`select ${parts}, '' as written, ${sums} from amounts group by ${sql.join(keys)}, unordered`
  }
  // By spelling first: these groups are hashed. To find the most frequent spelling at once, PostgreSQL would sort all lanes.
  const has = (text: RawBuilder<unknown>) => sql`strpos(lower(${text}), lower(${named})) > 0`
  return sql`
    select ${parts}, (array_agg(written order by quotes desc, written))[1] as written, ${totals},
      max("lastQuotedMs") as "lastQuotedMs"
    from (
      select ${sql.join(keys)}, written, ${sums} from amounts group by ${sql.join(keys)}, written, unordered
    ) as spellings
    group by ${sql.join(keys)}
    ${named === undefined ? sql`` : sql`having bool_or(${has(sql`written`)}) or ${has(sql`coalesce(${keys[0]}, '')`)}`}`
}

/**
 * The sums per lane, customer, rep, carrier, equipment type, or month of a selection, one page at a time, and the sums of all rows.
 * Rows with equal sort values are ordered by number of quotes, most first, then by key.
 */
export async function performanceBy(
  transaction: TenantTransaction,
  tenant: TenantId,
  grouping: PerformanceGrouping,
  filter: LaneFilter,
  order: PerformanceOrder,
  settings: PerformanceSettings,
): Promise<PerformancePage> {
  const columns: readonly RawBuilder<unknown>[] = groupings[grouping](settings.timeZone)
  const keys = columns.map((_, index) => sql.ref(`key_${index + 1}`))
  const direction = order.direction === 'desc' ? sql`desc` : sql`asc`
  type Row = PerformanceSums & {
    part_1: string
    part_2: string
    part_3: string
    written: string
    lastQuotedMs: number
    key: string
  }
  const { rows } = await sql<{
    rowsTotal: number
    totals: PerformanceSums
    rows: (Row & { rank: number | null })[]
  }>`
    with amounts as (${amountsBy(tenant, { grouping, columns }, filter, settings)}),
    groups as materialized (${groupsOf(grouping, keys, order.named)}),
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
    .selectFrom('counted_lanes as lanes')
    .selectAll()
    .select(sql<number>`${quotedCostCents}`.as('quoted_cost_cents'))
    .select(shortfallCents.as('shortfall_cents'))
    .where('tenant_id', '=', tenant)
    .where(matching({ ...filter, booked: true }, tenant))
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
    .selectFrom('counted_lanes as lanes')
    .select([
      sql<number>`count(*)`.as('compared'),
      sql<number>`count(*) filter (where ${shortfallCents} > 0)`.as('below'),
      sql<number>`coalesce(sum(${shortfallCents}) filter (where ${shortfallCents} > 0), 0)::bigint`.as(
        'shortfallCents',
      ),
    ])
    .where('tenant_id', '=', tenant)
    .where(matching({ ...filter, booked: true }, tenant))
    .where(marginComparable)
    .executeTakeFirstOrThrow()
}
