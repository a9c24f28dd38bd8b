import type pg from 'pg'
import { late, orLate } from '../../runtime/index.ts'
import { usableAfterRollback } from './connection.ts'
import {
  BrokerageBusy,
  DatabaseUnavailable,
  isTimeout,
  ProcessUnavailable,
  tooLong,
} from './database-failures.ts'
import type { Deadlines } from './deadlines.ts'
import { isInBackground, loopSince, waitWithinDeadline } from './request-deadline.ts'
import type { TenantId } from './tenant.ts'

/** Concurrent transactions of one brokerage in one process. Further ones wait in the brokerage's queue. */
const perBrokerageUsual = 4
/** Requests of one brokerage that may wait for a connection. Further ones are refused at once. */
export const waitingPerBrokerageMax = 128

/** The brokerage whose share a transaction takes; null before a brokerage is known. */
type Owner = TenantId | null

/** A connection of the pool. Its borrower must return it in one of the two ways. */
export interface Lent {
  readonly client: pg.PoolClient
  /** Returns it after a commit. */
  release(): void
  /**
   * Returns it after a failed transaction, once that is rolled back. Until then it counts against its owner's limit, because
   * the database may still run the statement on which the request gave up.
   */
  releaseAfterRollback(failure: unknown): void
}

/** Whose share of the process the work of a test brokerage takes. */
export interface Shares {
  /** From now on, a test brokerage has one share with its brokerage. It is called whenever a credential shows the two. */
  join(testBrokerage: TenantId, brokerage: TenantId): void
  of(tenant: TenantId): TenantId
}

export interface FairConnections {
  readonly shares: Shares
  /**
   * Lends a connection within the deadline of the current request.
   *
   * @throws BrokerageBusy if the brokerage itself has too many transactions running or waiting
   * @throws ProcessUnavailable if other requests had all connections, or this process was too busy to open one
   * @throws DatabaseUnavailable if no connection is free or can be opened in time
   */
  lend(tenant: TenantId | null): Promise<Lent>
  /** Callers that wait for a connection. */
  waiting(): number
}

interface Waiter {
  readonly isBackground: boolean
  readonly start: () => void
}

interface Queue {
  running: number
  /** The number of running transactions that are background work. */
  background: number
  readonly waiting: Waiter[]
}

/**
 * Lends the connections of a pool fairly. Each brokerage has its own queue, first come, first served. A free connection
 * goes to the next queue in rotation, so a brokerage with hundreds of waiting calls delays the others by one call at
 * most. A brokerage has up to `perBrokerage` transactions at once. At most half of them may be background work (imports,
 * backtests, events), and background work takes at most half of all connections. A test brokerage is in the queue of its brokerage.
 *
 * A transaction must not open another transaction of the same brokerage or its test brokerage and wait for it: enough of those at
 * once would deadlock until their deadlines pass. What works on both, such as making a test brokerage, opens one after the other.
 */
export function fairConnections(
  pool: pg.Pool,
  deadlines: Deadlines,
  perBrokerage = perBrokerageUsual,
): FairConnections {
  return new FairPool(pool, deadlines, perBrokerage)
}

class FairPool implements FairConnections {
  readonly #pool: pg.Pool
  readonly #deadlines: Deadlines
  readonly #connectionsMax: number
  readonly #perBrokerage: number
  readonly #backgroundPerBrokerage: number
  readonly #backgroundMax: number
  /** In rotation: the queue that was served last is at the end. */
  readonly #queues = new Map<Owner, Queue>()
  readonly #brokerages = new Map<TenantId, TenantId>()
  #running = 0
  #background = 0
  /** Transactions that the database has committed, since the start. */
  #committed = 0

  constructor(pool: pg.Pool, deadlines: Deadlines, perBrokerage: number) {
    const { max } = pool.options
    this.#pool = pool
    this.#deadlines = deadlines
    this.#connectionsMax = max
    // In a small pool, one brokerage gets little more than half of the connections.
    this.#perBrokerage = Math.min(perBrokerage, Math.floor(max / 2) + 1, max)
    this.#backgroundPerBrokerage = Math.max(1, Math.floor(this.#perBrokerage / 2))
    this.#backgroundMax = Math.max(1, Math.floor(max / 2))
  }

  readonly shares: Shares = {
    join: (testBrokerage, brokerage) => {
      if (testBrokerage !== brokerage) this.#brokerages.set(testBrokerage, brokerage)
    },
    of: (tenant) => this.#brokerages.get(tenant) ?? tenant,
  }

