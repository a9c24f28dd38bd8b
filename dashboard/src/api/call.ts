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

/** Why a call failed: a problem code of the service, no response at all, or a response the browser could not use. */
export type FailureCode = ProblemCode | 'offline' | 'timed-out' | 'unreadable-answer' | 'session-not-kept'

/** A failed call. `message` is written for the user of the dashboard. */
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
   * The error of one body field (`/lanes/0/origin`) or one parameter; undefined when the field is valid. The message
   * appears below the field's label, so it begins with "Must be ..." instead of the field's API name.
   */
  fieldError(where: string): string | undefined {
    const wrong = this.errors.find(({ pointer, parameter }) => pointer === where || parameter === where)
    const name = where.replace(/^\//, '').replaceAll('/', '.')
    return wrong?.detail.startsWith(`${name} must `)
      ? `M${wrong.detail.slice(name.length + 2)}`
      : wrong?.detail
  }

  /** True when the same call can succeed later: the service or the network failed, or the service asked to wait. */
  get isTemporary(): boolean {
    return (
      this.code === 'offline' ||
      this.code === 'timed-out' ||
      this.code === 'unavailable' ||
      this.code === 'quota-exceeded' ||
      this.code === 'request-in-progress'
    )
  }
}

const timeoutMs = 20_000
const uploadTimeoutMs = 300_000

/** Called when the session ends while a page is open. The shell then asks for the password. */
let onSessionEnded: () => void = () => {}
export function whenSessionEnds(callback: () => void): void {
  onSessionEnded = callback
}

const signInOperations: ReadonlySet<string> = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'read-invitation',
  'change-password',
])

/**
 * Calls one operation of the contract through the client, with the session: the cookie, the header that protects against
 * CSRF, and a short-lived token for the integration API.
 *
 * @throws CallFailed for every failure except an aborted call, which throws the signal's AbortError
 * @example const { lanes } = await call('list-quotes', { query: { outcome: 'pending' } })
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
  // The integration API reads no cookie, so these calls send a token that expires after minutes.
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
    const limitMs = body instanceof Blob ? uploadTimeoutMs : timeoutMs
    return (await answerTo(addressOf(path, params, query), init, limitMs, signal)) as Answer<Name>
  } catch (failed) {
    // The client rejects values that a URL path cannot contain, for example a lane_ref of ".." in a link.
    if (isLanewiseFailure(failed)) throw asCallFailed(failed)
    if (!(failed instanceof CallFailed) || failed.status !== 401 || signInOperations.has(name)) throw failed
    cachedToken = null
    onSessionEnded()
    // The service's message describes the missing header, which does not help a user.
    throw new CallFailed(failed.code, 'Your session has ended. Sign in again, then retry.', {
      status: failed.status,
      requestId: failed.requestId,
    })
  }
}

/**
 * The URL of an operation for use in a link, such as a file download.
 *
 * @example addressOfCall('export-shipments', {}) // '/api/shipments/export'
 */
export function addressOfCall<Name extends OperationName>(
  name: Name,
  query: Query<Name>,
  params?: Readonly<Record<string, number>>,
): string {
  return addressOf(operationCalled(name).path, params, query)
}

/** Loads a JSON file that is part of the dashboard's build. */
export function builtFile(address: string): Promise<unknown> {
  return answerTo(address, {}, timeoutMs)
}

/** Checks that the service responds, after a page could not be loaded. @throws CallFailed when it does not respond */
export async function reachService(): Promise<void> {
  try {
    await answerTo('/healthz', {}, timeoutMs)
  } catch (failure) {
    if (!(failure instanceof CallFailed) || failure.code !== 'offline') throw failure
    throw new CallFailed(
      'offline',
      'This page could not be loaded because the service cannot be reached. Check your connection.',
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
    throw isLanewiseFailure(failure) ? asCallFailed(failure) : failure
  }
}

/** The client's failure as a CallFailed with a message for the user. An aborted call returns the AbortError. */
function asCallFailed(failure: LanewiseFailure): unknown {
  if (failure.status === null) {
    if (failure.code === 'aborted') return failure.cause
    if (failure.code === 'invalid-argument') return new CallFailed('validation-failed', failure.message)
    return failure.code === 'timeout'
      ? new CallFailed('timed-out', 'The service did not respond in time. It may be busy. Try again.')
      : new CallFailed(
          'offline',
          'The service cannot be reached. Check your connection. Everything you entered is still here.',
        )
  }
  const { status, requestId, retryAfterSeconds } = failure
  if (failure.code === 'not-json') {
    if (status < 300) {
      const message = 'The response of the service could not be read. Try again.'
      return new CallFailed('unreadable-answer', message, { status })
    }
    // The response came from a proxy, not from the service.
    if (status === 429) {
      const message = 'A proxy in front of the service is limiting requests (status 429).'
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

let cachedToken: { readonly token: string; readonly until: number } | null = null
const renewBeforeExpiryMs = 30_000

/** A short-lived token of this session, for operations that read no cookie. */
async function shortToken(): Promise<string> {
  if (cachedToken === null || cachedToken.until - renewBeforeExpiryMs < Date.now()) {
    const { token, expires_at } = await call('session-token', { body: {} })
    cachedToken = { token, until: Date.parse(expires_at) }
  }
  return cachedToken.token
}

/** Discards the short-lived token of the previous session. */
export function forgetSession(): void {
  cachedToken = null
}
