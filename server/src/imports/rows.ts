import { isSent, sentBookingFields } from '#engine/booking-fields.ts'
import type { SavedOutcome } from '#engine/history.ts'
import { formatDollars } from '#engine/money.ts'
import { type QuoteName, quoteColumnOf } from '#engine/quote-fields.ts'
import { comparableCents, sameTerms } from '#engine/rate-basis.ts'
import { type Cell, dateFields, quoted, readEquipment, readId, readYesNo } from '../csv/index.ts'
import { bookedColumns, columnValue, type NewQuote } from '../database/queries/index.ts'
import { routePlaces } from '../quotes/index.ts'
import type { KnownCells } from './known-cells.ts'
import { type QuotedTermsRead, readQuotedCharges } from './row-charges.ts'
import { contentOf, formerText } from './row-digest.ts'
import { hasPlaces, plausibleMiles, readEndpoint, routeOf, straightMiles } from './row-places.ts'
import { type CellError, type RowContext, RowReader } from './row-reader.ts'
import {
  type End,
  outcomeOf,
  type QuoteCells,
  type ReportedQuoteField,
  type ReportedRow,
  readEnd,
  readOwnFields,
  reportedFields,
} from './row-values.ts'
import { likelyMeaning, skip } from './word-meanings.ts'

export type ReadRow =
  | { readonly kind: 'quote'; readonly quote: ImportedQuote }
  | { readonly kind: 'booking'; readonly booking: ImportedBooking }
  | RefusedRow

export interface RefusedRow {
  readonly kind: 'refused'
  readonly errors: readonly CellError[]
  /** The outcome of the quote: `unknown` for a word that is not known, and null for a cancelled load. */
  readonly outcome?: SavedOutcome | 'unknown' | null
}

/** A past quote. `quotedAt` is in epoch milliseconds. */
export interface ImportedQuote {
  readonly customerName: string
  /** The file's own id of the row, if any. It identifies the row in later files. */
  readonly reference: string | null
  /** A text such as N/A, which earlier versions read as the row's id, with the values that they then compared. */
  readonly formerly: { readonly reference: string; readonly said: string } | null
  readonly quotedAt: number
  readonly columns: NewQuote
  /** The row as an update of a quote that an earlier file added under the same reference. It is made when it is read: most rows need none. */
  readonly reported: ReportedRow
  /** All values of the row as one text: equal for rows with equal values. */
  readonly said: string
}

export interface ImportedBooking {
  readonly laneRef: string
  readonly reported: ReportedRow
  /** As in `ImportedQuote`. */
  readonly said: string
}

/** The customer of a quote whose file names none. */
export const customerNotGiven = 'Customer not given'

/**
 * Reads one row of a file: a past quote, the booking of an existing quote, or a list of errors.
 *
 * A row without an outcome is won when it has a booked customer rate or truck cost, and pending otherwise. Only a won quote
 * has a booking. On any other row the customer rate is the quoted rate and the truck cost, on its terms, is the estimated cost. A missing
 * quoted rate defaults to the booked rate. A truck cost of zero means unknown; a rate of zero is an error.
 *
 * @example readRow(['Dallas, TX', 'Atlanta, GA', 'Van', '2150', '2026-03-01'], context).kind // 'quote'
 */
export function readRow(cells: readonly string[], context: RowContext): ReadRow {
  const { columns } = context
  const extra = cells.slice(columns.width).find((cell) => cell.trim() !== '')
  if (extra !== undefined) {
    const detail = `The row has ${cells.length} values for ${columns.width} columns, starting at ${quoted(extra.trim())}; put values that contain the separator in double quotes.`
    return { kind: 'refused', errors: [{ column: '', detail }] }
  }
  const row = new RowReader(cells, context)
  const ref = row.text('lane_ref')
  return ref === null || hasPlaces(row) ? readQuote(row, context) : readBooking(row, ref, context)
}

