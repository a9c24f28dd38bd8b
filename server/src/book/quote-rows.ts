import type { LanePlaces } from '#engine/book/quote-book.ts'
import { emptyPortion, type QuotePortion, type QuoteRow, quoteAt } from '#engine/book/quote-columns.ts'
import type { Steps } from '#engine/steps.ts'
import {
  type BookSettings,
  beforeAnyQuote,
  changedMax,
  int8At,
  type PackedQuotes,
  postgresEpochMs,
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
  /** Adds or replaces a quote. `lane` is a number that `lane()` returned. */
  put(lane: number, quote: QuoteRow): void
  /** Removes a quote. An unknown id is ignored. */
  remove(laneId: number): void
  /** Adds a portion while all quotes are read. The lanes in it are numbers that `lane()` returned. */
  append(portion: QuotePortion): void
  /** Ends the reading of all quotes, in steps. Until then, only `lane` and `append` are called. */
  join(): Steps<void>
}

/** The result of a read: the sink includes at least these versions; the settings are of the same moment. */
export interface QuotesRead {
  readonly versions: TenantVersions
  readonly settings: BookSettings
  /** The number of quotes put, and of ids removed. */
  readonly put: number
  readonly removed: number
  /** Quotes with a time that a JavaScript Date cannot hold: they are left out, and were removed if they had another time. */
  readonly skipped: number
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

/**
 * Unpacks quotes, and numbers their lanes. Quotes with a time that a Date cannot hold are left out. `lanes` caches lane
 * numbers between portions.
 */
export function* unpackInSteps(
  { records, places: texts }: PackedQuotes,
  sink: Pick<QuoteSink, 'lane'>,
  lanes: Map<string, number>,
): Steps<QuotePortion> {
  if (records === null || texts === null) return emptyPortion(0)
  const lists = texts.split(recordSeparator)
  if (lists.length * recordBytes !== records.length)
    throw new Error('The quotes and their places do not match.')
  const numbers = viewOf(records)
  const portion = emptyPortion(lists.length)
  portion.count = 0
  for (let index = 0; index < lists.length; index++) {
    if (index % unpackedPerStep === 0) yield
    const text = lists[index] as string
    const at = index * recordBytes
    const laneId = int8At(numbers, at)
    const quotedAt = Math.floor(int8At(numbers, at + 8) / 1000) + postgresEpochMs
    if (Math.abs(quotedAt) > dateMsMax) continue
    let lane = lanes.get(text)
    if (lane === undefined) {
      // A substring would keep the text of the whole portion in memory.
      const own = Buffer.from(text).toString()
      lane = sink.lane(placesIn(own))
      lanes.set(own, lane)
    }
    const count = portion.count++
    portion.lane[count] = lane
    portion.laneId[count] = laneId
    portion.quotedAt[count] = quotedAt
    portion.miles[count] = numbers.getFloat64(at + 16)
    portion.rateCents[count] = numbers.getInt32(at + 24)
    portion.costCents[count] = numbers.getInt32(at + 28)
    portion.outcomeAndPickup[count] = numbers.getUint8(at + 32)
    portion.customer[count] = numbers.getInt32(at + 33)
  }
  return portion
}

/** Puts the quotes of a portion into a sink. */
function* putInSteps(portion: QuotePortion, sink: QuoteSink): Steps<void> {
  for (let at = 0; at < portion.count; at++) {
    if (at % putPerStep === putPerStep - 1) yield
    sink.put(portion.lane[at] as number, quoteAt(portion, at))
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
      // The database reads each portion while the previous one is unpacked.
      let coming = portions.next()
      coming.catch(() => {})
      const lanes = new Map<string, number>()
      let put = 0
      let skipped = 0
      for (;;) {
        const { value: packed, done } = await coming
        onAnswer()
        if (done === true) break
        coming = portions.next()
        coming.catch(() => {})
        const portion = await yieldBetweenSteps(unpackInSteps(packed, sink, lanes), sink)
        sink.append(portion)
        put += portion.count
        skipped += portion.lane.length - portion.count
        onPortion(put)
      }
      await yieldBetweenSteps(sink.join(), sink)
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
 * Brings a sink from the versions and settings that it was read with to the newest ones: puts the quotes that changed since
 * and removes deleted ones. Returns `'gone'`, without changing the sink, when it is unknown which quotes changed, or when so
 * many did that opening the book again is quicker.
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
    const portion = await yieldBetweenSteps(unpackInSteps(packed, sink, lanes), sink)
    await yieldBetweenSteps(putInSteps(portion, sink), sink)
    for (const laneId of portion.laneId.subarray(0, portion.count)) left.delete(laneId)
    put += portion.count
    skipped += portion.lane.length - portion.count
  }
  for (const laneId of left) sink.remove(laneId)
  return { versions: standing.versions, settings: standing.settings, put, removed: left.size, skipped }
}
