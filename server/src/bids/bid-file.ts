import { setImmediate as othersTurn } from 'node:timers/promises'
import type { BidField, VolumePeriod } from '#contract/bid-fields.ts'
import { bidFileBytesMax, bidLanesMax } from '#contract/limits.ts'
import { locate } from '#geography/locate.ts'
import { placeName, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import {
  type Cell,
  cellText,
  quoted,
  readCell,
  readCost,
  readEquipment,
  readMiles,
  readText,
} from '../csv/index.ts'
import type { bids } from '../database/queries/index.ts'
import type { BidColumns } from '../database/schema/index.ts'
import {
  type FileBytes,
  type FilledColumn,
  filledText,
  filledWorkbook,
  ImportFileError,
  openTable,
  type TableFile,
  type TableRow,
  tablePieces,
  unpacked,
} from '../tables/index.ts'
import { type BidColumnMatch, knownBidNames } from './bid-columns.ts'

const refused = (detail: string) => new ImportFileError([{ code: 'file', row: null, column: null, detail }])

/**
 * Opens the file of a bid.
 *
 * @param sheet the sheet of a workbook; without it, the first one with a header
 * @param knownNames the number of known column names in a line, by which the header is found
 * @throws ImportFileError
 */
export async function openBidFile(
  sent: FileBytes,
  sheet: string | undefined,
  knownNames = knownBidNames,
): Promise<{ readonly bytes: Buffer; readonly table: TableFile }> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of unpacked(sent)) {
    length += piece.length
    if (length > bidFileBytesMax) {
      throw refused(
        `The file of a bid must have at most ${bidFileBytesMax / 1024 / 1024} MiB when unpacked; split it.`,
      )
    }
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  return { bytes, table: await openTable([bytes], { knownNames, sheet }) }
}

/** Loads over the contract for each one of a period. */
export function timesOf(per: VolumePeriod | null, months: number): number {
  switch (per) {
    case 'year':
      return months / 12
    case 'month':
      return months
    case 'week':
      return (52 * months) / 12
    case 'contract':
    case null:
      return 1
  }
}

/** Most loads of a lane: its amounts stay whole cents. */
const loadsMax = 1_000_000

/** Reads a volume. @example readVolume('1,040 loads') // { value: 1040 } */
export function readVolume(text: string): Cell<number> {
  const number = /^(\d+|\d{1,3}(?:,\d{3})+)?(\.\d*)?(?: ?(?:loads?|shipments?|trucks?|ftl))?$/i.exec(text)
  const value =
    number === null
      ? Number.NaN
      : Number(`${number[1] ?? ''}${number[2] ?? ''}`.replaceAll(',', '') || Number.NaN)
  return value >= 0 && value <= loadsMax ? { value } : { wrong: 'a number of loads such as 52' }
}