/** Reads a lane_ref. @example readLaneRef('48211093754-1-1') // { value: '48211093754-1-1' } */
export function readLaneRef(text: string): Cell<string> {
  return /^\d{1,16}-\d{1,9}-\d{1,9}$/.test(text)
    ? { value: text }
    : { wrong: 'a lane_ref such as 48211093754-1-1' }
}

/** The id of a row: its reference, else its lane_ref. Null without one. */
export function idOf(row: RowReader): string | null {
  const laneRef = row.read('lane_ref', readLaneRef)
  return row.read('reference', readId) ?? laneRef
}

function readQuote(row: RowReader, context: RowContext): ReadRow {
  const { now, known } = context
  const isCancelled = row.readCached('cancelled', readYesNo)
  if (isCancelled === true) {
    row.wrong('cancelled', 'says that the load was cancelled, so the row is left out')
    return { kind: 'refused', errors: row.errors }
  }
  const origin = readEndpoint(row, 'origin')
  const destination = readEndpoint(row, 'destination')
  const equipment = row.readCached('equipment', readEquipment)
  if (row.text('equipment') === null) row.missing('equipment')
  const end = readEnd(row, context)
  const own = readOwnFields(row, now)
  const { quotedRateCents: quotedRate, quotedAt, pickupDate } = own
  const quotedTerms = readQuotedCharges(row, quotedRate, end, context.columns)
  const reference = idOf(row)
  const pickupAt = pickupDate === null ? null : row.dates.startOf(pickupDate)
  // A pickup day can be in the future; a quote cannot, so it is dated now. All quotes of a file without dates are dated now, with a
  // warning.
  const createdAt =
    quotedAt ??
    end.bookedAt ??
    end.decidedAt ??
    (pickupAt === null && hasDates(row) ? null : Math.min(pickupAt ?? now, now))
  const rate = quotedRate ?? end.customerRateCents
  const route =
    origin === null || destination === null ? [] : routeOf(row, [origin, destination], own.stops, known)
  if (!row.isWrong) {
    if (rate === null)
      row.missing(context.columns.names.quoted_rate === undefined ? 'customer_rate' : 'quoted_rate')
    if (createdAt === null) {
      row.missing(dateFields.find((field) => row.has(field)) ?? 'quoted_at')
    }
  }
  if (!row.isWrong) checkUnits(row, { ...end, ...own }, straightMiles(route, known))
  if (row.isWrong) return { kind: 'refused', errors: row.errors, outcome: refusedOutcome(row.errors, end) }
  // A null here always has an error. The check narrows the types.
  if (equipment === null || rate === null || createdAt === null) {
    throw new Error('A row without errors lacks a value.')
  }

  const cells: QuoteCells = {
    route,
    equipment,
    end,
    own,
    rate,
    quote: {
      ...own,
      ...quotedTerms,
      quotedRateCents: quotedRate ?? (outcomeOf(end) === 'won' ? null : end.customerRateCents),
      estimatedCostCents: own.estimatedCostCents ?? estimateFromTruckCost(end, quotedTerms, context),
      miles: plausibleMiles(own.miles, route, known),
    },
    createdAt,
  }
  return {
    kind: 'quote',
    quote: {
      customerName: end.customerName ?? customerNotGiven,
      reference,
      quotedAt: createdAt,
      columns: newQuote(cells, known),
      get reported() {
        return reportedRow(cells)
      },
      said: contentOf(cells, reference !== null, row),
      formerly: formerReference(cells, row),
    },
  }
}

/** Null for a row with an id, or with an empty cell. */
function formerReference(cells: QuoteCells, row: RowReader): ImportedQuote['formerly'] {
  const reference = formerText(row, 'reference')
  return reference === null ? null : { reference, said: contentOf(cells, true, row) }
}

