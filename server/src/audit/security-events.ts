import type { AuditKind } from '#contract/audit-kinds.ts'
import { type AuditEvent, appendAudit } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/** Who acts, when, and with which request. The call of a person or a service token to an endpoint has these members. */
export interface Doing extends From {
  readonly caller: { readonly tenant: TenantId; readonly userId: number | null; readonly tokenId?: number }
}

interface From {
  /** Epoch milliseconds. */
  readonly now: number
  readonly network: string | null
  readonly requestId: string | null
}

/** An action of the operator through a command: no user of the brokerage, and no network address. */
export function byOperator(tenant: TenantId, now: number): Doing {
  return { caller: { tenant, userId: null }, now, network: null, requestId: null }
}

/** An event as a row of the audit log. `subject` is the user that the action affects. */
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
 * Writes an event to the audit log of the brokerage. Call it as the last statement of the transaction that performs the
 * action.
 *
 * @example await recordEvent(transaction, call, 'role-changed', { subject: 4, about: { from: 'member', to: 'admin' } })
 */
export async function recordEvent(
  transaction: TenantTransaction,
  doing: Doing,
  kind: AuditKind,
  details: { subject?: number; about?: AuditEvent['about'] } = {},
): Promise<void> {
  const { tenant, userId, tokenId } = doing.caller
  const event = auditEvent(userId, doing, kind, details)
  await appendAudit(transaction, tenant, tokenId === undefined ? event : { ...event, tokenId })
}
