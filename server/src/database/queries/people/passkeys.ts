import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

export type PasskeyRow = Selectable<Tables['passkeys']>

/** The passkeys of a person, in the order in which they were added. */
export async function listPasskeys(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<PasskeyRow[]> {
  return transaction
    .selectFrom('passkeys')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .orderBy('passkey_id')
    .execute()
}

/** The passkey with this credential id of a person, locked until the commit, so that its count of signatures only rises. */
export async function lockPasskey(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, credentialId }: { readonly userId: number; readonly credentialId: Buffer },
): Promise<PasskeyRow | null> {
  return (
    (await transaction
      .selectFrom('passkeys')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('user_id', '=', userId)
      .where('credential_id', '=', credentialId)
      .forNoKeyUpdate()
      .executeTakeFirst()) ?? null
  )
}

/** Stores a passkey. Null if the brokerage has one with this credential id already. */
export async function insertPasskey(
  transaction: TenantTransaction,
  tenant: TenantId,
  passkey: Omit<PasskeyRow, 'tenant_id' | 'last_used_at'>,
): Promise<PasskeyRow | null> {
  return (
    (await transaction
      .insertInto('passkeys')
      .values({ ...passkey, tenant_id: tenant })
      .onConflict((conflict) => conflict.columns(['tenant_id', 'credential_id']).doNothing())
      .returningAll()
      .executeTakeFirst()) ?? null
  )
}

/** Records a use of a passkey, with the count of signatures that its authenticator reported. */
export async function notePasskeyUse(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    passkeyId,
    signCount,
    synced,
    now,
  }: {
    readonly passkeyId: number
    readonly signCount: number
    readonly synced: boolean
    readonly now: Date
  },
): Promise<void> {
  await transaction
    .updateTable('passkeys')
    .set({ sign_count: signCount, synced, last_used_at: now })
    .where('tenant_id', '=', tenant)
    .where('passkey_id', '=', passkeyId)
    .execute()
}

/** Renames a passkey of a person. Null if they have none with this number. */
export async function renamePasskey(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, passkeyId, name }: { readonly userId: number; readonly passkeyId: number; readonly name: string },
): Promise<PasskeyRow | null> {
  return (
    (await transaction
      .updateTable('passkeys')
      .set({ name })
      .where('tenant_id', '=', tenant)
      .where('user_id', '=', userId)
      .where('passkey_id', '=', passkeyId)
      .returningAll()
      .executeTakeFirst()) ?? null
  )
}

/** Removes a passkey of a person, or all of them. Returns the removed ones. */
export async function deletePasskeys(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  only?: number,
): Promise<PasskeyRow[]> {
  let query = transaction
    .deleteFrom('passkeys')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .returningAll()
  if (only !== undefined) query = query.where('passkey_id', '=', only)
  return query.execute()
}

/** Uses up a challenge, and forgets those that have expired. False if it was used before. */
export async function useChallenge(
  transaction: TenantTransaction,
  tenant: TenantId,
  { challenge, expiresAt, now }: { readonly challenge: Buffer; readonly expiresAt: Date; readonly now: Date },
): Promise<boolean> {
  // A minute more, because the clocks of instances differ.
  await transaction
    .deleteFrom('used_challenges')
    .where('tenant_id', '=', tenant)
    .where('expires_at', '<', sql<Date>`${now}::timestamptz - interval '1 minute'`)
    .execute()
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('used_challenges')
    .values({ tenant_id: tenant, challenge, expires_at: expiresAt })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'challenge']).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}
