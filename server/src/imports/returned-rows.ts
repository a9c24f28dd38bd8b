import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import type { SavedOutcome } from '#engine/history.ts'
import { readCharges, sumOfCharges } from '#engine/named-charges.ts'
import { quoteTable } from '#engine/quote-fields.ts'
import {
  type ImportFieldName,
  importFieldNames,
  type ReadOutcome,
  readOutcome,
  readReason,
} from '../csv/index.ts'
import type { QuoteRow } from '../database/schema/index.ts'
import { quoteCsvHeaders } from '../quotes/index.ts'
import { type Columns, readColumns } from './columns.ts'
import type { LeftOut } from './import-notes.ts'
import { otherLane } from './merge-row.ts'
import { readBookingCells, readTermsCells } from './row-charges.ts'
import { type CellError, type RowContext, RowReader } from './row-reader.ts'
import { type ReportedRow, readOwnFields, reportedFields } from './row-values.ts'
import { type ImportedQuote, type ReadRow, readLaneRef, readRow } from './rows.ts'
import type { Word } from './word-meanings.ts'

/**
 * Rows of quotes that came back: an exported file has them, a person edited some cells, and imports the file again.
 *
 * Such a row is not read by itself, because an unedited cell must change nothing: each cell is compared with the cell that an export
 * writes for the quote now. What differs was edited. Only edited cells are checked and applied, so a quote that entered in another
 * way than by a file is never refused for what it is.
 */

/** A row with the columns of a quote and the lane_ref of one. */
export interface ReturnedRow {
  readonly laneRef: string
  /** Whether the file states it as a lane_ref. Otherwise it is an id, which may be that of another system. */
  readonly isStated: boolean
  readonly cells: readonly string[]
}

/** A row as `readRow` reads it. If `returned` is a quote of the brokerage, it is changed instead; if not, `leftOut` counts. */
export interface ReadLine {
  readonly read: ReadRow
  readonly returned: ReturnedRow | null
  readonly leftOut: LeftOut | null
  /** The words of the row whose meanings the map states. */
  readonly stated: readonly Word[]
}

/**
 * Reads one row as `readRow` does, and says whether it may be a quote that was exported before, and whether it makes no new quote.
 *
 * @example readLine(cellsOfAnExportedQuote, context).returned?.laneRef // '48211093754-1-1'
 */
export function readLine(cells: readonly string[], context: RowContext): ReadLine {
  const row = new RowReader(cells, quiet(context))
  const read = readRow(cells, context)
  const { words: stated, isSkipped } = row.statedWords()
  if (isSkipped) return { read, leftOut: 'skipped', returned: null, stated }
  const isVoid = row.text('voided_at') !== null
  const leftOut = isVoid ? 'void' : row.text('superseded_by') === null ? null : 'superseded'
  const statedRef = row.text('lane_ref')
  const laneRef = statedRef ?? row.text('reference')
  const isReturned = read.kind !== 'booking' && laneRef !== null && 'value' in readLaneRef(laneRef)
  const returned = isReturned ? { laneRef, isStated: statedRef !== null, cells } : null
  return { read, leftOut, returned, stated }
}

type Value = string | number | null

/** The cells of a row: the text of each field, and the value that its cell states alone. */
interface Cells {
  readonly row: RowReader
  readonly values: ReadonlyMap<ImportFieldName, Value>
}

/** The fields that an edited cell can change. */
const quoteFields = reportedFields.map((field) => ({ field, name: quoteTable[field].sent }))
const bookingFields = sentBookingFields.map((field) => ({ field, name: bookingTable[field].sent }))

/** The context without the count of cells such as N/A: `readRow` counts those of each row. */
function quiet({ onNotGiven: _, ...context }: RowContext): RowContext {
  return context
}

function readCells(cells: readonly string[], context: RowContext): Cells {
  const row = new RowReader(cells, quiet(context))
  const own = { ...readOwnFields(row, context.now), ...readTermsCells(row) }
  const booking = readBookingCells(row, context.now)
  const outcome = row.readCached('outcome', readOutcome)
  const reason = row.text('outcome_reason')
  const values = new Map<ImportFieldName, Value>([
    ...quoteFields.map(({ field, name }): [ImportFieldName, Value] => [name, own[field]]),
    ...bookingFields.map(({ field, name }): [ImportFieldName, Value] => [name, booking[field]]),
    ['outcome', outcome?.outcome ?? null],
    ['outcome_reason', outcome?.reason ?? (reason === null ? null : readReason(reason))],
    ['decided_at', row.past('decided_at', context.now)],
  ])
  return { row, values }
}

