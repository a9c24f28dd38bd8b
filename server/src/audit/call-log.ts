import type { Endpoint } from '#contract/endpoint.ts'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import { callsKeptDaysMax, callsKeptPerTenantMax } from '#contract/limits.ts'
import { type KeptCall, keepIntegrationCalls } from '../database/queries/index.ts'
import { type Database, DatabaseUnavailable, type TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { lastMinute } from './requests-last-minute.ts'

/** A request whose token this service signed, whatever becomes of it. */
export interface BegunCall {
  readonly tenant: TenantId
  readonly jti: string
  readonly endpoint: Endpoint
  readonly method: string
  readonly url: string
  readonly requestId: string
  readonly network: string
  readonly at: number
}

/** Calls to the integration interface in the last 60 seconds. */
export interface LastMinuteCounts {
  readonly requests: number
  readonly refused: number
}

/** Keeps the last calls to the integration interface, behind the requests. A request is any object that stands for it. */
export interface CallLog {
  begin(request: object, call: BegunCall): void
  /** Says what a begun call asks for, as a query, where that stands in its body. */
  asks(request: object, query: string): void
  /** Notes why a begun call is refused, also inside an answer of status 200; nothing for any other call. */
  refuse(request: object, why: Problem): void
  /** `answered` is false when the caller had gone before. */
  end(request: object, answer: { status: number; ms: number; answered: boolean }): void
  /** Notes a call that was answered at once, and not refused. */
  note(call: BegunCall, answer: { status: number; ms: number; answered: boolean }): void
  lastMinute(tenant: TenantId, now: number): Promise<LastMinuteCounts>
  /** Writes down what was noted so far. */
  flush(): Promise<void>
  drain(): Promise<void>
}

/** A page that polls every second sees a call with its next look. */
const flushEveryMs = 500
/** Of one tenant at one flush. The limit lets ten a second through to here, so what was admitted always has a place. */
const keptPerFlushMax = 50
/** Of these, refusals that cost their caller nothing and so can come by the thousand. */
const cheapRefusalsPerFlushMax = 40
/** Over all tenants at one flush: some ten megabytes. */
const heldMax = 10_000
/** Brokerages that are written at the same time. They go together, in a message or two. */
const writersMax = 32
/**
 * Brokerages whose calls are written at one flush. Beyond this the log would take the machine from the calls: the next
 * flushes write the others, and what comes meanwhile is kept within the bounds above.
 */
const tenantsPerFlushMax = 50
/** Old calls are deleted after so many new ones, or the first of them after so long. */
const pruneAfterCalls = 500
const pruneEveryMs = 60_000
const dayMs = 86_400_000

/** Said of a call whose caller did not wait for the answer: nginx's word for it, for HTTP has none. */
const goneStatus = 499
const queryLengthMax = 300
/** A refusal that names twenty unknown fields has some 1,300. No more of any text is kept, or searched for secrets. */
const detailLengthMax = 2_000

type Ended = Parameters<CallLog['end']>[1]

/** Calls since the start: written, counted beside another one in a flood, lost; and those that wait to be written. */
export interface CallLogCounts {
  readonly written: number
  readonly leftOut: number
  readonly lost: number
  readonly waiting: number
}

/** A call as it was noted. What is kept of it is made when it is written: most of a flood never is. */
interface Draft {
  readonly call: BegunCall
  readonly problem: Problem | null
  readonly answer: Ended
  notKept: number
}

interface Pending {
  readonly calls: Draft[]
  cheapRefusals: number
}

const cheapRefusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'quota-exceeded',
  'too-many-attempts',
  'token-expired',
  'token-revoked',
  'token-invalid',
  'token-wrong-kind',
])

/**
 * Keeps the last calls to the integration interface, for people who look for mistakes. It works behind the requests: a
 * call is noted in memory when it was answered and written a moment later; when the database cannot take it, it is lost.
 */
