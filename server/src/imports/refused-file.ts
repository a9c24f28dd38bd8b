import { finished, type Steps } from '#engine/steps.ts'
import {
  amountFields,
  cellText,
  csvHead,
  csvLines,
  type ImportFieldName,
  importFieldNames,
  roundedAmount,
  withoutGuards,
} from '../csv/index.ts'
import type { RowError } from '../database/schema/index.ts'
import type { TableFile } from '../tables/index.ts'
import { isReason, reasonsName } from './carried-map.ts'
import { type Columns, matchColumns } from './columns.ts'
import { type WordField, wordPair } from './word-meanings.ts'

/** What a file of refused rows holds at most: a person corrects fewer rows, and the text is saved with the import. */
const rowsMax = 5_000
const lettersMax = 2_000_000

/**
 * The refused rows of an import as a CSV file: their cells as they were sent, and a last column with the reasons. Corrected, the file can
 * be imported: the last column is not read. Its name has the pairs of a map by which the rows are read as they were: what a person
 * stated, and what fewer rows may not show, as the order of day and month that all dates of a column decide.
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

  /** Adds the refused rows of a batch, with their errors, in steps. `cells` has the cells of each line. */
  *add(errors: readonly RowError[], cells: ReadonlyMap<number, readonly string[]>): Steps<void> {
    for (const [line, ofRow] of Map.groupBy(errors, ({ row }) => row)) {
      const row = cells.get(line)
      if (row === undefined || this.#lines.length >= rowsMax || this.#letters >= lettersMax) continue
      const reasons = ofRow.map(({ detail }) => detail).join(' ')
      const own = this.#positions.map((position) => this.#cell(row, position))
      // Cells beyond the header stay, so that the row can be corrected.
      const beyond = row.slice(this.#csv.header.length)
      // The database cannot save a NUL.
      const text = csvLines([[...own, reasons, ...beyond]]).replaceAll('\0', '')
      this.#lines.push(text)
      this.#letters += text.length
      yield
    }
  }

  /** The number of rows. */
  get rows(): number {
    return this.#lines.length
  }

  /** @param dates the order of day and month of the file, such as `dates=day_first` */
  text(dates: readonly string[]): string {
    if (this.rows === 0) return ''
    const own = this.#positions.map((position) => this.#csv.header[position] ?? '')
    const reason = reasonsName([...this.#pairs(own), ...dates])
    const from = this.#columns.fileCurrency?.from
    // A line above the header can state the currency of all amounts.
    const above = from === undefined || from === 'map' ? [] : [[from.line]]
    const header = [...own, reason]
    const [first = header, ...others] = [...above, header]
    return [csvHead(first), csvLines(others), ...this.#lines].join('')
  }

  /** The pairs of a map by which a header is read as the file was. Columns that are read so by their names alone need none. */
  #pairs(header: readonly string[]): string[] {
    const { bases, chosen, constants, fileCurrency, positions, sameIds, words } = this.#columns
    const byName = finished(matchColumns(header)).columns.positions
    const ofField = (field: ImportFieldName) => {
      const constant = constants[field]
      if (constant !== undefined) return [`${field}==${valueText(constant)}`]
      const position = positions[field]
      const at = position === undefined ? undefined : this.#positions.indexOf(position)
      // A chosen column of amounts is not asked about, even if its cells count like ids.
      if (at === byName[field] && !(chosen.has(field) && amountFields.has(field))) return []
      return [`${field}=${at === undefined || at < 0 ? '' : columnText(at, header)}`]
    }
    const rates = bases.quoted_rate ?? bases.customer_rate
    return [
      ...importFieldNames.flatMap(ofField),
      ...(rates?.from === 'map' ? [`basis=${rates.basis}`] : []),
      ...(bases.truck_cost?.from === 'map' ? [`cost_basis=${bases.truck_cost.basis}`] : []),
      ...(fileCurrency?.from === 'map' ? [`currency=${fileCurrency.currency ?? ''}`] : []),
      ...(sameIds === 'update' ? ['same_ids=update'] : []),
      ...(Object.entries(words) as [WordField, ReadonlyMap<string, string>][]).flatMap(([field, meanings]) =>
        [...meanings].map(([text, meaning]) => `${wordPair({ field, text })}=${meaning}`),
      ),
    ]
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

/** A text as a value of a map. */
const valueText = (text: string) => `"${text.replaceAll('"', '""')}"`

/** A column as a value of a map: its name, or its number if it has no name of its own. */
function columnText(at: number, header: readonly string[]): string {
  const names = header.map((name) => name.trim())
  const name = names[at] ?? ''
  return name === '' || names.filter((one) => one === name).length > 1 ? `#${at + 1}` : valueText(name)
}
