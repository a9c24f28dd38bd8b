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
  givenText,
  kindOfField,
  quoteCells,
  quoted,
  readBasis,
  readCell,
  readCurrency,
  readSentCharges,
} from '../csv/index.ts'
import { type NamedTerms, PastedAmounts } from './pasted-amounts.ts'
import type { PastedField } from './pasted-names.ts'
import { readStops } from './place-cells.ts'
import { checkCurrencies, currencyOfAmount, type RowOfAmounts } from './row-currencies.ts'

export type PastedAnswer = AnswerOf<typeof readPastedQuotes>
/** A row as it was read. The endpoint adds warnings, which need the brokerage's quotes. */
export type PastedRow = Omit<PastedAnswer['rows'][number], 'warnings'>
type PastedQuote = PastedRow['quote']

export interface PastedContext {
  /** The field of each column; null for an ignored one. */
  readonly fields: readonly (PastedField | null)[]
  /** What the names of the columns of amounts state about them. */
  readonly named: NamedTerms
  /** The default basis of the brokerage. */
  readonly assumed: RateBasis
  /** Epoch milliseconds: a pickup day without a year is the nearest one. */
  readonly now: number
  /** Reads the days of pickup. */
  readonly dates: DateReader
  /** The places with a similar name, for an error. The list may be filled later. */
  readonly suggestionsFor: (place: string) => string[]
}

/** The fields of a request that have one cell each, with the words for them in an error. */
const words = {
  equipment: 'equipment',
  quoted_rate: 'rate',
  quoted_basis: 'basis',
  quoted_fuel: 'fuel charge',
  quoted_accessorials: 'accessorial charges',
  quoted_charges: 'charges by name',
  quoted_currency: 'currency',
  estimated_cost: 'estimated cost',
  market_rate: 'market rate',
  miles: 'miles',
  pickup_date: 'pickup date',
  rate_type: 'rate type',
  mode: 'mode',
  stops: 'stops',
  customer_name: 'customer',
} as const satisfies Readonly<Partial<Record<PastedField, string>>>

const singleFields = quoteFieldsOf('request').filter((field) => field !== 'origin' && field !== 'destination')

/** The cells of a pasted row by field, and the errors found while reading them. */
class PastedCells {
  readonly errors: PastedRow['errors'] = []
  readonly #cells: readonly string[]
  readonly #fields: PastedContext['fields']
  constructor(cells: readonly string[], fields: PastedContext['fields']) {
    this.#cells = cells
    this.#fields = fields
  }

