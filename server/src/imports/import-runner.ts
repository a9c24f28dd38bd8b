import { findImport, touchImport } from '../database/imports.ts'
import type { TenantId } from '../database/open-database.ts'
import { behindRequests } from '../database/patience.ts'
import type { ImportRunner, Parts } from '../endpoints/call.ts'
import { importFile, openImport } from './import-file.ts'

/** Imports that work at the same time, over all tenants: the rest of the database and of the processor is for requests. */
const runningMax = 2
/** Bytes of the files that run and wait: each is held in memory. */
const bytesHeldMax = 512 * 1024 * 1024
/** Well under the silence after which an import counts as abandoned. */
const touchEveryMs = 10_000

interface Waiting {
  readonly tenant: TenantId
  readonly importId: number
  readonly bytes: number
  readonly work: () => Promise<void>
}

/** Runs imports behind their requests: one of a tenant at a time, two in all, the others in the order they came. */
export function importRunner(
  parts: Pick<Parts, 'database' | 'clock' | 'log'>,
  limits = { bytesHeldMax },
): ImportRunner {
  const { database, clock, log } = parts
  const waiting: Waiting[] = []
  const running = new Map<Waiting, Promise<void>>()
  let draining = false

  function startNext(): void {
    while (running.size < runningMax) {
      const busy = new Set([...running.keys()].map((one) => one.tenant))
      const index = waiting.findIndex((one) => !busy.has(one.tenant))
      const [next] = index < 0 ? [] : waiting.splice(index, 1)
      if (next === undefined) return
      const ended = behindRequests(next.work).finally(() => {
        running.delete(next)
        startNext()
      })
      running.set(next, ended)
    }
  }

  /** Says of every import held here that it is alive: one that waits makes no progress. */
  const touching = setInterval(() => {
    for (const { tenant, importId } of [...running.keys(), ...waiting]) {
      database
        .inTenant(tenant, (transaction) => touchImport(transaction, tenant, importId, new Date(clock())))
        .catch(() => {})
    }
  }, touchEveryMs)
  touching.unref()

  return {
    async hasRoomFor(bytes) {
      const held = [...running.keys(), ...waiting].reduce((sum, one) => sum + one.bytes, 0)
      return held + bytes <= limits.bytesHeldMax
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
            },
          )
          log.info({ import_id: importId, status: end.status, rows_added: end.rowsAdded }, 'an import ended')
        } catch (error) {
          log.error({ err: error, import_id: importId }, 'an import failed')
        }
      }
      waiting.push({ tenant, importId, bytes: file.length, work })
      startNext()
    },
    async drain() {
      draining = true
      while (running.size + waiting.length > 0) {
        startNext()
        await Promise.all(running.values())
      }
      clearInterval(touching)
    },
  }
}
