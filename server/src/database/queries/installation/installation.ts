import type { TenantTransaction } from '../../schema/index.ts'

/** A fixed text, encrypted with the secret key of the database's first start; null before the first start. */
export async function readKeyCheck(transaction: TenantTransaction): Promise<Buffer | null> {
  const { key_check } = await transaction
    .selectFrom('installation')
    .select('key_check')
    .executeTakeFirstOrThrow()
  return key_check
}

/** Records which secret key the database belongs to. Returns false, and changes nothing, if a key is already recorded. */
export async function writeKeyCheck(transaction: TenantTransaction, sealed: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('installation')
    .set({ key_check: sealed })
    .where('key_check', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Records a new secret key for the database, unless another process has changed it since `before` was read. */
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

/** The names of the keys with which the service was last started. */
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

/** Records whether events are on, for every process that writes to the database. */
export async function writeEventsOn(transaction: TenantTransaction, on: boolean): Promise<void> {
  await transaction.updateTable('installation').set({ events: on }).where('events', '!=', on).execute()
}
