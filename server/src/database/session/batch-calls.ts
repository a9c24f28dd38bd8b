import { DatabaseUnavailable } from './database-failures.ts'
import { runInBackground, waitWithinDeadline } from './request-deadline.ts'
import type { TenantId } from './tenant.ts'

/** A database call for one tenant. */
export interface TenantCall {
  readonly tenant: TenantId
  readonly values: readonly unknown[]
}

/** The answer to one call of a batch; null if the batch skipped the call, which must then be sent alone. */
export type BatchAnswer<T> = { readonly value: T } | null

/** How calls are sent to the database. */
export interface CallSender<T> {
  /** Sends calls of several tenants in one message: at most one per tenant, in tenant order so that locks cannot deadlock. */
  sendBatch(calls: readonly TenantCall[]): Promise<readonly BatchAnswer<T>[]>
  sendAlone(call: TenantCall): Promise<T>
  /** Called when a call timed out after it was sent: it is unknown whether the database executed it. */
  onOutcomeUnknown(call: TenantCall): void
  /** Whether a call whose answer was lost may have changed data. */
  readonly writes: boolean
}

interface WaitingCall<T> {
  readonly call: TenantCall
  readonly resolve: (answer: BatchAnswer<T>) => void
  readonly reject: (error: unknown) => void
}

/** While this many batches are in flight, further calls wait for the next batch. */
const batchesMax = 3
/**
 * Calls per batch. Small batches let the service prepare and answer other calls while the database works. A batch grows
 * beyond `callsWanted` only if more calls wait than fit into all batches; `callsMax` bounds the delay of each call.
 */
const callsWanted = 6
const callsMax = 32

/**
 * Batches calls: calls that arrive while batches are in flight go together into the next one. A single call is sent
 * without delay. Each tenant has at most one call in flight, so no batch waits for another batch's locks.
 */
export function batchCalls<T>(sender: CallSender<T>): (call: TenantCall) => Promise<T> {
  let queue: WaitingCall<T>[] = []
  const tenantsInFlight = new Set<TenantId>()
  let batchesInFlight = 0
  let isScheduled = false

  /** Sends after all calls of the current event-loop turn have arrived. */
  function scheduleSend(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      while (batchesInFlight < batchesMax) {
        const batch = takeBatch()
        if (batch.length === 0) return
        void runInBackground(() => send(batch))
      }
    })
  }

  function takeBatch(): WaitingCall<T>[] {
    const batch: WaitingCall<T>[] = []
    const rest: WaitingCall<T>[] = []
    const most = Math.min(callsMax, Math.max(callsWanted, Math.ceil(queue.length / batchesMax)))
    for (const waiting of queue) {
      const { tenant } = waiting.call
      if (batch.length === most || tenantsInFlight.has(tenant)) rest.push(waiting)
      else {
        tenantsInFlight.add(tenant)
        batch.push(waiting)
      }
    }
    queue = rest
    return batch.sort((a, b) => a.call.tenant - b.call.tenant)
  }

  async function send(batch: readonly WaitingCall<T>[]): Promise<void> {
    batchesInFlight++
    try {
      const answers = await sender.sendBatch(batch.map(({ call }) => call))
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] ?? null)
    } catch (error) {
      // One faulty call fails the whole message. Sent alone, each call gets its own answer or its own error.
      for (const { resolve, reject } of batch) {
        if (error instanceof DatabaseUnavailable) reject(error)
        else resolve(null)
      }
    } finally {
      batchesInFlight--
      for (const { call } of batch) tenantsInFlight.delete(call.tenant)
      if (queue.length > 0) scheduleSend()
    }
  }

  function enqueue(call: TenantCall, timeoutMs: number): Promise<BatchAnswer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<BatchAnswer<T>>()
    const waiting = { call, resolve, reject }
    queue.push(waiting)
    scheduleSend()
    if (!Number.isFinite(timeoutMs)) return promise
    const timer = setTimeout(() => {
      const isInFlight = !queue.includes(waiting)
      if (isInFlight) sender.onOutcomeUnknown(call)
      else queue = queue.filter((other) => other !== waiting)
      reject(new DatabaseUnavailable('The answer did not arrive in time.', isInFlight && sender.writes))
    }, timeoutMs)
    return promise.finally(() => clearTimeout(timer))
  }

  return async (call) => {
    const answer = await waitWithinDeadline((leftMs) => enqueue(call, leftMs))
    return answer === null ? sender.sendAlone(call) : answer.value
  }
}
