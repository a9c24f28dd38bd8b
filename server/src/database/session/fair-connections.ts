import type pg from 'pg'
import { poolWaitMs } from './connection.ts'
import { BrokerageBusy, DatabaseUnavailable } from './database-failures.ts'
import { isInBackground, waitWithinDeadline } from './request-deadline.ts'
import type { TenantId } from './tenant.ts'

/** Transactions of one brokerage at once, in one process. The others of that brokerage wait in its line. */
const perBrokerageMax = 4
/** Requests of one brokerage that may wait for a connection. A further one is refused at once. */
export const waitingPerBrokerageMax = 128

/** Whose transaction it is: one brokerage's; or null for work before a brokerage is known or for several together. */
type Whose = TenantId | null

/** A connection of the pool, to be given back with `release`; `broken` closes it. */
export interface Lent {
  readonly client: pg.PoolClient
  release(broken: boolean): void
}

export interface FairConnections {
  /**
   * A connection, within the patience of the request that asks.
   *
   * @throws BrokerageBusy when the brokerage itself has too much under way
   * @throws DatabaseUnavailable when no connection is free or can be made in time
   */
  lend(whose: Whose): Promise<Lent>
  /** Callers that wait. */
  waiting(): number
}

interface Waiter {
  readonly isBehind: boolean
  readonly call: () => void
}

interface Line {
  running: number
  /** Those of the running ones that work behind requests. */
  behind: number
  readonly waiting: Waiter[]
}

/**
 * Lends the connections of a pool fairly. Each brokerage has a line of its own, first come, first served. A free
 * connection goes to the next line in rotation, so a brokerage with hundreds of waiting calls delays the others by one
 * call at most. A brokerage has up to four transactions at once, and at most half of them may be work behind requests
 * (imports, backtests, events), which also leaves half of all connections to people.
 *
 * A transaction must not open another one of the same brokerage and wait for it: enough of those at once would wait for
 * each other until their patience ends.
 */
export function fairConnections(pool: pg.Pool): FairConnections {
  const { max } = pool.options
  // Of few connections one brokerage gets little more than half.
  const perBrokerage = Math.min(perBrokerageMax, Math.floor(max / 2) + 1, max)
  const behindPerBrokerage = Math.max(1, Math.floor(perBrokerage / 2))
  const behindMax = Math.max(1, Math.floor(max / 2))
  /** In rotation: the line that was served last is the last. */
  const lines = new Map<Whose, Line>()
  let running = 0
  let behind = 0

  /** The first of a line whose turn can come now. */
  function nextOf(whose: Whose, line: Line): Waiter | undefined {
    if (whose === null) return line.waiting.shift()
    if (line.running >= perBrokerage) return undefined
    const behindMayRun = line.behind < behindPerBrokerage && behind < behindMax
    const at = line.waiting.findIndex(({ isBehind }) => behindMayRun || !isBehind)
    return at < 0 ? undefined : line.waiting.splice(at, 1)[0]
  }

  function serveNext(): boolean {
    if (running >= max) return false
    for (const [whose, line] of lines) {
      const next = nextOf(whose, line)
      if (next === undefined) continue
      running++
      line.running++
      if (next.isBehind) {
        line.behind++
        behind++
      }
      lines.delete(whose)
      lines.set(whose, line)
      next.call()
      return true
    }
    return false
  }

  function serve(): void {
    while (serveNext());
  }

  function leave(whose: Whose, line: Line, { isBehind }: Waiter): void {
    running--
    line.running--
    if (isBehind) {
      line.behind--
      behind--
    }
    if (line.running + line.waiting.length === 0) lines.delete(whose)
    serve()
  }

  /** Waits for a turn, and answers what gives it back. */
  async function turn(whose: Whose, patienceMs: number): Promise<() => void> {
    const line = lines.get(whose) ?? { running: 0, behind: 0, waiting: [] }
    const hasPatience = Number.isFinite(patienceMs)
    if (whose !== null && hasPatience && line.waiting.length >= waitingPerBrokerageMax) {
      throw new BrokerageBusy('the line is full')
    }
    lines.set(whose, line)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // What several brokerages wait for together is no background work, whoever sends it.
    const waiter = { isBehind: whose !== null && isInBackground(), call: resolve }
    line.waiting.push(waiter)
    serve()
    if (hasPatience && line.waiting.includes(waiter)) {
      const timer = setTimeout(() => {
        const at = line.waiting.indexOf(waiter)
        if (at < 0) return
        line.waiting.splice(at, 1)
        if (line.running + line.waiting.length === 0) lines.delete(whose)
        const late = new Error('timeout exceeded when waiting for a connection')
        const isOwnLoad = whose !== null && line.running >= perBrokerage
        reject(isOwnLoad ? new BrokerageBusy(late) : new DatabaseUnavailable(late))
      }, patienceMs)
      await promise.finally(() => clearTimeout(timer))
    } else await promise
    return () => leave(whose, line, waiter)
  }

  async function lendNow(whose: Whose, patienceMs: number): Promise<Lent> {
    const began = performance.now()
    const done = await turn(whose, patienceMs)
    const connecting = pool.connect()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const leftMs = Math.max(1, patienceMs - (performance.now() - began))
    // The pool has a limit of its own, for callers without patience.
    const timer = Number.isFinite(leftMs)
      ? setTimeout(() => reject(new Error('timeout exceeded when trying to connect')), leftMs)
      : undefined
    try {
      const client = await Promise.race([connecting, late])
      return {
        client,
        release(broken) {
          client.release(broken)
          done()
        },
      }
    } catch (error) {
      // One that comes after all is for somebody else. Until then its place is taken.
      connecting
        .then((client) => client.release())
        .catch(() => {})
        .finally(done)
      throw new DatabaseUnavailable(error)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    // Work that is no brokerage's own, such as the look whether the service is ready, fails early.
    lend: (whose) =>
      waitWithinDeadline((leftMs) => lendNow(whose, whose === null ? Math.min(leftMs, poolWaitMs) : leftMs)),
    waiting: () => lines.values().reduce((sum, line) => sum + line.waiting.length, 0),
  }
}
