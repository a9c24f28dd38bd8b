import type { LanePlaces } from '#engine/book/quote-book.ts'
import type { QuoteRow } from '#engine/book/quote-columns.ts'
import type { Steps } from '#engine/steps.ts'
import {
  type BookSettings,
  beforeAnyQuote,
  changedMax,
  countQuotes,
  int8At,
  type PackedQuotes,
  type QuotePlace,
  readBookStanding,
  readChangedLanes,
  readQuotesBefore,
  readQuotesOf,
  recordBytes,
  recordSeparator,
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
import { yieldBetweenSteps } from '../runtime/index.ts'

/** Receives the quotes of one brokerage, in no particular order, and the ids of deleted quotes. */
export interface QuoteSink {
  /** The number of a lane, the same for the same places and equipment. */
  lane(places: LanePlaces): number
  /** Adds or replaces a quote. `lane` is a number that `lane()` returned. The caller reuses the object `quote`: do not keep it. */
  put(lane: number, quote: QuoteRow): void
  /** Removes a quote. An unknown id is ignored. */
  remove(laneId: number): void
  /** Allocates memory for about this many quotes. */
  reserve(quotes: number): void
}

/** The result of a read: the sink includes at least these versions; the settings are of the same moment. */
export interface QuotesRead {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** The number of quotes put, and of ids removed. */
  readonly put: number
  readonly removed: number
  /** Quotes with a time that a JavaScript Date cannot hold: they are left out. */
  readonly skipped: number
}

/** Quotes read by one statement: some 70 ms of database time, far below the statement timeout. */
export const quotesPerPortion = 20_000
/** When a portion times out (a cold disk, a busy machine), the next ones are smaller, down to this size. */
const quotesPerPortionMin = 1_000
/** The largest allocation made in advance. A larger brokerage grows portion by portion until it exceeds the limit. */
const reservedMax = 4_000_000

/** PostgreSQL counts microseconds from the year 2000. */
const postgresEpochMs = Date.UTC(2000, 0, 1)
/** The largest distance from 1970 that a Date can have, in milliseconds. */
const dateMsMax = 8.64e15
/** Quotes put in one step: each may cause its lane to be folded, which takes from 20 us to a millisecond. */
const quotesPerStep = 10

/** Puts packed quotes into a sink and calls `seen` with the id of each. `lanes` caches lane numbers between portions. */
export function* putInSteps(
  { records, places: texts }: PackedQuotes,
  sink: QuoteSink,
  lanes: Map<string, number>,
  seen?: (laneId: number) => void,
): Steps<{ put: number; skipped: number }> {
  if (records === null || texts === null) return { put: 0, skipped: 0 }
  const lists = texts.split(recordSeparator)
  if (lists.length * recordBytes !== records.length)
    throw new Error('The quotes and their places do not match.')
  const numbers = viewOf(records)
  yield
  let skipped = 0
  // One object for all quotes: a new one for each would be a hundred megabytes of garbage for a million.
  const quote = { laneId: 0, quotedAt: 0, rateCents: 0, costCents: 0, outcome: 0, miles: 0, customer: 0 }
  for (let index = 0; index < lists.length; index++) {
    if (index % quotesPerStep === quotesPerStep - 1) yield
    const text = lists[index] as string
    const at = index * recordBytes
    const laneId = int8At(numbers, at)
    const quotedAt = Math.floor(int8At(numbers, at + 8) / 1000) + postgresEpochMs
    seen?.(laneId)
    if (Math.abs(quotedAt) > dateMsMax) {
      sink.remove(laneId)
      skipped++
      continue
    }
    let lane = lanes.get(text)
    if (lane === undefined) {
      lane = sink.lane(placesIn(text))
      lanes.set(text, lane)
    }
    const costCents = numbers.getInt32(at + 28)
    quote.laneId = laneId
    quote.quotedAt = quotedAt
    quote.rateCents = numbers.getInt32(at + 24)
    quote.costCents = costCents < 0 ? Number.NaN : costCents
    quote.outcome = numbers.getUint8(at + 32)
    quote.miles = numbers.getFloat64(at + 16)
    quote.customer = numbers.getInt32(at + 33)
    sink.put(lane, quote)
  }
  return { put: lists.length - skipped, skipped }
}

function placesIn(text: string): LanePlaces {
  // A substring would keep the text of the whole portion in memory.
  const own = Buffer.from(text).toString()
  const [
    originKey,
    destinationKey,
    originState,
    destinationState,
    originMarket,
    destinationMarket,
    equipmentCode,
    ...more
  ] = own.split(unitSeparator)
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
    onPortion = () => {},
    onAnswer = () => {},
  }: {
    readonly perPortion?: number
    readonly onPortion?: (put: number) => void
    readonly onAnswer?: () => void
  } = {},
): Promise<QuotesRead> {
  return runInBackground(() =>
    forBrokerage(async () => {
      // The versions are read first: anything committed later has a higher version.
      const { versions, settings } = await database.inTenant(tenant, (transaction) =>
        readBookStanding(transaction, tenant, null),
      )
      onAnswer()
      const portions = portionsOf(database, tenant, settings, perPortion)
      // The database reads each portion while the previous one is put, and the first one while the quotes are counted
      // (39 ms of database time for 100,000).
      let coming = portions.next()
      coming.catch(() => {})
      const quotes = await database.inTenant(tenant, (transaction) => countQuotes(transaction, tenant))
      // A full column is copied to grow, which would block the event loop. Five percent more is room for weeks.
      sink.reserve(Math.min(reservedMax, Math.ceil(quotes * 1.05)))
      const lanes = new Map<string, number>()
      let put = 0
      let skipped = 0
      for (;;) {
        const { value: packed, done } = await coming
        onAnswer()
        if (done === true) break
        coming = portions.next()
        coming.catch(() => {})
        const portion = await yieldBetweenSteps(putInSteps(packed, sink, lanes), sink)
        put += portion.put
        skipped += portion.skipped
        onPortion(put)
      }
      return { versions, settings, put, removed: 0, skipped }
    }),
  )
}

