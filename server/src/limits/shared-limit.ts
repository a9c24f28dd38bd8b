import { setTimeout as delay } from 'node:timers/promises'
import type { OtherInstances, TenantWatch } from '../cache/index.ts'
import { DatabaseUnavailable, type TenantId, waitWithinDeadline } from '../database/session/index.ts'
import type { Admission, RateLimit } from '../security/index.ts'
import { ownLimit, type TakePermit, type TenantLimit, tenantWindow } from './tenant-limit.ts'

/**
 * How long an instance that has joined others admits no requests, in milliseconds: until the others have noticed it
 * (800 ms), and the shared window has the requests that their own windows admitted in the second after that. The rest is
 * the time for the last of these records (`recordMsMax`), and a reserve.
 */
export const joinMs = 3_000
/**
 * How long the record of a request that the own window admitted may take. Later, the instance that joined may already have
 * taken permits without it, so the request is not admitted.
 */
const recordMsMax = 1_000
/** How often an instance that was marked dead checks its registration again. */
const checkAgainMs = 100
/** How often `admit` reloads the list of instances if the list expires before it can be used. */
const attemptsMax = 3
/** Tenants for which a refusal is cached. */
const refusedMax = 10_000

const instancesUnknown = () => new DatabaseUnavailable('The running instances are unknown.')

interface SharedLimitParts {
  readonly own: RateLimit
  readonly watch: Pick<TenantWatch, 'otherInstances' | 'poll'>
  readonly takePermit: TakePermit
  readonly monotonic: () => number
}

/**
 * The limit of one instance among several. While the database has recently confirmed that this instance is alone, its
 * own window decides. As soon as another instance runs, both take each permit from the shared window.
 *
 * No request is counted twice or missed when instances come and go: an instance that joins waits until the others have
 * noticed it, and an instance that left is listed until its last requests have left the window.
 */
export function sharedLimit(parts: SharedLimitParts): TenantLimit {
  return new SharedLimit(parts)
}

class SharedLimit implements TenantLimit {
  readonly #parts: SharedLimitParts
  readonly #alone: TenantLimit
  /** Until when the shared window has no permit for a tenant, by the monotonic clock. Asking earlier is useless. */
  readonly #refusedUntil = new Map<TenantId, number>()
  /**
   * Calls to the shared window that have not ended: records of requests that this instance admitted, and requests for a
   * permit. The window that decides next waits for them, so that it counts them.
   */
  readonly #recording = new Set<Promise<Admission>>()
  readonly #asking = new Set<Promise<Admission>>()

  constructor(parts: SharedLimitParts) {
    this.#parts = parts
    this.#alone = ownLimit(parts.own, parts.monotonic)
  }

  admitNow(tenant: TenantId): Admission | null {
    const otherInstances = this.#parts.watch.otherInstances()
    // An instance that the others do not list cannot be sure that it is alone.
    const isAlone = otherInstances !== null && !otherInstances.exist && otherInstances.joinedMs !== null
    return isAlone && this.#asking.size === 0 ? this.#alone.admitNow(tenant) : this.refusedNow(tenant)
  }

  async admit(tenant: TenantId): Promise<Admission> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const otherInstances = await waitWithinDeadline((leftMs) => this.#untilJoined(leftMs))
      if (!otherInstances.exist) await Promise.allSettled(this.#asking)
      const decided = this.admitNow(tenant)
      if (decided !== null) return decided
      if (otherInstances.exist) return this.#admitAmongOthers(tenant, otherInstances)
      // The list of instances expired while this call waited: it shows neither that the instance is alone nor that it is not.
    }
    throw instancesUnknown()
  }

  refusedNow(tenant: TenantId): Admission | null {
    const certain = this.#alone.refusedNow(tenant)
    if (certain !== null) return certain
    const leftMs = (this.#refusedUntil.get(tenant) ?? 0) - this.#parts.monotonic()
    if (leftMs > 0) return { admitted: false, remaining: 0, retryAfterMs: leftMs }
    this.#refusedUntil.delete(tenant)
    return null
  }

  remaining(tenant: TenantId): number {
    return this.refusedNow(tenant) === null ? this.#alone.remaining(tenant) : 0
  }

  async #admitAmongOthers(tenant: TenantId, { notAloneSince }: OtherInstances): Promise<Admission> {
    const { own, takePermit, monotonic } = this.#parts
    const now = monotonic()
    if (now - notAloneSince < tenantWindow.windowMs) {
      // The shared window has not seen the requests that this instance admitted while it ran alone. The other instance
      // does not admit requests yet, so the own window still decides, and the shared window records the result.
      const admission = own.admit(tenant, now)
      if (admission.admitted) {
        await tracked(this.#recording, takePermit(tenant, true))
        if (monotonic() - now > recordMsMax) {
          throw new DatabaseUnavailable('The request could not be recorded in time for another instance.')
        }
      }
      return admission
    }
    await Promise.allSettled(this.#recording)
    return tracked(this.#asking, this.#askShared(tenant))
  }

  async #askShared(tenant: TenantId): Promise<Admission> {
    const { own, takePermit, monotonic } = this.#parts
    const askedAt = monotonic()
    const admission = await takePermit(tenant, false)
    if (admission.admitted) {
      // The own window counts the request too: this instance may soon be alone again.
      own.note(tenant, monotonic())
    } else {
      if (this.#refusedUntil.size >= refusedMax) this.#refusedUntil.clear()
      // Measured from the question, not the answer: a slow answer must not delay the next permit.
      this.#refusedUntil.set(tenant, askedAt + admission.retryAfterMs)
    }
    return admission
  }

  /** Waits until the other instances, if there are any, have noticed this one. */
  async #untilJoined(leftMs: number): Promise<OtherInstances> {
    const { watch, monotonic } = this.#parts
    const until = monotonic() + leftMs
    for (;;) {
      await watch.poll()
      const otherInstances = watch.otherInstances()
      if (otherInstances === null) throw instancesUnknown()
      const waitMs = joinWaitMs(otherInstances)
      if (waitMs <= 0) return otherInstances
      if (monotonic() + waitMs > until) {
        throw new DatabaseUnavailable('This instance has only just joined the others.')
      }
      await delay(waitMs)
    }
  }
}

function joinWaitMs({ exist, joinedMs }: OtherInstances): number {
  if (joinedMs === null) return checkAgainMs
  return exist ? joinMs - joinedMs : 0
}

async function tracked(calls: Set<Promise<Admission>>, call: Promise<Admission>): Promise<Admission> {
  calls.add(call)
  try {
    return await call
  } finally {
    calls.delete(call)
  }
}
