import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import {
  amountText,
  type Cell,
  cellText,
  type ImportFieldName,
  quoted,
  readCell,
  readMoment,
} from '../csv/index.ts'
import type { Columns } from './columns.ts'
import type { KnownCells } from './known-cells.ts'

/** An error in one cell: the column as the file names it, and what the value must be. */
export interface CellError {
  readonly column: string
  readonly detail: string
}

export interface RowContext {
  readonly columns: Columns
  /** Epoch milliseconds. Later times are errors. */
  readonly now: number
  /** The default basis of the brokerage. */
  readonly assumed: RateBasis
  /** Cache of the cells that were read before. */
  readonly known: KnownCells
}

const dayMs = 24 * 60 * 60 * 1000

/** Fields whose dash or TBD means that there is no amount. */
const amounts: ReadonlySet<string> = new Set([
  ...quoteFieldsOf('file')
    .map((field) => quoteTable[field])
    .flatMap(({ sent, unit }) => (isAmountUnit(unit) ? sent : [])),
  ...sentBookingFields.flatMap((field) =>
    bookingTable[field].unit === 'cents' ? bookingTable[field].sent : [],
  ),
])

/** The cells of one row by field, and the errors found while reading them. */
export class RowReader {
  readonly #errors: (CellError & { readonly position: number })[] = []
  readonly #cells: readonly string[]
  readonly #columns: Columns
  readonly #known: KnownCells

  constructor(cells: readonly string[], { columns, known }: RowContext) {
    this.#cells = cells
    this.#columns = columns
    this.#known = known
  }

  has(field: ImportFieldName): boolean {
    return this.#columns.positions[field] !== undefined
  }

  text(field: ImportFieldName): string | null {
    const position = this.#columns.positions[field]
    const text = position === undefined ? null : cellText(this.#cells[position])
    if (text === null || !amounts.has(field)) return text
    return amountText(text) || null
  }

  /** Reads a cell. Null when it is empty, has no column, or is invalid; an invalid cell is added to the errors. */
  read<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    const text = this.text(field)
    if (text === null) return null
    const cell = readCell(text, reader)
    if ('value' in cell) return cell.value
    this.wrong(field, `must be ${cell.wrong}; it is ${quoted(text)}`)
    return null
  }

  /** As `read`, with a cache: for values that many rows share. */
  readCached<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    return this.read(field, (text) => this.#known.read(reader, text))
  }

  /** Reads a text that was joined from several cells, with a cache. */
  known<C extends Cell<unknown>>(reader: (text: string) => C, text: string): C {
    return this.#known.read(reader, text) as C
  }

  /** Reads a time in the past, with a day of tolerance for clocks and time zones. */
  past(field: ImportFieldName, now: number): number | null {
    return this.read(field, (text) => {
      const cell = readMoment(text)
      return 'value' in cell && cell.value > now + dayMs ? { wrong: 'a time in the past' } : cell
    })
  }

  wrong(field: ImportFieldName, what: string): void {
    const column = this.#columns.names[field] ?? field
    const position = this.#columns.positions[field] ?? this.#columns.width
    this.#errors.push({ column, detail: `${column} ${what}.`, position })
  }

  get isWrong(): boolean {
    return this.#errors.length > 0
  }

  /** The errors, in the order of the columns. */
  get errors(): CellError[] {
    return this.#errors
      .toSorted((a, b) => a.position - b.position)
      .map(({ column, detail }) => ({ column, detail }))
  }

  missing(field: ImportFieldName): void {
    this.wrong(field, 'is empty')
  }
}
