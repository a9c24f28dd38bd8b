import {
  eventTestsPerSecondMax,
  signatureChecksPerMinuteMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from '#contract/limits.ts'

/**
 * An exact sliding window per key: admits at most `max` calls in any `windowMs`. (A fixed window would admit twice as many around its
 * boundary.) A refused call takes no permit.
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

/**
 * The most keys that a limit remembers: brokerages, networks or accounts. So a flood of invented keys takes at most 20 MB per
 * limit.
 */
const keysMax = 100_000

/** Makes an entry of a map the newest, and forgets the oldest one above `keysMax`. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= keysMax) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

/**
 * @example
 * const limit = slidingWindow(10, 1000)
 * limit.admit('tenant 7', 0) // { admitted: true, remaining: 9, retryAfterMs: 0 }
 */
export function slidingWindow(max: number, windowMs: number): RateLimit {
  /** When the counted calls of each key were admitted, oldest first. */
  const admitted = new Map<string | number, number[]>()

  /** The times of a key that are still in the window. A time after `now`, from before the clock was set back, becomes `now`. */
  function timesOf(key: string | number, now: number): number[] {
    const times = admitted.get(key) ?? []
    while (now - (times[0] ?? now) >= windowMs) times.shift()
    for (let at = times.length - 1; (times[at] ?? now) > now; at--) times[at] = now
    return times
  }

  /** Counts a call. Beyond `max`, the oldest one no longer counts. */
  function note(key: string | number, now: number): number {
    const times = timesOf(key, now)
    if (times.push(now) > max) times.shift()
    remember(admitted, key, times)
    return max - times.length
  }

  return {
    admit: (key, now) => {
      const times = timesOf(key, now)
      if (times.length < max) return { admitted: true, remaining: note(key, now), retryAfterMs: 0 }
      return { admitted: false, remaining: 0, retryAfterMs: windowMs - (now - (times[0] ?? now)) }
    },
    note,
    remaining: (key, now) => max - timesOf(key, now).length,
  }
}

/** The rate limit of the integration API: requests of one tenant over all its endpoints. */
export const tenantLimit = () => slidingWindow(tenantRequestsPerWindowMax, tenantWindowSeconds * 1000)

/** The rate limit of signature checks (`explain`) per tenant. */
export const signatureCheckLimit = () => slidingWindow(signatureChecksPerMinuteMax, 60_000)

export const eventTestLimit = () => slidingWindow(eventTestsPerSecondMax, 1_000)
