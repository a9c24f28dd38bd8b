import { type CellObject, read, SSF, type WorkSheet } from '@e965/xlsx'
import { unzipSync, zipSync } from 'fflate'

/** The text of a workbook's sheet as CSV: line N of the text is row N of the sheet. */
export interface SheetText {
  readonly csv: string
  readonly sheet: string
  /** The names of all visible sheets with cells, in order. */
  readonly sheets: readonly string[]
}

/** Why a workbook cannot be read, as a sentence with the remedy. */
export class UnreadableWorkbook extends Error {}

export interface WorkbookLimits {
  /** Maximum size of all parts, uncompressed, in bytes. */
  readonly unpackedBytesMax: number
  /** Maximum length of the text of the sheet, in characters. */
  readonly textLengthMax: number
}

/** The parts that contain cells. Pictures, macros and links to other files are not unpacked. */
const neededParts =
  /^(\[Content_Types\]\.xml|_rels\/\.rels|xl\/(workbook|styles|sharedStrings|metadata)\.xml|xl\/_rels\/workbook\.xml\.rels|xl\/worksheets\/[^/]+\.xml)$/i

/**
 * Reads a sheet of an Excel workbook (.xlsx, .xlsm): the values of cells as people see them, without their formulas. Dates are
 * ISO 8601, numbers are not rounded or grouped, and digits keep leading zeros that their format shows. The value of cells that
 * are merged over rows is repeated in each row.
 *
 * @param sheet the sheet's name; without it, the first visible sheet for which `isTable` is true, or else the one with the
 *   most rows
 * @throws UnreadableWorkbook
 */
export function sheetText(
  bytes: Uint8Array,
  limits: WorkbookLimits,
  {
    sheet,
    isTable = () => false,
  }: { sheet?: string | undefined; isTable?: (rows: string[][]) => boolean } = {},
): SheetText {
  const workbook = opened(bytes, limits)
  const visible = workbook.SheetNames.filter((name, at) => {
    const isHidden = (workbook.Workbook?.Sheets?.[at]?.Hidden ?? 0) !== 0
    return !isHidden && rowsOf(workbook.Sheets[name]).length > 0
  })
  if (visible.length === 0) throw new UnreadableWorkbook('The workbook has no visible sheet with cells.')
  if (sheet !== undefined && !visible.includes(sheet)) {
    const names = visible.slice(0, 20).map((name) => `"${name}"`)
    throw new UnreadableWorkbook(
      `The workbook has no visible sheet "${sheet.slice(0, 60)}"; its sheets are ${names.join(', ')}.`,
    )
  }
  const use1904 = workbook.Workbook?.WBProps?.date1904 === true
  const headOf = (name: string) =>
    rowsOf(workbook.Sheets[name])
      .slice(0, headRows)
      .map((row) => cellsOf(row, use1904))
  const longest = (one: string, other: string) =>
    rowsOf(workbook.Sheets[other]).length > rowsOf(workbook.Sheets[one]).length ? other : one
  const chosen = sheet ?? visible.find((name) => isTable(headOf(name))) ?? visible.reduce(longest)
  return { csv: csvOf(workbook.Sheets[chosen], { use1904, ...limits }), sheet: chosen, sheets: visible }
}

/** The header is looked for in this many rows. */
const headRows = 30

type Row = readonly (CellObject | undefined)[]

function rowsOf(sheet: WorkSheet | undefined): readonly (Row | undefined)[] {
  // The parser leaves empty rows out of its array.
  return Array.from((sheet?.['!data'] ?? []) as (Row | undefined)[])
}

