import type { Static } from 'typebox'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { isDisplayText } from '#contract/fields.ts'
import {
  createImport,
  getImport,
  getRefusedRows,
  type Import,
  integrationCreateImport,
  integrationGetImport,
  listImports,
  matchImportColumns,
  readImportHeader,
  stopImport,
  undoImport,
} from '#contract/imports.ts'
import { refusedColumn } from '#contract/refused-column.ts'
import type { PersonCaller, ServiceCaller } from '../../access/index.ts'
import { cellText, csvHead, dateFields, importFieldNames, importFields } from '../../csv/index.ts'
import { imports, pricingRules } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { forBrokerage, type TenantId } from '../../database/session/index.ts'
import {
  basisFields,
  beginImport,
  beginUndo,
  type ColumnMatch,
  constantFields,
  guessedBasis,
  ImportConflict,
  matchColumns,
  openFile,
  openImport,
  refuseWhileBusy,
  storedColumns,
  undoRowsTotal,
} from '../../imports/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type BeforeBody, type Call, Reply, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { refuseWithHiddenCustomers } from './hidden-customers.ts'
import { placeForFile, readInTurn, reserveFile } from './received-files.ts'

/** Warnings about a file. Without lost quotes, every rate looks like a winning rate; without dates, like a current one. */
function importWarnings(row: imports.ImportRow): Static<typeof Import>['warnings'] {
  if (row.status === 'running') return []
  const { columns, rows_won: won, rows_lost: lost, created_at } = row
  const hasQuotes = columns.quoted_rate !== undefined || columns.equipment !== undefined
  const isUndated = hasQuotes && dateFields.every((field) => columns[field] === undefined)
  return [
    ...(row.rows_added > 0 && won > 0 && lost === 0
      ? [{ code: 'no_lost_quotes' as const, detail: 'No lost quotes: win chances cannot be learned.' }]
      : []),
    ...(isUndated
      ? [
          {
            code: 'no_dates' as const,
            detail: `No column has a date: all quotes count as quoted on ${created_at.toISOString().slice(0, 10)}, the day of ${row.dry_run ? 'this check' : 'the import'} (UTC). Old rates count as current, and months and trends cannot be learned.`,
          },
        ]
      : []),
    ...Object.entries(basisFields).flatMap(([field, basis]) => {
      const guessed = guessedBasis(columns[basis])
      if (guessed === null) return []
      const detail = `The amounts of "${columns[field]}" count as ${guessed === 'linehaul' ? 'linehaul' : 'all-in'}, because of the name of their column. If that is wrong, choose the basis.`
      return [{ code: 'basis_assumed' as const, detail }]
    }),
  ]
}

/** An import in the form of the API. */
function importAnswer(row: imports.ImportRow): Static<typeof Import> {
  return {
    import_id: row.import_id,
    file_name: row.file_name,
    dry_run: row.dry_run,
    status: row.status,
    columns: row.columns,
    ignored_columns: row.ignored_columns,
    rows_read: row.rows_read,
    rows_added: row.rows_added,
    rows_updated: row.rows_updated,
    rows_repeated: row.rows_repeated,
    rows_refused: row.rows_refused,
    rows_kept: row.rows_kept,
    rows_won: row.rows_won,
    rows_lost: row.rows_lost,
    rows_pending: row.rows_pending,
    warnings: importWarnings(row),
    understood: row.understood as Static<typeof Import>['understood'],
    words: row.words.map((word) => ({ ...word, saved_as: word.saved_as ?? null })),
    causes: row.causes,
    refused_rows_saved: row.refused_rows_saved,
    errors: row.errors,
    changes: row.changes,
    kept: row.kept,
    bytes_read: row.bytes_read,
    bytes_total: row.bytes_total,
    created_at: row.created_at.toISOString(),
    created_by: row.created_by === null ? null : { user_id: row.created_by, name: row.created_by_name ?? '' },
    finished_at: row.finished_at?.toISOString() ?? null,
    failure: row.failure,
    undo:
      row.undo_started_at === null
        ? null
        : {
            started_at: row.undo_started_at.toISOString(),
            started_by: row.undo_by === null ? null : { user_id: row.undo_by, name: row.undo_by_name ?? '' },
            finished_at: row.undo_finished_at?.toISOString() ?? null,
            rows_total: undoRowsTotal(row),
            rows_done: row.undo_rows_done,
            lanes_removed: row.lanes_removed,
            lanes_restored: row.lanes_restored,
            lanes_kept: row.lanes_kept,
          },
  }
}

function conflict(error: unknown): never {
  throw error instanceof ImportConflict ? problem('state-conflict', error.message) : error
}

