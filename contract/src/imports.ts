import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId } from './fields.ts'
import { importBytesMax, importColumnsMax, importHeadersBytesMax, workbookBytesMax } from './limits.ts'
import { changeSources } from './quote.ts'
import { rateBases } from './rate-basis.ts'
import { refusedColumn } from './refused-column.ts'
import { fileBody, fileForms, sheet } from './sent-file.ts'

export const importStates = ['running', 'done', 'stopped', 'failed', 'undoing', 'undone'] as const

/**
 * An error in one row of a file: the line in the file, the column, and a message with the value and the expected
 * form.
 */
export const ImportError = Type.Object({
  row: Type.Integer({ description: 'Line in the file; the header is line 1' }),
  column: nullable(Type.String()),
  detail: Type.String(),
})

/** The parts of a file about whose reading an import says a sentence. */
export const importNoteCodes = [
  'basis',
  'columns',
  'content',
  'currency',
  'date_order',
  'encoding',
  'formulas_without_results',
  'header_joined',
  'hidden_columns',
  'hidden_rows',
  'lines_left_out',
  'not_given',
  'other_sheets',
  'quotes_left_out',
  'refused_rows',
  'same_ids',
  'same_value',
  'time_zone',
  'unit',
  'unknown_places',
  'words',
] as const

/** The encodings of CSV text that are read. */
export const textEncodings = ['utf-8', 'utf-16', 'windows-1252', 'macintosh', 'cp850', 'cp437'] as const

/** How a part of a file was read, with the other readings that a person can choose. */
export const ImportNote = Type.Object({
  code: Type.Enum([...importNoteCodes]),
  column: nullable(Type.String({ description: 'The column; null if the sentence is not about one column' })),
  detail: Type.String(),
  choices: Type.Array(
    Type.Object({
      map: Type.String({ description: 'A pair to add to map, such as dates=day_first' }),
      detail: Type.String({ description: 'How the file is then read' }),
    }),
  ),
})

/** A word of a file whose meaning is not known, or is stated in the map, and a code of equipment that only this file uses. */
export const ImportWord = Type.Object({
  field: Type.String({ description: 'The field that the column is read as, such as outcome' }),
  column: Type.String({ description: 'The column of the file' }),
  word: Type.String({ description: 'In its first spelling. Capitals, signs and accents make no other word' }),
  rows: Type.Integer({
    description:
      'Rows with this word. They are refused while its meaning is not known, except codes of equipment',
  }),
  meaning: nullable(
    Type.String({
      description: 'What the map says that the word means. skip: its rows are left out. null: not known',
    }),
  ),
  likely: nullable(Type.String({ description: 'What the word may mean. It is not applied' })),
  saved_as: nullable(
    Type.String({
      description:
        'The code of equipment that the rows are saved with: it is not known, and may be one that the brokerage uses. Its history is in no answer for another code. null: the rows are refused, or read as the map says',
    }),
  ),
  map: Type.String({
    description: 'The left side of the pair that states the meaning, such as outcome:Lost to CHR',
  }),
})

/** Errors of a file with one cause: they have the same column, and the same sentence except for its values. */
const ImportCause = Type.Object({
  column: nullable(Type.String()),
  detail: Type.String({ description: 'The first error' }),
  rows: Type.Integer(),
  lines: Type.Array(Type.Integer(), { description: 'The first 8 lines' }),
})

const changedValue = nullable(Type.Union([Type.String(), Type.Number()]))

/** A quote that a row of a file changed (or would change with dry_run), with its changed fields. */
const ImportChange = Type.Object({
  row: Type.Integer({ description: 'Line in the file; the header is line 1' }),
  lane_ref: Type.String(),
  fields: Type.Array(
    Type.Object({
      field: Type.String({ description: 'The name in the history of the quote, such as customer_rate' }),
      before: changedValue,
      after: changedValue,
    }),
  ),
  currencies: Type.Optional(
    Type.Object(
      {
        quoted_currency: nullable(Type.Enum(['USD', 'CAD'])),
        customer_currency: nullable(Type.Enum(['USD', 'CAD'])),
        truck_currency: nullable(Type.Enum(['USD', 'CAD'])),
      },
      {
        description:
          'The currencies of the amounts of the quote after the change; null for US dollars. Absent in imports of earlier versions',
      },
    ),
  ),
})

