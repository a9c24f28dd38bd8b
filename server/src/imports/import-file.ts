import type { RateBasis } from '#engine/rate-basis.ts'
import {
  databaseNow,
  fileDefaultsOf,
  finishImport,
  type ImportLists,
  type ImportProgress,
  rowsReadOf,
  saveProgress,
} from '../database/queries/index.ts'
import type {
  ImportCause,
  ImportWord,
  NotAppliedValue,
  RowChange,
  RowError,
  TenantTransaction,
} from '../database/schema/index.ts'
import {
  type Database,
  DatabaseUnavailable,
  LockTimeout,
  reasonOf,
  type TenantId,
} from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { ChangeOrder } from './change-order.ts'
import { ErrorCauses } from './error-causes.ts'
import { type DateSettings, FileDates } from './file-dates.ts'
import { FileWords } from './file-words.ts'
import {
  constantNotes,
  fileNotes,
  type ImportNote,
  type LeftOutCounts,
  leftOutNotes,
  NotGivenCells,
  noneLeftOut,
  otherLoadsNotes,
} from './import-notes.ts'
import { knownCells } from './known-cells.ts'
import { LowRates } from './low-rates.ts'
import { moneyNotes } from './money-notes.ts'
import type { OpenImport } from './open-import.ts'
import { persist } from './persist.ts'
import { UnknownPlaces } from './place-notes.ts'
import { RefusedFile } from './refused-file.ts'
import { addRefused, noneRefused, refusedNotes } from './refused-outcomes.ts'
import { type Batch, batchesOf } from './row-batches.ts'
import { rowIdentities } from './row-fingerprint.ts'
import type { RowContext } from './row-reader.ts'
import { saveRows } from './save-rows.ts'
import type { SavedRows } from './saved-rows.ts'
import { sharedIdNotes } from './shared-ids.ts'
import type { Word } from './word-meanings.ts'
import { workbookNotes } from './workbook-notes.ts'

/** Runs the work of a batch when it is the turn of its import or undo. */
export type InTurn = <T>(batch: () => Promise<T>) => Promise<T>

export interface ImportJob {
  readonly tenant: TenantId
  readonly importId: number
  readonly createdBy: number | null
  readonly file: OpenImport
  readonly dryRun: boolean
  /** Checked after each batch. */
  readonly isStopping: () => boolean
  /** Saves a batch when it is the turn of this import; without it, at once. */
  readonly inTurn?: InTurn
  readonly onProgress?: (progress: ImportProgress) => void
  /** Called for every rejected row, also beyond the errors that are saved. */
  readonly onRefused?: (error: RowError) => void
}

export interface ImportEnd extends ImportProgress {
  readonly status: 'done' | 'stopped' | 'failed'
  readonly failure: string | null
  readonly understood: readonly ImportNote[]
  readonly words: readonly ImportWord[]
  readonly causes: readonly ImportCause[]
  /** The refused rows as a CSV file. */
  readonly refusedFile: { readonly rows: number; readonly text: string }
  readonly changes: readonly RowChange[]
  readonly kept: readonly NotAppliedValue[]
}

/** The maximum numbers of rows saved in the lists of an import: as many as a page can show. */
export const listedMax = { errors: 1_000, changes: 200, kept: 1_000 } as const

/** Another process ended this import, so its batch is not saved. */
class ImportEnded extends Error {}

/**
 * Imports a file in batches, each in one transaction. Valid rows are saved, an invalid row is rejected whole, a row of a known
 * quote updates it, and the same row again changes nothing. The progress is saved with the rows, so that after any
 * interruption the same file continues where it stopped. A dry run reads and compares, and saves only its result.
 */
export function importFile(database: Database, job: ImportJob): Promise<ImportEnd> {
  return new ImportRun(database, job).run()
}

type Order = 'go on' | 'stop'

/** What an attempt to save a batch has written. */
interface Saved {
  readonly progress: ImportProgress
  readonly leftOut: LeftOutCounts
  readonly refused: readonly RowError[]
  readonly unknownWords: readonly Word[]
  /** Only the lists that grew, each complete. */
  readonly lists: ImportLists
  readonly rowsOfOtherLoads: number
  readonly rowsOfSharedIds: number
  readonly order: Order
}

const stoppedOnRequest = 'Stopped on request. Import the file again to continue where it stopped.'

/** One run of an import: its progress and its lists so far. */
class ImportRun {
  readonly #database: Database
  readonly #job: ImportJob
  #progress: ImportProgress
  /** The default basis of the brokerage, once it is read. */
  #assumed: RateBasis = 'all_in'
  #leftOutLines = noneLeftOut
  #leftOut: LeftOutCounts = { superseded: 0, void: 0, skipped: 0 }
  readonly #words: FileWords
  readonly #causes = new ErrorCauses()
  readonly #refusedFile: RefusedFile
  readonly #refusedOutcomes = noneRefused()
  readonly #notGiven = new NotGivenCells()
  readonly #unknownPlaces = new UnknownPlaces()
  readonly #lowRates = new LowRates()
  readonly #changeOrder = new ChangeOrder()
  #rowsOfOtherLoads = 0
  #rowsOfSharedIds = 0
  #dates: FileDates | null = null
  readonly #lists = { errors: [] as RowError[], changes: [] as RowChange[], kept: [] as NotAppliedValue[] }

