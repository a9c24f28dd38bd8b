import { sql } from 'kysely'
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

/**
 * When the last backup was made that was also restored and compared, in epoch milliseconds; null if none is recorded. The backup
 * commands record it in a comment on the table: the role of the service cannot write it, and needs no right to read it.
 */
export async function readVerifiedBackup(transaction: TenantTransaction): Promise<number | null> {
  const { rows } = await sql<{ remark: string | null }>`
    select obj_description('installation'::regclass, 'pg_class') as remark
  `.execute(transaction)
  const at = Date.parse(/^backup verified (\S+)$/.exec(rows[0]?.remark ?? '')?.[1] ?? '')
  return Number.isNaN(at) ? null : at
}
