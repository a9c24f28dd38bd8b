import Papa from 'papaparse'

export interface TableRow {
  /** The line on which the row begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** True when the cells of the row are not those of the columns: a double quote is misplaced or never closed, or as below. */
  readonly malformed: boolean
  /** Set if the row is malformed because it is too long. */
  readonly isTooLong?: true
  /** Set if the row is malformed because it belongs to another table in the file: the line of its header. */
  readonly otherHeader?: number
}

/** How a text is cut into rows and cells. */
export interface RowForm {
  readonly delimiter: string
  readonly newline: '\n' | '\r'
  /** The number of the text's first line. */
  readonly line: number
  /** Whether the text ends the file. Otherwise, an unfinished last row is left for the next call. */
  readonly isLast: boolean
  /** The maximum length of a row; `rowLengthMax` without it. */
  readonly lengthMax?: number
}

export interface Rows {
  /** The rows that are not blank. */
  readonly rows: readonly TableRow[]
  /** The length of the text that was read. */
  readonly used: number
  readonly nextLine: number
}

/** The maximum length of a row. A longer one has a double quote that is never closed. */
export const rowLengthMax = 64 * 1024

/**
 * The complete rows of a text that are not blank. Unless the text ends the file, what follows its last line break is left for the
 * next call. A line with a misplaced double quote becomes a row marked malformed, and reading resumes at the next line, so that one
 * stray quote does not swallow the rest of the file. All rows are checked in one pass, because restarting the parser after each
 * misplaced quote could take hours.
 *
 * A value in double quotes may have blanks before it, as in `C1, "Dallas, TX"`, unless it contains a line break.
 *
 * @example rowsOf('a,b\n1, "x, y"\n', { delimiter: ',', newline: '\n', line: 1, isLast: true }).rows[1]?.cells // ['1', 'x, y']
 */
export function rowsOf(whole: string, form: RowForm): Rows {
  const { delimiter, newline, isLast, lengthMax = rowLengthMax } = form
  const text = isLast ? withoutEnd(whole) : whole
  const rows: TableRow[] = []
  let { line } = form
  let used = 0
  while (used < text.length) {
    const { end, wrong, blanks } = wellFormed(text, used, form)
    const part = withoutBlanks(text, { start: used, end, blanks })
    const hasQuotes = part.includes('"')
    // The parser reports an empty row after a final line break.
    const { data } = new Papa.Parser({ delimiter, newline }).parse(part, 0, part.endsWith(newline)) as {
      data: string[][]
    }
    for (const cells of part === '' ? [] : data) {
      if (!isBlank(cells)) rows.push({ line, cells, malformed: false })
      line += hasQuotes ? linesOf(cells, newline) : 1
    }
    used = end
    if (end === text.length) break
    const lineEnd = text.indexOf(newline, end)
    // An incomplete row is checked once it is complete, unless it is already too long.
    const isWhole = isLast || text.length - end > lengthMax || (wrong && lineEnd >= 0)
    if (!isWhole) break
    const isTooLong = !wrong && (lineEnd < 0 ? text.length : lineEnd) - end > lengthMax
    rows.push({ line, cells: [], malformed: true, ...(isTooLong ? { isTooLong } : {}) })
    line++
    used = lineEnd < 0 ? text.length : lineEnd + 1
  }
  return { rows, used: isLast ? whole.length : used, nextLine: line }
}

/** A text without the line ends and blanks at its end, and without the Ctrl-Z that DOS programs write there. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \u001a\r\n'.includes(text[end - 1] ?? '-')) end--
  return text.slice(0, end)
}

/** The rows of a short text, such as rows that a person pastes. */
export function textRows(text: string, delimiter: string): readonly TableRow[] {
  return rowsOf(text, { delimiter, newline: newlineOf(text), line: 1, isLast: true }).rows
}

/**
 * The line end of a text: what ends most of its lines, outside of double quotes. A text with CRLF has `\n`, and its last cells end
 * with `\r`.
 *
 * @example newlineOf('a,b\r1,"two\nlines"\r') // '\r'
 */
