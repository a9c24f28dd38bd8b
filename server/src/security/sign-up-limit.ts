import { signUpNetworksPerHour } from '#contract/limits.ts'
import { type RateLimit, slidingWindow } from './rate-limit.ts'

const hourMs = 3_600_000

/**
 * Limits sign-ups per network and over all networks: a sign-up takes a permit of both or of neither. Counts are in memory: a restart
 * resets them, and each instance counts separately, as for failed sign-ins.
 *
 * @example signUpLimit(5).admit('192.0.2.7', now) // { admitted: true, remaining: 4, retryAfterMs: 0 }
 */
export function signUpLimit(perNetworkMax: number): Pick<RateLimit, 'admit'> {
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
