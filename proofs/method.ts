import type { people } from '#server/database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '#server/database/schema/index.ts'
import type { Database, TenantId } from '#server/database/session/index.ts'
import type { TenantIds } from './seeded-ids.ts'

/** Arguments for a call of a database function: the caller's transaction and tenant, and records of the same or another tenant. */
export interface MethodCall {
  readonly database: Database
  readonly transaction: TenantTransaction
  /** The caller's tenant. */
  readonly tenant: TenantId
  /** The ids to ask for. In a test of tenant isolation they belong to another tenant. */
  readonly ids: TenantIds
  readonly lane: LaneRow
  readonly user: people.UserRow
  /** The digest of the seeded shipment update. */
  readonly requestDigest: Buffer
  /** The fingerprint of the seeded imported row. */
  readonly fingerprint: Buffer
  readonly now: Date
}

/** One database function, with the evidence that a call with the tenant's own ids has worked. */
export interface Method {
  readonly call: (given: MethodCall) => Promise<unknown>
  /**
   * How to recognize that the function worked for the tenant that owns the ids. `canary`: the result contains a canary.
   * `changed rows`: rows of the tenant changed. `result`: the result is not empty. `none`: there is no evidence.
   */
  readonly evidence: 'canary' | 'changed rows' | 'result' | 'none'
  /** The required status of the seeded import. If absent, the import is done. */
  readonly importStatus?: 'running' | 'undoing'
  /** The function opens and commits its own transactions, so its changes cannot be rolled back. */
  readonly commits?: true
}

export const returnsCanary = (call: Method['call']): Method => ({ call, evidence: 'canary' })
export const changesRows = (call: Method['call']): Method => ({ call, evidence: 'changed rows' })
export const returnsResult = (call: Method['call']): Method => ({ call, evidence: 'result' })
export const noEvidence = (call: Method['call']): Method => ({ call, evidence: 'none' })
