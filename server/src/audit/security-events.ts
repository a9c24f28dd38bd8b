import type { AuditKind } from '#contract/audit-kinds.ts'
import { type AuditEvent, appendAudit } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/** Who does something, and from where. An endpoint's call of a signed-in person is one. */
export interface Doing extends From {
  readonly caller: { readonly tenant: TenantId; readonly userId: number | null }
}

interface From {
  /** Epoch milliseconds. */
  readonly now: number
  readonly network: string | null
  readonly requestId: string | null
}

/** What the operator of the service does by a command: nobody of the brokerage, and not over the network. */
export function byOperator(tenant: TenantId, now: number): Doing {
  return { caller: { tenant, userId: null }, now, network: null, requestId: null }
}

/** An event as the audit log takes it. `subject` is the person it is done to. */
export function auditEvent(
  userId: number | null,
  { now, network, requestId }: From,
  kind: AuditKind,
  { subject = null, about = {} }: { subject?: number | null; about?: AuditEvent['about'] } = {},
): AuditEvent {
  return {
    at: new Date(now),
    kind,
    userId,
    subjectUserId: subject,
    about,
    count: 1,
    network,
    requestId,
  }
}

/**
 * Writes an event into the audit log of the brokerage, in the transaction that makes it true, as its last statement.
 *
 * @example await recordEvent(transaction, call, 'role-changed', { subject: 4, about: { from: 'member', to: 'admin' } })
 */
export async function recordEvent(
  transaction: TenantTransaction,
  doing: Doing,
  kind: AuditKind,
  details: { subject?: number; about?: AuditEvent['about'] } = {},
): Promise<void> {
  const { tenant, userId } = doing.caller
  await appendAudit(transaction, tenant, auditEvent(userId, doing, kind, details))
}
