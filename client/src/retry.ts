import { aborted } from './call.ts'
import { isLanewiseFailure, isTransient, type LanewiseFailure, wasRejectedUnprocessed } from './failures.ts'

/** The retries and timeouts of a call. */
export interface Patience {
  /**
   * Maximum retries after transient failures; 0 sends the request once. Refusals by the brokerage's rate limit do not
   * count: the call waits and repeats the request until its timeout.
   */
  readonly retries: number
  /** Upper bound of the first wait. The bound doubles with each retry. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** Timeout of one attempt. */
  readonly attemptTimeoutMs: number
  /** Timeout of the whole call, including waits. */
  readonly timeoutMs: number
}

export const defaultPatience: Patience = {
  retries: 4,
  firstWaitMs: 250,
  longestWaitMs: 8_000,
  attemptTimeoutMs: 15_000,
  timeoutMs: 60_000,
}

/**
 * The wait before the next attempt, in milliseconds. Full jitter: a random wait up to a bound that doubles, so that
 * callers that failed together do not retry together. A `Retry-After` is respected, and jitter is added to it.
 *
 * @param attempt the number of the failed attempt, from 1
 * @example waitMs(3, null, defaultPatience, () => 1) // 1000
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

export interface RetryOptions {
  readonly patience: Patience
  /** The deadline of the call, by `performance.now()`. */
  readonly endAt: number
  /** Whether the request is idempotent, so that it can be sent again after a lost connection. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
  readonly onRetry: (failure: LanewiseFailure, waitsMs: number) => void
}

/**
 * Repeats an attempt until it succeeds, a failure is permanent, or the retries are used up. If the next wait would
 * exceed the deadline, the call fails immediately.
 */
export async function withRetries<T>(
  { patience, endAt, isRepeatable, signal, onRetry }: RetryOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  let counted = 0
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (failure) {
      if (!isLanewiseFailure(failure)) throw failure
      failure.retryable = isRepeatable ? isTransient(failure) : wasRejectedUnprocessed(failure)
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
