import Papa from 'papaparse'
import { blankLane, type DeskLane, hasState, type LaneField } from './desk-draft.ts'
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
  readonly rows: readonly PastedRow[]
}

/** Columns as people name them, in small letters without punctuation; without a header they stand in this order. */
const columnNames: Readonly<Record<LaneField, readonly string[]>> = {
  origin: ['origin', 'from', 'pickup', 'pickup city', 'origin city', 'shipper'],
  destination: ['destination', 'dest', 'to', 'delivery', 'delivery city', 'destination city', 'consignee'],
  equipment: ['equipment', 'equip', 'type', 'trailer', 'equipment type'],
  rate: ['rate', 'quoted rate', 'quote', 'price', 'sell', 'sell rate', 'customer rate', 'ar'],
  cost: ['cost', 'estimated cost', 'est cost', 'buy', 'buy rate', 'truck cost', 'ap'],
  market: ['market rate', 'market'],
  pickup: ['pickup date', 'date', 'pickup day', 'ship date'],
}
const fieldsInOrder = Object.keys(columnNames) as LaneField[]

function fieldNamed(cell: string): LaneField | null {
  const name = cell
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim()
  return fieldsInOrder.find((field) => columnNames[field].includes(name)) ?? null
}

/** Cells divided by commas may have divided a city from its state: "Dallas" and "TX" are one place. */
function placesJoined(cells: readonly string[]): string[] {
  const joined: string[] = []
  for (const cell of cells) {
    const before = joined.at(-1)
    const isState = /^\p{L}{2}$/u.test(cell) && cell === cell.toUpperCase()
    if (isState && joined.length <= 2 && before !== undefined && before !== '' && !before.includes(',')) {
      joined[joined.length - 1] = `${before}, ${cell}`
    } else {
      joined.push(cell)
    }
  }
  return joined
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
    const cell = cells[index] ?? ''
    if (field !== null && cell !== '') typed[field] ??= cell
  }
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
 * Reads rows as a spreadsheet or a mail gives them: divided by tabs or commas, with a line of column names or without
 * one, in which case the columns are origin, destination, equipment, rate, cost, market rate, pickup date.
 *
 * @example readPasted('Dallas, TX\tAtlanta, GA\tV\t2150').rows[0]?.lane.rate // '2150'
 */
export function readPasted(text: string): Pasted {
  const byTabs = text.includes('\t')
  const { data } = Papa.parse<string[]>(text.trim(), { delimiter: byTabs ? '\t' : ',' })
  const lines = data
    .map((cells) => cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()))
    .map((cells, index) => ({ cells: byTabs ? cells : placesJoined(cells), line: index + 1 }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  const named = lines[0]?.cells.map(fieldNamed) ?? []
  const hasHeader = named.includes('origin') && named.includes('destination')
  const rows = hasHeader ? lines.slice(1) : lines
  return {
    header: hasHeader ? (lines[0]?.cells.join('\t') ?? null) : null,
    rows: rows.map(({ cells, line }) => rowOf(cells, hasHeader ? named : fieldsInOrder, line)),
  }
}
