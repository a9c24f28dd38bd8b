import { setImmediate } from 'node:timers/promises'
import {
  finishImport,
  type ImportLists,
  type ImportProgress,
  rowsReadOf,
  saveProgress,
} from '../database/queries/index.ts'
import type { KeptValue, RowChange, RowError } from '../database/schema/index.ts'
import { type Database, DatabaseUnavailable, LockTimeout, type TenantId } from '../database/session/index.ts'
import { type Columns, readColumns } from './columns.ts'
import { type CsvFile, type CsvRow, csvPieces, type FileBytes, ImportFileError, openCsv } from './csv-file.ts'
import { type KeptRows, keepRows, type SettledBooking, type SettledLane } from './keep-rows.ts'
import { knownCells } from './known-cells.ts'
import { persist } from './persist.ts'
import { bookingSaid, rowIdentities } from './row-fingerprint.ts'
import { type ImportedLane, type ReadRow, type RowContext, readRow } from './rows.ts'

/** A file whose encoding, header and map are right: it can be imported. */
export interface OpenImport {
  readonly csv: CsvFile
  readonly columns: Columns
}

/**
 * Reads a file through, unpacked piece by piece, and its header.
 *
 * @param map `field=column` pairs separated by commas; they go before the names that are known.
 * @throws ImportFileError with everything that is wrong
 */
export async function openImport(bytes: FileBytes, map: string | undefined): Promise<OpenImport> {
  const csv = await openCsv(bytes)
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
  readonly changes: readonly RowChange[]
  readonly kept: readonly KeptValue[]
}

/** Rows listed with an import: enough to see what is in a file, and no more than a page can show. */
export const listedMax = { errors: 1_000, changes: 200, kept: 1_000 } as const

/** Rows of one transaction. A thousand is a fifth of a second on a small machine; a time-out of statements is two. */
const rowsPerBatch = 1_000
/** A booking locks its lane and changes it. */
const rowsPerBooking = 4

/** Somebody else has ended this import: its batch is not kept. */
class ImportEnded extends Error {}

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
 * Imports a file in batches, each one transaction: good rows go in, nothing of a bad row does, a row of a known lane
 * updates it, and the same row again changes nothing. The progress is written with the rows, so that whatever ends the
 * import, the same file goes on where it stopped. A dry run reads and compares, and keeps only its result.
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
    rowsKept: 0,
    bytesRead: csv.rowsStart.byte,
  }
  const lists = { errors: [] as RowError[], changes: [] as RowChange[], kept: [] as KeptValue[] }
  const identify = rowIdentities()
  const context = { columns, now: clock(), known: knownCells() }

  const ending = () => ({ ...progress, changes: lists.changes, kept: lists.kept })
  async function finish(status: ImportEnd['status'], failure: string | null): Promise<ImportEnd> {
    const end = { ...ending(), status, failure }
    await persist(() =>
      database.inTenant(tenant, (transaction) =>
        finishImport(transaction, tenant, importId, { ...end, now: new Date(clock()) }),
      ),
    )
    return end
  }

  /** The lists with the new rows of a batch at their ends; only those that grow. */
  function grown(rows: Pick<KeptRows, 'refused' | 'changes' | 'kept'>): ImportLists {
    const more = <Row>(name: keyof typeof lists, known: readonly Row[], added: readonly Row[]) => {
      const taken = added.slice(0, listedMax[name] - known.length)
      return taken.length === 0 ? {} : { [name]: [...known, ...taken] }
    }
    return {
      ...more('errors', lists.errors, rows.refused),
      ...more('changes', lists.changes, rows.changes),
      ...more('kept', lists.kept, rows.kept),
    }
  }

  /** Keeps a batch, and answers whether to go on. */
  async function keep(batch: Batch, bytesRead: number): Promise<'go on' | 'stop'> {
    type Tried = {
      readonly next: ImportProgress
      readonly refused: readonly RowError[]
      readonly news: ImportLists
      readonly order: 'go on' | 'stop'
    }
    // Kept outside of the transaction, so that the next try finds it.
    const attempt: { last: Tried | null } = { last: null }
    const { next, refused, news, order } = await persist(() =>
      database.inTenant(tenant, async (transaction) => {
        // The commit of the last try was answered by a lost connection, and it was made.
        if (attempt.last !== null && batch.rowsRead > 0) {
          const rowsRead = await rowsReadOf(transaction, tenant, importId)
          if (rowsRead === attempt.last.next.rowsRead) return attempt.last
        }
        const rows = await keepRows(transaction, database, job, batch, new Date(clock()))
        const refused = [...batch.refused, ...rows.refused].sort((a, b) => a.row - b.row)
        const next: ImportProgress = {
          rowsRead: progress.rowsRead + batch.rowsRead,
          rowsAdded: progress.rowsAdded + rows.rowsAdded,
          rowsUpdated: progress.rowsUpdated + rows.rowsUpdated,
          rowsRepeated: progress.rowsRepeated + batch.rowsRepeated + rows.rowsRepeated,
          rowsRefused: progress.rowsRefused + batch.rowsRefused + rows.rowsRefused,
          rowsKept: progress.rowsKept + rows.rowsKept,
          bytesRead,
        }
        const news = grown({ ...rows, refused })
        const order = await saveProgress(transaction, tenant, importId, {
          ...next,
          ...news,
          now: new Date(clock()),
        })
        if (order === 'ended') throw new ImportEnded()
        attempt.last = { next, refused, news, order }
        return attempt.last
      }),
    )
    progress = next
    Object.assign(lists, news)
    for (const error of refused) job.onRefused?.(error)
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
    return await finish('done', null)
  } catch (error) {
    // Whatever went wrong in reading on: the batch before it is kept first, or is not.
    await keeping.catch(() => {})
    if (error instanceof ImportEnded) return { ...ending(), status: 'stopped', failure: stopped }
    const failure = failureOf(error, progress)
    if (failure === null) {
      await finish('failed', 'Something went wrong on our side. Rows taken in so far stay.').catch(() => {})
      throw error
    }
    return finish('failed', failure).catch(() => ({ ...ending(), status: 'failed' as const, failure }))
  }
}

/** The rows of a file in batches, each with how much of the file is read with it. The last may have no row. */
async function* batchesOf(
  csv: CsvFile,
  settling: Settling,
): AsyncGenerator<{ readonly batch: Batch; readonly bytesRead: number }> {
  let batch = emptyBatch()
  let bytesRead = csv.rowsStart.byte
  for await (const piece of csvPieces(csv)) {
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
  yield { batch, bytesRead: csv.bytesTotal }
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
    const { booking } = settled
    batch.bookings.push({ line: row.line, booking, said: bookingSaid(booking) })
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
  if ('fingerprint' in identity) batch.lanes.push({ line, lane, ...identity })
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
