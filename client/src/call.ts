import { ClientError, isProblemBody, NoAnswer, ServiceProblem, UnreadableAnswer } from './failures.ts'

/** An answer whose body has arrived. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Attempt {
  readonly url: string
  readonly init: RequestInit
  /** How long the whole answer may take, its body included. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Another fetch than the platform's, for tests and for proxies. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The longest time that a timer takes: one that is set to more fires at once. */
export const timerMsMax = 2 ** 31 - 1

/**
 * Sends one request once and waits for the whole answer. The only fetch of the package, and of the dashboard.
 *
 * @throws NoAnswer when nothing came back, in time, or before the caller gave up
 */
export async function receive({ url, init, timeoutMs, signal, fetch }: Attempt): Promise<Received> {
  const giveUp = new AbortController()
  const abort = () => giveUp.abort(signal?.reason)
  if (signal?.aborted === true) throw aborted(signal)
  signal?.addEventListener('abort', abort, { once: true })
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      giveUp.abort()
    },
    Math.min(timeoutMs, timerMsMax),
  )
  try {
    // Called without an object before it: browsers refuse a fetch that is the member of something else.
    const send = fetch ?? globalThis.fetch
    const response = await send(url, { ...init, signal: giveUp.signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    if (signal !== undefined && giveUp.signal.aborted && !isLate) throw aborted(signal)
    if (isLate) throw new NoAnswer('timeout', `There was no whole answer within ${timeoutMs} ms.`, error)
    throw new NoAnswer('network', 'The service could not be reached, or the connection was cut.', error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** A call that its caller aborted; the cause is the reason of the signal. */
export function aborted(signal: AbortSignal): NoAnswer {
  return new NoAnswer('aborted', 'The caller aborted the call.', signal.reason)
}

/**
 * The text of a good answer.
 *
 * @throws ServiceProblem, UnreadableAnswer
 */
export function goodText({ status, headers, text }: Received, kind: 'json' | 'csv'): string {
  const isGood = status >= 200 && status < 300
  if (isGood && kind === 'csv') return text
  const body = jsonOrUndefined(text)
  if (isGood && body !== undefined) return text
  const retryAfterSeconds = readRetryAfter(headers)
  if (!isGood && isProblemBody(body)) throw new ServiceProblem(body, status, retryAfterSeconds)
  throw new UnreadableAnswer(status, headers, retryAfterSeconds)
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds of `Retry-After`, which is a number or a date; the answer's own Date says what the date is from. */
function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get('Date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}

/**
 * An address with its parameters filled in; a query value that is absent, null or empty is left out.
 *
 * @throws ClientError for a value that an address cannot carry, or that would make it another address
 * @example addressOf('/api/lanes/{lane_ref}', { lane_ref: '7-1-1' }, {}) // '/api/lanes/7-1-1'
 */
export function addressOf(path: string, params: object | undefined, query: object | undefined): string {
  const values: Record<string, unknown> = { ...params }
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => pathPart(name, values[name]))
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [[name, textual(name, value)] as [string, string]],
  )
  return pairs.length === 0 ? address : `${address}?${new URLSearchParams(pairs)}`
}

/** `.` and `..` stay as they are when they are encoded, and lead to another address. */
function pathPart(name: string, value: unknown): string {
  const text = textual(name, value)
  if (text === '' || text === '.' || text === '..') {
    throw new ClientError('invalid-argument', `${name} must be an identifier; it is "${text}".`)
  }
  try {
    return encodeURIComponent(text)
  } catch (error) {
    throw new ClientError('invalid-argument', `${name} holds half of a Unicode character.`, error)
  }
}

function textual(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  const found =
    typeof value === 'number' || value === null || value === undefined
      ? value
      : `a value of type ${typeof value}`
  throw new ClientError('invalid-argument', `${name} must be a string or a finite number; it is ${found}.`)
}
