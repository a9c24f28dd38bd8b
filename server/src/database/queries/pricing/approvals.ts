import { sql } from 'kysely'
import type { ApprovalRow, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { seenByViewer } from '../customers/teams.ts'

/** The key of the customer of an approval. */
const customerKey = sql`customer_key(coalesce(asked ->> 'customerName', asked -> 'body' ->> 'customer_name'))`

export type NewApproval = Pick<
  ApprovalRow,
  'approval_id' | 'note' | 'requested_by' | 'requested_at' | 'expires_at'
> & { readonly asked: object; readonly reasons: readonly string[] }

export async function insertApproval(
  transaction: TenantTransaction,
  tenant: TenantId,
  { asked, reasons, ...approval }: NewApproval,
): Promise<void> {
  await transaction
    .insertInto('approvals')
    .values({
      ...approval,
      tenant_id: tenant,
      state: 'waiting',
      asked: JSON.stringify(asked),
      reasons: JSON.stringify(reasons),
    })
    .execute()
}

/**
 * The newest approvals, newest first.
 *
 * @param since leaves out approvals that were decided or expired before. Only the newest `limit` are read, by their key, which
 *   is fast at any number of approvals
 */
export async function listApprovals(
  transaction: TenantTransaction,
  tenant: TenantId,
  { limit, since }: { readonly limit: number; readonly since: Date | null },
): Promise<ApprovalRow[]> {
  const newest = transaction
    .selectFrom('approvals')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(seenByViewer(tenant, customerKey))
    .orderBy('approval_id', 'desc')
    .limit(limit)
  if (since === null) return newest.execute()
  return transaction
    .selectFrom(newest.as('newest'))
    .selectAll()
    .where(sql<boolean>`coalesce(decided_at, expires_at) > ${since}`)
    .orderBy('approval_id', 'desc')
    .execute()
}

export async function findApproval(
  transaction: TenantTransaction,
  tenant: TenantId,
  approvalId: number,
  { lock }: { readonly lock: boolean },
): Promise<ApprovalRow | null> {
  const found = transaction
    .selectFrom('approvals')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approvalId)
    .where(seenByViewer(tenant, customerKey))
  return (await (lock ? found.forUpdate() : found).executeTakeFirst()) ?? null
}

export type ApprovalDecision = Pick<ApprovalRow, 'state' | 'decided_by' | 'decided_at' | 'decision_note'> & {
  readonly counterCents?: readonly number[]
  readonly laneRefs?: readonly string[]
}

export async function saveDecision(
  transaction: TenantTransaction,
  tenant: TenantId,
  approvalId: number,
  { counterCents, laneRefs, ...decision }: ApprovalDecision,
): Promise<void> {
  await transaction
    .updateTable('approvals')
    .set({
      ...decision,
      ...(counterCents === undefined ? {} : { counter_cents: JSON.stringify(counterCents) }),
      ...(laneRefs === undefined ? {} : { lane_refs: JSON.stringify(laneRefs) }),
    })
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approvalId)
    .execute()
}

/** The brokerages with a request that nobody decided in time. */
export async function tenantsWithEndedApprovals(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_ended_approvals() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Saves that requests expired, and returns them. */
export async function expireApprovals(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<ApprovalRow[]> {
  return transaction
    .updateTable('approvals')
    .set({ state: 'expired' })
    .where('tenant_id', '=', tenant)
    .where('state', 'in', ['waiting', 'countered'])
    .where('expires_at', '<=', now)
    .returningAll()
    .execute()
}
