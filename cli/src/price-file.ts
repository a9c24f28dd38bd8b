import Papa from 'papaparse'
import {
  fieldOfHeader,
  formula,
  guessedInPastes,
  headerTerms,
  lookedUpName,
  readBasis,
  readCurrency,
} from '#server/csv/index.ts'
import { decimal } from './command.ts'
import {
  type ColumnsOf,
  type CsvFile,
  columnsOf,
  isEmptyRow,
  isNamed,
  listed,
  mark,
  placeFields,
  placeOf,
  readCsvFile,
  refuseOtherAmounts,
  widthError,
} from './csv-file.ts'
import { CommandFailed } from './exits.ts'
import type { LaneToPrice, PricedLane } from './price-lanes.ts'
import { leftOutText, unknownPlacesText } from './show.ts'

export interface PriceFile extends CsvFile {
  readonly columns: PriceColumns
}

const priceFields = [...placeFields, 'equipment', 'rate', 'basis', 'currency'] as const
type PriceField = (typeof priceFields)[number]

/** The column index of each field, from 0. Without a rate column, lanes are priced at their suggested rates. */
export type PriceColumns = ColumnsOf<PriceField>

/**
 * Reads a CSV file of lanes with any delimiter. Columns are recognized by the same names as in imports, or given in
 * `map` as `field=column name` or `field=#3`.
 *
 * @param suggest prices every lane at its suggested rate; a rate column is ignored and not required
 * @throws CommandFailed if the file is invalid
 */
export function readPriceFile(bytes: Buffer, map: readonly string[], suggest: boolean): PriceFile {
  const file = readCsvFile(bytes)
  return { ...file, columns: priceColumns(file.header, map, suggest) }
}

function priceColumns(header: readonly string[], map: readonly string[], suggest: boolean): PriceColumns {
  const columns = columnsOf(
    header,
    map,
    priceFields,
    (field, name) => !(suggest && field === 'rate') && names(field, name),
  )
  if (suggest && columns.rate !== undefined) {
    throw new CommandFailed(2, '--suggest cannot be combined with --column rate.')
  }
  refuseOtherAmounts(header[columns.rate ?? -1] ?? '')
  const missing = (what: string, field: PriceField, more = '') =>
    new CommandFailed(
      2,
      `No column is recognized as the ${what} (the file has ${listed(header)}). Choose one with --column ${field}=NAME${more}.`,
    )
  for (const end of ['origin', 'destination'] as const) {
    const parts = [end, `${end}_city`, `${end}_zip`] as const
    if (parts.every((field) => columns[field] === undefined)) throw missing(end, end)
  }
  if (columns.rate === undefined && !suggest) {
    throw missing('rate', 'rate', ', or price every lane at the suggested rate with --suggest')
  }
  return withTerms(columns, header)
}

/** Adds the columns of the rate's basis and currency: its own columns, else those of the other rate of the file. */
function withTerms(columns: PriceColumns, header: readonly string[]): PriceColumns {
  const ofCustomer = isNamed('customer_rate', header[columns.rate ?? -1] ?? '')
  const rates = ofCustomer ? ['customer', 'quoted'] : ['quoted', 'customer']
  const found = (what: 'basis' | 'currency') => {
    if (columns[what] !== undefined) return { [what]: columns[what] }
    const at = rates.map((rate) => header.findIndex((name) => isNamed(`${rate}_${what}`, name)))
    const first = at.find((position) => position >= 0)
    return first === undefined ? {} : { [what]: first }
  }
  return { ...columns, ...found('basis'), ...found('currency') }
}

/**
 * Whether a column name means a field, by the names of the import. For the rate, the quoted rate, the customer rate
 * and a plain "Rate", as in pasted rows, are accepted.
 */
function names(field: PriceField, header: string): boolean {
  // These belong to the column of rates: see `withTerms`.
  if (field === 'basis' || field === 'currency') return false
  if (field !== 'rate') return isNamed(field, header)
  const folded = lookedUpName(header)
  const meant = fieldOfHeader.get(folded) ?? guessedInPastes.get(folded)
  return folded === 'proposedrate' || meant === 'quoted_rate' || meant === 'customer_rate'
}

function amountError(text: string): string {
  return `The rate must be an amount of dollars with at most two decimals, such as 1850.50; it is "${text}".`
}

/** The lane of a row, or an error; null for an empty line, which stays empty. */
export function laneOfRow(
  row: readonly string[],
  file: PriceFile,
): LaneToPrice | { readonly error: string } | null {
  const { columns } = file
  if (isEmptyRow(row)) return null
  const tooWide = widthError(row, file)
  if (tooWide !== null) return { error: tooWide }
  const cell = (field: PriceField) => (row[columns[field] ?? -1] ?? '').trim()
  const [origin, destination] = [placeOf(row, columns, 'origin'), placeOf(row, columns, 'destination')]
  const equipment = cell('equipment')
  if (origin === '') return { error: 'The origin is missing.' }
  if (destination === '') return { error: 'The destination is missing.' }
  const lane = { origin, destination, equipment: equipment || null }
  if (columns.rate === undefined) return { ...lane, rate: null, basis: null }
  const text = cell('rate')
  if (text === '') return { error: 'The rate is missing.' }
  const terms = termsOf(cell('basis'), cell('currency'), file.header[columns.rate] ?? '')
  if ('error' in terms) return terms
  try {
    // 1.850 may mean 1,850 in countries that use the dot as thousands separator.
    if (/\.\d{3,}$/.test(text)) return { error: amountError(text) }
    const rate = Number(decimal(text, 'The rate'))
    return { ...lane, rate, basis: terms.basis }
  } catch (error) {
    if (error instanceof CommandFailed) return { error: error.message }
    throw error
  }
}

