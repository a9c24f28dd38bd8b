import { problem } from '#contract/errors.ts'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { findTenant, minimumOf, readVersions } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { type Database, forBrokerage, runInBackground, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { readBacktestFacts } from './backtest-facts.ts'
import { backtestInThread } from './backtest-thread.ts'

/** The state of a tenant's backtest. `current` is false when quotes have changed since `asOf`. */
export type BacktestState =
  | { readonly status: 'running'; readonly progress: number }
  | {
      readonly status: 'done'
      readonly asOf: number
      readonly current: boolean
      readonly result: BacktestResult | TooFewQuotes
    }

/** Runs backtests over a tenant's own quotes in the background. On shutdown, running backtests are aborted. */
export interface BacktestRunner {
  /**
   * The state of a tenant's backtest. Starts one when there is no usable result.
   *
   * @throws the error of a backtest that has just failed
   */
  look(tenant: TenantId, now: number): Promise<BacktestState>
  drain(): Promise<void>
}

/** Backtests that run at the same time, over all tenants, each in a thread: one of a brokerage with its test brokerage. */
const runningMax = 2
/** Tenants that may wait for a thread. A waiting tenant holds no quotes in memory. */
const waitingMax = 100
/** The most tenants whose last result is cached. A result has a few kilobytes, and 57 bytes for each judged quote that missed margin. */
const keptMax = 200
/** The most quotes with missed margin in all cached results together. Above it, the oldest results are removed. */
const missedMax = 500_000
/** A result is shown for this long even when quotes change, because in a busy brokerage they always do. */
const freshMs = 10 * 60_000
/** How long a failure is reported before the backtest is tried again. */
const failureMs = 10_000
const dayMs = 86_400_000

/** The inputs of a result, as texts to compare. */
interface Inputs {
  /** JSON of the version of the facts, the day, and the brokerage's minimum. */
  readonly facts: string
  /** The basis of the amounts, and the version of the fuel prices and exchange rates that converted them. */
  readonly conversions: string
}

interface Ended {
  readonly kind: 'ended'
  readonly madeFrom: Inputs
  readonly asOf: number
  readonly endedAt: number
  readonly result: Extract<BacktestState, { status: 'done' }>['result']
}

type Kept =
  | { readonly kind: 'running'; progress: number }
  | Ended
  | { readonly kind: 'failed'; readonly error: unknown; readonly endedAt: number }

/** Current backtests, and ended ones since the start by outcome. */
export interface BacktestCounts {
  readonly running: number
  readonly waiting: number
  readonly ended: Readonly<Record<'done' | 'stopped' | 'failed', number>>
}

interface RunnerParts {
  readonly database: Database
  readonly clock: () => number
  readonly log: Log
}

/** Runs a tenant's backtest on request, in the background, and caches the result until the facts change. */
export function backtestRunner(
  parts: RunnerParts,
  options: { threadFile?: URL } = {},
): BacktestRunner & { counts(): BacktestCounts } {
  return new BackgroundBacktests(parts, options.threadFile)
}

class BackgroundBacktests implements BacktestRunner {
  readonly #parts: RunnerParts
  readonly #threadFile: URL | undefined
  readonly #kept = new Map<TenantId, Kept>()
  readonly #waiting: TenantId[] = []
  /** By the brokerage whose share they use. */
  readonly #running = new Map<TenantId, Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #ended = { done: 0, stopped: 0, failed: 0 }

  constructor(parts: RunnerParts, threadFile: URL | undefined) {
    this.#parts = parts
    this.#threadFile = threadFile
  }

  async look(tenant: TenantId, now: number): Promise<BacktestState> {
    const entry = this.#kept.get(tenant)
    if (entry?.kind === 'running') return { status: 'running', progress: entry.progress }
    if (entry?.kind === 'failed' && now - entry.endedAt < failureMs) throw entry.error
    const madeFrom = await this.#parts.database.inTenant(tenant, (transaction) =>
      inputsOf(transaction, tenant, now),
    )
    const found = this.#kept.get(tenant)
    if (found?.kind === 'running') return { status: 'running', progress: found.progress }
    if (found?.kind === 'ended') {
      // A result whose amounts were converted in another way is not shown, because its amounts are not comparable with today's.
      const isComparable = found.madeFrom.conversions === madeFrom.conversions
      const current = isComparable && found.madeFrom.facts === madeFrom.facts
      if (current || (isComparable && now - found.endedAt < freshMs)) {
        return { status: 'done', asOf: found.asOf, current, result: found.result }
      }
    }
    if (this.#waiting.length >= waitingMax) {
      throw problem('unavailable', 'Too many backtests are waiting. Try again later.', {
        headers: { 'Retry-After': '60' },
      })
    }
    this.#keep(tenant, { kind: 'running', progress: 0 })
    this.#waiting.push(tenant)
    this.#startNext()
    return { status: 'running', progress: 0 }
  }

  readonly counts = (): BacktestCounts => ({
    running: this.#running.size,
    waiting: this.#waiting.length,
    ended: { ...this.#ended },
  })

  async drain(): Promise<void> {
    this.#waiting.length = 0
    this.#stopping.abort()
    await Promise.all(this.#running.values())
  }

  #keep(tenant: TenantId, entry: Kept): void {
    this.#kept.delete(tenant)
    this.#kept.set(tenant, entry)
    const missedOf = (one: Kept) =>
      one.kind === 'ended' && one.result.enough ? one.result.missed.quoteId.length : 0
    let missed = this.#kept.values().reduce((sum, one) => sum + missedOf(one), 0)
    for (const [oldest, one] of this.#kept) {
      if (this.#kept.size <= keptMax && missed <= missedMax) return
      if (one.kind === 'running' || one === entry) continue
      this.#kept.delete(oldest)
      missed -= missedOf(one)
    }
  }

  #startNext(): void {
    while (this.#running.size < runningMax) {
      const { shares } = this.#parts.database
      const next = this.#waiting.findIndex((tenant) => !this.#running.has(shares.of(tenant)))
      const [tenant] = next < 0 ? [] : this.#waiting.splice(next, 1)
      if (tenant === undefined) return
      const sharesOf = shares.of(tenant)
      const ended = runInBackground(() => forBrokerage(() => this.#run(tenant))).finally(() => {
        this.#running.delete(sharesOf)
        this.#startNext()
      })
      this.#running.set(sharesOf, ended)
    }
  }

  async #run(tenant: TenantId): Promise<void> {
    const { clock, log } = this.#parts
    const begun = clock()
    try {
      const { madeFrom, facts } = await this.#readFacts(tenant, begun)
      const result = await backtestInThread(facts, {
        signal: this.#stopping.signal,
        ...(this.#threadFile === undefined ? {} : { file: this.#threadFile }),
        onProgress: (progress) => {
          const entry = this.#kept.get(tenant)
          if (entry?.kind === 'running') entry.progress = progress
        },
      })
      this.#keep(tenant, { kind: 'ended', madeFrom, asOf: begun, endedAt: clock(), result })
      this.#ended.done++
      const { enough } = result
      log.info(
        { tenant_id: tenant, quotes: facts.quotes.length, ms: clock() - begun, enough },
        'a backtest ended',
      )
    } catch (error) {
      this.#keep(tenant, { kind: 'failed', error, endedAt: clock() })
      if (this.#stopping.signal.aborted) {
        this.#ended.stopped++
        log.info({ tenant_id: tenant }, 'a backtest was stopped')
      } else {
        this.#ended.failed++
        log.error({ err: error, tenant_id: tenant }, 'a backtest failed')
      }
    }
  }

  /** Reads the facts and their version in one transaction, so that the version is that of these facts. */
  #readFacts(tenant: TenantId, now: number) {
    return this.#parts.database.inTenant(tenant, async (transaction) => ({
      madeFrom: await inputsOf(transaction, tenant, now),
      facts: await readBacktestFacts(transaction, tenant, { now }),
    }))
  }
}

async function inputsOf(transaction: TenantTransaction, tenant: TenantId, now: number): Promise<Inputs> {
  // The version is read before the facts, so that a change during the read makes the result outdated.
  const { facts: version } = await readVersions(transaction, tenant)
  const row = await findTenant(transaction, tenant)
  return {
    facts: JSON.stringify([version, Math.floor(now / dayMs), row === null ? {} : minimumOf(row)]),
    conversions: JSON.stringify([row?.default_basis, row?.default_rate_type, row?.conversions]),
  }
}
