import { setImmediate } from 'node:timers/promises'
import { countedFromQuotes } from '../database/counted-lanes.ts'
import { DatabaseUnavailable, LockTimeout } from '../database/database-failures.ts'
import { findImported, insertImportedLanes } from '../database/imported-lanes.ts'
import { finishImport, type ImportProgress, lockImports, saveProgress } from '../database/imports.ts'
import { changeLane } from '../database/lane-changes.ts'
import { findLane, lockLane } from '../database/lanes.ts'
import type { Database, TenantId, TenantTransaction } from '../database/open-database.ts'
import type { RowError } from '../database/tables.ts'
import { keepLargeLanes } from '../large-lanes.ts'
import { type Columns, readColumns } from './columns.ts'
import { type CsvFile, type CsvRow, csvPieces, ImportFileError, openCsv, unpackFile } from './csv-file.ts'
import { knownCells } from './known-cells.ts'
import { persist } from './persist.ts'
import { takeOver } from './reported-booking.ts'
import { rowIdentities } from './row-fingerprint.ts'
import {
  type CellError,
  type ImportedBooking,
  type ImportedLane,
  type ReadRow,
  type RowContext,
  readRow,
} from './rows.ts'

/** A file whose encoding, header and map are right: it can be imported. */
export interface OpenImport {
  readonly csv: CsvFile
  readonly columns: Columns
}

/**
 * Unpacks a file and reads its header.
 *
 * @param map `field=column` pairs separated by commas; they go before the names that are known.
 * @throws ImportFileError with everything that is wrong
 */
export async function openImport(bytes: Buffer, map: string | undefined): Promise<OpenImport> {
  const csv = openCsv(await unpackFile(bytes))
  const read = readColumns(csv.header, map)
  if ('problems' in read) {
    const row = csv.rowsStart.line - 1
    throw new ImportFileError(
      read.problems.map((problem) => ({ ...problem, row: problem.code === 'header' ? row : null })),
    )
  }
  return { csv, columns: read.columns }
}

export interface ImportJob {
  readonly tenant: TenantId
  readonly importId: number
  readonly createdBy: number | null
  readonly file: OpenImport
  readonly dryRun: boolean
  /** Asked after each batch. */
  readonly isStopping: () => boolean
  readonly onProgress?: (progress: ImportProgress) => void
  /** Every row that was refused, also beyond the errors that are kept. */
  readonly onRefused?: (error: RowError) => void
}

export interface ImportEnd extends ImportProgress {
  readonly status: 'done' | 'stopped' | 'failed'
  readonly failure: string | null
}

/** Errors kept with an import: enough to see what is wrong with a file, and no more than a page can show. */
export const errorsKeptMax = 1_000

/** Rows of one transaction. A thousand is a fifth of a second on a small machine; a time-out of statements is two. */
const rowsPerBatch = 1_000
/** A booking of a lane locks it and takes four statements. */
const rowsPerBooking = 10

/** Somebody else has ended this import: its batch is not kept. */
class ImportEnded extends Error {}

type SettledLane = { readonly line: number; readonly lane: ImportedLane; readonly fingerprint: Buffer }
type SettledBooking = { readonly line: number; readonly booking: ImportedBooking }

interface Batch {
  weight: number
  readonly lanes: SettledLane[]
  readonly bookings: SettledBooking[]
  readonly refused: RowError[]
  rowsRead: number
  rowsRefused: number
  rowsRepeated: number
}

const emptyBatch = (): Batch => ({
  weight: 0,
  lanes: [],
  bookings: [],
  refused: [],
  rowsRead: 0,
  rowsRefused: 0,
  rowsRepeated: 0,
})

/**
 * Imports a file in batches, each one transaction: good rows go in, nothing of a bad row does, a row that is here
 * already adds nothing. How far it is, is written with the rows, so that whatever ends it, the same file goes on where
 * it stopped. A dry run reads and compares, and keeps only its result.
 */
