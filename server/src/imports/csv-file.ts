import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import Papa from 'papaparse'
import { csvForm } from '#contract/csv-form.ts'
import { importBytesMax, importColumnsMax, importHeadBytesMax } from '#contract/limits.ts'

/** What is wrong with a file as a whole. `row` is the line in the file, from 1; null when it is about no one line. */
export interface FileProblem {
  readonly code: 'file' | 'encoding' | 'header' | 'map'
  readonly row: number | null
  readonly column: string | null
  readonly detail: string
}

/** A file that cannot be imported at all. Nothing of it was kept when this is thrown. */
export class ImportFileError extends Error {
  readonly problems: readonly FileProblem[]
  constructor(problems: readonly FileProblem[]) {
    super(problems.map(({ detail }) => detail).join('\n'))
    this.name = 'ImportFileError'
    this.problems = problems
  }
}

function refused(code: FileProblem['code'], detail: string, row: number | null = null): ImportFileError {
  return new ImportFileError([{ code, row, column: null, detail }])
}

/** A CSV file whose encoding was checked and whose header was read. */
export interface CsvFile {
  readonly bytes: Buffer
  readonly header: readonly string[]
  readonly delimiter: string
  readonly newline: '\n' | '\r'
  /** The byte and the line after the header. */
  readonly rowsStart: { readonly byte: number; readonly line: number }
}

export interface CsvRow {
  /** The line of the file on which the row begins; the first line is 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** True when a double quote in it is neither doubled nor at an end of its value, or never closed. */
  readonly malformed: boolean
}

const unzip = promisify(gunzip)

/** The bytes of a file, unpacked when they are gzip (told by content, not by name). @throws ImportFileError */
export async function unpackFile(bytes: Buffer): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await unzip(bytes, { maxOutputLength: importBytesMax })
  } catch (error) {
    const tooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    throw refused(
      'file',
      tooLarge
        ? `The file must be at most ${importBytesMax / 1024 / 1024} MiB when unpacked; split it.`
        : 'The file must be whole: it begins like gzip but cannot be unpacked. Send it again.',
    )
  }
}

/**
 * Checks the encoding of an unpacked file and reads its header. A byte-order mark is accepted, so are commas,
 * semicolons, tabs and bars between values, every line ending, and the line `sep=;` that Excel writes first.
 *
 * @throws ImportFileError naming the line and column of the first bytes that are not UTF-8
 */
export function openCsv(bytes: Buffer): CsvFile {
  refuseOtherKinds(bytes)
  const newline = bytes.includes(0x0a) || !bytes.includes(0x0d) ? '\n' : '\r'
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const badLine = firstBadLine(bytes, newline)
  // The header of a file with bad bytes is still read, to name the column: no byte is lost as Latin-1.
  const head = bytes
    .subarray(start, start + importHeadBytesMax)
    .toString(badLine === null ? 'utf8' : 'latin1')
  const { delimiter, skipped } = csvForm(head)
  const parser = new Papa.Parser({ delimiter, newline, preview: blankLinesMax })
  const { data } = parser.parse(head.slice(skipped), 0, false) as Parsed
  const at = data.findIndex((cells) => !isBlank(cells))
  const header = data[at]
  if (header === undefined) throw refused('file', 'The file must have a header and rows; it is empty.', 1)
  if (header.length > importColumnsMax) {
    throw refused('header', `The header must have at most ${importColumnsMax} columns.`, 1)
  }
  const lines = (skipped === 0 ? 0 : 1) + linesOf(data.slice(0, at + 1), newline)
  if (badLine !== null) throw notUtf8(badLine, header, { delimiter, newline })
  // Names of columns are kept, and no database keeps a NUL. In a value it costs that row alone.
  if (header.some((name) => name.includes('\0'))) {
    throw refused(
      'header',
      'The header must be text; it holds a NUL, as UTF-16 does. Save the file as "CSV UTF-8".',
      lines,
    )
  }
  let used = 0
  for (let count = 0; count < lines && used < head.length; count++) {
    const end = head.indexOf(newline, used)
    used = end < 0 ? head.length : end + 1
  }
  return {
    bytes,
    header,
    delimiter,
    newline,
    rowsStart: { byte: start + Buffer.byteLength(head.slice(0, used)), line: lines + 1 },
  }
}

const blankLinesMax = 100

interface Parsed {
  readonly data: string[][]
}

function refuseOtherKinds(bytes: Buffer): void {
  if (bytes.length > importBytesMax) {
    throw refused('file', `The file must be at most ${importBytesMax / 1024 / 1024} MiB; split it.`)
  }
  const start = bytes.subarray(0, 4).toString('latin1')
  if (start === 'PK\u0003\u0004' || start === '\u00d0\u00cf\u0011\u00e0') {
    throw refused(
      'file',
      'The file must be CSV text; it is a workbook. Save it as "CSV UTF-8" and send that.',
    )
  }
  if (start.startsWith('\u00ff\u00fe') || start.startsWith('\u00fe\u00ff')) {
    throw refused('encoding', 'The file must be UTF-8; line 1 is UTF-16. Save it as "CSV UTF-8".', 1)
  }
}

interface BadLine {
  readonly line: number
  readonly bytes: Buffer
}

/** Checked in pieces that end with a line, so that the line can be named. No byte of a line ending is part of a letter. */
function firstBadLine(bytes: Buffer, newline: '\n' | '\r'): BadLine | null {
  if (isUtf8(bytes)) return null
  const end = newline.charCodeAt(0)
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const found = bytes.indexOf(end, start)
    const stop = found < 0 ? bytes.length : found
    const piece = bytes.subarray(start, stop)
    if (!isUtf8(piece)) return { line, bytes: piece }
    start = stop + 1
  }
  return null
}

