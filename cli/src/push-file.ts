import type { Body } from '#client/sent.ts'
import {
  type Cell,
  cellText,
  foldedHeader,
  givenText,
  headerTerms,
  kindOfField,
  type PushedCellName,
  pushedCells,
  pushedOnlyFieldOfHeader,
  quoteCells,
  readId,
  readOutcome,
  readReason,
  readSentCharges,
  readSentStops,
  StatedCurrencies,
  statedAmount,
  statedCharges,
} from '#server/csv/index.ts'
import {
  type ColumnsOf,
  type CsvFile,
  columnsOf,
  isEmptyRow,
  isNamed,
  listed,
  placeFields,
  placeOf,
  readCsvFile,
  refuseOtherAmounts,
  widthError,
} from './csv-file.ts'
import { CommandFailed } from './exits.ts'
import { type DateOptions, type PushDates, pushDates } from './push-dates.ts'

const outcomeFields = ['outcome', 'outcome_reason', 'decided_at'] as const
type PushField =
  | 'external_id'
  | (typeof placeFields)[number]
  | PushedCellName
  | (typeof outcomeFields)[number]
const pushFields: readonly PushField[] = [
  'external_id',
  ...placeFields,
  ...pushedCells.map(({ name }) => name),
  ...outcomeFields,
]

export const pushFieldNames: readonly string[] = pushFields

/** The fields of amounts. */
const amountCells = pushedCells
  .filter(({ unit }) => ['rate', 'cost', 'charge', 'charges'].includes(unit))
  .map(({ name }) => name)

export interface PushFile extends CsvFile {
  readonly columns: ColumnsOf<PushField>
  readonly dates: PushDates
  /** The names of the columns that are not pushed. */
  readonly unused: readonly string[]
}

export type PushedQuote = Body<'push-quotes'>['quotes'][number]

/** An error of a row. `column` is null if no single column is wrong. */
export interface RowError {
  readonly column: string | null
  readonly detail: string
}

/** A row of the file. `row` counts from 1 with the header, as spreadsheets do. */
export interface PushRow {
  readonly row: number
  readonly quote: PushedQuote
  readonly errors: readonly RowError[]
}

/**
 * Whether a column name means a field, by the names of the import. The import's `reference` is the file's own id of a quote,
 * which is the external_id of a push.
 */
function means(field: PushField, header: string): boolean {
  if (field === 'external_id') return isNamed('reference', header)
  // A file of quotes has one rate, so a charge of the customer rate counts as a charge of the quoted rate.
  if (field === 'quoted_fuel' && isNamed('customer_fuel', header)) return true
  if (field === 'quoted_accessorials' && isNamed('customer_accessorials', header)) return true
  if (field === 'quoted_charges' && isNamed('customer_charges', header)) return true
  return isNamed(field, header) || pushedOnlyFieldOfHeader.get(foldedHeader(header)) === field
}

/** Reads a CSV file of quotes. @throws CommandFailed if the file is invalid, has no column with your ids, or dates that can be read in two ways */
export function readPushFile(bytes: Buffer, map: readonly string[], options: DateOptions = {}): PushFile {
  const file = readCsvFile(bytes)
  const columns = withCustomerTerms(columnsOf(file.header, map, pushFields, means), file.header, map)
  if (columns.external_id === undefined) {
    throw new CommandFailed(
      2,
      `No column is recognized as the external_id, your own id of each quote (the file has ${listed(file.header)}). Choose one with --column external_id=NAME.`,
    )
  }
  for (const field of amountCells) refuseOtherAmounts(file.header[columns[field] ?? -1] ?? '')
  const used = new Set(Object.values(columns))
  if (used.size === 1) {
    throw new CommandFailed(
      2,
      `Only "${file.header[columns.external_id]}" is recognized. Name the other columns with --column FIELD=NAME. The fields are ${pushFields.join(', ')}.`,
    )
  }
  return {
    ...file,
    columns,
    dates: pushDates({ ...file, columns }, options),
    unused: file.header.filter((name, at) => !used.has(at) && name.trim() !== ''),
  }
}

/**
 * Adds the columns Customer Basis and Customer Currency if the quoted rate is read from the column of the customer rate. Otherwise,
 * removes the customer's charges if the file has a column Customer Currency: they could be in another currency.
 */
function withCustomerTerms(
  columns: ColumnsOf<PushField>,
  header: readonly string[],
  map: readonly string[],
): ColumnsOf<PushField> {
  const column = (field: 'customer_basis' | 'customer_currency') =>
    header.findIndex((name) => isNamed(field, name))
  const [basis, currency] = [column('customer_basis'), column('customer_currency')]
  if (isNamed('customer_rate', header[columns.quoted_rate ?? -1] ?? '')) {
    return {
      ...(basis < 0 ? {} : { quoted_basis: basis }),
      ...(currency < 0 ? {} : { quoted_currency: currency }),
      ...columns,
    }
  }
  if (currency < 0) return columns
  const own = { ...columns }
  for (const charge of ['fuel', 'accessorials', 'charges'] as const) {
    const field = `quoted_${charge}` as const
    const isMapped = map.some((pair) => pair.startsWith(`${field}=`))
    if (!isMapped && isNamed(`customer_${charge}`, header[own[field] ?? -1] ?? '')) delete own[field]
  }
  return own
}