  lend(tenant: TenantId | null): Promise<Lent> {
    const owner = tenant === null ? null : this.shares.of(tenant)
    // Work without a brokerage, such as the readiness check, waits for a shorter time.
    return waitWithinDeadline((leftMs) =>
      this.#lendWithin(owner, owner === null ? Math.min(leftMs, this.#deadlines.connectionMs) : leftMs),
    )
  }

  waiting(): number {
    return this.#queues.values().reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  async #lendWithin(owner: Owner, timeoutMs: number): Promise<Lent> {
    const startedAt = performance.now()
    const freeSlot = await this.#takeSlot(owner, timeoutMs)
    const since = loopSince()
    const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAt))
    const connecting = this.#pool.connect()
    try {
      // Without a deadline, the pool's own connection timeout applies.
      const client = await orLate(connecting, leftMs)
      if (client === late) throw new Error('timeout exceeded when trying to connect')
      const giveBack = (isUsable: boolean) => {
        client.release(!isUsable)
        freeSlot()
      }
      return {
        client,
        release: () => {
          this.#committed++
          giveBack(true)
        },
        releaseAfterRollback: (failure) =>
          void usableAfterRollback(client, failure, this.#deadlines).then(giveBack),
      }
    } catch (error) {
      // A connection that opens later goes back to the pool. Until then it holds its slot.
      connecting
        .then((client) => client.release())
        .catch(() => {})
        .finally(freeSlot)
      // A new connection takes several messages, and each of them waits for a turn of this process.
      throw isTimeout(error) ? tooLong(error, since) : new DatabaseUnavailable(error)
    }
  }

  /** Waits until the owner may use a connection. Returns the function that frees the slot. */
  async #takeSlot(owner: Owner, timeoutMs: number): Promise<() => void> {
    const queue = this.#queues.get(owner) ?? { running: 0, background: 0, waiting: [] }
    const hasDeadline = Number.isFinite(timeoutMs)
    if (owner !== null && hasDeadline && queue.waiting.length >= waitingPerBrokerageMax) {
      throw new BrokerageBusy('the queue is full')
    }
    this.#queues.set(owner, queue)
    const { promise, resolve } = Promise.withResolvers<void>()
    const committedBefore = this.#committed
    // Transactions without a brokerage never count as background: they are few and short, and requests may wait for them.
    const waiter = { isBackground: owner !== null && isInBackground(), start: resolve }
    queue.waiting.push(waiter)
    this.#serve()
    if (queue.waiting.includes(waiter)) await orLate(promise, timeoutMs)
    const at = queue.waiting.indexOf(waiter)
    if (at < 0) return () => this.#freeSlot(owner, queue, waiter)
    queue.waiting.splice(at, 1)
    this.#removeIfEmpty(owner, queue)
    const timeout = new Error('timeout exceeded when waiting for a connection')
    if (owner !== null && queue.running >= this.#perBrokerage) throw new BrokerageBusy(timeout)
    // If others were committed meanwhile, the database answers, and this process is too busy.
    throw this.#committed > committedBefore
      ? new ProcessUnavailable('busy', timeout)
      : new DatabaseUnavailable(timeout)
  }

  #freeSlot(owner: Owner, queue: Queue, { isBackground }: Waiter): void {
    this.#running--
    queue.running--
    if (isBackground) {
      queue.background--
      this.#background--
    }
    this.#removeIfEmpty(owner, queue)
    this.#serve()
  }

  #removeIfEmpty(owner: Owner, { running, waiting }: Queue): void {
    if (running + waiting.length === 0) this.#queues.delete(owner)
  }

  #serve(): void {
    while (this.#serveNext());
  }

  #serveNext(): boolean {
    if (this.#running >= this.#connectionsMax) return false
    for (const [owner, queue] of this.#queues) {
      const next = this.#takeNext(owner, queue)
      if (next === undefined) continue
      this.#running++
      queue.running++
      if (next.isBackground) {
        queue.background++
        this.#background++
      }
      this.#queues.delete(owner)
      this.#queues.set(owner, queue)
      next.start()
      return true
    }
    return false
  }

  /** Removes and returns the first waiter of a queue that may run now. */
  #takeNext(owner: Owner, queue: Queue): Waiter | undefined {
    if (owner === null) return queue.waiting.shift()
    if (queue.running >= this.#perBrokerage) return undefined
    const backgroundMayRun =
      queue.background < this.#backgroundPerBrokerage && this.#background < this.#backgroundMax
    const at = queue.waiting.findIndex(({ isBackground }) => backgroundMayRun || !isBackground)
    return at < 0 ? undefined : queue.waiting.splice(at, 1)[0]
  }
}
