import { setTimeout as delay } from 'node:timers/promises'
import type { OtherInstances, TenantWatch } from '../cache/index.ts'
import {
  DatabaseUnavailable,
  deadlineWaitedMs,
  isDeadlineSpentByProcess,
  loopSince,
  ProcessUnavailable,
  type TenantId,
  tooLong,
  waitWithinDeadline,
} from '../database/session/index.ts'
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
/**
 * A request that has waited this long for the database, in milliseconds, is counted late: after an outage, the requests of several
 * seconds count in one. A full window then does not show that the caller sent too many.
 */
const lateMs = tenantWindow.windowMs
/** How long a full window does not show it: until the late requests have left it, and those that waited for them, too. */
const lateForMs = 2 * tenantWindow.windowMs
/** The most tenants for which a refusal is cached. */
const refusedMax = 10_000

/**
 * The states, each with the window that decides on a request. They follow from the reports of the watch:
 *
 * ```
 *    ┌──────── unknown: nobody ◄─── the report is too old (from every state)
 *    │ a report (to every state)
 *    ▼
 *   unregistered: nobody ◄──── the registration expired (from every state)
 *    │       │ registered again, beside others
 *    │       └───────────────────────────────► joining: nobody, for 3 s
 *    │ registered again                            ▲ │            │ 3 s have passed
 *    ▼               another one, I am new         │ │            ▼
 *   alone: the own window ─────────────────────────┘ │   shared: the shared window
 *    │    ▲                                          │     ▲  │
 *    │    └── no others (from every state)           │     │  │ another one, after a moment alone
 *    │ another one                                   ▼     │  ▼
 *    └──────────► handing over: the own window, and the shared window records it, for 1 s
 * ```
 *
 * An instance that registers anew is `joining` again, from `handing over` and `shared`, too. One whose registration continues, because
 * no other instance saw it expire, is `handing over` or `shared` at once. An instance never goes from `alone` to
 * `shared` without `handing over`, because the shared window would not know the requests that the own window admitted.
 */
type LimitState = 'unknown' | 'unregistered' | 'alone' | 'joining' | 'handing over' | 'shared'

const mayFollow: Readonly<Record<LimitState, readonly LimitState[]>> = {
  unknown: ['unregistered', 'alone', 'joining', 'handing over', 'shared'],
  unregistered: ['unknown', 'alone', 'joining', 'handing over', 'shared'],
  alone: ['unknown', 'unregistered', 'joining', 'handing over'],
  joining: ['unknown', 'unregistered', 'alone', 'handing over', 'shared'],
  'handing over': ['unknown', 'unregistered', 'alone', 'joining', 'shared'],
  shared: ['unknown', 'unregistered', 'alone', 'joining', 'handing over'],
}

function stateOf(reported: OtherInstances | null, now: number): LimitState {
  if (reported === null) return 'unknown'
  const { exist, joinedMs, notAloneSince } = reported
  // An instance that the others do not list cannot be sure that it is alone.
  if (joinedMs === null) return 'unregistered'
  if (!exist) return 'alone'
  if (joinedMs < joinMs) return 'joining'
  return now - notAloneSince < tenantWindow.windowMs ? 'handing over' : 'shared'
}

interface SharedLimitParts {
  readonly own: RateLimit
  readonly watch: Pick<TenantWatch, 'otherInstances' | 'poll' | 'failure'>
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
  #state: LimitState = 'unknown'
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Until when requests that were counted late may fill a window, by the monotonic clock. */
  #lateUntil = Number.NEGATIVE_INFINITY

  constructor(parts: SharedLimitParts) {
    this.#parts = parts
    this.#alone = ownLimit(parts.own, parts.monotonic)
  }

  admitNow(tenant: TenantId): Admission | null {
    const decided = this.#decideNow(tenant)
    return decided?.admitted === false && this.#isLate() ? null : decided
  }

