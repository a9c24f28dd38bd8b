import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import { auditMoved, type TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'

/** A security event of a brokerage: the actor, the action, the affected user, and the network address. */
export interface AuditEvent {
  readonly at: Date
  readonly kind: string
  /** The actor; null for the operator of the service and for unauthenticated requests. */
  readonly userId: number | null
  /** The service token that was used; or its jti, if only that is known. */
  readonly tokenId?: number
  readonly jti?: string | null
  readonly subjectUserId: number | null
  /** Details, such as the id and name of a token. Never a secret. */
  readonly about: Readonly<Record<string, unknown>>
  /** The number of events of this kind that the row represents. */
  readonly count: number
  readonly network: string | null
  readonly requestId: string | null
}

export type AuditRow = Selectable<Tables['audit_log']>

/** The members that the hash of a row covers, in addition to the hash of the previous row. */
type Hashed = Omit<AuditRow, 'at' | 'hash'> & { readonly atMicroseconds: number }

/** The hash before the first row. */
export const noRow = Buffer.alloc(32)

/** The hash of a row: SHA-256 over the hash of the row before it and this row's members as one JSON array. */
export function auditHash(before: Buffer, row: Hashed): Buffer {
  const members = [
    row.tenant_id,
    row.entry_number,
    row.atMicroseconds,
    row.kind,
    row.user_id,
    row.token_id,
    row.subject_user_id,
    row.about,
    row.count,
    row.network,
    row.request_id,
  ]
  return createHash('sha256').update(before).update(JSON.stringify(members)).digest()
}

/** Rows in order, after the number `after`. */
export function auditRowsAfter(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: number,
  limit: number,
): Promise<(AuditRow & { readonly atMicroseconds: number })[]> {
  return (
    transaction
      .selectFrom('audit_log')
      .selectAll()
      // The times have microseconds, which a Date would truncate.
      .select(sql<number>`(extract(epoch from at) * 1000000)::bigint`.as('atMicroseconds'))
      .where('tenant_id', '=', tenant)
      .where('entry_number', '>', after)
      .orderBy('entry_number')
      .limit(limit)
      .execute()
  )
}

/** The newest row of the audit log; null before the first. */
export async function newestAuditRow(transaction: TenantTransaction, tenant: TenantId) {
  const { rows } = await sql<{ entry_number: number; at: Date; hash: Buffer }>`
    select entry_number, at, hash from audit_log where tenant_id = ${tenant} order by entry_number desc limit 1
  `.execute(transaction)
  return rows[0] ?? null
}

/**
 * Appends a row to the audit log of the tenant. The row of its counter serves as a lock until the commit, so that appends of one
 * tenant are sequential: call it last in a transaction.
 */
export async function appendAudit(
  transaction: TenantTransaction,
  tenant: TenantId,
  event: AuditEvent,
): Promise<void> {
  const entry = await nextTenantNumber(transaction, tenant, 'audit')
  // A separate statement after the lock, so that it sees a row that was committed during the wait.
  const before = (await newestAuditRow(transaction, tenant))?.hash ?? noRow
  const row = {
    tenant_id: tenant,
    entry_number: entry,
    kind: event.kind,
    user_id: event.userId,
    token_id: event.tokenId ?? (await tokenOf(transaction, tenant, event.jti ?? null)),
    subject_user_id: event.subjectUserId,
    about: JSON.stringify(event.about),
    count: event.count,
    network: event.network,
    request_id: event.requestId,
  }
  const hash = auditHash(before, { ...row, atMicroseconds: event.at.getTime() * 1000 })
  await transaction
    .insertInto('audit_log')
    .values({ ...row, at: event.at, hash })
    .execute()
  auditMoved(transaction, { tenant, entry, hash })
}

async function tokenOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  jti: string | null,
): Promise<number | null> {
  if (jti === null) return null
  const token = await transaction
    .selectFrom('service_tokens')
    .select('token_id')
    .where('tenant_id', '=', tenant)
    .where('jti', '=', jti)
    .executeTakeFirst()
  return token?.token_id ?? null
}

export interface AuditFilter {
  /** Rows of one of these kinds. */
  readonly kinds?: readonly string[]
  /** Rows in which this user is the actor or the affected user. */
  readonly userId?: number
  /** Rows at or after this time. */
  readonly from?: Date
  /** Rows before this time. */
  readonly to?: Date
}

/** Rows newest first, before the number `before`. Request one more than a page to learn whether there is another page. */
export async function listAudit(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: AuditFilter,
  page: { before: number | null; limit: number },
) {
  let query = transaction
    .selectFrom('audit_log as entry')
    .leftJoin('users as actor', (join) =>
      join.onRef('actor.tenant_id', '=', 'entry.tenant_id').onRef('actor.user_id', '=', 'entry.user_id'),
    )
    .leftJoin('users as subject', (join) =>
      join
        .onRef('subject.tenant_id', '=', 'entry.tenant_id')
        .onRef('subject.user_id', '=', 'entry.subject_user_id'),
    )
    .leftJoin('service_tokens as token', (join) =>
      join.onRef('token.tenant_id', '=', 'entry.tenant_id').onRef('token.token_id', '=', 'entry.token_id'),
    )
    .selectAll('entry')
    .select(['actor.name as user_name', 'subject.name as subject_name', 'token.name as token_name'])
    .where('entry.tenant_id', '=', tenant)
  const { kinds, userId, from, to } = filter
  if (kinds !== undefined) {
    // An empty list matches no rows. The filters for kind and subject may exclude each other and leave no kind.
    query = query.where('entry.kind', '=', sql<string>`any(${[...kinds]}::text[])`)
  }
  if (userId !== undefined) {
    query = query.where((entry) =>
      entry.or([entry('entry.user_id', '=', userId), entry('entry.subject_user_id', '=', userId)]),
    )
  }
  if (from !== undefined) query = query.where('entry.at', '>=', from)
  if (to !== undefined) query = query.where('entry.at', '<', to)
  if (page.before !== null) query = query.where('entry.entry_number', '<', page.before)
  return query.orderBy('entry.entry_number', 'desc').limit(page.limit).execute()
}

export type ListedAuditRow = Awaited<ReturnType<typeof listAudit>>[number]
