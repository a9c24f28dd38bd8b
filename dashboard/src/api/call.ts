import { addressOf, goodText, receive } from '#client/call.ts'
import { isLanewiseFailure, type LanewiseFailure } from '#client/failures.ts'
import { operations } from '#client/operations.ts'
import type {
  Answer as AnswerOfClient,
  Body as BodyOfClient,
  OperationName as NameOfClient,
  Query as QueryOfClient,
  Sent as SentByClient,
} from '#client/sent.ts'
import type { FieldError, ProblemCode } from '#contract/errors.ts'

export type OperationName = NameOfClient
export type Answer<Name extends OperationName> = AnswerOfClient<Name>
export type Query<Name extends OperationName> = QueryOfClient<Name>
export type Body<Name extends OperationName> = BodyOfClient<Name>
export type Sent<Name extends OperationName> = SentByClient<Name> & { readonly signal?: AbortSignal }

/** Why there is no answer: a problem the service named, that nothing came back at all, or what the browser made of it. */
export type FailureCode = ProblemCode | 'offline' | 'timed-out' | 'unreadable-answer' | 'session-not-kept'

/** A call that failed. `message` is a sentence for the person at the screen. */
export class CallFailed extends Error {
  readonly code: FailureCode
  readonly status: number | null
  readonly errors: readonly FieldError[]
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(
    code: FailureCode,
    message: string,
    more: Partial<Pick<CallFailed, 'status' | 'errors' | 'requestId' | 'retryAfterSeconds'>> = {},
  ) {
    super(message)
    this.name = 'CallFailed'
    this.code = code
    this.status = more.status ?? null
    this.errors = more.errors ?? []
    this.requestId = more.requestId ?? null
    this.retryAfterSeconds = more.retryAfterSeconds ?? null
  }

  /**
   * What was wrong with one field of the body (`/lanes/0/origin`) or one parameter; undefined when nothing was. It stands
   * below a label, so it says "Must be ..." and not the name that the field has in the interface.
   */
  fieldError(where: string): string | undefined {
    const wrong = this.errors.find(({ pointer, parameter }) => pointer === where || parameter === where)
    const name = where.replace(/^\//, '').replaceAll('/', '.')
    return wrong?.detail.startsWith(`${name} must `)
      ? `M${wrong.detail.slice(name.length + 2)}`
      : wrong?.detail
  }

  /** Worth another try without a change: the service or the way to it was at fault, or asked for patience. */
  get isPassing(): boolean {
    return (
      this.code === 'offline' ||
      this.code === 'timed-out' ||
      this.code === 'unavailable' ||
      this.code === 'quota-exceeded' ||
      this.code === 'request-in-progress'
    )
  }
}

const patienceMs = 20_000
const uploadPatienceMs = 300_000

/** The session ended while the page was open: whoever draws the page asks for the password again. */
let onSessionEnded: () => void = () => {}
export function whenSessionEnds(told: () => void): void {
  onSessionEnded = told
}

const signInOperations: ReadonlySet<string> = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'change-password',
])

/**
 * Calls one operation of the service, by the name it has in the contract, through the client's own way of sending. What it
 * adds is the session: the cookie, the header that says so, and the token for the pages of the integration interface.
 *
 * @throws CallFailed whatever goes wrong; an aborted call throws the signal's own AbortError.
 * @example const { lanes } = await call('list-lanes', { query: { outcome: 'pending' } })
 */
