import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import Papa from 'papaparse'
import { importBytesMax, importColumnsMax, importHeadBytesMax, workbookBytesMax } from '#contract/limits.ts'
import { inUtf8, singleByteEncodingOf, utf16Of } from './encoding.ts'
import type { FileBytes } from './file-bytes.ts'
import { isTotal, tableForm } from './table-form.ts'
import { readWorkbook } from './workbook.ts'

/** A problem of a whole file. `row` is the line in the file, from 1; null when the problem has no single line. */
export interface FileProblem {
  readonly code: 'file' | 'encoding' | 'header' | 'map'
  readonly row: number | null
  readonly column: string | null
  readonly detail: string
}

/** The file cannot be imported. Nothing was saved. */
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

/** A table with a valid encoding and a parsed header. */
export interface TableFile {
  /** The text of the table in UTF-8. */
  readonly bytes: FileBytes
  /** The unpacked size in bytes. */
  readonly bytesTotal: number
  readonly header: readonly string[]
  /** The first rows after the header. */
  readonly samples: readonly (readonly string[])[]
  readonly delimiter: string
  readonly newline: '\n' | '\r'
  /** The texts of the lines above the header, such as a title. Blank lines are left out. */
  readonly aboveHeader: readonly string[]
  /** The first byte and line after the header. */
  readonly rowsStart: { readonly byte: number; readonly line: number }
  /** The encoding of the file as sent. */
  readonly encoding: 'utf-8' | 'utf-16' | 'windows-1252'
  /** The sheet that was read, and all readable sheets; null for CSV text. */
  readonly workbook: {
    readonly sheet: string
    readonly sheets: readonly string[]
    /** The sheet as CSV text in UTF-8. */
    readonly text: Uint8Array
  } | null
}

export interface TableRow {
  /** The line on which the row begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** True when a double quote in the row is misplaced or never closed. */
  readonly malformed: boolean
}

/** The size of an unpacked piece, in bytes. */
const unpackedBytes = 64 * 1024

/**
 * The bytes of a file in pieces, unpacked when they are gzip (detected by content).
 *
 * @throws ImportFileError when the unpacked file is too large, or cannot be unpacked
 */
export async function* unpacked(file: FileBytes): AsyncGenerator<Buffer> {
  const isPacked = await isGzip(file)
  let total = 0
  for await (const chunk of isPacked ? gunzipped(file) : file) {
    total += chunk.length
    if (total > importBytesMax) {
      const most = `at most ${importBytesMax / 1024 / 1024} MiB${isPacked ? ' when unpacked' : ''}`
      throw refused('file', `The file must be ${most}; split it.`)
    }
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  }
}

async function isGzip(file: FileBytes): Promise<boolean> {
  const start: number[] = []
  for await (const chunk of file) {
    start.push(...chunk.subarray(0, 2))
    if (start.length >= 2) break
  }
  return start[0] === 0x1f && start[1] === 0x8b
}

async function* gunzipped(file: FileBytes): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: unpackedBytes })
  // Ignored here, because reading the unpacked bytes throws the same error.
  pipeline(Readable.from(file), gunzip).catch(() => {})
  try {
    yield* gunzip
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error
    throw refused(
      'file',
      'The file must be complete: it starts like gzip but cannot be unpacked. Send it again.',
    )
  }
}

/** How a file is opened. */
export interface OpenOptions {
  /** The number of different known names of columns among the cells of a line, to find the header. */
  readonly knownNames: (cells: readonly string[]) => number
  /** The sheet of a workbook; without it, the first one with a header. */
  readonly sheet?: string | undefined
}

/**
 * Opens a table: checks its size and encoding, and finds its header. A table is CSV text with any usual delimiter, line ending
 * and encoding (UTF-8, UTF-16, Windows-1252), also compressed with gzip, or an Excel workbook.
 *
 * @throws ImportFileError naming the line and column of the first bytes that are not text
 */
