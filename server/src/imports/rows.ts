import {
  type BookingValue,
  bookingTable,
  isSent,
  type SentBookingField,
  sentBookingFields,
} from '#engine/booking-fields.ts'
import type { SavedOutcome } from '#engine/history.ts'
import { arePlausibleMiles, greatCircleMiles } from '#engine/miles.ts'
import { formatDollars } from '#engine/money.ts'
import { isNotGiven } from '#engine/not-given.ts'
import { foldCity, type Place, readState } from '#engine/place.ts'
import {
  digestedTerms,
  type QuoteFieldOf,
  type QuoteName,
  type QuoteValue,
  quoteColumnOf,
  quotedTermsFields,
  quoteFieldsOf,
  quoteTable,
} from '#engine/quote-fields.ts'
import { comparableCents, sameTerms } from '#engine/rate-basis.ts'
import { type PartsRead, readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import {
  type Cell,
  type ImportFieldName,
  type OutcomeReason,
  quoteCells,
  quoted,
  type ReadOutcome,
  readEquipment,
  readId,
  readOutcome,
  readReason,
  readText,
  readYesNo,
  withoutGuards,
} from '../csv/index.ts'
import { bookedColumns, columnValue, type NewQuote } from '../database/queries/index.ts'
import { lanePlaces } from '../quotes/index.ts'
import { dateFields } from './columns.ts'
import type { KnownCells } from './known-cells.ts'
import { type QuotedTermsRead, readBookingCells, readQuotedCharges, withAssumedBases } from './row-charges.ts'
import { type CellError, type RowContext, RowReader } from './row-reader.ts'

/** A booking as a row reports it. An absent member is not reported. Amounts in whole cents. */
export type ReportedBooking = { readonly [F in SentBookingField]?: BookingValue<F> }

/** The fields of a quote that a row reports with one value each. Its places, equipment and customer are read separately. */
export type ReportedQuoteField = Exclude<
  QuoteFieldOf<'file'>,
  'origin' | 'destination' | 'equipment' | 'quotedCustomerName'
>
const readApart: ReadonlySet<string> = new Set(['origin', 'destination', 'equipment', 'quotedCustomerName'])
export const reportedFields = quoteFieldsOf('file').filter(
  (field): field is ReportedQuoteField => !readApart.has(field),
)
type QuoteValues = { readonly [F in ReportedQuoteField]: QuoteValue<F> | null }

/** A quote as a row reports it. An absent member is not reported. Amounts in whole cents. */
export type ReportedQuote = { readonly [F in ReportedQuoteField]?: QuoteValue<F> }

/** What a row reports about a quote that exists already. */
export interface ReportedRow {
  readonly quote: ReportedQuote
  readonly booking: ReportedBooking
  /** Null when the row reports no outcome. Only an edited row reports that a quote is pending again. */
  readonly outcome: SavedOutcome | null
  readonly reason: OutcomeReason | null
  readonly decidedAt: number | null
}

export type ReadRow =
  | { readonly kind: 'quote'; readonly quote: ImportedQuote }
  | { readonly kind: 'booking'; readonly booking: ImportedBooking }
  | { readonly kind: 'refused'; readonly errors: readonly CellError[] }

/** A past quote. `quotedAt` is in epoch milliseconds. */
export interface ImportedQuote {
  readonly customerName: string
  /** The file's own id of the row, if any. It identifies the row in later files. */
  readonly reference: string | null
  /** A text such as N/A, which earlier versions read as the row's id, with the values that they then compared. */
  readonly formerly: { readonly reference: string; readonly said: string } | null
  readonly quotedAt: number
  readonly columns: NewQuote
  /** The row as an update of a quote that an earlier file added under the same reference. */
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

/** Whether a row names a place. One with a lane_ref is otherwise the booking or the outcome of that quote. */
function hasPlaces(row: RowReader): boolean {
  return (['origin', 'destination'] as const).some((end) =>
    ([end, `${end}_city`, `${end}_zip`] as const).some((field) => row.text(field) !== null),
  )
}

/** Reads the cells that both kinds of row can have: booking and outcome. */
function readEnd(row: RowReader, { now, columns }: RowContext) {
  const given = row.readCached('outcome', readOutcome)
  const reasonText = row.text('outcome_reason')
  return {
    ...withAssumedBases(readBookingCells(row, now), row, columns),
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

/** Booking fields with a fixed position in `contentOf`. The others follow at the end. */
const fixedFields: ReadonlySet<SentBookingField> = new Set([
  'customerRateCents',
  'truckCostCents',
  'customerName',
  'carrierName',
  'carrierNotes',
  'bookedAt',
])

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
  const laneRef = row.read('lane_ref', readLaneRef)
  const reference = row.read('reference', readId) ?? laneRef
  const pickupAt = pickupDate === null ? null : row.dates.startOf(pickupDate)
  // A pickup day can be in the future; a quote cannot, so it is dated now. All quotes of a file without dates are dated now, with a
  // warning.
  const createdAt =
    quotedAt ??
    end.bookedAt ??
    end.decidedAt ??
    (pickupAt === null && hasDates(row) ? null : Math.min(pickupAt ?? now, now))
  const rate = quotedRate ?? end.customerRateCents
  if (!row.isWrong) {
    if (rate === null)
      row.missing(context.columns.names.quoted_rate === undefined ? 'customer_rate' : 'quoted_rate')
    if (createdAt === null) {
      row.missing(dateFields.find((field) => row.has(field)) ?? 'quoted_at')
    }
  }
  if (rate !== null && origin !== null && destination !== null && !row.isWrong) {
    const fault = unitFault(rate, milesBetween([origin, destination], known))
    if (fault !== null) row.wrong(quotedRate === null ? 'customer_rate' : 'quoted_rate', fault)
  }
  if (row.isWrong) return { kind: 'refused', errors: row.errors }
  // A null here always has an error. The check narrows the types.
  if (origin === null || destination === null || equipment === null || rate === null || createdAt === null) {
    throw new Error('A row without errors lacks a value.')
  }

  const cells: QuoteCells = {
    origin,
    destination,
    equipment,
    end,
    own,
    rate,
    quote: {
      ...own,
      ...quotedTerms,
      quotedRateCents: quotedRate ?? (outcomeOf(end) === 'won' ? null : end.customerRateCents),
      estimatedCostCents: own.estimatedCostCents ?? estimateFromTruckCost(end, quotedTerms, context),
      miles: plausibleMiles(own.miles, [origin, destination], known),
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
      reported: reportedRow(cells),
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

/** Fields of the quoted rate's terms, which `readQuotedCharges` reads. */
const isOfTerms: ReadonlySet<string> = new Set(quotedTermsFields)
type TermsField = (typeof quotedTermsFields)[number]
type OwnValues = { readonly [F in Exclude<ReportedQuoteField, TermsField>]: QuoteValue<F> | null }
const ownFields = reportedFields.filter((field): field is keyof OwnValues => !isOfTerms.has(field))

/** Own fields with a fixed position in `contentOf`. The others follow at the end. */
const fixedOwnFields: ReadonlySet<string> = new Set([
  'quotedRateCents',
  'estimatedCostCents',
  'marketRateCents',
  'miles',
  'quotedAt',
  'pickupDate',
])

/** Reads the fields of a quote that follow from one cell each, by their unit. */
export function readOwnFields(row: RowReader, now: number): OwnValues {
  const values = ownFields.map((field) => {
    const { sent, unit } = quoteTable[field]
    if (unit === 'time') return [field, row.past(sent, now)]
    if (unit === 'day') return [field, row.dayNear(sent, now)]
    // Many rows share a rep or a type of rate; few share an amount.
    const isShared = unit === 'rateType' || field === 'repName'
    const reader = quoteCells[unit] as (text: string) => Cell<string | number | null>
    return [field, isShared ? row.readCached(sent, reader) : row.read(sent, reader)]
  })
  return Object.fromEntries(values) as OwnValues
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

/** The miles of a straight line; null if a place is unknown. */
function milesBetween([origin, destination]: readonly [Place, Place], known: KnownCells): number | null {
  const [from, to] = [known.locate(origin), known.locate(destination)]
  return from === null || to === null ? null : greatCircleMiles(from, to)
}

/** Below this distance, the unit is not checked: a correct amount per load can be as low or as high per mile as one in another unit. */
const unitMilesMin = 100

/**
 * Why the rate of a load cannot be dollars per load, given its miles; null if it can. A rate per mile has cents and is below $15;
 * a rate in cents is above $100 per mile.
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

/** Whether the file has a column that can date a quote. */
function hasDates(row: RowReader): boolean {
  return dateFields.some((field) => row.has(field))
}

/** The valid cells of a quote's row. Amounts in whole cents, times in epoch milliseconds. */
interface QuoteCells {
  readonly origin: Place
  readonly destination: Place
  /** The equipment code. */
  readonly equipment: string
  readonly end: End
  /** The values of the row's own cells. */
  readonly own: OwnValues
  /** The quoted rate, or else the booked one. */
  readonly rate: number
  /**
   * What the row reports about its quote. In a row that is not won, the customer rate is the quoted rate, and the truck cost is the
   * estimated cost. Implausible miles are left out.
   */
  readonly quote: QuoteValues
  readonly createdAt: number
}

/** The fields that are inserted as reported. The other three are computed. */
type InsertedField = Exclude<ReportedQuoteField, 'quotedRateCents' | 'quotedAt' | 'miles'>
const insertedFields = reportedFields.filter(
  (field): field is InsertedField => field !== 'quotedRateCents' && field !== 'quotedAt' && field !== 'miles',
)

function newQuote(cells: QuoteCells, known: KnownCells): ImportedQuote['columns'] {
  const { end } = cells
  const outcome = outcomeOf(end)
  const won = outcome === 'won'
  return {
    ...lanePlaces(cells.origin, cells.destination, cells.quote.miles, known.locate),
    equipment: cells.equipment,
    equipment_code: cells.equipment,
    ...(Object.fromEntries(insertedFields.map((field) => [quoteColumnOf(field), cells.quote[field]])) as Pick<
      NewQuote,
      QuoteName<'column', InsertedField>
    >),
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

/** What a row reports about a quote that exists already. */
function reportedRow({ end, quote }: QuoteCells): ReportedRow {
  const ended = reportedEnd(end, outcomeOf(end) === 'won')
  return {
    quote: Object.fromEntries(Object.entries(quote).filter(([, value]) => value !== null)),
    ...ended,
    booking: { ...given('customerName', end.customerName), ...ended.booking },
  }
}

/**
 * All values of a row as one text, for its digest. Their order is fixed, because digests of earlier files are stored. Charges are in
 * it only if there are any. An assumed basis and the rep are in it only if the row has an id. Without an id, the text identifies the
 * row, so another assumed basis, or the rep, which earlier versions did not read, would make it a second quote. Local times are in it
 * as if they were UTC, as earlier versions read them.
 */
function contentOf({ end, own, quote, ...cells }: QuoteCells, hasId: boolean, row: RowReader): string {
  const digested = (unit: string, sent: ImportFieldName, value: string | number | null) => {
    if (unit === 'currency') return digestedCurrency(row, sent, value)
    return unit !== 'basis' || hasId || row.has(sent) ? value : null
  }
  const charges = [...sentBookingFields.filter((field) => !fixedFields.has(field))].map((field) =>
    digested(bookingTable[field].unit, bookingTable[field].sent, end[field]),
  )
  const all = [
    ...charges,
    ...digestedTerms.map((field) => digested(quoteTable[field].unit, quoteTable[field].sent, quote[field])),
  ]
  return JSON.stringify([
    cells.origin.key,
    cells.destination.key,
    cells.equipment,
    own.quotedRateCents,
    end.customerRateCents,
    end.truckCostCents,
    own.estimatedCostCents,
    own.marketRateCents,
    own.miles,
    ...(['customerName', 'carrierName', 'carrierNotes'] as const).map((field) => {
      const { sent } = bookingTable[field]
      return asWritten(row, sent, end[field] ?? formerText(row, sent))
    }),
    outcomeOf(end),
    end.reason,
    row.asUtc('quoted_at'),
    row.asUtc('decided_at'),
    row.asUtc('booked_at'),
    own.pickupDate,
    ...(all.every((value) => value === null) ? [] : all),
    ...laterFields.flatMap((field) =>
      own[field] === null || (field === 'repName' && !hasId)
        ? []
        : [
            [
              quoteTable[field].sent,
              field === 'repName' ? asWritten(row, 'rep_name', own[field]) : own[field],
            ],
          ],
    ),
  ])
}

/**
 * The currency of an amount for the digest of its row. US dollars count only if a column of currencies says so: earlier versions did not
 * read them from cells and names of columns.
 */
function digestedCurrency<Value>(row: RowReader, field: ImportFieldName, value: Value): Value | null {
  const isOfCustomer = field === 'quoted_currency' && row.text('quoted_rate') === null
  const columns = [
    field,
    'quoted_currency',
    ...(isOfCustomer ? (['customer_currency'] as const) : []),
  ] as const
  return value !== 'USD' || columns.some((one) => row.text(one) !== null) ? value : null
}

/** A name or an id such as N/A, which earlier versions read as a text. It stays in the digest of its row. */
function formerText(
  row: RowReader,
  field: 'customer_name' | 'carrier_name' | 'carrier_mc' | 'reference',
): string | null {
  const text = row.notGiven(field)
  const cell = text === null ? null : readText(text)
  return cell !== null && 'value' in cell ? cell.value : null
}

/** A name with the apostrophe that the file has before it. Earlier versions kept it, and their digests are stored. */
function asWritten(row: RowReader, field: ImportFieldName, name: string | null): string | null {
  const text = row.text(field)
  return text === null || withoutGuards(text) === text ? name : text.replace(/\s+/g, ' ')
}

/** Fields that were added later. A row without them keeps its digest. */
const laterFields = ownFields.filter((field) => !fixedOwnFields.has(field))

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

/** The given miles, or null if they are not plausible between the places. Unknown places accept any miles. */
function plausibleMiles(
  miles: number | null,
  [origin, destination]: readonly [Place, Place],
  known: KnownCells,
): number | null {
  const [from, to] = [known.locate(origin), known.locate(destination)]
  if (miles === null || from === null || to === null) return miles
  return arePlausibleMiles(miles, from, to) ? miles : null
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

/** Reads the place of pickup or delivery, from one column or from city, state and ZIP code. */
function readEndpoint(row: RowReader, end: 'origin' | 'destination'): Place | null {
  const [city, state, zip] = [`${end}_city`, `${end}_state`, `${end}_zip`] as const
  if (row.text(end) !== null) return row.readCached(end, readGivenPlace)
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

/** Reads a place whose city is given: `TBD, TX` is none. */
function readGivenPlace(text: string): ReturnType<typeof readAnyPlace> {
  const read = readAnyPlace(text)
  return 'value' in read && isNotGiven('city', read.value.city)
    ? { wrong: 'a city with its state, such as "Portland, OR"' }
    : read
}

/** Reads the parts of a place from one text, which is the key of the cache. */
function readParts(text: string): PartsRead {
  const [city = '', state = '', zip = ''] = text.split('\n')
  return readPlaceParts({ city: city || null, state: state || null, zip: zip || null })
}

/** Reads the site number that some exports have in place of a city. Such a load counts for its state, and is found by no city. */
function readSite(city: string | null, state: string | null): Place | null {
  const code = state === null ? null : readState(state)
  return code !== null && city !== null && /^\d{1,10}$/.test(city)
    ? { key: `${foldCity(city)}|${code}`, city, state: code }
    : null
}
