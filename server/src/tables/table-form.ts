import { importColumnsMax } from '#contract/limits.ts'
import type { Steps } from '#engine/steps.ts'
import { headerAmong, type SearchedLine } from './header-line.ts'
import { hasSecondRow, joinedHeader, withUnits } from './header-rows.ts'
import { refused } from './refused.ts'
import { linesOf, rowsOf, type TableRow } from './text-rows.ts'
import { isValue } from './value-cells.ts'

/** A line of a table, from 1, with its cells. */
export interface Line {
  readonly line: number
  readonly cells: readonly string[]
}

/** The form of a table in a text: what separates its cells, and where its header is. */
export interface TableForm {
  readonly delimiter: string
  readonly header: readonly string[]
  /** The line of the header, from 1: the last one, if it has two rows. */
  readonly headerLine: number
  /** The rows of the file that are the header. */
  readonly headerRows: readonly Line[]
  /** Whether the names are from two rows, or have units from a row below. */
  readonly joined: 'two rows' | 'units' | null
  /** The first line after the header. */
  readonly rowsLine: number
  /** The lines above the header that are not blank. */
  readonly above: readonly Line[]
  /** The first rows after the header. */
  readonly rows: readonly TableRow[]
}

/** The beginning of a text, in which the form is found. */
export interface TextHead {
  /** Without a byte-order mark. */
  readonly text: string
  readonly newline: '\n' | '\r'
  /** Whether it is the whole text. */
  readonly isWhole: boolean
}

const delimiters = [',', ';', '\t', '|'] as const
/** The lines that are searched, with those below the last possible header. */
const linesMax = 400

/**
 * Finds the delimiter and the header of a table. The header is the line with the most known names of columns, unless the first line
 * that is as wide as the table has nearly as many. A line with numbers, amounts or dates is a row of the table (`header-line.ts`).
 * The header may have two rows, or units below it (`header-rows.ts`). A step reads the text with one delimiter, or looks at a thousand
 * cells.
 *
 * @param knownNames the number of different known names among the cells of a line
 * @returns null if the text has only blank lines
 * @throws ImportFileError if no line can be the header
 * @example finished(tableForm({ text: 'Quotes of June\nOrigin;Destination\n', newline: '\n', isWhole: true }, knownNames))?.headerLine // 2
 */