  constructor(database: Database, job: ImportJob) {
    this.#database = database
    this.#job = job
    this.#words = new FileWords(job.file.columns)
    this.#refusedFile = new RefusedFile(job.file.csv, job.file.columns)
    this.#progress = {
      rowsRead: 0,
      rowsAdded: 0,
      rowsUpdated: 0,
      rowsRepeated: 0,
      rowsRefused: 0,
      rowsNotApplied: 0,
      rowsWon: 0,
      rowsLost: 0,
      rowsPending: 0,
      bytesRead: job.file.csv.rowsStart.byte,
    }
  }

  async run(): Promise<ImportEnd> {
    const { csv, columns } = this.#job.file
    /** The batch that is being saved. The next batch is read while the database works. */
    let saving: Promise<Order> = Promise.resolve('go on')
    try {
      const { dates: settings, ...assumptions } = await this.#assumptions()
      this.#assumed = assumptions.assumed
      const dates = new FileDates(this.#job.file, settings)
      this.#dates = dates
      const context: RowContext = {
        columns,
        ...assumptions,
        dates,
        known: knownCells(),
        isWorkbook: csv.workbook !== null,
        onNotGiven: (field, text) => this.#notGiven.add(columns.names[field] ?? field, text),
      }
      const settling = {
        context,
        identify: rowIdentities(),
        ids: this.#job.file.seen.ids,
        unknownPlaces: this.#unknownPlaces,
        lowRates: this.#lowRates,
        changeOrder: this.#changeOrder,
      }
      for await (const { batch, bytesRead, leftOut } of batchesOf(csv, settling)) {
        this.#leftOutLines = leftOut
        if ((await saving) === 'stop') return await this.#finish('stopped', stoppedOnRequest)
        saving = this.#save(batch, bytesRead, context)
        // An error is handled at the next await, not while the next batch is being read.
        saving.catch(() => {})
      }
      await saving
      await this.#unknownPlaces.lookUp()
      return await this.#finish('done', null)
    } catch (error) {
      // When reading fails, the batch before it is still saved or rolled back first.
      await saving.catch(() => {})
      return this.#fail(error)
    }
  }

  /** The time of the database, in epoch milliseconds, and what the brokerage's files mean if they do not state it. */
  #assumptions(): Promise<Pick<RowContext, 'now' | 'assumed'> & { readonly dates: DateSettings }> {
    const { tenant } = this.#job
    return persist(() =>
      this.#database.inTenant(tenant, async (transaction) => ({
        now: (await databaseNow(transaction)).getTime(),
        ...(await fileDefaultsOf(transaction, tenant)),
      })),
    )
  }

  #result() {
    const { changes, kept } = this.#lists
    const order = this.#dates?.order == null ? [] : [`dates=${this.#dates.order}`]
    const { csv, columns } = this.#job.file
    const understood = [
      ...(csv.workbook === null ? [] : workbookNotes(csv.workbook)),
      ...fileNotes(csv, this.#leftOutLines),
      ...constantNotes(columns),
      ...moneyNotes(columns, this.#assumed),
      ...(this.#dates?.notes() ?? []),
      ...refusedNotes(this.#progress, this.#refusedOutcomes, this.#job.dryRun),
      ...this.#job.file.doubts,
      ...sharedIdNotes(
        this.#job.file.seen.ids,
        this.#rowsOfSharedIds,
        columns.names.reference ?? columns.names.lane_ref ?? 'reference',
        this.#changeOrder.words(columns),
      ),
      ...this.#words.notes(),
      ...this.#notGiven.notes,
      ...this.#unknownPlaces.notes,
      ...this.#lowRates.notes(columns.names.quoted_rate ?? columns.names.customer_rate ?? 'quoted_rate'),
      ...leftOutNotes(this.#leftOut),
      ...otherLoadsNotes(this.#rowsOfOtherLoads, columns.names.reference ?? null),
    ]
    return {
      ...this.#progress,
      changes,
      kept,
      understood,
      words: this.#words.list(),
      causes: this.#causes.list(),
      refusedFile: { rows: this.#refusedFile.rows, text: this.#refusedFile.text(order) },
    }
  }

  async #finish(status: ImportEnd['status'], failure: string | null): Promise<ImportEnd> {
    const end = { ...this.#result(), status, failure }
    const { tenant, importId } = this.#job
    await persist(() =>
      this.#database.inTenant(tenant, (transaction) => finishImport(transaction, tenant, importId, end)),
    )
    return end
  }

  async #fail(error: unknown): Promise<ImportEnd> {
    if (error instanceof ImportEnded) {
      return { ...this.#result(), status: 'stopped', failure: stoppedOnRequest }
    }
    const failure = failureOf(error, this.#progress)
    if (failure === null) {
      await this.#finish('failed', 'Something went wrong on our side. Rows imported so far stay.').catch(
        () => {},
      )
      throw error
    }
    const failed = { ...this.#result(), status: 'failed' as const, failure }
    return this.#finish('failed', failure).catch(() => failed)
  }

  /** Saves a batch, and returns whether to continue. */
  async #save(batch: Batch, bytesRead: number, context: RowContext): Promise<Order> {
    const { tenant, importId, onRefused, onProgress, isStopping, inTurn } = this.#job
    // Declared outside of the transaction, so that the next attempt sees it.
    const attempt: { last: Saved | null } = { last: null }
    const save = () =>
      persist(() =>
        this.#database.inTenant(tenant, async (transaction) => {
          // The connection was lost during the last commit: the progress shows whether that commit took effect.
          if (attempt.last !== null && batch.rowsRead > 0) {
            const rowsRead = await rowsReadOf(transaction, tenant, importId)
            if (rowsRead === attempt.last.progress.rowsRead) return attempt.last
          }
          attempt.last = await this.#saveOnce(transaction, batch, { bytesRead, context })
          return attempt.last
        }),
      )
    const saved = await (inTurn === undefined ? save() : inTurn(save))
    this.#progress = saved.progress
    this.#rowsOfOtherLoads += saved.rowsOfOtherLoads
    this.#rowsOfSharedIds += saved.rowsOfSharedIds
    this.#leftOut = saved.leftOut
    Object.assign(this.#lists, saved.lists)
    for (const word of [...batch.words, ...saved.unknownWords]) this.#words.add(word)
    addRefused(this.#refusedOutcomes, batch.refusedOutcomes)
    await yieldBetweenSteps(this.#refusedFile.add(saved.refused, batch.cells))
    for (const error of saved.refused) {
      this.#causes.add(error)
      onRefused?.(error)
    }
    onProgress?.(saved.progress)
    return saved.order === 'stop' || isStopping() ? 'stop' : 'go on'
  }

  /** @throws ImportEnded */
  async #saveOnce(
    transaction: TenantTransaction,
    batch: Batch,
    { bytesRead, context }: { readonly bytesRead: number; readonly context: RowContext },
  ): Promise<Saved> {
    const { tenant, importId } = this.#job
    const before = this.#progress
    const rows = await saveRows(transaction, this.#database, { ...this.#job, context }, batch)
    const refused = [...batch.refused, ...rows.refused].sort((a, b) => a.row - b.row)
    const progress: ImportProgress = {
      rowsRead: before.rowsRead + batch.rowsRead - rows.leftOut.superseded - rows.leftOut.void,
      rowsAdded: before.rowsAdded + rows.rowsAdded,
      rowsUpdated: before.rowsUpdated + rows.rowsUpdated,
      rowsRepeated: before.rowsRepeated + batch.rowsRepeated + rows.rowsRepeated,
      rowsRefused: before.rowsRefused + batch.rowsRefused + rows.rowsRefused,
      rowsNotApplied: before.rowsNotApplied + rows.rowsNotApplied,
      rowsWon: before.rowsWon + rows.outcomes.won,
      rowsLost: before.rowsLost + rows.outcomes.lost,
      rowsPending: before.rowsPending + rows.outcomes.pending,
      bytesRead,
    }
    const lists = this.#grownLists({ ...rows, refused })
    const order = await saveProgress(transaction, tenant, importId, { ...progress, ...lists })
    if (order === 'ended') throw new ImportEnded()
    const leftOut = sumOf(sumOf(this.#leftOut, batch.leftOut), rows.leftOut)
    const { rowsOfOtherLoads, rowsOfSharedIds, unknownWords } = rows
    return { progress, leftOut, refused, lists, rowsOfOtherLoads, rowsOfSharedIds, unknownWords, order }
  }

  /** The lists that grow by the rows of a batch, with these rows. */
  #grownLists(rows: Pick<SavedRows, 'refused' | 'changes' | 'notApplied'>): ImportLists {
    const { errors, changes, kept } = this.#lists
    const grown = <Row>(name: keyof typeof listedMax, known: readonly Row[], added: readonly Row[]) => {
      const taken = added.slice(0, listedMax[name] - known.length)
      return taken.length === 0 ? {} : { [name]: [...known, ...taken] }
    }
    return {
      ...grown('errors', errors, rows.refused),
      ...grown('changes', changes, rows.changes),
      ...grown('kept', kept, rows.notApplied),
    }
  }
}

const sumOf = (one: LeftOutCounts, other: LeftOutCounts): LeftOutCounts => ({
  superseded: one.superseded + other.superseded,
  void: one.void + other.void,
  skipped: one.skipped + other.skipped,
})

/** Why an import ended early, for the person who uploaded the file; null for an unexpected error. */
function failureOf(error: unknown, progress: ImportProgress): string | null {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) {
    return `${reasonOf(error)} The import stopped after ${progress.rowsRead.toLocaleString('en-US')} rows. Import the file again to continue there.`
  }
  return null
}
