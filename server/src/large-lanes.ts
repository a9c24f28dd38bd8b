import { setTimeout as delay } from 'node:timers/promises'
import {
  type Corridor,
  countedFromQuotes,
  findLargeLanes,
  keepLaneCounted,
} from './database/counted-lanes.ts'
import type { Database, TenantId } from './database/open-database.ts'
import { behindRequests } from './database/patience.ts'
import type { Log } from './endpoints/call.ts'

/** Has lanes kept counted once somebody met them and they were large: the next first answer on them reads their counts. */
export interface LargeLanes {
  /** Told of a lane whose quotes have just been counted one by one. Nobody waits for what comes of it. */
  met(tenant: TenantId, corridor: Corridor | undefined, quotes: number): void
  /** Waits for what is under way, and begins nothing more. */
  drain(): Promise<void>
}

/** The answer in which a lane was met goes first. */
const afterAnswerMs = 200
/** A lane that could not be counted is let be for so long: writers of its brokerage wait while it is tried. */
const letBeMs = 600_000

export function largeLanes({
  database,
  log,
}: {
  database: Pick<Database, 'inTenant'>
  log: Log
}): LargeLanes {
  /** Lanes that are being counted, or are let be. */
  const underway = new Set<string>()
  const stopping = new AbortController()
  /** One at a time: each is some work for the database. */
  let last: Promise<void> = Promise.resolve()

  async function keep(name: string, tenant: TenantId, corridor: Corridor): Promise<void> {
    if (stopping.signal.aborted) return
    try {
      await delay(afterAnswerMs, undefined, { signal: stopping.signal })
      await behindRequests(() => keepLaneCounted(database, tenant, corridor))
      underway.delete(name)
    } catch (error) {
      if (stopping.signal.aborted) return
      log.warn({ err: error }, 'a large lane could not be counted')
      setTimeout(() => underway.delete(name), letBeMs).unref()
    }
  }

  return {
    met(tenant, corridor, quotes) {
      if (corridor === undefined || quotes < countedFromQuotes) return
      const name = `${tenant} ${corridor.originKey} ${corridor.destinationKey}`
      if (underway.has(name)) return
      underway.add(name)
      last = last.then(() => keep(name, tenant, corridor))
    },
    drain() {
      stopping.abort()
      return last
    },
  }
}

/** Has all lanes of a tenant kept counted that are large, as after an import of many quotes. */
export async function keepLargeLanes(database: Pick<Database, 'inTenant'>, tenant: TenantId): Promise<void> {
  const lanes = await database.inTenant(tenant, (transaction) => findLargeLanes(transaction, tenant))
  for (const lane of lanes) await keepLaneCounted(database, tenant, lane)
}
