import { AsyncLocalStorage } from 'node:async_hooks'

/** The database time that one request has left. Only waiting counts; work between two statements is free. */
export class RequestDeadline {
  leftMs: number

  /** @param waitMs usually `database.deadlines.requestMs` */
  constructor(waitMs: number) {
    this.leftMs = waitMs
  }

  /** Runs `wait` with the milliseconds that are left (at least 1), and subtracts the time that it takes. */
  async spend<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await wait(Math.max(1, this.leftMs))
    } finally {
      this.leftMs -= performance.now() - startedAt
    }
  }
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

/** The milliseconds that the current request may still wait for the database; Infinity outside a request. */
export function deadlineLeftMs(): number {
  const deadline = current.getStore() ?? null
  return deadline === null ? Number.POSITIVE_INFINITY : Math.max(1, deadline.leftMs)
}

/**
 * Waits for the database, or for a connection to it, within the deadline of the current request. `wait` receives the
 * milliseconds left; Infinity outside a request.
 */
export function waitWithinDeadline<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
  const deadline = current.getStore() ?? null
  return deadline === null ? wait(Number.POSITIVE_INFINITY) : deadline.spend(wait)
}