/** All quotes of a brokerage, newest first. Quotes of the same time share pages, so a portion reads few pages. */
async function* portionsOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  settings: BookSettings,
  perPortion: number,
): AsyncGenerator<PackedQuotes, void> {
  let limit = perPortion
  for (let before: QuotePlace | null = beforeAnyQuote; before !== null; ) {
    const from: QuotePlace = before
    const portion = await database
      .inTenant(tenant, (transaction) =>
        readQuotesBefore(transaction, tenant, settings, { before: from, max: limit }),
      )
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
 * Brings a sink from the versions and settings that it was read with to the newest ones: puts the quotes that changed since and removes deleted
 * ones. Returns `'gone'`, without changing the sink, when it is unknown which quotes changed, or when so many did that opening
 * the book again is quicker.
 */
export async function followQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  { versions, settings }: Pick<QuotesRead, 'versions' | 'settings'>,
  sink: QuoteSink,
): Promise<QuotesRead | 'gone'> {
  const since = versions.facts
  const found = await database.inTenant(tenant, async (transaction) => {
    const standing = await readBookStanding(transaction, tenant, since)
    if (standing.changed === null || standing.changed > changedMax) return 'gone'
    if (standing.settings.expiredCountsAsLost !== settings.expiredCountsAsLost) return 'gone'
    if (standing.settings.basis !== settings.basis) return 'gone'
    if (standing.settings.mixed && standing.settings.conversions !== settings.conversions) return 'gone'
    const ids = standing.changed === 0 ? [] : await readChangedLanes(transaction, tenant, since)
    const portions: PackedQuotes[] = []
    for (let start = 0; start < ids.length; start += quotesPerPortion) {
      const some = ids.slice(start, start + quotesPerPortion)
      portions.push(await readQuotesOf(transaction, tenant, some))
    }
    return { standing, ids, portions }
  })
  if (found === 'gone') return found
  const { standing, ids, portions } = found
  const left = new Set(ids)
  const lanes = new Map<string, number>()
  let put = 0
  let skipped = 0
  for (const packed of portions) {
    const done = await yieldBetweenSteps(
      putInSteps(packed, sink, lanes, (laneId) => left.delete(laneId)),
      sink,
    )
    put += done.put
    skipped += done.skipped
  }
  for (const laneId of left) sink.remove(laneId)
  return { versions: standing.versions, settings: standing.settings, put, removed: left.size, skipped }
}