function notUtf8(
  bad: BadLine,
  header: readonly string[],
  form: { delimiter: string; newline: '\n' | '\r' },
): ImportFileError {
  const { data } = new Papa.Parser(form).parse(bad.bytes.toString('latin1'), 0, false) as Parsed
  const position = (data[0] ?? []).findIndex((cell) => !isUtf8(Buffer.from(cell, 'latin1')))
  const name = bad.line === 1 || position < 0 ? undefined : header[position]?.trim()
  const column = name !== undefined && isUtf8(Buffer.from(name, 'latin1')) ? name : null
  const where = column === null ? `line ${bad.line}` : `line ${bad.line}, column "${column}"`
  return new ImportFileError([
    {
      code: 'encoding',
      row: bad.line,
      column,
      detail: `The file must be UTF-8; ${where} holds bytes that are not. Save it as "CSV UTF-8".`,
    },
  ])
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '')
}

function linesOf(rows: readonly (readonly string[])[], newline: string): number {
  let lines = rows.length
  for (const cells of rows) {
    for (const cell of cells) {
      for (let at = cell.indexOf(newline); at >= 0; at = cell.indexOf(newline, at + 1)) lines++
    }
  }
  return lines
}

/** Small enough that reading one piece keeps nobody waiting. */
const pieceBytes = 8 * 1024
/** No row is longer: a longer one is a double quote that is never closed. */
const rowLengthMax = 64 * 1024

export interface CsvPiece {
  readonly rows: readonly CsvRow[]
  /** How much of the file is read with these rows. */
  readonly bytesRead: number
}

/**
 * The rows of a file in pieces of a few hundred, so that the caller can do other work between them. Blank rows are left
 * out. A line with a wrong double quote is a row of its own, marked malformed; reading goes on with the next line, so
 * that one stray quote does not swallow the rest of the file.
 */
export function* csvPieces(file: CsvFile): Generator<CsvPiece> {
  const { bytes } = file
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let { byte, line } = file.rowsStart
  let rest = ''
  while (byte < bytes.length) {
    const next = Math.min(byte + pieceBytes, bytes.length)
    const isLast = next === bytes.length
    const text = rest + decoder.decode(bytes.subarray(byte, next), { stream: !isLast })
    byte = next
    const read = rowsOf(text, { file, line, isLast })
    line = read.nextLine
    rest = text.slice(read.used)
    yield { rows: read.rows, bytesRead: byte - Buffer.byteLength(rest) }
  }
}

/**
 * The whole rows of a text; unless it is the last of the file, what follows the last line ending is left for later. Every
 * row is looked at once: a parser that is asked again after each wrong quote takes hours over a file that is full of them.
 */
function rowsOf(
  text: string,
  { file, line: firstLine, isLast }: { file: CsvFile; line: number; isLast: boolean },
): { rows: CsvRow[]; used: number; nextLine: number } {
  const { delimiter, newline } = file
  const rows: CsvRow[] = []
  let line = firstLine
  let used = 0
  while (used < text.length) {
    const { end, wrong } = wellFormed(text, used, { delimiter, newline, isLast })
    const part = text.slice(used, end)
    const hasQuotes = part.includes('"')
    // What ends with a line ending is followed by an empty row, which is none.
    const { data } = new Papa.Parser({ delimiter, newline }).parse(part, 0, part.endsWith(newline)) as Parsed
    for (const cells of part === '' ? [] : data) {
      if (!isBlank(cells)) rows.push({ line, cells, malformed: false })
      line += hasQuotes ? linesOf([cells], newline) : 1
    }
    used = end
    if (end === text.length) break
    const lineEnd = text.indexOf(newline, end)
    // What is not whole yet is judged when it is, unless it is too long to be a row.
    const isWhole = isLast || text.length - end > rowLengthMax || (wrong && lineEnd >= 0)
    if (!isWhole) break
    rows.push({ line, cells: [], malformed: true })
    line++
    used = lineEnd < 0 ? text.length : lineEnd + 1
  }
  return { rows, used, nextLine: line }
}

interface Form {
  readonly delimiter: string
  readonly newline: string
  readonly isLast: boolean
}

/** Where the whole and well-formed rows from `start` on end, and whether what follows has a wrong quote. */
function wellFormed(text: string, start: number, form: Form): { end: number; wrong: boolean } {
  const { delimiter, newline, isLast } = form
  let end = start
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') {
      const after = afterQuotes(text, at, form)
      if (typeof after === 'string') return { end, wrong: after === 'wrong' }
      at = after
    }
    while (at < text.length && text[at] !== delimiter && text[at] !== newline) at++
    if (text[at] === newline) end = at + 1
  }
  return { end: isLast ? text.length : end, wrong: false }
}

/** The place after a value between double quotes: its separator or line ending. */
function afterQuotes(text: string, open: number, { delimiter, newline, isLast }: Form) {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) return 'unfinished'
  if (isLast && close === text.length - 1) return text.length
  let after = close + 1
  // White space before the separator is no harm: a carriage return stands there in most files.
  while (text[after] !== delimiter && text[after] !== newline && text[after]?.trim() === '') after++
  if (after === text.length) return 'unfinished'
  return text[after] === delimiter || text[after] === newline ? after : 'wrong'
}
