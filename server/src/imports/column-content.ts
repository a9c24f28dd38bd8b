import {
  amountFields,
  cellText,
  foldedHeader,
  givenText,
  type ImportFieldName,
  isCurrency,
  quoted,
  shortened,
} from '../csv/index.ts'
import { ImportFileError, type TableFile, tablePieces } from '../tables/index.ts'
import type { Columns } from './columns.ts'
import type { ImportNote } from './import-notes.ts'

/** The first rows that are compared. */
const rowsMax = 50
/** From this many rows, numbers that count by one are ids; those that count by up to three, from twice as many. */
const rowsMin = 5
const stepMax = 3

/**
 * Whether the cells of a column count up or down, as ids do and amounts do not: whole numbers, each one more than the one before, or in
 * ten rows or more up to three more.
 *
 * @example countsLikeIds(['4100', '4101', '4102', '4103', '4104']) // true
 * @example countsLikeIds(['1800', '2450', '1750', '2100', '1990']) // false
 */
export function countsLikeIds(cells: readonly string[]): boolean {
  if (cells.length < rowsMin || !cells.every((cell) => /^\d{1,9}$/.test(cell))) return false
  const numbers = cells.map(Number)
  const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0))
  const max = cells.length < 2 * rowsMin ? 1 : stepMax
  return steps.every((step) => step >= 1 && step <= max) || steps.every((step) => step <= -1 && step >= -max)
}

/**
 * The columns of amounts whose cells look like ids, by the first rows. A column with the name of its field is not in doubt.
 *
 * @returns sentences for columns that the map chooses, because the person who chose them may not have looked at their cells
 * @throws ImportFileError about columns that were found by their names
 */
export function amountsLikeIds(
  rows: Rows,
  { headerLine }: Pick<TableFile, 'headerLine'>,
  columns: Columns,
): ImportNote[] {
  const fields = (Object.entries(columns.names) as [ImportFieldName, string][]).filter(
    ([field, name]) => amountFields.has(field) && foldedHeader(name) !== foldedHeader(field),
  )
  const doubts = fields.flatMap(([field, name]) => {
    const position = columns.positions[field] ?? 0
    const cells = rows.flatMap((one) => cellText(one[position]) ?? [])
    const detail = `its cells look like ids: ${cells.slice(0, 3).join(', ')}, each next to the one before`
    return countsLikeIds(cells) ? [{ field, name, detail }] : []
  })
  const unasked = doubts.filter(({ field }) => !columns.chosen.has(field))
  if (unasked.length > 0) {
    throw new ImportFileError(
      unasked.map(({ field, name, detail }) => ({
        code: 'header',
        row: headerLine,
        column: shortened(name),
        detail: `The column ${quoted(name)} would be ${field}, but ${detail}. If they are ids, use the map reference=${name},${field}=COLUMN with the column of the amounts; if they are amounts, use the map ${field}=${name}.`,
      })),
    )
  }
  return doubts.map(({ field, name, detail }) => ({
    code: 'content',
    column: name,
    detail: `${name} is read as ${field}, but ${detail}. If they are ids, choose another column for ${field}.`,
    choices: [],
  }))
}

/**
 * Refuses a file with a column of currencies whose name is not known: its amounts would be stored in US dollars.
 *
 * @throws ImportFileError unless the file has a known column of currencies, or the map states the currency
 */
export function refuseUnreadCurrencies(
  rows: Rows,
  { header, headerLine }: TableFile,
  columns: Columns,
): void {
  if (columns.names.quoted_currency !== undefined || columns.fileCurrency?.from === 'map') return
  const at = currencyColumn(rows, header, new Set(Object.values(columns.positions)))
  if (at === null) return
  const name = header[at]?.trim() || `#${at + 1}`
  throw new ImportFileError([
    {
      code: 'header',
      row: headerLine,
      column: shortened(name),
      detail: `The column ${quoted(name)} has currencies, and is not read. If they are those of the amounts, use the map quoted_currency=${name}; if not, state the currency of the amounts, as in currency=USD.`,
    },
  ])
}

/** The position of the first column that is not read and has currencies only; null if there is none. */
export function currencyColumn(
  rows: Rows,
  header: readonly string[],
  read: ReadonlySet<number>,
): number | null {
  const found = header.findIndex((_, at) => {
    if (read.has(at)) return false
    const given = rows.flatMap((cells) => givenText(cells[at], 'name') ?? [])
    return given.length > 0 && given.every(isCurrency)
  })
  return found < 0 ? null : found
}

type Rows = readonly (readonly string[])[]

/** The first rows of a file, by which the content of its columns is judged. */
export async function firstRows(csv: TableFile): Promise<Rows> {
  const found: (readonly string[])[] = []
  for await (const { rows } of tablePieces(csv)) {
    found.push(...rows.flatMap(({ cells, malformed }) => (malformed ? [] : [cells])))
    if (found.length >= rowsMax) break
  }
  return found.slice(0, rowsMax)
}
