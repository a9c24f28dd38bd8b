import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'

/** The window of the request limit plus 5 ms for clock differences. */
const windowMs = tenantWindowSeconds * 1000 + 5

/**
 * Delays requests so that every tenant is within its limit of ten per second. A request is sent only if the response to the tenth
 * request before it arrived more than a second ago, so eleven requests never arrive within a second.
 */
export interface TenantPace {
  /** Returns a permit for one request of the tenant, to be passed to `answered`, or -1 if the request must wait. */
  take(tenant: number, nowMs: number): number
  answered(permit: number, nowMs: number): void
  /** Counts all unanswered requests as answered now. */
  giveUp(nowMs: number): void
}

export function tenantPace(tenants: number): TenantPace {
  const max = tenantRequestsPerWindowMax
  /** The response times of each tenant's last ten requests: Infinity for an open request, -Infinity before the first. */
  const times = new Float64Array(tenants * max).fill(Number.NEGATIVE_INFINITY)
  const next = new Uint8Array(tenants)
  return {
    take(tenant, nowMs) {
      const at = next[tenant] ?? 0
      const permit = tenant * max + at
      if (nowMs - (times[permit] ?? 0) < windowMs) return -1
      times[permit] = Number.POSITIVE_INFINITY
      next[tenant] = (at + 1) % max
      return permit
    },
    answered(permit, nowMs) {
      times[permit] = nowMs
    },
    giveUp(nowMs) {
      for (const [permit, time] of times.entries()) {
        if (time === Number.POSITIVE_INFINITY) times[permit] = nowMs
      }
    },
  }
}
