import {
  importBytesForSmallFiles,
  importBytesHeldMax,
  importBytesPerBrokerageMax,
  smallImportBytesMax,
} from '#contract/limits.ts'
import {
  findImport,
  type ImportProgress,
  silentUndos,
  takeOverUndo,
  touchImport,
} from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { concurrencyLimit, type Log } from '../runtime/index.ts'
import type { TableFile } from '../tables/index.ts'
import { importFile } from './import-file.ts'
import { openImport } from './open-import.ts'
import { persist } from './persist.ts'
import type { SeenInFile } from './seen-in-file.ts'
import { undoImport } from './undo-import.ts'

/** How a file is imported, and its unpacked size. */
export interface ImportOptions {
  readonly map: string | undefined
  readonly dryRun: boolean
  readonly bytesTotal: number
  /** The sheet of a workbook, whose text the file is; null for CSV text. */
  readonly workbook?: TableFile['workbook']
  /** What `openImport` has seen in the file. */
  readonly seen?: SeenInFile
}

/** The share of the brokerage is in use, or the memory of all. */
export type NoMemory = 'share' | 'full'

/** Runs imports and undos after their request was answered. On shutdown they stop after their current batch. */
export interface ImportRunner {
  /**
   * Reserves the place for a brokerage's file before the file is read. It takes no memory yet.
   *
   * @param bytes the declared size, which is refused if there is no memory for it now
   * @returns a reservation to release; `busy` while another file of the same brokerage is being read; otherwise why there is too
   *   little memory
   */
  reserve(tenant: TenantId, bytes: number): number | 'busy' | NoMemory
  /** Reserves memory for further bytes of the file of a reservation, when they arrive. Returns why there is too little, or null. */
  take(reservation: number, bytes: number): NoMemory | null
  /** Releases a reservation. Releasing it again has no effect. */
  release(reservation: number): void
  /** Imports a file, in the pieces in which it was sent. */
  start(tenant: TenantId, importId: number, file: readonly Uint8Array[], options: ImportOptions): void
  /** Continues the undo of an import whose status is `undoing`. */
  startUndo(tenant: TenantId, importId: number): void
  drain(): Promise<void>
}

/**
 * Batches that are saved at the same time, over all tenants. The limit leaves capacity for requests. All imports and undos take turns
 * by batches, so that none waits for a file of a million rows.
 */
const batchesAtOnceMax = 2
/**
 * Imports that run at the same time, over all tenants. Few may be long, because an import holds the identities of its rows in memory.
 * An undo holds none.
 */
const runningMax = { long: 2, short: 8, undo: Number.POSITIVE_INFINITY } as const
/** The unpacked size up to which an import is short: some 40,000 rows, which take ten seconds. */
const shortBytesMax = 4 * 1024 * 1024
/** The interval of heartbeats, well below the silence after which an import counts as abandoned. */
const touchEveryMs = 10_000
/** How often the service looks for undos whose process died. */
const resumeEveryMs = 5_000

/** The parts of the memory that one brokerage may have, that only brokerages with little may have, and how much is little. */
const [shareMax, forLittle, littleMax] = [
  importBytesPerBrokerageMax / importBytesHeldMax,
  importBytesForSmallFiles / importBytesHeldMax,
  smallImportBytesMax / importBytesHeldMax,
] as const

interface Waiting {
  readonly tenant: TenantId
  readonly sharesOf: TenantId
  readonly importId: number
  readonly bytes: number
  readonly kind: keyof typeof runningMax
  readonly work: () => Promise<void>
}

/**
 * Current imports, and ended ones since the start by outcome. `failed`: the database was unavailable for too long.
 * `broken`: an error of the service. Rows of dry runs are not counted.
 */
export interface ImportCounts {
  readonly running: number
  readonly waiting: number
  readonly bytesHeld: number
  readonly ended: Readonly<Record<'done' | 'stopped' | 'failed' | 'broken', number>>
  readonly rows: Readonly<Record<RowOutcome, number>>
}

const rowOutcomes = ['added', 'updated', 'repeated', 'refused', 'kept'] as const
type RowOutcome = (typeof rowOutcomes)[number]

interface RunnerOptions {
  readonly bytesHeldMax: number
  readonly shortBytesMax: number
  readonly resumeEveryMs: number | null
}

interface RunnerParts {
  readonly database: Database
  readonly log: Log
}

/**
 * Runs imports and undos in the background: one at a time per brokerage, with its test brokerage. They take turns by batches; imports
 * beyond `runningMax` wait in order of arrival. An undo whose process died is resumed by any instance; with `resumeEveryMs` null, this
 * instance does not look for them.
 */