export function callLog({
  database,
  clock,
  log,
}: {
  database: Database
  clock: () => number
  log: Log
}): CallLog & { counts(): CallLogCounts } {
  const begun = new WeakMap<object, { call: BegunCall; problem: Problem | null }>()
  const minute = lastMinute()
  /** When old calls were last deleted, the brokerage of longest ago first, and how many have been written since. */
  const pruned = new Map<TenantId, { readonly at: number; since: number }>()
  const pending = new Map<TenantId, Pending>()
  let held = 0
  let written = 0
  let leftOut = 0
  let lost = 0
  let flushing: Promise<void> | null = null

  function keep(call: BegunCall, problem: Problem | null, answer: Ended): void {
    const mine = pending.get(call.tenant) ?? { calls: [], cheapRefusals: 0 }
    const isCheap = problem !== null && cheapRefusals.has(problem.code)
    const last = mine.calls.at(-1)
    const isFull =
      mine.calls.length >= keptPerFlushMax || (isCheap && mine.cheapRefusals >= cheapRefusalsPerFlushMax)
    if (last !== undefined && isFull) {
      // Beside a refusal like it where there is one: what is not kept is nearly always more of the same.
      const beside = mine.calls.findLast((kept) => kept.problem?.code === problem?.code) ?? last
      beside.notKept++
      leftOut++
      return
    }
    if (held >= heldMax) {
      lost++
      return
    }
    held++
    mine.calls.push({ call, problem, answer, notKept: 0 })
    if (isCheap) mine.cheapRefusals++
    pending.set(call.tenant, mine)
  }

  async function write(tenant: TenantId, calls: readonly Draft[]): Promise<void> {
    const kept = calls.flatMap((draft) => {
      try {
        return [keptCall(draft)]
      } catch (error) {
        // Whatever is odd about a call, nothing but its own entry may suffer from it.
        const { requestId } = draft.call
        lost++
        log.warn(
          { err: error, request_id: requestId, tenant_id: tenant },
          'a call could not be noted in the log of calls',
        )
        return []
      }
    })
    if (kept.length === 0) return
    await keepIntegrationCalls(database, tenant, kept, oldCalls(tenant, kept.length, clock()))
    written += kept.length
  }

  /** What is to be deleted with so many new calls, if it is time. */
  function oldCalls(tenant: TenantId, added: number, now: number) {
    const isRecent = (at: number) => now - at < pruneEveryMs
    const before = pruned.get(tenant)
    if (before !== undefined && isRecent(before.at) && before.since + added < pruneAfterCalls) {
      before.since += added
      return null
    }
    for (const [other, { at }] of pruned) {
      if (isRecent(at)) break
      pruned.delete(other)
    }
    pruned.delete(tenant)
    pruned.set(tenant, { at: now, since: 0 })
    return { keptMax: callsKeptPerTenantMax, keptFrom: new Date(now - callsKeptDaysMax * dayMs) }
  }

  /** Takes out what waits for the brokerages that have waited longest. */
  function takePending(tenantsMax: number): [TenantId, Pending][] {
    const taken: [TenantId, Pending][] = []
    for (const entry of pending) {
      if (taken.length >= tenantsMax) break
      taken.push(entry)
      pending.delete(entry[0])
      held -= entry[1].calls.length
    }
    return taken
  }

  async function writePending(tenantsMax: number): Promise<void> {
    const waiting = takePending(tenantsMax)
    let dropped = 0
    let failure: unknown
    const writer = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [tenant, { calls }] = next
        // A database that is away would let each tenant wait for its time-out.
        if (!(failure instanceof DatabaseUnavailable)) {
          try {
            await write(tenant, calls)
            continue
          } catch (error) {
            failure = error
          }
        }
        dropped += calls.length
        lost += calls.length
      }
    }
    await Promise.all(Array.from({ length: writersMax }, writer))
    if (dropped > 0)
      log.warn({ err: failure, calls: dropped }, 'calls could not be written to the log of calls')
  }

  async function flush(tenantsMax = Number.POSITIVE_INFINITY): Promise<void> {
    while (flushing !== null) await flushing
    if (pending.size === 0) return
    flushing = writePending(tenantsMax)
    try {
      await flushing
    } finally {
      flushing = null
    }
  }

  function note(call: BegunCall, problem: Problem | null, answer: Ended): void {
    minute.count(call.tenant, problem?.code === 'quota-exceeded', clock())
    keep(call, problem, answer)
  }

  const timer = setInterval(() => {
    // A slow flush is not overtaken: what comes meanwhile waits, within the bounds above.
    if (flushing === null) void flush(tenantsPerFlushMax)
  }, flushEveryMs)
  timer.unref()

  return {
    begin(request, call) {
      begun.set(request, { call, problem: null })
    },
    asks(request, query) {
      const entry = begun.get(request)
      if (entry !== undefined) entry.call = { ...entry.call, url: `?${query}` }
    },
    refuse(request, why) {
      const entry = begun.get(request)
      if (entry !== undefined) entry.problem = why
    },
    end(request, answer) {
      const entry = begun.get(request)
      if (entry === undefined) return
      begun.delete(request)
      note(entry.call, entry.problem, answer)
    },
    note: (call, answer) => note(call, null, answer),
    lastMinute: async (tenant, now) => minute.of(tenant, now),
    flush: () => flush(),
    counts: () => ({ written, leftOut, lost, waiting: held }),
    async drain() {
      clearInterval(timer)
      await flush()
    },
  }
}

