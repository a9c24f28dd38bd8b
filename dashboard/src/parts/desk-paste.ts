import Papa from 'papaparse'
import { blankLane, type DeskLane, hasState, type LaneField } from './desk-draft.ts'
import { equipmentRead, placeRead } from './desk-typed.ts'
import { readDollars } from './formats.ts'

/** One pasted row: the lane it makes, or what is wrong with it. `line` is where it stands, from 1. */
export interface PastedRow {
  readonly line: number
  readonly text: string
  readonly lane: Omit<DeskLane, 'id'>
  readonly errors: readonly string[]
}

export interface Pasted {
  /** The line of column names, when there is one. */
  readonly header: string | null
  /** Named columns that are none of the desk's: nothing of them is taken over. */
  readonly unread: readonly string[]
  readonly rows: readonly PastedRow[]
}

/** Columns as people name them, in small letters without punctuation; without a header they stand in this order. */
const columnNames: Readonly<Record<LaneField, readonly string[]>> = {
  origin: [
    'origin',
    'orig',
    'o',
    'from',
    'pickup',
    'pick up',
    'pu',
    'pickup city',
    'pick up city',
    'pickup location',
    'origin city',
    'o city',
    'origin location',
    'shipper',
    'shipper city',
  ],
  destination: [
    'destination',
    'dest',
    'd',
    'to',
    'delivery',
    'drop',
    'drop off',
    'delivery city',
    'drop city',
    'delivery location',
    'destination city',
    'dest city',
    'd city',
    'destination location',
    'consignee',
    'consignee city',
  ],
  equipment: [
    'equipment',
    'equip',
    'eq',
    'eqp',
    'type',
    'mode',
    'trailer',
    'trailer type',
    'truck',
    'truck type',
    'equipment type',
    'equip type',
  ],
  rate: [
    'rate',
    'quoted rate',
    'quote',
    'price',
    'amount',
    'total',
    'all in',
    'all in rate',
    'linehaul',
    'line haul',
    'target rate',
    'sell',
    'sell rate',
    'customer rate',
    'ar',
  ],
  cost: ['cost', 'estimated cost', 'est cost', 'buy', 'buy rate', 'truck cost', 'carrier rate', 'ap'],
  market: ['market rate', 'market'],
  pickup: ['pickup date', 'pick up date', 'pu date', 'p u date', 'date', 'pickup day', 'ship date'],
}
const fieldsInOrder = Object.keys(columnNames) as LaneField[]

function fieldNamed(cell: string): LaneField | null {
  const name = cell
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .replace(/ usd$/, '')
    .trim()
  return fieldsInOrder.find((field) => columnNames[field].includes(name)) ?? null
}

/** What each column of a line of names holds. A column of states belongs to the place before it. */
function fieldsNamed(cells: readonly string[]): (LaneField | null)[] {
  const fields: (LaneField | null)[] = []
  for (const cell of cells) {
    const isState = /(^|[^a-z])(state|st|province|prov)\.?$/i.test(cell)
    const place = fields.findLast((field) => field === 'origin' || field === 'destination')
    fields.push(isState ? (place ?? null) : fieldNamed(cell))
  }
  return fields
}

/**
 * Cells divided by commas may have divided what is one: "Dallas" and "TX" are a place, "$2" and "150" an amount. No truck
 * is quoted below a hundred dollars with a cost in whole hundreds beside it, so the amount is what was meant.
 */
function cellsJoined(cells: readonly string[]): string[] {
  const joined: string[] = []
  for (const cell of cells) {
    const before = joined.at(-1) ?? ''
    const isState = /^\p{L}{2}$/u.test(cell) && joined.length <= 2 && before !== '' && !before.includes(',')
    const isRestOfAmount = /^\d{3}(\.\d{1,2})?$/.test(cell) && /^\$?\s?\d{1,2}$/.test(before)
    if (isState) joined[joined.length - 1] = `${before}, ${cell}`
    else if (isRestOfAmount) joined[joined.length - 1] = `${before},${cell}`
    else joined.push(cell)
  }
  return joined
}

