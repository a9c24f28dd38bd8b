import {
  signatureChecksPerMinuteMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from '#contract/limits.ts'

/**
 * Admits at most `max` calls in any window of `windowMs`, for each key, exactly: the times of the last `max` admitted
 * calls are kept in a ring, and a call is admitted when the oldest of them has left the window. (A fixed window would
 * admit twice as many around its edge.) A refused call takes no place.
 *
 * The clock is a monotonic one, in milliseconds: setting the machine's clock neither opens nor closes the limit. Where it
 * is not, a clock that was set back opens nothing, and what was admitted ahead of it counts for one window from then on.
 */
export interface RateLimit {
  admit(key: string | number, now: number): Admission
  /** Counts a call that was admitted elsewhere, also where there is no place for it. */
  note(key: string | number, now: number): void
  /** Calls still allowed now, without taking one. */
  remaining(key: string | number, now: number): number
}

export interface Admission {
  readonly admitted: boolean
  readonly remaining: number
  /** When refused: milliseconds until the next call would be admitted. */
  readonly retryAfterMs: number
}

/** The times of the last admitted calls, and at which of them the oldest stands. */
interface Ring {
  readonly times: Float64Array
  oldest: number
}

/** Past this many keys the idle ones are swept, so that memory follows the callers of the moment. */
const keysBeforeSweep = 10_000

/**
 * @example
 * const limit = slidingWindow(10, 1000)
 * limit.admit('tenant 7', 0) // { admitted: true, remaining: 9, retryAfterMs: 0 }
 */
export function slidingWindow(max: number, windowMs: number): RateLimit {
  const rings = new Map<string | number, Ring>()
  let sweepAt = keysBeforeSweep

  function ringOf(key: string | number, now: number): Ring {
    let ring = rings.get(key)
    if (ring === undefined) {
      if (rings.size >= sweepAt) sweep(now)
      ring = { times: new Float64Array(max).fill(Number.NEGATIVE_INFINITY), oldest: 0 }
      rings.set(key, ring)
    }
    comeBack(ring.times, now)
    return ring
  }

  function comeBack(times: Float64Array, now: number) {
    for (let at = 0; at < times.length; at++) if ((times[at] ?? 0) > now) times[at] = now
  }

  /** Puts a time, none of the ring's is ahead of, in the place of the oldest. */
  function noteIn(ring: Ring, now: number) {
    ring.times[ring.oldest] = now
    ring.oldest = (ring.oldest + 1) % max
  }

  function placesLeft({ times }: Ring, now: number): number {
    let free = 0
    for (const time of times) if (now - time >= windowMs) free++
    return free
  }

  function sweep(now: number) {
    for (const [key, { times }] of rings) {
      if (times.every((time) => now - time >= windowMs)) rings.delete(key)
    }
    sweepAt = Math.max(keysBeforeSweep, rings.size * 2)
  }

  return {
    admit: (key, now) => {
      const ring = ringOf(key, now)
      const age = now - (ring.times[ring.oldest] ?? Number.NEGATIVE_INFINITY)
      if (age < windowMs) return { admitted: false, remaining: 0, retryAfterMs: windowMs - age }
      noteIn(ring, now)
      return { admitted: true, remaining: placesLeft(ring, now), retryAfterMs: 0 }
    },
    note: (key, now) => noteIn(ringOf(key, now), now),
    remaining: (key, now) => {
      const ring = rings.get(key)
      if (ring === undefined) return max
      comeBack(ring.times, now)
      return placesLeft(ring, now)
    },
  }
}

/** The interface's limit: requests of one tenant over all integration endpoints. */
export const tenantLimit = () => slidingWindow(tenantRequestsPerWindowMax, tenantWindowSeconds * 1000)

/** How often one tenant may have a signature explained. */
export const signatureCheckLimit = () => slidingWindow(signatureChecksPerMinuteMax, 60_000)
