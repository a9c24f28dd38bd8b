import { DatabaseUnavailable } from './database-failures.ts'
import { runInBackground, waitWithinDeadline } from './request-deadline.ts'
import type { TenantId } from './tenant.ts'

/** What is asked of the database for one tenant. */
export interface TenantCall {
  readonly tenant: TenantId
  readonly values: readonly unknown[]
}

/** What becomes of a call among others; null where it was left undone, and is to be asked by itself. */
export type Told<T> = { readonly value: T } | null

/** The ways by which calls are asked. */
export interface Asking<T> {
  /** Several tenants' in one message, none of them twice, in the order of their numbers: who waits for locks takes them so. */
  together(calls: readonly TenantCall[]): Promise<readonly Told<T>[]>
  alone(call: TenantCall): Promise<T>
  /** Told of a call that was given up while it was on its way: nobody knows whether it was done. */
  unknown(call: TenantCall): void
  /** Whether a call may have changed something when its answer is lost. */
  readonly writes: boolean
}

interface Waiting<T> {
  readonly call: TenantCall
  readonly tell: (told: Told<T>) => void
  readonly fail: (error: unknown) => void
}

/** While so many messages are on their way, calls gather for the next. */
const messagesMax = 3
/**
 * Calls in a message: few enough that others are prepared and answered while the database works on it, and more only where
 * more wait than go into all the messages. What a message does is not held up by more than so many others.
 */
const callsWanted = 6
const callsMax = 32

/**
 * Gathers calls into messages: those that come while others are on their way go together in the next. A caller who is by
 * himself waits for nobody. A tenant has one call on its way, so that no message waits for another one.
 */
export function batchCalls<T>(asking: Asking<T>): (call: TenantCall) => Promise<T> {
  let line: Waiting<T>[] = []
  const underway = new Set<TenantId>()
  let messages = 0
  let isSending = false

  /** After everything that has arrived in the same moment. */
  function sendSoon(): void {
    if (isSending) return
    isSending = true
    setImmediate(() => {
      isSending = false
      while (messages < messagesMax) {
        const next = nextOfLine()
        if (next.length === 0) return
        void runInBackground(() => send(next))
      }
    })
  }

  function nextOfLine(): Waiting<T>[] {
    const next: Waiting<T>[] = []
    const later: Waiting<T>[] = []
    const most = Math.min(callsMax, Math.max(callsWanted, Math.ceil(line.length / messagesMax)))
    for (const one of line) {
      const { tenant } = one.call
      if (next.length === most || underway.has(tenant)) later.push(one)
      else {
        underway.add(tenant)
        next.push(one)
      }
    }
    line = later
    return next.sort((a, b) => a.call.tenant - b.call.tenant)
  }

  async function send(all: readonly Waiting<T>[]): Promise<void> {
    messages++
    try {
      const told = await asking.together(all.map(({ call }) => call))
      for (const [at, { tell }] of all.entries()) tell(told[at] ?? null)
    } catch (error) {
      // What is wrong with one of them is said to that one: by themselves the others are asked as if it had not come.
      for (const { tell, fail } of all) error instanceof DatabaseUnavailable ? fail(error) : tell(null)
    } finally {
      messages--
      for (const { call } of all) underway.delete(call.tenant)
      if (line.length > 0) sendSoon()
    }
  }

  function inLine(call: TenantCall, patienceMs: number): Promise<Told<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Told<T>>()
    const waiting = { call, tell: resolve, fail: reject }
    line.push(waiting)
    sendSoon()
    if (!Number.isFinite(patienceMs)) return promise
    const timer = setTimeout(() => {
      const isUnderway = !line.includes(waiting)
      if (isUnderway) asking.unknown(call)
      else line = line.filter((one) => one !== waiting)
      reject(new DatabaseUnavailable('The answer did not come in time.', isUnderway && asking.writes))
    }, patienceMs)
    return promise.finally(() => clearTimeout(timer))
  }

  return async (call) => {
    const told = await waitWithinDeadline((leftMs) => inLine(call, leftMs))
    return told === null ? asking.alone(call) : told.value
  }
}
