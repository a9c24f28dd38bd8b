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
  storedColumns,
  undoImport,
  undoRowsTotal,
} from '../imports/index.ts'
import { atTenant, type CommandDatabase, CommandRefused } from './command-database.ts'
import type { ImportCommand } from './import-command-line.ts'

export interface CommandSurroundings extends CommandDatabase {
  /** The folder that a relative FILE is resolved against. */
  readonly folder: string
  readonly clock: () => number
  readonly print: (line: string) => void
  /** A terminal that can show a progress bar, or null. */
  readonly terminal: NodeJS.WriteStream | null
  /** True after Ctrl-C. */
  readonly isStopping: () => boolean
}

type Work = Exclude<ImportCommand, { kind: 'help' }>

/**
 * Runs a command against the configured database, with or without a running service.
 *
 * @returns the exit code
 * @throws CommandRefused, ImportFileError
 */
export async function runImportCommand(command: Work, around: CommandSurroundings): Promise<number> {
  // The file is checked before a database is started, because most mistakes are in the file.
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
  return openImport(await bytesAt(path), command.map, { sheet: command.sheet }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) throw error
      const why =
        error.code === 'ENOENT'
          ? 'there is no such file'
          : error.code === 'EISDIR'
            ? 'it is a folder'
            : error.message
      throw new CommandRefused(`Cannot read ${path}: ${why}.`)
    },
  )
}