export async function openTable(bytes: FileBytes, options: OpenOptions): Promise<TableFile> {
  const { first, bytesTotal, newline, isText } = await survey(bytes)
  if (startsLike(first, 'PK\u0003\u0004')) return openWorkbook(bytes, { ...options, bytesTotal })
  refuseOtherKinds(first)
  const utf16 = utf16Of(first)
  if (utf16 !== null) {
    const decoded = await openCsv(
      inUtf8(() => unpacked(bytes), utf16),
      options,
    )
    return { ...decoded, encoding: 'utf-16' }
  }
  if (isText || (await singleByteEncodingOf(unpacked(bytes))) === 'broken') {
    return openText({ bytes, first, bytesTotal, newline, isText }, options)
  }
  const decoded = await openCsv(
    inUtf8(() => unpacked(bytes), 'windows-1252'),
    options,
  )
  return { ...decoded, encoding: 'windows-1252' }
}

async function openWorkbook(
  bytes: FileBytes,
  { bytesTotal, ...options }: OpenOptions & { readonly bytesTotal: number },
): Promise<TableFile> {
  if (bytesTotal > workbookBytesMax) {
    throw refused('file', `A workbook must have at most ${workbookBytesMax / 1024 / 1024} MiB; split it.`)
  }
  const whole = new Uint8Array(bytesTotal)
  let at = 0
  for await (const piece of unpacked(bytes)) {
    whole.set(piece, at)
    at += piece.length
  }
  const read = await readWorkbook(whole, options.sheet)
  if ('unreadable' in read) throw refused('file', read.unreadable)
  const { text, sheet, sheets } = read
  return { ...(await openCsv([text], options)), workbook: { sheet, sheets, text } }
}

/** Opens CSV text in UTF-8. @throws ImportFileError */
async function openCsv(bytes: FileBytes, options: OpenOptions): Promise<TableFile> {
  return openText({ bytes, ...(await survey(bytes)) }, options)
}

async function openText(
  { bytes, first, bytesTotal, newline, isText }: Survey & { readonly bytes: FileBytes },
  { knownNames }: OpenOptions,
): Promise<TableFile> {
  const start = first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf ? 3 : 0
  const badLine = isText ? null : await firstBadLine(bytes, newline)
  // The header is parsed as Latin-1, which accepts every byte, so that an encoding error can name its column.
  const head = first
    .subarray(start, start + importHeadBytesMax)
    .toString(badLine === null ? 'utf8' : 'latin1')
  const form = tableForm(head, newline, knownNames)
  if (form === null) throw refused('file', 'The file must have a header and rows; it is empty.', 1)
  const { delimiter, skipped, headerAt, header, lines: parsed } = form
  const lines = (skipped === 0 ? 0 : 1) + linesOf(parsed.slice(0, headerAt + 1), newline)
  if (header.length > importColumnsMax) {
    throw refused('header', `The header must have at most ${importColumnsMax} columns.`, lines)
  }
  if (badLine !== null) throw notUtf8(badLine, header, { delimiter, newline })
  // Column names are stored, and PostgreSQL cannot store a NUL. A NUL in a value only rejects its row.
  if (header.some((name) => name.includes('\0'))) {
    throw refused(
      'header',
      'The header must be text; it contains a NUL. Save the file as "CSV UTF-8".',
      lines,
    )
  }
  let used = 0
  for (let count = 0; count < lines && used < head.length; count++) {
    const end = head.indexOf(newline, used)
    used = end < 0 ? head.length : end + 1
  }
  const samples = parsed.slice(headerAt + 1).filter((cells) => !isBlank(cells))
  return {
    bytes,
    bytesTotal,
    header,
    samples: samples.slice(0, samplesMax),
    delimiter,
    newline,
    aboveHeader: parsed
      .slice(0, headerAt)
      .filter((cells) => !isBlank(cells))
      .map((cells) => cells.join(' ').trim()),
    rowsStart: { byte: start + Buffer.byteLength(head.slice(0, used)), line: lines + 1 },
    encoding: 'utf-8',
    workbook: null,
  }
}