/** A value of a file that was not applied, because the quote has a newer value, or a quoted rate on other terms. */
const ImportNotApplied = Type.Object({
  row: Type.Integer({ description: 'Line in the file; the header is line 1' }),
  lane_ref: Type.String(),
  column: Type.String({ description: 'The column of the file' }),
  file_value: Type.Union([Type.String(), Type.Number()]),
  kept_value: changedValue,
  set_by: Type.Object({
    source: Type.Enum([...changeSources]),
    name: nullable(Type.String({ description: 'The person, if a person set the value' })),
  }),
  detail: Type.String(),
})

const person = nullable(Type.Object({ user_id: Type.Integer(), name: Type.String() }))

/** Progress and result of the undo of an import. */
const ImportUndo = Type.Object({
  started_at: Type.String({ format: 'date-time' }),
  started_by: person,
  finished_at: nullable(Type.String({ format: 'date-time' })),
  rows_total: Type.Integer({ description: 'Rows that the import added or updated' }),
  rows_done: Type.Integer({ description: 'Rows that the undo has processed' }),
  lanes_removed: Type.Integer({ description: 'Quotes that the import had created and the undo removed' }),
  lanes_restored: Type.Integer({ description: 'Quotes restored to their values before the import' }),
  lanes_kept: Type.Integer({
    description: 'Quotes that the undo kept, because they were changed, booked or requoted after the import',
  }),
})

export const Import = Type.Object({
  import_id: Type.Integer(),
  file_name: Type.String(),
  dry_run: Type.Boolean(),
  status: Type.Enum([...importStates]),
  columns: Type.Record(Type.String(), Type.String(), {
    description:
      'Lanewise field -> the column of the file that it is read from, or "Van" in all rows for a value that the map states. quoted_basis, customer_basis and truck_basis without a column: what was assumed',
  }),
  ignored_columns: Type.Array(Type.String()),
  rows_read: Type.Integer({
    description:
      'The sum of rows_added, rows_updated, rows_repeated, rows_refused and rows_kept. Rows that understood lists as left out are not in it',
  }),
  rows_added: Type.Integer({ description: 'New quotes (with dry_run: quotes that would be new)' }),
  rows_updated: Type.Integer({
    description:
      'Rows that changed an existing quote, found by reference or lane_ref, or the quote of an earlier row of the file (with dry_run: rows that would change one)',
  }),
  rows_repeated: Type.Integer({ description: 'Rows without new values' }),
  rows_refused: Type.Integer({ description: 'Rows with an error' }),
  rows_kept: Type.Integer({
    description:
      'Rows of an existing quote of whose new values none was applied, because the quote has a newer value (one that the TMS signed, or an outcome that a person set), or a quoted rate on another basis or in another currency than the cost or market rate of the row',
  }),
  rows_won: Type.Integer({ description: 'Accepted rows of won quotes' }),
  rows_lost: Type.Integer({ description: 'Accepted rows of lost quotes' }),
  rows_pending: Type.Integer({ description: 'Accepted rows of pending quotes' }),
  warnings: Type.Array(
    Type.Object({ code: Type.Enum(['no_lost_quotes', 'no_dates', 'basis_assumed']), detail: Type.String() }),
    {
      description: 'Reasons to check the file before it is imported. They do not stop the import',
    },
  ),
  understood: Type.Array(ImportNote, {
    description: 'How the file was read, in sentences. Empty while the import runs',
  }),
  words: Type.Array(ImportWord, {
    description:
      'The first 100 words of status, equipment and other columns of words that are not known, and those that the map states, most frequent first. Empty while the import runs',
  }),
  causes: Type.Array(ImportCause, {
    description:
      'All errors of the file by cause, most frequent first; at most 50. Empty while the import runs',
  }),
  refused_rows_saved: Type.Integer({
    description: 'Rows in the file of refused rows (get-refused-rows): at most 5,000, or some 2 MB',
  }),
  errors: Type.Array(ImportError, { description: 'The first 1,000 errors' }),
  changes: Type.Array(ImportChange, { description: 'The first 200 rows that changed a quote' }),
  kept: Type.Array(ImportNotApplied, {
    description:
      'The first 1,000 values that were not applied, because the quote has a newer value, or a quoted rate on another basis or in another currency',
  }),
  bytes_read: Type.Integer(),
  bytes_total: Type.Integer(),
  created_at: Type.String({ format: 'date-time' }),
  created_by: person,
  finished_at: nullable(Type.String({ format: 'date-time' })),
  failure: nullable(Type.String({ description: 'Why the import ended early, or why its undo is paused' })),
  undo: nullable(ImportUndo),
})