/** The outcome of a refused row: as it is written, else as its unknown word is likely meant, else as a booking says. */
function refusedOutcome(errors: readonly CellError[], end: End): SavedOutcome | 'unknown' | null {
  const unknown = errors.find(({ word }) => word?.field === 'outcome')?.word
  if (unknown === undefined) return outcomeOf(end)
  const likely = likelyMeaning(unknown)
  if (likely === skip) return null
  return likely === 'won' || likely === 'lost' || likely === 'pending' || likely === 'expired'
    ? likely
    : 'unknown'
}

/**
 * The estimated cost of a row that is not won: its truck cost, on the terms of the quoted rate. It is converted by its own charges or
 * those of the quote. Null if they are not known, or if the currencies differ.
 */
function estimateFromTruckCost(end: End, quote: QuotedTermsRead, { assumed }: RowContext): number | null {
  const { truckCostCents: cents, truckBasis: basis, truckCurrency: currency } = end
  if (cents === null || outcomeOf(end) === 'won') return null
  const terms = { basis: quote.quotedBasis, currency: quote.quotedCurrency }
  if (sameTerms(terms, { basis, currency }, assumed)) return cents
  if ((currency ?? 'USD') !== (terms.currency ?? 'USD')) return null
  const wanted = terms.basis ?? assumed
  const own = wanted === 'all_in' && end.truckFuelCents !== null
  return comparableCents(
    {
      cents,
      basis: basis ?? assumed,
      fuelCents: own ? end.truckFuelCents : quote.quotedFuelCents,
      accessorialCents: own ? end.truckAccessorialsCents : quote.quotedAccessorialsCents,
    },
    wanted,
  )
}

/** Below this distance, the unit is not checked: a correct amount per load can be as low or as high per mile as one in another unit. */
const unitMilesMin = 100

/**
 * Why an amount of a load cannot be dollars per load, given its miles; null if it can. An amount per mile has cents and is below $15;
 * one in cents is above $100 per mile.
 */
function unitFault(cents: number, miles: number | null): string | null {
  if (miles === null || miles < unitMilesMin) return null
  if (cents < 1_500 && cents % 100 !== 0) {
    return `must be an amount per load; ${formatDollars(cents)} for ${Math.round(miles)} miles looks like a rate per mile`
  }
  return cents > 10_000 * miles
    ? `must be in dollars; ${formatDollars(cents)} for ${Math.round(miles)} miles looks like an amount in cents`
    : null
}

/** Refuses amounts that cannot be dollars per load. */
function checkUnits(row: RowReader, of: Amounts, miles: number | null): void {
  const amounts = {
    quoted_rate: of.quotedRateCents,
    customer_rate: of.customerRateCents,
    truck_cost: of.truckCostCents,
    estimated_cost: of.estimatedCostCents,
    market_rate: of.marketRateCents,
  } as const
  for (const [field, cents] of Object.entries(amounts) as [keyof typeof amounts, number | null][]) {
    const fault = cents === null ? null : unitFault(cents, miles)
    if (fault !== null) row.wrong(field, fault)
  }
}

type Amounts = Pick<End, 'customerRateCents' | 'truckCostCents'> &
  Pick<QuoteCells['own'], 'quotedRateCents' | 'estimatedCostCents' | 'marketRateCents'>

/** Whether the file has a column that can date a quote. */
function hasDates(row: RowReader): boolean {
  return dateFields.some((field) => row.has(field))
}

/** The fields that are inserted as reported. The other four are computed. */
type InsertedField = Exclude<ReportedQuoteField, ComputedField>
type ComputedField = 'quotedRateCents' | 'quotedAt' | 'miles' | 'stops'
const computedFields: ReadonlySet<string> = new Set<ComputedField>([
  'quotedRateCents',
  'quotedAt',
  'miles',
  'stops',
])

const insertedFields = reportedFields.filter((field): field is InsertedField => !computedFields.has(field))

const insertedNames = insertedFields.map((field) => [field, quoteColumnOf(field)] as const)