/** Reads a rank. @example readRank('3rd of 9') // { value: 3 } */
function readRank(text: string): Cell<number> {
  const value = Number(/^#?(\d{1,4})(?:st|nd|rd|th)?(?: ?(?:of|\/) ?\d{1,4})?$/i.exec(text)?.[1] ?? 0)
  return value >= 1 ? { value } : { wrong: 'a rank such as 3' }
}

const anyEquipment: ReadonlySet<string> = new Set([
  'any',
  'all',
  'either',
  'open',
  'no preference',
  'any equipment',
  'all equipment',
  'n/a',
  'na',
])
/** Whether a text names any equipment. @example isAnyEquipment('No preference') // true */
export const isAnyEquipment = (text: string) => anyEquipment.has(text.toLowerCase().replace('.', ''))

/**
 * Reads the place that a shipper's text names. Null for a text that is no known place: it is never replaced by another one.
 *
 * @example readSentPlace({ city: null, state: null, zip: '75201' }) // 'Dallas, TX'
 */
export function readSentPlace(
  sent: string | { readonly city: string | null; readonly state: string | null; readonly zip: string | null },
): string | null {
  const read = typeof sent === 'string' ? readAnyPlace(sent) : readPlaceParts(sent)
  const located = 'value' in read ? locate(read.value) : null
  return 'value' in read && located !== null ? placeName(read.value, located) : null
}

/** Some milliseconds. */
const lanesPerTurn = 100

/** A lane as the file has it. */
export type ReadLane = Omit<bids.NewBidLane, 'rate_cents' | 'previous_lane' | 'previous_rate_cents'>

/** The lanes of a bid's file, and how many lines have neither an origin nor a destination. */
export interface ReadLanes {
  readonly lanes: readonly ReadLane[]
  readonly skipped: number
}

/**
 * Reads the lanes of a file. A cell that cannot be read leaves its lane without the value, with the reason. Other requests run between
 * pieces of the file.
 *
 * @throws ImportFileError if it has no lane, or too many
 */
export async function readBidLanes(
  table: TableFile,
  { positions, volumePer }: BidColumnMatch,
  months: number,
): Promise<ReadLanes> {
  const lanes: ReadLane[] = []
  const first = new Map<string, number>()
  let skipped = 0
  const places = new Map<string, string | null>()
  const placed = (key: string, read: () => string | null): string | null => {
    const known = places.get(key)
    if (known !== undefined) return known
    const place = read()
    places.set(key, place)
    return place
  }
  for await (const { rows } of tablePieces(table)) {
    for (const row of rows) {
      const lane = laneOf(row, { positions, header: table.header, times: timesOf(volumePer, months), placed })
      if (lane === null) {
        skipped++
        continue
      }
      if (lanes.length === bidLanesMax) {
        throw refused(
          `A bid must have at most ${bidLanesMax.toLocaleString('en-US')} lanes; the file has more. Split it into several bids.`,
        )
      }
      const number = lanes.length + 1
      const same = `${lane.origin ?? lane.origin_sent}|${lane.destination ?? lane.destination_sent}|${lane.equipment_code}`
      lanes.push({ ...lane, lane_number: number, duplicate_of: first.get(same) ?? null })
      if (!first.has(same)) first.set(same, number)
      if (number % lanesPerTurn === 0) await othersTurn()
    }
    await othersTurn()
  }
  if (lanes.length === 0)
    throw refused('The file must have a row for each lane; it has none below its header.')
  return { lanes, skipped }
}

/**
 * The cells of a line, by field. A cell that cannot be read has no value.
 *
 * @param problem is told why, as a sentence
 */
export function cellsOf<Field extends string>(
  cells: readonly string[],
  header: readonly string[],
  positions: Readonly<Partial<Record<Field | BidField, number>>>,
  problem: (text: string) => void,
) {
  const text = (field: Field | BidField) => {
    const at = positions[field]
    return at === undefined ? null : cellText(cells[at])
  }
  return {
    text,
    read<Value>(field: Field | BidField, reader: (text: string) => Cell<Value>): Value | null {
      const said = text(field)
      if (said === null) return null
      const cell = readCell(said, reader)
      if ('value' in cell) return cell.value
      const name = header[positions[field] ?? -1]?.trim() || field
      problem(`${name} must be ${cell.wrong}; it is ${quoted(said)}.`)
      return null
    },
    /** The parts of a place that has no column of its own. */
    placeParts: (end: 'origin' | 'destination') => ({
      city: text(`${end}_city`),
      state: text(`${end}_state`),
      zip: text(`${end}_zip`),
    }),
  }
}

interface Reading {
  readonly positions: BidColumnMatch['positions']
  readonly header: readonly string[]
  readonly times: number
  readonly placed: (key: string, read: () => string | null) => string | null
}

function laneOf(
  { line, cells, malformed }: TableRow,
  { positions, header, times, placed }: Reading,
): Omit<ReadLane, 'lane_number' | 'duplicate_of'> | null {
  if (malformed) return null
  const problems: string[] = []
  const { text, read, placeParts } = cellsOf(cells, header, positions, (problem) => problems.push(problem))
  const end = (which: 'origin' | 'destination') => {
    const whole = text(which)
    const parts = placeParts(which)
    const sent =
      whole ??
      Object.values(parts)
        .filter((part) => part !== null)
        .join(', ')
    const key = whole === null ? JSON.stringify(parts) : whole
    return {
      sent: [...sent.replace(/[\p{C}\s]+/gu, ' ')].slice(0, 200).join(''),
      place: sent === '' ? null : placed(key, () => readSentPlace(whole ?? parts)),
    }
  }
  const [origin, destination] = [end('origin'), end('destination')]
  if (origin.sent === '' && destination.sent === '') return null
  for (const [which, { sent }] of [
    ['origin', origin],
    ['destination', destination],
  ] as const) {
    if (sent === '') problems.push(`The lane has no ${which}.`)
  }
  const equipment = text('equipment')
  const volume = read('volume', readVolume)
  return {
    row_number: line,
    lane_key: read('lane_id', readText),
    origin_sent: origin.sent,
    destination_sent: destination.sent,
    origin: origin.place,
    destination: destination.place,
    equipment_code: equipment === null || isAnyEquipment(equipment) ? null : read('equipment', readEquipment),
    loads: volume === null ? null : Math.min(loadsMax, Math.round(volume * times)),
    target_cents: read('target', readCost),
    rank: read('rank', readRank),
    miles: read('miles', readMiles),
    problems,
  }
}

/**
 * The shipper's file with the rates of lanes in a column, and nothing else changed.
 *
 * @throws ImportFileError
 */
export async function filledBid(
  bytes: Buffer,
  sheet: string | null,
  filled: FilledColumn,
): Promise<Uint8Array> {
  if (sheet === null)
    return filledText(bytes, await openTable([bytes], { knownNames: knownBidNames }), filled)
  // The thread takes the bytes, so that they are copied.
  return filledWorkbook(new Uint8Array(bytes), sheet, filled)
}

/** The columns of a bid as they are stored. */
export function storedBidColumns({ positions, volumePer }: BidColumnMatch): BidColumns {
  return { positions: { ...positions } as Record<string, number>, volumePer }
}