/** `field=column` pairs, for the import and for the match of its columns. */
const columnMap = Type.Optional(
  Type.String({
    description:
      'field=column pairs, comma separated, such as quoted_rate=Sell Rate,origin="From, city". #3 means the third column. An empty value after = skips the field. equipment==Van states one value for all rows, as if each had such a cell; so do origin_state==TX for cities without a state, customer_name=="Acme, Inc" and other fields, but not ids, amounts and miles. basis=linehaul or basis=all_in states what the rates of the file include, and cost_basis what the truck costs include; without it, the name of their column decides, such as Linehaul or Total Revenue, or else the default basis of the brokerage. currency=USD or currency=CAD states the currency of the amounts without a currency of their own; without it, a line above the header decides, or else they are US dollars. encoding=macintosh (or windows-1252, cp850, cp437) states the encoding of text that is not UTF-8. same_ids=update updates a quote also by a row that has its reference and another day, or in the same file an amount of half or twice as much, which is refused otherwise. hidden=skip leaves out the hidden rows and columns of a workbook. dates=day_first or dates=month_first states the order of day and month of dates such as 3/1/2026, if the file does not show it; without it, the setting date_order of the brokerage decides. outcome:Lost to CHR=lost states what a word of a column means, and outcome:Dead=skip leaves out its rows; a word with a comma, an equals sign or a double quote is written in double quotes, and a double quote in it twice. So can words of equipment, rate_type, cancelled, and of the currency and basis of amounts',
    maxLength: 4000,
    'x-expected': 'field=column pairs separated by commas',
  }),
)

const importId = Type.Object({ import_id: recordId })

const exampleImport = {
  import_id: 7,
  file_name: 'loads.csv',
  dry_run: false,
  status: 'done',
  columns: { origin: 'Ship From', destination: 'Ship To', equipment: 'Equip', quoted_rate: 'Quote Price' },
  ignored_columns: ['Notes'],
  rows_read: 12_254,
  rows_added: 12_248,
  rows_updated: 1,
  rows_repeated: 3,
  rows_refused: 1,
  rows_kept: 1,
  rows_won: 5_102,
  rows_lost: 6_900,
  rows_pending: 249,
  warnings: [],
  understood: [
    {
      code: 'lines_left_out',
      column: null,
      detail: '2 lines above the header were left out: "Loads of March", "Printed 3/1/2026".',
      choices: [],
    },
    {
      code: 'currency',
      column: null,
      detail: 'Quoted rates: US dollars, unless a cell says otherwise.',
      choices: [
        { map: 'currency=CAD', detail: 'Amounts without a currency of their own are Canadian dollars.' },
      ],
    },
    {
      code: 'date_order',
      column: 'Quote Date',
      detail: 'Quote Date: month first, so 3/1/2026 is March 1, 2026.',
      choices: [{ map: 'dates=day_first', detail: 'Day first: 3 January 2026' }],
    },
  ],
  words: [
    {
      field: 'outcome',
      column: 'Status',
      word: 'Lost to CHR',
      rows: 113,
      meaning: null,
      likely: 'lost',
      saved_as: null,
      map: 'outcome:Lost to CHR',
    },
  ],
  causes: [
    {
      column: 'Quote Price',
      detail: 'Quote Price must be an amount of dollars; it is "call".',
      rows: 1,
      lines: [18],
    },
  ],
  refused_rows_saved: 1,
  changes: [
    {
      row: 4,
      lane_ref: '48211093754-1-1',
      fields: [{ field: 'quoted_rate', before: 2150, after: 2200 }],
      currencies: { quoted_currency: 'CAD', customer_currency: null, truck_currency: null },
    },
  ],
  kept: [
    {
      row: 9,
      lane_ref: '48211093761-1-1',
      column: 'Sell',
      file_value: 1850,
      kept_value: 1900,
      set_by: { source: 'tms', name: null },
      detail: 'Sell stays $1,900, which the TMS set; the file has $1,850.',
    },
  ],
  errors: [
    { row: 18, column: 'Quote Price', detail: 'Quote Price must be an amount of dollars; it is "call".' },
  ],
  bytes_read: 1_470_480,
  bytes_total: 1_470_480,
  created_at: '2026-03-01T14:00:00.000Z',
  created_by: { user_id: 3, name: 'Dana Reyes' },
  finished_at: '2026-03-01T14:00:04.000Z',
  failure: null,
  undo: null,
}
const undoneImport = {
  ...exampleImport,
  status: 'undone',
  undo: {
    started_at: '2026-03-02T09:00:00.000Z',
    started_by: { user_id: 3, name: 'Dana Reyes' },
    finished_at: '2026-03-02T09:00:03.000Z',
    rows_total: 12_249,
    rows_done: 12_249,
    lanes_removed: 12_247,
    lanes_restored: 1,
    lanes_kept: 1,
  },
}
const runningImport = {
  ...exampleImport,
  status: 'running',
  rows_read: 4_000,
  rows_added: 3_998,
  rows_updated: 0,
  rows_repeated: 2,
  rows_refused: 0,
  rows_kept: 0,
  rows_won: 1_700,
  rows_lost: 2_198,
  rows_pending: 100,
  understood: [],
  words: [],
  causes: [],
  refused_rows_saved: 0,
  errors: [],
  changes: [],
  kept: [],
  bytes_read: 480_000,
  finished_at: null,
}

