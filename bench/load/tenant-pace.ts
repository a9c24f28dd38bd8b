import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'

/** The window, and a little more for clocks that count it differently. */
const windowMs = tenantWindowSeconds * 1000 + 5

/**
 * Keeps every tenant under its limit from the sender's side, whatever the network does: a request leaves when the tenth
 * before it was answered more than a second ago, so no eleven can arrive within a second.
 */
export interface TenantPace {
  /** A place for one request of the tenant, to be given back when it is answered; -1 when it must wait. */
  take(tenant: number, nowMs: number): number
  answered(place: number, nowMs: number): void
  /** What was never answered counts as answered now. */
  giveUp(nowMs: number): void
}

export function tenantPace(tenants: number): TenantPace {
  const max = tenantRequestsPerWindowMax
  /** When each tenant's last ten requests were answered; Infinity while one is under way. */
  const times = new Float64Array(tenants * max).fill(Number.NEGATIVE_INFINITY)
  const next = new Uint8Array(tenants)
  return {
    take(tenant, nowMs) {
      const at = next[tenant] ?? 0
      const place = tenant * max + at
      if (nowMs - (times[place] ?? 0) < windowMs) return -1
      times[place] = Number.POSITIVE_INFINITY
      next[tenant] = (at + 1) % max
      return place
    },
    answered(place, nowMs) {
      times[place] = nowMs
    },
    giveUp(nowMs) {
      for (const [place, time] of times.entries()) if (time === Number.POSITIVE_INFINITY) times[place] = nowMs
    },
  }
}
