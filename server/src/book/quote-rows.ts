import { decidedMiles } from '#engine/appraisal/decided-miles.ts'
import type { LanePlaces } from '#engine/book/quote-book.ts'
import type { QuoteNames } from '#engine/book/quote-names.ts'
import {
  type ConversionDays,
  type CountedAmounts,
  chargesOfDay,
  conversionDayOf,
  countedAmounts,
  type SentAmounts,
} from '#engine/counted-amounts.ts'
import { costThatCounts, rateThatCounts } from '#engine/history.ts'
import {
  bitsOfConvertedBy,
  CONTRACT_BIT,
  emptyPortion,
  FACTS,
  LOST,
  OTHER_REASON_BIT,
  PENDING,
  type QuotePortion,
  type QuoteRow,
  quoteAt,
  REFUSED,
  UNKNOWN_COST,
} from '#engine/quotes/quote-columns.ts'
import { type AmountTerms, type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import type { Steps } from '#engine/steps.ts'
import {
  type BookSettings,
  beforeAnyQuote,
  changedMax,
  conversions,
  int8At,
  type PackedQuotes,
  postgresEpochMs,
  type QuotePlace,
  readBookState,
  readChangedQuotes,
  readQuotesBefore,
  readQuotesOf,
  recordAt,
  recordBytes,
  recordCodes,
  recordSeparator,
  termsAt,
  termsBytes,
  unitSeparator,
  viewOf,
} from '../database/queries/index.ts'
import {
  type Database,
  databaseFailure,
  forBrokerage,
  runInBackground,
  type TenantId,
  type TenantVersions,
} from '../database/session/index.ts'
import { milesBetweenKeys } from '../quotes/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'

/** Receives the quotes of one brokerage, in no particular order, and the ids of deleted quotes. */
export interface QuoteSink {
  /** The number of a lane. The same places and equipment have the same number. */
  lane(places: LanePlaces): number
  /** Numbers the names of customers and carriers. */
  readonly names: QuoteNames
  /** Adds or replaces a quote. `lane` is a number that `lane()` returned. */
  put(lane: number, quote: QuoteRow): void
  /** Like `put`, for a quote that does not count: an amount cannot be converted, or it is of no direct truckload. */
  putApart(lane: number, quote: QuoteRow): void
  /** Removes a quote. An unknown id is ignored. */
  remove(quoteId: number): void
  /** Adds a portion while all quotes are read. The lanes in it are numbers that `lane()` returned. */
  append(portion: QuotePortion, apart: QuotePortion): void
  /** Ends the reading of all quotes, in steps. Until then, only `lane` and `append` are called. */
  join(): Steps<void>
}

/** The result of a read: the sink includes at least these versions; the settings are of the same moment. */
export interface QuotesRead {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** The fuel surcharges and exchange rates that convert amounts; null if no amount needs them. */
  readonly days: ConversionDays | null
  /** The number of quotes put, and of ids removed. */
  readonly put: number
  readonly removed: number
  /** The number of quotes with a time that a JavaScript Date cannot represent. They are left out, or removed if they were in the sink. */
  readonly skipped: number
}

/** The settings by which quotes are counted. */
interface Counting extends Pick<BookSettings, 'basis' | 'rateType' | 'expiredCountsAsLost'> {
  readonly days: QuotesRead['days']
}

/** Quotes read by one statement: some 70 ms of database time, far below the statement timeout. */
export const quotesPerPortion = 20_000
/** When a portion times out (a cold disk, a busy machine), the next ones are smaller, down to this size. */
const quotesPerPortionMin = 1_000

/** The largest distance from 1970 that a Date can have, in milliseconds. */
const dateMsMax = 8.64e15
/** Quotes unpacked in one step. */
const unpackedPerStep = 1_000
/** Quotes put in one step: each may cause its lane to be folded, which takes from 20 us to a millisecond. */
const putPerStep = 10

/** Quotes of a portion: those that count, and those that do not: an amount cannot be converted, or the load is no direct truckload. */
export interface UnpackedQuotes {
  readonly counted: QuotePortion
  readonly apart: QuotePortion
}

/** A lane of the book, with the miles that the service measures between its places. */
interface NumberedLane {
  readonly lane: number
  readonly measured: number | null
}

/**
 * Unpacks quotes, converts their amounts, and numbers their lanes. Quotes with a time that a Date cannot represent are left out.
 * `lanes` caches them between portions, by the text of their places.
 */
export function* unpackInSteps(
  { records, terms, places, customers, carriers }: PackedQuotes,
  sink: Pick<QuoteSink, 'lane' | 'names'>,
  { basis, rateType, expiredCountsAsLost, days }: Counting,
  lanes: Map<string, NumberedLane>,
): Steps<UnpackedQuotes> {
  const counted = emptyPortion(records === null ? 0 : records.length / recordBytes)
  if (records === null || places === null || customers === null || carriers === null) {
    return { counted, apart: emptyPortion(0) }
  }
  const texts = [places, customers, carriers].map((text) => text.split(recordSeparator))
  const [ofPlaces = [], ofCustomers = [], ofCarriers = []] = texts
  if (texts.some((list) => list.length * recordBytes !== records.length))
    throw new Error('The quotes and their places do not match.')
  const numbers = viewOf(records)
  const ofTerms = viewOf(terms ?? Buffer.alloc(0))
  const apart = emptyPortion(ofTerms.byteLength / termsBytes + countNotDirect(numbers))
  counted.count = 0
  apart.count = 0
  let lastCustomers: string | null = null
  let names = 0
  for (let index = 0, termsStart = 0; index < ofPlaces.length; index++) {
    if (index % unpackedPerStep === 0) yield
    const start = index * recordBytes
    const quoteId = int8At(numbers, start)
    const hasTerms =
      termsStart < ofTerms.byteLength && int8At(ofTerms, termsStart + termsAt.quoteId) === quoteId
    const ownTerms = hasTerms ? termsStart : null
    if (hasTerms) termsStart += termsBytes
    const quotedAt = timeAt(numbers, start + recordAt.quotedAt)
    if (Math.abs(quotedAt) > dateMsMax) continue
    const places = ofPlaces[index] as string
    const { lane, measured } = lanes.get(places) ?? numberedLane(places, sink, lanes)
    const ofQuote = ofCustomers[index] as string
    if (ofQuote !== lastCustomers) {
      // Quotes with the same customers follow each other, so the last names are reused.
      names = customersIn(ofQuote, sink.names)
      lastCustomers = ofQuote
    }
    const codes = numbers.getInt32(start + recordAt.codes)
    const sent = sentAmounts(numbers, start, ownTerms === null ? null : { numbers: ofTerms, at: ownTerms })
    const miles = milesThatCount(numbers.getFloat64(start + recordAt.miles), measured)
    const converted =
      ownTerms === null
        ? null
        : countedAmounts(sent, basis, () => {
            const customerKey = sink.names.customers[names]?.quotedKey ?? ''
            return chargesOfDay(days, { customerKey, day: conversionDayOf(quotedAt), miles })
          })
    const isApart = (ownTerms !== null && converted === null) || isNotDirect(codes)
    // Amounts that state no terms are in US dollars on the default basis. Those that cannot be converted count nowhere.
    const amounts = converted ?? sent
    const portion = isApart ? apart : counted
    const { quotedCents, estimatedCents, expectedCents, customerRateCents, truckCostCents } = amounts
    const count = portion.count++
    portion.lane[count] = lane
    portion.quoteId[count] = quoteId
    portion.quotedAt[count] = quotedAt
    portion.miles[count] = miles
    portion.rateCents[count] = rateThatCounts({ quotedRateCents: quotedCents, customerRateCents })
    portion.costCents[count] =
      costThatCounts({ estimatedCostCents: estimatedCents, truckCostCents }) ?? UNKNOWN_COST
    portion.traits[count] = traitsIn(codes, { rateType, expiredCountsAsLost })
    portion.customer[count] = numbers.getInt32(start + recordAt.customer)
    portion.quotedCents[count] = quotedCents
    portion.quotedCostCents[count] = (estimatedCents || expectedCents) ?? 0
    portion.marketCents[count] = amounts.marketCents ?? 0
    portion.decidedAt[count] = Math.max(quotedAt, timeAt(numbers, start + recordAt.decidedAt))
    portion.names[count] = names
    portion.carrier[count] = carrierIn(ofCarriers[index] as string, sink.names)
    portion.person[count] = numbers.getInt32(start + recordAt.person)
    portion.facts[count] =
      factsOf(codes, sent, { converted: ownTerms === null ? sent : isApart ? null : converted, basis }) |
      bitsOfConvertedBy(converted?.convertedBy ?? null)
  }
  return { counted, apart }
}

const isNotDirect = (codes: number) => (codes & recordCodes.notDirect) !== 0

/** The quotes of packed records with stops, or of another mode than truckload. */
function countNotDirect(numbers: DataView): number {
  let count = 0
  for (let at = recordAt.codes; at < numbers.byteLength; at += recordBytes) {
    if (isNotDirect(numbers.getInt32(at))) count++
  }
  return count
}

/** A time of PostgreSQL in epoch milliseconds. */
const timeAt = (numbers: DataView, at: number) => Math.floor(int8At(numbers, at) / 1000) + postgresEpochMs

function numberedLane(
  places: string,
  sink: Pick<QuoteSink, 'lane'>,
  lanes: Map<string, NumberedLane>,
): NumberedLane {
  const own = ownText(places)
  const read = placesIn(own)
  const made = {
    lane: sink.lane(read),
    measured: milesBetweenKeys(read.originKey, read.destinationKey),
  }
  lanes.set(own, made)
  return made
}

/** Unknown miles are NaN. */
function milesThatCount(stored: number, measured: number | null): number {
  return decidedMiles({ typed: Number.isNaN(stored) ? null : stored, measured }) ?? Number.NaN
}

/** A copy of a text: a substring would hold the text of the whole portion in memory. */
const ownText = (text: string) => Buffer.from(text).toString()

function customersIn(text: string, names: QuoteSink['names']): number {
  const end = text.indexOf(unitSeparator)
  if (end < 0) throw new Error('The customers of a quote cannot be parsed.')
  const booked = text.slice(end + 1)
  return names.customer(text.slice(0, end), booked === '' ? null : booked)
}

function carrierIn(text: string, names: QuoteSink['names']): number {
  return text === '' ? 0 : names.carrier(text)
}

/** The code of an expired quote in a record. */
const EXPIRED = 3

function outcomeIn(codes: number, expiredCountsAsLost: boolean): number {
  if ((codes & recordCodes.refusedOffer) !== 0) return REFUSED
  const outcome = codes & recordCodes.outcome
  return outcome !== EXPIRED ? outcome : expiredCountsAsLost ? LOST : PENDING
}

function traitsIn(
  codes: number,
  { rateType, expiredCountsAsLost }: Pick<Counting, 'rateType' | 'expiredCountsAsLost'>,
): number {
  return (
    outcomeIn(codes, expiredCountsAsLost) |
    (isContract(codes, rateType) ? CONTRACT_BIT : 0) |
    ((codes & recordCodes.lostForOtherReason) === 0 ? 0 : OTHER_REASON_BIT)
  )
}

function isContract(codes: number, ofUnstated: RateType): boolean {
  return (codes & recordCodes.noRateType) === 0
    ? (codes & recordCodes.contract) !== 0
    : ofUnstated === 'contract'
}

const ifSent = (cents: number) => (cents < 0 ? null : cents)
const notStated: AmountTerms = { basis: null, fuelCents: null, accessorialCents: null, currency: null }
const basisOf = [null, 'linehaul', 'all_in'] as const
const currencyOf = [null, 'USD', 'CAD'] as const

/** The amounts of a quote's record. Their terms are in a second record, if the quote states any. */
function sentAmounts(
  numbers: DataView,
  start: number,
  terms: { readonly numbers: DataView; readonly at: number } | null,
): SentAmounts {
  const cents = (at: number) => ifSent(numbers.getInt32(start + at))
  const codes = terms === null ? 0 : terms.numbers.getInt32(terms.at + termsAt.codes)
  const statedIn = (of: 'quoted' | 'customer' | 'truck', nth: number): AmountTerms => {
    if (terms === null) return notStated
    const charges = terms.at + termsAt[of]
    return {
      basis: basisOf[(codes >> (2 * nth)) & 3] ?? null,
      currency: currencyOf[(codes >> (8 + 2 * nth)) & 3] ?? null,
      fuelCents: ifSent(terms.numbers.getInt32(charges)),
      accessorialCents: ifSent(terms.numbers.getInt32(charges + 4)),
    }
  }
  return {
    quotedCents: numbers.getInt32(start + recordAt.quoted),
    estimatedCents: cents(recordAt.estimated),
    expectedCents: cents(recordAt.expected),
    expectedBasis: basisOf[(codes >> 6) & 3] ?? null,
    marketCents: cents(recordAt.market),
    customerRateCents: cents(recordAt.customerRate),
    truckCostCents: cents(recordAt.truckCost),
    quoted: statedIn('quoted', 0),
    customer: statedIn('customer', 1),
    truck: statedIn('truck', 2),
  }
}

type BookedAmounts = Pick<CountedAmounts, 'customerRateCents' | 'truckCostCents'>

function factsOf(
  codes: number,
  sent: SentAmounts,
  { converted, basis }: { readonly converted: BookedAmounts | null; readonly basis: RateBasis },
): number {
  const { customerRateCents: revenue, truckCostCents: cost, quoted, customer, truck } = sent
  const isCad = ({ currency }: AmountTerms) => currency === 'CAD'
  const bit = (isSet: boolean, fact: number) => (isSet ? fact : 0)
  const isBooked =
    revenue !== null || cost !== null || (codes & (recordCodes.otherBooking | recordCodes.cancelled)) !== 0
  return (
    bit(revenue !== null, FACTS.customerRate) |
    bit(cost !== null, FACTS.truckCost) |
    bit((codes & recordCodes.imported) !== 0, FACTS.imported) |
    bit((codes & recordCodes.cancelled) !== 0, FACTS.cancelled) |
    bit(isBooked, FACTS.booked) |
    bit(isCad(quoted) || isCad(customer) || isCad(truck), FACTS.inCad) |
    bit((codes & recordCodes.outcome) === EXPIRED, FACTS.expired) |
    bit((codes & recordCodes.decidedByService) !== 0, FACTS.decidedByService) |
    bit(statesTerms(customer) || statesTerms(truck), FACTS.bookingTerms) |
    bit(isNotDirect(codes), FACTS.notDirect) |
    bit(isAtALoss(sent, { converted, basis }), FACTS.atALoss)
  )
}

const statesTerms = ({ basis, currency }: AmountTerms) => basis !== null || (currency ?? null) !== null

/**
 * Whether AP is above AR. If both have the same basis and currency, they are compared as sent, else as converted. False if they
 * cannot be compared.
 */
function isAtALoss(
  { customerRateCents, truckCostCents, customer, truck }: SentAmounts,
  { converted, basis }: { readonly converted: BookedAmounts | null; readonly basis: RateBasis },
): boolean {
  if (customerRateCents === null || truckCostCents === null) return false
  const termsOf = ({ basis, currency }: AmountTerms) => ({ basis, currency: currency ?? null })
  if (sameTerms(termsOf(customer), termsOf(truck), basis)) return truckCostCents > customerRateCents
  return converted !== null && (converted.truckCostCents ?? 0) > (converted.customerRateCents ?? 0)
}

function* putInSteps({ counted, apart }: UnpackedQuotes, sink: QuoteSink): Steps<void> {
  for (let at = 0; at < counted.count; at++) {
    if (at % putPerStep === putPerStep - 1) yield
    sink.put(counted.lane[at] as number, quoteAt(counted, at))
  }
  for (let at = 0; at < apart.count; at++) {
    if (at % putPerStep === putPerStep - 1) yield
    sink.putApart(apart.lane[at] as number, quoteAt(apart, at))
  }
}

/** Removes quotes. Run the steps in the sink's queue, so that no other work is reading the sink meanwhile. */
function* removeInSteps(ids: Iterable<number>, sink: QuoteSink): Steps<void> {
  let removed = 0
  for (const quoteId of ids) {
    if (removed++ % putPerStep === putPerStep - 1) yield
    sink.remove(quoteId)
  }
}

function placesIn(text: string): LanePlaces {
  const [
    originKey,
    destinationKey,
    originState,
    destinationState,
    originMarket,
    destinationMarket,
    equipmentCode,
    ...more
  ] = text.split(unitSeparator)
  if (
    originKey === undefined ||
    destinationKey === undefined ||
    originState === undefined ||
    destinationState === undefined ||
    equipmentCode === undefined ||
    more.length > 0
  )
    throw new Error('The places of a quote cannot be parsed.')
  return {
    originKey,
    destinationKey,
    originState,
    destinationState,
    originMarket: originMarket || null,
    destinationMarket: destinationMarket || null,
    equipmentCode,
  }
}

/**
 * Puts all quotes of a brokerage into a sink, newest first, some thousands at a time. Each portion is a transaction of its
 * own, and other requests are served in between. The next `followQuotes` reads the changes made meanwhile.
 *
 * @throws whatever `onPortion` throws: it is called after each portion; `onAnswer` after each answer of the database
 */
export async function openQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  sink: QuoteSink,
  {
    perPortion = quotesPerPortion,
    only,
    onPortion = () => {},
    onAnswer = () => {},
  }: {
    readonly perPortion?: number
    /** The ids of the quotes to read. Absent: all. */
    readonly only?: readonly number[]
    readonly onPortion?: (put: number) => void
    readonly onAnswer?: () => void
  } = {},
): Promise<QuotesRead> {
  return runInBackground(() =>
    forBrokerage(async () => {
      // The versions are read first: anything committed later has a higher version.
      const { versions, settings, days } = await database.inTenant(tenant, async (transaction) => {
        const standing = await readBookState(transaction, tenant, null)
        const { mixed } = standing.settings
        return { ...standing, days: mixed ? await conversions.conversionDays(transaction, tenant) : null }
      })
      onAnswer()
      const portions =
        only === undefined
          ? portionsOf(database, tenant, perPortion)
          : portionsWith(database, tenant, { quoteIds: only, perPortion })
      const counting = { ...settings, days }
      // The database reads each portion while the previous one is unpacked.
      let coming = portions.next()
      coming.catch(() => {})
      const lanes = new Map<string, NumberedLane>()
      let put = 0
      let skipped = 0
      for (;;) {
        const { value: packed, done } = await coming
        onAnswer()
        if (done === true) break
        coming = portions.next()
        coming.catch(() => {})
        const { counted, apart } = await yieldBetweenSteps(unpackInSteps(packed, sink, counting, lanes), sink)
        sink.append(counted, apart)
        const read = counted.count + apart.count
        put += read
        skipped += counted.lane.length - read
        onPortion(put)
      }
      await yieldBetweenSteps(sink.join(), sink)
      return { versions, settings, days, put, removed: 0, skipped }
    }),
  )
}

