import { setTimeout as delay } from 'node:timers/promises'
import { type Problem, problem } from '#contract/errors.ts'
import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'
import type { OtherInstances, TenantWatch } from '../cache/index.ts'
import { DatabaseUnavailable, type TenantId, waitWithinDeadline } from '../database/session/index.ts'
import type { Admission, RateLimit } from '../security/index.ts'

/** The interface's limit of a tenant's requests: one limit, however many instances answer. */
export interface TenantLimit {
  /** Admits or refuses at once where this process knows enough by itself; null where others must be asked. */
  admitNow(tenant: TenantId): Admission | null
  /** @throws DatabaseUnavailable where nobody can say: never is anybody let in uncounted. */
  admit(tenant: TenantId): Promise<Admission>
  /** The refusal that is certain already, without taking a place; null where there may be one. */
  refusedNow(tenant: TenantId): Admission | null
  /** Places left, as far as this process knows. */
  remaining(tenant: TenantId): number
}

export const tenantWindow = { max: tenantRequestsPerWindowMax, windowMs: tenantWindowSeconds * 1000 } as const

/** Whole seconds, as the headers say them: at least one. */
export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1000))
}

/** The 429 of a brokerage at its limit. */
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

/** Takes a place in the window that all instances share, or notes one that was alreadyAdmitted already. */
export type TakePermit = (tenant: TenantId, alreadyAdmitted: boolean) => Promise<Admission>

/** Of one process that has the database to itself: its own window is the tenant's. */
export function ownLimit(own: RateLimit, monotonic: () => number): TenantLimit {
  const admitNow = (tenant: TenantId) => own.admit(tenant, monotonic())
  return {
    admitNow,
    admit: async (tenant) => admitNow(tenant),
    // Taking from a spent limit takes nothing and refuses.
    refusedNow: (tenant) => (own.remaining(tenant, monotonic()) === 0 ? admitNow(tenant) : null),
    remaining: (tenant) => own.remaining(tenant, monotonic()),
  }
}

/**
 * An instance that has joined others admits nobody for so long: until they know of it (0.8 s), and what they admitted alone
 * is older than the window (1 s); the rest is for a commit that takes its time.
 */
export const joinMs = 3_000
/** Whom the others take for gone looks so often whether they know of it again. */
const askAgainMs = 100
/** How often it is asked anew who is there, when the answer was too old at once. */
const looksMax = 3
const nobodyKnows = () => new DatabaseUnavailable('Nobody knows which instances there are.')
/** Tenants whose refusal is remembered. */
const refusedMax = 10_000

/**
 * Of one instance among several. As long as it is alone, and has been told so within the last moments, its own window is
 * the tenant's; as soon as there is another, both ask for each request in one place. Nothing is counted twice or not at
 * all when they come and go: an instance that joins waits until the others have noticed it, and one that has left counts
 * as there until its last requests are a window old.
 */
export function sharedLimit({
  own,
  watch,
  takePermit,
  monotonic,
}: {
  own: RateLimit
  watch: Pick<TenantWatch, 'otherInstances' | 'look'>
  takePermit: TakePermit
  monotonic: () => number
}): TenantLimit {
  const alone = ownLimit(own, monotonic)
  /** Until when the shared window has no place: asking before that is useless. */
  const refused = new Map<TenantId, number>()
  /** What is being noted or asked in the shared window: the window that decides next must know how it ended. */
  const noting = new Set<Promise<Admission>>()
  const asking = new Set<Promise<Admission>>()

  async function underway(among: Set<Promise<Admission>>, place: Promise<Admission>): Promise<Admission> {
    among.add(place)
    try {
      return await place
    } finally {
      among.delete(place)
    }
  }

  function refusedNow(tenant: TenantId): Admission | null {
    const certain = alone.refusedNow(tenant)
    if (certain !== null) return certain
    const leftMs = (refused.get(tenant) ?? 0) - monotonic()
    if (leftMs > 0) return { admitted: false, remaining: 0, retryAfterMs: leftMs }
    refused.delete(tenant)
    return null
  }

  function admitNow(tenant: TenantId): Admission | null {
    const otherInstances = watch.otherInstances()
    // Whom the others do not know of is not alone for sure.
    const isAlone = otherInstances !== null && !otherInstances.others && otherInstances.joinedMs !== null
    return isAlone && asking.size === 0 ? alone.admitNow(tenant) : refusedNow(tenant)
  }

  async function askShared(tenant: TenantId): Promise<Admission> {
    const askedAt = monotonic()
    const admission = await takePermit(tenant, false)
    // Soon this instance may be alone again.
    if (admission.admitted) own.note(tenant, monotonic())
    else {
      if (refused.size >= refusedMax) refused.clear()
      // It was said after it was asked: no place is kept from anybody for as long as the answer took.
      refused.set(tenant, askedAt + admission.retryAfterMs)
    }
    return admission
  }

  /** Waits until the others know of this instance, if there are any. */
  async function untilJoined(leftMs: number): Promise<OtherInstances> {
    const until = monotonic() + leftMs
    for (;;) {
      await watch.look()
      const otherInstances = watch.otherInstances()
      if (otherInstances === null) throw nobodyKnows()
      const waitMs =
        otherInstances.joinedMs === null
          ? askAgainMs
          : otherInstances.others
            ? joinMs - otherInstances.joinedMs
            : 0
      if (waitMs <= 0) return otherInstances
      if (monotonic() + waitMs > until)
        throw new DatabaseUnavailable('This instance has only just joined the others.')
      await delay(waitMs)
    }
  }

  return {
    admitNow,
    refusedNow,
    remaining: (tenant) => (refusedNow(tenant) === null ? alone.remaining(tenant) : 0),
    async admit(tenant) {
      for (let looks = 0; looks < looksMax; looks++) {
        const otherInstances = await waitWithinDeadline(untilJoined)
        if (!otherInstances.others) await Promise.allSettled(asking)
        const known = admitNow(tenant)
        if (known !== null) return known
        // Alone when it was asked, and by now nobody can say: that must not be taken for either.
        if (!otherInstances.others) continue
        const now = monotonic()
        if (now - otherInstances.notAloneSince < tenantWindow.windowMs) {
          // What this instance let in while it was alone the shared window does not know of. As yet nobody else lets anybody
          // in: its own window decides, and the shared one is told.
          const admission = own.admit(tenant, now)
          if (admission.admitted) await underway(noting, takePermit(tenant, true))
          return admission
        }
        await Promise.allSettled(noting)
        return underway(asking, askShared(tenant))
      }
      throw nobodyKnows()
    },
  }
}
