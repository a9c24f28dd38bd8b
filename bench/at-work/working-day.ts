import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** One call as it goes over HTTP. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface Answer {
  /** 0: no answer came. */
  readonly status: number
  readonly text: string
  readonly ms: number
}

/** Whoever calls at their own times, whatever became of the calls before. */
export interface Caller {
  readonly kind: CallKind
  readonly everyMs: number
  /** When the first call is due, from the beginning. */
  readonly firstMs: number
  readonly next: () => Call
}

export const callKinds = ['advice', 'save', 'update'] as const
export type CallKind = (typeof callKinds)[number]

/** What came of the calls of one kind. Milliseconds from the sending to the whole answer, of those that were taken. */
export interface Tally {
  readonly times: number[]
  /** How often each status came that says a call was not taken, and the last reason that was given with it. */
  readonly refused: Map<number, { count: number; text: string }>
}

/** Longer than any timeout of the service: what has not come by then never comes. */
const answerMsMax = 60_000

/** The connections of all callers: each keeps its own open, and a call that finds all of them in use opens one more. */
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
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${answerMsMax / 1000} s`)))
      sent.on('error', (error) => end(0, error.message))
      sent.end(body)
      return promise
    },
    close: () => agent.destroy(),
  }
}

/** Whether a call was answered with a status of success. */
export function isTaken({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status <= 299
}

const reasonLengthMax = 200

/** What an answer says of why nothing came of a call. */
export function reasonOf({ text }: Pick<Answer, 'text'>): string {
  return (/"detail":"([^"]*)"/.exec(text)?.[1] ?? text).slice(0, reasonLengthMax)
}

/** Why an answer of this kind is not what was asked for; null where it is. */
function faultOf(kind: CallKind, answer: Answer): number | null {
  if (!isTaken(answer)) return answer.status
  return kind !== 'advice' || answer.text.includes('"curve":') ? null : answer.status
}

/**
 * Lets all callers call until `over` settles, waits for the last answers, and counts. Calls are sent when they are due, so
 * a slow answer holds nobody back: neither its own caller nor the others.
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
    for (let due = began + caller.firstMs; ; due += caller.everyMs) {
      await delay(Math.max(0, due - performance.now()), undefined, { signal: ending.signal }).catch(() => {})
      if (ending.signal.aborted) return
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

/** The least value that so large a share of the values does not exceed. @example percentile([3, 1, 2], 0.5) // 2 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Calls of a kind that were not taken. */
export function refusedOf({ refused }: Tally): number {
  return [...refused.values()].reduce((sum, { count }) => sum + count, 0)
}

/** What was refused, as faults of the row. */
export function faultsOf(where: string, tallies: Readonly<Record<CallKind, Tally>>): string[] {
  return callKinds.flatMap((kind) => [
    ...(tallies[kind].times.length === 0 ? [`${where}, ${kind}: none was taken`] : []),
    ...Array.from(
      tallies[kind].refused,
      ([status, { count, text }]) => `${where}, ${kind}: ${count} of status ${status}, such as: ${text}`,
    ),
  ])
}
