import {
  type ChangedTenants,
  type Database,
  deadlineLeftMs,
  runInBackground,
  type TenantId,
  type TenantVersions,
  waitWithinDeadline,
} from '../database/session/index.ts'
import { type Log, orLate } from '../runtime/index.ts'

/**
 * Decides whether cached data of a tenant still equals that in the database. Commits of this process count at once. For
 * commits of other processes, the watch polls the database for changed tenants, many times a second while there are
 * readers. If the last answer is too old, nothing counts as current, so the cache never hides a lost database.
 */
export interface TenantWatch {
  /** Whether data that was read at these versions is still current. If `facts` is absent, only access is compared. */
  isCurrent(tenant: TenantId, versions: ReadVersions): boolean
  /** A number that differs after each change of the tenant; null if the tenant is not watched. */
  changesOf(tenant: TenantId): number | null
  /** Applies a change reported by another instance before the next poll; null versions if their new values are unknown. */
  applyVersions(tenant: TenantId, versions: TenantVersions | null): void
  /** Whether other instances run, from the last answer that is still valid; null if there is none. */
  otherInstances(): OtherInstances | null
  /** A number that differs after the database was replaced, such as by its replica: everything read before is invalid. */
  epoch(): number
  /**
   * Polls the database now, unless the last answer is still valid; and again if this process was too late to use the answer.
   * Takes at most what the deadline of the request leaves. If a poll fails or takes longer, resolves and nothing is current.
   */
  poll(): Promise<void>
  /** Why the database did not answer the last poll, or has not yet; null if it has answered. */
  failure(): unknown
  /** Runs a read of a tenant, and notes the versions that it was read at. Changes during the read are detected. */
  reading<T extends { readonly versions: ReadVersions }>(tenant: TenantId, read: () => Promise<T>): Promise<T>
  counts(): WatchCounts
  stop(): Promise<void>
}

export interface OtherInstances {
  readonly exist: boolean
  /** Since when this process no longer counts as alone, by its monotonic clock in milliseconds. */
  readonly notAloneSince: number
  /** How long this instance has been registered, in milliseconds; null if it is not registered. */
  readonly joinedMs: number | null
}

export interface WatchCounts {
  readonly tenants: number
  /** Polls of the database since the start. */
  readonly polls: number
  /** Polls that failed since the start. */
  readonly failed: number
}

/** The versions at which something was read; without `facts` if it does not depend on facts. */
export interface ReadVersions {
  readonly facts?: number
  readonly access: number
}

/** How often the database is polled while there are readers. A change elsewhere is visible after this at the latest. */
const pollEveryMs = 40
/** How long an answer of the database is valid. With the poll itself, a change elsewhere is visible within a second. */
const answerValidMs = 800
const unanswered = new Error('The database has not answered the poll.')
/** The most polls for one read. It polls again if this process was late to read the answer. */
const pollsMax = 3
/** Polling pauses when nothing has been read for this long. */
const idleAfterMs = 2_000
/** Tenants that are watched. Beyond this, the tenants that were read longest ago are forgotten. */
const tenantsMax = 50_000

/**
 * When the database is polled:
 *
 * ```
 *             a read           after 40 ms, or for a read that waits
 *   resting ─────────► waiting ───────────────────────────────────► polling
 *      ▲ │                ▲                                          ▲ │
 *      │ └────────────────┼── a read that waits ─────────────────────┘ │
 *      │                  └── answered or failed, read within 2 s ─────┤
 *      └───────────────────── answered or failed, not read for 2 s ────┘
 *
 *   any ── stop() ──► stopped
 * ```
 *
 * An answer counts for 800 ms in every state. After that nothing is current until the next answer.
 */
type PollState =
  | { readonly name: 'resting' }
  | { readonly name: 'waiting'; readonly timer: NodeJS.Timeout }
  | { readonly name: 'polling'; readonly answer: Promise<void> }
  | { readonly name: 'stopped' }

const mayFollow: Readonly<Record<PollState['name'], readonly PollState['name'][]>> = {
  resting: ['waiting', 'polling', 'stopped'],
  waiting: ['polling', 'stopped'],
  polling: ['waiting', 'resting', 'stopped'],
  stopped: [],
}