/** The rows after the header that a preview shows. */
const samplesMax = 5

interface Parsed {
  readonly data: string[][]
}

interface Survey {
  /** The first bytes of the file. The header must end within them. */
  readonly first: Buffer
  readonly bytesTotal: number
  readonly newline: '\n' | '\r'
  /** True when the whole file is UTF-8. */
  readonly isText: boolean
}

/** The result of the first pass through a file. */
async function survey(file: FileBytes): Promise<Survey> {
  const markBytes = 3
  const first: Buffer[] = []
  let bytesTotal = 0
  let hasLineFeed = false
  let hasReturn = false
  let isText = true
  let unfinished = Buffer.alloc(0)
  for await (const chunk of unpacked(file)) {
    const wanted = markBytes + importHeadBytesMax - bytesTotal
    // Copied, so that the large buffer can be freed.
    if (wanted > 0) first.push(Buffer.from(chunk.subarray(0, wanted)))
    bytesTotal += chunk.length
    hasLineFeed ||= chunk.includes(0x0a)
    hasReturn ||= chunk.includes(0x0d)
    if (isText) {
      const text = unfinished.length === 0 ? chunk : Buffer.concat([unfinished, chunk])
      const whole = text.length - unfinishedBytes(text)
      isText = isUtf8(text.subarray(0, whole))
      unfinished = Buffer.from(text.subarray(whole))
    }
    await othersTurn()
  }
  return {
    first: Buffer.concat(first),
    bytesTotal,
    newline: hasLineFeed || !hasReturn ? '\n' : '\r',
    isText: isText && unfinished.length === 0,
  }
}

