import {
  signInFailuresBeforeDelay,
  signInFailuresPerAddressMax,
  signInWindowSeconds,
} from '#contract/limits.ts'
import { slidingWindow } from './rate-limit.ts'

/**
 * Slows down password guessing without ever locking an account permanently. After 5 failures, each further failure doubles
 * the wait, up to 15 minutes, for known and unknown accounts alike. A network may have 30 failures per 15 minutes.
 */
export interface SignInBackOff {
  /** Milliseconds to wait before an attempt is checked; 0 if it may proceed. */
  waitMs(account: string, network: string, now: number): number
  /**
   * Starts an attempt, and counts it as failed until the returned function ends it. Checking a password takes time: without
   * this, a hundred concurrent guesses would all be checked before the first one has failed.
   */
  begin(account: string, network: string): () => void
  failed(account: string, network: string, now: number): void
  succeeded(account: string): void
}

/** An attempt at a password or an invitation: either it must wait, or it runs until `end`. */
export interface SignInAttempt {
  /** Milliseconds to wait before an attempt is checked; 0 if this one proceeds. */
  readonly waitMs: number
  failed(): void
  succeeded(): void
  end(): void
}

/** Starts attempts. */
export interface SignInAttempts {
  begin(account: string, network: string, now: number): SignInAttempt
}

export function signInAttempts(backOff: SignInBackOff = signInBackOff()): SignInAttempts {
  return {
    // Check and start in one step: an attempt in between would not be counted.
    begin(account, network, now) {
      const waitMs = backOff.waitMs(account, network, now)
      return {
        waitMs,
        failed: () => backOff.failed(account, network, now),
        succeeded: () => backOff.succeeded(account),
        end: waitMs > 0 ? () => {} : backOff.begin(account, network),
      }
    },
  }
}

const accountsMax = 50_000
/** How long to wait if running attempts use up the limit: they have ended by then. */
const attemptTakesMs = 1_000

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

export function signInBackOff(): SignInBackOff {
  const windowMs = signInWindowSeconds * 1000
  const networks = slidingWindow(signInFailuresPerAddressMax, windowMs)
  const accounts = new Map<string, { failures: number; lastAt: number }>()
  const underWay = { account: new Map<string, number>(), network: new Map<string, number>() }
  const delayMs = (failures: number) =>
    failures < signInFailuresBeforeDelay
      ? 0
      : Math.min(windowMs, 1000 * 2 ** (failures - signInFailuresBeforeDelay))
  return {
    waitMs(account, network, now) {
      const ofNetwork = underWay.network.get(network) ?? 0
      // A full window takes no permit: it says when the oldest failure leaves it, so that one attempt is then checked.
      if (networks.remaining(network, now) === 0) return networks.admit(network, now).retryAfterMs
      if (networks.remaining(network, now) <= ofNetwork) return attemptTakesMs
      const ofAccount = underWay.account.get(account) ?? 0
      const seen = accounts.get(account)
      // After the clock was set back, do not wait until it reaches the old time again.
      if (seen !== undefined && seen.lastAt > now) seen.lastAt = now
      const waitMs = seen === undefined ? 0 : Math.max(0, seen.lastAt + delayMs(seen.failures) - now)
      const mayAllFail = ofAccount > 0 && (seen?.failures ?? 0) + ofAccount >= signInFailuresBeforeDelay
      return mayAllFail ? Math.max(waitMs, attemptTakesMs) : waitMs
    },
    begin(account, network) {
      add(underWay.account, account, 1)
      add(underWay.network, network, 1)
      return () => {
        add(underWay.account, account, -1)
        add(underWay.network, network, -1)
      }
    },
    failed(account, network, now) {
      networks.admit(network, now)
      const seen = accounts.get(account)
      const failures = seen === undefined || now - seen.lastAt > windowMs ? 1 : seen.failures + 1
      accounts.delete(account)
      accounts.set(account, { failures, lastAt: now })
      // Evict the oldest first, so that a flood of invented addresses cannot exhaust memory.
      if (accounts.size > accountsMax) {
        const oldest = accounts.keys().next().value
        if (oldest !== undefined) accounts.delete(oldest)
      }
    },
    succeeded(account) {
      accounts.delete(account)
    },
  }
}
