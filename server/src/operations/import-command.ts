import { createReadStream, createWriteStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { SingleBar } from 'cli-progress'
import { byOperator } from '../audit/index.ts'
import { findImport, listImports, type NamedTenant } from '../database/queries/index.ts'
import type { RowError } from '../database/schema/index.ts'
import type { Database } from '../database/session/index.ts'
import {
  beginImport,
  beginUndo,
  type FileBytes,
  ImportConflict,
  type ImportEnd,
  type ImportFileError,
  importFile,
  openImport,
  undoImport,
  undoRowsTotal,
} from '../imports/index.ts'
import { atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'
import type { ImportCommand } from './import-command-line.ts'

export interface CommandSurroundings extends CommandDatabase {
  /** The folder that a relative FILE starts from. */
  readonly folder: string
  readonly clock: () => number
  /** Results. */
  readonly print: (line: string) => void
  /** A terminal that can show a bar, or null. */
  readonly terminal: NodeJS.WriteStream | null
  /** True once the person has pressed Ctrl-C. */
  readonly isStopping: () => boolean
}

type Work = Exclude<ImportCommand, { kind: 'help' }>

/**
 * Runs a command against the database of the configuration, beside a running service or without one.
 *
 * @returns the exit code
 * @throws CommandRefused, ImportFileError
 */
export async function runImportCommand(command: Work, around: CommandSurroundings): Promise<number> {
  // Before a database is started for it: most mistakes are in the file.
  const file = command.kind === 'import' ? await readImportFile(command, around.folder) : null
  return atTenant(around, command.tenant, (database, tenant) => {
    if (command.kind === 'list') return list(database, tenant, around)
    if (command.kind === 'undo') return undo(database, tenant, command.importId, around)
    if (file === null) throw new Error('An import without a file.')
    return importOne(database, tenant, { command, file }, around)
  })
}

async function readImportFile(command: Extract<Work, { kind: 'import' }>, folder: string) {
  const path = resolve(folder, command.file)
  return openImport(await bytesAt(path), command.map).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error
    const why =
      error.code === 'ENOENT'
        ? 'there is no such file'
        : error.code === 'EISDIR'
          ? 'it is a folder'
          : error.message
    throw new CommandRefused(`Cannot read ${path}: ${why}.`)
  })
}

/** A file is read each time from the disk. What is none, such as a pipe, can be read once only, and is held. */
async function bytesAt(path: string): Promise<FileBytes> {
  const found = await stat(path).catch(() => null)
  if (found !== null && !found.isFile() && !found.isDirectory()) return [await readFile(path)]
  return { [Symbol.asyncIterator]: () => createReadStream(path)[Symbol.asyncIterator]() }
}

