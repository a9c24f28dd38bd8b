import {
  type Archive,
  Count,
  type ElementReader,
  refuseLongText,
  UnreadableWorkbook,
} from './workbook-archive.ts'
import { csvCell, textCell } from './workbook-cells.ts'
import { type Book, isTrue, RichText } from './workbook-parts.ts'

/** A sheet as it is written, with a line of CSV per row. Row N of the sheet has the index N - 1; blank rows may be missing. */
export interface Sheet {
  readonly rows: string[]
  /** Cells that are shown as one. */
  readonly merges: readonly Range[]
  /** The indexes of hidden rows and columns that have cells with text. */
  readonly hiddenRows: readonly number[]
  readonly hiddenColumns: readonly number[]
  /** The formulas without a result: how many, and the names of the first ones, such as G2. */
  readonly unresolved: { readonly count: number; readonly cells: readonly string[] }
}

/** Rows and columns from 0, the last ones included. */
export interface Range {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

/** The size of the largest sheet that spreadsheet programs write. */
const sheetMax = { rows: 1_048_576, columns: 16_384 }
/** The number of cells that a message names. */
const namedMax = 5

/**
 * Reads a sheet.
 *
 * @param rowsMax the number of first rows to read; without cells in them, reading goes on to the first one
 * @throws UnreadableWorkbook
 */
export async function readSheet(
  archive: Archive,
  part: string,
  book: Book,
  limits: { readonly textBytesMax: number; readonly rowsMax?: number },
): Promise<Sheet> {
  const reader = new SheetReader(book, limits)
  await archive.read(part, reader)
  return reader.sheet()
}

class SheetReader implements ElementReader {
  readonly #book: Book
  readonly #textBytesMax: number
  readonly #rowsMax: number
  readonly #rows: string[] = []
  readonly #merges: Range[] = []
  readonly #hiddenRows: number[] = []
  readonly #hiddenRanges: { readonly from: number; readonly to: number }[] = []
  readonly #usedColumns: boolean[] = []
  readonly #counts = {
    cells: new Count('cells'),
    merges: new Count('merges'),
    columns: new Count('columns'),
  }
  readonly #unresolved = { count: 0, cells: [] as string[] }
  #bytes = 0
  #rowsSeen = 0
  #row = -1
  #isHidden = false
  #cells: string[] = []
  #column = -1
  #type = 'n'
  #style = 0
  #inCell = false
  #hasFormula = false
  #formula = ''
  #value = ''
  #reads: 'value' | 'formula' | null = null
  readonly #inline = new RichText()

  constructor(
    book: Book,
    { textBytesMax, rowsMax }: { readonly textBytesMax: number; readonly rowsMax?: number },
  ) {
    this.#book = book
    this.#textBytesMax = textBytesMax
    this.#rowsMax = rowsMax ?? Number.POSITIVE_INFINITY
  }

  readonly isDone = () => this.#rowsSeen >= this.#rowsMax && this.#bytes > 0

