import {
  knownNetworkLookUpsMax,
  signInFailuresBeforeDelay,
  signInFailuresPerAddressMax,
  signInWindowSeconds,
} from '#contract/limits.ts'
import { remember, slidingWindow } from './rate-limit.ts'

/** An attempt at a password or an invitation: either it must wait, or it runs until `end`. */
export interface SignInAttempt {
  /** Milliseconds to wait before an attempt is checked; 0 if this one proceeds. */
  readonly waitMs: number
  failed(): void
  /** Forgets the failures of the account from this network, and those from other networks unless the attempt passed them. */
  succeeded(): void
  end(): void
}

/**
 * Slows down password guessing without ever locking an account permanently. After 5 failures, each further failure doubles
 * the wait, up to 15 minutes, for known and unknown accounts alike. A network may have 30 failures per 15 minutes.
 *
 * The failures of an account are counted over all networks, because guesses come from many, and for each network. A network from
 * which the person signed in lately (`isKnown`) waits for its own failures only, so that nobody else can lock the person out.
 */
export interface SignInAttempts {
  /**
   * Starts an attempt, and counts it as failed until it ends. Checking a password takes time: without this, a hundred
   * concurrent guesses would all be checked before the first one has failed.
   */
  begin(account: string, network: string, now: number, isKnown?: boolean): SignInAttempt
  /** Whether to look up if a network is known, so that a flood of delayed attempts does not become a flood of queries. */
  mayLookUp(network: string, now: number): boolean
}

/** The failures of an account from one network. No account has a space in its name. */
const ofNetwork = (account: string, network: string) => `${account} from ${network}`
/** How long to wait if running attempts use up the limit: they have ended by then. */
const attemptTakesMs = 1_000
const windowMs = signInWindowSeconds * 1000

const delayMs = (failures: number) =>
  failures < signInFailuresBeforeDelay
    ? 0
    : Math.min(windowMs, 1000 * 2 ** (failures - signInFailuresBeforeDelay))

export function signInAttempts(): SignInAttempts {
  const networks = slidingWindow(signInFailuresPerAddressMax, windowMs)
  const lookUps = slidingWindow(knownNetworkLookUpsMax, windowMs)
  /** The failures of accounts, and of accounts from one network. */
  const accounts = new Map<string, { failures: number; lastAt: number }>()
  /** Attempts that have not ended, of accounts, of accounts from one network, and of networks. */
  const underWay = new Map<string, number>()

  function addUnderWay(key: string, by: 1 | -1): void {
    const count = (underWay.get(key) ?? 0) + by
    if (count === 0) underWay.delete(key)
    else underWay.set(key, count)
  }

  /** The failures, if they still count because the last one is in the window. */
  function failuresOf(counted: string, now: number) {
    const seen = accounts.get(counted)
    return seen === undefined || now - seen.lastAt > windowMs ? undefined : seen
  }

  function fail(counted: string, now: number): void {
    remember(accounts, counted, { failures: (failuresOf(counted, now)?.failures ?? 0) + 1, lastAt: now })
  }

  function waitOf(counted: string, network: string, now: number): number {
    const left = networks.remaining(network, now)
    // A full window takes no permit, but tells when its oldest failure leaves it. One attempt is then checked.
    if (left === 0) return networks.admit(network, now).retryAfterMs
    if (left <= (underWay.get(network) ?? 0)) return attemptTakesMs
    const running = underWay.get(counted) ?? 0
    const seen = failuresOf(counted, now)
    // After the clock was set back, do not wait until it reaches the old time again.
    if (seen !== undefined && seen.lastAt > now) seen.lastAt = now
    const waitMs = seen === undefined ? 0 : Math.max(0, seen.lastAt + delayMs(seen.failures) - now)
    const mayAllFail = running > 0 && (seen?.failures ?? 0) + running >= signInFailuresBeforeDelay
    return mayAllFail ? Math.max(waitMs, attemptTakesMs) : waitMs
  }

  return {
    begin(account, network, now, isKnown = false) {
      const accountHere = ofNetwork(account, network)
      const waitMs = waitOf(isKnown ? accountHere : account, network, now)
      const counted = waitMs > 0 ? [] : [account, accountHere, network]
      for (const key of counted) addUnderWay(key, 1)
      return {
        waitMs,
        failed() {
          networks.admit(network, now)
          fail(account, now)
          fail(accountHere, now)
        },
        succeeded() {
          accounts.delete(accountHere)
          if (!isKnown) accounts.delete(account)
        },
        end() {
          for (const key of counted) addUnderWay(key, -1)
        },
      }
    },
    mayLookUp: (network, now) => lookUps.admit(network, now).admitted,
  }
}
