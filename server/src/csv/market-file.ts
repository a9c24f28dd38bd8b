import Papa from 'papaparse'
import { csvForm } from '#contract/csv-form.ts'
import type { marketFileFields } from '#contract/market-rates.ts'
import { cellText, readMoment, readMoney } from './cells.ts'
import { foldedHeader } from './import-fields.ts'

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
  low: [
    'Low',
    'Low Rate',
    'Week Low',
    'Weekly Low',
    'Spot Low Linehaul Rate',
    'Low Linehaul Rate',
    'Low Trip',
    'Low USD',
    'Rate Low',
  ],
  mid: [
    'Mid',
    'Midpoint',
    'Weekly Average',
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
    'Week High',
    'Weekly High',
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
  as_of: [
    'As Of',
    'Date',
    'Rate Date',
    'Report Date',
    'Published',
    'Week Ending',
    'Week Ending Date',
    'Week',
  ],
  valid_until: ['Valid Until', 'Expires', 'Expiration Date', 'Valid To'],
}

const fieldOfName: ReadonlyMap<string, MarketFileField> = new Map(
  (Object.keys(names) as MarketFileField[]).flatMap((field) =>
    [field, ...names[field]].map((name): [string, MarketFileField] => [foldedHeader(name), field]),
  ),
)

/** What rows have that do not say it themselves. */
export interface MarketFileDefaults {
  readonly equipment?: string
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
  /** Whether no column has the rate, so that it is the middle of the low and the high of its row. */
  readonly midIsMiddle: boolean
  readonly rows: readonly MarketFileRow[]
}

/**
 * Reads a file of market rates: a header line, then one rate per line. The basis of an amount named linehaul is linehaul. Without
 * a column of the rate, it is the middle of low and high.
 *
 * @returns why the file is refused if its header does not name the necessary columns
 */
export function readMarketFile(text: string, defaults: MarketFileDefaults): MarketFile | { wrong: string } {
  const body = text.replace(/^\uFEFF/, '')
  const { delimiter, skipped } = csvForm(body.slice(0, 10_000))
  const { data } = Papa.parse<string[]>(body.slice(skipped), { delimiter, skipEmptyLines: false })
  const at = data.findIndex((cells) => cells.some((cell) => cell.trim() !== ''))
  const header = data[at] ?? []
  const columns = columnsOf(header)
  const missing = missingColumns(columns, defaults)
  if (missing.length > 0) {
    return {
      wrong: `The header must name columns for ${missing.join(', ')}; it is ${JSON.stringify(header.slice(0, 30))}.`,
    }
  }
  const rows = data
    .map((cells, index) => ({ cells, line: index + 1 + (skipped > 0 ? 1 : 0) }))
    .slice(at + 1)
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  const basis = basisNamed(columns)
  const hasBasis = columns.some(({ field }) => field === 'basis')
  if (basis !== null && !hasBasis && defaults.basis !== undefined && defaults.basis !== basis.basis) {
    return {
      wrong: `basis must be ${basis.basis}, because the column ${JSON.stringify(basis.name)} says so; it is ${defaults.basis}.`,
    }
  }
  const assumed = { ...defaults, ...(basis === null ? {} : { basis: basis.basis }) }
  const midIsMiddle = !columns.some(({ field }) => field === 'mid')
  return {
    columns,
    midIsMiddle,
    rows: rows.map(({ cells, line }) => {
      const row = rowOf(cells, line, columns, assumed)
      return midIsMiddle ? { ...row, item: withMiddle(row.item) } : row
    }),
  }
}

/** @example withMiddle({ low: 6000, high: 6200 }).mid // 6100 */
function withMiddle(item: MarketFileRow['item']): MarketFileRow['item'] {
  const { low, high } = item
  return typeof low === 'number' && typeof high === 'number'
    ? { ...item, mid: Math.round((low + high) * 50) / 100 }
    : item
}

/** A name that is often the number of the week: read as the date only if no other column is the date. */
const weekName = foldedHeader('Week')

/** The first column of each field; later ones with the same meaning are not read. */
function columnsOf(header: readonly string[]): MarketFile['columns'] {
  const names = header.map(foldedHeader)
  const hasDate = names.some((name) => name !== weekName && fieldOfName.get(name) === 'as_of')
  const used = new Set<MarketFileField>()
  return header.map((cell, at) => {
    const name = names[at] ?? ''
    const field = hasDate && name === weekName ? null : (fieldOfName.get(name) ?? null)
    if (field === null || used.has(field)) return { name: cell.trim(), field: null }
    used.add(field)
    return { name: cell.trim(), field }
  })
}

const needed: readonly MarketFileField[] = ['origin', 'destination', 'mid']
const assumable = ['equipment', 'source', 'basis', 'as_of'] as const

function missingColumns(columns: MarketFile['columns'], defaults: MarketFileDefaults): string[] {
  const has = (field: MarketFileField) => columns.some((column) => column.field === field)
  return [
    ...needed
      .filter((field) => !has(field) && !(field === 'mid' && has('low') && has('high')))
      .map((field) => (field === 'mid' ? 'the rate (or low and high)' : field)),
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

/** The basis that the name of the rate's column (without it, of the low) states; null if it states none. */
function basisNamed(columns: MarketFile['columns']): { name: string; basis: 'linehaul' | 'all_in' } | null {
  const of = (wanted: MarketFileField) => columns.find(({ field }) => field === wanted)?.name
  const name = of('mid') ?? of('low') ?? ''
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
