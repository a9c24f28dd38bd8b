import { isNotGiven } from '#engine/not-given.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import {
  amountFields,
  type Cell,
  cellText,
  type ImportFieldName,
  kindOfField,
  quoted,
  readCell,
  roundedAmount,
  type StatedAmount,
  statedAmount,
  statedCharges,
} from '../csv/index.ts'
import type { Columns } from './columns.ts'
import { type DateField, interfaceDates, type RowDates } from './file-dates.ts'
import type { KnownCells } from './known-cells.ts'
import type { OwnCurrency, RowOfAmounts } from './row-currencies.ts'
import { isWordField, skip, type Word, type WordField, wordKey } from './word-meanings.ts'

/** An error in one cell: the column as the file names it, and what the value must be. */
export interface CellError {
  readonly column: string
  readonly detail: string
  /** The word that is not known, in a column of words. */
  readonly word?: Word
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
  /** How the dates of the file are read; without it, as those of the interface. */
  readonly dates?: RowDates
  /** Called once for each cell whose text says that there is no value, such as N/A. */
  readonly onNotGiven?: (field: ImportFieldName, text: string) => void
}

/** What is known about the columns of a file or of pasted rows when a row is read. */
export type RowColumns = Pick<Columns, 'positions' | 'names' | 'constants' | 'currencies' | 'words' | 'width'>
type ReaderContext = Omit<RowContext, 'columns' | 'now' | 'assumed'> & { readonly columns: RowColumns }

const dayMs = 24 * 60 * 60 * 1000

/** The cells of one row by field, and the errors found while reading them. */
export class RowReader implements RowOfAmounts<ImportFieldName> {
  readonly #errors: (CellError & { readonly position: number })[] = []
  readonly #cells: readonly string[]
  readonly #columns: RowColumns
  readonly #known: KnownCells
  readonly #isWorkbook: boolean
  /** The texts that say that there is no value. Most rows have none. */
  #notGiven: Map<ImportFieldName, string> | undefined
  readonly #onNotGiven: RowContext['onNotGiven']
  readonly #asUtc: Partial<Record<DateField, number>> = {}
  readonly dates: RowDates

  constructor(
    cells: readonly string[],
    { columns, known, onNotGiven, isWorkbook = false, dates = interfaceDates }: ReaderContext,
  ) {
    this.dates = dates
    this.#cells = cells
    this.#columns = columns
    this.#known = known
    this.#isWorkbook = isWorkbook
    this.#onNotGiven = onNotGiven
  }

  has(field: ImportFieldName): boolean {
    return this.#columns.positions[field] !== undefined
  }

  /** Whether the map states the value of a field for all rows. */
  isForAllRows(field: ImportFieldName): boolean {
    return this.#columns.constants[field] !== undefined
  }

  /** The text of a cell as it is written, that of a number in a workbook rounded to cents if it is an amount. */
  #cell(field: ImportFieldName): string | null {
    const position = this.#columns.positions[field]
    const raw = this.#columns.constants[field] ?? (position === undefined ? undefined : this.#cells[position])
    return cellText(this.#isWorkbook && raw !== undefined && isAmount(field) ? roundedAmount(raw) : raw)
  }

  /**
   * The text of a cell, that of an amount without its currency. Null when it is empty, has no column, or says that there is no value, as
   * `N/A` does.
   */
  text(field: ImportFieldName): string | null {
    return this.#given(field)?.stated.text ?? null
  }

