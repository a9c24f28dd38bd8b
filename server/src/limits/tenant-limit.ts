import { type Problem, problem } from '#contract/errors.ts'
import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Admission, RateLimit } from '../security/index.ts'

/** The rate limit of each tenant's requests to the integration API: one limit, however many instances serve it. */
export interface TenantLimit {
  /** Admits or refuses at once if this process can decide alone; null if it must ask the shared window. */
  admitNow(tenant: TenantId): Admission | null
  /** @throws DatabaseUnavailable if the request cannot be counted: no request is admitted uncounted */
  admit(tenant: TenantId): Promise<Admission>
  /** The refusal if one is already certain; null if a permit may be free. Takes no permit. */
  refusedNow(tenant: TenantId): Admission | null
  /** Permits left, as far as this process knows. */
  remaining(tenant: TenantId): number
}

export const tenantWindow = { max: tenantRequestsPerWindowMax, windowMs: tenantWindowSeconds * 1000 } as const

/** Whole seconds for the Retry-After and RateLimit headers, at least 1. @example retryAfterSeconds(120) // 1 */
export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1000))
}

/** The 429 for a brokerage that has reached its limit. */
export function quotaExceeded({ retryAfterMs }: Pick<Admission, 'retryAfterMs'>): Problem {
  return problem(
    'quota-exceeded',
    `Your brokerage has made ${tenantRequestsPerWindowMax} requests within a second; wait and send this one again.`,
    {
      headers: { 'Retry-After': String(retryAfterSeconds(retryAfterMs)) },
      members: { 'violated-policies': ['tenant'] },
    },
  )
}

/**
 * Takes a permit from the window that all instances share. With `alreadyAdmitted`, records a request that this instance
 * has admitted, even if the shared window is full.
 */
export type TakePermit = (tenant: TenantId, alreadyAdmitted: boolean) => Promise<Admission>

/** The limit of a process that has the database to itself: its own window is the tenant's window. */
export function ownLimit(own: RateLimit, monotonic: () => number): TenantLimit {
  const admitNow = (tenant: TenantId) => own.admit(tenant, monotonic())
  return {
    admitNow,
    admit: async (tenant) => admitNow(tenant),
    refusedNow: (tenant) => {
      // One reading of the clock: at a later one, the window may be open again, and `admit` would take a permit.
      const now = monotonic()
      return own.remaining(tenant, now) === 0 ? own.admit(tenant, now) : null
    },
    remaining: (tenant) => own.remaining(tenant, monotonic()),
  }
}
