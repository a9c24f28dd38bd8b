import { type Selectable, sql } from 'kysely'
import type { QuoteRow, Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { quoteSeenByViewer, seenByViewer } from '../customers/teams.ts'
import { lockRequest } from './new-quotes.ts'

export type QuoteRequestRow = Selectable<Tables['quote_requests']>

function quoteCalled(transaction: TenantTransaction, tenant: TenantId, ref: string) {
  return transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where('lane_ref', '=', ref)
}

/** The quote of this tenant with this lane_ref; null if there is none, also if another tenant has it. */
export async function findQuote(
  transaction: TenantTransaction,
  tenant: TenantId,
  ref: string,
): Promise<QuoteRow | null> {
  return (await quoteCalled(transaction, tenant, ref).executeTakeFirst()) ?? null
}

/**
 * Like `findQuote`, and locks the row and the other offers for its load until the end of the transaction, in the order of
 * lane_id, so that changes of one load are sequential.
 */
export async function lockQuote(
  transaction: TenantTransaction,
  tenant: TenantId,
  ref: string,
): Promise<QuoteRow | null> {
  const found = await findQuote(transaction, tenant, ref)
  if (found === null) return null
  const offers = await transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', found.request_id)
    .where('lane_number', '=', found.lane_number)
    .orderBy('lane_id')
    .forUpdate()
    .execute()
  return offers.find(({ lane_ref }) => lane_ref === ref) ?? null
}

/** The id (lane_id) of each quote of this tenant, by its lane_ref. A lane_ref of no quote is absent. */
export async function findQuoteIds(
  transaction: TenantTransaction,
  tenant: TenantId,
  refs: readonly string[],
): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('quotes')
    .select(['lane_ref', 'lane_id'])
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where(sql<boolean>`lane_ref = any(${[...refs]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.lane_ref, row.lane_id]))
}

/** Quotes by id, in order of id. With `lock`, locks them until the end of the transaction. */
export async function quotesById(
  transaction: TenantTransaction,
  tenant: TenantId,
  ids: readonly number[],
  { lock }: { readonly lock: boolean },
): Promise<QuoteRow[]> {
  if (ids.length === 0) return []
  const quotes = transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where(sql<boolean>`lane_id = any(${[...ids]}::bigint[])`)
    .orderBy('lane_id')
  return (lock ? quotes.forUpdate() : quotes).execute()
}

/**
 * The lane_ref of the load's won offer, which may be this quote; null if none is won. It locks the quote request, so that no offer
 * is added until the transaction ends.
 */
export async function lockedWon(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoted: Pick<QuoteRow, 'request_id' | 'lane_number'>,
): Promise<string | null> {
  await lockRequest(transaction, tenant, quoted)
  const won = await transaction
    .selectFrom('quotes')
    .select('lane_ref')
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where('request_id', '=', quoted.request_id)
    .where('lane_number', '=', quoted.lane_number)
    .where('outcome', '=', 'won')
    .where('voided_at', 'is', null)
    .orderBy('quote_count', 'desc')
    .limit(1)
    .executeTakeFirst()
  return won?.lane_ref ?? null
}

/**
 * The quote request with an idempotency key; null if there is none. Of two concurrent requests with the same key, the second
 * waits here until the first has committed, and then finds it.
 */
export async function findQuoteRequestByKey(transaction: TenantTransaction, tenant: TenantId, key: string) {
  await sql`select pg_advisory_xact_lock(${tenant}, hashtext(${key}))`.execute(transaction)
  const found = await transaction
    .selectFrom('quote_requests')
    .select('request_id')
    .where('tenant_id', '=', tenant)
    .where('request_key', '=', key)
    .executeTakeFirst()
  return found === undefined ? null : findQuoteRequest(transaction, tenant, found.request_id)
}

export async function findQuoteRequest(transaction: TenantTransaction, tenant: TenantId, requestId: number) {
  const request = await transaction
    .selectFrom('quote_requests')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(seenByViewer(tenant, sql`customer_key(customer_name)`))
    .where('request_id', '=', requestId)
    .executeTakeFirst()
  if (request === undefined) return null
  const quotes = await transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where('request_id', '=', requestId)
    .orderBy('lane_number')
    .orderBy('quote_count')
    .execute()
  return { request, quotes }
}

/** The lane_refs of quotes, by lane_id. */
export async function readLaneRefs(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoteIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await transaction
    .selectFrom('quotes')
    .select(['lane_id', 'lane_ref'])
    .where('tenant_id', '=', tenant)
    .where(quoteSeenByViewer(tenant))
    .where('lane_id', 'in', quoteIds)
    .execute()
  return new Map(rows.map(({ lane_id, lane_ref }) => [lane_id, lane_ref]))
}