interface Watched {
  facts: number
  access: number
  changes: number
  /** Reads in progress. The tenant is not forgotten before they end. */
  readings: number
}

interface WatchParts {
  readonly database: Pick<Database, 'changedTenants' | 'onVersionsMoved'>
  readonly monotonic: () => number
  readonly log: Log
}

export function tenantWatch(parts: WatchParts): TenantWatch {
  return new PollingWatch(parts)
}

class PollingWatch implements TenantWatch {
  readonly #parts: WatchParts
  /** In the order in which they were last read. */
  readonly #watched = new Map<TenantId, Watched>()
  /** The snapshot from which the next poll asks for changes; null before the first answer. */
  #since: string | null = null
  /** When the last poll that was answered began. */
  #askedAt = Number.NEGATIVE_INFINITY
  #answeredAt = Number.NEGATIVE_INFINITY
  /** Identifies the database; see ChangedTenants.server. */
  #server: string | null = null
  #epoch = 0
  #instances: Pick<OtherInstances, 'exist' | 'joinedMs'> | null = null
  #notAloneSince = Number.NEGATIVE_INFINITY
  #readAt = Number.NEGATIVE_INFINITY
  #state: PollState = { name: 'resting' }
  /** Why the last poll failed; null if it was answered. */
  #failure: unknown = null
  #changes = 0
  #polls = 0
  #failed = 0

  constructor(parts: WatchParts) {
    this.#parts = parts
    parts.database.onVersionsMoved((tenant, versions) => this.applyVersions(tenant, versions))
  }

