import { AsyncLocalStorage } from 'node:async_hooks'

/** The database time that one request has left. Only waiting counts; work between two statements is free. */
export class RequestDeadline {
  readonly #waitMs: number
  leftMs: number
  /** The part of the time waited during which this process could not read the answers that came. */
  #lateMs = 0

  /** @param waitMs usually `database.deadlines.requestMs` */
  constructor(waitMs: number) {
    this.#waitMs = waitMs
    this.leftMs = waitMs
  }

  waitedMs(): number {
    return this.#waitMs - this.leftMs
  }

  /** Runs `wait` with the milliseconds that are left (at least 1), and subtracts the time that it takes. */
  async spend<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const since = loopSince()
    const leftMs = Math.max(1, this.leftMs)
    try {
      const answer = await wait(leftMs)
      // A stopped process was not active. Its delay is the time since its timer should have ended the wait.
      this.#lateMs += Math.max(since().active, performance.now() - startedAt - leftMs)
      return answer
    } finally {
      this.leftMs -= performance.now() - startedAt
    }
  }

  /** See `isDeadlineSpentByProcess`. */
  wasSpentByProcess({ active, idle }: Loop): boolean {
    return this.#lateMs + active > (this.waitedMs() + active + idle) / 2
  }
}

/** Milliseconds in which this thread ran code, and in which it waited for events. */
export interface Loop {
  readonly active: number
  readonly idle: number
}

/** Starts a measurement. The returned function gives the times since the start. */
export function loopSince(): () => Loop {
  const before = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(before)
}

/** Null inside background work; undefined outside both requests and background work. */
const current = new AsyncLocalStorage<RequestDeadline | null>()

/** Runs work for a request: everything that it waits for in the database counts against the deadline. */
export function withDeadline<T>(deadline: RequestDeadline, work: () => T): T {
  return current.run(deadline, work)
}

/** Runs background work: no caller waits for it, so only the statement timeouts apply. */
export function runInBackground<T>(work: () => Promise<T>): Promise<T> {
  return current.run(null, work)
}

/** Whether the current code runs inside `runInBackground`. */
export function isInBackground(): boolean {
  return current.getStore() === null
}

/**
 * Whether this process itself used up most of the time that the current request has waited: it was busy with other work, or
 * stopped, while answers of the database had arrived. Of the waits without an answer, only `waiting` counts: a wait in progress
 * that takes several messages.
 */
export function isDeadlineSpentByProcess(waiting: Loop = { active: 0, idle: 0 }): boolean {
  return (current.getStore() ?? new RequestDeadline(0)).wasSpentByProcess(waiting)
}

/** The milliseconds that the current request may still wait for the database; Infinity outside a request. */
export function deadlineLeftMs(): number {
  const deadline = current.getStore() ?? null
  return deadline === null ? Number.POSITIVE_INFINITY : Math.max(1, deadline.leftMs)
}

/** The milliseconds that the current request has waited for the database; 0 outside a request. */
export function deadlineWaitedMs(): number {
  return current.getStore()?.waitedMs() ?? 0
}

/**
 * Waits for the database, or for a connection to it, within the deadline of the current request. `wait` receives the
 * milliseconds left; Infinity outside a request.
 */
export function waitWithinDeadline<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = current.getStore() ?? null
  return deadline === null ? wait(Number.POSITIVE_INFINITY) : deadline.spend(wait)
}
