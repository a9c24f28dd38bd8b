import { importBytesHeldMax } from '#contract/limits.ts'
import {
  findImport,
  type ImportProgress,
  silentUndos,
  takeOverUndo,
  touchImport,
} from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { importFile, openImport } from './import-file.ts'
import { undoImport } from './undo-import.ts'

/** Runs imports and undos after their request was answered, and lets them finish or stop when the service drains. */
export interface ImportRunner {
  /**
   * Sets memory apart for a file of a brokerage before it is read, and answers the number of the place to give back;
   * `busy` while another file of the same brokerage is being read, `full` while the files held leave too little memory.
   */
  reserve(tenant: TenantId, bytes: number): number | 'busy' | 'full'
  /** Gives a place back; once more does no harm. */
  release(place: number): void
  /** Imports a file, held as it was sent, in pieces. */
  start(
    tenant: TenantId,
    importId: number,
    file: readonly Uint8Array[],
    options: { map: string | undefined; dryRun: boolean },
  ): void
  /** Goes on with the undo of an import that is `undoing`. */
  startUndo(tenant: TenantId, importId: number): void
  drain(): Promise<void>
}

/** Imports that work at the same time, over all tenants: the rest of the database and of the processor is for requests. */
const runningMax = 2
/** Well under the silence after which an import counts as abandoned. */
const touchEveryMs = 10_000
/** How often the service looks for undos whose process was lost. */
const resumeEveryMs = 5_000

interface Waiting {
  readonly tenant: TenantId
  readonly importId: number
  readonly bytes: number
  readonly work: () => Promise<void>
}

/**
 * Imports now, and since the start by how they ended: `failed` because the database was away for too long, `broken` by a
 * fault of ours. Rows of dry runs are not counted.
 */
export interface ImportCounts {
  readonly running: number
  readonly waiting: number
  readonly bytesHeld: number
  readonly ended: Readonly<Record<'done' | 'stopped' | 'failed' | 'broken', number>>
  readonly rows: Readonly<Record<'added' | 'updated' | 'repeated' | 'refused' | 'kept', number>>
}

/**
 * Runs imports and undos behind their requests: one of a tenant at a time, two in all, the others in the order they came.
 * An undo whose process was lost is resumed, whichever process it was; with `resumeEveryMs` null it is not looked for.
 */
