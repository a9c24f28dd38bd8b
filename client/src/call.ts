import { isProblemBody, NoAnswer, ServiceProblem, UnreadableAnswer } from './failures.ts'

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

/** A timer set to more goes off at once. */
const timerMsMax = 2 ** 31 - 1

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

/** A call that its caller gave up; the cause is the reason that the signal was given. */
export function aborted(signal: AbortSignal): NoAnswer {
  return new NoAnswer('aborted', 'The call was given up by its caller.', signal.reason)
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
  throw new UnreadableAnswer(status, retryAfterSeconds)
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

/** An address with its parameters filled in; what is absent, null or empty is left out. @example addressOf('/api/lanes/{lane_ref}', { lane_ref: '7-1-1' }, {}) // '/api/lanes/7-1-1' */
export function addressOf(path: string, params: object | undefined, query: object | undefined): string {
  const values: Record<string, unknown> = { ...params }
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(values[name])),
  )
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  return pairs.length === 0 ? address : `${address}?${new URLSearchParams(pairs)}`
}
