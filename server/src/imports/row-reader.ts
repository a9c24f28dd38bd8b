import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import {
  amountFields,
  type Cell,
  cellText,
  type ImportFieldName,
  quoted,
  readCell,
  readMoment,
  roundedAmount,
  type StatedAmount,
  statedAmount,
  statedCharges,
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
  /** Whether the file is a workbook, whose amounts are rounded to cents. */
  readonly isWorkbook?: boolean
}

/** The currency that an amount states, and where it states it. */
interface OwnCurrency {
  readonly currency: Currency
  readonly place: 'in its cell' | 'in its name'
}

const dayMs = 24 * 60 * 60 * 1000

/** The cells of one row by field, and the errors found while reading them. */
export class RowReader {
  readonly #errors: (CellError & { readonly position: number })[] = []
  readonly #cells: readonly string[]
  readonly #columns: Columns
  readonly #known: KnownCells
  readonly #isWorkbook: boolean

  constructor(cells: readonly string[], { columns, known, isWorkbook = false }: RowContext) {
    this.#cells = cells
    this.#columns = columns
    this.#known = known
    this.#isWorkbook = isWorkbook
  }

  has(field: ImportFieldName): boolean {
    return this.#columns.positions[field] !== undefined
  }

  #cell(field: ImportFieldName): string | null {
    const position = this.#columns.positions[field]
    const raw = position === undefined ? undefined : this.#cells[position]
    return cellText(this.#isWorkbook && raw !== undefined && isAmount(field) ? roundedAmount(raw) : raw)
  }

  /** The text of a cell, that of an amount without its currency. Null when it is empty or has no column. */
  text(field: ImportFieldName): string | null {
    const cell = this.#cell(field)
    return cell === null ? null : stated(field, cell).text || null
  }

  /** The currency that the cell of an amount or the name of its column states. Null without an amount. */
  currencyOf(field: ImportFieldName): OwnCurrency | null {
    const cell = this.#cell(field)
    const { text, currency } = cell === null ? nothing : stated(field, cell)
    if (text === '') return null
    const named = this.#columns.currencies[field]
    if (currency !== null) return { currency, place: 'in its cell' }
    return named === undefined ? null : { currency: named, place: 'in its name' }
  }

  /** Reads a cell. Null when it is empty, has no column, or is invalid; an invalid cell is added to the errors. */
  read<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    const said = this.#cell(field)
    const { text, currency, wrong } = said === null ? nothing : stated(field, said)
    if (said === null || text === '') return null
    const cell = wrong === null ? readCell(text, reader) : { wrong }
    const named = this.#columns.currencies[field]
    if ('wrong' in cell) this.wrong(field, `must be ${cell.wrong}; it is ${quoted(said)}`)
    else if (currency !== null && named !== undefined && named !== currency) {
      this.wrong(field, `must be in ${named}, as the name of the column says; the cell says ${currency}`)
    } else return cell.value
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

const nothing: StatedAmount = { text: '', currency: null, wrong: null }
const chargesByName: ReadonlySet<string> = new Set(['quoted_charges', 'customer_charges', 'truck_charges'])
const isAmount = (field: ImportFieldName) => amountFields.has(field) && !chargesByName.has(field)

/** The text of a cell and the currency of an amount in it. */
function stated(field: ImportFieldName, cell: string): StatedAmount {
  if (isAmount(field)) return statedAmount(cell)
  return chargesByName.has(field) ? statedCharges(cell) : { text: cell, currency: null, wrong: null }
}
