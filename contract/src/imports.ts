import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId } from './fields.ts'
import { importBytesMax } from './limits.ts'

export const importStates = ['running', 'done', 'stopped', 'failed', 'undone'] as const

/** What was wrong with one row of a file: its line in the file, the column, the value and what would be right. */
export const ImportError = Type.Object({
  row: Type.Integer({ description: 'Line in the file; the header is line 1' }),
  column: nullable(Type.String()),
  detail: Type.String(),
})

export const Import = Type.Object({
  import_id: Type.Integer(),
  file_name: Type.String(),
  dry_run: Type.Boolean(),
  status: Type.Enum([...importStates]),
  columns: Type.Record(Type.String(), Type.String(), {
    description: 'Our field -> the column of the file it is read from',
  }),
  ignored_columns: Type.Array(Type.String()),
  rows_read: Type.Integer(),
  rows_added: Type.Integer({ description: 'New lanes, or with dry_run the lanes that would be new' }),
  rows_updated: Type.Integer({
    description: 'Rows whose lane_ref is a lane here: their booking was taken over',
  }),
  rows_repeated: Type.Integer({ description: 'Rows that were imported before' }),
  rows_refused: Type.Integer(),
  errors: Type.Array(ImportError, { description: 'The first 1,000 errors' }),
  bytes_read: Type.Integer(),
  bytes_total: Type.Integer(),
  created_at: Type.String({ format: 'date-time' }),
  finished_at: nullable(Type.String({ format: 'date-time' })),
  failure: nullable(Type.String()),
})

const importId = Type.Object({ import_id: recordId })

export const createImport = endpoint({
  name: 'create-import',
  method: 'POST',
  path: '/api/imports',
  summary: 'Import past quotes and bookings',
  description:
    'Takes a CSV file (text/csv, UTF-8). Column names are matched by alias, or by map. Good rows are kept, nothing of a bad row is; the same row again adds nothing. The work goes on after the answer: read the import for its progress.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  query: Type.Object({
    file_name: Type.Optional(
      Type.String({ maxLength: 255, 'x-expected': 'a file name of at most 255 characters' }),
    ),
    dry_run: Type.Optional(oneOf('true checks the file and keeps nothing', ['true', 'false'])),
    map: Type.Optional(
      Type.String({
        description: 'field=column pairs, comma separated, such as quoted_rate=Sell Rate,origin=From',
        maxLength: 4000,
        'x-expected': 'field=column pairs separated by commas',
      }),
    ),
  }),
  body: Type.String({ description: 'The CSV file' }),
  bodyKind: 'csv',
  bodyBytesMax: importBytesMax,
  status: 202,
  answer: Import,
  problems: ['state-conflict'],
})

export const listImports = endpoint({
  name: 'list-imports',
  method: 'GET',
  path: '/api/imports',
  summary: 'List imports',
  description: 'The last 200 imports, newest first, without their row errors.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({ imports: Type.Array(Import) }),
})

export const getImport = endpoint({
  name: 'get-import',
  method: 'GET',
  path: '/api/imports/{import_id}',
  summary: 'Progress and result of an import',
  description: 'How far it is, what was added, and what was wrong by row and column.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'viewer' },
  params: importId,
  status: 200,
  answer: Import,
  problems: ['not-found'],
})

export const stopImport = endpoint({
  name: 'stop-import',
  method: 'POST',
  path: '/api/imports/{import_id}/stop',
  summary: 'Stop a running import',
  description: 'Rows taken in so far stay; sending the file again goes on where it stopped.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  params: importId,
  status: 200,
  answer: Import,
  problems: ['not-found'],
})

export const undoImport = endpoint({
  name: 'undo-import',
  method: 'POST',
  path: '/api/imports/{import_id}/undo',
  summary: 'Undo an import',
  description:
    'Takes out every lane the import made that nobody has changed since, and rolls back the bookings it wrote. Lanes changed since are kept and counted.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'admin' },
  params: importId,
  status: 200,
  answer: Type.Object({
    import: Import,
    lanes_removed: Type.Integer(),
    lanes_kept: Type.Integer(),
    bookings_rolled_back: Type.Integer(),
  }),
  problems: ['not-found', 'state-conflict'],
})
