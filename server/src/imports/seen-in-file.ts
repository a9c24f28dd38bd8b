import { cellText, datedFields, noDates, orderConflict, type SeenDates, seeDate } from '../csv/index.ts'
import { ImportFileError, type TableFile, tablePieces, unpacked } from '../tables/index.ts'
import type { Columns } from './columns.ts'
import type { SeenInDates } from './file-dates.ts'
import { knownCells } from './known-cells.ts'
import { hasPlaces } from './row-places.ts'
import { RowReader } from './row-reader.ts'
import { idOf } from './rows.ts'
import { FileIds, type SharedIds } from './shared-ids.ts'

/** What must be known of a whole file before its first row is read. */
export interface SeenInFile {
  readonly dates: SeenInDates
  readonly ids: SharedIds
}

/** A date in numbers, such as 3/1/2026 or 01.03.26, anywhere in a text. */
const anyNumbers = /(?<!\d)\d{1,2}([-/.])\d{1,2}\1(?:\d{4}|\d{2})(?!\d)/
/** Longer than such a date, so that one that is cut by the end of a piece is found with the next one. */
const overlap = 12
/** The bytes that are searched at once. Each larger text would be kept until many are collected together. */
const searchedBytes = 32 * 1024

/**
 * Looks through the columns of dates and ids of a whole file, before any row is saved. Only what decides the order of day and month is
 * held, and which rows share an id. A file without ids is searched for dates in numbers, and without them not parsed.
 *
 * @throws ImportFileError if the dates of one column need both orders, or if rows that share an id are too far apart
 */
export async function seeFile(csv: TableFile, columns: Columns): Promise<SeenInFile> {
  const fields = datedFields.flatMap((field) => {
    const position = columns.positions[field]
    return position === undefined || columns.constants[field] !== undefined
      ? []
      : [{ field, position, name: columns.names[field] ?? field, seen: noDates() }]
  })
  const idColumn = columns.names.reference ?? columns.names.lane_ref
  if (idColumn === undefined && (fields.length === 0 || !(await hasNumbers(csv)))) {
    return { dates: new Map(), ids: new Map() }
  }
  const ids = new FileIds()
  const context = { columns, known: knownCells() }
  let lines = 0
  for await (const { rows } of tablePieces(csv)) {
    for (const { cells, line, malformed } of rows) {
      // A refused row may have its cells in other columns.
      if (malformed || isTooWide(cells, columns.width)) continue
      for (const { position, seen } of fields) {
        const text = cellText(cells[position])
        if (text !== null) seeDate(seen, text, line)
      }
      lines++
      const id = idColumn === undefined ? null : idOfQuote(new RowReader(cells, context))
      if (id !== null) ids.add(id, line)
    }
    refuseConflict(
      fields.filter(({ field }) => field !== 'updated_at'),
      columns.dates,
    )
  }
  return {
    dates: new Map(fields.map(({ field, seen }) => [field, seen])),
    ids: ids.shared(csv.bytesTotal / Math.max(lines, 1), idColumn ?? 'reference'),
  }
}

/** The id of a row of a quote; null for one without an id, and for the booking of a quote. */
const idOfQuote = (row: RowReader) => (row.text('lane_ref') === null || hasPlaces(row) ? idOf(row) : null)

const isTooWide = (cells: readonly string[], width: number) =>
  cells.length > width && cells.slice(width).some((cell) => cell.trim() !== '')

function refuseConflict(
  fields: readonly { readonly name: string; readonly seen: SeenDates }[],
  chosen: Columns['dates'],
): void {
  const problems = fields.flatMap(({ name, seen }) => {
    const conflict = orderConflict(name, seen, chosen)
    return conflict === null
      ? []
      : [{ code: 'file' as const, row: conflict.line, column: name, detail: conflict.detail }]
  })
  if (problems.length > 0) throw new ImportFileError(problems)
}

async function hasNumbers(csv: TableFile): Promise<boolean> {
  let rest = ''
  for await (const piece of unpacked(csv.bytes)) {
    for (let at = 0; at < piece.length; at += searchedBytes) {
      const text = rest + piece.toString('latin1', at, at + searchedBytes)
      if (anyNumbers.test(text)) return true
      rest = text.slice(-overlap)
    }
  }
  return false
}