export async function importFile(
  { database, clock }: { database: Database; clock: () => number },
  job: ImportJob,
): Promise<ImportEnd> {
  const { tenant, importId } = job
  const { csv, columns } = job.file
  let progress: ImportProgress = {
    rowsRead: 0,
    rowsAdded: 0,
    rowsUpdated: 0,
    rowsRepeated: 0,
    rowsRefused: 0,
    bytesRead: csv.rowsStart.byte,
  }
  const errors: RowError[] = []
  const identify = rowIdentities()
  const context = { columns, now: clock(), known: knownCells() }

  async function finish(status: ImportEnd['status'], failure: string | null): Promise<ImportEnd> {
    const end = { ...progress, status, failure }
    await persist(() =>
      database.inTenant(tenant, (transaction) =>
        finishImport(transaction, tenant, importId, { ...end, errors, now: new Date(clock()) }),
      ),
    )
    return end
  }

  /** Keeps a batch, and says whether to go on. */
  async function keep(batch: Batch, bytesRead: number): Promise<'go on' | 'stop'> {
    const { next, refused, order } = await persist(() =>
      database.inTenant(tenant, async (transaction) => {
        const kept = await keepRows(transaction, database, job, batch, clock)
        const refused = [...batch.refused, ...kept.refused].sort((a, b) => a.row - b.row)
        const next: ImportProgress = {
          rowsRead: progress.rowsRead + batch.rowsRead,
          rowsAdded: progress.rowsAdded + kept.added,
          rowsUpdated: progress.rowsUpdated + kept.updated,
          rowsRepeated: progress.rowsRepeated + batch.rowsRepeated + kept.repeated,
          rowsRefused: progress.rowsRefused + batch.rowsRefused + kept.rowsRefused,
          bytesRead,
        }
        const news = refused.slice(0, errorsKeptMax - errors.length)
        const order = await saveProgress(transaction, tenant, importId, {
          ...next,
          errors: news.length > 0 ? [...errors, ...news] : null,
          now: new Date(clock()),
        })
        if (order === 'ended') throw new ImportEnded()
        return { next, refused, order }
      }),
    )
    progress = next
    for (const error of refused) {
      if (errors.length < errorsKeptMax) errors.push(error)
      job.onRefused?.(error)
    }
    job.onProgress?.(progress)
    return order === 'stop' || job.isStopping() ? 'stop' : 'go on'
  }

  const stopped = 'Stopped on request. Import the file again to go on where it stopped.'
  /** The batch that is being kept. While the database works on it the next one is read. */
  let keeping: Promise<'go on' | 'stop'> = Promise.resolve('go on')
  try {
    for await (const { batch, bytesRead } of batchesOf(csv, { context, identify })) {
      if ((await keeping) === 'stop') return await finish('stopped', stopped)
      keeping = keep(batch, bytesRead)
      // Its error is met where it is waited for, not while the next batch is still being read.
      keeping.catch(() => {})
    }
    await keeping
    // What was taken in stays, whatever becomes of this: a large lane is counted when somebody meets it, too.
    if (!job.dryRun && !job.isStopping() && progress.rowsAdded >= countedFromQuotes)
      await keepLargeLanes(database, tenant).catch(() => {})
    return await finish('done', null)
  } catch (error) {
    // Whatever went wrong in reading on: the batch before it is kept first, or is not.
    await keeping.catch(() => {})
    if (error instanceof ImportEnded) return { ...progress, status: 'stopped', failure: stopped }
    const failure = failureOf(error, progress)
    if (failure === null) {
      await finish('failed', 'Something went wrong on our side. Rows taken in so far stay.').catch(() => {})
      throw error
    }
    return finish('failed', failure).catch(() => ({ ...progress, status: 'failed' as const, failure }))
  }
}

/** The rows of a file in batches, each with how much of the file is read with it. The last may have no row. */
async function* batchesOf(
  csv: CsvFile,
  settling: Settling,
): AsyncGenerator<{ readonly batch: Batch; readonly bytesRead: number }> {
  let batch = emptyBatch()
  let bytesRead = csv.rowsStart.byte
  for (const piece of csvPieces(csv)) {
    for (const row of piece.rows) {
      settleRow(batch, row, settling)
      if (batch.weight < rowsPerBatch) continue
      yield { batch, bytesRead }
      batch = emptyBatch()
    }
    bytesRead = piece.bytesRead
    // Requests of others come first.
    await setImmediate()
  }
  yield { batch, bytesRead: csv.bytes.length }
}

interface Settling {
  readonly context: RowContext
  readonly identify: ReturnType<typeof rowIdentities>
}

/** Reads one row into a batch: a lane, a booking, a row seen before in this file, or errors. */
function settleRow(batch: Batch, row: CsvRow, { context, identify }: Settling): void {
  batch.rowsRead++
  batch.weight++
  const read: ReadRow = row.malformed
    ? refused('', 'A double quote stands inside a value or is never closed; write it twice, or take it out.')
    : readRow(row.cells, context)
  const settled = read.kind === 'lane' ? settleLane(batch, row.line, read.lane, { context, identify }) : read
  if (settled === null) return
  if (settled.kind === 'booking') {
    batch.bookings.push({ line: row.line, booking: settled.booking })
    batch.weight += rowsPerBooking - 1
    return
  }
  batch.rowsRefused++
  for (const { column, detail } of settled.errors) {
    batch.refused.push({ row: row.line, column: column === '' ? null : column, detail })
  }
}