const exported = readColumns(quoteCsvHeaders)

/** The columns of an exported file. */
function exportedColumns(): Columns {
  if ('problems' in exported) throw new Error('An import reads no exported file.')
  return exported.columns
}

export type EditedRow =
  | { readonly kind: 'other lane'; readonly others: ReturnType<typeof otherLane> }
  | { readonly kind: 'edited'; readonly reported: ReportedRow; readonly outcome: SavedOutcome | null }
  | { readonly kind: 'refused'; readonly errors: readonly CellError[] }

/** A row to compare with its quote: `quote` is the row as a new quote, null if it cannot be one, because of `errors`. */
export interface RowToCompare {
  readonly cells: readonly string[]
  readonly quote: ImportedQuote | null
  readonly errors: readonly CellError[]
}

/**
 * What a person edited in the row of an exported quote. `held` is the quote, and `heldCells` the cells that an export writes for it
 * now. Amounts in whole cents, times in epoch milliseconds.
 *
 * @example editedRow({ cells: withAnotherRate, ... }, quote, quoteCsvCells(...), context).reported.quote // { quotedRateCents: 210000 }
 */
export function editedRow(
  { cells, quote, errors }: RowToCompare,
  held: QuoteRow,
  heldCells: readonly string[],
  context: RowContext,
): EditedRow {
  const file = readCells(cells, context)
  const before = readCells(heldCells, { ...context, columns: exportedColumns() })
  const edited = new Set(importFieldNames.filter((field) => isEdited(field, file, before)))
  const check = new RowReader(cells, quiet(context))
  checkEdits(check, file, { edited, held, quote })
  const kept = errors.filter(({ column }) => concerns(column, edited, context.columns))
  const wrong = [...kept, ...check.errors, ...validityErrors(cells, heldCells, context)]
  if (wrong.length > 0) return { kind: 'refused', errors: wrong }
  const others = quote === null ? [] : otherLane(held, quote.columns)
  const moved = others.filter(({ field }) => [...edited].some((one) => one.startsWith(field)))
  if (moved.length > 0) return { kind: 'other lane', others: moved }
  return { kind: 'edited', ...reportedEdits(file, edited, held) }
}

/** Whether a cell has another value than the export. An empty cell changes nothing. */
function isEdited(field: ImportFieldName, file: Cells, before: Cells): boolean {
  const [text, was] = [file.row.text(field), before.row.text(field)]
  if (text === null || text === was) return false
  const value = file.values.get(field)
  if (value === undefined || was === null) return true
  return value !== before.values.get(field) && !isReformatted(text, was)
}

/** The error of a row whose end of validity was edited, which no file can change. */
function validityErrors(
  cells: readonly string[],
  heldCells: readonly string[],
  { columns: { validUntil } }: RowContext,
): CellError[] {
  const textAt = (row: readonly string[], at: number | null) => (at === null ? '' : (row[at] ?? '').trim())
  const [text, was] = [textAt(cells, validUntil), textAt(heldCells, exportedColumns().validUntil)]
  if (text === '' || text === was || isReformatted(text, was)) return []
  const column = quoteTable.validUntil.csv
  const detail = `${column} cannot be changed by a file; it is ${was === '' ? 'empty' : `"${was}"`}. Push the quote with another valid_until, or leave the cell as it was.`
  return [{ column, detail }]
}

/** The digits of a number that a spreadsheet keeps. */
const digitsKept = 15

/**
 * Whether a spreadsheet wrote the same value in another form, which can hold less: a time without its zone or its seconds, or an id
 * or a name of digits as a number.
 *
 * @example isReformatted('2026-03-01 12:00:05', '2026-03-01T12:00:05.250Z') // true
 * @example isReformatted('12', '0012') // true
 */
export function isReformatted(text: string, was: string): boolean {
  if (/^\d+$/.test(was)) {
    const [digits, written] = [was, text].map((number) => number.replace(/^0+/, '')) as [string, string]
    const [, decimals] = /^\d(?:\.(\d+))?E\+\d+$/i.exec(text) ?? []
    if (/E/i.test(text)) return Number(text) === Number(Number(was).toExponential(decimals?.length ?? 0))
    const isCut = digits.length > digitsKept && written.length === digits.length && /^\d+$/.test(written)
    return (
      digits === written ||
      (isCut && Number(written.slice(0, digitsKept)) === Number(digits.slice(0, digitsKept)))
    )
  }
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(was) || !/^[\d\sT:.-]+$/.test(text)) return false
  const [now, then] = [text, was].map((time) => time.replace(/\D/g, '')) as [string, string]
  return then.startsWith(now) && (now.length >= 'yyyymmddhhmm'.length || /^0*$/.test(then.slice(now.length)))
}

