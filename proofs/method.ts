import type { people } from '#server/database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '#server/database/schema/index.ts'
import type { Database, TenantId } from '#server/database/session/index.ts'
import type { TenantIds } from './seeded-tenants.ts'

/** What a function of the database is called with: the caller's transaction and tenant, and somebody's records. */
export interface MethodCall {
  readonly database: Database
  readonly transaction: TenantTransaction
  readonly tenant: TenantId
  /** Whose records it is asked about. */
  readonly of: TenantIds
  readonly lane: LaneRow
  readonly user: people.UserRow
  /** Digests under which their one signed update and their one imported row are kept. */
  readonly requestDigest: Buffer
  readonly fingerprint: Buffer
  readonly now: Date
}

export interface Method {
  readonly call: (given: MethodCall) => Promise<unknown>
  /**
   * How one knows that it did something where it may: that it `shows` a canary, `changes` a row, or `finds` something.
   * Where even the rightful call has nothing to show it is `nothing`.
   */
  readonly does: 'shows' | 'changes' | 'finds' | 'nothing'
  /** The state that the import must be in; otherwise it is done. */
  readonly importIs?: 'running' | 'undoing'
  /** Works in transactions of its own, of the tenant it is given. */
  readonly commits?: true
}

export const shows = (call: Method['call']): Method => ({ call, does: 'shows' })
export const alters = (call: Method['call']): Method => ({ call, does: 'changes' })
export const finds = (call: Method['call']): Method => ({ call, does: 'finds' })
