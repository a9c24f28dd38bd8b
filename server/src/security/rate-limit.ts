import {
  eventTestsPerSecondMax,
  signatureChecksPerMinuteMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from '#contract/limits.ts'

/**
 * An exact sliding window per key: admits at most `max` calls in any `windowMs`. A ring holds the times of the last `max`
 * admitted calls, and a call is admitted when the oldest of them has left the window. (A fixed window would admit twice as
 * many around its boundary.) A refused call takes no permit.
 *
 * `now` is monotonic milliseconds, so that changes of the system clock have no effect. If a clock that can be set back is
 * used, calls that it admitted at later times count as admitted now.
 */
export interface RateLimit {
  admit(key: string | number, now: number): Admission
  /** Counts a call that was admitted elsewhere, even if the window is full. */
  note(key: string | number, now: number): void
  /** Permits left now. Takes none. */
  remaining(key: string | number, now: number): number
}

export interface Admission {
  readonly admitted: boolean
  readonly remaining: number
  /** If refused: milliseconds until the next call would be admitted. */
  readonly retryAfterMs: number
}

/** The times of the last admitted calls, and the index of the oldest. */
interface Ring {
  readonly times: Float64Array
  oldest: number
}

/** Above this number of keys, idle ones are removed. */
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
    clampToNow(ring.times, now)
    return ring
  }

  function clampToNow(times: Float64Array, now: number) {
    for (let at = 0; at < times.length; at++) if ((times[at] ?? 0) > now) times[at] = now
  }

  /** Replaces the oldest time. No time in the ring may be after `now`. */
  function noteIn(ring: Ring, now: number) {
    ring.times[ring.oldest] = now
    ring.oldest = (ring.oldest + 1) % max
  }

  function permitsLeft({ times }: Ring, now: number): number {
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
      return { admitted: true, remaining: permitsLeft(ring, now), retryAfterMs: 0 }
    },
    note: (key, now) => noteIn(ringOf(key, now), now),
    remaining: (key, now) => {
      const ring = rings.get(key)
      if (ring === undefined) return max
      clampToNow(ring.times, now)
      return permitsLeft(ring, now)
    },
  }
}

/** The rate limit of the integration API: requests of one tenant over all its endpoints. */
export const tenantLimit = () => slidingWindow(tenantRequestsPerWindowMax, tenantWindowSeconds * 1000)

/** The rate limit of signature checks (`explain`) per tenant. */
export const signatureCheckLimit = () => slidingWindow(signatureChecksPerMinuteMax, 60_000)

/** The rate limit of test events per tenant. */
export const eventTestLimit = () => slidingWindow(eventTestsPerSecondMax, 1_000)
