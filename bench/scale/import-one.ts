import { insertImport } from '#server/database/queries/index.ts'
import type { Database, TenantId } from '#server/database/session/index.ts'
import { importFile, openImport } from '#server/imports/index.ts'

/** Imports a file, and returns the number of rows added. */
export async function importOne(database: Database, tenant: TenantId, file: Buffer): Promise<number> {
  const opened = await openImport([file], undefined)
  const row = await database.inTenant(tenant, (transaction) =>
    insertImport(transaction, tenant, {
      file_name: 'bench.csv',
      dry_run: false,
      columns: opened.columns.names,
      ignoredColumns: opened.columns.ignored,
      bytes_total: file.length,
      created_by: null,
    }),
  )
  const end = await importFile(database, {
    tenant,
    importId: row.import_id,
    createdBy: null,
    file: opened,
    dryRun: false,
    isStopping: () => false,
  })
  return end.rowsAdded
}
