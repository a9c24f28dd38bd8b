import type { TenantTransaction } from './open-database.ts'

/** A known text sealed with the secret key this database was first started with, or null before that. */
export async function readKeyCheck(transaction: TenantTransaction): Promise<Buffer | null> {
  const { key_check } = await transaction
    .selectFrom('installation')
    .select('key_check')
    .executeTakeFirstOrThrow()
  return key_check
}

export async function writeKeyCheck(transaction: TenantTransaction, sealed: Buffer): Promise<void> {
  await transaction.updateTable('installation').set({ key_check: sealed }).execute()
}