export function importRunner(
  parts: RunnerParts,
  options: Partial<RunnerOptions> = {},
): ImportRunner & { counts(): ImportCounts } {
  return new BackgroundImports(parts, {
    bytesHeldMax: importBytesHeldMax,
    shortBytesMax,
    resumeEveryMs,
    ...options,
  })
}

class BackgroundImports implements ImportRunner {
  readonly #parts: RunnerParts
  readonly #options: RunnerOptions
  /** Runs a batch when it is the turn of its import. The imports rotate, because each has only one batch in this queue. */
  readonly #inTurn = concurrencyLimit<'batch'>(batchesAtOnceMax)
  readonly #waiting: Waiting[] = []
  readonly #running = new Map<Waiting, Promise<void>>()
  /** Files that are being read, by reservation. */
  readonly #reserved = new Map<number, { readonly sharesOf: TenantId; bytes: number }>()
  #lastReservation = 0
  #isDraining = false
  readonly #ended = { done: 0, stopped: 0, failed: 0, broken: 0 }
  readonly #rows = { added: 0, updated: 0, repeated: 0, refused: 0, kept: 0 }
  readonly #undoResumer: UndoResumer
  readonly #heartbeat: NodeJS.Timeout

  constructor(parts: RunnerParts, options: RunnerOptions) {
    this.#parts = parts
    this.#options = options
    this.#undoResumer = new UndoResumer(parts, options.resumeEveryMs, {
      start: (tenant, importId) => this.startUndo(tenant, importId),
      isStopping: () => this.#isDraining,
    })
    this.#heartbeat = setInterval(() => this.#touchAll(), touchEveryMs)
    this.#heartbeat.unref()
  }

  reserve(tenant: TenantId, bytes: number): number | 'busy' | NoMemory {
    const sharesOf = this.#parts.database.shares.of(tenant)
    if ([...this.#reserved.values()].some((one) => one.sharesOf === sharesOf)) return 'busy'
    const refusal = this.#noMemory(sharesOf, bytes)
    if (refusal !== null) return refusal
    this.#reserved.set(++this.#lastReservation, { sharesOf, bytes: 0 })
    return this.#lastReservation
  }

  take(reservation: number, bytes: number): NoMemory | null {
    const place = this.#reserved.get(reservation)
    if (place === undefined) return 'share'
    const refusal = this.#noMemory(place.sharesOf, bytes)
    if (refusal === null) place.bytes += bytes
    return refusal
  }

  release(reservation: number): void {
    this.#reserved.delete(reservation)
  }

  start(tenant: TenantId, importId: number, file: readonly Uint8Array[], options: ImportOptions): void {
    const bytes = file.reduce((sum, piece) => sum + piece.length, 0)
    const kind = options.bytesTotal > this.#options.shortBytesMax ? 'long' : 'short'
    const work = () => this.#import(tenant, importId, file, options)
    this.#enqueue({ tenant, importId, bytes, kind, work })
  }

  startUndo(tenant: TenantId, importId: number): void {
    if (this.#held().some((one) => one.tenant === tenant && one.importId === importId)) return
    this.#enqueue({
      tenant,
      importId,
      bytes: 0,
      kind: 'undo',
      work: () => this.#undo(tenant, importId),
    })
  }

  readonly counts = (): ImportCounts => ({
    running: this.#running.size,
    waiting: this.#waiting.length,
    bytesHeld: this.#bytesHeld(),
    ended: { ...this.#ended },
    rows: { ...this.#rows },
  })

  async drain(): Promise<void> {
    this.#isDraining = true
    await this.#undoResumer.stop()
    while (this.#held().length > 0) {
      this.#startNext()
      await Promise.all(this.#running.values())
    }
    clearInterval(this.#heartbeat)
  }

  #held(): Waiting[] {
    return [...this.#running.keys(), ...this.#waiting]
  }

  #bytesHeld(isCounted = (_: { readonly sharesOf: TenantId }) => true): number {
    return [...this.#held(), ...this.#reserved.values()]
      .filter(isCounted)
      .reduce((sum, one) => sum + one.bytes, 0)
  }

  /** Why a brokerage cannot have memory for further bytes; null if it can. */
  #noMemory(sharesOf: TenantId, bytes: number): NoMemory | null {
    const { bytesHeldMax } = this.#options
    const own = this.#bytesHeld((one) => one.sharesOf === sharesOf) + bytes
    if (own > bytesHeldMax * shareMax) return 'share'
    const most = own > bytesHeldMax * littleMax ? bytesHeldMax * (1 - forLittle) : bytesHeldMax
    return this.#bytesHeld() + bytes > most ? 'full' : null
  }

  #enqueue(job: Omit<Waiting, 'sharesOf'>): void {
    this.#waiting.push({ ...job, sharesOf: this.#parts.database.shares.of(job.tenant) })
    this.#startNext()
  }

  #startNext(): void {
    for (;;) {
      const running = [...this.#running.keys()]
      const index = this.#waiting.findIndex(
        ({ sharesOf, kind }) =>
          running.every((one) => one.sharesOf !== sharesOf) &&
          running.filter((one) => one.kind === kind).length < runningMax[kind],
      )
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1)
      if (next === undefined) return
      const end = runInBackground(next.work).finally(() => {
        this.#running.delete(next)
        this.#startNext()
      })
      this.#running.set(next, end)
    }
  }

  async #import(
    tenant: TenantId,
    importId: number,
    file: readonly Uint8Array[],
    { map, dryRun, workbook = null, seen }: ImportOptions,
  ): Promise<void> {
    const { database, log } = this.#parts
    try {
      // Retried, because many imports that begin at once can leave one without a connection.
      const row = await persist(() =>
        database.inTenant(tenant, (transaction) => findImport(transaction, tenant, importId)),
      )
      if (row === null || row.status !== 'running') return
      const end = await importFile(database, {
        tenant,
        importId,
        createdBy: row.created_by,
        file: await this.#inTurn('batch', () => openImport(file, map, { workbook, known: seen })),
        dryRun,
        inTurn: (batch) => this.#inTurn('batch', batch),
        isStopping: () => this.#isDraining,
        ...(dryRun ? {} : { onProgress: this.#rowCounter() }),
      })
      this.#ended[end.status]++
      const { status, rowsAdded } = end
      log.info({ tenant_id: tenant, import_id: importId, status, rows_added: rowsAdded }, 'an import ended')
    } catch (error) {
      this.#ended.broken++
      log.error({ err: error, tenant_id: tenant, import_id: importId }, 'an import failed')
    }
  }

  async #undo(tenant: TenantId, importId: number): Promise<void> {
    const { database, log } = this.#parts
    const about = { tenant_id: tenant, import_id: importId }
    try {
      const isStopping = () => this.#isDraining
      const row = await undoImport(database, {
        tenant,
        importId,
        isStopping,
        inTurn: (batch) => this.#inTurn('batch', batch),
      })
      log.info(
        { ...about, status: row?.status, lanes_removed: row?.lanes_removed },
        'an undo of an import ended',
      )
    } catch (error) {
      log.error({ err: error, ...about }, 'an undo of an import was interrupted')
    }
  }

  /** Adds the rows of one import to the counts while it runs. */
  #rowCounter(): (progress: ImportProgress) => void {
    let before: Readonly<Record<RowOutcome, number>> = {
      added: 0,
      updated: 0,
      repeated: 0,
      refused: 0,
      kept: 0,
    }
    return ({ rowsAdded, rowsUpdated, rowsRepeated, rowsRefused, rowsNotApplied }) => {
      const now = {
        added: rowsAdded,
        updated: rowsUpdated,
        repeated: rowsRepeated,
        refused: rowsRefused,
        kept: rowsNotApplied,
      }
      for (const outcome of rowOutcomes) this.#rows[outcome] += now[outcome] - before[outcome]
      before = now
    }
  }

  /** The heartbeat of every import and undo of this process, also of those that wait and make no progress. */
  #touchAll(): void {
    const { database } = this.#parts
    for (const { tenant, importId } of this.#held()) {
      database.inTenant(tenant, (transaction) => touchImport(transaction, tenant, importId)).catch(() => {})
    }
  }
}

interface Undos {
  readonly start: (tenant: TenantId, importId: number) => void
  readonly isStopping: () => boolean
}

/** Looks for undos whose process died, and takes them over. */
class UndoResumer {
  readonly #parts: RunnerParts
  readonly #undos: Undos
  readonly #timer: NodeJS.Timeout | undefined
  #looking = Promise.resolve()
  #isDatabaseDown = false

  constructor(parts: RunnerParts, everyMs: number | null, undos: Undos) {
    this.#parts = parts
    this.#undos = undos
    if (everyMs === null) return
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look())
    }, everyMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const { database, log } = this.#parts
    try {
      const lost = await database.acrossTenants((transaction) => silentUndos(transaction))
      for (const { tenant, importId } of lost) {
        if (this.#undos.isStopping()) return
        const isMine = await database.inTenant(tenant, (transaction) =>
          takeOverUndo(transaction, tenant, importId),
        )
        if (isMine) this.#undos.start(tenant, importId)
      }
      this.#isDatabaseDown = false
    } catch (error) {
      // Logged once per outage, because every look fails during one.
      if (!this.#isDatabaseDown) log.warn({ err: error }, 'could not look for interrupted undos of imports')
      this.#isDatabaseDown = true
    }
  }
}