export const createImport = endpoint({
  name: 'create-import',
  method: 'POST',
  path: '/api/imports',
  summary: 'Import past quotes and bookings',
  description: `Accepts a table of at most 128 MiB, both compressed and uncompressed, or an Excel workbook of at most 32 MiB. ${fileForms} Titles above the header, totals, repeated headers and remarks are left out, and understood counts them. Columns are matched by known names, or by map. Valid rows are imported; an invalid row is skipped completely. A row with a known reference or lane_ref updates its quote; importing the same row again changes nothing. Of a row of an exported file, only edited cells are applied. Values that the TMS signed and outcomes that a person set are not replaced, and are listed. The import runs in the background: read the import for its progress. A brokerage can run only one import or undo at a time. While pricing rules block quotes or need approval, only an admin or owner can import.`,
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  query: Type.Object({
    file_name: Type.Optional(
      Type.String({ maxLength: 255, 'x-expected': 'a file name of at most 255 characters' }),
    ),
    dry_run: Type.Optional(oneOf('true checks the file without importing it', ['true', 'false'])),
    map: columnMap,
    sheet,
  }),
  body: fileBody,
  bodyKind: 'csv',
  bodyBytesMax: importBytesMax,
  status: 202,
  answer: Import,
  problems: ['customer-hidden', 'state-conflict'],
  examples: {
    body: 'Ship From,Ship To,Equip,Quote Price,Quote Date\n"Dallas, TX","Atlanta, GA",V,2150,2026-02-27\n',
    answer: runningImport,
  },
})

const field = Type.String({ description: 'A Lanewise field, such as quoted_rate' })
const column = Type.Integer({ description: 'A column number in the file; the first column is 1' })

