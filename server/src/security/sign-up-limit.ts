import { signUpNetworksPerHour } from '#contract/limits.ts'
import { type Admission, slidingWindow } from './rate-limit.ts'

/** Counts sign-ups. */
export interface SignUps {
  /** Takes a place of the network's limit and of the limit of all networks together, or of neither. */
  admit(network: string, now: number): Admission
}

const hourMs = 3_600_000

/**
 * Bounds sign-ups by network and over all networks. They are counted in memory: a restart forgets them, and each instance
 * counts by itself, as it does failed sign-ins.
 *
 * @example signUpLimit(5).admit('192.0.2.7', now) // { admitted: true, remaining: 4, retryAfterMs: 0 }
 */
export function signUpLimit(perNetworkMax: number): SignUps {
  const networks = slidingWindow(perNetworkMax, hourMs)
  const all = slidingWindow(perNetworkMax * signUpNetworksPerHour, hourMs)
  return {
    admit(network, now) {
      // One that is refused by its own limit takes no place of the others.
      if (networks.remaining(network, now) === 0) return networks.admit(network, now)
      const place = all.admit('all', now)
      return place.admitted ? networks.admit(network, now) : place
    },
  }
}
