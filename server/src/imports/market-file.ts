import Papa from 'papaparse'
import { csvForm } from '#contract/csv-form.ts'
import { marketFileRowsMax } from '#contract/limits.ts'
import type { marketFileFields } from '#contract/market-rates.ts'
import { cellText, foldedHeader, readMoment, readMoney } from '../csv/index.ts'
import { ImportFileError } from './csv-file.ts'

export type MarketFileField = (typeof marketFileFields)[number]

/** The column names of each field, in the words of rate exports. Amounts per mile are not among them. */
const names: Readonly<Record<MarketFileField, readonly string[]>> = {
  scope: ['Scope', 'Area Type', 'Geography'],
  origin: [
    'Origin',
    'Origin City',
    'Orig City',
    'Origin Market',
    'Orig Market',
    'Origin Name',
    'Origin Zip3',
    'From',
  ],
  origin_state: ['Origin State', 'Orig State', 'Origin St'],
  destination: [
    'Destination',
    'Destination City',
    'Dest City',
    'Destination Market',
    'Dest Market',
    'Destination Name',
    'Destination Zip3',
    'To',
  ],
  destination_state: ['Destination State', 'Dest State', 'Destination St'],
  equipment: ['Equipment', 'Equipment Type', 'Truck Type', 'Trailer', 'Trailer Type', 'Equip'],
  basis: ['Basis', 'Rate Basis'],
  kind: ['Kind', 'Rate Kind', 'Side', 'Buy Sell'],
  fuel: [
    'Fuel',
    'Fuel Surcharge',
    'Fuel Surcharge Per Trip',
    'Avg Fuel Surcharge',
    'Spot Fuel Surcharge',
    'FSC',
  ],
  currency: ['Currency', 'Currency Code'],
  low: ['Low', 'Low Rate', 'Spot Low Linehaul Rate', 'Low Linehaul Rate', 'Low Trip', 'Low USD', 'Rate Low'],
  mid: [
    'Mid',
    'Rate',
    'Avg',
    'Average',
    'Avg Rate',
    'Average Rate',
    'Market Rate',
    'Spot Avg Linehaul Rate',
    'Avg Linehaul Rate',
    'Average Linehaul Rate',
    'Linehaul Rate',
    'Rate USD',
    'Target Rate',
    'Target Buy Rate',
    'All In Rate',
  ],
  high: [
    'High',
    'High Rate',
    'Spot High Linehaul Rate',
    'High Linehaul Rate',
    'High Trip',
    'High USD',
    'Rate High',
  ],
  sample: [
    'Sample',
    'Sample Size',
    'Reports',
    'Number Of Reports',
    '# Of Reports',
    'Spot # Of Reports',
    'Loads',
    'Count',
  ],
  source: ['Source', 'Provider'],
  as_of: ['As Of', 'Date', 'Rate Date', 'Report Date', 'Published', 'Week Ending', 'Week'],
  valid_until: ['Valid Until', 'Expires', 'Expiration Date', 'Valid To'],
}

const fieldOfName: ReadonlyMap<string, MarketFileField> = new Map(
  (Object.keys(names) as MarketFileField[]).flatMap((field) =>
    [field, ...names[field]].map((name): [string, MarketFileField] => [foldedHeader(name), field]),
  ),
)

/** What rows have that do not say it themselves. */
export interface MarketFileDefaults {
  readonly source?: string
  readonly basis?: string
  readonly kind?: string
  readonly as_of?: string
}

/** A row in the form of a pushed rate, not validated yet, with the errors of cells that are not values. */
export interface MarketFileRow {
  readonly line: number
  readonly item: Readonly<Record<string, unknown>>
  readonly errors: readonly { readonly field: string; readonly detail: string }[]
}

export interface MarketFile {
  readonly columns: readonly { readonly name: string; readonly field: MarketFileField | null }[]
  readonly rows: readonly MarketFileRow[]
}

/**
 * Reads a file of market rates: a header line, then one rate per line. The basis of an amount named linehaul is linehaul.
 *
 * @throws ImportFileError if the file has no header with the necessary columns, or too many rows
 */
export function readMarketFile(text: string, defaults: MarketFileDefaults): MarketFile {
  const body = text.replace(/^\uFEFF/, '')
  const { delimiter, skipped } = csvForm(body.slice(0, 10_000))
  const { data } = Papa.parse<string[]>(body.slice(skipped), { delimiter, skipEmptyLines: false })
  const at = data.findIndex((cells) => cells.some((cell) => cell.trim() !== ''))
  const header = data[at] ?? []
  const columns = columnsOf(header)
  const missing = missingColumns(columns, defaults)
  if (missing.length > 0) {
    throw refused(
      `The header must name columns for ${missing.join(', ')}; it is ${JSON.stringify(header.slice(0, 30))}.`,
    )
  }
  const rows = data
    .map((cells, index) => ({ cells, line: index + 1 + (skipped > 0 ? 1 : 0) }))
    .slice(at + 1)
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  if (rows.length > marketFileRowsMax) {
    throw refused(
      `The file must have at most ${marketFileRowsMax.toLocaleString('en-US')} rows; it has ${rows.length.toLocaleString('en-US')}. Split it.`,
    )
  }
  const basis = basisNamed(columns)
  const hasBasis = columns.some(({ field }) => field === 'basis')
  if (basis !== null && !hasBasis && defaults.basis !== undefined && defaults.basis !== basis.basis) {
    throw refused(
      `basis must be ${basis.basis}, because the column ${JSON.stringify(basis.name)} says so; it is ${defaults.basis}.`,
    )
  }
  const assumed = { ...defaults, ...(basis === null ? {} : { basis: basis.basis }) }
  return { columns, rows: rows.map(({ cells, line }) => rowOf(cells, line, columns, assumed)) }
}

