import type { TenantTransaction } from '../schema/index.ts'

/** A verified tenant. Made in one place, from a verified token or a sign-in; never from a number in a request. */
export type TenantId = number & { readonly __tenant: unique symbol }

/**
 * The only place that makes a TenantId. The number must come from a verified credential or from our own database.
 *
 * @throws RangeError if the number is not a positive 32-bit integer
 */
export function tenantId(verified: number): TenantId {
  if (!Number.isInteger(verified) || verified < 1 || verified > 2_147_483_647) {
    throw new RangeError('Not a tenant id.')
  }
  return verified as TenantId
}

/**
 * Counters of the changes of a tenant: `facts` of its quotes, `access` of its credentials, people and settings. Data that was
 * read at a version is valid until the next.
 */
export interface TenantVersions {
  readonly facts: number
  readonly access: number
}

/** Called for every commit of this process that changed a tenant; null versions if the outcome of the commit is unknown. */
export type VersionsListener = (tenant: TenantId, versions: TenantVersions | null) => void

/** Runs work in one transaction that sees the rows of one tenant only, and commits it. */
export type InTenant = <T>(
  tenant: TenantId,
  work: (transaction: TenantTransaction) => Promise<T>,
) => Promise<T>
