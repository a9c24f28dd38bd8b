import { type ExpressionBuilder, type OrderByItemBuilder, type RawBuilder, sql } from 'kysely'
import type { LandedAmounts, RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import type { LaneRow, Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { ofCustomer } from '../customers/customers.ts'
import { laneSeenByViewer } from '../customers/teams.ts'
import { isOfRateType } from '../pricing/rule-conditions.ts'
import {
  bookedAtALoss,
  comparableAsBooked,
  landedMarginCents,
  lostToCostCents,
  lostToRateCents,
  marginComparable,
  marginLanded,
  quotedMarginCents,
  tooLowCents,
} from './landed-margin.ts'

/**
 * The lanes behind a figure of the performance page. A rate is too low for the minimum of the rule that applies to its quote.
 * `mixed`: the brokerage has amounts on the other basis or in the other currency, so lanes are found by what the view converts,
 * as the figure is.
 */
export type LaneFinding = { readonly mixed: boolean } & (
  | { readonly kind: 'lost_to_cost' | 'lost_to_rate' | 'booked_at_a_loss' }
  | { readonly kind: 'quoted_too_low'; readonly rules: readonly PricingRule[] }
)

/** The condition of a finding, for amounts that can be compared as they are. */
function comparedAsTheyAre(finding: LaneFinding, tenant: TenantId): RawBuilder<boolean> {
  switch (finding.kind) {
    case 'lost_to_cost':
      return sql<boolean>`(${marginComparable} and ${lostToCostCents} > 0)`
    case 'lost_to_rate':
      return sql<boolean>`(${marginComparable} and ${lostToRateCents} > 0)`
    case 'booked_at_a_loss':
      return bookedAtALoss
    case 'quoted_too_low':
      return sql<boolean>`(${tooLowCents(tenant, finding.rules)} > 0)`
  }
}

function withFinding(finding: LaneFinding, tenant: TenantId): RawBuilder<boolean> {
  if (!finding.mixed) return comparedAsTheyAre(finding, tenant)
  // On one basis and in one currency, AR and AP are compared as they are, as in the margin of the lane.
  const comparable = comparableAsBooked(
    sql`(select one.default_basis from tenants as one where one.tenant_id = ${tenant})`,
  )
  const asBooked =
    finding.kind === 'booked_at_a_loss'
      ? sql`select lanes.lane_id from lanes where lanes.tenant_id = ${tenant} and ${bookedAtALoss} and ${comparable}
          union all`
      : sql``
  const others = finding.kind === 'booked_at_a_loss' ? sql`and not ${comparable}` : sql``
  // An array is read once. As a table, PostgreSQL may read it again for each lane: a new brokerage, without statistics of its
  // tables yet, waited until the statement was cancelled. Each subquery names the tenant: see `isMixed`.
  return sql<boolean>`(lanes.lane_id = any (array(
    ${asBooked}
    select lanes.lane_id from counted_lanes as lanes
    where lanes.tenant_id = ${tenant} and ${comparedAsTheyAre(finding, tenant)} ${others})))`
}

export interface LaneFilter {
  /** `void`: only voided quotes. No other selection has them. `superseded`: only superseded offers. No selection by outcome has them. */
  readonly outcome?: LaneRow['outcome'] | 'superseded' | 'void'
  /** Only pending lanes that were quoted at or before this time. */
  readonly pendingSince?: Date
  readonly reason?: NonNullable<LaneRow['outcome_reason']>
  readonly originKey?: string
  readonly destinationKey?: string
  readonly equipmentCode?: string
  readonly rateType?: RateType
  /** A customer by its name in any spelling, with the names that were merged into it. */
  readonly customer?: { readonly tenant: TenantId; readonly name: string }
  readonly carrier?: string
  readonly finding?: LaneFinding
  readonly quotedBy?: number
  readonly words?: string
  readonly from?: Date
  readonly to?: Date
  /** Only lanes with a booking or a cancelled booking. */
  readonly booked?: boolean
}

/** True for lanes that contain a word. The reference is a column of the quote request, not of the lane. */
function hasWord(word: string) {
  const pattern = sql`lower(${`%${word.replace(/[\\%_]/g, '\\$&')}%`})`
  return sql<boolean>`(search_text like ${pattern} or exists (
    select from quote_requests as request
    where request.tenant_id = lanes.tenant_id and request.request_id = lanes.request_id
      and lower(request.reference) like ${pattern}
  ))`
}

function outcomeConditions(
  lane: ExpressionBuilder<Tables, 'lanes'>,
  { outcome }: Pick<LaneFilter, 'outcome'>,
) {
  if (outcome === undefined || outcome === 'void') return []
  if (outcome === 'superseded') return [lane('superseded_by', 'is not', null)]
  return [lane('outcome', '=', outcome), lane('superseded_by', 'is', null)]
}

/** The conditions of a filter, for a query over lanes: also that the current person may see the customer. */
export function matching(filter: LaneFilter, tenant: TenantId) {
  return (lane: ExpressionBuilder<Tables, 'lanes'>) => {
    return lane.and([
      laneSeenByViewer(tenant),
      lane('voided_at', filter.outcome === 'void' ? 'is not' : 'is', null),
      ...outcomeConditions(lane, filter),
      ...(filter.pendingSince === undefined
        ? []
        : [
            lane('outcome', '=', 'pending'),
            lane('superseded_by', 'is', null),
            lane('lanes.created_at', '<=', filter.pendingSince),
          ]),
      ...(filter.reason === undefined ? [] : [lane('outcome_reason', '=', filter.reason)]),
      ...(filter.originKey === undefined ? [] : [lane('origin_key', '=', filter.originKey)]),
      ...(filter.destinationKey === undefined ? [] : [lane('destination_key', '=', filter.destinationKey)]),
      ...(filter.equipmentCode === undefined ? [] : [lane('equipment_code', '=', filter.equipmentCode)]),
      ...(filter.rateType === undefined ? [] : [isOfRateType(tenant, filter.rateType)]),
      ...(filter.customer === undefined ? [] : [ofCustomer(filter.customer.tenant, filter.customer.name)]),
      ...(filter.carrier === undefined
        ? []
        : [lane(lane.fn('lower', ['carrier_name']), '=', lane.fn('lower', [lane.val(filter.carrier)]))]),
      // A figure counts a load once: the lanes behind it are without superseded offers.
      ...(filter.finding === undefined
        ? []
        : [withFinding(filter.finding, tenant), lane('superseded_by', 'is', null)]),
      ...(filter.quotedBy === undefined
        ? []
        : [
            lane('lanes.created_by', '=', filter.quotedBy),
            lane.or([lane('lanes.import_id', 'is', null), lane('lanes.rep_name', 'is not', null)]),
          ]),
      ...(filter.from === undefined ? [] : [lane('lanes.created_at', '>=', filter.from)]),
      ...(filter.to === undefined ? [] : [lane('lanes.created_at', '<', filter.to)]),
      ...(filter.words ?? '')
        .split(/\s+/)
        .filter((word) => word !== '')
        .map(hasWord),
      // The same conditions as the partial index lanes_booked_or_cancelled, so that it is used.
      ...(filter.booked === true
        ? [
            lane.or([
              lane('customer_rate_cents', 'is not', null),
              lane('truck_cost_cents', 'is not', null),
              lane('carrier_name', 'is not', null),
              lane('carrier_notes', 'is not', null),
              lane('booked_at', 'is not', null),
              lane('cancelled_at', 'is not', null),
            ]),
          ]
        : []),
    ])
  }
}

/** Sort keys of a list. Lanes with equal keys are ordered by lane_id, and lanes without a key are last. */
interface SortKey {
  readonly key: RawBuilder<unknown>
  readonly kind: 'time' | 'cents' | 'text'
  readonly direction: 'asc' | 'desc'
  readonly hasNulls: boolean
}

/** Amounts on two bases or in two currencies are not subtracted: such lanes are last. */
const comparableMarginCents = sql<
  number | null
>`case when ${comparableAsBooked()} then ${landedMarginCents} end`
const rateThatCounts = sql`coalesce(lanes.customer_rate_cents, lanes.quoted_rate_cents)`
const customerFolded = sql`lower(coalesce(lanes.customer_name, lanes.quoted_customer_name))`

const sortKeys = {
  newest: { key: sql`lanes.created_at`, kind: 'time', direction: 'desc', hasNulls: false },
  oldest: { key: sql`lanes.created_at`, kind: 'time', direction: 'asc', hasNulls: false },
  updated: { key: sql`lanes.updated_at`, kind: 'time', direction: 'desc', hasNulls: false },
  booked: { key: sql`lanes.booked_at`, kind: 'time', direction: 'desc', hasNulls: true },
  rate_high: { key: rateThatCounts, kind: 'cents', direction: 'desc', hasNulls: false },
  rate_low: { key: rateThatCounts, kind: 'cents', direction: 'asc', hasNulls: false },
  margin_high: { key: comparableMarginCents, kind: 'cents', direction: 'desc', hasNulls: true },
  margin_low: { key: comparableMarginCents, kind: 'cents', direction: 'asc', hasNulls: true },
  customer: { key: customerFolded, kind: 'text', direction: 'asc', hasNulls: false },
} as const satisfies Record<string, SortKey>

export type LaneSort = keyof typeof sortKeys

/** The form of each sort key in a cursor, so that invalid cursors are detected. */
export function sortKeyKind(sort: LaneSort): SortKey['kind'] {
  return sortKeys[sort].kind
}

/** The end of a page: the sort key of its last lane as text (null if it has none), and the id of that lane. */
export interface LaneCursor {
  readonly key: string | null
  readonly laneId: number
}

/** A lane with its sort key, for the cursor of the next page. */
export type ListedLane = LaneRow & { readonly sort_key: string | null }

/** Lossless text of a value: times have microseconds, in UTC. */
function keyText({ key, kind }: SortKey): RawBuilder<string | null> {
  return kind === 'time'
    ? sql<string | null>`to_char(${key} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
    : sql<string | null>`${key}::text`
}

const keyTypes = { time: sql`timestamptz`, cents: sql`bigint`, text: sql`text` } as const

function after({ key, kind, direction, hasNulls }: SortKey, cursor: LaneCursor): RawBuilder<boolean> {
  const beyond = direction === 'desc' ? sql`<` : sql`>`
  if (cursor.key === null) {
    return sql<boolean>`(${key} is null and lanes.lane_id ${beyond} ${cursor.laneId}::bigint)`
  }
  const inOrder = sql<boolean>`(${key}, lanes.lane_id) ${beyond} (${cursor.key}::${keyTypes[kind]}, ${cursor.laneId}::bigint)`
  return hasNulls ? sql<boolean>`(${inOrder} or ${key} is null)` : inOrder
}

/** Lanes in the order of `sort`, after `cursor`. Request one more than a page to learn whether there is another page. */
export async function listLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
  page: { sort: LaneSort; cursor: LaneCursor | null; limit: number },
): Promise<ListedLane[]> {
  const order: SortKey = sortKeys[page.sort]
  const direction = (by: OrderByItemBuilder) => {
    const directed = order.direction === 'desc' ? by.desc() : by.asc()
    return order.hasNulls ? directed.nullsLast() : directed
  }
  let selection = transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
  if (page.cursor !== null) selection = selection.where(after(order, page.cursor))
  const inOrder = selection
    .orderBy(order.key, direction)
    .orderBy('lane_id', order.direction)
    .limit(page.limit)
  // Format the key for the lanes of the page only, not for all sorted lanes.
  return transaction
    .selectFrom(inOrder.as('lanes'))
    .selectAll()
    .select(keyText(order).as('sort_key'))
    .orderBy(order.key, direction)
    .orderBy('lane_id', order.direction)
    .execute()
}

/** The number of lanes that match a filter. */
export async function countLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('lanes')
    .select(sql<number>`count(*)`.as('count'))
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
    .executeTakeFirstOrThrow()
  return count
}

/** The source of a lane: the shipper's reference of its request, and the rep who quoted it. */
export interface QuoteOrigin {
  readonly reference: string | null
  readonly quotedBy: { readonly userId: number; readonly name: string } | null
  /** The default basis of the brokerage. */
  readonly defaultBasis: RateBasis
}

/** The sources of lanes, by lane_id. */
export async function quoteOrigins(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly Pick<LaneRow, 'lane_id' | 'request_id' | 'created_by' | 'import_id' | 'rep_name'>[],
): Promise<ReadonlyMap<number, QuoteOrigin>> {
  if (lanes.length === 0) return new Map()
  // The user who imported a lane did not quote it, unless the file names that person as its rep.
  const repOf = ({ import_id, rep_name, created_by }: (typeof lanes)[number]) =>
    import_id === null || rep_name !== null ? created_by : null
  const requestIds = [...new Set(lanes.map((lane) => lane.request_id))]
  const names = await userNames(
    transaction,
    tenant,
    lanes.map(repOf).filter((id) => id !== null),
  )
  const requests = await transaction
    .selectFrom('quote_requests')
    .innerJoin('tenants as one', 'one.tenant_id', 'quote_requests.tenant_id')
    .select(['request_id', 'reference', 'one.default_basis'])
    .where('quote_requests.tenant_id', '=', tenant)
    .where(sql<boolean>`request_id = any(${requestIds}::bigint[])`)
    .execute()
  const references = new Map(requests.map((request) => [request.request_id, request.reference]))
  return new Map(
    lanes.map((lane) => {
      const userId = repOf(lane)
      const name = userId === null ? undefined : names.get(userId)
      const quotedBy = userId === null || name === undefined ? null : { userId, name }
      return [
        lane.lane_id,
        {
          reference: references.get(lane.request_id) ?? null,
          quotedBy,
          defaultBasis: requests[0]?.default_basis ?? 'all_in',
        },
      ]
    }),
  )
}

/** AR and AP of booked lanes in US dollars on the default basis, by lane_id, as statistics convert them. Without lanes that cannot be. */
export async function landedAmounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  laneIds: readonly number[],
): Promise<ReadonlyMap<number, Omit<LandedAmounts, 'basis'>>> {
  if (laneIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('counted_lanes')
    .select(['lane_id', 'customer_rate_cents as revenueCents', 'truck_cost_cents as costCents'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(${[...laneIds]}::bigint[])`)
    .$narrowType<{ revenueCents: number; costCents: number }>()
    .execute()
  return new Map(rows.map(({ lane_id: laneId, ...landed }) => [laneId, { ...landed, currency: 'USD' }]))
}

/** The names of users of this brokerage, including removed ones, by user id. */
export async function userNames(
  transaction: TenantTransaction,
  tenant: TenantId,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (userIds.length === 0) return new Map()
  const users = await transaction
    .selectFrom('users')
    .select(['user_id', 'name'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`user_id = any(${[...new Set(userIds)]}::integer[])`)
    .execute()
  return new Map(users.map((user) => [user.user_id, user.name]))
}

export interface ShipmentTotals {
  /** Lanes in the list, including cancelled ones. */
  readonly listed: number
  /** Cancelled bookings. No other figure includes them. */
  readonly cancelled: number
  readonly shipments: number
  readonly customerRateCents: number
  readonly truckCostCents: number
  readonly withMargin: number
  readonly marginCents: number
  /** Total AR of the shipments whose AR and AP are both known: the denominator of the margin percentage. */
  readonly marginBaseCents: number
  readonly withQuotedMargin: number
  readonly quotedMarginCents: number
  readonly comparable: number
  /** Landed minus quoted margin, over the shipments where both are known. */
  readonly landedVsQuotedCents: number
}

export async function shipmentTotals(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<ShipmentTotals> {
  const sum = (cents: RawBuilder<unknown>) => sql<number>`coalesce(sum(${cents}), 0)::bigint`
  const standing = sql<boolean>`cancelled_at is null`
  const count = (condition: RawBuilder<boolean>) => sql<number>`count(*) filter (where ${condition})`
  return transaction
    .selectFrom('counted_lanes as lanes')
    .select([
      sql<number>`count(*)`.as('listed'),
      count(sql`cancelled_at is not null`).as('cancelled'),
      count(standing).as('shipments'),
      sum(sql`customer_rate_cents`).as('customerRateCents'),
      sum(sql`truck_cost_cents`).as('truckCostCents'),
      count(marginLanded).as('withMargin'),
      sum(landedMarginCents).as('marginCents'),
      sum(sql`case when ${marginLanded} then customer_rate_cents end`).as('marginBaseCents'),
      count(sql`${standing} and ${quotedMarginCents} is not null`).as('withQuotedMargin'),
      sum(sql`case when ${standing} then ${quotedMarginCents} end`).as('quotedMarginCents'),
      count(marginComparable).as('comparable'),
      sum(sql`${landedMarginCents} - ${quotedMarginCents}`).as('landedVsQuotedCents'),
    ])
    .where('tenant_id', '=', tenant)
    .where('superseded_by', 'is', null)
    .where(matching({ ...filter, booked: true }, tenant))
    .executeTakeFirstOrThrow()
}