function count(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`
}

async function list(
  database: Database,
  { tenant, name }: NamedTenant,
  { clock, print }: CommandSurroundings,
): Promise<number> {
  const rows = await database.inTenant(tenant, (transaction) =>
    listImports(transaction, tenant, new Date(clock())),
  )
  print(rows.length === 0 ? `${name} has no imports.` : `Imports of ${name}, newest first:`)
  for (const row of rows) {
    const kind = row.dry_run ? 'dry run, ' : ''
    print(
      `  ${String(row.import_id).padStart(4)}  ${row.created_at.toISOString().slice(0, 16)}Z  ${kind}${row.status}  ${row.file_name}: ${row.rows_added} added, ${row.rows_updated} updated, ${row.rows_repeated} repeated, ${row.rows_kept} kept, ${row.rows_refused} refused`,
    )
  }
  return 0
}

async function undo(
  database: Database,
  { tenant, name }: NamedTenant,
  importId: number,
  around: CommandSurroundings,
): Promise<number> {
  const { clock, print, remark, isStopping } = around
  const begun = await database
    .inTenant(tenant, (transaction) => beginUndo(transaction, byOperator(tenant, clock()), importId))
    .catch(refuse)
  if (begun === null) throw new CommandRefused(`${name} has no import ${importId}. See --list.`)
  if (begun.row.status === 'undone') remark(`Import ${importId} of ${name} was undone before.`)
  else {
    remark(`Undoing import ${importId} of ${name}${begun.isNew ? '' : ', which was begun before'}.`)
    const shown = progressShown(undoRowsTotal(begun.row), around, {
      format: '{bar} {percentage} % | {rows} rows undone | {eta_formatted} left',
      line: ({ rows }) => `${rows} rows undone`,
    })
    await undoImport(
      { database, clock },
      {
        tenant,
        importId,
        isStopping,
        onProgress: (row) =>
          shown.update(row.undo_rows_done, { rows: row.undo_rows_done.toLocaleString('en-US') }),
      },
    ).finally(shown.end)
  }
  const row = await database.inTenant(tenant, (transaction) =>
    findImport(transaction, tenant, importId, new Date(clock())),
  )
  if (row === null) throw new Error('An import that was undone is not there.')
  const counts = `${count(row.lanes_removed, 'lane')} removed, ${count(row.lanes_restored, 'lane')} restored, ${count(row.lanes_kept, 'lane')} kept because of a change, booking or new quote since`
  if (row.status !== 'undone') {
    print(
      `Import ${importId} of ${name} is not undone to the end yet: ${counts}. A running service goes on with it; or run the same command again.`,
    )
    return 130
  }
  print(`Import ${importId} of ${name} is undone: ${counts}.`)
  return 0
}

/** An import or undo that cannot begin now, in the words of the command. */
function refuse(error: unknown): never {
  throw error instanceof ImportConflict ? new CommandRefused(error.message) : error
}

const errorsPrintedMax = 20
const changesPrintedMax = 20

async function importOne(
  database: Database,
  { tenant, name }: NamedTenant,
  {
    command,
    file,
  }: { command: Extract<Work, { kind: 'import' }>; file: Awaited<ReturnType<typeof openImport>> },
  around: CommandSurroundings,
): Promise<number> {
  const { clock, print, remark } = around
  const { columns, csv } = file
  const at = new Date(clock())
  const row = await database
    .inTenant(tenant, (transaction) =>
      beginImport(
        transaction,
        tenant,
        {
          file_name: basename(command.file).slice(0, 255),
          dry_run: command.dryRun,
          columns: columns.names,
          ignoredColumns: columns.ignored,
          bytes_total: csv.bytesTotal,
          created_by: null,
          created_at: at,
        },
        at,
      ),
    )
    .catch(refuse)
  remark(
    `Importing ${command.file} into ${name} as import ${row.import_id}${command.dryRun ? ' (dry run)' : ''}.`,
  )
  remark(
    `Reading ${Object.entries(columns.names)
      .map(([field, column]) => (field === column ? field : `${field} from "${column}"`))
      .join(', ')}.`,
  )
  if (columns.ignored.length > 0)
    remark(`Leaving out ${columns.ignored.map((one) => `"${one}"`).join(', ')}.`)

  const shown = progressShown(csv.bytesTotal, around, {
    format: '{bar} {percentage} % | {rows} rows | {added} added | {refused} refused | {eta_formatted} left',
    line: ({ rows, added }) => `${rows} rows read, ${added} added`,
  })
  const errorsFile =
    command.errorsFile === undefined ? null : errorsWriter(resolve(around.folder, command.errorsFile))
  const first: RowError[] = []
  let errorCount = 0
  const end = await importFile(
    { database, clock },
    {
      tenant,
      importId: row.import_id,
      createdBy: null,
      file,
      dryRun: command.dryRun,
      isStopping: around.isStopping,
      onProgress: ({ bytesRead, rowsRead, rowsAdded, rowsRefused }) =>
        shown.update(bytesRead, {
          rows: rowsRead.toLocaleString('en-US'),
          added: rowsAdded.toLocaleString('en-US'),
          refused: rowsRefused.toLocaleString('en-US'),
        }),
      onRefused: (error) => {
        errorCount++
        if (first.length < errorsPrintedMax) first.push(error)
        errorsFile?.write(error)
      },
    },
  ).finally(shown.end)
  await errorsFile?.end()

  for (const { row: line, column, detail } of first) {
    print(`  line ${line}${column === null ? '' : `, ${column}`}: ${detail}`)
  }
  if (errorCount > first.length) {
    const where =
      command.errorsFile === undefined
        ? 'write them all with --errors FILE'
        : `all are in ${command.errorsFile}`
    print(`  and ${count(errorCount - first.length, 'more error')}; ${where}`)
  }
  printChanges(end, command.dryRun, print)
  print(summary(end, row.import_id, command.dryRun))
  if (end.status === 'stopped') return 130
  const refusedAll = end.rowsRefused > 0 && end.rowsRefused === end.rowsRead
  return end.status === 'failed' || refusedAll ? 1 : 0
}

/** The first lanes that were changed, field by field, and the first values that were left out. */
function printChanges({ changes, kept }: ImportEnd, dryRun: boolean, print: (line: string) => void): void {
  const value = (one: string | number | null) => (one === null ? 'empty' : String(one))
  for (const { row, lane_ref, fields } of changes.slice(0, changesPrintedMax)) {
    const what = fields.map(({ field, before, after }) => `${field} ${value(before)} -> ${value(after)}`)
    print(`  line ${row}, ${dryRun ? 'will change' : 'changed'} ${lane_ref}: ${what.join(', ')}`)
  }
  if (changes.length > changesPrintedMax) {
    print(`  and more; the import lists the first ${changes.length}`)
  }
  for (const { row, detail } of kept.slice(0, changesPrintedMax)) print(`  line ${row}: ${detail}`)
  if (kept.length > changesPrintedMax) print(`  and more; the import lists the first ${kept.length}`)
}

function summary(end: ImportEnd, importId: number, dryRun: boolean): string {
  const counts = [
    `${count(end.rowsAdded, 'lane')} ${dryRun ? 'would be added' : 'added'}`,
    ...(end.rowsUpdated > 0
      ? [`${count(end.rowsUpdated, 'lane')} ${dryRun ? 'would be updated' : 'updated'}`]
      : []),
    `${count(end.rowsRepeated, 'row')} repeated`,
    ...(end.rowsKept > 0 ? [`${count(end.rowsKept, 'row')} left out because a newer value stands`] : []),
    `${count(end.rowsRefused, 'row')} refused`,
  ].join(', ')
  const start = { done: 'Done', stopped: 'Stopped', failed: 'Failed' }[end.status]
  const why = end.failure === null ? '' : `\n${end.failure}`
  const undoLine =
    dryRun || end.rowsAdded + end.rowsUpdated === 0
      ? ''
      : `\nTo take it out again: npm run import -- --undo ${importId}`
  return `${start}: ${count(end.rowsRead, 'row')} read, ${counts}.${why}${undoLine}`
}

/** The counts that are shown with a progress, by name. */
type Shown = Readonly<Record<string, string>>

/** A bar on a terminal; elsewhere a line every few seconds, so that a log stays readable. */
function progressShown(
  total: number,
  { terminal, remark, clock }: CommandSurroundings,
  { format, line }: { readonly format: string; readonly line: (shown: Shown) => string },
) {
  if (terminal === null) {
    let shownAt = clock()
    return {
      update: (done: number, shown: Shown) => {
        if (clock() - shownAt < 2_000) return
        shownAt = clock()
        remark(`${Math.floor((done / Math.max(total, done)) * 100)} %: ${line(shown)}`)
      },
      end: () => {},
    }
  }
  const bar = new SingleBar({ format, stream: terminal, hideCursor: true })
  bar.start(total, 0, { rows: 0, added: 0, refused: 0 })
  return {
    update: (done: number, shown: Shown) => bar.update(done, shown),
    end: () => bar.stop(),
  }
}

/** Writes refused rows as CSV. */
function errorsWriter(path: string) {
  const stream = createWriteStream(path)
  // Kept for the end, so that a full disk does not end the import.
  let failure: Error | undefined
  stream.on('error', (error) => {
    failure = error
  })
  stream.write('line,column,error\n')
  return {
    write: ({ row, column, detail }: RowError) => {
      if (failure === undefined) stream.write(`${row},${cell(column ?? '')},${cell(detail)}\n`)
    },
    end: async () => {
      stream.end()
      await finished(stream).catch(() => {})
      if (failure !== undefined) throw new CommandRefused(`Cannot write ${path}: ${failure.message}.`)
    },
  }
}

/** A value between double quotes; one that a spreadsheet would run as a formula begins with an apostrophe. */
function cell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}

/** The problems of a file, a line each. */
export function fileProblems(error: ImportFileError): string {
  return error.problems
    .map(({ row, detail }) =>
      row === null || detail.includes(`line ${row}`) ? detail : `line ${row}: ${detail}`,
    )
    .join('\n')
}