function noImport(importId: number) {
  return problem('not-found', `No import ${importId} in this brokerage.`)
}

/** False for a number that is too large for the database. */
function isImportId(importId: number): boolean {
  return importId <= 2_147_483_647
}

async function importOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  importId: number,
): Promise<imports.ImportRow> {
  await refuseWithHiddenCustomers(transaction, tenant)
  const row = isImportId(importId) ? await imports.findImport(transaction, tenant, importId) : null
  if (row === null) throw noImport(importId)
  return row
}

/** The match of columns in the form of the API. It has an entry for each field, and counts columns from 1. */
function matchAnswer({
  columns,
  problems,
  mayBe,
  guessed,
  needs,
}: ColumnMatch): AnswerOf<typeof matchImportColumns> {
  const number = (position: number) => position + 1
  const { constants } = columns
  const ofColumns = <Value>(all: Readonly<Record<string, Value>>) =>
    Object.entries(all).filter(([field]) => !Object.hasOwn(constants, field))
  return {
    columns: Object.fromEntries(ofColumns(columns.names)),
    positions: Object.fromEntries(
      ofColumns(columns.positions).map(([field, position]) => [field, number(position)]),
    ),
    constants,
    bases: Object.entries(columns.bases).map(([field, one]) => ({ field, ...one })),
    ignored_columns: [...columns.ignored],
    problems: problems.map((one) => ({ ...one })),
    fields: importFieldNames.map((field) => ({
      field,
      description: importFields[field].description,
      required: needs.some(({ anyOf }) => anyOf.every((fields) => fields.includes(field))),
      may_be: (mayBe[field] ?? []).map(number),
      is_guessed: guessed.has(field),
      takes_constant: constantFields.has(field),
    })),
    needs: needs.map(({ what, anyOf, isMet, assumed }) => ({
      what,
      assumed,
      any_of: anyOf.map((fields) => [...fields]),
      is_met: isMet,
    })),
  }
}

/** A text that is at hand, as the text of a file. */
async function* textOf(text: string): AsyncGenerator<string, void> {
  yield text
}

/** The header and the first rows of a file. Each row gets as many values as the header. */
function headerAnswer(table: Awaited<ReturnType<typeof openFile>>): AnswerOf<typeof readImportHeader> {
  const { header, headerLine, samples, encoding, delimiter, workbook } = table
  return {
    header: header.map((name) => name.trim()),
    header_line: headerLine,
    rows: samples.map((cells) => header.map((_, position) => cellText(cells[position]) ?? '')),
    encoding,
    delimiter: workbook === null ? delimiter : null,
    sheet: workbook?.sheet ?? null,
    sheets: [...(workbook?.sheets ?? [])],
  }
}

/** Refuses a file while another one of the brokerage is read or imported, and reserves memory for it. */
const placeForImport: BeforeBody<typeof createImport> = async ({ caller: { tenant }, bytes }, parts) => {
  await parts.database.inTenant(tenant, (transaction) => refuseWhileBusy(transaction, tenant)).catch(conflict)
  return reserveFile(parts, tenant, bytes)
}

type FileCall = Omit<Call<typeof createImport>, 'caller' | 'signed'> & {
  readonly caller: PersonCaller | ServiceCaller
}

/**
 * Checks a file and begins its import.
 *
 * @param digest identifies a signed request; null for a request of a person
 */
async function receiveFile(
  call: FileCall,
  digest: Buffer | null,
  parts: Pick<Parts, 'database' | 'imports' | 'files'>,
): Promise<{ readonly answer: Static<typeof Import>; readonly isNew: boolean }> {
  const { query, body } = call
  const fileName = query.file_name?.trim() || 'import.csv'
  if (!isDisplayText(fileName)) {
    throw invalid([
      {
        parameter: 'file_name',
        code: 'invalid',
        detail: 'file_name must be a file name of at most 255 characters without control characters.',
      },
    ])
  }
  const dryRun = query.dry_run === 'true'
  return begin(
    {
      call,
      bytes: body,
      map: query.map,
      sheet: query.sheet,
      given: { file_name: fileName, dry_run: dryRun, request_digest: digest },
    },
    parts,
  )
}

