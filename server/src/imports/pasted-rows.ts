import type { AnswerOf } from '#contract/endpoint.ts'
import type { readPastedQuotes } from '#contract/pasted-quotes.ts'
import { repeatedStop, stopsOf } from '#engine/load-stops.ts'
import { centsFromDollars, dollarsFromCents, formatDollars } from '#engine/money.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import { basisWords, type Currency, comparableCents, type RateBasis } from '#engine/rate-basis.ts'
import { placeName, readPlaceParts } from '#geography/read-place.ts'
import {
  type Cell,
  type DateReader,
  type ImportFieldName,
  quoteCells,
  quoted,
  readBasis,
  readCurrency,
  readSentCharges,
} from '../csv/index.ts'
import { interfaceDates } from './file-dates.ts'
import type { KnownCells } from './known-cells.ts'
import type { PastedColumns } from './pasted-names.ts'
import { readStops } from './place-cells.ts'
import { checkCurrencies, currencyOfAmount, type RowOfAmounts } from './row-currencies.ts'
import { RowReader } from './row-reader.ts'

export type PastedAnswer = AnswerOf<typeof readPastedQuotes>
/** A row as it was read. The endpoint adds warnings, which need the brokerage's quotes. */
export type PastedRow = Omit<PastedAnswer['rows'][number], 'warnings'>
type PastedQuote = PastedRow['quote']

export interface PastedContext {
  readonly columns: PastedColumns
  readonly known: KnownCells
  /** The default basis of the brokerage. */
  readonly assumed: RateBasis
  /** Epoch milliseconds: a pickup day without a year is the nearest one. */
  readonly now: number
  /** Reads the days of pickup. */
  readonly dates: DateReader
  /** The places with a similar name, for an error. The list may be filled later. */
  readonly suggestionsFor: (place: string) => string[]
}

const singleFields = quoteFieldsOf('request').filter((field) => field !== 'origin' && field !== 'destination')
const amounts = singleFields.flatMap((field) => {
  const { sent, unit } = quoteTable[field]
  return isAmountUnit(unit) || unit === 'charges' ? sent : []
})

/**
 * Reads the cells of a pasted row as a quote of a request: with the basis, the charges and the currency that were pasted. Only an
 * estimated cost on another basis than the rate is converted, by the row's own charges, because a quote has one basis.
 */
export function pastedRow(
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  context: PastedContext,
): PastedRow {
  const { columns, known, assumed, now, dates, suggestionsFor } = context
  const row = new RowReader(cells, {
    columns,
    known,
    dates: { ...interfaceDates, day: (_, text) => dates.dayNear(text, now) },
  })
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
  const ofRate = columns.bases.quoted_rate
  if (quote.quoted_basis === undefined && quote.quoted_rate !== undefined && ofRate !== undefined) {
    quote.quoted_basis = ofRate
  }
  settleCurrency(quote, row)
  const suggestions = new Map<number, string[]>()
  for (const end of ['origin', 'destination'] as const) {
    const place = endOf(end, row, (at, meant) =>
      suggestions.set(columns.positions[at] ?? -1, suggestionsFor(meant)),
    )
    if (place !== null) quote[end] = place
  }
  checkStops(quote, row)
  const { cost, note } = costOnBasis(quote, row, { named: columns.bases.estimated_cost ?? null, assumed })
  if (cost !== null) quote.estimated_cost = dollarsFromCents(cost)
  const errors = row.placedErrors.map(({ position, detail }) => ({
    column: position < columns.width ? position + 1 : null,
    detail: detail.slice(0, -1),
    suggestions: suggestions.get(position) ?? [],
  }))
  const extra = cells.slice(columns.width).find((text) => text !== '')
  if (extra !== undefined) {
    const detail = `The row has ${cells.length} cells for ${columns.width} columns, from ${quoted(extra)} on`
    errors.push({ column: null, detail, suggestions: [] })
  }
  return { line, cells: [...cells], quote, errors, notes: note === null ? [] : [note] }
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

/** Adds an error if a stop is on the route twice. */
function checkStops({ origin, destination, stops = [] }: PastedQuote, row: RowReader): void {
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

/** The name of one end of the lane; null if it is missing or wrong, which adds an error. */
function endOf(
  end: 'origin' | 'destination',
  row: RowReader,
  suggest: (at: ImportFieldName, place: string) => void,
): string | null {
  const [city, state, zip] = [row.text(end), row.text(`${end}_state`), row.text(`${end}_zip`)]
  const said = [city, state, zip].filter((part) => part !== null)
  if (said.length === 0) {
    row.wrong(end, 'is missing')
    return null
  }
  const parts = state === null ? null : stateWithZip(state)
  const read = readPlaceParts({ city, state: parts?.state ?? null, zip: parts?.zip ?? zip })
  if ('value' in read) return placeName(read.value)
  const at = city === null && zip !== null ? (`${end}_zip` as const) : end
  suggest(at, city ?? said.join(' '))
  row.wrong(at, `must be ${read.wrong}; it is ${quoted(said.join(', '))}`)
  return null
}
