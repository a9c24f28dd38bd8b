import { type NewImportRow, noteUndoFailure, releaseUndo, undoBatch } from '../database/queries/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import type { InTurn } from './import-file.ts'
import { persist } from './persist.ts'

export interface UndoJob {
  readonly tenant: TenantId
  readonly importId: number
  /** Checked after each batch. */
  readonly isStopping: () => boolean
  /** Undoes a batch when it is the turn of this undo; without it, at once. */
  readonly inTurn?: InTurn
  readonly onProgress?: (row: NewImportRow) => void
}

/**
 * Undoes an import whose status is `undoing`, in batches of one transaction each. When it is interrupted the status
 * stays `undoing`, and this or another process continues.
 *
 * @returns the import as it was after the last batch of this call, or null where nothing was left to do
 */
export async function undoImport(
  database: Database,
  { tenant, importId, isStopping, inTurn = (batch) => batch(), onProgress }: UndoJob,
): Promise<NewImportRow | null> {
  let reached: NewImportRow | null = null
  try {
    for (;;) {
      const row = await inTurn(() =>
        persist(
          () => database.inTenant(tenant, (transaction) => undoBatch(transaction, tenant, importId)),
          'any error',
        ),
      )
      if (row === null) return reached
      reached = row
      onProgress?.(row)
      if (row.status === 'undone') return row
      if (isStopping()) {
        await persist(() =>
          database.inTenant(tenant, (transaction) => releaseUndo(transaction, tenant, importId)),
        )
        return row
      }
    }
  } catch (error) {
    const failure =
      'The undo is paused. The service retries it within a minute; undo the import again to retry at once.'
    await database
      .inTenant(tenant, (transaction) => noteUndoFailure(transaction, tenant, importId, failure))
      .catch(() => {})
    throw error
  }
}