function keptCall({ call, problem, answer, notKept }: Draft): KeptCall {
  const { status, ms, answered } = answer
  const why = problem?.message ?? (answered ? null : 'The caller closed the connection before the answer.')
  return {
    at: call.at,
    operation: call.endpoint.name,
    method: call.method,
    path: keptPath(call.endpoint, call.url),
    query: keptQuery(call.url),
    // An agent is refused inside an answer of status 200.
    status: answered ? Math.max(status, problem?.status ?? 0) : goneStatus,
    problem: problem?.code ?? null,
    detail: why === null ? null : keptText(why).slice(0, detailLengthMax),
    requestId: call.requestId,
    jti: call.jti,
    durationMs: ms,
    network: call.network,
    notKept,
  }
}

/** Tokens and secrets of ours, which somebody may send in the wrong place. */
const credentials = /lwsec_[0-9A-Za-z]*|eyJ[\w-]+(?:\.[\w-]+)*/g

/** A text without credentials, and without what the database cannot hold. */
function keptText(text: string): string {
  return text
    .slice(0, detailLengthMax)
    .replaceAll(credentials, '[removed]')
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
}

/** The address by its form: of what stands in the place of an id only an id is kept. */
function keptPath(endpoint: Endpoint, url: string): string {
  const sent = (url.split('?')[0] ?? '').split('/')
  return endpoint.path
    .split('/')
    .map((step, index) => (step.startsWith('{') && /^\d{1,10}$/.test(sent[index] ?? '') ? sent[index] : step))
    .join('/')
}

/** The parameters that say what was asked for. Anything else in a query may be anybody's secret. */
const keptParameters = new Set([
  'tool',
  'origin',
  'destination',
  'equipment',
  'proposed_rate',
  'market_rate',
  'include',
])

function keptQuery(url: string): string | null {
  const start = url.indexOf('?')
  if (start === -1) return null
  const sent = [...new URLSearchParams(url.slice(start + 1))].filter(([name]) => keptParameters.has(name))
  if (sent.length === 0) return null
  const text = new URLSearchParams(
    sent.map(([name, value]): [string, string] => [name, keptText(value)]),
  ).toString()
  // A code that was cut in two is no code.
  return text.slice(0, queryLengthMax).replace(/%[0-9A-F]?$/, '')
}
