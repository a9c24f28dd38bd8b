import { isUtf8 } from 'node:buffer'
import { importColumnsMax, importHeadBytesMax, workbookBytesMax } from '#contract/limits.ts'
import { type Vocabulary, vocabularies } from '../csv/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { type Encoding, inUtf8, type Reading, singleByteEncodingOf, utf16Of } from './encoding.ts'
import type { SingleByteEncoding } from './encoding-words.ts'
import { type FileBytes, unpacked, workbookStart } from './file-bytes.ts'
import { leftOutOf } from './left-out.ts'
import { ImportFileError, refused } from './refused.ts'
import { type Line, tableForm } from './table-form.ts'
import { newlineOf, rowLengthMax, rowsOf } from './text-rows.ts'
import { readWorkbook, type SheetBytes } from './workbook.ts'

/** A table with a valid encoding and a parsed header. */
export interface TableFile {
  /** The text of the table in UTF-8. */
  readonly bytes: FileBytes
  /** The unpacked size in bytes. */
  readonly bytesTotal: number
  readonly header: readonly string[]
  /** The line of the header, from 1: the last one, if it has two rows. */
  readonly headerLine: number
  /** The rows of the file that are the header. */
  readonly headerRows: readonly Line[]
  /** Whether the names are from two rows, or have units from a row below. */
  readonly joined: 'two rows' | 'units' | null
  /** The first rows after the header. */
  readonly samples: readonly (readonly string[])[]
  readonly delimiter: string
  readonly newline: '\n' | '\r'
  /** The lines above the header, such as a title. Blank lines are left out. */
  readonly aboveHeader: readonly Line[]
  /** The first byte and line after the header. */
  readonly rowsStart: { readonly byte: number; readonly line: number }
  /** The encoding of the file as sent. */
  readonly encoding: Encoding
  /** How the text reads in each single-byte encoding, if it is in one of them. */
  readonly readings: readonly Reading[]
  /** The sheet that was read, as CSV text in UTF-8; null for CSV text. */
  readonly workbook: SheetBytes | null
}

/** How a file is opened. */
export interface OpenOptions {
  /** What the table is about. The header, and the sheet of a workbook, are found by its names. */
  readonly vocabulary: Vocabulary
  /** The sheet of a workbook; without it, the first one with a header. */
  readonly sheet?: string | undefined
  /** The maximum columns; `importColumnsMax` without it. */
  readonly columnsMax?: number
  /** The encoding of text that is not UTF-8 or UTF-16, if a person chose it. */
  readonly encoding?: SingleByteEncoding | undefined
  /** Whether the hidden rows and columns of a workbook are left out. */
  readonly leavesOutHidden?: boolean
  /** The sheet of a workbook, if an earlier reading returned it. The workbook is not read again. */
  readonly workbook?: SheetBytes | null
}

/**
 * Opens a table: checks its size and encoding, and finds its header. A table is CSV text with any usual delimiter, line ending and encoding
 * (UTF-8, UTF-16, Windows-1252, Macintosh, DOS), also compressed with gzip, or an Excel workbook.
 *
 * @throws ImportFileError naming the line and column of the first bytes that are not text
 */
export async function openTable(bytes: FileBytes, options: OpenOptions): Promise<TableFile> {
  const { workbook = null } = options
  if (workbook !== null) return { ...(await openCsv([workbook.text], options)), workbook }
  const { first, bytesTotal, newline, isText } = await survey(bytes)
  if (startsLike(first, workbookStart)) return openWorkbook(bytes, { ...options, bytesTotal })
  refuseOtherKinds(first)
  const utf16 = utf16Of(first)
  if (utf16 !== null) {
    const decoded = await openCsv(
      inUtf8(() => unpacked(bytes), utf16),
      options,
    )
    return { ...decoded, encoding: 'utf-16' }
  }
  if (isText) return openText({ bytes, first, bytesTotal, newline, isText }, options)
  const { encoding, readings } = await singleByteEncodingOf(unpacked(bytes))
  const chosen = options.encoding ?? encoding
  if (chosen === 'broken') return openText({ bytes, first, bytesTotal, newline, isText }, options)
  if (chosen === 'doubtful') throw doubtfulEncoding(readings)
  const decoded = await openCsv(
    inUtf8(() => unpacked(bytes), chosen),
    options,
  )
  return { ...decoded, encoding: chosen, readings }
}

function doubtfulEncoding(readings: readonly Reading[]): ImportFileError {
  const shown = readings
    .slice(0, 3)
    .map(({ encoding, words }) => `${words.map((word) => `"${word}"`).join(', ')} (encoding=${encoding})`)
  return refused(
    'encoding',
    `The file must be UTF-8, because its encoding cannot be told from its words: ${shown.join(', or ')}. Save it as "CSV UTF-8", or choose the right words in the map, such as encoding=${readings[0]?.encoding}.`,
  )
}