  /** A cell as it is written, and what it states. Null without a value; a cell such as `N/A` is noted. */
  #given(field: ImportFieldName): { readonly cell: string; readonly stated: StatedAmount } | null {
    const cell = this.#cell(field)
    if (cell === null) return null
    const said = this.#meant(field, stated(field, cell))
    const kind = kindOfField.get(field) ?? null
    if (said.text !== '' && (kind === null || !isNotGiven(kind, said.text))) return { cell, stated: said }
    this.#isNotGiven(field, cell)
    return null
  }

  /** The amount or word of a cell, or what the map says that the word means. */
  #meant(field: ImportFieldName, said: StatedAmount): StatedAmount {
    const text = this.#columns.words[field as WordField]?.get(wordKey(said.text))
    return text === undefined || text === skip ? said : { ...said, text }
  }

  /** The words of the row whose meanings the map states, and whether one of them leaves the row out. */
  statedWords(): { readonly words: readonly Word[]; readonly isSkipped: boolean } {
    const fields = Object.entries(this.#columns.words) as [WordField, ReadonlyMap<string, string>][]
    const stated = fields.flatMap(([field, meanings]) => {
      const text = this.#cell(field)
      const meaning = text === null ? undefined : meanings.get(wordKey(text))
      return text === null || meaning === undefined ? [] : [{ word: { field, text }, meaning }]
    })
    return {
      words: stated.map(({ word }) => word),
      isSkipped: stated.some(({ meaning }) => meaning === skip),
    }
  }

  /** The currency that the cell of an amount or the name of its column states. Null without an amount. */
  currencyOf(field: ImportFieldName): OwnCurrency | null {
    const cell = this.#cell(field)
    const { text, currency } = cell === null ? nothing : stated(field, cell)
    if (text === '') return null
    const named = this.#columns.currencies[field]
    if (currency !== null) return { currency, by: 'its cell' }
    return named === undefined ? null : { currency: named, by: 'its name' }
  }

  #isNotGiven(field: ImportFieldName, text: string): void {
    if (this.#notGiven?.has(field) === true) return
    this.#notGiven = (this.#notGiven ?? new Map()).set(field, text)
    this.#onNotGiven?.(field, text)
  }

  /** The text of a cell that says that there is no value; null for every other cell. Call it after `text` or `read`. */
  notGiven(field: ImportFieldName): string | null {
    return this.#notGiven?.get(field) ?? null
  }

  /** Reads a cell. Null when it is empty, has no column, or is invalid; an invalid cell is added to the errors. */
  read<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    const given = this.#given(field)
    if (given === null) return null
    const { text, currency, wrong } = given.stated
    const cell = wrong === null ? readCell(text, reader) : { wrong }
    const named = this.#columns.currencies[field]
    if ('wrong' in cell) {
      this.wrong(
        field,
        `must be ${cell.wrong}; it is ${quoted(given.cell)}`,
        isWordField(field) ? text : null,
      )
    } else if (currency !== null && named !== undefined && named !== currency) {
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
  past(field: DateField, now: number): number | null {
    const time = this.read(field, (text) => {
      const cell = this.dates.time(field, text)
      return 'value' in cell && cell.value.at > now + dayMs ? { wrong: 'a time in the past' } : cell
    })
    if (time === null) return null
    this.#asUtc[field] = time.asUtc
    return time.at
  }

  /** A time that `past` read, for a digest: a local time as if it were UTC. Null if there is none. */
  asUtc(field: DateField): number | null {
    return this.#asUtc[field] ?? null
  }

  /** Reads a day whose year may be absent: the one nearest to a time. */
  dayNear(field: DateField, time: number): string | null {
    return this.read(field, (text) => this.dates.day(field, text, time))
  }

  leaveOut(field: ImportFieldName): string {
    return `leave it out with the map ${field}=`
  }

  /** Adds an error to the row. `word` is the word of a column of words that is not known. */
  wrong(field: ImportFieldName, what: string, word: string | null = null): void {
    const column = this.#columns.names[field] ?? field
    const position = this.#columns.positions[field] ?? this.#columns.width
    const unknown = word === null || !isWordField(field) ? {} : { word: { field, text: word } }
    this.#errors.push({ column, detail: `${column} ${what}.`, position, ...unknown })
  }

  get isWrong(): boolean {
    return this.#errors.length > 0
  }

  /** The errors with the positions of their columns, in the order of the columns. */
  get placedErrors(): (CellError & { readonly position: number })[] {
    return this.#errors.toSorted((a, b) => a.position - b.position)
  }

  get errors(): CellError[] {
    return this.placedErrors.map(({ position: _, ...error }) => error)
  }

  missing(field: ImportFieldName): void {
    const text = this.notGiven(field)
    this.wrong(field, text === null ? 'is empty' : `must be given; it is ${quoted(text)}`)
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
