import { importedLanes as imported, imports, importUndo as undos } from '#server/database/queries/index.ts'
import { changesRows, type Method, noEvidence, returnsCanary, returnsResult } from './method.ts'
import { importRequestOf } from './seeded-tenants.ts'

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
  'imported-lanes.findPushed': noEvidence(async ({ transaction, tenant, lane }) => [
    ...(await imported.findPushed(transaction, tenant, [lane.external_id ?? ''])),
  ]),
  'imports.insertImport': returnsResult(async ({ transaction, tenant, ids }) => {
    // The result without its times, which differ between two calls.
    const { import_id, created_by } = await imports.insertImport(transaction, tenant, {
      file_name: 'new.csv',
      dry_run: false,
      bytes_total: 1,
      created_by: ids.owner,
      columns: {},
      ignoredColumns: [],
    })
    return { import_id, created_by }
  }),
  'imports.findImport': returnsCanary(({ transaction, tenant, ids }) =>
    imports.findImport(transaction, tenant, ids.import),
  ),
  'imports.listImports': returnsCanary(({ transaction, tenant }) => imports.listImports(transaction, tenant)),
  'imports.findImportOfRequest': returnsCanary(({ transaction, tenant, ids }) =>
    imports.findImportOfRequest(transaction, tenant, importRequestOf(ids)),
  ),
  'imports.findBusyImport': {
    ...returnsCanary(({ transaction, tenant }) => imports.findBusyImport(transaction, tenant)),
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
    ...changesRows(({ transaction, tenant, ids }) => imports.touchImport(transaction, tenant, ids.import)),
    importStatus: 'running',
  },
  'imports.saveProgress': {
    ...changesRows(({ transaction, tenant, ids }) =>
      imports.saveProgress(transaction, tenant, ids.import, progress),
    ),
    importStatus: 'running',
  },
  'imports.finishImport': {
    ...changesRows(({ transaction, tenant, ids }) =>
      imports.finishImport(transaction, tenant, ids.import, {
        ...progress,
        status: 'done',
        failure: null,
      }),
    ),
    importStatus: 'running',
  },
  'imports.lockImports': noEvidence(({ transaction, tenant }) => imports.lockImports(transaction, tenant)),
  'import-undo.setUndoing': changesRows(({ transaction, tenant, ids }) =>
    undos.setUndoing(transaction, tenant, ids.import, { userId: ids.owner }),
  ),
  'import-undo.takeOverUndo': {
    ...changesRows(async ({ transaction, tenant, ids }) => {
      await undos.releaseUndo(transaction, tenant, ids.import)
      return undos.takeOverUndo(transaction, tenant, ids.import)
    }),
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
    ...changesRows(({ transaction, tenant, ids }) => undos.undoBatch(transaction, tenant, ids.import)),
    importStatus: 'undoing',
  },
}
