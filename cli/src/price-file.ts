import Papa from 'papaparse'
import { ambiguousHeaders, fieldOfHeader, foldedHeader, formula } from '#server/csv/index.ts'
import { decimal } from './command.ts'
import { CommandFailed } from './exits.ts'
import type { LaneToPrice, PricedLane } from './price-lanes.ts'
import { unknownPlacesText } from './show.ts'

/** A CSV file of lanes, and what it takes to write it back as it was. */
export interface PriceFile {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly columns: PriceColumns
  /** As many cells as the longest row has. */
  readonly width: number
  readonly delimiter: string
  readonly newline: string
  readonly hasMark: boolean
}

const priceFields = [
  'origin',
  'origin_city',
  'origin_state',
  'origin_zip',
  'destination',
  'destination_city',
  'destination_state',
  'destination_zip',
  'equipment',
  'rate',
] as const
type PriceField = (typeof priceFields)[number]

/** Where each field is in a row, from 0. Without a rate the suggested rates are priced. */
export type PriceColumns = Readonly<Partial<Record<PriceField, number>>>

const mark = '\uFEFF'

/**
 * Reads a CSV file of lanes, whatever sign parts its cells. Columns are known by the names that the import knows, or said
 * in `map` as `field=column name` or `field=#3`.
 *
 * @param suggest prices every lane at the suggested rate: no column is read as the rate, and none is needed
 * @throws CommandFailed when it is not such a file
 */
export function readPriceFile(bytes: Buffer, map: readonly string[], suggest: boolean): PriceFile {
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
      `Row ${(broken.row ?? 0) + 1} has a quotation mark that does not close: ${broken.message}.`,
    )
  }
  const [header, ...rows] = data
  if (header === undefined || header.every((cell) => cell.trim() === ''))
    throw new CommandFailed(2, 'The file is empty.')
  // A line end after the last row begins no other.
  if (rows.at(-1)?.length === 1 && rows.at(-1)?.[0] === '') rows.pop()
  return {
    header,
    rows,
    columns: columnsOf(header, map, suggest),
    width: rows.reduce((most, row) => Math.max(most, row.length), header.length),
    delimiter: meta.delimiter,
    newline: meta.linebreak,
    hasMark,
  }
}

