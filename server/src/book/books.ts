import { problem } from '#contract/errors.ts'
import type { TenantWatch } from '../cache/index.ts'
import type { BookSettings } from '../database/queries/index.ts'
import {
  type Database,
  deadlineLeftMs,
  forBrokerage,
  loopSince,
  ProcessUnavailable,
  RequestDeadline,
  type TenantId,
  type TenantVersions,
  tooLong,
  waitWithinDeadline,
  withDeadline,
} from '../database/session/index.ts'
import { concurrencyLimit, late, orLate } from '../runtime/index.ts'
import { followQuotes, openQuotes, type QuoteSink, type QuotesRead } from './quote-rows.ts'

/** All quotes of one brokerage, in memory. */
export interface Book extends QuoteSink {
  /** Approximate memory, in bytes. */
  bytes(): number
  readonly size: number
}

/**
 * A book as a reader receives it. Its quotes change when the book is next brought up to date: a computation that spans
 * several turns of the event loop must record the version of the quotes that it started with.
 */
export interface OpenBook<Quotes extends Book> {
  readonly quotes: Quotes
  readonly settings: BookSettings
  readonly versions: TenantVersions
  /** The fuel surcharges and exchange rates that converted amounts; null if none was converted. */
  readonly days: QuotesRead['days']
}

/**
 * The books of a process. A book is opened once, by reading all quotes of its brokerage. After that it reads the quotes that
 * changed: the next read includes commits of this process, and commits of other processes once the watch has seen them.
 */
export interface Books<Quotes extends Book> {
  /**
   * The book of a brokerage, with everything that was committed before the call.
   *
   * @throws DatabaseUnavailable when the changes cannot be read, or when the database does not answer the opening within the
   *   request's deadline
   * @throws ProcessUnavailable when opening the book takes longer than ten seconds, or this process is busy or stops
   * @throws Problem when its quotes exceed the memory limit
   */
  read(tenant: TenantId): Promise<OpenBook<Quotes>>
  /** The book without waiting, if it is open and current; otherwise null, and `read` is needed. */
  peek(tenant: TenantId): OpenBook<Quotes> | null
  counts(): BookCounts
  /** Starts no more openings, and waits for those under way. */
  drain(): Promise<void>
}

export interface BookCounts {
  /** Open books, their quotes, their approximate memory, and its limit. */
  readonly books: number
  readonly quotes: number
  readonly bytes: number
  readonly bytesMax: number
  /** Since the start: books opened, brought up to date, and closed (to free memory or to be reopened). */
  readonly opened: number
  readonly followed: number
  readonly closed: number
}

export interface BooksOptions<Quotes extends Book> {
  readonly database: Pick<Database, 'deadlines' | 'inTenant'>
  readonly watch: Pick<TenantWatch, 'poll' | 'isCurrent' | 'reading' | 'epoch'>
  readonly make: () => Quotes
  /** The memory limit of all books together. */
  readonly bytesMax: number
  readonly monotonic: () => number
  readonly openingWaitMs?: number
}

/** How long a reader waits for a book to open. The opening continues after the reader has given up. */
const openingWaitMsUsual = 10_000
/** More openings at once would slow each other down and exceed the memory limit. */
const openingsAtOnce = 4
/**
 * After a book did not fit, its opening is refused this long, because each attempt closes other books. The time doubles after each
 * failure.
 */
const refusedMs = { first: 60_000, last: 3_600_000 } as const
/** The most attempts of a read. Another is needed if the changes became unknown or the database was replaced meanwhile. */
const triesMax = 3

/**
 * A book on its way through memory:
 *
 * ```
 *             all quotes are read         a reader finds it out of date
 *   opening ──────────────────────► open ───────────────────────────────► following
 *      │                            │ ▲                                    │  │
 *      │                            │ └──── the changes are read, or ──────┘  │
 *      │ it failed, or              │       the read failed                   │ the brokerage or the database was
 *      │ does not fit               │ room for others, another database,      │ replaced, it does not fit any more,
 *      │                            ▼ opened anew                             │ room for others
 *      └────────────────────────► closed ◄────────────────────────────────────┘
 * ```
 *
 * While it is followed, its quotes are inconsistent and must not be read. A closed book is never used again, except for the
 * readers who waited for its changes.
 */
type BookState<Quotes extends Book> =
  | { readonly name: 'opening' }
  | { readonly name: 'open'; readonly book: OpenBook<Quotes> }
  /** `going` becomes null when the book must be opened again. */
  | { readonly name: 'following'; readonly going: Promise<OpenBook<Quotes> | null> }
  | { readonly name: 'closed' }