export async function call<Name extends OperationName>(
  name: Name,
  ...[sent]: Record<never, never> extends Sent<Name> ? [sent?: Sent<Name>] : [sent: Sent<Name>]
): Promise<Answer<Name>> {
  const { method, path } = operationCalled(name)
  const { params, query, body, signal } = (sent ?? {}) as {
    params?: Record<string, unknown>
    query?: Record<string, unknown>
    body?: unknown
    signal?: AbortSignal
  }
  // The integration interface reads no cookie, so its pages show a token that lives for minutes.
  const bearer = path.startsWith('/api/integrations/') ? await shortToken() : null
  const init: RequestInit = {
    method,
    headers: {
      Accept: 'application/json',
      'X-Lanewise-Request': '1',
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': body instanceof Blob ? 'text/csv' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
  }
  try {
    const timeoutMs = body instanceof Blob ? uploadPatienceMs : patienceMs
    return (await answerTo(addressOf(path, params, query), init, timeoutMs, signal)) as Answer<Name>
  } catch (failed) {
    // A value that no address can carry, such as a lane_ref of ".." in a link.
    if (isLanewiseFailure(failed)) throw toldToPeople(failed)
    if (!(failed instanceof CallFailed) || failed.status !== 401 || signInOperations.has(name)) throw failed
    held = null
    onSessionEnded()
    // The service tells programs which header to send; a person signs in and asks once more.
    throw new CallFailed(failed.code, 'Your session had ended. Sign in again, then try once more.', {
      status: failed.status,
      requestId: failed.requestId,
    })
  }
}

/** The address of an operation that a link leads to, such as a file to save. @example addressOfCall('export-shipments', {}) // '/api/shipments/export' */
export function addressOfCall<Name extends OperationName>(name: Name, query: Query<Name>): string {
  return addressOf(operationCalled(name).path, undefined, query)
}

/** A file of data that this application was built with, by the address the build gave it. */
export function builtFile(address: string): Promise<unknown> {
  return answerTo(address, {}, patienceMs)
}

/** Resolves when the service answers at all, for a page that could not be loaded. @throws CallFailed where it does not */
export async function reachService(): Promise<void> {
  try {
    await answerTo('/healthz', {}, patienceMs)
  } catch (failure) {
    if (!(failure instanceof CallFailed) || failure.code !== 'offline') throw failure
    throw new CallFailed(
      'offline',
      'The service cannot be reached, so this page could not be loaded. Check your connection.',
    )
  }
}

function operationCalled(name: string) {
  const operation = operations[name]
  if (operation === undefined) throw new Error(`There is no operation ${name}.`)
  return operation
}

async function answerTo(
  url: string,
  init: RequestInit,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  try {
    const received = await receive({
      url,
      init: { ...init, credentials: 'same-origin', redirect: 'error' },
      timeoutMs,
      signal,
    })
    return JSON.parse(goodText(received, 'json'))
  } catch (failure) {
    throw isLanewiseFailure(failure) ? toldToPeople(failure) : failure
  }
}

/** A failure of the client as a sentence for the person at the screen. */
function toldToPeople(failure: LanewiseFailure): unknown {
  if (failure.status === null) {
    if (failure.code === 'aborted') return failure.cause
    if (failure.code === 'invalid-argument') return new CallFailed('validation-failed', failure.message)
    return failure.code === 'timeout'
      ? new CallFailed('timed-out', 'The service has not answered in time. It may be busy: try again.')
      : new CallFailed(
          'offline',
          'The service cannot be reached. Check your connection; what you have entered is still here.',
        )
  }
  const { status, requestId, retryAfterSeconds } = failure
  if (failure.code === 'not-json') {
    if (status < 300) {
      const message = 'The answer of the service could not be read. Try again.'
      return new CallFailed('unreadable-answer', message, { status })
    }
    // A proxy in between answered, not the service.
    if (status === 429) {
      const message = 'The way to the service takes no more requests right now (status 429).'
      return new CallFailed('quota-exceeded', message, { status, retryAfterSeconds })
    }
    const code = status >= 500 ? 'unavailable' : 'unreadable-answer'
    const message = `The service cannot be reached (status ${status}). Try again shortly.`
    return new CallFailed(code, message, { status, retryAfterSeconds })
  }
  const code = failure.code === 'unknown-problem' ? 'unreadable-answer' : failure.code
  return new CallFailed(code, failure.message, {
    status,
    errors: failure.errors,
    requestId,
    retryAfterSeconds,
  })
}

let held: { readonly token: string; readonly until: number } | null = null
const renewedBeforeEndMs = 30_000

/** A dashboard token of this session, for calls that read no cookie. */
async function shortToken(): Promise<string> {
  if (held === null || held.until - renewedBeforeEndMs < Date.now()) {
    const { token, expires_at } = await call('session-token', { body: {} })
    held = { token, until: Date.parse(expires_at) }
  }
  return held.token
}

/** Forgets the token of a session that was left. */
export function forgetSession(): void {
  held = null
}