/** The number of bytes at the end of a buffer that begin an incomplete UTF-8 character. */
function unfinishedBytes(text: Buffer): number {
  for (let back = 1; back <= 3 && back <= text.length; back++) {
    const byte = text[text.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return wanted > back ? back : 0
  }
  return 0
}

const startsLike = (first: Buffer, start: string) =>
  first.subarray(0, start.length).toString('latin1') === start

function refuseOtherKinds(first: Buffer): void {
  if (startsLike(first, '\u00d0\u00cf\u0011\u00e0')) {
    throw refused(
      'file',
      'The file is a workbook of Excel 97 (.xls), or one with a password. Save it as .xlsx without a password, and send that file.',
    )
  }
  if (startsLike(first, '%PDF')) throw refused('file', 'The file is a PDF. Export the rows as CSV or .xlsx.')
}

interface BadLine {
  readonly line: number
  /** The line's bytes. Empty if the line is too long for a row; the error then names no column. */
  readonly bytes: Buffer
}

/**
 * The first line that is not UTF-8; null if there is none. Lines can be split before decoding, because no UTF-8 character contains a
 * line-break byte.
 */
async function firstBadLine(file: FileBytes, newline: '\n' | '\r'): Promise<BadLine | null> {
  const end = newline.charCodeAt(0)
  let line = 1
  let rest = Buffer.alloc(0)
  let isCut = false
  const bad = (bytes: Buffer) => ({ line, bytes: isCut ? Buffer.alloc(0) : bytes })
  for await (const chunk of unpacked(file)) {
    const text = Buffer.concat([rest, chunk])
    let start = 0
    for (let found = text.indexOf(end); found >= 0; found = text.indexOf(end, start)) {
      const piece = text.subarray(start, found)
      if (!isUtf8(piece)) return bad(piece)
      start = found + 1
      line++
      isCut = false
    }
    rest = text.subarray(start)
    if (rest.length > rowLengthMax) {
      const whole = rest.length - unfinishedBytes(rest)
      isCut = true
      if (!isUtf8(rest.subarray(0, whole))) return bad(rest)
      rest = rest.subarray(whole)
    }
    await othersTurn()
  }
  return isUtf8(rest) ? null : bad(rest)
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
      detail: `The file must be UTF-8; ${where} contains bytes that are not. Save it as "CSV UTF-8".`,
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

/** Small enough that parsing one piece does not delay requests. */
const pieceBytes = 8 * 1024
/** The maximum length of a row. A longer one has a double quote that is never closed. */
const rowLengthMax = 64 * 1024

export interface TablePiece {
  readonly rows: readonly TableRow[]
  /** The bytes of the file read so far. */
  readonly bytesRead: number
}

/**
 * The rows of a file, a few hundred at a time, so that the caller can do other work in between. Blank rows and
 * totals are skipped.
 * A line with a misplaced double quote becomes a row marked malformed, and parsing resumes at the next line, so that one
 * stray quote does not swallow the rest of the file.
 */
export async function* tablePieces(file: TableFile): AsyncGenerator<TablePiece> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let { byte, line } = file.rowsStart
  let skipped = byte
  let rest = ''
  for await (const chunk of unpacked(file.bytes)) {
    const start = Math.min(skipped, chunk.length)
    skipped -= start
    for (let at = start; at < chunk.length; at += pieceBytes) {
      const piece = chunk.subarray(at, at + pieceBytes)
      byte += piece.length
      if (byte > file.bytesTotal) throw changed()
      const isLast = byte === file.bytesTotal
      const text = rest + decoder.decode(piece, { stream: !isLast })
      const read = rowsOf(text, { file, line, isLast })
      line = read.nextLine
      rest = text.slice(read.used)
      yield { rows: read.rows, bytesRead: byte - Buffer.byteLength(rest) }
    }
  }
  if (byte < file.bytesTotal) throw changed()
}

function changed(): ImportFileError {
  return refused('file', 'The file must not change while it is read; it was changed. Import it again.')
}

/**
 * The complete rows of a text. Unless the text ends the file, what follows its last line break is left for the next call. All rows
 * are checked in one pass, because restarting the parser after each misplaced quote could take hours.
 */
function rowsOf(
  text: string,
  { file, line: firstLine, isLast }: { file: TableFile; line: number; isLast: boolean },
): { rows: TableRow[]; used: number; nextLine: number } {
  const { delimiter, newline } = file
  const rows: TableRow[] = []
  let line = firstLine
  let used = 0
  while (used < text.length) {
    const { end, wrong } = wellFormed(text, used, { delimiter, newline, isLast })
    const part = text.slice(used, end)
    const hasQuotes = part.includes('"')
    // The parser reports an empty row after a final line break.
    const { data } = new Papa.Parser({ delimiter, newline }).parse(part, 0, part.endsWith(newline)) as Parsed
    for (const cells of part === '' ? [] : data) {
      if (!isBlank(cells) && !isTotal(cells)) rows.push({ line, cells, malformed: false })
      line += hasQuotes ? linesOf([cells], newline) : 1
    }
    used = end
    if (end === text.length) break
    const lineEnd = text.indexOf(newline, end)
    // An incomplete row is checked once it is complete, unless it is already too long.
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

/** The end of the complete, well-formed rows from `start` on, and whether a misplaced quote follows them. */
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

/** The position after a quoted value: its separator or line break. */
function afterQuotes(text: string, open: number, { delimiter, newline, isLast }: Form) {
  let close = text.indexOf('"', open + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) return 'unfinished'
  if (isLast && close === text.length - 1) return text.length
  let after = close + 1
  // Whitespace before the separator is allowed: most files have a carriage return there.
  while (text[after] !== delimiter && text[after] !== newline && text[after]?.trim() === '') after++
  if (after === text.length) return 'unfinished'
  return text[after] === delimiter || text[after] === newline ? after : 'wrong'
}
