import { refusedColumn } from '#contract/refused-column.ts'
import {
  amountFields,
  cellText,
  csvHead,
  csvLines,
  type ImportFieldName,
  roundedAmount,
  withoutGuards,
} from '../csv/index.ts'
import type { RowError } from '../database/schema/index.ts'
import type { TableFile } from '../tables/index.ts'
import type { Columns } from './columns.ts'

/** What a file of refused rows holds at most: a person corrects fewer rows, and the text is saved with the import. */
const rowsMax = 5_000
const lettersMax = 2_000_000

const isReason = (name: string) => name.trim().startsWith(refusedColumn)

/**
 * The refused rows of an import as a CSV file: their cells as they were sent, and a last column with the reasons. Corrected, the file can
 * be imported: the last column is not read. Its name has the settings that the rows need, because fewer rows may not show them: the order
 * of day and month is decided by all dates of a column.
 */
export class RefusedFile {
  readonly #csv: TableFile
  readonly #positions: readonly number[]
  readonly #amounts: ReadonlySet<number>
  readonly #columns: Columns
  readonly #lines: string[] = []
  #letters = 0

  constructor(csv: TableFile, columns: Columns) {
    this.#csv = csv
    this.#columns = columns
    this.#positions = csv.header.flatMap((name, position) => (isReason(name) ? [] : [position]))
    const entries = Object.entries(columns.positions) as [ImportFieldName, number][]
    const amounts = entries.flatMap(([field, position]) => (amountFields.has(field) ? [position] : []))
    this.#amounts = new Set(csv.workbook === null ? [] : amounts)
  }

  /** Adds the refused rows of a batch, with their errors. `cells` has the cells of each line. */
  add(errors: readonly RowError[], cells: ReadonlyMap<number, readonly string[]>): void {
    for (const [line, ofRow] of Map.groupBy(errors, ({ row }) => row)) {
      const row = cells.get(line)
      if (row === undefined || this.#lines.length >= rowsMax || this.#letters >= lettersMax) continue
      const reasons = ofRow.map(({ detail }) => detail).join(' ')
      const own = this.#positions.map((position) => this.#cell(row, position))
      // Cells beyond the header stay, so that the row can be corrected.
      const beyond = row.slice(this.#csv.header.length)
      const text = csvLines([[...own, reasons, ...beyond]])
      this.#lines.push(text)
      this.#letters += text.length
    }
  }

  /** The number of rows. */
  get rows(): number {
    return this.#lines.length
  }

  /** @param settings pairs of a map, such as `dates=day_first` */
  text(settings: readonly string[]): string {
    const reason = settings.length === 0 ? refusedColumn : `${refusedColumn} (${settings.join(' ')})`
    const from = this.#columns.fileCurrency?.from
    // A line above the header can state the currency of all amounts.
    const above = from === undefined || from === 'map' ? [] : [[from.line]]
    const header = [...this.#positions.map((position) => this.#csv.header[position] ?? ''), reason]
    const [first = header, ...others] = [...above, header]
    return this.rows === 0 ? '' : [csvHead(first), csvLines(others), ...this.#lines].join('')
  }

  /** A cell as it was sent. A number of a workbook is rounded to cents, as it was read. */
  #cell(row: readonly string[], position: number): string {
    const raw = row[position] ?? ''
    const text = cellText(raw) ?? ''
    // Each reading takes an apostrophe back that protects from a formula, and each writing adds one.
    const whole = withoutGuards(text.endsWith('…') ? raw : text)
    return this.#amounts.has(position) ? roundedAmount(whole) : whole
  }
}

/** The settings that the name of a column of reasons states, as pairs of a map. @example settingsOfReasons(['Why refused (dates=day_first)']) // 'dates=day_first' */
export function settingsOfReasons(header: readonly string[]): string {
  const reason = header.find(isReason)?.trim() ?? ''
  return reason
    .slice(refusedColumn.length)
    .split(/[\s()]/)
    .filter((pair) => /^(dates|currency|basis|cost_basis)=\w*$/.test(pair))
    .join(',')
}
