import Papa from 'papaparse'
import { Archive, Count, UnreadableWorkbook } from './workbook-archive.ts'
import { csvCell } from './workbook-cells.ts'
import { readBook, sheetNamed } from './workbook-parts.ts'
import { lettersOf, readSheet, type Sheet, tooLong } from './workbook-sheet.ts'

/** A sheet of a workbook as lines of CSV, and what a person may want to know about it. */
export interface SheetText {
  /** Line N is row N of the sheet. Blank lines may be missing. */
  readonly lines: readonly (string | undefined)[]
  readonly facts: SheetFacts
}

export interface SheetFacts {
  readonly sheet: string
  /** The names of all visible sheets with cells, in order. */
  readonly sheets: readonly string[]
  /** The names of the other sheets with a table. */
  readonly otherTables: readonly string[]
  /** The number of hidden rows and the letters of hidden columns, and whether they were left out. */
  readonly hidden: {
    readonly rows: number
    readonly columns: readonly string[]
    readonly areLeftOut: boolean
  }
  /** The formulas without a result: how many, and the names of the first cells. */
  readonly unresolved: { readonly count: number; readonly cells: readonly string[] }
}

export interface WorkbookLimits {
  /** Maximum size of all parts, uncompressed, in bytes. */
  readonly unpackedBytesMax: number
  /** Maximum size of the text of the sheet. */
  readonly textBytesMax: number
}

/** Which sheet of a workbook is read, and how. */
export interface SheetChoice {
  /** The sheet's name; without it, the first visible sheet for which `isTable` is true, or else the one with the most rows. */
  readonly sheet?: string | undefined
  /** Whether rows and columns that are not shown are left out. */
  readonly leavesOutHidden?: boolean
  readonly isTable?: (rows: string[][]) => boolean
}

/**
 * Reads a sheet of an Excel workbook (.xlsx, .xlsm): the values of cells, without their formulas. Dates are ISO 8601, numbers are not
 * rounded or grouped, amounts in other currencies than US dollars have its code, and digits keep leading zeros that their format
 * shows. The value of cells that are merged over rows is repeated in each row.
 *
 * @throws UnreadableWorkbook
 */
export async function sheetText(
  bytes: Uint8Array,
  limits: WorkbookLimits,
  { sheet, leavesOutHidden = false, isTable = () => false }: SheetChoice = {},
): Promise<SheetText> {
  const archive = await Archive.open(bytes, limits.unpackedBytesMax)
  const book = await readBook(archive)
  const visible: { name: string; part: string; isTable: boolean }[] = []
  for (const one of book.sheets) {
    const { rows } = await readSheet(archive, one.part, book, { ...limits, rowsMax: headRows })
    // The cells of a sheet may begin below the rows in which a header is looked for.
    const head = Array.from(rows.slice(0, headRows), (row: string | undefined) => cellsOf(row ?? ''))
    if (rows.length > 0) visible.push({ ...one, isTable: isTable(head) })
  }
  if (visible.length === 0) throw new UnreadableWorkbook('The workbook has no visible sheet with cells.')
  const named = sheet === undefined ? visible.find((one) => one.isTable) : sheetNamed(visible, sheet)
  const chosen = named ?? (await longestOf(visible, (part) => readSheet(archive, part, book, limits)))
  const read = await readSheet(archive, chosen.part, book, limits)
  return {
    lines: linesOf(read, { leavesOutHidden, ...limits }),
    facts: {
      sheet: chosen.name,
      sheets: visible.map(({ name }) => name),
      otherTables: visible.filter((one) => one.isTable && one !== chosen).map(({ name }) => name),
      hidden: {
        rows: read.hiddenRows.length,
        columns: read.hiddenColumns.map(lettersOf),
        areLeftOut: leavesOutHidden,
      },
      unresolved: read.unresolved,
    },
  }
}

/** The header is looked for in this many rows. */
const headRows = 30

async function longestOf<One extends { readonly part: string }>(
  sheets: readonly One[],
  read: (part: string) => Promise<Sheet>,
): Promise<One> {
  let [longest] = sheets as readonly [One]
  let most = 0
  for (const one of sheets.length === 1 ? [] : sheets) {
    const { rows } = await read(one.part)
    if (rows.length > most) [longest, most] = [one, rows.length]
  }
  return longest
}

function linesOf(
  { rows, merges, hiddenRows, hiddenColumns }: Sheet,
  { leavesOutHidden, textBytesMax }: { readonly leavesOutHidden: boolean; readonly textBytesMax: number },
): readonly (string | undefined)[] {
  repeatMerged(rows, merges)
  if (leavesOutHidden) leaveOut(rows, hiddenRows, hiddenColumns)
  let bytes = rows.length
  rows.forEach((row) => {
    bytes += Buffer.byteLength(row)
  })
  if (bytes > textBytesMax) throw tooLong(textBytesMax)
  return rows
}

/** Writes the value of merged cells into each of their rows. */
function repeatMerged(rows: string[], merges: Sheet['merges']): void {
  const repeated = new Count('cells')
  for (const { top, left, bottom } of merges) {
    const value = bottom === top ? '' : (cellsOf(rows[top] ?? '')[left] ?? '')
    if (value === '') continue
    for (let row = top + 1; row <= Math.min(bottom, rows.length - 1); row++) {
      // A row without cells of its own is no row of the table.
      repeated.add()
      if (rows[row] !== undefined) rows[row] = withCell(rows[row] ?? '', left, value)
    }
  }
}

function leaveOut(rows: string[], hiddenRows: readonly number[], hiddenColumns: readonly number[]): void {
  for (const row of hiddenRows) rows[row] = ''
  rows.forEach((line, row) => {
    const width = hiddenColumns.length === 0 ? 0 : cellsOf(line).length
    rows[row] = hiddenColumns
      .filter((column) => column < width)
      .reduce((text, column) => withCell(text, column, ''), line)
  })
}

function withCell(line: string, column: number, value: string): string {
  const cells = cellsOf(line)
  while (cells.length <= column) cells.push('')
  cells[column] = value
  return cells.map(csvCell).join(',')
}

/** @example cellsOf('"Dallas, TX",900') // ['Dallas, TX', '900'] */
function cellsOf(line: string): string[] {
  return Papa.parse<string[]>(line, { delimiter: ',', newline: '\n' }).data[0] ?? []
}