/** A regular file is read from disk each time. Anything else, such as a pipe, can be read only once and is held in memory. */
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
  { print }: CommandSurroundings,
): Promise<number> {
  const rows = await database.inTenant(tenant, (transaction) => listImports(transaction, tenant))
  print(rows.length === 0 ? `${name} has no imports.` : `Imports of ${name}, newest first:`)
  for (const row of rows) {
    const kind = row.dry_run ? 'dry run, ' : ''
    print(
      `  ${String(row.import_id).padStart(4)}  ${row.created_at.toISOString().slice(0, 16)}Z  ${kind}${row.status}  ${row.file_name}: ${row.rows_added} added, ${row.rows_updated} updated, ${row.rows_repeated} repeated, ${row.rows_kept} not applied, ${row.rows_refused} refused`,
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
  if (begun.row.status === 'undone') remark(`Import ${importId} of ${name} is already undone.`)
  else {
    remark(`Undoing import ${importId} of ${name}${begun.isNew ? '' : ', continuing an earlier undo'}.`)
    const shown = progressShown(undoRowsTotal(begun.row), around, {
      format: '{bar} {percentage} % | {rows} rows undone | {eta_formatted} left',
      line: ({ rows }) => `${rows} rows undone`,
    })
    await undoImport(database, {
      tenant,
      importId,
      isStopping,
      onProgress: (row) =>
        shown.update(row.undo_rows_done, { rows: row.undo_rows_done.toLocaleString('en-US') }),
    }).finally(shown.end)
  }
  const row = await database.inTenant(tenant, (transaction) => findImport(transaction, tenant, importId))
  if (row === null) throw new Error('The import that was undone does not exist.')
  const counts = `${count(row.lanes_removed, 'quote')} removed, ${count(row.lanes_restored, 'quote')} restored, ${count(row.lanes_kept, 'quote')} kept because of a change, booking or requote since`
  if (row.status !== 'undone') {
    print(
      `Import ${importId} of ${name} is not fully undone yet: ${counts}. A running service continues the undo, or run the same command again.`,
    )
    return 130
  }
  print(`Import ${importId} of ${name} is undone: ${counts}.`)
  return 0
}

/** Turns a conflict with another import or undo into an error of the command. */
function refuse(error: unknown): never {
  throw error instanceof ImportConflict ? new CommandRefused(error.message) : error
}

const errorsPrintedMax = 20
const changesPrintedMax = 20
const wordsPrintedMax = 20

interface FileToImport {
  readonly command: Extract<Work, { kind: 'import' }>
  readonly file: Awaited<ReturnType<typeof openImport>>
}

async function importOne(
  database: Database,
  { tenant, name }: NamedTenant,
  { command, file }: FileToImport,
  around: CommandSurroundings,
): Promise<number> {
  const { print, remark } = around
  const importId = await begin(database, tenant, { command, file }, around)
  remark(`Importing ${command.file} into ${name} as import ${importId}${command.dryRun ? ' (dry run)' : ''}.`)
  describeColumns(file, remark)
  const shown = progressShown(file.csv.bytesTotal, around, {
    format: '{bar} {percentage} % | {rows} rows | {added} added | {refused} refused | {eta_formatted} left',
    line: ({ rows, added }) => `${rows} rows read, ${added} added`,
  })
  const errors = errorList(command.errorsFile, around.folder)
  const end = await importFile(database, {
    tenant,
    importId,
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
    onRefused: errors.add,
  }).finally(shown.end)
  await errors.end()

  printUnderstood(end, print)
  printWords(end, print)
  errors.print(print)
  printChanges(end, command.dryRun, print)
  print(summary(end, importId, command.dryRun))
  if (end.status === 'stopped') return 130
  const refusedAll = end.rowsRefused > 0 && end.rowsRefused === end.rowsRead
  return end.status === 'failed' || refusedAll ? 1 : 0
}

/** Records the import in the database, and returns its id. */
async function begin(
  database: Database,
  tenant: NamedTenant['tenant'],
  { command, file: { columns, csv } }: FileToImport,
  { clock }: Pick<CommandSurroundings, 'clock'>,
): Promise<number> {
  const { row } = await database
    .inTenant(tenant, (transaction) =>
      beginImport(transaction, byOperator(tenant, clock()), {
        file_name: basename(command.file).slice(0, 255),
        dry_run: command.dryRun,
        columns: storedColumns(columns),
        ignoredColumns: columns.ignored,
        bytes_total: csv.bytesTotal,
      }),
    )
    .catch(refuse)
  return row.import_id
}

function describeColumns({ columns }: FileToImport['file'], remark: (line: string) => void): void {
  const constants: Readonly<Record<string, string>> = columns.constants
  const read = Object.entries(columns.names).map(([field, column]) => {
    const text = constants[field]
    return text !== undefined
      ? `${field} "${text}" in all rows`
      : field === column
        ? field
        : `${field} from "${column}"`
  })
  remark(`Reading ${read.join(', ')}.`)
  if (columns.ignored.length > 0) remark(`Ignoring ${columns.ignored.map((one) => `"${one}"`).join(', ')}.`)
}

/** Collects the first errors for the terminal, and writes all of them to the file of `--errors`. */
function errorList(errorsFile: string | undefined, folder: string) {
  const file = errorsFile === undefined ? null : errorsWriter(resolve(folder, errorsFile))
  const first: RowError[] = []
  let total = 0
  return {
    add: (error: RowError) => {
      total++
      if (first.length < errorsPrintedMax) first.push(error)
      file?.write(error)
    },
    end: async () => file?.end(),
    print: (print: (line: string) => void) => {
      for (const { row, column, detail } of first) {
        print(`  line ${row}${column === null ? '' : `, ${column}`}: ${detail}`)
      }
      if (total === first.length) return
      const where =
        errorsFile === undefined ? 'write them all with --errors FILE' : `all are in ${errorsFile}`
      print(`  and ${count(total - first.length, 'more error')}; ${where}`)
    },
  }
}

/** Prints how the file was read, and the other choices. */
function printUnderstood({ understood }: ImportEnd, print: (line: string) => void): void {
  for (const { detail, choices } of understood) {
    print(detail)
    for (const choice of choices) print(`  --map "${choice.map}": ${choice.detail}`)
  }
}

/** Prints the pair of the map that states each word without a meaning, most frequent first. */
function printWords({ words }: ImportEnd, print: (line: string) => void): void {
  for (const { map, rows, likely } of words
    .filter((word) => word.meaning === null)
    .slice(0, wordsPrintedMax)) {
    print(`  --map '${map}=${likely ?? 'skip'}': ${count(rows, 'row')}`)
  }
}

/** Prints the first changed quotes, field by field, and the first values that were not applied. */
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
    `${count(end.rowsAdded, 'quote')} ${dryRun ? 'would be added' : 'added'}`,
    ...(end.rowsUpdated > 0
      ? [`${count(end.rowsUpdated, 'quote')} ${dryRun ? 'would be updated' : 'updated'}`]
      : []),
    `${count(end.rowsRepeated, 'row')} repeated`,
    ...(end.rowsNotApplied > 0
      ? [`${count(end.rowsNotApplied, 'row')} not applied because of a newer value`]
      : []),
    `${count(end.rowsRefused, 'row')} refused`,
  ].join(', ')
  const start = { done: 'Done', stopped: 'Stopped', failed: 'Failed' }[end.status]
  const why = end.failure === null ? '' : `\n${end.failure}`
  const undoLine =
    dryRun || end.rowsAdded + end.rowsUpdated === 0
      ? ''
      : `\nTo undo it: npm run import -- --undo ${importId}`
  return `${start}: ${count(end.rowsRead, 'row')} read, ${counts}.${why}${undoLine}`
}

/** The counts shown with the progress, by name. */
type Shown = Readonly<Record<string, string>>

/** Shows progress: a bar on a terminal, otherwise a line every two seconds to keep logs readable. */
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

/** Writes rejected rows as CSV. */
function errorsWriter(path: string) {
  const stream = createWriteStream(path)
  // Reported at the end, so that a full disk does not stop the import.
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

/** A quoted CSV value. An apostrophe prevents a spreadsheet from running it as a formula. */
function cell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}

export function fileProblems(error: ImportFileError): string {
  return error.problems
    .map(({ row, detail }) =>
      row === null || detail.includes(`line ${row}`) ? detail : `line ${row}: ${detail}`,
    )
    .join('\n')
}
