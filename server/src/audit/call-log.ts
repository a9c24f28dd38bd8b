import type { Problem } from '#contract/errors.ts'
import { callsKeptDaysMax, callsKeptPerTenantMax } from '#contract/limits.ts'
import { saveIntegrationCalls } from '../database/queries/index.ts'
import { type Database, DatabaseUnavailable, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { loggedCall } from './logged-call.ts'
import { type BegunCall, type CallAnswer, type DraftCall, PendingCalls } from './pending-calls.ts'
import { lastMinute } from './requests-last-minute.ts'

/** Calls to the integration API in the last 60 seconds. */
export interface LastMinuteCounts {
  readonly requests: number
  readonly refused: number
}

/** A call that has begun. It is in the log once it has ended. */
export interface OpenCall {
  /** Records the parameters of a call as a query string, if they are in its body. */
  asks(query: string): void
  /** Records what the caller of an answered call should know. */
  remark(text: string): void
  /** Records why a call is refused, even if its answer has status 200. */
  refuse(why: Problem): void
  /** `answered` is false if the caller closed the connection before the answer. */
  end(answer: { status: number; ms: number; answered: boolean }): void
}

/** The log of recent calls to the integration API. */
export interface CallLog {
  begin(call: BegunCall): OpenCall
  lastMinute(tenant: TenantId, now: number): Promise<LastMinuteCounts>
  /** Writes all recorded calls to the database. */
  flush(): Promise<void>
  drain(): Promise<void>
}

/** Counts of calls since the start: written, counted with a similar call, or lost. And of calls that wait to be written. */
export interface CallLogCounts {
  readonly written: number
  readonly leftOut: number
  readonly lost: number
  readonly waiting: number
}

/** How often calls are written. A page that polls every second sees a call at its next poll. */
const flushEveryMs = 500
/** Tenants whose calls are written concurrently. More would take connections from requests. */
const writersMax = 3
/** The most tenants per flush. More would delay requests. The next flushes write the other tenants. */
const tenantsPerFlushMax = 50
/** Old calls of a tenant are deleted after this many new ones, or with the first new one after `pruneEveryMs`. */
const pruneAfterCalls = 500
const pruneEveryMs = 3_600_000
const dayMs = 86_400_000

interface CallLogParts {
  readonly database: Database
  readonly clock: () => number
  readonly log: Log
}

/**
 * Saves the calls to the integration API for people who look for mistakes, and deletes old ones. It works in the background:
 * an answered call waits in memory, and is saved a moment later. If the database is unavailable, the call is lost.
 */
export function callLog(parts: CallLogParts): CallLog & { counts(): CallLogCounts } {
  return new BufferedCallLog(parts)
}

class CallInProgress implements OpenCall {
  readonly #record: (call: BegunCall, problem: Problem | null, answer: CallAnswer) => void
  #call: BegunCall
  #problem: Problem | null = null

  constructor(
    call: BegunCall,
    record: (call: BegunCall, problem: Problem | null, answer: CallAnswer) => void,
  ) {
    this.#call = call
    this.#record = record
  }

  asks(query: string): void {
    this.#call = { ...this.#call, url: `?${query}` }
  }

  remark(text: string): void {
    this.#call = { ...this.#call, remark: text }
  }

  refuse(why: Problem): void {
    this.#problem = why
  }

  end(answer: CallAnswer): void {
    this.#record(this.#call, this.#problem, answer)
  }
}

class BufferedCallLog implements CallLog {
  readonly #parts: CallLogParts
  readonly #minute = lastMinute()
  readonly #pending = new PendingCalls()
  /** Per tenant: when old calls were last deleted, and how many have been written since. Oldest first. */
  readonly #pruned = new Map<TenantId, { readonly at: number; since: number }>()
  readonly #timer: NodeJS.Timeout
  #flushing: Promise<void> | null = null
  #written = 0
  #leftOut = 0
  #lost = 0

  constructor(parts: CallLogParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      // Flushes do not overlap: during a slow flush, new calls wait within the bounds of PendingCalls.
      if (this.#flushing === null) void this.#flushTenants(tenantsPerFlushMax)
    }, flushEveryMs)
    this.#timer.unref()
  }

  begin(call: BegunCall): OpenCall {
    return new CallInProgress(call, this.#record)
  }

  async lastMinute(tenant: TenantId, now: number): Promise<LastMinuteCounts> {
    return this.#minute.countsOf(tenant, now)
  }

  flush(): Promise<void> {
    return this.#flushTenants(Number.POSITIVE_INFINITY)
  }

  counts(): CallLogCounts {
    return {
      written: this.#written,
      leftOut: this.#leftOut,
      lost: this.#lost,
      waiting: this.#pending.held,
    }
  }

  async drain(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  readonly #record = (call: BegunCall, problem: Problem | null, answer: CallAnswer): void => {
    this.#minute.count(call.tenant, problem?.code === 'quota-exceeded', this.#parts.clock())
    const outcome = this.#pending.add(call, problem, answer)
    if (outcome === 'left out') this.#leftOut++
    if (outcome === 'lost') this.#lost++
  }

  async #flushTenants(tenantsMax: number): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
    if (this.#pending.isEmpty) return
    this.#flushing = this.#writePending(tenantsMax)
    try {
      await this.#flushing
    } finally {
      this.#flushing = null
    }
  }

  async #writePending(tenantsMax: number): Promise<void> {
    const waiting = this.#pending.take(tenantsMax)
    let dropped = 0
    let failure: unknown
    const writer = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [tenant, calls] = next
        // Once the database is unavailable, do not wait for a timeout per tenant.
        if (!(failure instanceof DatabaseUnavailable)) {
          try {
            await this.#write(tenant, calls)
            continue
          } catch (error) {
            failure = error
          }
        }
        dropped += calls.length
        this.#lost += calls.length
      }
    }
    await Promise.all(Array.from({ length: writersMax }, writer))
    if (dropped > 0) {
      this.#parts.log.warn({ err: failure, calls: dropped }, 'calls could not be written to the call log')
    }
  }

  async #write(tenant: TenantId, drafts: readonly DraftCall[]): Promise<void> {
    const { database, clock } = this.#parts
    const rows = drafts.flatMap((draft) => this.#rowOf(tenant, draft))
    if (rows.length === 0) return
    await saveIntegrationCalls(database, tenant, rows, this.#oldCalls(tenant, rows.length, clock()))
    this.#written += rows.length
  }

  #rowOf(tenant: TenantId, draft: DraftCall) {
    try {
      return [loggedCall(draft)]
    } catch (error) {
      // A call that cannot become a row loses its own entry, not those of other calls.
      this.#lost++
      this.#parts.log.warn(
        { err: error, request_id: draft.call.requestId, tenant_id: tenant },
        'a call could not be recorded in the call log',
      )
      return []
    }
  }

  /** Which old calls to delete together with `added` new ones; null if it is not time yet. */
  #oldCalls(tenant: TenantId, added: number, now: number) {
    const isRecent = (at: number) => now - at < pruneEveryMs
    const before = this.#pruned.get(tenant)
    if (before !== undefined && isRecent(before.at) && before.since + added < pruneAfterCalls) {
      before.since += added
      return null
    }
    for (const [other, { at }] of this.#pruned) {
      if (isRecent(at)) break
      this.#pruned.delete(other)
    }
    this.#pruned.delete(tenant)
    this.#pruned.set(tenant, { at: now, since: 0 })
    return { keptMax: callsKeptPerTenantMax, keptFrom: new Date(now - callsKeptDaysMax * dayMs) }
  }
}