export function newlineOf(text: string): '\n' | '\r' {
  let returns = 0
  let feeds = 0
  let isStart = true
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? ''
    if (sign === '"' && isStart) at = closingQuote(text, at) ?? at
    // Some programs end a file with a line feed of their own.
    else if (sign === '\n' && (at < text.length - 1 || text[at - 1] === '\r')) feeds++
    else if (sign === '\r' && text[at + 1] !== '\n') returns++
    isStart = separators.has(sign) || (isStart && sign === ' ')
  }
  // In a text with one long value in quotes, the line ends within it are all that there is.
  if (returns + feeds === 0) return text.includes('\n') || !text.includes('\r') ? '\n' : '\r'
  return returns > feeds ? '\r' : '\n'
}

const separators: ReadonlySet<string> = new Set([',', ';', '\t', '|', '\r', '\n'])

/** The position of the quote that closes a value; null if none does. */
function closingQuote(text: string, open: number): number | null {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) return null
  let after = close + 1
  while (text[after] === ' ') after++
  return after === text.length || separators.has(text[after] ?? '') ? close : null
}

export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '')
}

/** The number of lines of a row, which may have line breaks in its cells. */
export function linesOf(cells: readonly string[], newline: string): number {
  let lines = 1
  for (const cell of cells) {
    for (let at = cell.indexOf(newline); at >= 0; at = cell.indexOf(newline, at + 1)) lines++
  }
  return lines
}

interface WellFormed {
  readonly end: number
  /** Whether a misplaced quote follows. */
  readonly wrong: boolean
  /** The blanks before quoted values: each from its first position to the quote. */
  readonly blanks: readonly (readonly [from: number, to: number])[]
}

/** The end of the complete, well-formed rows from `start` on. */
function wellFormed(text: string, start: number, form: RowForm): WellFormed {
  const { delimiter, newline, isLast } = form
  const blanks: [from: number, to: number][] = []
  let end = start
  let whole = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') {
      const after = afterQuotes(text, at, form)
      if (typeof after === 'string') return { end, wrong: after === 'wrong', blanks: blanks.slice(0, whole) }
      at = after
    } else if (text[at] === ' ') {
      const quote = quoteAfterBlanks(text, at)
      if (quote !== null) {
        const after = afterQuotesOfLine(text, quote, form)
        if (after === 'unfinished' && !isLast) return { end, wrong: false, blanks: blanks.slice(0, whole) }
        if (typeof after === 'number') {
          blanks.push([at, quote])
          at = after
        }
      }
    }
    while (at < text.length && text[at] !== delimiter && text[at] !== newline) at++
    if (text[at] === newline) {
      end = at + 1
      whole = blanks.length
    }
  }
  return isLast
    ? { end: text.length, wrong: false, blanks }
    : { end, wrong: false, blanks: blanks.slice(0, whole) }
}

function quoteAfterBlanks(text: string, start: number): number | null {
  let at = start
  while (text[at] === ' ') at++
  return text[at] === '"' ? at : null
}

/** The position after a quoted value on one line: its separator or line break. */
function afterQuotesOfLine(text: string, open: number, form: RowForm) {
  const lineEnd = text.indexOf(form.newline, open)
  if (lineEnd < 0 && !form.isLast) return 'unfinished'
  const limit = lineEnd < 0 ? text.length : lineEnd
  return afterQuotes(text.slice(0, limit), open, { ...form, isLast: true })
}

function withoutBlanks(
  text: string,
  {
    start,
    end,
    blanks,
  }: { readonly start: number; readonly end: number; readonly blanks: WellFormed['blanks'] },
): string {
  if (blanks.length === 0) return text.slice(start, end)
  const kept: string[] = []
  let from = start
  for (const [blank, quote] of blanks) {
    kept.push(text.slice(from, blank))
    from = quote
  }
  kept.push(text.slice(from, end))
  return kept.join('')
}

/** The position after a quoted value: its separator or line break. */
function afterQuotes(text: string, open: number, { delimiter, newline, isLast }: RowForm) {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) return 'unfinished'
  let after = close + 1
  // Whitespace before the separator is allowed: most files have a carriage return there.
  while (text[after] !== delimiter && text[after] !== newline && text[after]?.trim() === '') after++
  if (after === text.length) return isLast ? after : 'unfinished'
  return text[after] === delimiter || text[after] === newline ? after : 'wrong'
}
