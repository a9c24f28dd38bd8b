import { type Doing, recordEvent } from '../audit/index.ts'
import {
  findBusyImport,
  findImport,
  findImportOfRequest,
  type ImportRow,
  insertImport,
  lockImports,
  type NewImportRow,
  setUndoing,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/** An import or undo cannot begin. The message gives the reason and what to do, for the person who requested it. */
export class ImportConflict extends Error {}

/**
 * Begins an import, and records it in the audit log unless it is a dry run. A signed request that has already begun one gets that
 * import, and `isNew` is false.
 *
 * @throws ImportConflict
 */
export async function beginImport(
  transaction: TenantTransaction,
  doing: Doing,
  given: Omit<Parameters<typeof insertImport>[2], 'created_by'>,
): Promise<{ readonly row: ImportRow; readonly isNew: boolean }> {
  const { tenant, userId } = doing.caller
  const { request_digest: digest = null } = given
  if (digest !== null) {
    await lockImports(transaction, tenant)
    const begun = await findImportOfRequest(transaction, tenant, digest)
    if (begun !== null) return { row: begun, isNew: false }
  }
  await refuseWhileBusy(transaction, tenant)
  const { import_id } = await insertImport(transaction, tenant, { ...given, created_by: userId })
  const row = await findImport(transaction, tenant, import_id)
  if (row === null) throw new Error('The import that was just inserted is not there.')
  if (!row.dry_run) {
    await recordEvent(transaction, doing, 'import-started', { about: { import_id, file: row.file_name } })
  }
  return { row, isNew: true }
}

/**
 * Begins the undo of an import and records it in the audit log. The status is `undoing` until the undo is complete. An
 * import that is already `undoing` or undone is returned unchanged.
 *
 * @returns null where the brokerage has no such import
 * @throws ImportConflict
 */
export async function beginUndo(
  transaction: TenantTransaction,
  doing: Doing,
  importId: number,
): Promise<{ readonly row: ImportRow; readonly isNew: boolean } | null> {
  const { tenant, userId } = doing.caller
  const find = () => findImport(transaction, tenant, importId)
  await lockImports(transaction, tenant)
  const row = await find()
  if (row === null) return null
  if (row.status === 'undoing' || row.status === 'undone') return { row, isNew: false }
  if (row.dry_run) {
    throw new ImportConflict(
      `Import ${importId} (${row.file_name}) was a dry run: it saved nothing, so there is nothing to undo.`,
    )
  }
  await refuseWhileBusy(transaction, tenant)
  await setUndoing(transaction, tenant, importId, { userId })
  const begun = await find()
  if (begun === null) throw new Error('The import that is to be undone is not there.')
  await recordEvent(transaction, doing, 'import-undone', { about: { import_id: importId } })
  return { row: begun, isNew: true }
}

/**
 * Checks that no other import or undo of the brokerage is in progress.
 *
 * @throws ImportConflict
 */
export async function refuseWhileBusy(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  // The check runs after the insert, so that of two concurrent imports the second sees the first.
  await lockImports(transaction, tenant)
  const busy = await findBusyImport(transaction, tenant)
  if (busy !== null) throw new ImportConflict(busyWords(busy))
}

function busyWords(row: NewImportRow): string {
  const name = `Import ${row.import_id} (${row.file_name})`
  const rows = (count: number) => count.toLocaleString('en-US')
  if (row.status === 'undoing') {
    return `${name} is being undone: ${rows(row.undo_rows_done)} of ${rows(undoRowsTotal(row))} rows so far. Wait until that has ended.`
  }
  const what = row.dry_run ? 'is still being checked' : 'is still running'
  return `${name} ${what}: ${rows(row.rows_read)} rows read so far. Wait until it has ended, or stop it; if its program was killed, it counts as ended half a minute later.`
}

/** The number of rows that an undo processes. */
export function undoRowsTotal(row: Pick<NewImportRow, 'rows_added' | 'rows_updated'>): number {
  return row.rows_added + row.rows_updated
}