export const matchImportColumns = endpoint({
  name: 'match-import-columns',
  method: 'POST',
  path: '/api/import-columns',
  summary: 'Match the columns of a file',
  description:
    'Returns the column that each field would be read from, and the missing fields, before the file is sent.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  body: Type.Object({
    headers: Type.Array(Type.String(), {
      description: 'The column names, in order',
      minItems: 1,
      maxItems: importColumnsMax,
      'x-expected': `a list of 1 to ${importColumnsMax.toLocaleString('en-US')} names`,
    }),
    map: columnMap,
  }),
  bodyBytesMax: importHeadersBytesMax,
  status: 200,
  answer: Type.Object({
    columns: Type.Record(Type.String(), Type.String(), {
      description: 'Lanewise field -> the name of the column that it would be read from',
    }),
    positions: Type.Record(Type.String(), column, {
      description: 'Lanewise field -> the number of that column',
    }),
    constants: Type.Record(Type.String(), Type.String(), {
      description: 'Lanewise field -> the value that the map states for all rows',
    }),
    bases: Type.Array(
      Type.Object({
        field,
        basis: Type.Enum([...rateBases]),
        from: Type.Enum(['map', 'name'], {
          description: 'map: as chosen in the map. name: guessed from the name of the column',
        }),
      }),
      {
        description:
          'What the amounts of a column include. Amounts of a column that is not listed are on the default basis of the brokerage',
      },
    ),
    ignored_columns: Type.Array(Type.String()),
    problems: Type.Array(
      Type.Object({
        code: Type.Enum(['map', 'header']),
        column: nullable(Type.String()),
        detail: Type.String(),
      }),
      { description: 'Why an import with these columns would be rejected; empty if it would be accepted' },
    ),
    fields: Type.Array(
      Type.Object({
        field,
        description: Type.String(),
        required: Type.Boolean({ description: 'Required, without an alternative field' }),
        may_be: Type.Array(column, {
          description: 'Columns that may contain the field, but are used only if map names them',
        }),
        is_guessed: Type.Boolean({
          description: 'true if the column has an ambiguous name, such as Price, and was guessed',
        }),
        takes_constant: Type.Boolean({
          description: 'true if the map can state one value for all rows, as in equipment==Van',
        }),
      }),
    ),
    needs: Type.Array(
      Type.Object({
        what: Type.String({ examples: ['the place of pickup'] }),
        any_of: Type.Array(Type.Array(field), {
          description: 'Alternative sets of fields. One complete set is enough',
        }),
        is_met: Type.Boolean(),
        assumed: nullable(
          Type.String({ description: 'What the import assumes without it; null if it is required' }),
        ),
      }),
      { description: 'The information that the columns must provide' },
    ),
  }),
  examples: {
    body: {
      headers: ['Ship From', 'Ship To', 'Equip', 'Quote Price', 'Quote Date'],
      map: 'quoted_rate=#4',
    },
    answer: {
      columns: {
        origin: 'Ship From',
        destination: 'Ship To',
        equipment: 'Equip',
        quoted_rate: 'Quote Price',
      },
      positions: { origin: 1, destination: 2, equipment: 3, quoted_rate: 4 },
      constants: {},
      bases: [],
      ignored_columns: ['Notes'],
      problems: [],
      fields: [
        {
          field: 'quoted_rate',
          description: 'the rate quoted',
          required: true,
          may_be: [4],
          is_guessed: false,
          takes_constant: false,
        },
      ],
      needs: [{ what: 'the place of pickup', any_of: [['origin']], is_met: true, assumed: null }],
    },
  },
})

export const readImportHeader = endpoint({
  name: 'read-import-header',
  method: 'POST',
  path: '/api/import-headers',
  summary: 'Read the header of a file',
  description:
    'Reads a file as an import reads it, and returns the header and the first rows. Nothing is saved. For CSV text, the first 256 kB are enough: cut them after a line end. A workbook is sent whole.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  query: Type.Object({
    map: Type.Optional(
      Type.String({
        description:
          'May choose the encoding, as in encoding=macintosh, and leave out hidden cells, with hidden=skip. Other pairs are not read',
        maxLength: 4000,
        'x-expected': 'field=column pairs separated by commas',
      }),
    ),
    sheet,
  }),
  body: Type.String({ description: 'The file or its beginning, plain or gzip' }),
  bodyKind: 'csv',
  bodyBytesMax: workbookBytesMax,
  status: 200,
  answer: Type.Object({
    header: Type.Array(Type.String(), { description: 'The names of the columns, in order' }),
    header_line: Type.Integer({ description: 'The line of the header, from 1' }),
    rows: Type.Array(Type.Array(Type.String()), {
      description: 'The first rows after the header, at most 5',
    }),
    encoding: Type.Enum([...textEncodings], { description: 'The encoding of CSV text' }),
    delimiter: nullable(Type.String({ description: 'The delimiter of CSV text; null for a workbook' })),
    sheet: nullable(Type.String({ description: 'The sheet that was read; null for CSV text' })),
    sheets: Type.Array(Type.String(), { description: 'The sheets with a header; empty for CSV text' }),
  }),
  problems: ['state-conflict'],
  examples: {
    body: 'Ship From,Ship To,Equip,Quote Price\n"Dallas, TX","Atlanta, GA",V,2150\n',
    answer: {
      header: ['Ship From', 'Ship To', 'Equip', 'Quote Price'],
      header_line: 1,
      rows: [['Dallas, TX', 'Atlanta, GA', 'V', '2150']],
      encoding: 'utf-8',
      delimiter: ',',
      sheet: null,
      sheets: [],
    },
  },
})