export function* tableForm(
  head: TextHead,
  knownNames: (cells: readonly string[]) => number,
): Steps<TableForm | null> {
  const separator = /^sep=([^"\r\n])\r?[\n\r]/i.exec(head.text)
  const line = separator === null ? 1 : 2
  const text = head.text.slice(separator?.[0].length ?? 0)
  const first = firstLines(text, head.newline)
  const searched = { ...head, text: first, isWhole: head.isWhole && first.length === text.length }
  const candidates = separator?.[1] === undefined ? delimiters : [separator[1]]
  const forms: Candidate[] = []
  for (const delimiter of candidates)
    forms.push(yield* candidateBy(searched, { delimiter, line, knownNames }))
  const best = forms.reduce((one, other) => (isBetter(other, one) ? other : one))
  const [top] = best.lines
  if (top === undefined) return null
  if (best.at < 0) throw withoutHeader(top)
  return formAt(best, { newline: head.newline, knownNames })
}

function firstLines(text: string, newline: string): string {
  let end = 0
  for (let count = 0; count < linesMax; count++) {
    const next = text.indexOf(newline, end)
    if (next < 0) return text
    end = next + 1
  }
  return text.slice(0, end)
}

function withoutHeader({ line, cells }: Line) {
  const value = cells.find((cell) => isValue(cell))?.trim() ?? ''
  return refused(
    'header',
    `The file must have a header: a line with the names of its columns. Line ${line} has a value (${value.slice(0, 40)}), and so has each line after it. Write the names into a line above the rows.`,
    line,
  )
}

interface Candidate {
  readonly delimiter: string
  readonly lines: readonly SearchedLine[]
  /** The index of the header in `lines`; -1 if no line can be the header. */
  readonly at: number
  readonly names: number
  readonly width: number
  /** Whether most lines have more than one cell. */
  readonly isTable: boolean
  /** Whether most rows have as many cells as the header. */
  readonly isRegular: boolean
  /** The number of numbers and dates. The right delimiter sets them free. */
  readonly values: number
}

/**
 * Whether one candidate is better: more known names, else several cells in most lines and a
 * header, else rows as wide as the header, else more columns. Names count first, because
 * `City, ST` in each row also adds a column.
 */
function isBetter(one: Candidate, other: Candidate): boolean {
  const rank = ({ at, names, isTable, isRegular, width, values }: Candidate) => [
    names,
    isTable ? 1 : 0,
    at < 0 ? 0 : 1,
    isRegular ? 1 : 0,
    width,
    values,
  ]
  const [ranks, others] = [rank(one), rank(other)]
  const at = ranks.findIndex((value, index) => value !== others[index])
  return at >= 0 && (ranks[at] ?? 0) > (others[at] ?? 0)
}

function* candidateBy(
  { text, newline, isWhole }: TextHead,
  {
    delimiter,
    line,
    knownNames,
  }: {
    readonly delimiter: string
    readonly line: number
    readonly knownNames: (cells: readonly string[]) => number
  },
): Steps<Candidate> {
  const read = (isLast: boolean) => rowsOf(text, { delimiter, newline, line, isLast }).rows
  const complete = read(isWhole)
  // A header may be longer than the beginning of the file that is searched.
  const rows = complete.length > 0 || isWhole ? complete : read(true)
  const raw = rows.some(({ malformed }) => malformed) ? text.split(newline) : []
  yield
  const lines: SearchedLine[] = []
  for (const row of rows) {
    // A title may have a misplaced quote.
    const cells = row.malformed
      ? (raw[row.line - line] ?? '').replaceAll('"', '').split(delimiter)
      : row.cells
    const counts = yield* countsOf(cells)
    lines.push({ line: row.line, malformed: row.malformed, cells, ...counts })
  }
  const found = yield* headerAmong(lines, knownNames)
  const below = lines.slice((found?.at ?? 0) + 1, (found?.at ?? 0) + 31)
  const length = lines[found?.at ?? -1]?.cells.length
  return {
    delimiter,
    lines,
    at: found?.at ?? -1,
    names: found?.names ?? 0,
    width: lines[found?.at ?? -1]?.width ?? 0,
    isTable: lines.filter(({ width }) => width > 1).length * 2 > lines.length,
    isRegular: below.filter(({ cells }) => cells.length === length).length * 2 >= below.length,
    values: lines.reduce((sum, { values }) => sum + values, 0),
  }
}

const cellsPerStep = 1_000

function* countsOf(cells: readonly string[]): Steps<Pick<SearchedLine, 'width' | 'values'>> {
  let width = 0
  let values = 0
  for (let at = 0; at < cells.length; at += cellsPerStep) {
    const filled = cells.slice(at, at + cellsPerStep).filter((cell) => cell.trim() !== '')
    width += filled.length
    values += filled.filter((cell) => isValue(cell)).length
    yield
  }
  return { width, values }
}

/** The cells of a line for the search of a second row or units; none of a line wider than any file, whose header is refused. */
const columnsAt = (line: SearchedLine | undefined) => {
  const cells = line?.cells ?? []
  const width = cells.findLastIndex((cell) => cell.trim() !== '') + 1
  return width > importColumnsMax ? [] : cells.slice(0, width)
}

function formAt(
  { delimiter, lines, at }: Candidate,
  {
    newline,
    knownNames,
  }: { readonly newline: string; readonly knownNames: (cells: readonly string[]) => number },
): TableForm {
  const cellsAt = (index: number) => columnsAt(lines[index])
  const two = [at - 1, at].flatMap((upper) => {
    const names =
      upper < 0 || lines[upper + 1] === undefined
        ? null
        : joinedHeader(cellsAt(upper), cellsAt(upper + 1), knownNames)
    return names === null ? [] : [{ upper, names }]
  })[0]
  if (two === undefined && lines[at + 2] !== undefined && hasSecondRow(cellsAt(at), cellsAt(at + 1))) {
    throw refused(
      'header',
      `The header has two rows (lines ${lines[at]?.line} and ${lines[at + 1]?.line}). Write each name into one row, such as Origin City and Origin State.`,
      lines[at]?.line ?? null,
    )
  }
  const [from, last] = two === undefined ? [at, at] : [two.upper, two.upper + 1]
  const names = two?.names ?? lines[at]?.cells ?? []
  const header = withUnits(names, cellsAt(last + 1))
  const end = header === null ? last : last + 1
  const endLine = lines[end]
  return {
    delimiter,
    header: header ?? names,
    headerLine: lines[last]?.line ?? 1,
    headerRows: lines.slice(from, end + 1),
    joined: two === undefined ? (header === null ? null : 'units') : 'two rows',
    rowsLine:
      endLine === undefined ? 1 : endLine.line + (endLine.malformed ? 1 : linesOf(endLine.cells, newline)),
    above: lines.slice(0, from),
    rows: lines.slice(end + 1),
  }
}
