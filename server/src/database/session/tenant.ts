import type { TenantTransaction } from '../schema/index.ts'

/** Made in one place, from a verified token or a sign-in; never from a number somebody sent. */
export type TenantId = number & { readonly __tenant: unique symbol }

/** The one place that makes a TenantId. The number comes from a verified credential or from our own database. */
export function tenantId(verified: number): TenantId {
  if (!Number.isInteger(verified) || verified < 1 || verified > 2_147_483_647) {
    throw new RangeError('Not a tenant id.')
  }
  return verified as TenantId
}

/** How often a tenant's facts and its access have changed: what was read at one version holds until the next. */
export interface TenantVersions {
  readonly facts: number
  readonly access: number
}

/** Told of every commit of this process that moved a tenant on; null when nobody knows whether it was committed. */
export type VersionsListener = (tenant: TenantId, versions: TenantVersions | null) => void

/** Runs work in one transaction that sees the rows of one tenant only, and commits it. */
export type InTenant = <T>(
  tenant: TenantId,
  work: (transaction: TenantTransaction) => Promise<T>,
) => Promise<T>