/** An amount as a spreadsheet writes it; a dash, or a word for it, is no amount. @example amountRead('2150 USD') // '2150' */
function amountRead(text: string): string {
  return /^(\$?\s*[-–—]+|n\/?a|tbd)$/i.test(text) ? '' : text.replace(/\s*(usd|dollars)$/i, '')
}

/** @example readDay('3/5/2026') // '2026-03-05' @returns null when it is no day */
function readDay(text: string): string | null {
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(text)
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  const [year, month, day] = american
    ? [Number(american[3]) + (american[3]?.length === 2 ? 2000 : 0), Number(american[1]), Number(american[2])]
    : [Number(iso?.[1]), Number(iso?.[2]), Number(iso?.[3])]
  const time = new Date(Date.UTC(year, month - 1, day))
  if (Number.isNaN(time.getTime()) || time.getUTCMonth() !== month - 1) return null
  return time.toISOString().slice(0, 10)
}

function rowOf(cells: readonly string[], fields: readonly (LaneField | null)[], line: number): PastedRow {
  const typed: Partial<Record<LaneField, string>> = {}
  for (const [index, field] of fields.entries()) {
    if (field === null) continue
    const cell = cells[index] ?? ''
    const before = typed[field]
    const isPlace = field === 'origin' || field === 'destination'
    if (isPlace && before !== undefined && cell !== '' && !hasState(before)) {
      typed[field] = `${before}, ${cell}`
      continue
    }
    const isAmount = field === 'rate' || field === 'cost' || field === 'market'
    const read = isAmount ? amountRead(cell) : cell
    if (read !== '') typed[field] ??= read
  }
  for (const field of ['origin', 'destination'] as const) {
    if (typed[field] !== undefined) typed[field] = placeRead(typed[field])
  }
  if (typed.equipment !== undefined) typed.equipment = equipmentRead(typed.equipment)
  const errors: string[] = []
  for (const field of ['origin', 'destination'] as const) {
    const place = typed[field]
    if (place === undefined) errors.push(`No ${field}`)
    else if (!hasState(place))
      errors.push(`The ${field} "${place}" needs a city and a state, such as Dallas, TX`)
  }
  for (const [field, name] of [
    ['rate', 'rate'],
    ['cost', 'estimated cost'],
    ['market', 'market rate'],
  ] as const) {
    const amount = typed[field]
    if (amount !== undefined && readDollars(amount) === null) {
      errors.push(`The ${name} "${amount}" is not an amount in dollars, such as 2,150`)
    }
  }
  const pickup = typed.pickup === undefined ? '' : readDay(typed.pickup)
  if (pickup === null) errors.push(`The pickup date "${typed.pickup}" is not a day, such as 3/5/2026`)
  const { id: _, ...blank } = blankLane(0)
  return { line, text: cells.join('\t'), lane: { ...blank, ...typed, pickup: pickup ?? '' }, errors }
}

/**
 * Reads rows as a spreadsheet or a mail gives them: divided by tabs, semicolons or commas, with a line of column names or
 * without one, in which case the columns are origin, destination, equipment, rate, cost, market rate, pickup date.
 *
 * @example readPasted('Dallas, TX\tAtlanta, GA\tV\t2150').rows[0]?.lane.rate // '2150'
 */
export function readPasted(text: string): Pasted {
  const delimiter = ['\t', ';'].find((mark) => text.includes(mark)) ?? ','
  const { data } = Papa.parse<string[]>(text.trim(), { delimiter })
  const lines = data
    .map((cells) => cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()))
    .map((cells, index) => ({ cells, line: index + 1 }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  const names = lines[0]?.cells ?? []
  const named = fieldsNamed(names)
  const hasHeader = named.includes('origin') && named.includes('destination')
  const rows = hasHeader ? lines.slice(1) : lines
  // Under as many names as there are cells, every cell is already in its place.
  const isDivided = (cells: readonly string[]) =>
    delimiter === ',' && (!hasHeader || cells.length > names.length)
  return {
    header: hasHeader ? names.join('\t') : null,
    unread: hasHeader ? names.filter((name, index) => name !== '' && named[index] === null) : [],
    rows: rows.map(({ cells, line }) =>
      rowOf(isDivided(cells) ? cellsJoined(cells) : cells, hasHeader ? named : fieldsInOrder, line),
    ),
  }
}
