import { problem } from '#contract/errors.ts'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { findTenant, floorsOf, readVersions } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { type Database, runInBackground, type StaleReads, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { readBacktestFacts } from './backtest-facts.ts'
import { backtestInThread } from './backtest-thread.ts'

/** A tenant's backtest: on its way, or found. `current` is false when quotes have changed since `asOf`. */
export type BacktestState =
  | { readonly status: 'running'; readonly progress: number }
  | {
      readonly status: 'done'
      readonly asOf: number
      readonly current: boolean
      readonly result: BacktestResult | TooFewQuotes
    }

/** Walks a tenant's own quotes behind the requests that ask for it, and ends what is on its way when the service drains. */
export interface BacktestRunner {
  /** What there is; starts the walk where there is nothing. Throws what a walk failed of. */
  look(tenant: TenantId, now: number): Promise<BacktestState>
  drain(): Promise<void>
}

/** Threads that walk at the same time, over all tenants. */
const runningMax = 2
/** Tenants that may wait for a thread; each of them costs an entry in a list, no quotes. */
const waitingMax = 100
/** Tenants whose last result is kept: a few kilobytes each. */
const keptMax = 200
/** A result is shown for this long even when quotes came in meanwhile, or a busy brokerage would never see one. */
const freshMs = 10 * 60_000
/** A failure is told to everybody who asks for this long before the walk is tried again. */
const failureMs = 10_000
const dayMs = 86_400_000

interface Ended {
  readonly kind: 'ended'
  /** What the result was made from: version of the facts, day and floors. */
  readonly madeFrom: string
  readonly asOf: number
  readonly endedAt: number
  readonly result: Extract<BacktestState, { status: 'done' }>['result']
}

type Kept =
  | { readonly kind: 'running'; progress: number }
  | Ended
  | { readonly kind: 'failed'; readonly error: unknown; readonly endedAt: number }

/** Backtests now, and since the start by how they ended. */
export interface BacktestCounts {
  readonly running: number
  readonly waiting: number
  readonly ended: Readonly<Record<'done' | 'stopped' | 'failed', number>>
}

/** Walks a tenant's quotes when somebody asks, behind the request, and keeps what was found until the facts change. */
export function backtestRunner(
  {
    database,
    staleReads,
    clock,
    log,
  }: { database: Database; staleReads: StaleReads; clock: () => number; log: Log },
  options: { threadFile?: URL } = {},
): BacktestRunner & { counts(): BacktestCounts } {
  const kept = new Map<TenantId, Kept>()
  const waiting: TenantId[] = []
  const running = new Map<TenantId, Promise<void>>()
  const stopping = new AbortController()
  const endings = { done: 0, stopped: 0, failed: 0 }

  /** What a result depends on, besides its arithmetic. */
  async function madeFrom(transaction: TenantTransaction, tenant: TenantId, now: number): Promise<string> {
    // The version first: what changes while the quotes are read is found out by the next look.
    const { facts: version } = await readVersions(transaction, tenant)
    const row = await findTenant(transaction, tenant)
    return JSON.stringify([version, Math.floor(now / dayMs), row === null ? {} : floorsOf(row)])
  }

  function keep(tenant: TenantId, entry: Kept): void {
    kept.delete(tenant)
    kept.set(tenant, entry)
    for (const [oldest, { kind }] of kept) {
      if (kept.size <= keptMax) return
      if (kind !== 'running') kept.delete(oldest)
    }
  }

  function startNext(): void {
    while (running.size < runningMax) {
      const tenant = waiting.shift()
      if (tenant === undefined) return
      const ended = runInBackground(() => run(tenant)).finally(() => {
        running.delete(tenant)
        startNext()
      })
      running.set(tenant, ended)
    }
  }

  async function run(tenant: TenantId): Promise<void> {
    const begun = clock()
    try {
      // From one database: the version says how old these facts are.
      const { from, facts } = await staleReads.inTenant(tenant, async (transaction) => ({
        from: await madeFrom(transaction, tenant, begun),
        facts: await readBacktestFacts(transaction, tenant, { now: begun }),
      }))
      const result = await backtestInThread(facts, {
        signal: stopping.signal,
        ...(options.threadFile === undefined ? {} : { file: options.threadFile }),
        onProgress: (progress) => {
          const entry = kept.get(tenant)
          if (entry?.kind === 'running') entry.progress = progress
        },
      })
      keep(tenant, { kind: 'ended', madeFrom: from, asOf: begun, endedAt: clock(), result })
      endings.done++
      log.info(
        { tenant_id: tenant, quotes: facts.quotes.length, ms: clock() - begun, enough: result.enough },
        'a backtest ended',
      )
    } catch (error) {
      keep(tenant, { kind: 'failed', error, endedAt: clock() })
      if (stopping.signal.aborted) {
        endings.stopped++
        log.info({ tenant_id: tenant }, 'a backtest was stopped')
      } else {
        endings.failed++
        log.error({ err: error, tenant_id: tenant }, 'a backtest failed')
      }
    }
  }

  return {
    async look(tenant, now) {
      const entry = kept.get(tenant)
      if (entry?.kind === 'running') return { status: 'running', progress: entry.progress }
      if (entry?.kind === 'failed' && now - entry.endedAt < failureMs) throw entry.error
      const from = await database.inTenant(tenant, (transaction) => madeFrom(transaction, tenant, now))
      const found = kept.get(tenant)
      if (found?.kind === 'running') return { status: 'running', progress: found.progress }
      if (found?.kind === 'ended') {
        const current = found.madeFrom === from
        if (current || now - found.endedAt < freshMs) {
          return { status: 'done', asOf: found.asOf, current, result: found.result }
        }
      }
      if (waiting.length >= waitingMax) {
        throw problem('unavailable', 'Too many backtests are waiting. Ask again later.', {
          headers: { 'Retry-After': '60' },
        })
      }
      keep(tenant, { kind: 'running', progress: 0 })
      waiting.push(tenant)
      startNext()
      return { status: 'running', progress: 0 }
    },
    counts: () => ({ running: running.size, waiting: waiting.length, ended: { ...endings } }),
    async drain() {
      waiting.length = 0
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}