/** Reads the rows of a file. Empty rows are left out. An id counts once: later rows with the same id are errors. */
export function pushRows(file: PushFile): PushRow[] {
  const rowOf = new Map<string, number>()
  return file.rows.flatMap((cells, at) => {
    if (isEmptyRow(cells)) return []
    const row = at + 2
    const read = readPushRow(cells, file)
    const first = rowOf.get(read.quote.external_id)
    if (read.errors.length > 0) return [{ row, ...read }]
    if (first === undefined) rowOf.set(read.quote.external_id, row)
    const repeated: RowError = {
      column: columnName(file, 'external_id'),
      detail: `${JSON.stringify(read.quote.external_id)} is also in row ${first}, which counts. Keep one of the two rows.`,
    }
    return [{ row, ...read, errors: first === undefined ? [] : [repeated] }]
  })
}

/** The column of a field of the service, by its name in the file. */
export function columnName({ header, columns }: PushFile, field: string): string | null {
  const at = [field, `${field}_city`, `${field}_zip`].flatMap((one) => columns[one as PushField] ?? [])[0]
  return at === undefined ? null : (header[at] ?? null)
}

function missingId(cells: readonly string[], file: PushFile): RowError {
  const written = cellText(cells[file.columns.external_id ?? -1])
  const detail = `The id of the quote is missing${written === null ? '' : `; it is ${JSON.stringify(written)}`}.`
  return { column: columnName(file, 'external_id'), detail }
}

function readPushRow(cells: readonly string[], file: PushFile): Pick<PushRow, 'quote' | 'errors'> {
  const { columns } = file
  const errors: RowError[] = []
  const tooWide = widthError(cells, file)
  if (tooWide !== null) errors.push({ column: null, detail: tooWide })
  const text = (field: PushField) => givenText(cells[columns[field] ?? -1], kindOfField.get(field) ?? null)
  const headerOf = (field: PushField) => file.header[columns[field] ?? -1] ?? ''
  const read = <T>(field: PushField, reader: (cell: string) => Cell<T>): T | undefined => {
    const cell = text(field)
    if (cell === null) return undefined
    const result = reader(cell)
    if ('value' in result) return result.value
    const column = columnName(file, field)
    errors.push({ column, detail: `${column} must be ${result.wrong}; it is ${JSON.stringify(cell)}.` })
    return undefined
  }
  const currencies = new StatedCurrencies<string>()
  const say = (field: PushField, currency: string | null) =>
    currencies.say(currency, columnName(file, field) ?? field)
  const stated = <T>(field: PushField, split: typeof statedAmount, reader: (cell: string) => Cell<T>) =>
    read<T | undefined>(field, (cell) => {
      const { text: plain, currency, wrong } = split(cell)
      if (plain === '') return { value: undefined }
      if (wrong !== null) return { wrong }
      for (const one of [currency, ...headerTerms(headerOf(field)).currencies]) say(field, one)
      return reader(plain)
    })
  const amount = (field: PushField, reader: (cell: string) => Cell<number | null>) => {
    const cents = stated(field, statedAmount, reader)
    return typeof cents === 'number' ? cents / 100 : undefined
  }
  const time = (field: PushField) => {
    const moment = read(field, file.dates.readerOf(field).time)
    return moment === undefined ? undefined : new Date(moment.at).toISOString()
  }
  /** A cell as it is sent: amounts in dollars, times in ISO 8601. */
  const sent = (field: PushedCellName, unit: (typeof pushedCells)[number]['unit']) => {
    switch (unit) {
      case 'rate':
      case 'cost':
      case 'charge':
        return amount(field, quoteCells[unit])
      case 'time':
        return time(field)
      case 'charges':
        return stated(field, statedCharges, readSentCharges)
      case 'equipment':
        // Sent as typed, because the service knows more equipment names.
        return text(field) ?? undefined
      case 'basis':
        return read(field, quoteCells.basis) ?? headerTerms(headerOf('quoted_rate')).basis ?? undefined
      case 'miles':
      case 'currency':
      case 'rateType':
      case 'mode':
      case 'text':
        return read<string | number | null>(field, quoteCells[unit])
      case 'stops':
        return read(field, readSentStops)
      case 'day':
        return read(field, file.dates.readerOf(field).day)
    }
  }
  const externalId = read('external_id', readId)
  if (text('external_id') === null) errors.push(missingId(cells, file))
  const outcome = read('outcome', readOutcome)
  const reason = outcome?.reason ?? read('outcome_reason', (cell) => ({ value: readReason(cell) }))
  const decidedAt = time('decided_at')
  const values = Object.fromEntries(pushedCells.map(({ name, unit }) => [name, sent(name, unit)]))
  if (typeof values.quoted_currency === 'string') say('quoted_currency', values.quoted_currency)
  errors.push(...settleCurrency(values, currencies))
  const quote: PushedQuote = {
    external_id: externalId ?? '',
    origin: placeOf(cells, columns, 'origin') || undefined,
    destination: placeOf(cells, columns, 'destination') || undefined,
    ...values,
    outcome: outcome?.outcome,
    ...(outcome?.outcome === 'lost' ? { outcome_reason: reason } : {}),
    ...(outcome?.outcome === 'won' || outcome?.outcome === 'lost' ? { decided_at: decidedAt } : {}),
  }
  return { quote, errors }
}

/** Sets the currency of a row to Canadian dollars if its amounts state them. Returns an error if they state two. */
function settleCurrency(
  values: Record<string, unknown>,
  { currency, contradiction }: StatedCurrencies<string>,
): readonly RowError[] {
  if (contradiction !== null) {
    return [{ column: contradiction.by, detail: `The amounts must be ${contradiction.detail}.` }]
  }
  if (currency === 'CAD') values.quoted_currency = 'CAD'
  return []
}
