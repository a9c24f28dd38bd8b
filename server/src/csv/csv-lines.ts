import Papa from 'papaparse'

/**
 * What a spreadsheet would run as a formula: also with the signs that Unicode takes for the same (NFKC: those of East Asian
 * keyboards, small and raised ones), and behind what it leaves out at the beginning of a cell. A negative amount is a number and stays one.
 */
export const formula = /^(?!-\d+(\.\d+)?$)[\p{Z}\p{C}]*[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶﬩]/u

const form = { header: false, newline: '\r\n', escapeFormulae: formula } as const

/** How every file begins: the mark by which Excel knows UTF-8, and the line of column names. */
export function csvHead(headers: readonly string[]): string {
  return `\uFEFF${csvLines([headers])}`
}

/**
 * Lines of a file. A cell that a spreadsheet would run as a formula begins with an apostrophe.
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
