import Papa from 'papaparse'
import { fieldOfHeader, headerFault, lookedUpName, matchFields } from '#server/csv/index.ts'
import { CommandFailed } from './exits.ts'

/** A parsed CSV file, with its format, so that it can be written in the same format. */
export interface CsvFile {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The number of cells in the longest row. */
  readonly width: number
  readonly delimiter: string
  readonly newline: string
  readonly hasMark: boolean
}

/** The byte order mark at the start of a file. */
export const mark = '\uFEFF'

/** Reads a CSV file with any delimiter. @throws CommandFailed if the file is invalid */
export function readCsvFile(bytes: Buffer): CsvFile {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandFailed(2, 'The file is not UTF-8. Save it as "CSV UTF-8" and try again.')
  }
  const hasMark = text.startsWith(mark)
  const { data, errors, meta } = Papa.parse<string[]>(hasMark ? text.slice(1) : text, { header: false })
  const broken = errors.find(({ type }) => type === 'Quotes')
  if (broken !== undefined) {
    throw new CommandFailed(
      2,
      `Row ${(broken.row ?? 0) + 1} has a quotation mark that is not closed: ${broken.message}.`,
    )
  }
  const [header, ...rows] = data
  if (header === undefined || header.every((cell) => cell.trim() === ''))
    throw new CommandFailed(2, 'The file is empty.')
  // A line end after the last row does not start a new row.
  if (rows.at(-1)?.length === 1 && rows.at(-1)?.[0] === '') rows.pop()
  return {
    header,
    rows,
    width: rows.reduce((most, row) => Math.max(most, row.length), header.length),
    delimiter: meta.delimiter,
    newline: meta.linebreak,
    hasMark,
  }
}

/** The column index of each field, from 0. */
export type ColumnsOf<Field extends string> = Readonly<Partial<Record<Field, number>>>

/** The columns that each end of a lane can have. */
export const placeFields = [
  'origin',
  'origin_city',
  'origin_state',
  'origin_zip',
  'destination',
  'destination_city',
  'destination_state',
  'destination_zip',
] as const
export type PlaceField = (typeof placeFields)[number]

/** Whether a column name means a field, as in imports. */
export const isNamed = (field: string, header: string) => fieldOfHeader.get(lookedUpName(header)) === field

/** Refuses a column of amounts whose name says that they are not US or Canadian dollars per load. @throws CommandFailed */
export function refuseOtherAmounts(header: string): void {
  const fault = headerFault(header)
  if (fault !== null)
    throw new CommandFailed(2, `The column "${header}" ${fault}: convert it in the file first.`)
}

/**
 * Finds the columns of fields: those in `map`, as `field=column name` or `field=#3`, and those whose name means the field.
 *
 * @param means whether a column name means a field
 * @throws CommandFailed if several columns may be one field, or if `map` is wrong
 */
export function columnsOf<Field extends string>(
  header: readonly string[],
  map: readonly string[],
  fields: readonly Field[],
  means: (field: Field, header: string) => boolean,
): ColumnsOf<Field> {
  const columns = Object.fromEntries(map.map((pair) => mappedColumn(pair, header, fields))) as Partial<
    Record<PlaceField | Field, number>
  >
  const taken = new Set(Object.values(columns))
  const candidates = fields.flatMap((field) =>
    header.flatMap((name, at) => (!taken.has(at) && means(field, name) ? [{ field, at, rank: 0 }] : [])),
  )
  const given = Object.keys(columns) as Field[]
  const { of, doubtful } = matchFields(candidates, 'ask', given)
  for (const [field, several] of doubtful) {
    throw new CommandFailed(
      2,
      `Several columns may be the ${field}: ${listed(several.map((at) => header[at] ?? ''))}. Choose one with --column ${field}=NAME.`,
    )
  }
  for (const [field, { at }] of of) columns[field] = at
  for (const end of ['origin', 'destination'] as const) {
    // If there is a column "Origin State", the column "Origin" is the city.
    if (columns[end] !== undefined && columns[`${end}_state`] !== undefined) {
      columns[`${end}_city`] ??= columns[end]
      delete columns[end]
    }
  }
  return columns as ColumnsOf<Field>
}

export function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

function mappedColumn<Field extends string>(
  pair: string,
  header: readonly string[],
  fields: readonly Field[],
): [Field, number] {
  const [name = '', column = ''] = pair.split(/=(.*)/s)
  const field = fields.find((one) => one === name.trim())
  if (field === undefined)
    throw new CommandFailed(
      2,
      `--column must be FIELD=COLUMN, where FIELD is one of ${fields.join(', ')}; it is "${pair}".`,
    )
  const number = /^#([1-9]\d{0,3})$/.exec(column)?.[1]
  const at = number === undefined ? header.indexOf(column) : Number(number) - 1
  if (header[at] === undefined) throw new CommandFailed(2, `The file has no column "${column}".`)
  return [field, at]
}

/** The error of a row that does not fit the header; null if it fits. */
export function widthError(row: readonly string[], { header }: CsvFile): string | null {
  return row.length > header.length
    ? `The row has ${row.length} cells, but the header has ${header.length}.`
    : null
}

export const isEmptyRow = (row: readonly string[]) => row.every((cell) => cell.trim() === '')

/** The pickup or delivery place of a row, as one text; empty if the row has none. */
export function placeOf(
  row: readonly string[],
  columns: ColumnsOf<PlaceField>,
  end: 'origin' | 'destination',
): string {
  const cell = (field: PlaceField) => (row[columns[field] ?? -1] ?? '').trim()
  if (columns[end] !== undefined) return cell(end)
  const named = [cell(`${end}_city`), cell(`${end}_state`)].filter((part) => part !== '').join(', ')
  return `${named} ${cell(`${end}_zip`)}`.trim()
}