/** A loop, because each row of a file passes here. */
function insertedColumns(quote: QuoteCells['quote']): Pick<NewQuote, QuoteName<'column', InsertedField>> {
  const columns: Record<string, unknown> = {}
  for (const [field, column] of insertedNames) columns[column] = quote[field]
  return columns as Pick<NewQuote, QuoteName<'column', InsertedField>>
}

function newQuote(cells: QuoteCells, known: KnownCells): ImportedQuote['columns'] {
  const { end } = cells
  const outcome = outcomeOf(end)
  const won = outcome === 'won'
  return {
    ...routePlaces(cells.route, cells.quote.miles, known.locate),
    equipment: cells.equipment,
    equipment_code: cells.equipment,
    ...insertedColumns(cells.quote),
    quoted_rate_cents: cells.rate,
    outcome,
    outcome_reason: outcome === 'lost' ? end.reason : null,
    outcome_source: outcome === 'pending' ? null : 'import',
    decided_at: outcome === 'pending' ? null : new Date(decidedAt(end, won, cells.createdAt)),
    ...bookedColumns((field) => (won && isSent(field) ? columnValue(field, end[field]) : null)),
    // The file's customer becomes the quote's customer, not that of the booking.
    customer_name: null,
    truck_cost_source: won && end.truckCostCents !== null ? 'import' : null,
  }
}

/** The members of a quote that the row gives. */
function givenValues(quote: QuoteCells['quote']): ReportedRow['quote'] {
  const values: Record<string, unknown> = {}
  for (const name in quote) {
    const value = quote[name as keyof typeof quote]
    if (value !== null) values[name] = value
  }
  return values
}

/** What a row reports about a quote that exists already. */
function reportedRow({ end, quote }: QuoteCells): ReportedRow {
  const ended = reportedEnd(end, outcomeOf(end) === 'won')
  return {
    quote: givenValues(quote),
    ...ended,
    booking: { ...given('customerName', end.customerName), ...ended.booking },
  }
}

/** An object with one member, or with none when the value is null. */
function given<Name extends string, Value>(name: Name, value: Value | null): { [name in Name]?: Value } {
  return value === null ? {} : ({ [name]: value } as { [name in Name]?: Value })
}

function reportedEnd(end: End, hasBooking: boolean): Omit<ReportedRow, 'quote'> {
  const outcome = outcomeOf(end)
  const won = outcome === 'won'
  return {
    booking: hasBooking
      ? Object.fromEntries(
          sentBookingFields.flatMap((field) => (end[field] === null ? [] : [[field, end[field]]])),
        )
      : {},
    outcome: outcome === 'pending' ? null : outcome,
    reason: outcome === 'lost' ? end.reason : null,
    decidedAt: end.decidedAt ?? (won ? end.bookedAt : null),
  }
}

/** When the customer decided: as given, else when the load was booked, else when it was quoted. */
function decidedAt(end: End, won: boolean, createdAt: number): number {
  return end.decidedAt ?? (won ? end.bookedAt : null) ?? createdAt
}

function readBooking(row: RowReader, ref: string, context: RowContext): ReadRow {
  const laneRef = row.read('lane_ref', readLaneRef)
  const end = readEnd(row, context)
  if (row.isWrong) return { kind: 'refused', errors: row.errors }
  // Like a signed update, a row without an outcome may have only some booking fields, such as the carrier.
  const hasBooking = end.given === null || outcomeOf(end) === 'won'
  const reported: ReportedRow = { quote: {}, ...reportedEnd(end, hasBooking) }
  const asUtc = { ...end, bookedAt: row.asUtc('booked_at'), decidedAt: row.asUtc('decided_at') }
  const said = JSON.stringify({ quote: {}, ...reportedEnd(asUtc, hasBooking) })
  return { kind: 'booking', booking: { laneRef: laneRef ?? ref, reported, said } }
}
