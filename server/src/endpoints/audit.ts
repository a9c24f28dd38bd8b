import { listAuditEvents } from '#contract/audit.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { type ListedAuditRow, listAudit } from '../database/audit-log.ts'
import { type ServedEndpoint, serve } from './call.ts'
import { cursorPosition, cursorText, wrongCursor } from './page-cursor.ts'

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

/** What somebody wrote over by hand is shown as it stands: the log goes on being readable. */
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

export const auditEndpoint: ServedEndpoint = serve(
  listAuditEvents,
  async ({ caller, query }, { database }) => {
    const limit = query.limit ?? pageSizeDefault
    const filter = {
      ...(query.kind === undefined ? {} : { kind: query.kind }),
      ...(query.user_id === undefined ? {} : { userId: query.user_id }),
    }
    const before = readCursor(query.cursor)
    const rows = await database.inTenant(caller.tenant, (transaction) =>
      listAudit(transaction, caller.tenant, filter, { before, limit: limit + 1 }),
    )
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      events: page.map(eventAnswer),
      next_cursor: rows.length > limit && last !== undefined ? cursorText([last.entry_number]) : null,
    }
  },
)
