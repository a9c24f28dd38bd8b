import { exportAuditEvents, listAuditEvents } from '#contract/audit.ts'
import { type AuditKind, auditKinds, auditKindsOf } from '#contract/audit-kinds.ts'
import type { QueryOf } from '#contract/endpoint.ts'
import { readTime } from '#contract/fields.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { auditCsvHead, auditCsvLines } from '../../audit/index.ts'
import {
  type AuditFilter,
  type ListedAuditRow,
  listAudit,
  newestAuditRow,
} from '../../database/queries/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { csvPages, rowsExportedAtOnce } from '../csv-pages.ts'
import { type CsvFile, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'

const named = (id: number | null, name: string | null) => (id === null ? null : { id, name })

function eventAnswer(row: ListedAuditRow) {
  return {
    event_id: row.entry_number,
    at: row.at.toISOString(),
    kind: row.kind,
    done_by: named(row.user_id, row.user_name),
    done_to: named(row.subject_user_id, row.subject_name),
    token: named(row.token_id, row.token_name),
    about: readAbout(row.about),
    count: row.count,
    network: row.network,
    request_id: row.request_id,
    hash: row.hash.toString('hex'),
  }
}

const newestAnswer = (row: Pick<ListedAuditRow, 'entry_number' | 'at' | 'hash'>) => ({
  event_id: row.entry_number,
  at: row.at.toISOString(),
  hash: row.hash.toString('hex'),
})

/** A value that was edited directly in the database is shown unchanged, so that the log stays readable. */
function readAbout(text: string): Record<string, unknown> {
  try {
    const about: unknown = JSON.parse(text)
    if (typeof about === 'object' && about !== null && !Array.isArray(about)) return { ...about }
  } catch {}
  return { text }
}

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null
  const [entry] = cursorPosition(text) ?? []
  if (typeof entry === 'number' && Number.isSafeInteger(entry) && entry > 0) return entry
  throw wrongCursor()
}

function auditFilter(query: QueryOf<typeof exportAuditEvents>): AuditFilter {
  const { kind, group } = query
  const inGroup: readonly AuditKind[] = group === undefined ? auditKinds : auditKindsOf[group]
  const moment = (text: string | undefined) => (text === undefined ? null : readTime(text))
  const [from, to] = [moment(query.from), moment(query.to)]
  return {
    ...(kind === undefined && group === undefined
      ? {}
      : { kinds: inGroup.filter((one) => kind === undefined || one === kind) }),
    ...(query.user_id === undefined ? {} : { userId: query.user_id }),
    ...(from === null ? {} : { from: new Date(from) }),
    ...(to === null ? {} : { to: new Date(to) }),
  }
}

/** A selection of the audit log as CSV, newest first. Each piece is read in its own transaction. */
function csvOf(database: Database, tenant: TenantId, filter: AuditFilter): CsvFile['text'] {
  return csvPages(auditCsvHead, async (before: number | null) => {
    const rows = await database.inTenant(tenant, (transaction) =>
      listAudit(transaction, tenant, filter, { before, limit: rowsExportedAtOnce }),
    )
    const last = rows.length < rowsExportedAtOnce ? undefined : rows.at(-1)
    return { lines: auditCsvLines(rows), next: last?.entry_number ?? null }
  })
}

export const auditEndpoints: ServedEndpoint[] = [
  serve(listAuditEvents, async ({ caller, query }, { database }) => {
    const limit = query.limit ?? pageSizeDefault
    const filter = auditFilter(query)
    const before = readCursor(query.cursor)
    return database.inTenant(caller.tenant, async (transaction) => {
      const rows = await listAudit(transaction, caller.tenant, filter, { before, limit: limit + 1 })
      // Read last, so that no row of the page is newer than the newest.
      const newest = await newestAuditRow(transaction, caller.tenant)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        events: page.map(eventAnswer),
        next_cursor: rows.length > limit && last !== undefined ? cursorText([last.entry_number]) : null,
        newest: newest === null ? null : newestAnswer(newest),
      }
    })
  }),

  serve(exportAuditEvents, async ({ caller, query, now }, { database }) => ({
    fileName: `lanewise-audit-log-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(database, caller.tenant, auditFilter(query)),
  })),
]