async function openWorkbook(
  bytes: FileBytes,
  { bytesTotal, ...options }: OpenOptions & { readonly bytesTotal: number },
): Promise<TableFile> {
  if (bytesTotal > workbookBytesMax) {
    throw refused('file', `A workbook must have at most ${workbookBytesMax / 1024 / 1024} MiB; split it.`)
  }
  const { vocabulary, sheet, leavesOutHidden = false } = options
  const read = await readWorkbook(bytes, {
    bytes: bytesTotal,
    choice: { vocabulary, sheet, leavesOutHidden },
  })
  if ('unreadable' in read) throw refused('file', read.unreadable)
  return { ...(await openCsv([read.text], options)), workbook: read }
}

/** Opens CSV text in UTF-8. @throws ImportFileError */
async function openCsv(bytes: FileBytes, options: OpenOptions): Promise<TableFile> {
  return openText({ bytes, ...(await survey(bytes)) }, options)
}

async function openText(
  { bytes, first, bytesTotal, newline, isText }: Survey & { readonly bytes: FileBytes },
  { vocabulary, columnsMax = importColumnsMax }: OpenOptions,
): Promise<TableFile> {
  const start = first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf ? 3 : 0
  const badLine = isText ? null : await firstBadLine(bytes, newline)
  // The header is parsed as Latin-1, which accepts every byte, so that an encoding error can name its column.
  const text = first
    .subarray(start, start + importHeadBytesMax)
    .toString(badLine === null ? 'utf8' : 'latin1')
  const isWhole = bytesTotal <= start + importHeadBytesMax
  const form = await yieldBetweenSteps(tableForm({ text, newline, isWhole }, vocabularies[vocabulary].count))
  if (form === null) throw refused('file', 'The file must have a header and rows; it is empty.', 1)
  const { delimiter, header, headerRows, headerLine } = form
  const columns = header.findLastIndex((name) => name.trim() !== '') + 1
  if (columns > columnsMax) {
    const [most, found] = [columnsMax, columns].map((count) => count.toLocaleString('en-US'))
    throw refused('header', `The file must have at most ${most} columns; it has ${found}.`, headerLine)
  }
  if (badLine !== null) throw notUtf8(badLine, header, { delimiter, newline })
  // Column names are stored, and PostgreSQL cannot store a NUL. A NUL in a value only rejects its row.
  if (header.some((name) => name.includes('\0'))) {
    throw refused(
      'header',
      'The header must be text; it contains a NUL. Save the file as "CSV UTF-8".',
      headerLine,
    )
  }
  let used = 0
  for (let count = 1; count < form.rowsLine && used < text.length; count++) {
    const end = text.indexOf(newline, used)
    used = end < 0 ? text.length : end + 1
  }
  const samples = form.rows.filter(({ cells, malformed }) => !malformed && leftOutOf(cells, form) === null)
  return {
    bytes,
    bytesTotal,
    // Without the blank names beyond the most columns, which a line of nothing but separators has.
    header: header.slice(0, columnsMax),
    headerRows,
    headerLine,
    joined: form.joined,
    samples: samples.slice(0, samplesMax).map(({ cells }) => cells),
    delimiter,
    newline,
    aboveHeader: form.above,
    rowsStart: { byte: start + Buffer.byteLength(text.slice(0, used)), line: form.rowsLine },
    encoding: 'utf-8',
    readings: [],
    workbook: null,
  }
}

/** The rows after the header that a preview shows. */
const samplesMax = 5

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
  let isText = true
  let unfinished = Buffer.alloc(0)
  for await (const chunk of unpacked(file)) {
    const wanted = markBytes + importHeadBytesMax - bytesTotal
    // Copied, so that the large buffer can be freed.
    if (wanted > 0) first.push(Buffer.from(chunk.subarray(0, wanted)))
    bytesTotal += chunk.length
    if (isText) {
      const text = unfinished.length === 0 ? chunk : Buffer.concat([unfinished, chunk])
      const whole = text.length - unfinishedBytes(text)
      isText = isUtf8(text.subarray(0, whole))
      unfinished = Buffer.from(text.subarray(whole))
    }
  }
  const beginning = Buffer.concat(first)
  return {
    first: beginning,
    bytesTotal,
    newline: newlineOf(beginning.toString('latin1')),
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
  if (/^\s*<(!doctype|html|\?xml|table)/i.test(first.subarray(0, 200).toString('latin1'))) {
    throw refused(
      'file',
      'The file is a web page, as some sites save as .xls. Open it in a spreadsheet, save it as .xlsx or "CSV UTF-8", and send that file.',
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
  }
  return isUtf8(rest) ? null : bad(rest)
}

function notUtf8(
  bad: BadLine,
  header: readonly string[],
  form: { delimiter: string; newline: '\n' | '\r' },
): ImportFileError {
  const [row] = rowsOf(bad.bytes.toString('latin1'), { ...form, line: bad.line, isLast: true }).rows
  const position = (row?.cells ?? []).findIndex((cell) => !isUtf8(Buffer.from(cell, 'latin1')))
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