async function begin(
  {
    call,
    bytes,
    map,
    sheet,
    given,
  }: {
    readonly call: FileCall
    readonly bytes: readonly Uint8Array[]
    readonly map?: string | undefined
    readonly sheet?: string | undefined
    readonly given: Pick<Parameters<typeof beginImport>[2], 'file_name' | 'dry_run' | 'request_digest'>
  },
  parts: Pick<Parts, 'database' | 'imports' | 'files'>,
): Promise<{ readonly answer: Static<typeof Import>; readonly isNew: boolean }> {
  const { database, imports: runner } = parts
  const { tenant } = call.caller
  const { csv, columns, seen } = await readInTurn(call, parts, () => openImport(bytes, map, { sheet }))
  const { row, isNew } = await database
    .inTenant(tenant, async (transaction) => {
      await refuseWithHiddenCustomers(transaction, tenant)
      return beginImport(transaction, call, {
        ...given,
        columns: storedColumns(columns),
        ignoredColumns: columns.ignored,
        bytes_total: csv.bytesTotal,
      })
    })
    .catch(conflict)
  // The import runs for the whole brokerage, even if a team begins to hide customers from the person.
  if (isNew)
    await forBrokerage(async () => {
      // The import of a workbook uses the text that was already read from it.
      const file = csv.workbook === null ? bytes : [csv.workbook.text]
      runner.start(tenant, row.import_id, file, {
        map,
        dryRun: given.dry_run,
        bytesTotal: csv.bytesTotal,
        workbook: csv.workbook,
        seen,
      })
    })
  return { answer: importAnswer(row), isNew }
}

/** Refuses files of non-admins while rules block quotes or need approval, because a file can contain a pending quote at any rate. */
async function refuseAround(
  { caller }: Pick<Call<typeof createImport>, 'caller'>,
  { database }: Pick<Parts, 'database'>,
): Promise<void> {
  if (roleAtLeast(caller.role, 'admin')) return
  const rules = await database.inTenant(caller.tenant, (transaction) =>
    pricingRules.readRules(transaction, caller.tenant),
  )
  if (!pricingRules.refuseQuotes(rules)) return
  throw problem(
    'role-required',
    'Only an admin or owner can import quotes while pricing rules block quotes or need approval: a file can contain quotes outside the rules.',
  )
}

export const importEndpoints: ServedEndpoint[] = [
  serve(matchImportColumns, async ({ body }) =>
    matchAnswer(await yieldBetweenSteps(matchColumns(body.headers, body.map))),
  ),

  serve(
    readImportHeader,
    async (call, parts) => {
      const { body, query } = call
      return headerAnswer(await readInTurn(call, parts, () => openFile(body, query.sheet, query.map)))
    },
    { beforeBody: placeForFile },
  ),

  serve(
    createImport,
    async (call, parts) => {
      if (call.query.dry_run !== 'true') await refuseAround(call, parts)
      return (await receiveFile(call, null, parts)).answer
    },
    { beforeBody: placeForImport },
  ),

  serve(
    integrationCreateImport,
    async (call, parts) => {
      const { answer, isNew } = await receiveFile(call, call.signed.requestDigest, parts)
      return isNew ? answer : new Reply(answer, { 'Idempotent-Replayed': 'true' })
    },
    // Unlike `placeForImport`, this allows a running import, because a repetition of its request must be answered.
    { beforeBody: placeForFile },
  ),

  serve(listImports, async ({ caller }, { database }) => {
    const rows = await database.inTenant(caller.tenant, async (transaction) => {
      await refuseWithHiddenCustomers(transaction, caller.tenant)
      return imports.listImports(transaction, caller.tenant)
    })
    return { imports: rows.map(importAnswer) }
  }),

  serve(getImport, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) =>
      importAnswer(await importOf(transaction, caller.tenant, params.import_id)),
    ),
  ),

  serve(getRefusedRows, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const row = await importOf(transaction, caller.tenant, params.import_id)
      const fileName = `lanewise-refused-rows-of-import-${row.import_id}.csv`
      return { fileName, text: textOf(row.refused_rows || csvHead([refusedColumn])) }
    }),
  ),

  serve(integrationGetImport, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const row = await importOf(transaction, caller.tenant, params.import_id)
      // A person's import shows values of quotes, which a token with the scope of imports may not read.
      if (row.request_digest === null) throw noImport(params.import_id)
      return importAnswer(row)
    }),
  ),

  serve(stopImport, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const row = await importOf(transaction, caller.tenant, params.import_id)
      if (row.status === 'running') await imports.requestStop(transaction, caller.tenant, row.import_id)
      return importAnswer(row)
    }),
  ),

  serve(undoImport, async (call, { database, imports: runner }) => {
    const { caller, params } = call
    const begun = await database
      .inTenant(caller.tenant, async (transaction) =>
        isImportId(params.import_id) ? beginUndo(transaction, call, params.import_id) : null,
      )
      .catch(conflict)
    if (begun === null) throw noImport(params.import_id)
    const { row, isNew } = begun
    // An interrupted undo is retried at once.
    if (isNew || (row.status === 'undoing' && row.failure !== null)) {
      runner.startUndo(caller.tenant, row.import_id)
    }
    return importAnswer(row)
  }),
]