function opened(bytes: Uint8Array, { unpackedBytesMax }: WorkbookLimits) {
  let total = 0
  const names = new Set<string>()
  const parts = (() => {
    try {
      return unzipSync(bytes, {
        filter: ({ name, originalSize }) => {
          names.add(name)
          if (!neededParts.test(name)) return false
          total += originalSize
          if (total > unpackedBytesMax) {
            throw new UnreadableWorkbook(
              `The sheets of the workbook have more than ${unpackedBytesMax / 1024 / 1024} MiB. Save the sheet as "CSV UTF-8" and send that file.`,
            )
          }
          return true
        },
      })
    } catch (error) {
      if (error instanceof UnreadableWorkbook) throw error
      throw new UnreadableWorkbook('The workbook is damaged. Open it, save it again, and send the new file.')
    }
  })()
  if (names.has('xl/workbook.bin')) {
    throw new UnreadableWorkbook(
      'The file is a binary workbook (.xlsb). Save it as .xlsx, and send that file.',
    )
  }
  if (!names.has('xl/workbook.xml')) {
    throw new UnreadableWorkbook(
      'The file is a ZIP archive without a workbook. Send the CSV file or the workbook in it.',
    )
  }
  try {
    // Only parts whose size was checked reach the parser.
    return read(zipSync(parts, { level: 0 }), {
      type: 'array',
      dense: true,
      cellText: false,
      cellHTML: false,
      cellFormula: false,
      cellNF: true,
    })
  } catch {
    throw new UnreadableWorkbook('The workbook is damaged. Open it, save it again, and send the new file.')
  }
}

function csvOf(
  sheet: WorkSheet | undefined,
  { use1904, textLengthMax }: { readonly use1904: boolean; readonly textLengthMax: number },
): string {
  const rows = rowsOf(sheet).map((row) => cellsOf(row, use1904))
  for (const { s: start, e: end } of sheet?.['!merges'] ?? []) {
    const value = rows[start.r]?.[start.c] ?? ''
    for (let row = start.r + 1; row <= Math.min(end.r, rows.length - 1); row++) {
      const cells = rows[row]
      if (cells === undefined) continue
      while (cells.length <= start.c) cells.push('')
      cells[start.c] = value
    }
  }
  const lines: string[] = []
  let length = 0
  for (const cells of rows) {
    const line = cells.map(quoted).join(',')
    length += line.length + 1
    if (length > textLengthMax) {
      throw new UnreadableWorkbook(
        `The sheet has more than ${textLengthMax / 1024 / 1024} million characters. Split it into several files.`,
      )
    }
    lines.push(line)
  }
  return `${lines.join('\n')}\n`
}

const cellsOf = (row: Row | undefined, use1904: boolean) =>
  Array.from(row ?? [], (cell) => (cell === undefined ? '' : cellText(cell, use1904)))

/** A cell as text. A line break within a cell becomes a space, so that each row is one line. */
function cellText({ t: type, v: value, z: format }: CellObject, use1904: boolean): string {
  switch (type) {
    case 'n': {
      const code = String(format ?? 'General')
      if (SSF.is_date(code)) return dateText(Number(value), use1904)
      // A format such as 00000 shows a ZIP code's leading zeros.
      if (/^0{2,}$/.test(code)) return String(value).padStart(code.length, '0')
      return String(value)
    }
    case 'd':
      return (value as Date).toISOString()
    case 'b':
      return value === true ? 'TRUE' : 'FALSE'
    case 'e':
      return '#ERROR'
    case 's':
      return String(value ?? '').replaceAll(/[\r\n\t]+/g, ' ')
    case 'z':
      return ''
  }
}

/** A day count of a spreadsheet as a date, with the time of day if it has one; the number itself if it is no date. */
function dateText(days: number, use1904: boolean): string {
  const date = SSF.parse_date_code(days, { date1904: use1904 }) as {
    y: number
    m: number
    d: number
    H: number
    M: number
    S: number
  } | null
  if (date === null) return String(days)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${String(date.y).padStart(4, '0')}-${two(date.m)}-${two(date.d)}`
  const hasTime = date.H !== 0 || date.M !== 0 || Math.floor(date.S) !== 0
  return hasTime ? `${day} ${two(date.H)}:${two(date.M)}:${two(Math.floor(date.S))}` : day
}

const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
