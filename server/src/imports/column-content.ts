import {
  amountFields,
  cellText,
  foldedHeader,
  type ImportFieldName,
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
export async function amountsLikeIds(csv: TableFile, columns: Columns): Promise<ImportNote[]> {
  const fields = (Object.entries(columns.names) as [ImportFieldName, string][]).filter(
    ([field, name]) => amountFields.has(field) && foldedHeader(name) !== foldedHeader(field),
  )
  if (fields.length === 0) return []
  const rows = await firstRows(csv)
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
        row: csv.headerLine,
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

async function firstRows(csv: TableFile): Promise<(readonly string[])[]> {
  const found: (readonly string[])[] = []
  for await (const { rows } of tablePieces(csv)) {
    found.push(...rows.flatMap(({ cells, malformed }) => (malformed ? [] : [cells])))
    if (found.length >= rowsMax) break
  }
  return found.slice(0, rowsMax)
}
