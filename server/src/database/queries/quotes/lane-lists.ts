import { type ExpressionBuilder, type OrderByItemBuilder, type RawBuilder, sql } from 'kysely'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { LaneRow, Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { ofCustomer } from '../customers/customers.ts'
import { laneSeenByViewer } from '../customers/teams.ts'
import { isOfRateType } from './lane-conditions.ts'
import { packedIds, unpackedIds } from './packed-quotes.ts'

export interface LaneFilter {
  /** `void`: only voided quotes, which no other selection has. `superseded`: only superseded offers, which no other outcome has. */
  readonly outcome?: LaneRow['outcome'] | 'superseded' | 'void'
  /** Only pending quotes that were quoted at or before this time. */
  readonly pendingSince?: Date
  readonly reason?: NonNullable<LaneRow['outcome_reason']>
  readonly originKey?: string
  readonly destinationKey?: string
  readonly equipmentCode?: string
  readonly rateType?: RateType
  /** A customer by its name in any spelling, with the names that were merged into it. */
  readonly customer?: { readonly tenant: TenantId; readonly name: string }
  readonly carrier?: string
  /** Only quotes with these ids, such as those that count in a figure. */
  readonly laneIds?: readonly number[]
  readonly quotedBy?: number
  readonly words?: string
  readonly from?: Date
  readonly to?: Date
  /** Only quotes with a booking or a cancelled booking. */
  readonly booked?: boolean
}

/** True for quotes that contain a word. The reference is a column of the quote request, not of the quote. */
function hasWord(word: string) {
  const pattern = sql`lower(${`%${word.replace(/[\\%_]/g, '\\$&')}%`})`
  return sql<boolean>`(search_text like ${pattern} or exists (
    select from quote_requests as request
    where request.tenant_id = quotes.tenant_id and request.request_id = quotes.request_id
      and lower(request.reference) like ${pattern}
  ))`
}

const isAmong = (laneIds: readonly number[]) =>
  sql<boolean>`quotes.lane_id = any(${binaryArrays.int8s(laneIds)}::bigint[])`

/**
 * From so many ids on, a page in the order of age is found soonest by reading quotes in that order. For `any`, PostgreSQL first
 * estimates how many quotes have each id, which takes longer than the page (27 ms for 18,000 ids); it estimates nothing within
 * `coalesce`.
 */
const idsToEstimateMax = 8_000

/** The conditions of a filter for a page of a list. */
function matchingPage(filter: LaneFilter, tenant: TenantId, sort: LaneSort) {
  const { laneIds, ...others } = filter
  const isByAge = sort === 'newest' || sort === 'oldest'
  if (!isByAge || laneIds === undefined || laneIds.length <= idsToEstimateMax) return matching(filter, tenant)
  return (lane: ExpressionBuilder<Tables, 'quotes'>) =>
    lane.and([matching(others, tenant)(lane), sql<boolean>`coalesce(${isAmong(laneIds)}, false)`])
}

function outcomeConditions(
  lane: ExpressionBuilder<Tables, 'quotes'>,
  { outcome }: Pick<LaneFilter, 'outcome'>,
) {
  if (outcome === undefined || outcome === 'void') return []
  if (outcome === 'superseded') return [lane('superseded_by', 'is not', null)]
  return [lane('outcome', '=', outcome), lane('superseded_by', 'is', null)]
}

/** The conditions of a filter, for a query over quotes: also that the current person may see the customer. */
export function matching(filter: LaneFilter, tenant: TenantId) {
  return (lane: ExpressionBuilder<Tables, 'quotes'>) => {
    return lane.and([
      laneSeenByViewer(tenant),
      lane('voided_at', filter.outcome === 'void' ? 'is not' : 'is', null),
      ...outcomeConditions(lane, filter),
      ...(filter.pendingSince === undefined
        ? []
        : [
            lane('outcome', '=', 'pending'),
            lane('superseded_by', 'is', null),
            lane('quotes.created_at', '<=', filter.pendingSince),
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
      ...(filter.laneIds === undefined ? [] : [isAmong(filter.laneIds)]),
      ...(filter.quotedBy === undefined
        ? []
        : [
            lane('quotes.created_by', '=', filter.quotedBy),
            lane.or([lane('quotes.import_id', 'is', null), lane('quotes.rep_name', 'is not', null)]),
          ]),
      ...(filter.from === undefined ? [] : [lane('quotes.created_at', '>=', filter.from)]),
      ...(filter.to === undefined ? [] : [lane('quotes.created_at', '<', filter.to)]),
      ...(filter.words ?? '')
        .split(/\s+/)
        .filter((word) => word !== '')
        .map(hasWord),
      // The same conditions as the partial index quotes_booked_or_cancelled, so that it is used.
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

/** Sort keys of a list. Quotes with equal keys are ordered by lane_id, and quotes without a key are last. */
interface SortKey {
  readonly key: RawBuilder<unknown>
  readonly kind: 'time' | 'cents' | 'text'
  readonly direction: 'asc' | 'desc'
  readonly hasNulls: boolean
}

/**
 * AR minus AP as they were sent: the one difference that the database forms, so that it can order a million quotes by it and
 * continue behind a cursor. Amounts on two bases or in two currencies are not subtracted: such quotes are last.
 */
const marginAsSent = sql<number | null>`case
  when coalesce(quotes.truck_basis, 'not stated') = coalesce(quotes.customer_basis, 'not stated')
    and coalesce(quotes.truck_currency, 'USD') = coalesce(quotes.customer_currency, 'USD')
  then quotes.customer_rate_cents - quotes.truck_cost_cents end`
const rateThatCounts = sql`coalesce(quotes.customer_rate_cents, quotes.quoted_rate_cents)`
const customerFolded = sql`lower(coalesce(quotes.customer_name, quotes.quoted_customer_name))`

const sortKeys = {
  newest: { key: sql`quotes.created_at`, kind: 'time', direction: 'desc', hasNulls: false },
  oldest: { key: sql`quotes.created_at`, kind: 'time', direction: 'asc', hasNulls: false },
  updated: { key: sql`quotes.updated_at`, kind: 'time', direction: 'desc', hasNulls: false },
  booked: { key: sql`quotes.booked_at`, kind: 'time', direction: 'desc', hasNulls: true },
  rate_high: { key: rateThatCounts, kind: 'cents', direction: 'desc', hasNulls: false },
  rate_low: { key: rateThatCounts, kind: 'cents', direction: 'asc', hasNulls: false },
  margin_high: { key: marginAsSent, kind: 'cents', direction: 'desc', hasNulls: true },
  margin_low: { key: marginAsSent, kind: 'cents', direction: 'asc', hasNulls: true },
  customer: { key: customerFolded, kind: 'text', direction: 'asc', hasNulls: false },
} as const satisfies Record<string, SortKey>

export type LaneSort = keyof typeof sortKeys

/** The form of each sort key in a cursor, so that invalid cursors are detected. */
export function sortKeyKind(sort: LaneSort): SortKey['kind'] {
  return sortKeys[sort].kind
}

/** The end of a page: the sort key of its last quote as text (null if it has none), and the id of that quote. */
export interface LaneCursor {
  readonly key: string | null
  readonly laneId: number
}

/** A quote with its sort key, for the cursor of the next page. */
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
    return sql<boolean>`(${key} is null and quotes.lane_id ${beyond} ${cursor.laneId}::bigint)`
  }
  const inOrder = sql<boolean>`(${key}, quotes.lane_id) ${beyond} (${cursor.key}::${keyTypes[kind]}, ${cursor.laneId}::bigint)`
  return hasNulls ? sql<boolean>`(${inOrder} or ${key} is null)` : inOrder
}

/** Quotes in the order of `sort`, after `cursor`. Request one more than a page to learn whether there is another page. */
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
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(matchingPage(filter, tenant, page.sort))
  if (page.cursor !== null) selection = selection.where(after(order, page.cursor))
  const inOrder = selection
    .orderBy(order.key, direction)
    .orderBy('lane_id', order.direction)
    .limit(page.limit)
  // Format the key for the quotes of the page only, not for all sorted quotes.
  return transaction
    .selectFrom(inOrder.as('quotes'))
    .selectAll()
    .select(keyText(order).as('sort_key'))
    .orderBy(order.key, direction)
    .orderBy('lane_id', order.direction)
    .execute()
}

/** The number of quotes that match a filter. */
export async function countLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('quotes')
    .select(sql<number>`count(*)`.as('count'))
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
    .executeTakeFirstOrThrow()
  return count
}

/** The source of a quote: the shipper's reference of its request, and the rep who quoted it. */
export interface QuoteOrigin {
  readonly reference: string | null
  readonly quotedBy: { readonly userId: number; readonly name: string } | null
  /** The default basis of the brokerage. */
  readonly defaultBasis: RateBasis
}

/** The sources of quotes, by lane_id. */
export async function quoteOrigins(
  transaction: TenantTransaction,
  tenant: TenantId,
  lanes: readonly Pick<LaneRow, 'lane_id' | 'request_id' | 'created_by' | 'import_id' | 'rep_name'>[],
): Promise<ReadonlyMap<number, QuoteOrigin>> {
  if (lanes.length === 0) return new Map()
  // The user who imported a quote did not quote it, unless the file names that person as its rep.
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

/** The ids of all quotes that match a filter, in no order. */
export async function idsOfLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: LaneFilter,
): Promise<number[]> {
  const { ids } = await transaction
    .selectFrom('quotes')
    .select(packedIds.as('ids'))
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
    .executeTakeFirstOrThrow()
  return unpackedIds(ids)
}