/** The quotes with these ids. */
async function* portionsWith(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  { quoteIds, perPortion }: { readonly quoteIds: readonly number[]; readonly perPortion: number },
): AsyncGenerator<PackedQuotes, void> {
  for (let start = 0; start < quoteIds.length; start += perPortion) {
    const some = quoteIds.slice(start, start + perPortion)
    yield await database.inTenant(tenant, (transaction) => readQuotesOf(transaction, tenant, some))
  }
}

/** All quotes of a brokerage, newest first. Quotes of the same time share pages, so a portion reads few pages. */
async function* portionsOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  perPortion: number,
): AsyncGenerator<PackedQuotes, void> {
  let limit = perPortion
  for (let before: QuotePlace | null = beforeAnyQuote; before !== null; ) {
    const from: QuotePlace = before
    const portion = await database
      .inTenant(tenant, (transaction) => readQuotesBefore(transaction, tenant, { before: from, max: limit }))
      .catch((error: unknown) => {
        if (databaseFailure(error) !== 'too-slow' || limit <= quotesPerPortionMin) throw error
        return null
      })
    if (portion === null) {
      limit = Math.max(quotesPerPortionMin, Math.floor(limit / 4))
      continue
    }
    yield portion.packed
    before = portion.end
  }
}

/**
 * Brings a sink up to date: puts the quotes that changed since its versions, and removes deleted ones. Returns `'gone'`, without
 * changing the sink, when it is unknown which quotes changed, or when so many did that opening the book again is quicker.
 */
