import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { deletePasskeys } from './passkeys.ts'

export type SecondFactorRow = Selectable<Tables['second_factors']>

/** The authenticator app of a person, also one that was not confirmed yet. Locked until the commit, so that a code is used once. */
export async function lockSecondFactor(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<SecondFactorRow | null> {
  return (
    (await transaction
      .selectFrom('second_factors')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('user_id', '=', userId)
      .forNoKeyUpdate()
      .executeTakeFirst()) ?? null
  )
}

/** Stores a second factor that its person has not confirmed yet, instead of an earlier one of that kind. False if they have one. */
export async function offerSecondFactor(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, sealed, now }: { readonly userId: number; readonly sealed: Buffer; readonly now: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('second_factors')
    .values({ tenant_id: tenant, user_id: userId, sealed, added_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'user_id'])
        .doUpdateSet({ sealed, added_at: now, last_step: 0 })
        .where('second_factors.confirmed_at', 'is', null),
    )
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Records the period of the code that was used, and with `confirmedAt` that the factor is in use from now on. */
export async function useFactorStep(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    userId,
    step,
    confirmedAt,
  }: { readonly userId: number; readonly step: number; readonly confirmedAt?: Date },
): Promise<void> {
  await transaction
    .updateTable('second_factors')
    .set({ last_step: step, ...(confirmedAt === undefined ? {} : { confirmed_at: confirmedAt }) })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** Removes the authenticator app and the passkeys of a person, and their recovery codes. False if they have none. */
export async function removeSecondFactor(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean> {
  const passkeys = await deletePasskeys(transaction, tenant, userId)
  await removeRecoveryCodes(transaction, tenant, userId)
  return (await removeApp(transaction, tenant, userId)) || passkeys.length > 0
}

/** Removes the recovery codes of a person. */
export async function removeRecoveryCodes(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<void> {
  await transaction
    .deleteFrom('recovery_codes')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** Removes the authenticator app of a person. False if they have none. */
export async function removeApp(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('second_factors')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Replaces the recovery codes of a person. */
export async function replaceRecoveryCodes(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  hashes: readonly Buffer[],
): Promise<void> {
  await removeRecoveryCodes(transaction, tenant, userId)
  await transaction
    .insertInto('recovery_codes')
    .values(hashes.map((code_hash) => ({ tenant_id: tenant, user_id: userId, code_hash })))
    .execute()
}

/** Uses up a recovery code of a person. False if it is none of theirs. */
export async function useRecoveryCode(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  hash: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('recovery_codes')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('code_hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function countRecoveryCodes(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('recovery_codes')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

/** Records that the second factor was given in a session. */
export async function noteFactorGiven(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('sessions')
    .set({ factor_at: now })
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .execute()
}
