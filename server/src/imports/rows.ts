import {
  type BookingValue,
  bookingTable,
  isSent,
  ofEachBookingField,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import { equipmentCode, equipmentFault } from '#engine/equipment.ts'
import { greatCircleMiles } from '#engine/miles.ts'
import { foldCity, type Place, readState } from '#engine/place.ts'
import { type PartsRead, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import type { ImportFieldName } from '../csv/index.ts'
import { bookedColumns, columnValue, type NewImportedLane } from '../database/queries/index.ts'
import { lanePlaces } from '../lanes/index.ts'
import {
  type Cell,
  cellText,
  type OutcomeReason,
  type ReadOutcome,
  readCost,
  readDay,
  readMiles,
  readMoment,
  readMoney,
  readOutcome,
  readReason,
  readText,
} from './cells.ts'
import { type Columns, dateFields } from './columns.ts'
import type { KnownCells } from './known-cells.ts'

/** What was wrong with one cell: the column as the file names it, and what would be right. */
export interface CellError {
  readonly column: string
  readonly detail: string
}

/** What a row says of the booking of a lane. An absent member says nothing. Amounts in whole cents. */
export type ReportedBooking = { readonly [F in SentBookingField]?: BookingValue<F> }

/** What a row says of the quote of a lane. An absent member says nothing. Amounts in whole cents. */
export interface ReportedQuote {
  readonly quotedRateCents?: number
  readonly estimatedCostCents?: number
  readonly marketRateCents?: number
  readonly miles?: number
  readonly pickupDate?: string
  readonly quotedAt?: number
}

/** What a row says of a lane that is here already. */
export interface ReportedLane {
  readonly quote: ReportedQuote
  readonly booking: ReportedBooking
  /** Null when the row says nothing of how it ended. */
  readonly outcome: 'won' | 'lost' | null
  readonly reason: OutcomeReason | null
  readonly decidedAt: number | null
}

/** One row of a file, read. */
export type ReadRow =
  | { readonly kind: 'lane'; readonly lane: ImportedLane }
  | { readonly kind: 'booking'; readonly booking: ImportedBooking }
  | { readonly kind: 'refused'; readonly errors: readonly CellError[] }

/** A past quote. `quotedAt` is in epoch milliseconds. */
export interface ImportedLane {
  readonly customerName: string
  /** The file's own id of the row, when it has one: its identity. */
  readonly reference: string | null
  readonly quotedAt: number
  readonly lane: NewImportedLane['lane']
  /** What the row says of a lane that an earlier file brought under the same id. */
  readonly reported: ReportedLane
  /** Everything the row says, in one text: rows that say the same have the same. */
  readonly said: string
}

export interface ImportedBooking {
  readonly laneRef: string
  readonly reported: ReportedLane
  /** As of an `ImportedLane`. */
  readonly said: string
}

export interface RowContext {
  readonly columns: Columns
  /** Epoch milliseconds: nothing was quoted later than now. */
  readonly now: number
  /** What cells of this file were read as before. */
  readonly known: KnownCells
}

/** The customer of a quote whose file names none. */
export const customerNotGiven = 'Customer not given'
const dayMs = 24 * 60 * 60 * 1000

/** No value of a field is longer; the forms of amounts and dates take seconds over a cell of 60,000 spaces. */
const cellLengthMax = 1_000

/** The cells of one row by field, and the errors found while reading them. */
class RowReader {
  readonly #errors: (CellError & { readonly position: number })[] = []
  readonly #cells: readonly string[]
  readonly #columns: Columns
  readonly #known: KnownCells

  constructor(cells: readonly string[], { columns, known }: RowContext) {
    this.#cells = cells
    this.#columns = columns
    this.#known = known
  }

  has(field: ImportFieldName): boolean {
    return this.#columns.positions[field] !== undefined
  }

  text(field: ImportFieldName): string | null {
    const position = this.#columns.positions[field]
    return position === undefined ? null : cellText(this.#cells[position])
  }

  /** Reads a cell; null when it is empty, has no column, or is wrong (which is then among the errors). */
  read<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    const text = this.text(field)
    if (text === null) return null
    const cell: Cell<T> =
      text.length > cellLengthMax ? { wrong: `at most ${cellLengthMax} characters long` } : reader(text)
    if ('value' in cell) return cell.value
    this.wrong(field, `must be ${cell.wrong}; it is ${quoted(text)}`)
    return null
  }

  /** As `read`, for what many rows say alike: each text is read once. */
  readAlike<T>(field: ImportFieldName, reader: (text: string) => Cell<T>): T | null {
    return this.read(field, (text) => this.#known.read(reader, text))
  }

  /** What `reader` makes of a text that is put together from cells. */
  known<C extends Cell<unknown>>(reader: (text: string) => C, text: string): C {
    return this.#known.read(reader, text) as C
  }

  /** A moment that has passed: a day of grace for clocks and time zones. */
  past(field: ImportFieldName, now: number): number | null {
    return this.read(field, (text) => {
      const cell = readMoment(text)
      return 'value' in cell && cell.value > now + dayMs ? { wrong: 'a time that has passed' } : cell
    })
  }

  wrong(field: ImportFieldName, what: string): void {
    const column = this.#columns.names[field] ?? field
    const position = this.#columns.positions[field] ?? this.#columns.width
    this.#errors.push({ column, detail: `${column} ${what}.`, position })
  }

  get isWrong(): boolean {
    return this.#errors.length > 0
  }

  /** What was wrong, in the order of the columns. */
  get errors(): CellError[] {
    return this.#errors
      .toSorted((a, b) => a.position - b.position)
      .map(({ column, detail }) => ({ column, detail }))
  }

  missing(field: ImportFieldName): void {
    this.wrong(field, 'is empty')
  }
}

/** A value as an error repeats it: short, and without anything a terminal or a page would act on. */
function quoted(text: string): string {
  const shown = [...text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')].slice(0, 60).join('')
  return `"${shown}${shown.length < text.length ? '…' : ''}"`
}

/**
 * Reads one row of a file: a past quote, the booking of a lane that is here already, or all that is wrong with it.
 *
 * A row without an outcome is won when it has a booked customer rate or truck cost, else it is pending. Only a won row
 * has a booking: on any other row the customer rate is what was quoted and the truck cost what was expected. A missing
 * quoted rate is the booked one. A truck cost of zero is unknown; a rate of zero is an error.
 *
 * @example readRow(['Dallas, TX', 'Atlanta, GA', 'Van', '2150', '2026-03-01'], context).kind // 'lane'
 */
export function readRow(cells: readonly string[], context: RowContext): ReadRow {
  const { columns } = context
  const extra = cells.slice(columns.width).find((cell) => cell.trim() !== '')
  if (extra !== undefined) {
    const detail = `The row has ${cells.length} values for ${columns.width} columns, from ${quoted(extra.trim())} on; put values that hold the separator in double quotes.`
    return { kind: 'refused', errors: [{ column: '', detail }] }
  }
  const row = new RowReader(cells, context)
  const ref = row.text('lane_ref')
  return ref === null ? readLane(row, context) : readBooking(row, ref, context)
}

/** The fields of a booking in a row, each by its unit. */
function readBookingCells(row: RowReader, now: number) {
  const cells = ofEachBookingField(sentBookingFields, (field) => {
    const { sent, unit } = bookingTable[field]
    switch (unit) {
      case 'cents':
        // A truck cost of zero is unknown; a rate of zero is an error.
        return row.read<number | null>(sent, field === 'truckCostCents' ? readCost : readMoney)
      case 'text':
        return row.readAlike(sent, readText)
      case 'time':
        return row.past(sent, now)
    }
  })
  return cells as { readonly [F in SentBookingField]: BookingValue<F> | null }
}

/** What both kinds of row can say. */
function readEnd(row: RowReader, now: number) {
  const given = row.readAlike('outcome', readOutcome)
  const reasonText = row.text('outcome_reason')
  return {
    ...readBookingCells(row, now),
    given,
    reason: given?.reason ?? (reasonText === null ? null : readReason(reasonText)),
    decidedAt: row.past('decided_at', now),
  }
}

type End = ReturnType<typeof readEnd>

function outcomeOf(end: End): ReadOutcome['outcome'] {
  if (end.given !== null) return end.given.outcome
  return end.customerRateCents !== null || end.truckCostCents !== null ? 'won' : 'pending'
}

/** These have their places in what a row says: digests of earlier files stay right. */
const saidBefore: ReadonlySet<SentBookingField> = new Set([
  'customerRateCents',
  'truckCostCents',
  'customerName',
  'carrierName',
  'carrierNotes',
  'bookedAt',
])

function readLane(row: RowReader, context: RowContext): ReadRow {
  const { now, known } = context
  const origin = readEndpoint(row, 'origin')
  const destination = readEndpoint(row, 'destination')
  const equipment = row.text('equipment')
  const code = row.readAlike('equipment', readEquipment)
  if (equipment === null) row.missing('equipment')
  const end = readEnd(row, now)
  const quotedRate = row.read('quoted_rate', readMoney)
  const estimatedCost = row.read('estimated_cost', readCost)
  const marketRate = row.read('market_rate', readCost)
  const miles = row.read('miles', readMiles)
  const reference = row.read('reference', readText)
  const pickupDate = row.readAlike('pickup_date', readDay)
  const quotedAt = row.past('quoted_at', now)
  const pickupAt = pickupDate === null ? null : Date.parse(pickupDate)
  // A load to be picked up tomorrow was quoted by now.
  const createdAt =
    quotedAt ?? end.bookedAt ?? end.decidedAt ?? (pickupAt === null ? null : Math.min(pickupAt, now))
  const rate = quotedRate ?? end.customerRateCents
  if (!row.isWrong) {
    if (rate === null)
      row.missing(context.columns.names.quoted_rate === undefined ? 'customer_rate' : 'quoted_rate')
    if (createdAt === null) {
      row.missing(dateFields.find((field) => context.columns.names[field] !== undefined) ?? 'quoted_at')
    }
  }
  if (row.isWrong) return { kind: 'refused', errors: row.errors }
  // Each of these is null only with an error; this tells the compiler.
  if (origin === null || destination === null || code === null || rate === null || createdAt === null) {
    throw new Error('A row without errors lacks a value.')
  }

  const outcome = outcomeOf(end)
  const won = outcome === 'won'
  const knownMiles = plausibleMiles(miles, [origin, destination], known)
  const lane: ImportedLane['lane'] = {
    ...lanePlaces(origin, destination, knownMiles, known.locate),
    equipment: equipment ?? code,
    equipment_code: code,
    quoted_rate_cents: rate,
    estimated_cost_cents: estimatedCost ?? (won ? null : end.truckCostCents),
    market_rate_cents: marketRate,
    pickup_date: pickupDate,
    outcome,
    outcome_reason: outcome === 'lost' ? end.reason : null,
    outcome_source: outcome === 'pending' ? null : 'import',
    decided_at: outcome === 'pending' ? null : new Date(decidedAt(end, won, createdAt)),
    ...bookedColumns((field) => (won && isSent(field) ? columnValue(field, end[field]) : null)),
    truck_cost_source: won && end.truckCostCents !== null ? 'import' : null,
  }
  const said = JSON.stringify([
    origin.key,
    destination.key,
    code,
    quotedRate,
    end.customerRateCents,
    end.truckCostCents,
    estimatedCost,
    marketRate,
    miles,
    end.customerName,
    end.carrierName,
    end.carrierNotes,
    outcome,
    end.reason,
    quotedAt,
    end.decidedAt,
    end.bookedAt,
    pickupDate,
    ...sentBookingFields.filter((field) => !saidBefore.has(field)).map((field) => end[field]),
  ])
  const ended = reportedEnd(end)
  const reported: ReportedLane = {
    quote: {
      ...given('quotedRateCents', quotedRate ?? (won ? null : end.customerRateCents)),
      ...given('estimatedCostCents', estimatedCost ?? (won ? null : end.truckCostCents)),
      ...given('marketRateCents', marketRate),
      ...given('miles', knownMiles),
      ...given('pickupDate', pickupDate),
      ...given('quotedAt', quotedAt),
    },
    ...ended,
    booking: { ...given('customerName', end.customerName), ...ended.booking },
  }
  return {
    kind: 'lane',
    lane: {
      customerName: end.customerName ?? customerNotGiven,
      reference,
      quotedAt: createdAt,
      lane,
      reported,
      said,
    },
  }
}

/** A member with a value, or none where the row says nothing of it. */
function given<Name extends string, Value>(name: Name, value: Value | null): { [name in Name]?: Value } {
  return value === null ? {} : ({ [name]: value } as { [name in Name]?: Value })
}

/** What a row says of how its lane ended. Only a won lane has a booking. */
function reportedEnd(end: End): Omit<ReportedLane, 'quote'> {
  const outcome = outcomeOf(end)
  const won = outcome === 'won'
  return {
    booking: won
      ? Object.fromEntries(
          sentBookingFields.flatMap((field) => (end[field] === null ? [] : [[field, end[field]]])),
        )
      : {},
    outcome: outcome === 'pending' ? null : outcome,
    reason: outcome === 'lost' ? end.reason : null,
    decidedAt: end.decidedAt ?? (won ? end.bookedAt : null),
  }
}

/** When the customer answered: as given, else when it was booked, else when it was quoted. */
function decidedAt(end: End, won: boolean, createdAt: number): number {
  return end.decidedAt ?? (won ? end.bookedAt : null) ?? createdAt
}

/**
 * A given mileage, unless it is a placeholder: no road is shorter than the direct line (less five miles, for cities have
 * a size), and none that a truck is paid for is over three times as long. Where a place is unknown, nothing is held
 * against it.
 */
function plausibleMiles(
  miles: number | null,
  [origin, destination]: readonly [Place, Place],
  known: KnownCells,
): number | null {
  if (miles === null) return null
  const [from, to] = [known.locate(origin), known.locate(destination)]
  if (from === null || to === null) return miles
  const direct = greatCircleMiles(from, to)
  return miles >= direct * 0.9 - 5 && miles <= direct * 3 + 50 ? miles : null
}

function readBooking(row: RowReader, ref: string, { now }: RowContext): ReadRow {
  const laneRef = row.read('lane_ref', (text) =>
    /^\d{1,16}-\d{1,9}-\d{1,9}$/.test(text)
      ? { value: text }
      : { wrong: 'a lane_ref such as 48211093754-1-1' },
  )
  const end = readEnd(row, now)
  if (row.isWrong) return { kind: 'refused', errors: row.errors }
  const reported: ReportedLane = { quote: {}, ...reportedEnd(end) }
  return {
    kind: 'booking',
    booking: { laneRef: laneRef ?? ref, reported, said: JSON.stringify(reported) },
  }
}

function readEquipment(text: string): Cell<string> {
  const value = equipmentCode(text)
  return value === null ? { wrong: equipmentFault(text).replace(/^must be /, '') } : { value }
}

/** The place of pickup or delivery, from one column or from a city, a state and a ZIP code. */
function readEndpoint(row: RowReader, end: 'origin' | 'destination'): Place | null {
  const [city, state, zip] = [`${end}_city`, `${end}_state`, `${end}_zip`] as const
  if (row.text(end) !== null) return row.readAlike(end, readAnyPlace)
  const parts = { city: row.text(city), state: row.text(state), zip: row.text(zip) }
  if (parts.city === null && parts.zip === null) {
    row.missing([city, zip].find((field) => row.has(field)) ?? end)
    return null
  }
  const site = parts.zip === null ? readSite(parts.city, parts.state) : null
  if (site !== null) return site
  const texts = [parts.city, parts.state, parts.zip].map((part) => (part ?? '').replace(/\s+/g, ' '))
  const read = row.known(readParts, texts.join('\n'))
  if ('value' in read) return read.value
  if (parts.city !== null && parts.state === null && parts.zip === null) row.missing(state)
  else {
    const field = { city, state, zip }[read.part]
    const said = read.part === 'state' ? [parts.state] : [parts.city, parts.state, parts.zip]
    row.wrong(
      field,
      `must be ${read.wrong}; it is ${quoted(said.filter((part) => part !== null).join(', '))}`,
    )
  }
  return null
}

/** The parts as one text, so that what many rows say alike is read once. */
function readParts(text: string): PartsRead {
  const [city = '', state = '', zip = ''] = text.split('\n')
  return readPlaceParts({ city: city || null, state: state || null, zip: zip || null })
}

/**
 * Some exports hold the number of a site where the city should be. No city is guessed for it: the load counts for its
 * state, and no question about a city finds it.
 */
function readSite(city: string | null, state: string | null): Place | null {
  const code = state === null ? null : readState(state)
  return code !== null && city !== null && /^\d{1,10}$/.test(city)
    ? { key: `${foldCity(city)}|${code}`, city, state: code }
    : null
}