export const listImports = endpoint({
  name: 'list-imports',
  method: 'GET',
  path: '/api/imports',
  summary: 'List imports',
  description: 'The last 200 imports, newest first, without their lists of rows.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({ imports: Type.Array(Import) }),
  problems: ['customer-hidden'],
  examples: {
    answer: { imports: [{ ...exampleImport, words: [], causes: [], errors: [], changes: [], kept: [] }] },
  },
})

export const getImport = endpoint({
  name: 'get-import',
  method: 'GET',
  path: '/api/imports/{import_id}',
  summary: 'Progress and result of an import',
  description: 'The progress, the changed quotes, and the errors by row and column.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'viewer' },
  params: importId,
  status: 200,
  answer: Import,
  problems: ['customer-hidden', 'not-found'],
  examples: { answer: undoneImport },
})

export const getRefusedRows = endpoint({
  name: 'get-refused-rows',
  method: 'GET',
  path: '/api/imports/{import_id}/refused-rows',
  summary: 'The refused rows of an import as a CSV file',
  description: `The rows as they were sent, with the reasons in the last column, "${refusedColumn}". Correct the cells and import the file again: this column is not read. Its name has the pairs of a map by which the rows are read as they were, such as dates=day_first and what map stated; pairs of the next import prevail over them. refused_rows_saved counts the rows; without any, the file has the header only.`,
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'viewer' },
  params: importId,
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then one line per row; UTF-8 with a byte order mark' }),
  problems: ['customer-hidden', 'not-found'],
  examples: {
    answer:
      '\uFEFFShip From,Ship To,Equip,Quote Price,Why refused\r\n"Dallas, TX","Atlanta, GA",V,call,"Quote Price must be an amount of dollars; it is ""call""."\r\n',
  },
})

export const stopImport = endpoint({
  name: 'stop-import',
  method: 'POST',
  path: '/api/imports/{import_id}/stop',
  summary: 'Stop a running import',
  description: 'Rows imported so far are kept. Sending the file again continues where the import stopped.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'member' },
  params: importId,
  status: 200,
  answer: Import,
  problems: ['customer-hidden', 'not-found'],
  examples: { answer: { ...runningImport, status: 'stopped', finished_at: '2026-03-01T14:00:02.000Z' } },
})

export const undoImport = endpoint({
  name: 'undo-import',
  method: 'POST',
  path: '/api/imports/{import_id}/undo',
  summary: 'Undo an import',
  description:
    'Removes every quote that the import created and restores the values that it changed, except for quotes that were changed, booked or requoted since. The undo runs in the background: the status is undoing from this response on, and undone at the end. Read the import for its progress. A brokerage can run only one import or undo at a time.',
  tag: 'Imports',
  who: { kind: 'dashboard', role: 'admin' },
  params: importId,
  status: 202,
  answer: Import,
  problems: ['not-found', 'state-conflict'],
  examples: {
    answer: {
      ...undoneImport,
      status: 'undoing',
      undo: {
        ...undoneImport.undo,
        finished_at: null,
        rows_done: 0,
        lanes_removed: 0,
        lanes_restored: 0,
        lanes_kept: 0,
      },
    },
  },
})

/** An import that another system pushes. */
export const integrationCreateImport = endpoint({
  ...createImport,
  name: 'integration-create-import',
  path: '/api/integrations/imports',
  summary: 'Import past quotes and bookings, for a service token',
  description: `The same as ${createImport.path}, for a service token. The same signed request again starts nothing: it returns the import that it started. ${createImport.description}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: 'address and body', scope: 'imports:write' },
})

export const integrationGetImport = endpoint({
  ...getImport,
  name: 'integration-get-import',
  path: '/api/integrations/imports/{import_id}',
  summary: 'Progress and result of an import, for a service token',
  tag: 'Integration',
  who: { kind: 'service', signed: false, scope: 'imports:write' },
})
