import type { Outcome, SavedOutcome } from '#engine/history.ts'
import type { NotAppliedValue, RowChange, RowError } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import type { LeftOut } from './import-notes.ts'
import type { ReturnedRow } from './returned-rows.ts'
import type { CellError, RowContext } from './row-reader.ts'
import type { ReportedRow } from './row-values.ts'
import type { ImportedBooking, ImportedQuote } from './rows.ts'
import { type Word, wordsOf } from './word-meanings.ts'

export interface SettledQuote {
  readonly line: number
  /** The line whose turn the row takes, as in `RowInTurn`. */
  readonly turn: number
  readonly quote: ImportedQuote
  readonly fingerprint: Buffer
  readonly said: string | null
  /** The line of the row with the same id whose turn is before; null if it is the first. */
  readonly after: number | null
}

export interface SettledBooking {
  readonly line: number
  readonly booking: ImportedBooking
  readonly said: string
}

/** A row with the lane_ref of a quote, perhaps of another brokerage. */
export interface SettledReturn {
  readonly line: number
  readonly turn: number
  readonly row: ReturnedRow
  /** The row as a new quote; null if it cannot be one, because of `errors`. */
  readonly quote: SettledQuote | null
  readonly errors: readonly CellError[]
  readonly leftOut: LeftOut | null
}

/** The valid rows of a batch, and the returned rows, also those that are valid only for a known quote. */
export interface SettledRows {
  readonly quotes: readonly SettledQuote[]
  readonly bookings: readonly SettledBooking[]
  readonly returned: readonly SettledReturn[]
}

/** The result of saving the valid rows of a batch. */
export interface SavedRows {
  /** Rows that make no new quote. They are in no other count. */
  readonly leftOut: Record<LeftOut, number>
  rowsAdded: number
  rowsUpdated: number
  rowsRepeated: number
  rowsRefused: number
  rowsNotApplied: number
  /** Refused rows with the id of a quote of another day. */
  rowsOfOtherLoads: number
  /** Rows that count instead of an earlier row of the file with the same id. */
  rowsOfSharedIds: number
  readonly refused: RowError[]
  /** The lines of refused rows that may be charges of a load, by the id of the load. */
  readonly charges: Map<string, number>
  /** The outcomes of the accepted rows. */
  readonly outcomes: Record<Outcome, number>
  readonly changes: RowChange[]
  readonly notApplied: NotAppliedValue[]
  /** Words of refused rows that are not known. */
  readonly unknownWords: Word[]
}

/** Adds an outcome to the counts, or with -1 removes it. An expired quote counts as pending. */
export function countOutcome(outcomes: SavedRows['outcomes'], outcome: SavedOutcome, by: 1 | -1): void {
  outcomes[outcome === 'expired' ? 'pending' : outcome] += by
}

export interface Job {
  readonly tenant: TenantId
  readonly importId: number
  readonly createdBy: number | null
  readonly dryRun: boolean
  readonly context: RowContext
}

/** A row of an existing quote, or of one that an earlier row of the batch makes. */
export interface KnownRow {
  readonly line: number
  readonly turn: number
  /** As in `SettledQuote`. */
  readonly after: number | null
  /** Of a quote that the batch makes, the negative number of its row in `MadeQuotes`. */
  readonly quoteId: number
  /** The digest of the row; null for an edited row, so that the row of another system that the quote has keeps its digest. */
  readonly said: string | null
  readonly reported: ReportedRow
  /** The row as a quote, when it has no lane_ref. */
  readonly quote: ImportedQuote | null
}

/** Adds a row with errors to the refused ones. */
export function refuse(rows: SavedRows, row: number, errors: readonly CellError[]): void {
  rows.rowsRefused++
  rows.unknownWords.push(...wordsOf(errors))
  rows.refused.push(
    ...errors.map(({ column, detail }) => ({ row, column: column === '' ? null : column, detail })),
  )
}
