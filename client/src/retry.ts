import { aborted } from './call.ts'
import { isLanewiseFailure, isPassing, type LanewiseFailure, wasCertainlyNotDone } from './failures.ts'

/** How patient a call is. */
export interface Patience {
  /**
   * How often a call is sent again after a failure that may pass; 0 sends it once. Refusals for the brokerage's rate limit
   * do not count: they are waited out until the time for the call ends.
   */
  readonly retries: number
  /** The upper end of the first wait; each one after it is twice as long. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** How long one answer may take. */
  readonly attemptTimeoutMs: number
  /** How long the call may take in all, waits included. */
  readonly timeoutMs: number
}

export const usualPatience: Patience = {
  retries: 4,
  firstWaitMs: 250,
  longestWaitMs: 8_000,
  attemptTimeoutMs: 15_000,
  timeoutMs: 60_000,
}

/**
 * How long to wait before the next try, in milliseconds. Full jitter: anything up to a bound that doubles, so that callers
 * that failed together do not come back together. A `Retry-After` is kept, and some of the jitter comes on top of it.
 *
 * @param attempt the try that failed, from 1
 * @example waitMs(3, null, usualPatience, () => 1) // 1000
 */
export function waitMs(
  attempt: number,
  retryAfterSeconds: number | null,
  { firstWaitMs, longestWaitMs }: Patience,
  random: () => number,
): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000 + random() * firstWaitMs
  return random() * Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1))
}

export interface Trying {
  readonly patience: Patience
  /** When the call's time ends, by `performance.now()`. */
  readonly endAt: number
  /** The same request twice has the effect of one, so that it may be sent again after a lost connection. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
  readonly onRetry: (failure: LanewiseFailure, waitsMs: number) => void
}

/**
 * Tries until there is an answer, the failure is one that would stay, or patience ends. A wait that would outlast the
 * time for the call is not begun: the call fails at once.
 */
export async function withRetries<T>(
  { patience, endAt, isRepeatable, signal, onRetry }: Trying,
  attempt: () => Promise<T>,
): Promise<T> {
  let counted = 0
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (failure) {
      if (!isLanewiseFailure(failure)) throw failure
      failure.retryable = isRepeatable ? isPassing(failure) : wasCertainlyNotDone(failure)
      if (failure.code !== 'quota-exceeded') counted++
      if (!failure.retryable || patience.retries === 0 || counted > patience.retries) throw failure
      const waitsMs = waitMs(tries, failure.retryAfterSeconds, patience, Math.random)
      if (performance.now() + waitsMs >= endAt) throw failure
      onRetry(failure, waitsMs)
      await pause(waitsMs, signal)
    }
  }
}

function pause(forMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(aborted(signal))
    const stop = () => {
      clearTimeout(timer)
      if (signal !== undefined) reject(aborted(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, forMs)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
