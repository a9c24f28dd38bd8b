import type { LanePlaces } from '#engine/book/quote-book.ts'
import type { QuoteRow } from '#engine/book/quote-columns.ts'
import type { Steps } from '#engine/steps.ts'
import {
  type BookSettings,
  beforeAnyQuote,
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
  runInBackground,
  type TenantId,
  type TenantVersions,
} from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'

/** Takes the quotes of one brokerage, in no particular order, and the ids of those that are no more. */
export interface QuoteSink {
  /** The number of a lane, the same for the same places and equipment. */
  lane(places: LanePlaces): number
  /** Takes a quote, or what has become of it: `lane` as `lane()` gave it. */
  put(lane: number, quote: QuoteRow): void
  /** Forgets a quote. It may be unknown. */
  remove(laneId: number): void
  /** Makes room for about this many quotes. */
  reserve(quotes: number): void
}

/** What was read: the versions at which the sink stands at least, and the settings of the same moment. */
export interface QuotesRead {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** Quotes that were put, and ids that were removed. */
  readonly put: number
  readonly removed: number
  /** Quotes whose time no clock can show: they are left out. */
  readonly skipped: number
}

/** Quotes that one statement reads: some 50 ms for the database, far below the time-out of a statement. */
export const quotesPerPortion = 20_000
/** Where even that takes too long (a cold disk, a busy machine) a portion has fewer, but never fewer than these. */
const quotesPerPortionMin = 1_000
/** Room is made for no more at once: whether a larger brokerage fits at all is found out portion by portion. */
const reservedMax = 4_000_000
/** Changed quotes from which on reading all of them anew is quicker, and holds up nobody. */
const changedMax = 100_000

/** PostgreSQL counts microseconds from the year 2000. */
const postgresEpochMs = Date.UTC(2000, 0, 1)
/** The largest distance from 1970 that a Date can have, in milliseconds. */
const dateMsMax = 8.64e15
/** Quotes that are put in one step: each may have its lane folded, from 20 us to a millisecond. */
const quotesPerStep = 10

/** Puts packed quotes into a sink. `seen` is told the id of each. The numbers of lanes are kept for the next portion. */
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
  for (const [index, text] of lists.entries()) {
    if (index % quotesPerStep === quotesPerStep - 1) yield
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
    sink.put(lane, {
      laneId,
      quotedAt,
      rateCents: numbers.getInt32(at + 24),
      costCents: costCents < 0 ? Number.NaN : costCents,
      outcome: numbers.getUint8(at + 32),
      miles: numbers.getFloat64(at + 16),
    })
  }
  return { put: lists.length - skipped, skipped }
}

function placesIn(text: string): LanePlaces {
  // A part of a text keeps the whole in memory: the places of a whole portion.
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
    throw new Error('The places of a quote cannot be told apart.')
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
 * Puts all quotes of a brokerage into a sink, newest first, some thousands at a time: each portion is a transaction of its
 * own, and everybody else is served in between. What changes meanwhile comes with the next `followQuotes`.
 *
 * @throws what `onPortion` throws: it is told how many quotes the sink has so far
 */
export async function openQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  sink: QuoteSink,
  {
    perPortion = quotesPerPortion,
    onPortion = () => {},
  }: { readonly perPortion?: number; readonly onPortion?: (put: number) => void } = {},
): Promise<QuotesRead> {
  return runInBackground(async () => {
    // The versions first: whatever is committed after it is in the log of changes above them.
    const { versions, settings } = await database.inTenant(tenant, (transaction) =>
      readBookStanding(transaction, tenant, null),
    )
    const portions = portionsOf(database, tenant, perPortion)
    // The database reads a portion while the one before is put, and the first one while the quotes are counted: 0.4 s of a million.
    let coming = portions.next()
    coming.catch(() => {})
    const quotes = await database.inTenant(tenant, (transaction) => countQuotes(transaction, tenant))
    // Columns that have no room left are copied, which would hold up everybody: a twentieth more is room for weeks.
    sink.reserve(Math.min(reservedMax, Math.ceil(quotes * 1.05)))
    const lanes = new Map<string, number>()
    let put = 0
    let skipped = 0
    for (;;) {
      const { value: packed, done } = await coming
      if (done === true) break
      coming = portions.next()
      coming.catch(() => {})
      const portion = await yieldBetweenSteps(putInSteps(packed, sink, lanes))
      put += portion.put
      skipped += portion.skipped
      onPortion(put)
    }
    return { versions, settings, put, removed: 0, skipped }
  })
}

/** All quotes of a brokerage, newest first: quotes of one time lie together, so that a portion is read from few pages. */
async function* portionsOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  perPortion: number,
): AsyncGenerator<PackedQuotes, void> {
  let limit = perPortion
  for (let before: QuotePlace | null = beforeAnyQuote; before !== null; ) {
    const from: QuotePlace = before
    const portion = await database
      .inTenant(tenant, (transaction) => readQuotesBefore(transaction, tenant, from, limit))
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
 * Brings a sink that stands at a version of the facts to the newest: reads the quotes that changed since, and removes those
 * that are no more. `'gone'` when the log of changes does not reach back so far, or names so many quotes that opening anew
 * is quicker; then nothing was put or removed.
 */
export async function followQuotes(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  since: number,
  sink: QuoteSink,
): Promise<QuotesRead | 'gone'> {
  const found = await database.inTenant(tenant, async (transaction) => {
    const standing = await readBookStanding(transaction, tenant, since)
    const { facts } = standing.versions
    // A version that is missing was pruned, or made by somebody who says nothing of lanes, or in another database.
    if (standing.logged !== facts - since || standing.named > changedMax) return 'gone'
    const ids = standing.named === 0 ? [] : await readChangedLanes(transaction, tenant, since, facts)
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
    const done = await yieldBetweenSteps(putInSteps(packed, sink, lanes, (laneId) => left.delete(laneId)))
    put += done.put
    skipped += done.skipped
  }
  for (const laneId of left) sink.remove(laneId)
  return { versions: standing.versions, settings: standing.settings, put, removed: left.size, skipped }
}
