import type { PilotEntry } from '#engine/pilot/pilot-entries.ts'
import { type PilotReport, type PilotScorer, pilotScorer } from '#engine/pilot/pilot-report.ts'
import { pilotEntriesAfter } from '../database/queries/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'

/** Pilots whose entries are kept as read: some hundred bytes per quote. */
const keptMax = 20
const entriesAtOnce = 1_000

interface Kept {
  readonly scorer: PilotScorer
  upTo: number
  report: PilotReport | null
  reading: Promise<void> | null
}

/** Reports on pilots. A report reads only the entries that are newer than the last report of this process. */
export interface PilotReports {
  read(tenant: TenantId): Promise<PilotReport>
}

export function pilotReports(database: Database): PilotReports {
  const kept = new Map<TenantId, Kept>()

  function keptOf(tenant: TenantId): Kept {
    const known = kept.get(tenant) ?? { scorer: pilotScorer(), upTo: 0, report: null, reading: null }
    kept.delete(tenant)
    kept.set(tenant, known)
    const [oldest] = kept.keys()
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
    return known
  }

  async function readNewer(tenant: TenantId, pilot: Kept): Promise<void> {
    for (;;) {
      const rows = await database.inTenant(tenant, (transaction) =>
        pilotEntriesAfter(transaction, tenant, pilot.upTo, entriesAtOnce),
      )
      for (const row of rows) {
        pilot.scorer.add(entryOf(row))
        pilot.upTo = row.entry_number
        pilot.report = null
      }
      if (rows.length < entriesAtOnce) return
    }
  }

  return {
    async read(tenant) {
      const pilot = keptOf(tenant)
      pilot.reading ??= readNewer(tenant, pilot).finally(() => {
        pilot.reading = null
      })
      await pilot.reading
      pilot.report ??= pilot.scorer.report()
      return pilot.report
    },
  }
}

type Row = Awaited<ReturnType<typeof pilotEntriesAfter>>[number]

/** A row as an entry. The chain shows whether a row was edited in the database; a report just reads it. */
function entryOf(row: Row): PilotEntry {
  return {
    entry: row.entry_number,
    at: row.at.getTime(),
    kind: row.kind,
    body: JSON.parse(row.body),
  } as PilotEntry
}
