import {
  signatureChecksPerMinuteMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from '#contract/limits.ts'
import type { TenantId, TenantVersions } from '../database/open-database.ts'
import { admitTo, noteIn, placesLeft, type RateLimit, type Ring } from '../security/rate-limit.ts'

/**
 * What the threads of a process know of each tenant together, in memory that all of them see: the times of its last
 * admitted requests, so that the limit is one limit, and how far its facts have moved, so that what one thread has
 * committed is in the next answer of every other.
 */
export interface SharedTenants {
  readonly tenantLimit: RateLimit
  readonly signatureCheckLimit: RateLimit
  readonly versions: SharedVersions
}

/** The newest versions of tenants that any thread has committed. */
export interface SharedVersions {
  /** Where a tenant's versions stand; the same for as long as the process runs. */
  placeOf(tenant: TenantId): number
  factsAt(place: number): number
  accessAt(place: number): number
  /** Another number each time that nobody knows whether a change was committed. */
  doubtsAt(place: number): number
  /** Tells all threads of a commit; null when nobody knows whether it was one. */
  moved(tenant: TenantId, versions: TenantVersions | null): void
  /** Forgets all versions: the database has become another one. */
  reset(): void
}

/** Tenants that a process can tell apart before some share a place (and with it a limit); pages never used take no memory. */
const tenantsMax = 131_072
/** Twice as many as there are tenants, so that a free one is near. A power of two. */
const keysMax = tenantsMax * 2
/** Keys that are looked at for a tenant. With half of them taken, a handful; with nearly all, it shares a place at once. */
const triesMax = 64
/** A lock is held for a microsecond. One that is still held after this was left by a thread that died. */
const lockHeldMaxMs = 1_000

const numbersPerTenant = 6
const [lockOf, tenantOldest, checksOldest, factsOf, accessOf, doubtsOf] = [0, 1, 2, 3, 4, 5] as const
const timesPerTenant = tenantRequestsPerWindowMax + signatureChecksPerMinuteMax

const layout = {
  /** One: how many tenants have a place. */
  count: 0,
  keys: 8,
  places: 8 + keysMax * 4,
  numbers: 8 + keysMax * 8,
  times: 8 + keysMax * 8 + align(tenantsMax * numbersPerTenant * 4),
}
const bytes = layout.times + tenantsMax * timesPerTenant * 8

function align(size: number): number {
  return Math.ceil(size / 8) * 8
}

/** Memory for what threads share of tenants: made once, and handed to every thread. */
export function sharedTenantMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes)
}

/**
 * A thread's view of it. The clock handed to the limits must be the same for all threads.
 *
 * @example
 * const memory = sharedTenantMemory()
 * const [one, other] = [sharedTenants(memory), sharedTenants(memory)]
 * for (let i = 0; i < 10; i++) one.tenantLimit.admit(7, 0)
 * other.tenantLimit.admit(7, 0).admitted // false
 */
