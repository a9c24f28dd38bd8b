import { type FileBytes, unpacked } from './file-bytes.ts'
import { refused } from './refused.ts'
import { type OpenOptions, openTable, type TableFile } from './table-file.ts'
import type { Line } from './table-form.ts'
import { tablePieces } from './table-pieces.ts'
import { rowLengthMax } from './text-rows.ts'

/** A table that is read whole, because it is small. */
export interface WholeTable {
  /** The file as it was opened: its header, its encoding, and the sheet of a workbook. */
  readonly file: TableFile
  readonly rows: readonly Line[]
  /** The lines of totals, repeated headers and remarks. */
  readonly leftOut: readonly Line[]
  /** The lines with a misplaced double quote. */
  readonly malformed: readonly Line[]
  /** All lines that are not blank, those of the header included, in their order. */
  readonly lines: readonly Line[]
}

/** How much a table may have. */
export interface WholeTableLimits {
  /** Bytes as sent and unpacked, and of the sheet of a workbook as text. */
  readonly bytesMax: number
  readonly cellsMax?: number
  readonly linesMax?: number
  /** Characters of a line. */
  readonly lengthMax?: number
}

/**
 * Reads a whole small table, in each form that `openTable` opens.
 *
 * @throws ImportFileError if it has too many cells, lines or columns, two tables, or cannot be opened
 */
export async function readTable(
  bytes: FileBytes,
  options: OpenOptions & WholeTableLimits,
): Promise<WholeTable> {
  const { cellsMax = Number.POSITIVE_INFINITY, linesMax = Number.POSITIVE_INFINITY } = options
  const { bytesMax, lengthMax = rowLengthMax } = options
  await refuseLarge(bytes, { bytesMax, cellsMax })
  const file = await openTable(bytes, options)
  if (file.workbook !== null) await refuseLarge([file.workbook.text], { bytesMax, cellsMax })
  const rows: Line[] = []
  const leftOut: Line[] = []
  const malformed: Line[] = []
  for await (const piece of tablePieces(file, lengthMax)) {
    for (const row of piece.rows) {
      if (row.isTooLong) {
        const most = lengthMax.toLocaleString('en-US')
        throw refused(
          'header',
          `Line ${row.line} must have at most ${most} characters. A double quote before it may not be closed.`,
        )
      }
      if (row.otherHeader !== undefined) {
        throw refused(
          'header',
          `The file must have one header; line ${row.otherHeader} is another one, with other columns than line ${file.headerLine}. Send each table as a file of its own.`,
        )
      }
      if (row.malformed) malformed.push(row)
      else rows.push(row)
    }
    leftOut.push(...piece.leftOut)
    if ((rows.at(-1)?.line ?? 0) > linesMax) {
      throw refused(
        'header',
        `The file must have at most ${linesMax.toLocaleString('en-US')} lines. Split it.`,
      )
    }
  }
  const lines = [...file.aboveHeader, ...file.headerRows, ...rows, ...leftOut, ...malformed]
  lines.sort((one, other) => one.line - other.line)
  return { file, rows, leftOut, malformed, lines }
}

/**
 * Refuses a small table with too many bytes or cells before it is read: three megabytes of line feeds are three million rows, and a
 * small gzip file can be unpacked to any size.
 *
 * @throws ImportFileError
 */
async function refuseLarge(
  bytes: FileBytes,
  { bytesMax, cellsMax }: { readonly bytesMax: number; readonly cellsMax: number },
): Promise<void> {
  const counts = new Map([...',;\t|\r\n'].map((sign) => [sign.charCodeAt(0), 0]))
  let length = 0
  let isWorkbook: boolean | null = null
  for await (const piece of unpacked(bytes)) {
    isWorkbook ??= piece[0] === 0x50 && piece[1] === 0x4b
    length += piece.length
    if (length > bytesMax) {
      throw refused(
        'file',
        `The file must have at most ${bytesMax / 1024 / 1024} MiB, also unpacked. Split it.`,
      )
    }
    if (isWorkbook || cellsMax === Number.POSITIVE_INFINITY) continue
    for (const byte of piece) {
      const count = counts.get(byte)
      if (count !== undefined) counts.set(byte, count + 1)
    }
  }
  if (isWorkbook === true) return
  const of = (signs: string) => [...signs].map((sign) => counts.get(sign.charCodeAt(0)) ?? 0)
  // A line may end with both a return and a line feed.
  refuseCells(1 + Math.max(...of(',;\t|')) + Math.max(...of('\r\n')), cellsMax)
}

/** @throws ImportFileError if a small table has too many cells */
export function refuseCells(cells: number, cellsMax: number): void {
  if (cells <= cellsMax) return
  const [most, found] = [cellsMax, cells].map((count) => count.toLocaleString('en-US'))
  throw refused(
    'file',
    `The file must have at most ${most} cells; it has ${found}. Remove the empty lines and the columns that are not needed.`,
  )
}