/** The fields of an amount, whose values are checked together. */
const amountOf = (field: string) => /^(quoted|customer|truck)_/.exec(field)?.[1] ?? null

/** Whether an error is about an edited cell, or about amounts of which one was edited. An error without a column is about the row. */
function concerns(column: string, edited: ReadonlySet<ImportFieldName>, { names }: Columns): boolean {
  const field = importFieldNames.find((name) => (names[name] ?? name) === column)
  if (field === undefined || edited.has(field)) return true
  const isSum = /_(fuel|accessorials)$/.test(field)
  return isSum && [...edited].some((one) => amountOf(one) === amountOf(field))
}

interface Edits {
  readonly edited: ReadonlySet<ImportFieldName>
  readonly held: QuoteRow
  readonly quote: ImportedQuote | null
}

/**
 * Adds the errors of edits that would otherwise be left out: a booking of an open quote, a reason of no loss, impossible miles, and what
 * no file can change.
 */
function checkEdits(row: RowReader, { values }: Cells, { edited, held, quote }: Edits): void {
  const outcome = values.get('outcome') ?? null
  const isBooked = held.customer_rate_cents !== null || held.truck_cost_cents !== null
  for (const field of ['customer_rate', 'truck_cost'] as const) {
    if (!edited.has(field) || isBooked || outcome === null || outcome === 'won') continue
    row.wrong(field, 'is of a booked load; write won as its outcome, or leave it empty')
  }
  if (edited.has('outcome_reason') && (outcome ?? held.outcome) !== 'lost') {
    row.wrong('outcome_reason', 'is only for lost quotes; write lost as the outcome, or leave it empty')
  }
  for (const field of ['superseded_by', 'voided_at'] as const) {
    if (edited.has(field)) row.wrong(field, 'cannot be changed by a file; void the quote or quote it again')
  }
  if (edited.has('miles') && values.get('miles') !== null && quote?.reported.quote.miles === undefined) {
    row.wrong('miles', 'must be possible for the distance between the two places')
  }
}

/** The edited values, as `mergeRow` applies them. */
function reportedEdits({ values }: Cells, edited: ReadonlySet<ImportFieldName>, held: QuoteRow) {
  const valuesOf = (fields: readonly { readonly field: string; readonly name: ImportFieldName }[]) =>
    Object.fromEntries(
      fields.flatMap(({ field, name }) => {
        const value = edited.has(name) ? (values.get(name) ?? null) : null
        return value === null ? [] : [[field, value]]
      }),
    )
  const given = (values.get('outcome') ?? null) as ReadOutcome['outcome'] | null
  const books = edited.has('customer_rate') || edited.has('truck_cost')
  const hasOutcome = edited.has('outcome') || edited.has('outcome_reason') || edited.has('decided_at')
  // As in a file that was never exported, a booking without an outcome is a win.
  const outcome = hasOutcome ? (given ?? held.outcome) : books && given === null ? 'won' : null
  const isReason = outcome === 'lost' && (edited.has('outcome') || edited.has('outcome_reason'))
  const time = edited.has('decided_at')
    ? values.get('decided_at')
    : edited.has('outcome') && outcome === 'won'
      ? values.get('booked_at')
      : null
  const reported: ReportedRow = {
    quote: { ...valuesOf(quoteFields), ...sumOfNamed('quoted', 'quotedAccessorialsCents', values, edited) },
    booking: {
      ...valuesOf(bookingFields),
      ...sumOfNamed('customer', 'customerAccessorialsCents', values, edited),
      ...sumOfNamed('truck', 'truckAccessorialsCents', values, edited),
    },
    outcome,
    reason: isReason ? ((values.get('outcome_reason') ?? null) as ReportedRow['reason']) : null,
    decidedAt: (time ?? null) as number | null,
  }
  return { reported, outcome: given }
}

/** The accessorial charges in total, if the charges by name were edited. */
function sumOfNamed<Field extends string>(
  of: 'quoted' | 'customer' | 'truck',
  field: Field,
  values: Cells['values'],
  edited: ReadonlySet<ImportFieldName>,
): { readonly [name in Field]?: number } {
  const charges = values.get(`${of}_charges`)
  if (!edited.has(`${of}_charges`) || typeof charges !== 'string') return {}
  return { [field]: sumOfCharges(readCharges(charges) ?? []) } as { [name in Field]?: number }
}