export function sharedTenants(memory: SharedArrayBuffer): SharedTenants {
  const count = new Int32Array(memory, layout.count, 1)
  const keys = new Int32Array(memory, layout.keys, keysMax)
  const places = new Int32Array(memory, layout.places, keysMax)
  const numbers = new Int32Array(memory, layout.numbers, tenantsMax * numbersPerTenant)
  const times = new Float64Array(memory, layout.times, tenantsMax * timesPerTenant)

  /** Keys are only ever added, so a tenant found once stays where it is. Places count from 1: 0 is "not yet given". */
  function placeOf(tenant: number): number {
    let at = Math.imul(tenant, 0x9e3779b1) >>> 0
    for (let tries = 0; tries < triesMax; tries++, at++) {
      const key = at & (keysMax - 1)
      const held = Atomics.compareExchange(keys, key, 0, tenant)
      if (held !== 0 && held !== tenant) continue
      const place = held === 0 ? givePlace(key, tenant) : Atomics.load(places, key)
      // Another thread is between taking the key and giving it a place.
      if (place === 0) {
        tries--
        at--
        continue
      }
      return place - 1
    }
    return sharedPlace(tenant)
  }

  function givePlace(key: number, tenant: number): number {
    const given = Atomics.add(count, 0, 1) + 1
    const place = given <= tenantsMax ? given : sharedPlace(tenant) + 1
    Atomics.store(places, key, place)
    return place
  }

  /** Where all places are given, tenants share one: a limit may then be stricter, never looser. */
  const sharedPlace = (tenant: number) => (Math.imul(tenant, 0x85ebca6b) >>> 0) % tenantsMax

  const known = new Map<number, number>()
  function place(tenant: number): number {
    const found = known.get(tenant)
    if (found !== undefined) return found
    const made = placeOf(tenant)
    known.set(tenant, made)
    return made
  }

  /** 0 is free, 1 is held, 2 is held while others wait. */
  function locked<T>(at: number, work: () => T): T {
    const lock = at * numbersPerTenant + lockOf
    if (Atomics.compareExchange(numbers, lock, 0, 1) !== 0) {
      const until = performance.now() + lockHeldMaxMs
      while (Atomics.exchange(numbers, lock, 2) !== 0) {
        const leftMs = until - performance.now()
        if (leftMs <= 0) break
        Atomics.wait(numbers, lock, 2, leftMs)
      }
    }
    try {
      return work()
    } finally {
      if (Atomics.exchange(numbers, lock, 0) === 2) Atomics.notify(numbers, lock, 1)
    }
  }

  function limit(max: number, windowMs: number, firstTime: number, oldestAt: number): RateLimit {
    const rings = new Map<number, Ring>()
    function ringAt(at: number): Ring {
      const before = rings.get(at)
      if (before !== undefined) return before
      const from = at * timesPerTenant + firstTime
      const next = at * numbersPerTenant + oldestAt
      const ring = { times: times.subarray(from, from + max), oldest: numbers.subarray(next, next + 1) }
      rings.set(at, ring)
      return ring
    }
    /**
     * A time of 0 is a place never taken: the clock counts from long before. Another thread may have looked at the clock a
     * moment later and come first.
     */
    const ordered = ({ times: taken, oldest }: Ring, now: number) =>
      Math.max(now, taken[((oldest[0] ?? 0) + max - 1) % max] ?? 0)
    return {
      admit(key, now) {
        const at = place(Number(key))
        const ring = ringAt(at)
        return locked(at, () => admitTo(ring, windowMs, ordered(ring, now + epochMs)))
      },
      note(key, now) {
        const at = place(Number(key))
        const ring = ringAt(at)
        locked(at, () => noteIn(ring, ordered(ring, now + epochMs)))
      },
      remaining(key, now) {
        const at = place(Number(key))
        const ring = ringAt(at)
        return locked(at, () => placesLeft(ring.times, windowMs, ordered(ring, now + epochMs)))
      },
    }
  }

  function raise(index: number, to: number): void {
    for (;;) {
      const known = Atomics.load(numbers, index)
      if (known >= to || Atomics.compareExchange(numbers, index, known, to) === known) return
    }
  }

  return {
    tenantLimit: limit(tenantRequestsPerWindowMax, tenantWindowSeconds * 1000, 0, tenantOldest),
    signatureCheckLimit: limit(signatureChecksPerMinuteMax, 60_000, tenantRequestsPerWindowMax, checksOldest),
    versions: {
      placeOf: place,
      factsAt: (at) => Atomics.load(numbers, at * numbersPerTenant + factsOf),
      accessAt: (at) => Atomics.load(numbers, at * numbersPerTenant + accessOf),
      doubtsAt: (at) => Atomics.load(numbers, at * numbersPerTenant + doubtsOf),
      moved(tenant, versions) {
        const first = place(tenant) * numbersPerTenant
        if (versions === null) {
          Atomics.add(numbers, first + doubtsOf, 1)
          return
        }
        raise(first + factsOf, versions.facts)
        raise(first + accessOf, versions.access)
      },
      reset() {
        const given = Math.min(Atomics.load(count, 0), tenantsMax)
        for (let at = 0; at < given; at++) {
          Atomics.store(numbers, at * numbersPerTenant + factsOf, 0)
          Atomics.store(numbers, at * numbersPerTenant + accessOf, 0)
        }
      },
    },
  }
}

/** Added to the clock, so that a time of 0 is before every window: memory comes filled with zeros. */
const epochMs = 86_400_000
