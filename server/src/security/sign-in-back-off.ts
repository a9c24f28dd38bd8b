import {
  knownNetworkLookUpsMax,
  signInFailuresBeforeDelay,
  signInFailuresPerAddressMax,
  signInWindowSeconds,
} from '#contract/limits.ts'
import { slidingWindow } from './rate-limit.ts'

/**
 * Slows down password guessing without ever locking an account permanently. After 5 failures, each further failure doubles
 * the wait, up to 15 minutes, for known and unknown accounts alike. A network may have 30 failures per 15 minutes.
 *
 * The failures of an account are counted over all networks, because guesses come from many, and for each network. A network from
 * which the person signed in lately (`isKnown`) waits for its own failures only, so that nobody else keeps the person out.
 */
export interface SignInBackOff {
  /** Milliseconds to wait before an attempt is checked; 0 if it may proceed. */
  waitMs(account: string, network: string, now: number, isKnown?: boolean): number
  /**
   * Starts an attempt, and counts it as failed until the returned function ends it. Checking a password takes time: without
   * this, a hundred concurrent guesses would all be checked before the first one has failed.
   */
  begin(account: string, network: string): () => void
  failed(account: string, network: string, now: number): void
  /** Forgets the failures of the account from this network, and those from other networks unless the attempt passed them. */
  succeeded(account: string, network: string, isKnown?: boolean): void
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
  begin(account: string, network: string, now: number, isKnown?: boolean): SignInAttempt
  /** Whether to look up if a network is known: a flood of delayed attempts must not become a flood of queries. */
  mayLookUp(network: string, now: number): boolean
}

export function signInAttempts(backOff: SignInBackOff = signInBackOff()): SignInAttempts {
  const lookUps = slidingWindow(knownNetworkLookUpsMax, signInWindowSeconds * 1000)
  return {
    // Check and start in one step: an attempt in between would not be counted.
    begin(account, network, now, isKnown = false) {
      const waitMs = backOff.waitMs(account, network, now, isKnown)
      return {
        waitMs,
        failed: () => backOff.failed(account, network, now),
        succeeded: () => backOff.succeeded(account, network, isKnown),
        end: waitMs > 0 ? () => {} : backOff.begin(account, network),
      }
    },
    mayLookUp: (network, now) => lookUps.admit(network, now).admitted,
  }
}

/** Accounts, and accounts of one network. */
const accountsMax = 100_000
/** The failures of an account from one network. No account has a space in its name. */
const ofNetwork = (account: string, network: string) => `${account} from ${network}`
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
  /** Failures that still count: the last one is in the window. */
  function failuresOf(counted: string, now: number) {
    const seen = accounts.get(counted)
    return seen === undefined || now - seen.lastAt > windowMs ? undefined : seen
  }

  function fail(counted: string, now: number) {
    const failures = (failuresOf(counted, now)?.failures ?? 0) + 1
    accounts.delete(counted)
    accounts.set(counted, { failures, lastAt: now })
    // Evict the oldest first, so that a flood of invented addresses cannot exhaust memory.
    const oldest = accounts.keys().next().value
    if (accounts.size > accountsMax && oldest !== undefined) accounts.delete(oldest)
  }
  return {
    waitMs(account, network, now, isKnown = false) {
      const ofThisNetwork = underWay.network.get(network) ?? 0
      // A full window takes no permit: it says when the oldest failure leaves it, so that one attempt is then checked.
      if (networks.remaining(network, now) === 0) return networks.admit(network, now).retryAfterMs
      if (networks.remaining(network, now) <= ofThisNetwork) return attemptTakesMs
      const counted = isKnown ? ofNetwork(account, network) : account
      const running = underWay.account.get(counted) ?? 0
      const seen = failuresOf(counted, now)
      // After the clock was set back, do not wait until it reaches the old time again.
      if (seen !== undefined && seen.lastAt > now) seen.lastAt = now
      const waitMs = seen === undefined ? 0 : Math.max(0, seen.lastAt + delayMs(seen.failures) - now)
      const mayAllFail = running > 0 && (seen?.failures ?? 0) + running >= signInFailuresBeforeDelay
      return mayAllFail ? Math.max(waitMs, attemptTakesMs) : waitMs
    },
    begin(account, network) {
      const counted = [account, ofNetwork(account, network)]
      for (const key of counted) add(underWay.account, key, 1)
      add(underWay.network, network, 1)
      return () => {
        for (const key of counted) add(underWay.account, key, -1)
        add(underWay.network, network, -1)
      }
    },
    failed(account, network, now) {
      networks.admit(network, now)
      fail(account, now)
      fail(ofNetwork(account, network), now)
    },
    succeeded(account, network, isKnown = false) {
      accounts.delete(ofNetwork(account, network))
      if (!isKnown) accounts.delete(account)
    },
  }
}
