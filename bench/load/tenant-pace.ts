import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'

/** A little more than the window: requests that leave in order may arrive closer together. */
const windowMs = tenantWindowSeconds * 1000 * 1.1

/** Keeps every tenant under its limit from the sender's side: a ring of the last ten times each. */
export function tenantPace(tenants: number) {
  const max = tenantRequestsPerWindowMax
  const times = new Float64Array(tenants * max).fill(Number.NEGATIVE_INFINITY)
  const next = new Uint8Array(tenants)
  return {
    /** True, and a place taken, when the tenant may send at this time. */
    take(tenant: number, nowMs: number): boolean {
      const at = tenant * max + (next[tenant] ?? 0)
      if (nowMs - (times[at] ?? 0) < windowMs) return false
      times[at] = nowMs
      next[tenant] = ((next[tenant] ?? 0) + 1) % max
      return true
    },
  }
}
