import Papa from 'papaparse'

/** The form of a table in a text: what separates its cells, and where its header is. */
export interface TableForm {
  readonly delimiter: string
  /** The length of the first line `sep=;` that Excel may write; 0 without it. */
  readonly skipped: number
  /** The index of the header among the lines after `skipped`, including blank ones. */
  readonly headerAt: number
  readonly header: readonly string[]
  /** The first parsed lines: those before the header, the header, and lines after it. */
  readonly lines: readonly (readonly string[])[]
}

const delimiters = [',', ';', '\t', '|'] as const
/** Lines that are searched for the header, blank ones not counted: exports begin with a title and the request. */
const headerLinesMax = 30
/** Blank lines that may come before the header. */
const blankLinesMax = 100
/** Two cells with known names make a line the header, whatever else it contains. */
const namesMin = 2

/**
 * Finds the delimiter and the header of a table. The header is the line with the most known names of columns. If no line has
 * two of them, it is the first line that is nearly as wide as the widest of the first lines, so that a title above it is left
 * out.
 *
 * @param head the beginning of the text, without a byte-order mark
 * @param knownNames the number of different known names among the cells of a line
 * @returns null if the text has only blank lines
 * @example tableForm('Quotes of June\nOrigin;Destination\n', namesOf)?.headerAt // 1
 */
export function tableForm(
  head: string,
  newline: string,
  knownNames: (cells: readonly string[]) => number,
): TableForm | null {
  const separator = /^sep=([^"\r\n])\r?[\n\r]/i.exec(head)
  const skipped = separator?.[0].length ?? 0
  const text = head.slice(skipped)
  const candidates = separator?.[1] === undefined ? delimiters : [separator[1]]
  const forms = candidates.map((delimiter) => formBy(text, { delimiter, newline, knownNames }))
  const best = forms.reduce((one, other) => (better(other, one) ? other : one))
  if (best.headerAt < 0) return null
  const { delimiter, headerAt, lines } = best
  return { delimiter, skipped, headerAt, header: lines[headerAt] ?? [], lines }
}

interface Candidate {
  readonly delimiter: string
  readonly lines: readonly (readonly string[])[]
  readonly headerAt: number
  readonly names: number
  readonly width: number
}

/**
 * Whether one candidate is better: more known names, or else more columns. Names count first, because `City, ST` in each row also
 * adds a column.
 */
function better(one: Candidate, other: Candidate): boolean {
  return one.names !== other.names ? one.names > other.names : one.width > other.width
}

function formBy(
  text: string,
  {
    delimiter,
    newline,
    knownNames,
  }: { delimiter: string; newline: string; knownNames: (cells: readonly string[]) => number },
): Candidate {
  const parser = new Papa.Parser({
    delimiter,
    newline: newline as '\n' | '\r',
    preview: blankLinesMax + headerLinesMax,
  })
  const { data } = parser.parse(text, 0, false) as { data: string[][] }
  const filled = data.flatMap((cells, at) => {
    const width = cells.filter((cell) => cell.trim() !== '').length
    return width === 0 ? [] : [{ at, width, names: knownNames(cells) }]
  })
  const searched = filled.slice(0, headerLinesMax)
  const names = Math.max(0, ...searched.map((line) => line.names))
  const width = Math.max(0, ...searched.map((line) => line.width))
  const header =
    names >= namesMin
      ? searched.find((line) => line.names === names)
      : searched.find((line) => line.width >= 0.8 * width)
  return {
    delimiter,
    lines: data,
    headerAt: header?.at ?? -1,
    names: names >= namesMin ? names : 0,
    // The candidates with equally many known names are compared by the width of their header.
    width: header?.width ?? 0,
  }
}

/**
 * Whether a row is a sum at the end of a table: its first filled cell says "Total", and the others are numbers or words such as
 * "loads".
 *
 * @example isTotal(['Grand Total', '', '', '12,450.00']) // true
 */
export function isTotal(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  const [first = '', ...others] = filled
  if (!/^(grand |sub[- ]?|report |column )?totals?( ?\(\d{1,9}\))?:?$/i.test(first)) return false
  return others.every((cell) =>
    /^[-+$(]{0,3}\d[\d,. ]{0,20}\)?%?$|^(loads|rows|quotes|records|USD|CAD)$/i.test(cell),
  )
}
