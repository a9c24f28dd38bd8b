import {
  type Database,
  runInBackground,
  type TenantId,
  type TenantVersions,
} from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'

/**
 * Knows whether what a process remembers of a tenant is still what the database holds. Commits of the process itself are
 * known at once; those of other processes by asking, many times a second while anybody reads, which tenants moved on.
 * When the last answer is too old nothing is taken for current, so a lost database never hides behind memory.
 */
export interface TenantWatch {
  /** Whether what was read of a tenant at these versions may still be answered from. Without `facts` they may have moved on. */
  isCurrent(tenant: TenantId, versions: ReadVersions): boolean
  /** Another number after each change of the tenant that this process knows of; null while it hears of none. */
  changesOf(tenant: TenantId): number | null
  /** Takes word of a change elsewhere, sooner than the database is asked; null when nobody knows how far it went. */
  applyVersions(tenant: TenantId, versions: TenantVersions | null): void
  /** Which other instances there are, from the last answer that still stands; null where there is none. */
  otherInstances(): OtherInstances | null
  /** Another number when the database has become another one: nothing that was read before means anything in it. */
  epoch(): number
  /** Asks the database now, unless it was asked a moment ago. Resolves also when it could not answer: then nothing is current. */
  look(): Promise<void>
  /** Runs what reads of a tenant, and is told the versions it read at. What moves on meanwhile is noticed, too. */
  reading<T extends { readonly versions: ReadVersions }>(tenant: TenantId, read: () => Promise<T>): Promise<T>
  counts(): WatchCounts
  stop(): Promise<void>
}

export interface OtherInstances {
  readonly others: boolean
  /** Since when this process no longer takes itself for alone, by its monotonic clock. */
  readonly notAloneSince: number
  /** How long this instance has been among them, in milliseconds; null where it is not. */
  readonly joinedMs: number | null
}

export interface WatchCounts {
  readonly tenants: number
  /** Since the start: how often the database was asked what moved on, and how often it did not say. */
  readonly looks: number
  readonly failed: number
}

/** The versions that something was read at; without `facts` where it is not made of them. */
export interface ReadVersions {
  readonly facts?: number
  readonly access: number
}

/** How often the database is asked while somebody reads. A change elsewhere is in the answers after this at the latest. */
const lookEveryMs = 40
/** How long an answer of the database stands. Never more than a second passes before a change elsewhere counts. */
const lookHoldsMs = 800
/** Nobody has read for so long: the database is left in peace until somebody does. */
const idleAfterMs = 2_000
/** Tenants that are watched; beyond it those that were read longest ago are forgotten, and read again. */
const tenantsMax = 50_000

interface Watched {
  facts: number
  access: number
  changes: number
  /** Readings that are under way: until they end, what moves on must not be forgotten. */
  readings: number
}

export function tenantWatch({
  database,
  monotonic,
  log,
}: {
  database: Pick<Database, 'changedTenants' | 'onVersionsMoved'>
  monotonic: () => number
  log: Log
}): TenantWatch {
  const watched = new Map<TenantId, Watched>()
  /** Where the next question goes on, and when the last answered one was asked. */
  let since: string | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  let otherInstances: Pick<OtherInstances, 'others' | 'joinedMs'> | null = null
  let notAloneSince = Number.NEGATIVE_INFINITY
  let readAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let failing = false
  let stopped = false
  let changes = 0
  let server: string | null = null
  let epoch = 0
  let looks = 0
  let failed = 0

  function applyVersions(tenant: TenantId, versions: TenantVersions | null): void {
    const known = watched.get(tenant)
    if (known === undefined) return
    // Nobody knows whether it was committed: what was read before counts for nothing.
    if (versions === null) {
      watched.delete(tenant)
      return
    }
    if (versions.facts <= known.facts && versions.access <= known.access) return
    known.facts = Math.max(known.facts, versions.facts)
    known.access = Math.max(known.access, versions.access)
    known.changes = ++changes
  }
  database.onVersionsMoved(applyVersions)

  async function ask(): Promise<void> {
    const began = monotonic()
    looks++
    try {
      const {
        next,
        tenants,
        server: answered,
        others,
        joinedMs,
      } = await runInBackground(() => database.changedTenants(since))
      // A replica or a backup may lack the last commits, and has given their numbers to others since.
      if (server !== null && server !== answered) {
        watched.clear()
        epoch++
      }
      server = answered
      for (const [tenant, versions] of tenants) applyVersions(tenant, versions)
      since = next
      if (others && otherInstances?.others === false) {
        notAloneSince = Math.min(monotonic(), askedAt + lookHoldsMs)
      }
      otherInstances = { others, joinedMs }
      askedAt = began
      failing = false
    } catch (error) {
      if (!failing)
        log.warn({ err: error }, 'what changed elsewhere could not be asked: nothing is answered from memory')
      failing = true
      failed++
    }
  }

  function lookNow(): Promise<void> {
    looking ??= ask().finally(() => {
      looking = null
      if (monotonic() - readAt < idleAfterMs) schedule()
    })
    return looking
  }

  function schedule(): void {
    if (timer !== null || stopped) return
    timer = setTimeout(() => {
      timer = null
      void lookNow()
    }, lookEveryMs)
    timer.unref()
  }

  function isFresh(now: number): boolean {
    return now - askedAt <= lookHoldsMs
  }

  function forgetOldest(): void {
    for (const [tenant, { readings }] of watched) {
      if (watched.size <= tenantsMax) return
      if (readings === 0) watched.delete(tenant)
    }
  }

  return {
    isCurrent(tenant, versions) {
      const now = monotonic()
      readAt = now
      if (!isFresh(now)) return false
      if (timer === null && looking === null) schedule()
      const known = watched.get(tenant)
      return (
        known !== undefined &&
        known.access === versions.access &&
        (versions.facts === undefined || known.facts === versions.facts)
      )
    },

    applyVersions,

    epoch: () => epoch,

    otherInstances() {
      const now = monotonic()
      readAt = now
      if (!isFresh(now) || otherInstances === null) return null
      if (timer === null && looking === null) schedule()
      const { others, joinedMs } = otherInstances
      return {
        others,
        notAloneSince,
        joinedMs: joinedMs === null ? null : joinedMs + now - askedAt,
      }
    },

    changesOf: (tenant) => watched.get(tenant)?.changes ?? null,

    async look() {
      readAt = monotonic()
      if (isFresh(readAt) || stopped) return
      // A question that is on its way was asked before whatever the caller knows of.
      if (looking !== null) await looking
      if (!isFresh(monotonic())) await lookNow()
    },

    async reading(tenant, read) {
      // Before the first look nobody would hear of a change between the reading and that look.
      if (since === null) await lookNow()
      const known = watched.get(tenant) ?? { facts: -1, access: -1, changes: ++changes, readings: 0 }
      known.readings++
      if (since !== null) {
        watched.delete(tenant)
        watched.set(tenant, known)
      }
      forgetOldest()
      try {
        const found = await read()
        known.facts = Math.max(known.facts, found.versions.facts ?? -1)
        known.access = Math.max(known.access, found.versions.access)
        return found
      } finally {
        known.readings--
      }
    },

    counts: () => ({ tenants: watched.size, looks, failed }),

    async stop() {
      stopped = true
      if (timer !== null) clearTimeout(timer)
      await looking
    },
  }
}
