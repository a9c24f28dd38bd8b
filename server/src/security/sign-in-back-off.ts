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
  failed(account: string, network: string, now: number): void
  succeeded(account: string): void
}

const accountsMax = 50_000

export function signInBackOff(): SignInBackOff {
  const windowMs = signInWindowSeconds * 1000
  const networks = slidingWindow(signInFailuresPerAddressMax, windowMs)
  const accounts = new Map<string, { failures: number; lastAt: number }>()
  const delayMs = (failures: number) =>
    failures < signInFailuresBeforeDelay
      ? 0
      : Math.min(windowMs, 1000 * 2 ** (failures - signInFailuresBeforeDelay))
  return {
    waitMs(account, network, now) {
      if (networks.remaining(network, now) === 0) return windowMs / signInFailuresPerAddressMax
      const seen = accounts.get(account)
      return seen === undefined ? 0 : Math.max(0, seen.lastAt + delayMs(seen.failures) - now)
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
