import { type TenantId, waitWithinDeadline } from '../database/session/index.ts'
import { late, orLate } from '../runtime/index.ts'
import type { ReadVersions, TenantWatch } from './tenant-watch.ts'

/** A value that was read for a tenant, and how long it may be cached. */
export interface CachedRead<T> {
  readonly value: T
  readonly versions: ReadVersions
  /** When the value expires even if the versions stay the same. Epoch milliseconds. */
  readonly until: number
  /** The approximate size in bytes. */
  readonly bytes: number
}

/**
 * The cache of a process for data of its tenants: the owners of tokens, the secrets of signatures. Entries may be evicted
 * at any time. An entry is never used once its tenant has changed (see tenant-watch).
 */
export interface TenantMemory {
  /** The cached value if it is still valid; undefined if it must be read. */
  peek<T>(tenant: TenantId, key: string, now: number): T | undefined
  /**
   * Returns the cached value or reads it. A call during a read of the same key waits for that read, unless the tenant has
   * changed since it began.
   */
  getOrRead<T>(tenant: TenantId, key: string, now: number, read: () => Promise<CachedRead<T>>): Promise<T>
  counts(): MemoryCounts
}

export interface MemoryCounts {
  readonly entries: number
  readonly bytes: number
  readonly bytesMax: number
  /** Cache hits since the start. */
  readonly hits: number
  /** Reads after a miss since the start. */
  readonly reads: number
  /** Entries evicted for lack of space since the start. */
  readonly evicted: number
}

interface Entry extends CachedRead<unknown> {
  readonly tenant: TenantId
  readonly key: string
  /** The time of the read, in epoch milliseconds. The entry is invalid while `now` is earlier, after the clock was set back. */
  readonly from: number
  /** The epoch of the watch before the read. */
  readonly epoch: number
  /** Whether the entry was used since the last eviction pass. */
  used: boolean
}

interface Reading {
  /** The change number of the tenant when the read began; null if the tenant was not watched. */
  readonly changes: number | null
  /** The time of the read, in epoch milliseconds. */
  readonly from: number
  readonly entry: Promise<CachedRead<unknown>>
}

/** The approximate overhead of an entry beside its value. */
const entryBytes = 300

export function tenantMemory(watch: TenantWatch, bytesMax: number): TenantMemory {
  return new WatchedMemory(watch, bytesMax)
}

class WatchedMemory implements TenantMemory {
  readonly #watch: TenantWatch
  readonly #bytesMax: number
  /** The entries in the order of eviction. */
  readonly #entries = new Set<Entry>()
  readonly #tenants = new Map<TenantId, Map<string, Entry>>()
  readonly #readings = new Map<string, Reading>()
  #bytes = 0
  #hits = 0
  #reads = 0
  #evicted = 0

  constructor(watch: TenantWatch, bytesMax: number) {
    this.#watch = watch
    this.#bytesMax = bytesMax
  }

  peek<T>(tenant: TenantId, key: string, now: number): T | undefined {
    const entry = this.#validEntry(tenant, key, now)
    if (entry !== undefined) this.#hits++
    return entry?.value as T | undefined
  }

  async getOrRead<T>(
    tenant: TenantId,
    key: string,
    now: number,
    read: () => Promise<CachedRead<T>>,
  ): Promise<T> {
    await waitWithinDeadline(() => this.#watch.poll())
    const entry = this.#validEntry(tenant, key, now)
    if (entry !== undefined) {
      this.#hits++
      return entry.value as T
    }
    const name = `${tenant} ${key}`
    const inProgress = this.#readInProgress(name, tenant, now)
    if (inProgress !== undefined) {
      // If the other read fails, this call reads again, because the failure may have been temporary.
      const shared = await waitWithinDeadline((leftMs) =>
        orLate(inProgress, leftMs).catch((): typeof late => late),
      )
      if (shared !== late && now < shared.until) return shared.value as T
    }
    return this.#readNow(name, { tenant, key, from: now, epoch: this.#watch.epoch() }, read)
  }

  counts(): MemoryCounts {
    return {
      entries: this.#entries.size,
      bytes: this.#bytes,
      bytesMax: this.#bytesMax,
      hits: this.#hits,
      reads: this.#reads,
      evicted: this.#evicted,
    }
  }

  #validEntry(tenant: TenantId, key: string, now: number): Entry | undefined {
    const entry = this.#tenants.get(tenant)?.get(key)
    if (entry === undefined || now < entry.from || now >= entry.until) return undefined
    if (entry.epoch !== this.#watch.epoch() || !this.#watch.isCurrent(tenant, entry.versions))
      return undefined
    entry.used = true
    return entry
  }

  /** A read in progress whose result will still be current at `now`. */
  #readInProgress(name: string, tenant: TenantId, now: number): Promise<CachedRead<unknown>> | undefined {
    const reading = this.#readings.get(name)
    const changes = this.#watch.changesOf(tenant)
    const isCurrent = changes !== null && reading?.changes === changes && now >= reading.from
    return isCurrent ? reading.entry : undefined
  }

  async #readNow<T>(
    name: string,
    at: Pick<Entry, 'tenant' | 'key' | 'from' | 'epoch'>,
    read: () => Promise<CachedRead<T>>,
  ): Promise<T> {
    this.#reads++
    const entry = this.#watch.reading(at.tenant, read)
    const reading: Reading = { changes: this.#watch.changesOf(at.tenant), from: at.from, entry }
    this.#readings.set(name, reading)
    try {
      const found = await entry
      this.#store(at, found)
      return found.value
    } finally {
      if (this.#readings.get(name) === reading) this.#readings.delete(name)
    }
  }

  #store(
    at: Pick<Entry, 'tenant' | 'key' | 'from' | 'epoch'>,
    { value, versions, until, bytes }: CachedRead<unknown>,
  ): void {
    const { tenant, key } = at
    const before = this.#tenants.get(tenant)?.get(key)
    if (before !== undefined) this.#remove(before)
    const entry = { ...at, value, versions, until, bytes, used: false }
    const ofTenant = this.#tenants.get(tenant) ?? new Map<string, Entry>()
    this.#tenants.set(tenant, ofTenant.set(key, entry))
    this.#entries.add(entry)
    this.#bytes += bytes + entryBytes
    this.#evict()
  }

  #remove(entry: Entry): void {
    const { tenant, key, bytes } = entry
    this.#entries.delete(entry)
    this.#bytes -= bytes + entryBytes
    const ofTenant = this.#tenants.get(tenant)
    ofTenant?.delete(key)
    if (ofTenant?.size === 0) this.#tenants.delete(tenant)
  }

  /** Evicts the oldest entries first. An entry that was used since the last pass moves to the end instead (CLOCK). */
  #evict(): void {
    for (const entry of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return
      if (entry.used) {
        entry.used = false
        this.#entries.delete(entry)
        this.#entries.add(entry)
      } else {
        this.#remove(entry)
        this.#evicted++
      }
    }
  }
}
