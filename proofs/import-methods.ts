import { importedLanes as imported, imports, importUndo as undos } from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { newImportedLane } from './new-lanes.ts'

const progress = {
  rowsRead: 9,
  rowsAdded: 9,
  rowsUpdated: 9,
  rowsRepeated: 9,
  rowsRefused: 9,
  rowsKept: 9,
  rowsWon: 0,
  rowsLost: 0,
  rowsPending: 0,
  bytesRead: 9,
}

/** Database functions for imports and their undos. See `database-methods.ts`. */
export const importMethods: Readonly<Record<string, Method>> = {
  'imported-lanes.findImported': returnsResult(async ({ transaction, tenant, fingerprint }) => [
    ...(await imported.findImported(transaction, tenant, [fingerprint])),
  ]),
  'imported-lanes.insertImportedLanes': changesRows(({ database, transaction, tenant, ids, now }) =>
    imported.insertImportedLanes(
      transaction,
      tenant,
      database.identifiers,
      { importId: ids.import, createdBy: ids.owner },
      [{ ...newImportedLane, createdAt: now, said: null }],
    ),
  ),
  'imports.insertImport': returnsResult(({ transaction, tenant, ids, now }) =>
    imports.insertImport(transaction, tenant, {
      file_name: 'new.csv',
      dry_run: false,
      bytes_total: 1,
      created_by: ids.owner,
      created_at: now,
      columns: {},
      ignoredColumns: [],
    }),
  ),
  'imports.findImport': returnsCanary(({ transaction, tenant, ids, now }) =>
    imports.findImport(transaction, tenant, ids.import, now),
  ),
  'imports.listImports': returnsCanary(({ transaction, tenant, now }) =>
    imports.listImports(transaction, tenant, now),
  ),
  'imports.findBusyImport': {
    ...returnsCanary(({ transaction, tenant, now }) => imports.findBusyImport(transaction, tenant, now)),
    importStatus: 'running',
  },
  'imports.rowsReadOf': returnsResult(async ({ transaction, tenant, ids }) =>
    [await imports.rowsReadOf(transaction, tenant, ids.import)].filter((rows) => rows !== null),
  ),
  'imports.requestStop': {
    ...changesRows(({ transaction, tenant, ids }) => imports.requestStop(transaction, tenant, ids.import)),
    importStatus: 'running',
  },
  'imports.touchImport': {
    ...changesRows(({ transaction, tenant, ids, now }) =>
      imports.touchImport(transaction, tenant, ids.import, new Date(now.getTime() + 1000)),
    ),
    importStatus: 'running',
  },
  'imports.saveProgress': {
    ...changesRows(({ transaction, tenant, ids, now }) =>
      imports.saveProgress(transaction, tenant, ids.import, { ...progress, now }),
    ),
    importStatus: 'running',
  },
  'imports.finishImport': {
    ...changesRows(({ transaction, tenant, ids, now }) =>
      imports.finishImport(transaction, tenant, ids.import, {
        ...progress,
        status: 'done',
        failure: null,
        now,
      }),
    ),
    importStatus: 'running',
  },
  'imports.lockImports': noEvidence(({ transaction, tenant }) => imports.lockImports(transaction, tenant)),
  'import-undo.setUndoing': changesRows(({ transaction, tenant, ids, now }) =>
    undos.setUndoing(transaction, tenant, ids.import, { userId: ids.owner, now }),
  ),
  'import-undo.takeOverUndo': {
    ...changesRows(({ transaction, tenant, ids }) =>
      undos.takeOverUndo(transaction, tenant, ids.import, new Date(Date.now() + 3_600_000)),
    ),
    importStatus: 'undoing',
  },
  'import-undo.releaseUndo': {
    ...changesRows(({ transaction, tenant, ids }) => undos.releaseUndo(transaction, tenant, ids.import)),
    importStatus: 'undoing',
  },
  'import-undo.noteUndoFailure': {
    ...changesRows(({ transaction, tenant, ids }) =>
      undos.noteUndoFailure(transaction, tenant, ids.import, 'It does not go on.'),
    ),
    importStatus: 'undoing',
  },
  'import-undo.undoBatch': {
    ...changesRows(({ transaction, tenant, ids, now }) =>
      undos.undoBatch(transaction, tenant, ids.import, now),
    ),
    importStatus: 'undoing',
  },
}
