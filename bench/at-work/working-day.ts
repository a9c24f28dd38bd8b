import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Answer {
  /** 0 if there was no response. */
  readonly status: number
  readonly text: string
  readonly ms: number
}

/** A caller that sends requests at fixed intervals, independent of earlier responses. */
export interface Caller {
  readonly kind: CallKind
  readonly everyMs: number
  /** The time of the first call, in milliseconds after the start. */
  readonly firstMs: number
  readonly next: () => Call
}

export const callKinds = ['advice', 'save', 'update'] as const
export type CallKind = (typeof callKinds)[number]

/** The results of the calls of one kind. `times` are the durations of the successful ones, in milliseconds. */
export interface Tally {
  readonly times: number[]
  /** The number of failed calls by status, with the last reason. */
  readonly refused: Map<number, { count: number; text: string }>
}

/** Longer than any timeout of the service. */
const answerMsMax = 60_000

/** An HTTP client for all callers. It reuses idle connections, and opens a new one if all are in use. */
export function openClient(port: number): { send(call: Call): Promise<Answer>; close(): void } {
  const agent = new Agent({ keepAlive: true })
  return {
    send({ method, path, headers, body }) {
      const began = performance.now()
      const { promise, resolve } = Promise.withResolvers<Answer>()
      const end = (status: number, text: string) => resolve({ status, text, ms: performance.now() - began })
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const all = { ...headers, ...length }
      const sent = request(
        { port, host: '127.0.0.1', agent, method, path, headers: all, timeout: answerMsMax },
        (answer) => {
          const parts: Buffer[] = []
          answer.on('data', (part: Buffer) => parts.push(part))
          answer.on('end', () => end(answer.statusCode ?? 0, Buffer.concat(parts).toString()))
          answer.on('error', (error) => end(0, error.message))
        },
      )
      sent.on('timeout', () => sent.destroy(new Error(`no response within ${answerMsMax / 1000} s`)))
      sent.on('error', (error) => end(0, error.message))
      sent.end(body)
      return promise
    },
    close: () => agent.destroy(),
  }
}

/** Whether a response has a 2xx status. */
export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status <= 299
}

const reasonLengthMax = 200

/** Returns the reason in an error response. */
export function reasonOf({ text }: Pick<Answer, 'text'>): string {
  return (/"detail":"([^"]*)"/.exec(text)?.[1] ?? text).slice(0, reasonLengthMax)
}

/** Returns the status of a response that failed or lacks the requested content, otherwise null. */
function faultOf(kind: CallKind, answer: Answer): number | null {
  if (!isSuccess(answer)) return answer.status
  return kind !== 'advice' || answer.text.includes('"curve":') ? null : answer.status
}

/**
 * Lets all callers send requests until `over` settles, waits for the last responses, and returns the results. Requests are sent
 * when they are due, so a slow response delays no other request. Each caller sends at least one request: if `over` settles before
 * the first is due, the caller sends it at once.
 */
export async function workingDay(
  send: (call: Call) => Promise<Answer>,
  callers: readonly Caller[],
  over: Promise<unknown>,
): Promise<Record<CallKind, Tally>> {
  const tally = (): Tally => ({ times: [], refused: new Map() })
  const tallies: Record<CallKind, Tally> = { advice: tally(), save: tally(), update: tally() }
  const ending = new AbortController()
  const began = performance.now()
  const underWay = new Set<Promise<void>>()
  async function callOnce({ kind, next }: Caller): Promise<void> {
    const answer = await send(next())
    const { times, refused } = tallies[kind]
    const fault = faultOf(kind, answer)
    if (fault === null) times.push(answer.ms)
    else refused.set(fault, { text: reasonOf(answer), count: (refused.get(fault)?.count ?? 0) + 1 })
  }
  async function callOn(caller: Caller): Promise<void> {
    for (let due = began + caller.firstMs, isFirst = true; ; due += caller.everyMs, isFirst = false) {
      await delay(Math.max(0, due - performance.now()), undefined, { signal: ending.signal }).catch(() => {})
      if (ending.signal.aborted && !isFirst) return
      const call = callOnce(caller)
      underWay.add(call)
      void call.finally(() => underWay.delete(call))
    }
  }
  const all = callers.map(callOn)
  try {
    await over
  } finally {
    ending.abort()
    await Promise.all(all)
    await Promise.all(underWay)
  }
  return tallies
}

/** Returns the percentile of a share from 0 to 1 (nearest rank). @example percentile([3, 1, 2], 0.5) // 2 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Returns the number of failed calls. */
export function refusedOf({ refused }: Tally): number {
  return [...refused.values()].reduce((sum, { count }) => sum + count, 0)
}

/** Returns the failed calls as faults of the row. */
export function faultsOf(where: string, tallies: Readonly<Record<CallKind, Tally>>): string[] {
  return callKinds.flatMap((kind) => [
    ...(tallies[kind].times.length === 0 ? [`${where}, ${kind}: no call succeeded`] : []),
    ...Array.from(
      tallies[kind].refused,
      ([status, { count, text }]) => `${where}, ${kind}: ${count} with status ${status}, such as: ${text}`,
    ),
  ])
}