function refused(detail: string): ImportFileError {
  return new ImportFileError([{ code: 'header', row: null, column: null, detail }])
}

/** The first column of each field; later ones with the same meaning are not read. */
function columnsOf(header: readonly string[]): MarketFile['columns'] {
  const used = new Set<MarketFileField>()
  return header.map((cell) => {
    const field = fieldOfName.get(foldedHeader(cell)) ?? null
    if (field === null || used.has(field)) return { name: cell.trim(), field: null }
    used.add(field)
    return { name: cell.trim(), field }
  })
}

const needed: readonly MarketFileField[] = ['origin', 'destination', 'equipment', 'mid']
const assumable = ['source', 'basis', 'as_of'] as const

function missingColumns(columns: MarketFile['columns'], defaults: MarketFileDefaults): string[] {
  const has = (field: MarketFileField) => columns.some((column) => column.field === field)
  return [
    ...needed.filter((field) => !has(field)).map((field) => (field === 'mid' ? 'the rate' : field)),
    ...assumable
      .filter(
        (field) =>
          !has(field) &&
          defaults[field] === undefined &&
          !(field === 'basis' && basisNamed(columns) !== null),
      )
      .map((field) => `${field} (or choose one for the whole file)`),
  ]
}

/** The basis that the name of the rate's column states; null if it states none. */
function basisNamed(columns: MarketFile['columns']): { name: string; basis: 'linehaul' | 'all_in' } | null {
  const name = columns.find(({ field }) => field === 'mid')?.name ?? ''
  if (/line\s*haul/i.test(name)) return { name, basis: 'linehaul' }
  return /all[\s-]*in/i.test(name) ? { name, basis: 'all_in' } : null
}

const amounts: ReadonlySet<MarketFileField> = new Set(['low', 'mid', 'high', 'fuel'])
const times: ReadonlySet<MarketFileField> = new Set(['as_of', 'valid_until'])

function rowOf(
  cells: readonly string[],
  line: number,
  columns: MarketFile['columns'],
  assumed: MarketFileDefaults,
): MarketFileRow {
  const item: Record<string, unknown> = {}
  const errors: { field: string; detail: string }[] = []
  for (const [at, { field, name }] of columns.entries()) {
    const text = field === null ? null : cellText(cells[at])
    if (field === null || text === null) continue
    if (amounts.has(field)) {
      const read = readMoney(text)
      if ('value' in read) item[field] = read.value / 100
      else errors.push({ field, detail: `${name} must be ${read.wrong}; it is ${JSON.stringify(text)}.` })
    } else if (times.has(field)) {
      const read = readMoment(text)
      if ('value' in read) item[field] = new Date(read.value).toISOString()
      else errors.push({ field, detail: `${name} must be ${read.wrong}; it is ${JSON.stringify(text)}.` })
    } else if (field === 'sample') item[field] = Number(text.replaceAll(',', ''))
    else if (field === 'basis') item[field] = basisOf(text)
    else if (field === 'kind') item[field] = kindOf(text)
    else if (field === 'currency') item[field] = text.toUpperCase()
    else item[field] = text
  }
  const { origin_state: from, destination_state: to, ...rest } = item
  const withState = (city: unknown, state: unknown) => (state === undefined ? city : `${city}, ${state}`)
  return {
    line,
    errors,
    item: {
      ...assumed,
      ...rest,
      origin: withState(rest.origin, from),
      destination: withState(rest.destination, to),
    },
  }
}

/** @example kindOf('Shipper') // 'sell' */
function kindOf(text: string): string {
  const word = text.toLowerCase().replaceAll(/[^a-z]/g, '')
  if (/^(buy|carrier|brokertocarrier|cost|spotbuy)$/.test(word)) return 'buy'
  return /^(sell|shipper|shippertobroker|shippertocarrier|customer)$/.test(word) ? 'sell' : text
}

/** @example basisOf('All-in') // 'all_in' */
function basisOf(text: string): string {
  const word = text.toLowerCase().replaceAll(/[^a-z]/g, '')
  return word === 'allin' ? 'all_in' : word === 'linehaul' ? 'linehaul' : text
}
