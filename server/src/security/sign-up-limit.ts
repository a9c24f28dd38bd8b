import { signUpNetworksPerHour } from '#contract/limits.ts'
import { type Admission, slidingWindow } from './rate-limit.ts'

/** Counts sign-ups. */
export interface SignUps {
  /** Takes a permit of the network and a permit of the total limit, or neither. */
  admit(network: string, now: number): Admission
}

const hourMs = 3_600_000

/**
 * Limits sign-ups per network and over all networks. Counts are in memory: a restart resets them, and each instance counts
 * separately, as for failed sign-ins.
 *
 * @example signUpLimit(5).admit('192.0.2.7', now) // { admitted: true, remaining: 4, retryAfterMs: 0 }
 */
export function signUpLimit(perNetworkMax: number): SignUps {
  const networks = slidingWindow(perNetworkMax, hourMs)
  const all = slidingWindow(perNetworkMax * signUpNetworksPerHour, hourMs)
  return {
    admit(network, now) {
      // A network that is over its own limit takes no permit of the total limit.
      if (networks.remaining(network, now) === 0) return networks.admit(network, now)
      const place = all.admit('all', now)
      return place.admitted ? networks.admit(network, now) : place
    },
  }
}
