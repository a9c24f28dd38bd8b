import { ClientError, isProblemBody, NoAnswer, ServiceProblem, UnreadableAnswer } from './failures.ts'

/** A response with its complete body. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Attempt {
  readonly url: string
  readonly init: RequestInit
  /** Timeout for the whole response, including its body. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Replaces the platform's `fetch`, for tests and proxies. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The longest delay of a timer. A timer with a longer delay fires immediately. */
export const timerMsMax = 2 ** 31 - 1

/**
 * Sends one request once and waits for the whole response. This package and the dashboard call `fetch` only here.
 *
 * @throws NoAnswer if the connection failed, the request timed out, or the caller aborted it
 */
export async function receive({ url, init, timeoutMs, signal, fetch }: Attempt): Promise<Received> {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted === true) throw aborted(signal)
  signal?.addEventListener('abort', abort, { once: true })
  let isLate = false
  const timer = setTimeout(
    () => {
      isLate = true
      controller.abort()
    },
    Math.min(timeoutMs, timerMsMax),
  )
  try {
    // Called as a plain function: browsers reject a `fetch` that is called as a method of another object.
    const send = fetch ?? globalThis.fetch
    const response = await send(url, { ...init, signal: controller.signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    if (signal !== undefined && controller.signal.aborted && !isLate) throw aborted(signal)
    if (isLate)
      throw new NoAnswer('timeout', `The service did not respond completely within ${timeoutMs} ms.`, error)
    throw new NoAnswer('network', 'The service could not be reached, or the connection was lost.', error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** The failure of a call that its caller aborted. The cause is the reason of the signal. */
export function aborted(signal: AbortSignal): NoAnswer {
  return new NoAnswer('aborted', 'The caller aborted the call.', signal.reason)
}

/**
 * The text of a successful response.
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

/** Seconds of `Retry-After`, which is a number or a date. A date is compared with the response's Date header. */
function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - Date.parse(headers.get('Date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}

/**
 * A URL path with its parameters filled in. Query values that are absent, null or empty are omitted.
 *
 * @throws ClientError for a value that a URL cannot contain, or that would change the path
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

/**
 * Encodes a path segment. Rejects `.` and `..`, because encoding does not change them and they lead to another path.
 */
function pathPart(name: string, value: unknown): string {
  const text = textual(name, value)
  if (text === '' || text === '.' || text === '..') {
    throw new ClientError('invalid-argument', `${name} must be an identifier; it is "${text}".`)
  }
  try {
    return encodeURIComponent(text)
  } catch (error) {
    throw new ClientError('invalid-argument', `${name} contains an unpaired surrogate.`, error)
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
