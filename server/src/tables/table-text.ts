import Papa from 'papaparse'
import { ImportFileError } from './table-file.ts'

/** The most cells of a small table: ten times the largest file of the EIA with all its regions. */
const cellsMax = 250_000

/**
 * The rows of a small table that is read whole, such as a file of diesel prices. The cells are counted first: three megabytes of
 * line feeds are three million rows, which would occupy the process for a second.
 *
 * @throws ImportFileError if the text has too many cells
 */
export function tableOf(text: string, delimiter: string): string[][] {
  let cells = 1
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\n' || character === '\r' || character === delimiter) cells++
  }
  refuseCells(cells)
  return Papa.parse<string[]>(text, { delimiter, skipEmptyLines: false }).data
}

/** @throws ImportFileError if a small table has too many cells */
export function refuseCells(cells: number): void {
  if (cells <= cellsMax) return
  const [most, found] = [cellsMax, cells].map((count) => count.toLocaleString('en-US'))
  const detail = `The file must have at most ${most} cells; it has ${found}. Remove the empty lines and the columns that are not needed.`
  throw new ImportFileError([{ code: 'file', row: null, column: null, detail }])
}
