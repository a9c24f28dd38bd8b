import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * What one request may wait for the database in all, over all its transactions: each statement has a time-out of its
 * own, and several slow ones in a row would add up. A caller is answered within three seconds; the rest is ours.
 */
const requestPatienceMs = 2_500

/** What is left of it. Only the waiting counts: work between two statements costs nothing. */
export class Patience {
  leftMs: number

  constructor(patienceMs = requestPatienceMs) {
    this.leftMs = patienceMs
  }

  /** Counts the time that `wait` takes. It is told how long it may take, at the least a millisecond. */
  async spend<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      return await wait(Math.max(1, this.leftMs))
    } finally {
      this.leftMs -= performance.now() - began
    }
  }
}

const current = new AsyncLocalStorage<Patience | null>()

/** Runs work for a caller who waits: all that it asks of the database draws on one patience. */
export function withPatience<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  return current.run(patience, work)
}

/** Runs work that goes on behind a request: nobody waits for it, so only the time-outs of its statements hold. */
export function behindRequests<T>(work: () => Promise<T>): Promise<T> {
  return current.run(null, work)
}

/** Whether this is work that goes on behind a request. */
export function isBehindRequests(): boolean {
  return current.getStore() === null
}

/** Waits for the database, or for one's turn to ask it, on the patience of the request that this is for, if any. */
export function spendPatience<T>(wait: (leftMs: number) => Promise<T>): Promise<T> {
  const patience = current.getStore() ?? null
  return patience === null ? wait(Number.POSITIVE_INFINITY) : patience.spend(wait)
}
