import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

/** A person, and the hashes of a network: one for each key of the installation. */
export interface HashedNetwork {
  readonly userId: number
  readonly hashes: readonly Buffer[]
}

/** Whether a person signed in from a network since a time. */
export async function isKnownNetwork(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, hashes }: HashedNetwork,
  since: Date,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('sign_in_networks')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('network_hash', 'in', hashes)
    .where('signed_in_at', '>', since)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Records that a person signed in from a network, and deletes all but the newest `kept` networks of the person. */
export async function noteSignInNetwork(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, hash, now }: { readonly userId: number; readonly hash: Buffer; readonly now: Date },
  kept: number,
): Promise<void> {
  await transaction
    .insertInto('sign_in_networks')
    .values({ tenant_id: tenant, user_id: userId, network_hash: hash, signed_in_at: now })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'user_id', 'network_hash']).doUpdateSet({ signed_in_at: now }),
    )
    .execute()
  const newest = await transaction
    .selectFrom('sign_in_networks')
    .select('network_hash')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .orderBy('signed_in_at', 'desc')
    .limit(kept)
    .execute()
  await transaction
    .deleteFrom('sign_in_networks')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where(
      'network_hash',
      'not in',
      newest.map((row) => row.network_hash),
    )
    .execute()
}

/** Forgets the networks of a person. */
export async function forgetNetworks(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<void> {
  await transaction
    .deleteFrom('sign_in_networks')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** The brokerages with networks that nobody has signed in from for some days. */
export async function tenantsWithOldNetworks(
  transaction: TenantTransaction,
  days: number,
): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_old_networks(now() - make_interval(days => ${days}::integer)) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Deletes the networks that nobody has signed in from for some days. */
export async function deleteOldNetworks(
  transaction: TenantTransaction,
  tenant: TenantId,
  days: number,
): Promise<void> {
  await transaction
    .deleteFrom('sign_in_networks')
    .where('tenant_id', '=', tenant)
    .where('signed_in_at', '<', sql<Date>`now() - make_interval(days => ${days}::integer)`)
    .execute()
}
