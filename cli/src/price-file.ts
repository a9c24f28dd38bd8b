import Papa from 'papaparse'
import { formula } from '#server/csv-lines.ts'
import { ambiguousHeaders, fieldOfHeader, foldedHeader } from '#server/imports/import-fields.ts'
import { decimal } from './command.ts'
import { CommandFailed } from './exits.ts'
import type { LaneToPrice, PricedLane } from './price-lanes.ts'

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

const priceFields = ['origin', 'destination', 'equipment', 'rate'] as const
type PriceField = (typeof priceFields)[number]
export interface PriceColumns {
  readonly origin: number
  readonly destination: number
  readonly equipment: number | null
  /** Null where the file has none: the suggested rates are priced. */
  readonly rate: number | null
}

const mark = '\uFEFF'

/**
 * Reads a CSV file of lanes, whatever sign parts its cells. Columns are known by the names that the import knows, or said
 * in `map` as `field=column name` or `field=#3`.
 *
 * @throws CommandFailed when it is not such a file
 */
export function readPriceFile(bytes: Buffer, map: readonly string[]): PriceFile {
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
    columns: columnsOf(header, map),
    width: rows.reduce((most, row) => Math.max(most, row.length), header.length),
    delimiter: meta.delimiter,
    newline: meta.linebreak,
    hasMark,
  }
}

function columnsOf(header: readonly string[], map: readonly string[]): PriceColumns {
  const said = new Map(map.map((pair) => saidColumn(pair, header)))
  const find = (field: PriceField): number | null => {
    const position = said.get(field)
    if (position !== undefined) return position
    const fits = header.flatMap((name, at) => (names(field, name) ? [at] : []))
    if (fits.length > 1) {
      throw new CommandFailed(
        2,
        `Several columns may be the ${field}: say which with --column ${field}=NAME.`,
      )
    }
    return fits[0] ?? null
  }
  const needed = (field: PriceField): number => {
    const position = find(field)
    if (position !== null) return position
    throw new CommandFailed(
      2,
      `No column is known as the ${field} (the file has ${header.map((name) => `"${name}"`).join(', ')}). Say which with --column ${field}=NAME.`,
    )
  }
  return {
    origin: needed('origin'),
    destination: needed('destination'),
    equipment: find('equipment'),
    rate: find('rate'),
  }
}

/** A rate alone may be three things to an import; a file of lanes to price has only one. */
function names(field: PriceField, header: string): boolean {
  const folded = foldedHeader(header)
  if (field !== 'rate') return fieldOfHeader.get(folded) === field
  return (
    folded === 'proposedrate' ||
    fieldOfHeader.get(folded) === 'quoted_rate' ||
    (ambiguousHeaders.get(folded)?.includes('quoted_rate') === true && folded.includes('rate'))
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

/** The lane of a row, or what is wrong with it; null for an empty line, which stays one. */
export function laneOfRow(
  row: readonly string[],
  { columns, header }: PriceFile,
): LaneToPrice | { readonly wrong: string } | null {
  if (row.every((cell) => cell.trim() === '')) return null
  if (row.length > header.length)
    return { wrong: `The row has ${row.length} cells, the header ${header.length}.` }
  const cell = (at: number | null) => (at === null ? '' : (row[at] ?? '').trim())
  const [origin, destination, equipment, rate] = [
    columns.origin,
    columns.destination,
    columns.equipment,
    columns.rate,
  ].map(cell)
  if (origin === '' || origin === undefined) return { wrong: 'The origin is missing.' }
  if (destination === '' || destination === undefined) return { wrong: 'The destination is missing.' }
  try {
    const known = rate === '' || rate === undefined ? null : Number(decimal(rate, 'The rate'))
    return { origin, destination, equipment: equipment || null, rate: known }
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
    const nothing = 'Nothing was quoted on this lane yet.'
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
  if (insight === null || insight === undefined || !insight.found)
    return [null, null, null, 'Nothing is known of this lane, nor of wider scopes.']
  const { scope, history, summary } = insight
  return [scope, history.win_rate_pct, history.avg_rate_usd, summary]
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
