import Papa from 'papaparse'
import type { Steps } from '#engine/steps.ts'

const formulaForm = String.raw`(?!-\d+(\.\d+)?$)[\p{Z}\p{C}]*[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶﬩]`
const partForm = String.raw`['"]*[\t\r\n]|(?!-\d+(\.\d+)?$)['"\p{Z}\p{C}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶﬩]`

/**
 * Matches text that a spreadsheet would run as a formula, including signs that are equivalent under NFKC (full-width, small,
 * and superscript forms), and after characters that spreadsheets skip at the start of a cell. Negative amounts are numbers.
 */
export const formula = new RegExp(`^${formulaForm}`, 'u')

/**
 * Matches a cell that is written with one more apostrophe: a formula, and also a formula behind apostrophes. Otherwise, nobody could
 * tell the name `'+1` from the name `+1` that was written as `'+1`.
 */
const guarded = new RegExp(`^'*${formulaForm}`, 'u')

/**
 * The same for a part of a cell after a separator. A reader that divides there takes quotes at the start of a part as its own, some
 * also after spaces: `x,"A; ""=1&"";x"` has the cell `=1&""` for a reader that separates by `;`.
 */
const guardedPart = new RegExp(`^(?:${partForm})`, 'u')

const form = { header: false, newline: '\r\n', escapeFormulae: guarded } as const

/** Separators at which a spreadsheet may divide a cell. The group makes every second part of a split text a separator. */
const separators = /([;\t|])/

/** The start of every file: the byte order mark by which Excel recognizes UTF-8, and the header line. */
export function csvHead(headers: readonly string[]): string {
  return `\uFEFF${csvLines([headers])}`
}

/**
 * A cell in which no part can become a formula. A spreadsheet that separates by `;`, tab or `|`, as in French Canada, makes cells
 * of the parts, whether or not the cell is in quotes.
 */
function escaped(cell: string | number | null): string | number | null {
  if (typeof cell !== 'string' || !separators.test(cell)) return cell
  // The first part is left to Papa Parse, which escapes the start of a cell.
  const parts = cell.split(separators)
  return parts
    .map((part, at) => (at > 0 && at % 2 === 0 && guardedPart.test(part) ? `'${part}` : part))
    .join('')
}

/**
 * The text of a cell without the apostrophes that `csvLines` wrote: one before each part that would be a formula.
 *
 * @example withoutGuards("'+1 Logistics") // '+1 Logistics'
 * @example withoutGuards("'quoted") // "'quoted"
 */
export function withoutGuards(cell: string): string {
  if (!cell.includes("'")) return cell
  const parts = cell.split(separators)
  return parts
    .map((part, at) => {
      if (at % 2 === 1 || !part.startsWith("'")) return part
      // The start of a cell was tested with all that follows it.
      const isGuarded = at === 0 ? guarded.test(cell.slice(1)) : guardedPart.test(part.slice(1))
      return isGuarded ? part.slice(1) : part
    })
    .join('')
}

/** The cells of a line, before they are escaped. */
type CsvCells = readonly (string | number | null)[]

/** A cell as `csvLines` writes it, before it is put in quotes. @example guardedCell('=1+1') // "'=1+1" */
export function guardedCell(cell: string | number | null): string {
  const text = escaped(cell)
  return typeof text === 'string' && guarded.test(text) ? `'${text}` : String(text ?? '')
}

/**
 * CSV lines. A cell that a spreadsheet would run as a formula is prefixed with an apostrophe, and so is each part of it after a
 * `;`, tab or `|`.
 *
 * @example csvLines([['=1+1', 'a "b"', null, -5, 'b;=2']]) // `'=1+1,"a ""b""",,-5,b;'=2\r\n`
 */
export function csvLines(rows: readonly CsvCells[]): string {
  return rows.length === 0
    ? ''
    : `${Papa.unparse(
        rows.map((row) => row.map(escaped)),
        form,
      )}\r\n`
}

/** A line of a quote has sixty cells, so that a hundred take about a millisecond. */
const linesPerStep = 100

/**
 * The CSV lines of many rows, in steps: ten thousand lines take a tenth of a second.
 *
 * @param cells the cells of a row
 * @example finished(csvLinesInSteps([1, 2], (n) => [n, 2 * n])) // '1,2\r\n2,4\r\n'
 */
export function* csvLinesInSteps<Row>(rows: readonly Row[], cells: (row: Row) => CsvCells): Steps<string> {
  let lines = ''
  for (let from = 0; from < rows.length; from += linesPerStep) {
    lines += csvLines(rows.slice(from, from + linesPerStep).map(cells))
    yield
  }
  return lines
}
