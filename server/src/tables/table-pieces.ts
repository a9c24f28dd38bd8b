import { setImmediate as othersTurn } from 'node:timers/promises'
import { unpacked } from './file-bytes.ts'
import { type LeftOutReason, leftOutOf, otherHeader } from './left-out.ts'
import { refused } from './refused.ts'
import type { TableFile } from './table-file.ts'
import { rowsOf, type TableRow } from './text-rows.ts'

/** A row below the header that is no row of the table. */
export interface LeftOutRow extends TableRow {
  readonly why: LeftOutReason
}

export interface TablePiece {
  readonly rows: readonly TableRow[]
  readonly leftOut: readonly LeftOutRow[]
  /** The bytes of the file read so far. */
  readonly bytesRead: number
}

/** Small enough that parsing one piece does not delay requests. */
const pieceBytes = 8 * 1024

/**
 * The rows of a file, a few hundred at a time. Requests run before the next piece, whatever the caller does with one. Blank rows are
 * skipped; totals, repeated headers and remarks are listed apart.
 *
 * @param lengthMax the maximum length of a row
 */
export async function* tablePieces(file: TableFile, lengthMax?: number): AsyncGenerator<TablePiece> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const { delimiter, newline } = file
  const sorted = sorting(file)
  let { byte, line } = file.rowsStart
  let skipped = byte
  let rest = ''
  for await (const chunk of unpacked(file.bytes)) {
    const start = Math.min(skipped, chunk.length)
    skipped -= start
    for (let at = start; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, at + pieceBytes)
      byte += piece.length
      if (byte > file.bytesTotal) throw changed()
      const isLast = byte === file.bytesTotal
      const text = rest + decoder.decode(piece, { stream: !isLast })
      const read = rowsOf(text, {
        delimiter,
        newline,
        line,
        isLast,
        ...(lengthMax === undefined ? {} : { lengthMax }),
      })
      line = read.nextLine
      rest = text.slice(read.used)
      yield { ...sorted(read.rows), bytesRead: byte - Buffer.byteLength(rest) }
      await othersTurn()
    }
  }
  if (byte < file.bytesTotal) throw changed()
}

/** Tells the rows of the table from those that are left out, one piece of the file after the other. */
function sorting(file: TableFile): (all: readonly TableRow[]) => Pick<TablePiece, 'rows' | 'leftOut'> {
  const isOtherHeader = otherHeader(file.header)
  /** The row of another header, until the file's own one comes again. */
  let other: { readonly otherHeader: number } | null = null
  return (all) => {
    const rows: TableRow[] = []
    const leftOut: LeftOutRow[] = []
    for (const row of all) {
      const why = row.malformed ? null : leftOutOf(row.cells, file)
      if (why === 'header') other = null
      else if (!row.malformed && isOtherHeader(row.cells)) other = { otherHeader: row.line }
      if (why !== null) leftOut.push({ ...row, why })
      else rows.push(other === null ? row : { ...row, ...other, malformed: true })
    }
    return { rows, leftOut }
  }
}

function changed() {
  return refused('file', 'The file must not change while it is read; it was changed. Import it again.')
}