export async function followQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  { versions, settings, days: known }: Pick<QuotesRead, 'versions' | 'settings' | 'days'>,
  sink: QuoteSink,
): Promise<QuotesRead | 'gone'> {
  const since = versions.facts
  const found = await database.inTenant(tenant, async (transaction) => {
    const standing = await readBookState(transaction, tenant, since)
    if (standing.changed === null || standing.changed > changedMax) return 'gone'
    if (standing.settings.expiredCountsAsLost !== settings.expiredCountsAsLost) return 'gone'
    if (standing.settings.basis !== settings.basis) return 'gone'
    if (standing.settings.rateType !== settings.rateType) return 'gone'
    if (standing.settings.mixed && standing.settings.conversions !== settings.conversions) return 'gone'
    const { mixed } = standing.settings
    // The conversions did not change. They are read only if nothing had to be converted until now.
    const days = mixed ? (known ?? (await conversions.conversionDays(transaction, tenant))) : null
    const ids = standing.changed === 0 ? [] : await readChangedQuotes(transaction, tenant, since)
    const portions: PackedQuotes[] = []
    for (let start = 0; start < ids.length; start += quotesPerPortion) {
      const some = ids.slice(start, start + quotesPerPortion)
      portions.push(await readQuotesOf(transaction, tenant, some))
    }
    return { standing, days, ids, portions }
  })
  if (found === 'gone') return found
  const { standing, days, ids, portions } = found
  const counting = { ...standing.settings, days }
  const left = new Set(ids)
  const lanes = new Map<string, NumberedLane>()
  let put = 0
  let skipped = 0
  for (const packed of portions) {
    const unpacked = await yieldBetweenSteps(unpackInSteps(packed, sink, counting, lanes), sink)
    await yieldBetweenSteps(putInSteps(unpacked, sink), sink)
    for (const { count, quoteId: read } of [unpacked.counted, unpacked.apart]) {
      for (const quoteId of read.subarray(0, count)) left.delete(quoteId)
      put += count
      skipped -= count
    }
    skipped += unpacked.counted.lane.length
  }
  await yieldBetweenSteps(removeInSteps(left, sink), sink)
  const { versions: newest, settings: inForce } = standing
  return { versions: newest, settings: inForce, days, put, removed: left.size, skipped }
}