function columnsOf(header: readonly string[], map: readonly string[], suggest: boolean): PriceColumns {
  const columns: Partial<Record<PriceField, number>> = Object.fromEntries(
    map.map((pair) => saidColumn(pair, header)),
  )
  if (suggest && columns.rate !== undefined) {
    throw new CommandFailed(2, '--suggest prices without a rate. Leave it out, or leave out --column rate.')
  }
  const taken = new Set(Object.values(columns))
  const named = (field: PriceField) =>
    header.flatMap((name, at) => (!taken.has(at) && names(field, name) ? [at] : []))
  for (const field of priceFields) {
    if (columns[field] !== undefined || (field === 'rate' && suggest)) continue
    const fits = named(field)
    if (fits.length > 1) {
      throw new CommandFailed(
        2,
        `Several columns may be the ${field}: ${listed(fits.map((at) => header[at] ?? ''))}. Say which with --column ${field}=NAME.`,
      )
    }
    if (fits[0] !== undefined) columns[field] = fits[0]
  }
  const missing = (what: string, field: PriceField, more = '') =>
    new CommandFailed(
      2,
      `No column is known as the ${what} (the file has ${listed(header)}). Say which with --column ${field}=NAME${more}.`,
    )
  for (const end of ['origin', 'destination'] as const) {
    // "Origin" beside "Origin State" is a city.
    if (columns[end] !== undefined && columns[`${end}_state`] !== undefined) {
      columns[`${end}_city`] ??= columns[end]
      delete columns[end]
    }
    const parts = [end, `${end}_city`, `${end}_zip`] as const
    if (parts.every((field) => columns[field] === undefined)) throw missing(end, end)
  }
  if (columns.rate === undefined && !suggest) {
    throw missing('rate', 'rate', ', or price every lane at the suggested rate with --suggest')
  }
  return columns
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

/**
 * The names of columns are those of the import. A file of lanes to price has one rate: what was quoted, or what the
 * customer pays, or a plain "Rate", which an import may read in three ways.
 */
function names(field: PriceField, header: string): boolean {
  const folded = foldedHeader(header)
  const known = fieldOfHeader.get(folded)
  if (field !== 'rate') return known === field
  return (
    folded === 'proposedrate' ||
    known === 'quoted_rate' ||
    known === 'customer_rate' ||
    (known === undefined &&
      ambiguousHeaders.get(folded)?.includes('quoted_rate') === true &&
      folded !== 'quoted')
  )
}

function saidColumn(pair: string, header: readonly string[]): [PriceField, number] {
  const [name = '', column = ''] = pair.split(/=(.*)/s)
  const field = priceFields.find((one) => one === name.trim())
  if (field === undefined)
    throw new CommandFailed(
      2,
      `--column takes FIELD=COLUMN, FIELD one of ${priceFields.join(', ')}; it is "${pair}".`,
    )
  const number = /^#([1-9]\d{0,3})$/.exec(column)?.[1]
  const at = number === undefined ? header.indexOf(column) : Number(number) - 1
  if (header[at] === undefined) throw new CommandFailed(2, `The file has no column "${column}".`)
  return [field, at]
}

function amountWrong(text: string): string {
  return `The rate must be an amount of dollars with at most two decimals, such as 1850.50; it is "${text}".`
}

/** The lane of a row, or what is wrong with it; null for an empty line, which stays one. */
export function laneOfRow(
  row: readonly string[],
  { columns, header }: PriceFile,
): LaneToPrice | { readonly wrong: string } | null {
  if (row.every((cell) => cell.trim() === '')) return null
  if (row.length > header.length)
    return { wrong: `The row has ${row.length} cells, the header ${header.length}.` }
  const cell = (field: PriceField) => (row[columns[field] ?? -1] ?? '').trim()
  const placeAt = (end: 'origin' | 'destination') => {
    if (columns[end] !== undefined) return cell(end)
    const named = [cell(`${end}_city`), cell(`${end}_state`)].filter((part) => part !== '').join(', ')
    return `${named} ${cell(`${end}_zip`)}`.trim()
  }
  const [origin, destination, equipment] = [placeAt('origin'), placeAt('destination'), cell('equipment')]
  if (origin === '') return { wrong: 'The origin is missing.' }
  if (destination === '') return { wrong: 'The destination is missing.' }
  if (columns.rate === undefined) return { origin, destination, equipment: equipment || null, rate: null }
  const text = cell('rate')
  if (text === '') return { wrong: 'The rate is missing.' }
  try {
    // 1.850 is a thousand and some in half of the world.
    if (/\.\d{3,}$/.test(text)) return { wrong: amountWrong(text) }
    const rate = Number(decimal(text, 'The rate'))
    return { origin, destination, equipment: equipment || null, rate }
  } catch (error) {
    if (error instanceof CommandFailed) return { wrong: error.message }
    throw error
  }
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
]
const insightColumns = ['lanewise_scope', 'lanewise_win_rate_pct', 'lanewise_avg_rate', 'lanewise_summary']

export function addedColumns(withInsight: boolean): readonly string[] {
  return [...markupColumns, ...(withInsight ? insightColumns : []), 'lanewise_error']
}

/** The cells that a row gets behind its own. */
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
    const nothing = ['Nothing was quoted on this lane yet.', ...unknownPlacesText(markup)].join(' ')
    return [query.proposed_rate, null, confidence, null, null, null, null, null, nothing]
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
    verdict,
  ]
}

function insightCells(insight: Advice['insight']): Cell[] {
  if (insight === null || insight === undefined || !insight.found) {
    const nothing = 'Nothing is known of this lane, nor of wider scopes.'
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
 * Rows of the answer, each the cells of the file's own row and those added. A cell that a spreadsheet would run as a
 * formula begins with an apostrophe, whosever it is.
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
