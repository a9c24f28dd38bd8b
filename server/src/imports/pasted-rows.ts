import type { AnswerOf } from '#contract/endpoint.ts'
import type { readPastedQuotes } from '#contract/pasted-quotes.ts'
import { repeatedStop, stopsOf } from '#engine/load-stops.ts'
import { centsFromDollars, dollarsFromCents, formatDollars } from '#engine/money.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import { basisWords, type Currency, comparableCents, type RateBasis } from '#engine/rate-basis.ts'
import { placeName, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import {
  type Cell,
  type DateReader,
  type ImportFieldName,
  quoteCells,
  quoted,
  readBasis,
  readCell,
  readCurrency,
  readDay,
  readSentCharges,
} from '../csv/index.ts'
import { interfaceDates } from './file-dates.ts'
import type { KnownCells } from './known-cells.ts'
import { type NamedDays, nearEquipment, type WrittenAmount, writtenAmount } from './pasted-cells.ts'
import type { PastedColumns } from './pasted-names.ts'
import { readStops } from './place-cells.ts'
import { checkCurrencies, currencyOfAmount, type RowOfAmounts } from './row-currencies.ts'
import { RowReader } from './row-reader.ts'

export type PastedAnswer = AnswerOf<typeof readPastedQuotes>
/** A row as it was read. The endpoint adds warnings, which need the brokerage's quotes. */
export type PastedRow = Omit<PastedAnswer['rows'][number], 'warnings'>
type PastedQuote = PastedRow['quote']
type PastedError = PastedRow['errors'][number]

export interface PastedContext {
  readonly columns: PastedColumns
  readonly known: KnownCells
  /** The default basis of the brokerage. */
  readonly assumed: RateBasis
  /** Epoch milliseconds: a pickup day without a year is the nearest one. */
  readonly now: number
  /** Reads the days of pickup. */
  readonly dates: DateReader
  /** Days by their words, such as tomorrow. */
  readonly days: NamedDays
  /** Cells whose place or equipment is not known, and that a person confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** The places with a similar name, for an error. The list may be filled later. */
  readonly suggestionsFor: (place: string) => string[]
}

const singleFields = quoteFieldsOf('request').filter((field) => field !== 'origin' && field !== 'destination')
const amounts = singleFields.flatMap((field) => {
  const { sent, unit } = quoteTable[field]
  return isAmountUnit(unit) || unit === 'charges' ? sent : []
})

/** Other texts for a cell with an error, and whether its value is only not known. */
type CellChoices = Map<number, Pick<PastedError, 'suggestions' | 'is_unknown'>>

/**
 * Reads the cells of a pasted row as a quote of a request: with the basis, the charges and the currency that were pasted. Only an
 * estimated cost on another basis than the rate is converted, by the row's own charges, because a quote has one basis.
 */
export function pastedRow(
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  context: PastedContext,
): PastedRow {
  const { columns, known, assumed, now, dates } = context
  const said = meanings(cells, context)
  const row = new RowReader(said.cells, {
    columns,
    known,
    dates: { ...interfaceDates, day: (_, text) => dates.dayNear(text, now) },
  })
  const quote = singleValues(row, now)
  settleBasis(quote, row, { columns, written: said.amounts.get('quoted_rate') })
  settleCurrency(quote, row)
  const choices: CellChoices = new Map()
  for (const end of ['origin', 'destination'] as const) {
    const place = endOf(end, row, { ...context, cells, choices })
    if (place !== null) quote[end] = place
  }
  checkStops(quote, row, { ...context, cells, choices })
  checkEquipment(quote, row, { ...context, cells, choices })
  const named = said.amounts.get('estimated_cost')?.basis ?? columns.bases.estimated_cost ?? null
  const { cost, note } = costOnBasis(quote, row, { named, assumed })
  if (cost !== null) quote.estimated_cost = dollarsFromCents(cost)
  const errors = errorsOf(row, cells, { ...context, choices })
  return { line, cells: [...cells], quote, errors, notes: [...said.notes, ...(note === null ? [] : [note])] }
}

/** The values of a row with one field each, as they are sent. */
function singleValues(row: RowReader, now: number): Record<string, unknown> {
  const quote: Record<string, unknown> = {}
  for (const field of singleFields) {
    const { sent, unit } = quoteTable[field]
    const reader: (text: string) => Cell<unknown> =
      unit === 'charges' ? readSentCharges : unit === 'stops' ? readStops : quoteCells[unit]
    const read = unit === 'day' ? row.dayNear('pickup_date', now) : row.read(sent, reader)
    if (read === null) continue
    quote[sent] = isAmountUnit(unit)
      ? dollarsFromCents(Number(read))
      : unit === 'stops'
        ? stopsOf(String(read))
        : read
  }
  return quote
}

/**
 * The cells of a row in the form of a file: amounts such as `2k` and `1500 + fsc`, and days such as tomorrow. Charges beside another
 * amount than the rate stay, and are an error of their cell.
 */
function meanings(cells: readonly string[], { columns, days }: PastedContext) {
  const meant = [...cells]
  const said = new Map<string, WrittenAmount>()
  const notes: string[] = []
  const read = (field: ImportFieldName, reader: (cell: string) => { text: string; more?: string }) => {
    const at = columns.positions[field]
    const cell = at === undefined ? '' : (cells[at] ?? '')
    const { text, more = '' } = reader(cell)
    if (at === undefined || text === cell) return
    meant[at] = text
    notes.push(`${quoted(cell)} is read as ${text}${more}.`)
  }
  for (const field of amounts) {
    read(field, (cell) => {
      const written = writtenAmount(cell)
      const { basis, fuel } = written
      const isOfRate = field === 'quoted_rate' || (field === 'estimated_cost' && fuel === null)
      if (basis !== null && !isOfRate) return { text: cell }
      said.set(field, written)
      const charge = fuel === null ? '' : `, and ${fuel} fuel charge`
      return { text: written.text, more: basis === null ? '' : ` ${basisWords[basis]}${charge}` }
    })
  }
  read('pickup_date', (cell) => ({ text: days.of(cell) }))
  return { cells: meant, amounts: said, notes }
}

/** Sets the basis and the fuel charge that the cell of the rate states, else the basis that the name of its column states. */
function settleBasis(
  quote: Record<string, unknown>,
  row: RowReader,
  { columns, written }: { readonly columns: PastedColumns; readonly written: WrittenAmount | undefined },
): void {
  if (quote.quoted_rate === undefined) return
  const { basis = null, fuel = null } = written ?? {}
  const stated = (quote.quoted_basis ?? columns.bases.quoted_rate) as RateBasis | undefined
  if (basis !== null && stated !== undefined && basis !== stated) {
    row.wrong('quoted_rate', `is ${basisWords[basis]} by its cell and ${basisWords[stated]} by its column`)
    return
  }
  if (basis !== null || stated !== undefined) quote.quoted_basis = basis ?? stated
  if (fuel === null) return
  const charge = readCell(fuel, quoteCells.charge)
  if ('wrong' in charge) row.wrong('quoted_rate', `must have a fuel charge that is ${charge.wrong}`)
  else if (quote.quoted_fuel === undefined) quote.quoted_fuel = dollarsFromCents(charge.value)
  else row.wrong('quoted_rate', 'has a fuel charge, and the column of fuel charges has another one')
}

const leastEquipment = ['V', 'R', 'F']

/** Adds an error for equipment that is nearly a known one, unless it was confirmed, and the choices for equipment that cannot be read. */
function checkEquipment(
  quote: Record<string, unknown>,
  row: RowReader,
  { columns, confirmed, cells, choices }: RowChecks,
): void {
  const at = columns.positions.equipment
  const cell = at === undefined ? '' : (cells[at] ?? '')
  if (at === undefined || cell === '') return
  const near = nearEquipment(cell)
  const isRead = quote.equipment !== undefined
  if (isRead && (near === null || confirmed.has(cell))) return
  const suggestions =
    near === null ? leastEquipment : [near, ...leastEquipment.filter((code) => code !== near)]
  choices.set(at, { suggestions, is_unknown: isRead })
  if (!isRead) return
  row.wrong('equipment', `${quoted(cell)} is not known`)
  delete quote.equipment
}

/** The errors of a row, each with the choices for its cell. */
function errorsOf(
  row: RowReader,
  cells: readonly string[],
  { columns, dates, days, choices }: PastedContext & { readonly choices: CellChoices },
): PastedError[] {
  const without = { suggestions: [], is_unknown: false }
  const errors = row.placedErrors.map(({ position, detail }): PastedError => {
    const isPickup = position === columns.positions.pickup_date
    return {
      column: position < columns.width ? position + 1 : null,
      detail: detail.slice(0, -1),
      ...(isPickup
        ? { suggestions: daysNear(cells[position] ?? '', { dates, days }), is_unknown: false }
        : (choices.get(position) ?? without)),
    }
  })
  for (const [position, detail] of columns.faults) {
    if ((cells[position] ?? '') !== '') errors.push({ column: position + 1, detail, ...without })
  }
  const extra = cells.slice(columns.width).find((text) => text !== '')
  if (extra !== undefined) {
    const detail = `The row has ${cells.length} cells for ${columns.width} columns, from ${quoted(extra)} on`
    errors.push({ column: null, detail, ...without })
  }
  return errors
}

/** The days that a cell may mean: that of the other order of day and month, else days near today. */
function daysNear(cell: string, { dates, days }: Pick<PastedContext, 'dates' | 'days'>): string[] {
  const other = readDay(cell, dates.order === 'day_first' ? 'month_first' : 'day_first')
  return 'value' in other ? [other.value] : days.near(cell)
}

/**
 * Sets the currency of the row: that of the rate or of its column, else, without a rate, that of the first amount. Adds an error for
 * each amount in another currency, because a quote has one.
 */
function settleCurrency(quote: Record<string, unknown>, row: RowReader): void {
  const ofColumn = (quote.quoted_currency ?? null) as Currency | null
  const ofCost = row.read('truck_currency', readCurrency)
  const ofItsColumn =
    ofCost === null || quote.estimated_cost === undefined
      ? null
      : { currency: ofCost, by: 'the column of its currency' }
  const compared: RowOfAmounts<ImportFieldName> = {
    currencyOf: (field) => row.currencyOf(field) ?? (field === 'estimated_cost' ? ofItsColumn : null),
    wrong: (field, what) => row.wrong(field, what),
    leaveOut: () => 'remove it',
  }
  const column = ofColumn === null ? null : { currency: ofColumn, by: 'the column of currencies' }
  const hasRate = quote.quoted_rate !== undefined
  const stating = amounts.filter((field) => compared.currencyOf(field) !== null)
  const ofRate = hasRate ? currencyOfAmount(compared, 'quoted_rate', { column, file: null }) : ofColumn
  const [first] = stating
  const currency =
    ofRate ?? (hasRate || first === undefined ? null : (compared.currencyOf(first)?.currency ?? null))
  if (currency !== null) quote.quoted_currency = currency
  // A row with an unknown currency already has an error.
  if (ofColumn === null && row.text('quoted_currency') !== null) return
  if (ofItsColumn !== null) {
    const errors = row.errors.length
    currencyOfAmount(compared, 'estimated_cost', { column: ofItsColumn, file: null })
    if (row.errors.length > errors) return
  }
  const others = stating.filter((field) => field !== 'quoted_rate')
  checkCurrencies(compared, others, { name: hasRate ? 'the rate' : 'the row', currency })
}

/** A row with its cells as they were pasted, and the choices for cells with errors. */
interface RowChecks extends PastedContext {
  readonly cells: readonly string[]
  readonly choices: CellChoices
}

/** Adds an error if a stop is not known, unless it was confirmed, or is on the route twice. */
function checkStops(
  { origin, destination, stops = [] }: PastedQuote,
  row: RowReader,
  { columns, known, confirmed, cells, choices }: RowChecks,
): void {
  const at = columns.positions.stops ?? -1
  const unknown = stops.find((stop) => {
    const place = readAnyPlace(stop)
    return 'value' in place && known.locate(place.value) === null
  })
  if (unknown !== undefined && !confirmed.has(cells[at] ?? '')) {
    choices.set(at, { suggestions: [], is_unknown: true })
    row.wrong('stops', `have ${quoted(unknown)}, which is not a known place`)
    return
  }
  if (stops.length === 0 || origin === undefined || destination === undefined) return
  const again = repeatedStop([origin, ...stops, destination])
  const twice = again === null ? undefined : stops[again]
  if (twice !== undefined) {
    row.wrong('stops', `must have each place of the route once; ${quoted(twice)} is there twice`)
  }
}

/** The estimated cost in cents on the basis of the rate, if its own column states another one. Adds the errors of its basis. */
function costOnBasis(
  quote: PastedQuote,
  row: RowReader,
  { named, assumed }: { readonly named: RateBasis | null; readonly assumed: RateBasis },
): { readonly cost: number | null; readonly note: string | null } {
  const stated = row.read('truck_basis', readBasis) ?? named
  const cents = quote.estimated_cost === undefined ? null : centsFromDollars(quote.estimated_cost)
  const nothing = { cost: null, note: null }
  if (cents === null) return nothing
  const wanted = quote.quoted_basis ?? assumed
  if (stated === null || stated === wanted) return nothing
  const inCents = (dollars: number | undefined) => (dollars === undefined ? null : centsFromDollars(dollars))
  const fuelCents = inCents(quote.quoted_fuel)
  const accessorialCents =
    inCents(quote.quoted_accessorials) ??
    (quote.quoted_charges === undefined
      ? null
      : quote.quoted_charges.reduce((sum, { amount }) => sum + (centsFromDollars(amount) ?? 0), 0))
  const converted = comparableCents({ cents, basis: stated, fuelCents, accessorialCents }, wanted)
  if (converted === null) {
    row.wrong(
      'estimated_cost',
      `is ${basisWords[stated]}, and the rate is ${basisWords[wanted]}. Add a column with the fuel charge, or remove the cost`,
    )
    return nothing
  }
  const note = `The estimated cost of ${formatDollars(cents)} ${basisWords[stated]} is ${formatDollars(converted)} ${basisWords[wanted]} by the fuel charge of the row.`
  return { cost: converted, note }
}

const stateAndZip = /^(\p{L}[\p{L}. ]*) (\d{5}(?:-?\d{4})?|[A-Z]\d[A-Z](?:[ -]?\d[A-Z]\d)?)$/iu

/** A state, and the postal code that may follow it in the same cell. @example stateWithZip('TX 75201') // { state: 'TX', zip: '75201' } */
export function stateWithZip(cell: string): { readonly state: string; readonly zip: string | null } {
  const [, state = cell, zip = null] = stateAndZip.exec(cell) ?? []
  return { state, zip }
}

/** The name of one end of the lane; null if it is missing, wrong, or not known and not confirmed, which adds an error. */
function endOf(
  end: 'origin' | 'destination',
  row: RowReader,
  { columns, known, confirmed, suggestionsFor, cells, choices }: RowChecks,
): string | null {
  const [city, state, zip] = [row.text(end), row.text(`${end}_state`), row.text(`${end}_zip`)]
  const said = [city, state, zip].filter((part) => part !== null)
  if (said.length === 0) {
    row.wrong(end, 'is missing')
    return null
  }
  const parts = state === null ? null : stateWithZip(state)
  const read = readPlaceParts({ city, state: parts?.state ?? null, zip: parts?.zip ?? zip })
  const at = city === null && zip !== null ? (`${end}_zip` as const) : end
  const position = columns.positions[at] ?? -1
  if ('value' in read) {
    const located = known.locate(read.value)
    const name = placeName(read.value, located)
    if (located !== null || confirmed.has(cells[position] ?? '')) return name
    choices.set(position, { suggestions: suggestionsFor(name), is_unknown: true })
    row.wrong(at, `${quoted(name)} is not a known place`)
    return null
  }
  choices.set(position, { suggestions: suggestionsFor(city ?? said.join(' ')), is_unknown: false })
  row.wrong(at, `must be ${read.wrong}; it is ${quoted(said.join(', '))}`)
  return null
}