type Refused = Extract<ReadRow, { kind: 'refused' }>

function refused(column: string, detail: string): Refused {
  return { kind: 'refused', errors: [{ column, detail }] }
}

/** Null when the row is settled: a new lane, or one that an earlier row of the file was already. */
function settleLane(
  batch: Batch,
  line: number,
  lane: ImportedLane,
  { context, identify }: Settling,
): Refused | null {
  const identity = identify(lane, line)
  if ('fingerprint' in identity) batch.lanes.push({ line, lane, fingerprint: identity.fingerprint })
  else if (identity.saysTheSame) batch.rowsRepeated++
  else {
    const column = context.columns.names.reference ?? 'reference'
    return refused(
      column,
      `${column} must be a row's own; line ${identity.sameIdAt} has the same one and says something else.`,
    )
  }
  return null
}

/** Why an import ended early, in words for the person whose file it is; null for an error nobody foresaw. */
function failureOf(error: unknown, progress: ImportProgress): string | null {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) {
    return `The database could not answer after ${progress.rowsRead.toLocaleString('en-US')} rows. Import the file again to go on where it stopped.`
  }
  return null
}

interface Kept {
  added: number
  updated: number
  repeated: number
  rowsRefused: number
  refused: RowError[]
}

async function keepRows(
  transaction: TenantTransaction,
  database: Database,
  job: ImportJob,
  batch: Batch,
  clock: () => number,
): Promise<Kept> {
  const { tenant, importId } = job
  const kept: Kept = { added: 0, updated: 0, repeated: 0, rowsRefused: 0, refused: [] }
  if (!job.dryRun) await lockImports(transaction, tenant)
  const here = await findImported(
    transaction,
    tenant,
    batch.lanes.map((row) => row.fingerprint),
  )
  const fresh: SettledLane[] = []
  for (const row of batch.lanes) {
    const by = here.get(row.fingerprint.toString('hex'))
    if (by === undefined) fresh.push(row)
    // Brought by this very import: the commit of this batch was answered by a lost connection, and it was made.
    else if (by === importId) kept.added++
    else kept.repeated++
  }
  kept.added += fresh.length
  if (!job.dryRun) {
    await insertImportedLanes(
      transaction,
      tenant,
      database.identifiers,
      job,
      fresh.map(({ lane, fingerprint }) => ({
        customerName: lane.customerName,
        reference: lane.reference,
        createdAt: new Date(lane.quotedAt),
        fingerprint,
        lane: lane.lane,
      })),
    )
  }
  // In one order for everybody, so that two imports of the same lanes do not wait for each other in a ring.
  const bookings = batch.bookings.toSorted(
    (a, b) => compare(a.booking.laneRef, b.booking.laneRef) || a.line - b.line,
  )
  for (const { line, booking } of bookings) {
    const result = await keepBooking(transaction, job, booking, new Date(clock()))
    if (result === 'updated') kept.updated++
    else if (result === 'repeated') kept.repeated++
    else {
      kept.rowsRefused++
      kept.refused.push(...result.map(({ column, detail }) => ({ row: line, column, detail })))
    }
  }
  return kept
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

async function keepBooking(
  transaction: TenantTransaction,
  job: ImportJob,
  reported: ImportedBooking,
  now: Date,
): Promise<'updated' | 'repeated' | CellError[]> {
  const { tenant, importId, createdBy } = job
  const nameOf = (field: keyof Columns['names']) => job.file.columns.names[field] ?? field
  const find = job.dryRun ? findLane : lockLane
  const lane = await find(transaction, tenant, reported.laneRef)
  if (lane === null) {
    const column = nameOf('lane_ref')
    return [
      {
        column,
        detail: `${column} must be a lane of this brokerage; no lane was found for "${reported.laneRef}".`,
      },
    ]
  }
  const takeover = takeOver(lane, reported, now)
  if ('conflicts' in takeover) {
    return takeover.conflicts.map(({ field, what }) => ({
      column: nameOf(field),
      detail: `${nameOf(field)} ${what}.`,
    }))
  }
  if (Object.keys(takeover.values).length === 0) return 'repeated'
  if (!job.dryRun) {
    const origin = {
      source: 'import' as const,
      importId,
      ...(createdBy === null ? {} : { userId: createdBy }),
    }
    await changeLane(transaction, tenant, lane, takeover.values, origin, now)
  }
  return 'updated'
}