  text(field: PastedField): string | null {
    return givenText(this.#cells[this.#fields.indexOf(field)], kindOfField.get(field) ?? null)
  }

  wrong(field: PastedField, detail: string, suggestions: string[] = []): void {
    const at = this.#fields.indexOf(field)
    this.errors.push({ column: at < 0 ? null : at + 1, detail, suggestions })
  }

  /** Null for an empty cell, and for a wrong one, which adds an error. */
  read<T>(field: PastedField, name: string, reader: (text: string) => Cell<T>): T | null {
    const text = this.text(field)
    const read = text === null ? { value: null } : readCell(text, reader)
    if ('value' in read) return read.value
    this.wrong(field, `The ${name} must be ${read.wrong}; it is ${quoted(text ?? '')}`)
    return null
  }
}

/**
 * Reads the cells of a pasted row as a quote of a request: with the basis, the charges and the currency that were pasted. Only an
 * estimated cost on another basis than the rate is converted, by the row's own charges, because a quote has one basis.
 */
export function pastedRow(
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  context: PastedContext,
): PastedRow {
  const { fields, named, assumed, now, dates, suggestionsFor } = context
  const row = new PastedCells(cells, fields)
  const quote: Record<string, unknown> = {}
  const amounts = new PastedAmounts(named)
  for (const field of singleFields) {
    const { sent, unit } = quoteTable[field]
    const read = row.read(sent, words[sent], (text): Cell<unknown> => {
      if (unit === 'day') return dates.dayNear(text, now)
      if (unit === 'charges') return readSentCharges(text)
      if (unit === 'stops') return readStops(text)
      const reader: (text: string) => Cell<unknown> = quoteCells[unit]
      return isAmountUnit(unit) ? amounts.read(sent, text, reader) : reader(text)
    })
    if (read === null) continue
    quote[sent] = isAmountUnit(unit)
      ? dollarsFromCents(Number(read))
      : unit === 'stops'
        ? stopsOf(String(read))
        : read
  }
  const ofRate = named.get('quoted_rate')?.basis ?? null
  if (quote.quoted_basis === undefined && quote.quoted_rate !== undefined && ofRate !== null) {
    quote.quoted_basis = ofRate
  }
  settleCurrency(quote, row, amounts)
  for (const end of ['origin', 'destination'] as const) {
    const place = endOf(end, row, suggestionsFor)
    if (place !== null) quote[end] = place
  }
  checkStops(quote, row)
  const { cost, note } = costOnBasis(quote, row, { named, assumed })
  if (cost !== null) quote.estimated_cost = dollarsFromCents(cost)
  const extra = cells.slice(fields.length).find((text) => text !== '')
  if (extra !== undefined) {
    const detail = `The row has ${cells.length} cells for ${fields.length} columns, from ${quoted(extra)} on`
    row.errors.push({ column: null, detail, suggestions: [] })
  }
  return { line, cells: [...cells], quote, errors: row.errors, notes: note === null ? [] : [note] }
}

/**
 * Sets the currency of the row: that of the rate or of its column, else, without a rate, that of the first amount. Adds an error for
 * each amount in another currency, because a quote has one.
 */
function settleCurrency(quote: Record<string, unknown>, row: PastedCells, amounts: PastedAmounts): void {
  const ofColumn = (quote.quoted_currency ?? null) as Currency | null
  const ofCost = row.read('cost_currency', 'currency of the cost', readCurrency)
  const compared: RowOfAmounts<AmountField> = {
    currencyOf: (field) => amounts.currencyOf(field),
    wrong: (field, what) => {
      const isCost = field === 'estimated_cost' && ofCost !== null
      row.wrong(isCost ? 'cost_currency' : field, `The ${words[field]} ${what}`)
    },
    leaveOut: () => 'remove it',
  }
  const column = ofColumn === null ? null : { currency: ofColumn, by: 'the column of currencies' }
  const hasRate = quote.quoted_rate !== undefined
  const [first = 'quoted_rate'] = amounts.stating
  const ofRate = hasRate ? currencyOfAmount(compared, 'quoted_rate', { column, file: null }) : ofColumn
  const currency = ofRate ?? (hasRate ? null : (amounts.currencyOf(first)?.currency ?? null))
  if (currency !== null) quote.quoted_currency = currency
  // A row with an unknown currency already has an error.
  if (ofColumn === null && row.text('quoted_currency') !== null) return
  if (ofCost !== null && quote.estimated_cost !== undefined) {
    const ofItsColumn = { currency: ofCost, by: 'the column of its currency' }
    const errors = row.errors.length
    currencyOfAmount(compared, 'estimated_cost', { column: ofItsColumn, file: null })
    if (row.errors.length > errors) return
    amounts.say('estimated_cost', ofItsColumn)
  }
  const others = amounts.stating.flatMap((field) => (isOtherAmount(field) ? field : []))
  checkCurrencies(compared, others, { name: hasRate ? 'the rate' : 'the row', currency })
}

/** Adds an error if a stop is on the route twice. */
function checkStops({ origin, destination, stops = [] }: PastedQuote, row: PastedCells): void {
  if (stops.length === 0 || origin === undefined || destination === undefined) return
  const again = repeatedStop([origin, ...stops, destination])
  const twice = again === null ? undefined : stops[again]
  if (twice !== undefined) {
    row.wrong('stops', `The stops must have each place of the route once; ${quoted(twice)} is there twice`)
  }
}

type AmountField = keyof typeof words
const isOtherAmount = (field: PastedField): field is AmountField => field !== 'quoted_rate' && field in words

/** The estimated cost in cents on the basis of the rate, if its own column states another one. Adds the errors of its basis. */
function costOnBasis(
  quote: PastedQuote,
  row: PastedCells,
  { named, assumed }: Pick<PastedContext, 'named' | 'assumed'>,
): { readonly cost: number | null; readonly note: string | null } {
  const ofName = named.get('estimated_cost')?.basis ?? null
  const stated = row.read('cost_basis', 'basis of the cost', readBasis) ?? ofName
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
      `The estimated cost is ${basisWords[stated]}, and the rate is ${basisWords[wanted]}. Add a column with the fuel charge, or remove the cost`,
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
  row: PastedCells,
  suggestionsFor: PastedContext['suggestionsFor'],
): string | null {
  const [city, state, zip] = [row.text(end), row.text(`${end}_state`), row.text(`${end}_zip`)]
  const said = [city, state, zip].filter((part) => part !== null)
  if (said.length === 0) {
    row.wrong(end, `The ${end} is missing`)
    return null
  }
  const parts = state === null ? null : stateWithZip(state)
  const read = readPlaceParts({ city, state: parts?.state ?? null, zip: parts?.zip ?? zip })
  if ('value' in read) return placeName(read.value)
  const at = city === null && zip !== null ? (`${end}_zip` as const) : end
  const meant = suggestionsFor(city ?? said.join(' '))
  row.wrong(at, `The ${end} must be ${read.wrong}; it is ${quoted(said.join(', '))}`, meant)
  return null
}