  readonly open = (name: string, attributes: Readonly<Record<string, string>>) => {
    if (this.#inCell) this.#openInCell(name)
    else if (name === 'c') this.#openCell(attributes)
    else if (name === 'row') this.#openRow(attributes)
    else if (name === 'mergeCell') {
      this.#counts.merges.add()
      this.#merges.push(rangeOf(attributes.ref ?? ''))
    } else if (name === 'col' && isTrue(attributes.hidden)) {
      this.#counts.columns.add()
      this.#hiddenRanges.push({ from: Number(attributes.min) - 1, to: Number(attributes.max) - 1 })
    }
  }

  readonly close = (name: string) => {
    if (name === 'c') this.#closeCell()
    else if (this.#inCell) {
      this.#reads = null
      this.#inline.close(name)
    } else if (name === 'row') this.#closeRow()
  }

  readonly text = (piece: string) => {
    if (this.#reads === 'value') this.#value += piece
    else if (this.#reads === 'formula') this.#formula += piece
    else if (this.#inCell) this.#inline.add(piece)
    refuseLongText(this.#value.length + this.#formula.length)
  }

  sheet(): Sheet {
    return {
      rows: this.#rows,
      merges: this.#merges,
      hiddenRows: this.#hiddenRows,
      hiddenColumns: [...this.#usedColumns.keys()].filter(
        (column) =>
          this.#usedColumns[column] === true &&
          this.#hiddenRanges.some(({ from, to }) => from <= column && column <= to),
      ),
      unresolved: this.#unresolved,
    }
  }

  #openRow({ r: number, hidden }: Readonly<Record<string, string>>): void {
    // A row without a number follows the one before it.
    this.#row = number === undefined ? this.#row + 1 : Number(number) - 1
    if (!(this.#row >= 0 && this.#row < sheetMax.rows)) throw outside(`row ${number ?? this.#row + 1}`)
    this.#rowsSeen++
    this.#isHidden = isTrue(hidden)
    this.#cells = []
    this.#column = -1
  }

  #closeRow(): void {
    // A cell that is not there is joined as an empty one.
    const text = this.#cells.join(',')
    if (text === '') return
    if (this.#isHidden) this.#hiddenRows.push(this.#row)
    this.#bytes += Buffer.byteLength(text) + 1
    if (this.#bytes > this.#textBytesMax) throw tooLong(this.#textBytesMax)
    this.#rows[this.#row] = text
  }

  #openCell({ r: cell, t: type = 'n', s: style = '0' }: Readonly<Record<string, string>>): void {
    this.#counts.cells.add()
    this.#column = cell === undefined ? this.#column + 1 : columnOf(cell)
    if (!(this.#column >= 0 && this.#column < sheetMax.columns))
      throw outside(cell === undefined ? `column ${this.#column + 1}` : `cell ${cell}`)
    this.#inCell = true
    this.#type = type
    this.#style = Number(style)
    this.#hasFormula = false
    this.#formula = ''
    this.#value = ''
    this.#inline.clear()
  }

  #openInCell(name: string): void {
    if (name === 'v') this.#reads = 'value'
    else if (name === 'f') {
      this.#reads = 'formula'
      this.#hasFormula = true
    } else this.#inline.open(name)
  }

  #closeCell(): void {
    this.#inCell = false
    const text = this.#isUnresolved() ? this.#unresolvedText() : this.#cellText()
    if (text === '') return
    this.#cells[this.#column] = text
    this.#usedColumns[this.#column] = true
  }

  /** Programs without results of formulas leave them out, or write 0 and ask to calculate them. */
  #isUnresolved(): boolean {
    if (!this.#hasFormula || this.#type === 'str') return false
    return this.#value.trim() === '' || (this.#book.isUncalculated && this.#value.trim() === '0')
  }

  /** The formula, which every reader of a cell refuses. */
  #unresolvedText(): string {
    this.#unresolved.count++
    const { cells } = this.#unresolved
    if (cells.length < namedMax) cells.push(`${lettersOf(this.#column)}${this.#row + 1}`)
    return csvCell(`=${this.#formula.replaceAll(/[\r\n\t]+/g, ' ')}`)
  }

  /** The cell as CSV. */
  #cellText(): string {
    const value = this.#value
    switch (this.#type) {
      case 's':
        return value === '' ? '' : (this.#book.strings[Number(value)] ?? '')
      case 'str':
        return csvCell(textCell(value))
      case 'inlineStr':
        return csvCell(textCell(this.#inline.read))
      case 'b':
        return value === '' ? '' : value.trim() === '1' || value.trim() === 'true' ? 'TRUE' : 'FALSE'
      case 'e':
        return csvCell(value.trim())
      case 'd':
        return isoDate(value.trim())
      default:
        return this.#numberText(value.trim())
    }
  }

  #numberText(value: string): string {
    if (value === '') return ''
    const number = Number(value)
    if (Number.isNaN(number)) return csvCell(textCell(value))
    return this.#book.writers[this.#style]?.(number) ?? String(number)
  }
}

/** @example isoDate('2026-03-01T14:30:00') // '2026-03-01 14:30:00' */
function isoDate(value: string): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2}))?/.exec(value) ?? []
  if (day === undefined) return csvCell(textCell(value))
  return time === undefined || time === '00:00:00' ? day : `${day} ${time}`
}

/** The index of a cell's column; -1 for a text that names no cell. @example columnOf('AB12') // 27 */
function columnOf(cell: string): number {
  let column = 0
  for (let at = 0; at < cell.length && at < 4; at++) {
    const letter = cell.charCodeAt(at) | 0x20
    if (letter < 0x61 || letter > 0x7a) break
    column = column * 26 + letter - 0x60
  }
  return column - 1
}

/** @example lettersOf(27) // 'AB' */
export function lettersOf(column: number): string {
  const last = String.fromCharCode(65 + (column % 26))
  return column < 26 ? last : lettersOf(Math.floor(column / 26) - 1) + last
}

/** @example rangeOf('A1:B3') // { top: 0, left: 0, bottom: 2, right: 1 } */
function rangeOf(ref: string): Range {
  const [, left = '', top = '', right = left, bottom = top] =
    /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/i.exec(ref) ?? []
  if (left === '') throw outside(`merged range ${ref}`)
  return {
    top: Number(top) - 1,
    left: columnOf(left),
    bottom: Number(bottom) - 1,
    right: columnOf(right),
  }
}

function outside(what: string): UnreadableWorkbook {
  return new UnreadableWorkbook(
    `The workbook is damaged: its sheet has the ${what.slice(0, 60)}, which cannot be. Open it, save it again, and send the new file.`,
  )
}

/** The refusal of a sheet with too much text. */
export function tooLong(bytesMax: number): UnreadableWorkbook {
  return new UnreadableWorkbook(
    `The sheet has more than ${bytesMax / 1024 / 1024} MiB of text. Split it into several files.`,
  )
}