  isCurrent(tenant: TenantId, versions: ReadVersions): boolean {
    if (!this.#isFreshForRead()) return false
    const known = this.#watched.get(tenant)
    return (
      known !== undefined &&
      known.access === versions.access &&
      (versions.facts === undefined || known.facts === versions.facts)
    )
  }

  changesOf(tenant: TenantId): number | null {
    return this.#watched.get(tenant)?.changes ?? null
  }

  applyVersions(tenant: TenantId, versions: TenantVersions | null): void {
    const known = this.#watched.get(tenant)
    if (known === undefined) return
    // It is unknown whether the change was committed, so nothing that was read before is current.
    if (versions === null) {
      this.#watched.delete(tenant)
      return
    }
    if (versions.facts <= known.facts && versions.access <= known.access) return
    known.facts = Math.max(known.facts, versions.facts)
    known.access = Math.max(known.access, versions.access)
    known.changes = ++this.#changes
  }

  otherInstances(): OtherInstances | null {
    if (!this.#isFreshForRead() || this.#instances === null) return null
    const { exist, joinedMs } = this.#instances
    return {
      exist,
      notAloneSince: this.#notAloneSince,
      // Counted from the poll's answer, not its start: a slow poll must not make the registration look older than it is.
      joinedMs: joinedMs === null ? null : joinedMs + this.#readAt - this.#answeredAt,
    }
  }

  epoch(): number {
    return this.#epoch
  }

  async poll(): Promise<void> {
    this.#readAt = this.#parts.monotonic()
    if (this.#isFresh(this.#readAt) || this.#state.name === 'stopped') return
    const leftMs = deadlineLeftMs()
    await orLate(this.#pollUntilFresh(leftMs), leftMs)
  }

  failure(): unknown {
    return this.#failure ?? (this.#state.name === 'polling' ? unanswered : null)
  }

  async #pollUntilFresh(leftMs: number): Promise<void> {
    const { monotonic } = this.#parts
    const until = monotonic() + leftMs
    // A poll in progress may have started before the change that the caller knows of, so its answer may be too old.
    if (this.#state.name === 'polling') await this.#state.answer
    for (let nth = 0; nth < pollsMax; nth++) {
      if (this.#isFresh(monotonic())) return
      await this.#pollNow()
      // An answer can only be too old already if this process was late to read it.
      if (this.#failure !== null || monotonic() > until) return
    }
  }

  async reading<T extends { readonly versions: ReadVersions }>(
    tenant: TenantId,
    read: () => Promise<T>,
  ): Promise<T> {
    // Without a first poll, a change between this read and that poll would go undetected.
    if (this.#since === null) await waitWithinDeadline((leftMs) => orLate(this.#pollNow(), leftMs))
    const known = this.#watched.get(tenant) ?? {
      facts: -1,
      access: -1,
      changes: ++this.#changes,
      readings: 0,
    }
    known.readings++
    if (this.#since !== null) {
      this.#watched.delete(tenant)
      this.#watched.set(tenant, known)
    }
    this.#forgetOldest()
    try {
      const found = await read()
      known.facts = Math.max(known.facts, found.versions.facts ?? -1)
      known.access = Math.max(known.access, found.versions.access)
      return found
    } finally {
      known.readings--
    }
  }

  counts(): WatchCounts {
    return { tenants: this.#watched.size, polls: this.#polls, failed: this.#failed }
  }

  async stop(): Promise<void> {
    const before = this.#state
    if (before.name === 'stopped') return
    this.#move({ name: 'stopped' })
    if (before.name === 'polling') await before.answer
  }

  #isFresh(now: number): boolean {
    return now - this.#askedAt <= answerValidMs
  }

  /** Notes the time of a read. If the last answer is valid, continues polling and returns true. */
  #isFreshForRead(): boolean {
    const now = this.#parts.monotonic()
    this.#readAt = now
    if (!this.#isFresh(now)) return false
    if (this.#state.name === 'resting') this.#wait()
    return true
  }

  #move(next: PollState): void {
    const before = this.#state
    if (!mayFollow[before.name].includes(next.name)) {
      throw new Error(`The watch cannot go from ${before.name} to ${next.name}.`)
    }
    if (before.name === 'waiting') clearTimeout(before.timer)
    this.#state = next
  }

  #wait(): void {
    const timer = setTimeout(() => void this.#pollNow(), pollEveryMs)
    timer.unref()
    this.#move({ name: 'waiting', timer })
  }

  /** Polls, or joins the poll in progress. A stopped watch learns nothing more. */
  #pollNow(): Promise<void> {
    if (this.#state.name === 'polling') return this.#state.answer
    if (this.#state.name === 'stopped') return Promise.resolve()
    const answer = this.#ask().then(() => {
      if (this.#state.name === 'stopped') return
      if (this.#parts.monotonic() - this.#readAt < idleAfterMs) this.#wait()
      else this.#move({ name: 'resting' })
    })
    this.#move({ name: 'polling', answer })
    return answer
  }

  async #ask(): Promise<void> {
    const { database, monotonic, log } = this.#parts
    const startedAt = monotonic()
    this.#polls++
    try {
      const answer = await runInBackground(() =>
        database.changedTenants(this.#since, () => [...this.#watched.keys()]),
      )
      // A replica or a backup may lack the last commits and may have reused their version numbers.
      if (this.#server !== null && this.#server !== answer.server) {
        this.#watched.clear()
        this.#epoch++
      }
      this.#server = answer.server
      for (const [tenant, versions] of answer.tenants) this.applyVersions(tenant, versions)
      this.#forgetUncovered(answer.covered)
      this.#since = answer.next
      if (answer.others && this.#instances?.exist === false) {
        this.#notAloneSince = Math.min(monotonic(), this.#askedAt + answerValidMs)
      }
      this.#instances = { exist: answer.others, joinedMs: answer.joinedMs }
      this.#askedAt = startedAt
      this.#answeredAt = monotonic()
      this.#failure = null
    } catch (error) {
      if (this.#failure === null) {
        log.warn({ err: error }, 'the database could not report changed tenants: the cache is not used')
      }
      this.#failure = error
      this.#failed++
    }
  }

  /** Forgets tenants that a poll did not cover: those on an unavailable worker, and those first read during the poll. */
  #forgetUncovered(covered: ChangedTenants['covered']): void {
    if (covered === undefined) return
    for (const tenant of this.#watched.keys()) {
      if (!covered.has(tenant)) this.#watched.delete(tenant)
    }
  }

  #forgetOldest(): void {
    for (const [tenant, { readings }] of this.#watched) {
      if (this.#watched.size <= tenantsMax) return
      if (readings === 0) this.#watched.delete(tenant)
    }
  }
}
