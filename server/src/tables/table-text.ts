import Papa from 'papaparse'
import { ImportFileError } from './table-file.ts'
import { tableForm } from './table-form.ts'

/** The most cells of a small table: ten times the largest file of the EIA with all its regions. */
const cellsMax = 250_000
/** The number of first characters in which the form of a table is found. */
const headLength = 20_000

/** The form of a table's text, and the text that remains to be parsed. */
export interface TextForm {
  readonly delimiter: string
  readonly newline: '\n' | '\r' | '\r\n'
  /** The text without a byte-order mark and without the line `sep=;` that Excel writes. */
  readonly body: string
  /** The number of the body's first line in the file, from 1. */
  readonly firstLine: number
}

/**
 * Finds the delimiter and the line end of a table, as `openTable` does for files that are read in pieces.
 *
 * @param knownNames the number of known names of columns among the cells of a line
 */
export function formOf(text: string, knownNames: (cells: readonly string[]) => number): TextForm {
  const plain = text.replace(/^\uFEFF/, '')
  const head = plain.slice(0, headLength)
  const newline = head.includes('\r\n') ? '\r\n' : head.includes('\n') || !head.includes('\r') ? '\n' : '\r'
  const { delimiter = ',', skipped = 0 } = tableForm(head, newline, knownNames) ?? {}
  return { delimiter, newline, body: plain.slice(skipped), firstLine: skipped > 0 ? 2 : 1 }
}

/**
 * The lines of a small table that is read whole, such as a file of diesel prices, and the number of the first one in the file. The cells
 * are counted first: three megabytes of line feeds are three million rows, which would occupy the process for a second.
 *
 * @throws ImportFileError if the text has too many cells
 */
export function tableOf(
  text: string,
  knownNames: (cells: readonly string[]) => number,
): { readonly lines: string[][]; readonly firstLine: number } {
  const { delimiter, newline, body, firstLine } = formOf(text, knownNames)
  let cells = 1
  for (let at = 0; at < body.length; at++) {
    const character = body[at]
    if (character === '\n' || character === '\r' || character === delimiter) cells++
  }
  refuseCells(cells)
  const { data } = Papa.parse<string[]>(body, { delimiter, newline, skipEmptyLines: false })
  return { lines: data, firstLine }
}

/** @throws ImportFileError if a small table has too many cells */
export function refuseCells(cells: number): void {
  if (cells <= cellsMax) return
  const [most, found] = [cellsMax, cells].map((count) => count.toLocaleString('en-US'))
  const detail = `The file must have at most ${most} cells; it has ${found}. Remove the empty lines and the columns that are not needed.`
  throw new ImportFileError([{ code: 'file', row: null, column: null, detail }])
}
