import Papa from 'papaparse'

/**
 * Matches text that a spreadsheet would run as a formula, including signs that are equivalent under NFKC (full-width, small,
 * and superscript forms), and after characters that spreadsheets skip at the start of a cell. Negative amounts are numbers.
 */
export const formula = /^(?!-\d+(\.\d+)?$)[\p{Z}\p{C}]*[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶﬩]/u

const form = { header: false, newline: '\r\n', escapeFormulae: formula } as const

/** The start of every file: the byte order mark by which Excel recognizes UTF-8, and the header line. */
export function csvHead(headers: readonly string[]): string {
  return `\uFEFF${csvLines([headers])}`
}

/**
 * A cell in which no part can become a formula. A spreadsheet that separates by `;`, tab or `|`, as in French Canada, makes cells
 * of the parts, whether or not the cell is in quotes.
 */
function escaped(cell: string | number | null): string | number | null {
  if (typeof cell !== 'string' || !/[;\t|]/.test(cell)) return cell
  // The group makes every second part a separator. The first part is left to Papa Parse, which escapes the start of a cell.
  const parts = cell.split(/([;\t|])/)
  return parts.map((part, at) => (at > 0 && at % 2 === 0 && formula.test(part) ? `'${part}` : part)).join('')
}

/**
 * CSV lines. A cell that a spreadsheet would run as a formula is prefixed with an apostrophe, and so is each part of it after a
 * `;`, tab or `|`.
 *
 * @example csvLines([['=1+1', 'a "b"', null, -5, 'b;=2']]) // `'=1+1,"a ""b""",,-5,b;'=2\r\n`
 */
export function csvLines(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.length === 0
    ? ''
    : `${Papa.unparse(
        rows.map((row) => row.map(escaped)),
        form,
      )}\r\n`
}
