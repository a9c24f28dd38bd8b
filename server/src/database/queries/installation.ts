import type { TenantTransaction } from '../schema/index.ts'

/** A known text sealed with the secret key this database was first started with, or null before that. */
export async function readKeyCheck(transaction: TenantTransaction): Promise<Buffer | null> {
  const { key_check } = await transaction
    .selectFrom('installation')
    .select('key_check')
    .executeTakeFirstOrThrow()
  return key_check
}

/** Notes which secret key the database belongs to; false when that is noted already, and nothing is changed. */
export async function writeKeyCheck(transaction: TenantTransaction, sealed: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('installation')
    .set({ key_check: sealed })
    .where('key_check', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Notes that the database belongs to another key from now on, unless somebody else has noted so since `before` was read. */
export async function replaceKeyCheck(
  transaction: TenantTransaction,
  before: Buffer,
  sealed: Buffer,
): Promise<void> {
  await transaction
    .updateTable('installation')
    .set({ key_check: sealed })
    .where('key_check', '=', before)
    .execute()
}

/** The names of the keys that the service was last started with. */
export async function readKeyNames(transaction: TenantTransaction): Promise<string[]> {
  const { key_names } = await transaction
    .selectFrom('installation')
    .select('key_names')
    .executeTakeFirstOrThrow()
  return key_names.split(',')
}

export async function writeKeyNames(transaction: TenantTransaction, names: readonly string[]): Promise<void> {
  await transaction
    .updateTable('installation')
    .set({ key_names: names.join(',') })
    .execute()
}

/** Notes whether events are on: what writes to the database asks it, whichever process it is. */
export async function writeEventsOn(transaction: TenantTransaction, on: boolean): Promise<void> {
  await transaction.updateTable('installation').set({ events: on }).where('events', '!=', on).execute()
}
