import { importedLanes as imported, imports, importUndo as undos } from '#server/database/queries/index.ts'
import { alters, finds, type Method, shows } from './method.ts'
import { newImportedLane } from './new-lanes.ts'

const progress = {
  rowsRead: 9,
  rowsAdded: 9,
  rowsUpdated: 9,
  rowsRepeated: 9,
  rowsRefused: 9,
  rowsKept: 9,
  bytesRead: 9,
}

/** Functions of the database about imports and their undos. */
export const importMethods: Readonly<Record<string, Method>> = {
  'imported-lanes.findImported': finds(async ({ transaction, tenant, fingerprint }) => [
    ...(await imported.findImported(transaction, tenant, [fingerprint])),
  ]),
  'imported-lanes.insertImportedLanes': alters(({ database, transaction, tenant, of, now }) =>
    imported.insertImportedLanes(
      transaction,
      tenant,
      database.identifiers,
      { importId: of.import, createdBy: of.owner },
      [{ ...newImportedLane, createdAt: now, said: null }],
    ),
  ),
  'imports.insertImport': finds(({ transaction, tenant, of, now }) =>
    imports.insertImport(transaction, tenant, {
      file_name: 'new.csv',
      dry_run: false,
      bytes_total: 1,
      created_by: of.owner,
      created_at: now,
      columns: {},
      ignoredColumns: [],
    }),
  ),
  'imports.findImport': shows(({ transaction, tenant, of, now }) =>
    imports.findImport(transaction, tenant, of.import, now),
  ),
  'imports.listImports': shows(({ transaction, tenant, now }) =>
    imports.listImports(transaction, tenant, now),
  ),
  'imports.findBusyImport': {
    ...shows(({ transaction, tenant, now }) => imports.findBusyImport(transaction, tenant, now)),
    importIs: 'running',
  },
  'imports.rowsReadOf': finds(async ({ transaction, tenant, of }) =>
    [await imports.rowsReadOf(transaction, tenant, of.import)].filter((rows) => rows !== null),
  ),
  'imports.requestStop': {
    ...alters(({ transaction, tenant, of }) => imports.requestStop(transaction, tenant, of.import)),
    importIs: 'running',
  },
  'imports.touchImport': {
    ...alters(({ transaction, tenant, of, now }) =>
      imports.touchImport(transaction, tenant, of.import, new Date(now.getTime() + 1000)),
    ),
    importIs: 'running',
  },
  'imports.saveProgress': {
    ...alters(({ transaction, tenant, of, now }) =>
      imports.saveProgress(transaction, tenant, of.import, { ...progress, now }),
    ),
    importIs: 'running',
  },
  'imports.finishImport': {
    ...alters(({ transaction, tenant, of, now }) =>
      imports.finishImport(transaction, tenant, of.import, {
        ...progress,
        status: 'done',
        failure: null,
        now,
      }),
    ),
    importIs: 'running',
  },
  'imports.lockImports': {
    call: ({ transaction, tenant }) => imports.lockImports(transaction, tenant),
    does: 'nothing',
  },
  'import-undo.setUndoing': alters(({ transaction, tenant, of, now }) =>
    undos.setUndoing(transaction, tenant, of.import, { userId: of.owner, now }),
  ),
  'import-undo.takeOverUndo': {
    ...alters(({ transaction, tenant, of }) =>
      undos.takeOverUndo(transaction, tenant, of.import, new Date(Date.now() + 3_600_000)),
    ),
    importIs: 'undoing',
  },
  'import-undo.releaseUndo': {
    ...alters(({ transaction, tenant, of }) => undos.releaseUndo(transaction, tenant, of.import)),
    importIs: 'undoing',
  },
  'import-undo.noteUndoFailure': {
    ...alters(({ transaction, tenant, of }) =>
      undos.noteUndoFailure(transaction, tenant, of.import, 'It does not go on.'),
    ),
    importIs: 'undoing',
  },
  'import-undo.undoBatch': {
    ...alters(({ transaction, tenant, of, now }) => undos.undoBatch(transaction, tenant, of.import, now)),
    importIs: 'undoing',
  },
}
