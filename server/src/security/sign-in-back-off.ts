import {
  signInFailuresBeforeDelay,
  signInFailuresPerAddressMax,
  signInWindowSeconds,
} from '#contract/limits.ts'
import { slidingWindow } from './rate-limit.ts'

/**
 * Slows down guessing without ever locking an account for good: after 5 failures each further one doubles the wait, up
 * to a quarter of an hour, whether the address is known or not; and one network gets 30 failures a quarter of an hour.
 */
export interface SignInBackOff {
  /** Milliseconds to wait before an attempt is looked at; 0 when it may go ahead. */
  waitMs(account: string, network: string, now: number): number
  /**
   * Counts an attempt as failed for as long as it is under way; the answer ends it. Checking a password takes time, and
   * a hundred guesses sent at once must not all be looked at before the first of them has failed.
   */
  begin(account: string, network: string): () => void
  failed(account: string, network: string, now: number): void
  succeeded(account: string): void
}

/** One attempt at a password or an invitation: either somebody has to wait, or it is under way until it `end`s. */
export interface SignInAttempt {
  /** Milliseconds to wait before an attempt is looked at; 0 when this one goes ahead. */
  readonly waitMs: number
  failed(): void
  succeeded(): void
  end(): void
}

/** Where attempts begin. */
export interface SignInAttempts {
  begin(account: string, network: string, now: number): SignInAttempt
}

export function signInAttempts(backOff: SignInBackOff = signInBackOff()): SignInAttempts {
  return {
    // Looking and beginning are one step: what comes in between would not be counted.
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
/** How soon to come back when the attempts under way leave no room: they are over by then. */
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
      if (networks.remaining(network, now) === 0) return windowMs / signInFailuresPerAddressMax
      if (networks.remaining(network, now) <= ofNetwork) return attemptTakesMs
      const ofAccount = underWay.account.get(account) ?? 0
      const seen = accounts.get(account)
      // A clock that was set back makes nobody wait for it to come there again.
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
      // The oldest goes first: a flood of made-up addresses cannot make us remember them all.
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
