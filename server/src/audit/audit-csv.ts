import { csvHead, csvLinesInSteps } from '../csv/index.ts'
import type { ListedAuditRow } from '../database/queries/index.ts'

/** The columns of an exported event. `Further` is exactly the text that the hash covers. */
const columns: readonly (readonly [header: string, cell: (row: ListedAuditRow) => string | number | null])[] =
  [
    ['Event', (row) => row.entry_number],
    ['At', (row) => row.at.toISOString()],
    ['Kind', (row) => row.kind],
    ['Done by', (row) => row.user_name],
    ['Done by, id', (row) => row.user_id],
    ['Done to', (row) => row.subject_name],
    ['Done to, id', (row) => row.subject_user_id],
    ['Service token', (row) => row.token_name],
    ['Service token, id', (row) => row.token_id],
    ['Times', (row) => row.count],
    ['From address', (row) => row.network],
    ['Further', (row) => row.about],
    ['Request id', (row) => row.request_id],
    ['Hash', (row) => row.hash.toString('hex')],
  ]

/** The UTF-8 byte order mark and the header line. */
export const auditCsvHead = csvHead(columns.map(([header]) => header))

/** One line per event, with times in ISO 8601. */
export function auditCsvLines(rows: readonly ListedAuditRow[]) {
  return csvLinesInSteps(rows, (row) => columns.map(([, cell]) => cell(row)))
}
