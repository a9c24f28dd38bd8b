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
 * CSV lines. A cell that a spreadsheet would run as a formula is prefixed with an apostrophe.
 *
 * @example csvLines([['=1+1', 'a "b"', null, -5]]) // `'=1+1,"a ""b""",,-5\r\n`
 */
export function csvLines(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.length === 0
    ? ''
    : `${Papa.unparse(
        rows.map((row) => [...row]),
        form,
      )}\r\n`
}