type StateName = BookState<Book>['name']

const mayFollow: Readonly<Record<StateName, readonly StateName[]>> = {
  opening: ['open', 'closed'],
  open: ['following', 'closed'],
  following: ['open', 'closed'],
  closed: [],
}

class Entry<Quotes extends Book> {
  readonly tenant: TenantId
  readonly quotes: Quotes
  /** The watch's epoch before the book was read. It changes when the database is replaced. */
  readonly epoch: number
  bytes = 0
  #state: BookState<Quotes> = { name: 'opening' }

  constructor(tenant: TenantId, quotes: Quotes, epoch: number) {
    this.tenant = tenant
    this.quotes = quotes
    this.epoch = epoch
  }

  get state(): BookState<Quotes> {
    return this.#state
  }

  move(next: BookState<Quotes>): void {
    if (!mayFollow[this.#state.name].includes(next.name)) {
      throw new Error(`A book cannot go from ${this.#state.name} to ${next.name}.`)
    }
    this.#state = next
  }
}

interface Refusal {
  readonly until: number
  readonly waitMs: number
  /** Approximately how many quotes fit. */
  readonly fit: number
}

const stopping = () => new ProcessUnavailable('stopping', new Error('No book is opened any more.'))

/** Thrown if one book alone exceeds the memory limit of all books. */
class DoesNotFit extends Error {}

function doesNotFit({ fit }: Refusal) {
  const quotes = Math.floor(fit / 1_000) * 1_000 || fit
  return problem(
    'unavailable',
    `The quotes of your brokerage do not fit into the memory of the service: about ${quotes.toLocaleString('en-US')} fit (MEMORY_MEGABYTES). Nothing was changed.`,
    { headers: { 'Retry-After': '60' } },
  )
}

interface Opening<Quotes extends Book> {
  readonly epoch: number
  readonly entry: Promise<Entry<Quotes>>
  /** When the database last answered this opening, or any opening while this one waits for its turn. */
  answeredAt(): number
}

/**
 * Waits for an opening for at most `ms`, as long as the database answers it. A large book takes many answers, and each
 * may take as long as the request's deadline allows for one wait. A database that hangs must not delay the request longer.
 */
async function whileAnswered<Quotes extends Book>(
  { entry, answeredAt }: Opening<Quotes>,
  ms: number,
): Promise<Entry<Quotes>> {
  const silenceMs = deadlineLeftMs()
  const startedAt = performance.now()
  const since = loopSince()
  for (;;) {
    const silentAt = Math.max(startedAt, answeredAt()) + silenceMs
    const leftMs = Math.min(startedAt + ms, silentAt) - performance.now()
    if (leftMs <= 0) {
      const cause = new Error('timeout exceeded when waiting for a book')
      throw performance.now() < silentAt ? new ProcessUnavailable('busy', cause) : tooLong(cause, since)
    }
    const found = await orLate(entry, leftMs)
    if (found !== late) return found
  }
}

/** The open books and their memory. When they exceed the limit, the least recently used book is closed first. */
function shelf<Quotes extends Book>(bytesMax: number) {
  /** Open books, least recently used first. */
  const entries = new Map<TenantId, Entry<Quotes>>()
  let bytes = 0
  let closed = 0

  function weigh(entry: Entry<Quotes>, now: number): void {
    bytes += now - entry.bytes
    entry.bytes = now
  }

  function close(entry: Entry<Quotes>): void {
    if (entries.get(entry.tenant) !== entry) return
    entry.move({ name: 'closed' })
    entries.delete(entry.tenant)
    weigh(entry, 0)
    closed++
  }

  return {
    entries,
    close,
    /** Subtracts the memory of a book whose opening failed. */
    forget(entry: Entry<Quotes>): void {
      entry.move({ name: 'closed' })
      weigh(entry, 0)
    },
    touch(entry: Entry<Quotes>): void {
      entries.delete(entry.tenant)
      entries.set(entry.tenant, entry)
    },
    /** Updates the memory of a book that has grown, and closes others to make room. @throws DoesNotFit */
    grown(entry: Entry<Quotes>): void {
      weigh(entry, entry.quotes.bytes())
      if (entry.bytes > bytesMax) throw new DoesNotFit()
      for (const other of entries.values()) {
        if (bytes <= bytesMax) return
        if (other !== entry) close(other)
      }
    },
    counts: () => ({
      books: entries.size,
      quotes: entries.values().reduce((sum, { quotes }) => sum + quotes.size, 0),
      bytes,
      bytesMax,
      closed,
    }),
  }
}

/** Brokerages whose quotes did not fit, and how long to wait before each is tried again. */
function refusalList(bytesMax: number, monotonic: () => number) {
  const refusals = new Map<TenantId, Refusal>()
  return {
    /** Refuses a brokerage for a while: twice as long each time. */
    add({ tenant, quotes, bytes }: Entry<Book>): Refusal {
      const before = refusals.get(tenant)
      const waitMs = before === undefined ? refusedMs.first : Math.min(refusedMs.last, before.waitMs * 2)
      const fit = Math.floor((quotes.size * bytesMax) / bytes)
      const refusal = { until: monotonic() + waitMs, waitMs, fit }
      refusals.set(tenant, refusal)
      return refusal
    },
    /** The refusal in effect; undefined where the brokerage may be tried. */
    inEffect(tenant: TenantId): Refusal | undefined {
      const refusal = refusals.get(tenant)
      return refusal !== undefined && monotonic() < refusal.until ? refusal : undefined
    },
    remove: (tenant: TenantId) => refusals.delete(tenant),
  }
}

/** Opens books, each once however many readers wait for it. */
function bookOpener<Quotes extends Book>(
  { database, watch, make }: Pick<BooksOptions<Quotes>, 'database' | 'watch' | 'make'>,
  { entries, close, forget, grown }: ReturnType<typeof shelf<Quotes>>,
  refusals: ReturnType<typeof refusalList>,
) {
  const openings = new Map<TenantId, Opening<Quotes>>()
  const limited = concurrencyLimit<'opening'>(openingsAtOnce)
  let opened = 0
  let stopped = false
  let anyAnsweredAt = Number.NEGATIVE_INFINITY

  async function openNow(tenant: TenantId, epoch: number, onAnswer: () => void): Promise<Entry<Quotes>> {
    const entry = new Entry(tenant, make(), epoch)
    try {
      if (stopped) throw stopping()
      const { versions, settings, days } = await openQuotes(database, tenant, entry.quotes, {
        onPortion() {
          if (stopped) throw stopping()
          grown(entry)
        },
        onAnswer,
      })
      entry.move({ name: 'open', book: { quotes: entry.quotes, settings, versions, days } })
    } catch (error) {
      const refusal = error instanceof DoesNotFit ? refusals.add(entry) : null
      forget(entry)
      throw refusal === null ? error : doesNotFit(refusal)
    }
    refusals.remove(tenant)
    const before = entries.get(tenant)
    if (before !== undefined) close(before)
    entries.set(tenant, entry)
    opened++
    return entry
  }

  return {
    /** Opens a book, or joins the opening under way. @throws Problem when its quotes did not fit a short while ago */
    open(tenant: TenantId): Opening<Quotes> {
      const epoch = watch.epoch()
      const begun = openings.get(tenant)
      if (begun?.epoch === epoch) return begun
      const refusal = refusals.inEffect(tenant)
      if (refusal !== undefined) throw doesNotFit(refusal)
      if (stopped) throw stopping()
      let ownAnsweredAt: number | null = null
      const onAnswer = () => {
        ownAnsweredAt = performance.now()
        anyAnsweredAt = ownAnsweredAt
      }
      const entry = limited('opening', () => {
        ownAnsweredAt = performance.now()
        return openNow(tenant, epoch, onAnswer)
      }).finally(() => {
        if (openings.get(tenant)?.entry === entry) openings.delete(tenant)
      })
      entry.catch(() => {})
      const opening = { epoch, entry, answeredAt: () => ownAnsweredAt ?? anyAnsweredAt }
      openings.set(tenant, opening)
      return opening
    },
    opened: () => opened,
    /** Starts no more openings, and waits for those under way. */
    async drain(): Promise<void> {
      stopped = true
      await Promise.allSettled([...openings.values()].map(({ entry }) => entry))
    },
  }
}

/** Brings open books up to date, each once however many readers wait for it. */
function bookFollower<Quotes extends Book>(
  { database, watch }: Pick<BooksOptions<Quotes>, 'database' | 'watch'>,
  { close, touch, grown }: ReturnType<typeof shelf<Quotes>>,
  refusals: ReturnType<typeof refusalList>,
) {
  let followed = 0

  /** Reads the changes into the quotes. Null when the book must be opened again. */
  async function readChanges(entry: Entry<Quotes>, from: OpenBook<Quotes>): Promise<OpenBook<Quotes> | null> {
    const { tenant, quotes } = entry
    followed++
    // The read has its own deadline, because several readers wait for the result.
    const { found } = await watch.reading(tenant, async () => {
      const found = await withDeadline(new RequestDeadline(database.deadlines.requestMs), () =>
        // The book has the quotes of the whole brokerage, also those hidden from the person who waits.
        forBrokerage(() => followQuotes(database, tenant, from, quotes)),
      )
      return { found, versions: found === 'gone' ? from.versions : found.versions }
    })
    if (found === 'gone' || entry.epoch !== watch.epoch()) return null
    return { quotes, settings: found.settings, versions: found.versions, days: found.days }
  }

  async function followNow(entry: Entry<Quotes>, from: OpenBook<Quotes>): Promise<OpenBook<Quotes> | null> {
    let book: OpenBook<Quotes> | null
    try {
      book = await readChanges(entry, from)
    } catch (error) {
      // Nothing was applied, or all of it will be applied again: the next reader follows from the same versions.
      if (entry.state.name === 'following') entry.move({ name: 'open', book: from })
      throw error
    }
    // The book may have been closed to make room for others. Readers that waited still get it.
    if (entry.state.name === 'closed') return book
    if (book === null) {
      close(entry)
      return null
    }
    entry.move({ name: 'open', book })
    touch(entry)
    try {
      grown(entry)
    } catch {
      // The book outgrew the memory limit. This answer is still right; the next request would have to open the book again.
      refusals.add(entry)
      close(entry)
    }
    return book
  }

  return {
    /** Reads the changes since `from`. */
    follow(entry: Entry<Quotes>, from: OpenBook<Quotes>): Promise<OpenBook<Quotes> | null> {
      const going = followNow(entry, from)
      entry.move({ name: 'following', going })
      going.catch(() => {})
      return going
    },
    followed: () => followed,
  }
}

export function books<Quotes extends Book>({
  database,
  watch,
  make,
  bytesMax,
  monotonic,
  openingWaitMs = openingWaitMsUsual,
}: BooksOptions<Quotes>): Books<Quotes> {
  const shelved = shelf<Quotes>(bytesMax)
  const { entries, close, touch, counts } = shelved
  const refusals = refusalList(bytesMax, monotonic)
  const opener = bookOpener({ database, watch, make }, shelved, refusals)
  const follower = bookFollower({ database, watch }, shelved, refusals)

  /** The open book, if it was read from the current database. */
  function entryOf(tenant: TenantId): Entry<Quotes> | undefined {
    const entry = entries.get(tenant)
    if (entry === undefined || entry.epoch === watch.epoch()) return entry
    close(entry)
    return undefined
  }

  function held(tenant: TenantId): OpenBook<Quotes> | null {
    const entry = entryOf(tenant)
    if (entry?.state.name !== 'open' || !watch.isCurrent(tenant, entry.state.book.versions)) return null
    touch(entry)
    return entry.state.book
  }

  const waitForFollow = (going: Promise<OpenBook<Quotes> | null>) =>
    waitWithinDeadline(async (leftMs) => {
      const since = loopSince()
      const book = await orLate(going, leftMs)
      if (book !== late) return book
      throw tooLong(new Error('timeout exceeded when waiting for the changes of a book'), since)
    })

  /** Brings a book up to date; null when it must be opened again. */
  async function upToDate(entry: Entry<Quotes>): Promise<OpenBook<Quotes> | null> {
    const { tenant, state } = entry
    if (state.name === 'following') {
      // That reading of changes may have begun before a commit that this caller must see. Its errors do not matter here: this caller
      // tries again.
      await waitForFollow(state.going.catch(() => null))
      const known = held(tenant)
      if (known !== null) return known
      if (entryOf(tenant) !== entry) return null
    }
    // Another waiting reader may have begun to read changes. It began after this call, so its result includes all that this caller
    // must see.
    const now = entry.state
    if (now.name === 'following') return waitForFollow(now.going)
    return now.name === 'open' ? waitForFollow(follower.follow(entry, now.book)) : null
  }

  async function read(tenant: TenantId): Promise<OpenBook<Quotes>> {
    const current = held(tenant)
    if (current !== null) return current
    for (let tries = 0; tries < triesMax; tries++) {
      await waitWithinDeadline(() => watch.poll())
      const known = held(tenant)
      if (known !== null) return known
      const entry = entryOf(tenant) ?? (await whileAnswered(opener.open(tenant), openingWaitMs))
      const open = await upToDate(entry)
      if (open !== null) return open
    }
    throw new ProcessUnavailable('busy', new Error('The quotes changed during every attempt.'))
  }

  return {
    read,
    peek: held,
    counts: () => ({ ...counts(), opened: opener.opened(), followed: follower.followed() }),
    async drain() {
      await opener.drain()
      await Promise.allSettled(
        [...entries.values()].map(({ state }) => (state.name === 'following' ? state.going : null)),
      )
    },
  }
}
