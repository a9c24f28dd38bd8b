import { type TenantId, waitWithinDeadline } from '../database/session/index.ts'
import type { ReadVersions, TenantWatch } from './tenant-watch.ts'

/** Something read of a tenant, and for how long it may be answered from. */
export interface Remembered<T> {
  readonly value: T
  readonly versions: ReadVersions
  /** Epoch milliseconds from which on it must be read again, whatever the versions say. */
  readonly until: number
  /** About how many bytes it takes. */
  readonly bytes: number
}

/**
 * What a process remembers of its tenants: who a token belongs to, the secrets of signatures, prepared lanes. All of it is
 * thrown away at will and read again; none of it is answered from once the tenant has moved on (see tenant-watch).
 */
export interface TenantMemory {
  /** What is remembered and still holds, at once; undefined when it must be read. */
  peek<T>(tenant: TenantId, key: string, now: number): T | undefined
  /** As peek, or else reads it. Who asks while it is being read waits for the same reading, unless the tenant has moved on. */
  recall<T>(tenant: TenantId, key: string, now: number, read: () => Promise<Remembered<T>>): Promise<T>
  counts(): MemoryCounts
}

export interface MemoryCounts {
  readonly entries: number
  readonly bytes: number
  readonly bytesMax: number
  /** Since the start: what was asked of the memory and remembered, what had to be read, and what was forgotten for room. */
  readonly remembered: number
  readonly read: number
  readonly forgotten: number
}

interface Entry extends Remembered<unknown> {
  readonly tenant: TenantId
  readonly key: string
  /** The moment it was read for: a clock that was set back asks about an earlier one. Epoch milliseconds. */
  readonly from: number
  /** The watch's, before it was read. */
  readonly epoch: number
  /** Asked for since it was last looked at for forgetting. */
  used: boolean
}

interface Reading {
  /** Null for a tenant that was not watched: nobody would have told it of a change. */
  readonly changes: number | null
  /** The moment it is for, in epoch milliseconds. */
  readonly from: number
  readonly entry: Promise<Remembered<unknown>>
}

/** The key, the entry and its places, beside the value itself. */
const entryBytes = 300

export function tenantMemory(watch: TenantWatch, bytesMax: number): TenantMemory {
  /** In the order in which they are forgotten. */
  const entries = new Set<Entry>()
  const tenants = new Map<TenantId, Map<string, Entry>>()
  const readings = new Map<string, Reading>()
  let bytes = 0
  let remembered = 0
  let read = 0
  let forgotten = 0

  function forget(entry: Entry): void {
    entries.delete(entry)
    bytes -= entry.bytes + entryBytes
    const { tenant, key } = entry
    const mine = tenants.get(tenant)
    mine?.delete(key)
    if (mine?.size === 0) tenants.delete(tenant)
  }

  /** The oldest go first; one that was used since it came to the front gets another round. */
  function makeRoom(): void {
    for (const entry of entries) {
      if (bytes <= bytesMax) return
      if (entry.used) {
        entry.used = false
        entries.delete(entry)
        entries.add(entry)
      } else {
        forget(entry)
        forgotten++
      }
    }
  }

  function remember(
    at: Pick<Entry, 'tenant' | 'key' | 'from' | 'epoch'>,
    { value, versions, until, bytes: size }: Remembered<unknown>,
  ): void {
    const { tenant, key } = at
    const before = tenants.get(tenant)?.get(key)
    if (before !== undefined) forget(before)
    const entry = { ...at, value, versions, until, bytes: size, used: false }
    const mine = tenants.get(tenant) ?? new Map<string, Entry>()
    tenants.set(tenant, mine.set(key, entry))
    entries.add(entry)
    bytes += size + entryBytes
    makeRoom()
  }

  function held(tenant: TenantId, key: string, now: number): Entry | undefined {
    const entry = tenants.get(tenant)?.get(key)
    if (entry === undefined || now < entry.from || now >= entry.until) return undefined
    if (entry.epoch !== watch.epoch() || !watch.isCurrent(tenant, entry.versions)) return undefined
    entry.used = true
    return entry
  }

  return {
    peek<T>(tenant: TenantId, key: string, now: number) {
      const known = held(tenant, key, now)
      if (known !== undefined) remembered++
      return known?.value as T | undefined
    },

    async recall<T>(
      tenant: TenantId,
      key: string,
      now: number,
      readNow: () => Promise<Remembered<T>>,
    ): Promise<T> {
      await waitWithinDeadline(() => watch.look())
      const known = held(tenant, key, now)
      if (known !== undefined) {
        remembered++
        return known.value as T
      }
      const name = `${tenant} ${key}`
      const begun = readings.get(name)
      const changes = watch.changesOf(tenant)
      if (begun !== undefined && changes !== null && begun.changes === changes && now >= begun.from) {
        // What ended the other's reading need not end this one.
        const shared = await begun.entry.catch(() => null)
        if (shared !== null && now < shared.until) return shared.value as T
      }
      read++
      const epoch = watch.epoch()
      const entry = watch.reading(tenant, readNow)
      const reading: Reading = { changes: watch.changesOf(tenant), from: now, entry }
      readings.set(name, reading)
      try {
        const found = await entry
        remember({ tenant, key, from: now, epoch }, found)
        return found.value
      } finally {
        if (readings.get(name) === reading) readings.delete(name)
      }
    },

    counts: () => ({ entries: entries.size, bytes, bytesMax, remembered, read, forgotten }),
  }
}