  #isLate(): boolean {
    return this.#parts.monotonic() < this.#lateUntil
  }

  #decideNow(tenant: TenantId): Admission | null {
    const isAlone = this.#look().state === 'alone'
    return isAlone && this.#asking.size === 0 ? this.#alone.admitNow(tenant) : this.refusedNow(tenant)
  }

  /** While requests are counted late, a refusal becomes a wait, within the deadline of the request. */
  async admit(tenant: TenantId): Promise<Admission> {
    for (;;) {
      const admission = await this.#admitCounted(tenant)
      if (deadlineWaitedMs() >= lateMs) this.#lateUntil = this.#parts.monotonic() + lateForMs
      if (admission.admitted || !this.#isLate()) return admission
      await waitWithinDeadline(async (leftMs) => {
        if (admission.retryAfterMs > leftMs) {
          throw new DatabaseUnavailable('Requests that waited for the database fill the window.')
        }
        await delay(admission.retryAfterMs)
      })
    }
  }

  async #admitCounted(tenant: TenantId): Promise<Admission> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const before = await waitWithinDeadline((leftMs) => this.#untilJoined(leftMs))
      if (before === 'alone') await Promise.allSettled(this.#asking)
      const decided = this.#decideNow(tenant)
      if (decided !== null) return decided
      if (before === 'handing over') return this.#admitAndRecord(tenant)
      if (before === 'shared') {
        await Promise.allSettled(this.#recording)
        return tracked(this.#asking, this.#askShared(tenant))
      }
      // The list of instances expired while this call waited: it shows neither that the instance is alone nor that it is not.
    }
    throw this.#instancesUnknown()
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

  /**
   * The shared window has not seen the requests that this instance admitted while it ran alone. The other instance does not
   * admit requests yet, so the own window still decides, and the shared window records the result.
   */
  async #admitAndRecord(tenant: TenantId): Promise<Admission> {
    const { own, takePermit, monotonic } = this.#parts
    const now = monotonic()
    const since = loopSince()
    const admission = own.admit(tenant, now)
    if (admission.admitted) {
      await tracked(this.#recording, takePermit(tenant, true))
      if (monotonic() - now > recordMsMax) {
        throw tooLong('The request could not be recorded in time for another instance.', since)
      }
    }
    return admission
  }

  async #askShared(tenant: TenantId): Promise<Admission> {
    const { own, takePermit, monotonic } = this.#parts
    const askedAt = monotonic()
    const admission = await takePermit(tenant, false)
    if (admission.admitted) {
      // The own window counts the request, too, because this instance may soon be alone again.
      own.note(tenant, monotonic())
    } else {
      if (this.#refusedUntil.size >= refusedMax) this.#refusedUntil.clear()
      // Measured from the call, not from its answer, because a slow answer must not delay the next permit.
      this.#refusedUntil.set(tenant, askedAt + admission.retryAfterMs)
    }
    return admission
  }

  /** The state that follows from the watch's report now. */
  #look(): { readonly state: LimitState; readonly reported: OtherInstances | null } {
    const { watch, monotonic } = this.#parts
    const reported = watch.otherInstances()
    const now = monotonic()
    // Nobody looked for a whole window, so states may have been missed; the own window has forgotten what it admitted.
    if (now - this.#lookedAt >= tenantWindow.windowMs) this.#state = 'unknown'
    this.#lookedAt = now
    this.#move(stateOf(reported, now))
    return { state: this.#state, reported }
  }

  /** The error if the database did not report the running instances, or this process was too late to use its report. */
  #instancesUnknown(): DatabaseUnavailable {
    const failure = this.#parts.watch.failure()
    return failure === null || isDeadlineSpentByProcess()
      ? new ProcessUnavailable('busy', 'The list of the running instances expired before it was read.')
      : new DatabaseUnavailable(failure)
  }

  #move(next: LimitState): void {
    if (next === this.#state) return
    if (!mayFollow[this.#state].includes(next)) {
      throw new Error(`The limit cannot go from ${this.#state} to ${next}.`)
    }
    this.#state = next
  }

  /** Waits until the other instances, if there are any, have noticed this one. */
  async #untilJoined(leftMs: number): Promise<'alone' | 'handing over' | 'shared'> {
    const { watch, monotonic } = this.#parts
    const until = monotonic() + leftMs
    for (;;) {
      await watch.poll()
      const { state, reported } = this.#look()
      if (state === 'unknown') throw this.#instancesUnknown()
      if (state !== 'unregistered' && state !== 'joining') return state
      const joinedMs = reported?.joinedMs ?? null
      const waitMs = joinedMs === null ? checkAgainMs : joinMs - joinedMs
      if (monotonic() + waitMs > until) {
        throw new ProcessUnavailable('joining', 'This instance has only just joined the others.')
      }
      await delay(waitMs)
    }
  }
}

async function tracked(calls: Set<Promise<Admission>>, call: Promise<Admission>): Promise<Admission> {
  calls.add(call)
  try {
    return await call
  } finally {
    calls.delete(call)
  }
}
