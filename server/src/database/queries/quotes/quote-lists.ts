import { type ExpressionBuilder, type OrderByItemBuilder, type RawBuilder, sql } from 'kysely'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { QuoteRow, Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { ofCustomer } from '../customers/customers.ts'
import { quoteSeenByViewer } from '../customers/teams.ts'
import { packedIds, unpackedIds } from './packed-quotes.ts'
import { isOfMode, isOfRateType, type ListedMode } from './quote-conditions.ts'

export interface QuoteFilter {
  /** `void`: only voided quotes, which no other selection has. */
  readonly outcome?: QuoteRow['outcome'] | 'void'
  /** Only the last offer of each load, as statistics count quotes, or only the others. */
  readonly offers?: 'last' | 'superseded'
  /** Only pending quotes that were quoted at or before this time. */
  readonly pendingSince?: Date
  readonly reason?: NonNullable<QuoteRow['outcome_reason']>
  readonly originKey?: string
  readonly destinationKey?: string
  readonly equipmentCode?: string
  readonly rateType?: RateType
  readonly mode?: ListedMode
  /** A customer by its name in any spelling, with the names that were merged into it. */
  readonly customer?: { readonly tenant: TenantId; readonly name: string }
  readonly carrier?: string
  /** Only quotes with these ids, such as the quotes behind a figure. */
  readonly quoteIds?: readonly number[]
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

const isAmong = (quoteIds: readonly number[]) =>
  sql<boolean>`quotes.lane_id = any(${binaryArrays.int8s(quoteIds)}::bigint[])`

/**
 * With more ids than this, a page by age is found soonest by reading quotes in that order. For `any`, PostgreSQL first estimates
 * how many quotes have each id, which takes longer than the page (27 ms for 18,000 ids). Within `coalesce`, it estimates nothing.
 */
const idsToEstimateMax = 8_000

/** The conditions of a filter for a page of a list. */
function matchingPage(filter: QuoteFilter, tenant: TenantId, sort: QuoteSort) {
  const { quoteIds, ...others } = filter
  const isByAge = sort === 'newest' || sort === 'oldest'
  if (!isByAge || quoteIds === undefined || quoteIds.length <= idsToEstimateMax)
    return matching(filter, tenant)
  return (quote: ExpressionBuilder<Tables, 'quotes'>) =>
    quote.and([matching(others, tenant)(quote), sql<boolean>`coalesce(${isAmong(quoteIds)}, false)`])
}

/** The conditions of a filter, for a query over quotes, and that the current person may see the customer. */
export function matching(filter: QuoteFilter, tenant: TenantId) {
  return (quote: ExpressionBuilder<Tables, 'quotes'>) => {
    return quote.and([
      quoteSeenByViewer(tenant),
      quote('voided_at', filter.outcome === 'void' ? 'is not' : 'is', null),
      ...(filter.outcome === undefined || filter.outcome === 'void'
        ? []
        : [quote('outcome', '=', filter.outcome)]),
      ...(filter.offers === undefined
        ? []
        : [quote('superseded_by', filter.offers === 'last' ? 'is' : 'is not', null)]),
      ...(filter.pendingSince === undefined
        ? []
        : [
            quote('outcome', '=', 'pending'),
            quote('superseded_by', 'is', null),
            quote('quotes.created_at', '<=', filter.pendingSince),
          ]),
      ...(filter.reason === undefined ? [] : [quote('outcome_reason', '=', filter.reason)]),
      ...(filter.originKey === undefined ? [] : [quote('origin_key', '=', filter.originKey)]),
      ...(filter.destinationKey === undefined ? [] : [quote('destination_key', '=', filter.destinationKey)]),
      ...(filter.equipmentCode === undefined ? [] : [quote('equipment_code', '=', filter.equipmentCode)]),
      ...(filter.rateType === undefined ? [] : [isOfRateType(tenant, filter.rateType)]),
      ...(filter.mode === undefined ? [] : [isOfMode(filter.mode)]),
      ...(filter.customer === undefined ? [] : [ofCustomer(filter.customer.tenant, filter.customer.name)]),
      ...(filter.carrier === undefined
        ? []
        : [quote(quote.fn('lower', ['carrier_name']), '=', quote.fn('lower', [quote.val(filter.carrier)]))]),
      ...(filter.quoteIds === undefined ? [] : [isAmong(filter.quoteIds)]),
      ...(filter.quotedBy === undefined
        ? []
        : [
            quote('quotes.created_by', '=', filter.quotedBy),
            quote.or([quote('quotes.import_id', 'is', null), quote('quotes.rep_name', 'is not', null)]),
          ]),
      ...(filter.from === undefined ? [] : [quote('quotes.created_at', '>=', filter.from)]),
      ...(filter.to === undefined ? [] : [quote('quotes.created_at', '<', filter.to)]),
      ...(filter.words ?? '')
        .split(/\s+/)
        .filter((word) => word !== '')
        .map(hasWord),
      // The same conditions as the partial index quotes_booked_or_cancelled, so that it is used.
      ...(filter.booked === true
        ? [
            quote.or([
              quote('customer_rate_cents', 'is not', null),
              quote('truck_cost_cents', 'is not', null),
              quote('carrier_name', 'is not', null),
              quote('carrier_notes', 'is not', null),
              quote('booked_at', 'is not', null),
              quote('cancelled_at', 'is not', null),
            ]),
          ]
        : []),
    ])
  }
}

/** A sort key of a list. Quotes with equal keys are ordered by lane_id, and quotes without a key are last. */
interface SortKey {
  readonly key: RawBuilder<unknown>
  readonly kind: 'time' | 'cents' | 'text'
  readonly direction: 'asc' | 'desc'
  readonly hasNulls: boolean
}

/**
 * AR minus AP as they were sent. The database computes only this difference, so that it can order a million quotes by it and
 * continue behind a cursor. Quotes with amounts on two bases or in two currencies are last, because these are not subtracted.
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

export type QuoteSort = keyof typeof sortKeys

/** The form of each sort key in a cursor, so that invalid cursors are detected. */
export function sortKeyKind(sort: QuoteSort): SortKey['kind'] {
  return sortKeys[sort].kind
}

/** The end of a page: the sort key of its last quote as text (null if it has none), and the id of that quote. */
export interface QuoteCursor {
  readonly key: string | null
  readonly quoteId: number
}

/** A quote with its sort key, for the cursor of the next page. */
export type ListedQuote = QuoteRow & { readonly sort_key: string | null }

/** Lossless text of a value: times have microseconds, in UTC. */
function keyText({ key, kind }: SortKey): RawBuilder<string | null> {
  return kind === 'time'
    ? sql<string | null>`to_char(${key} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
    : sql<string | null>`${key}::text`
}

const keyTypes = { time: sql`timestamptz`, cents: sql`bigint`, text: sql`text` } as const

function after({ key, kind, direction, hasNulls }: SortKey, cursor: QuoteCursor): RawBuilder<boolean> {
  const beyond = direction === 'desc' ? sql`<` : sql`>`
  if (cursor.key === null) {
    return sql<boolean>`(${key} is null and quotes.lane_id ${beyond} ${cursor.quoteId}::bigint)`
  }
  const inOrder = sql<boolean>`(${key}, quotes.lane_id) ${beyond} (${cursor.key}::${keyTypes[kind]}, ${cursor.quoteId}::bigint)`
  return hasNulls ? sql<boolean>`(${inOrder} or ${key} is null)` : inOrder
}

/** Quotes in the order of `sort`, after `cursor`. Request one more than a page to learn whether there is another page. */
export async function listQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
  page: { sort: QuoteSort; cursor: QuoteCursor | null; limit: number },
): Promise<ListedQuote[]> {
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

/** The number of matching quotes, and of the loads that they are offers of. */
export function countQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
): Promise<{ readonly total: number; readonly loads: number }> {
  return transaction
    .selectFrom('quotes')
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) filter (where superseded_by is null)`.as('loads'),
    ])
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
    .executeTakeFirstOrThrow()
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
  quotes: readonly Pick<QuoteRow, 'lane_id' | 'request_id' | 'created_by' | 'import_id' | 'rep_name'>[],
): Promise<ReadonlyMap<number, QuoteOrigin>> {
  if (quotes.length === 0) return new Map()
  // The user who imported a quote did not quote it, unless the file names that person as its rep.
  const repOf = ({ import_id, rep_name, created_by }: (typeof quotes)[number]) =>
    import_id === null || rep_name !== null ? created_by : null
  const requestIds = [...new Set(quotes.map((quote) => quote.request_id))]
  const names = await userNames(
    transaction,
    tenant,
    quotes.map(repOf).filter((id) => id !== null),
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
    quotes.map((quote) => {
      const userId = repOf(quote)
      const name = userId === null ? undefined : names.get(userId)
      const quotedBy = userId === null || name === undefined ? null : { userId, name }
      return [
        quote.lane_id,
        {
          reference: references.get(quote.request_id) ?? null,
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
export async function idsOfQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
): Promise<number[]> {
  const { ids } = await transaction
    .selectFrom('quotes')
    .select(packedIds.as('ids'))
    .where('tenant_id', '=', tenant)
    .where(matching(filter, tenant))
    .executeTakeFirstOrThrow()
  return unpackedIds(ids)
}