/**
 * The basis of a row's rate, by the basis column or by the name of the rate column. An error if either states that the rate is not
 * in US dollars.
 */
function termsOf(
  basisText: string,
  sentCurrency: string,
  rateHeader: string,
): Pick<LaneToPrice, 'basis'> | { readonly error: string } {
  const named = headerTerms(rateHeader)
  const currencyText = named.currencies.find((currency) => currency !== 'USD') ?? sentCurrency
  const currency = currencyText === '' ? null : readCurrency(currencyText)
  if (currency !== null && !('value' in currency && currency.value === 'USD')) {
    return {
      error: `Rates are priced in US dollars; the currency is "${currencyText}". Convert the rate first.`,
    }
  }
  if (basisText === '') return { basis: named.basis }
  const basis = readBasis(basisText)
  return 'value' in basis
    ? { basis: basis.value }
    : { error: `The basis must be ${basis.wrong}; it is "${basisText}".` }
}

type Cell = string | number | null
const markupColumns = [
  'lanewise_rate',
  'lanewise_win_probability',
  'lanewise_confidence',
  'lanewise_markup_pct',
  'lanewise_suggested_rate',
  'lanewise_floor',
  'lanewise_median',
  'lanewise_ceiling',
  'lanewise_verdict',
  'lanewise_basis',
  'lanewise_currency',
  'lanewise_kept_apart',
]
const insightColumns = ['lanewise_scope', 'lanewise_win_rate_pct', 'lanewise_avg_rate', 'lanewise_summary']

export function addedColumns(withInsight: boolean): readonly string[] {
  return [...markupColumns, ...(withInsight ? insightColumns : []), 'lanewise_error']
}

/** The cells added to a row. */
export function addedCells(priced: PricedLane | null, withInsight: boolean): Cell[] {
  const empty = (count: number): Cell[] => Array.from({ length: count }, () => null)
  const insightWidth = withInsight ? insightColumns.length : 0
  if (priced === null) return empty(markupColumns.length + insightWidth + 1)
  if (!priced.ok) return [...empty(markupColumns.length + insightWidth), priced.detail]
  return [...markupCells(priced.markup), ...(withInsight ? insightCells(priced.insight) : []), null]
}

type Advice = Extract<PricedLane, { ok: true }>

function markupCells(markup: Advice['markup']): Cell[] {
  if (!markup.found) {
    const { query, confidence } = markup
    const words = ['No quotes on this lane yet.', ...leftOutText(markup.basis), ...unknownPlacesText(markup)]
    const nothing = words.join(' ')
    return [
      query.proposed_rate,
      null,
      confidence,
      null,
      null,
      null,
      null,
      null,
      nothing,
      ...basisCells(markup),
    ]
  }
  const { floor, median, ceiling } = markup.rate_band
  const { query, win_probability, confidence, markup_pct, suggested_rate, verdict } = markup
  return [
    query.proposed_rate,
    win_probability,
    confidence,
    markup_pct,
    suggested_rate,
    floor,
    median,
    ceiling,
    [verdict, ...unknownPlacesText(markup)].join(' '),
    ...basisCells(markup),
  ]
}

/** The basis and the currency of a row's amounts, and the number of quotes of its lane that could not be converted to them. */
function basisCells({ basis }: Advice['markup']): Cell[] {
  return basis === undefined ? [null, null, null] : [basis.amounts, basis.currency, basis.kept_apart]
}

function insightCells(insight: Advice['insight']): Cell[] {
  if (insight === null || insight === undefined || !insight.found) {
    const nothing = 'There is not enough data for this lane or for wider scopes.'
    return [null, null, null, [nothing, ...unknownPlacesText(insight ?? {})].join(' ')]
  }
  const { scope, history, summary } = insight
  return [
    scope,
    history.win_rate_pct,
    history.avg_rate_usd,
    [summary, ...unknownPlacesText(insight)].join(' '),
  ]
}

/**
 * Formats output rows: the cells of the input row, then the added cells. Any cell that a spreadsheet would run as a
 * formula gets an apostrophe in front.
 */
export function rowsText(
  file: PriceFile,
  rows: readonly (readonly [own: readonly string[], added: readonly Cell[]])[],
): string {
  if (rows.length === 0) return ''
  const cells = rows.map(([own, added]) => [
    ...own,
    ...Array.from({ length: file.width - own.length }, () => ''),
    ...added,
  ])
  const form = { header: false, delimiter: file.delimiter, newline: file.newline, escapeFormulae: formula }
  return `${Papa.unparse(cells, form)}${file.newline}`
}

export function headText(file: PriceFile, withInsight: boolean): string {
  return `${file.hasMark ? mark : ''}${rowsText(file, [[file.header, addedColumns(withInsight)]])}`
}