export function importRunner(
  parts: { database: Database; clock: () => number; log: Log },
  options: { readonly bytesHeldMax?: number; readonly resumeEveryMs?: number | null } = {},
): ImportRunner & { counts(): ImportCounts } {
  const { database, clock, log } = parts
  const limits = { bytesHeldMax: importBytesHeldMax, resumeEveryMs, ...options }
  const waiting: Waiting[] = []
  const running = new Map<Waiting, Promise<void>>()
  /** Files that are being read, by the number of their place. */
  const places = new Map<number, { readonly tenant: TenantId; readonly bytes: number }>()
  let lastPlace = 0
  let draining = false
  const ended = { done: 0, stopped: 0, failed: 0, broken: 0 }
  const rows = { added: 0, updated: 0, repeated: 0, refused: 0, kept: 0 }
  const rowsOf = ({ rowsAdded, rowsUpdated, rowsRepeated, rowsRefused, rowsKept }: ImportProgress) => ({
    added: rowsAdded,
    updated: rowsUpdated,
    repeated: rowsRepeated,
    refused: rowsRefused,
    kept: rowsKept,
  })
  /** Counts the rows of one import as it goes on. */
  function rowCounter(): (progress: ImportProgress) => void {
    let before: typeof rows = { added: 0, updated: 0, repeated: 0, refused: 0, kept: 0 }
    return (progress) => {
      const now = rowsOf(progress)
      for (const outcome of ['added', 'updated', 'repeated', 'refused', 'kept'] as const) {
        rows[outcome] += now[outcome] - before[outcome]
      }
      before = now
    }
  }
  const bytesHeldNow = () =>
    [...running.keys(), ...waiting, ...places.values()].reduce((sum, one) => sum + one.bytes, 0)

  function startNext(): void {
    while (running.size < runningMax) {
      const busy = new Set([...running.keys()].map((one) => one.tenant))
      const index = waiting.findIndex((one) => !busy.has(one.tenant))
      const [next] = index < 0 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      const end = runInBackground(next.work).finally(() => {
        running.delete(next)
        startNext()
      })
      running.set(next, end)
    }
  }

  function startUndo(tenant: TenantId, importId: number): void {
    const held = [...running.keys(), ...waiting]
    if (held.some((one) => one.tenant === tenant && one.importId === importId)) return
    const work = async () => {
      try {
        const row = await undoImport({ database, clock }, { tenant, importId, isStopping: () => draining })
        log.info(
          { tenant_id: tenant, import_id: importId, status: row?.status, lanes_removed: row?.lanes_removed },
          'an undo of an import ended',
        )
      } catch (error) {
        log.error(
          { err: error, tenant_id: tenant, import_id: importId },
          'an undo of an import was interrupted',
        )
      }
    }
    waiting.push({ tenant, importId, bytes: 0, work })
    startNext()
  }

  let isDown = false
  /** Takes over undos whose process was lost. */
  async function resumeUndos(): Promise<void> {
    try {
      const now = new Date(clock())
      const lost = await database.outsideTenants((transaction) => silentUndos(transaction, now))
      for (const { tenant, importId } of lost) {
        if (draining) return
        const isMine = await database.inTenant(tenant, (transaction) =>
          takeOverUndo(transaction, tenant, importId, now),
        )
        if (isMine) startUndo(tenant, importId)
      }
      isDown = false
    } catch (error) {
      // Logged once: until the database is back, every look fails.
      if (!isDown) log.warn({ err: error }, 'undos of imports could not be looked for')
      isDown = true
    }
  }
  let resuming = Promise.resolve()
  const resumer =
    limits.resumeEveryMs === null
      ? undefined
      : setInterval(() => {
          resuming = resuming.then(resumeUndos)
        }, limits.resumeEveryMs)
  resumer?.unref()

  /** The heartbeat of every import and undo held here: one that waits makes no progress. */
  const touching = setInterval(() => {
    for (const { tenant, importId } of [...running.keys(), ...waiting]) {
      database
        .inTenant(tenant, (transaction) => touchImport(transaction, tenant, importId, new Date(clock())))
        .catch(() => {})
    }
  }, touchEveryMs)
  touching.unref()

  return {
    startUndo,
    reserve(tenant, bytes) {
      if ([...places.values()].some((one) => one.tenant === tenant)) return 'busy'
      if (bytesHeldNow() + bytes > limits.bytesHeldMax) return 'full'
      places.set(++lastPlace, { tenant, bytes })
      return lastPlace
    },
    release(place) {
      places.delete(place)
    },
    start(tenant, importId, file, options) {
      const work = async () => {
        try {
          const row = await database.inTenant(tenant, (transaction) =>
            findImport(transaction, tenant, importId, new Date(clock())),
          )
          if (row === null || row.status !== 'running') return
          const end = await importFile(
            { database, clock },
            {
              tenant,
              importId,
              createdBy: row.created_by,
              file: await openImport(file, options.map),
              dryRun: options.dryRun,
              isStopping: () => draining,
              ...(options.dryRun ? {} : { onProgress: rowCounter() }),
            },
          )
          ended[end.status]++
          const { status, rowsAdded } = end
          log.info(
            { tenant_id: tenant, import_id: importId, status, rows_added: rowsAdded },
            'an import ended',
          )
        } catch (error) {
          ended.broken++
          log.error({ err: error, tenant_id: tenant, import_id: importId }, 'an import failed')
        }
      }
      const bytes = file.reduce((sum, piece) => sum + piece.length, 0)
      waiting.push({ tenant, importId, bytes, work })
      startNext()
    },
    counts: () => ({
      running: running.size,
      waiting: waiting.length,
      bytesHeld: bytesHeldNow(),
      ended: { ...ended },
      rows: { ...rows },
    }),
    async drain() {
      draining = true
      clearInterval(resumer)
      await resuming
      while (running.size + waiting.length > 0) {
        startNext()
        await Promise.all(running.values())
      }
      clearInterval(touching)
    },
  }
}
