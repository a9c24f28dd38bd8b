import { csvHead, csvLines } from '../csv/index.ts'
import type { ListedAuditRow } from '../database/queries/index.ts'

/** The columns of an exported event. `Further` is the text that the hash was made over, letter for letter. */
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

/** The mark of UTF-8 and the line of column names. */
export const auditCsvHead = csvHead(columns.map(([header]) => header))

/** A line an event, times in ISO 8601. */
export function auditCsvLines(rows: readonly ListedAuditRow[]): string {
  return csvLines(rows.map((row) => columns.map(([, cell]) => cell(row))))
}
