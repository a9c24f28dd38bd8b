import { type FieldError, type ProblemBody, type ProblemCode, problems } from '#contract/errors.ts'

/** Why a call failed: the union of all failure codes. */
export type FailureCode =
  | ServiceProblem['code']
  | UnreadableAnswer['code']
  | NoAnswer['code']
  | ClientError['code']

/** The base class of every failure of this package. `code` is stable; the message is a sentence for a log or a person. */
export abstract class LanewiseError extends Error {
  abstract readonly code: FailureCode
  /** The HTTP status; null if no response arrived. */
  abstract readonly status: number | null
  /** The id of the request in the service's log, for support requests. */
  readonly requestId: string | null = null
  /** The wait requested by the service, or by a proxy in front of it. */
  readonly retryAfterSeconds: number | null = null
  /** True if the same call can be sent again later: it may succeed, and it has no effect twice. */
  retryable = false
  /** The number of requests that this call sent before it failed. */
  attempts = 0

  /** All members for a log. `JSON.stringify` would omit the members of an Error that are not enumerable. */
  toJSON(): Record<string, unknown> {
    const causes: string[] = []
    let { cause } = this
    for (; cause instanceof Error; cause = cause.cause) causes.push(`${cause.name}: ${cause.message}`)
    return {
      ...Object.fromEntries(Object.entries(this)),
      code: this.code,
      message: this.message,
      cause: causes.length > 0 ? causes.join('; ') : cause,
    }
  }
}

/** A problem response of the service (RFC 9457). */
export class ServiceProblem extends LanewiseError {
  override readonly name = 'ServiceProblem'
  /**
   * `unknown-problem` if the service is newer than this package and sent a code that it does not know; see
   * `problem.type`.
   */
  readonly code: ProblemCode | 'unknown-problem'
  override readonly status: number
  override readonly requestId: string
  override readonly retryAfterSeconds: number | null
  /** The invalid fields; empty if the problem is not about fields. */
  readonly errors: readonly FieldError[]
  /** The remedy; null for a problem that this package does not know. */
  readonly remedy: string | null
  /** The complete body of the response, with members that only this problem has, such as `server_time`. */
  readonly problem: ProblemBody

  constructor(problem: ProblemBody, status: number, retryAfterSeconds: number | null) {
    super(problem.detail)
    this.problem = problem
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    this.code = codeOf(problem.type)
    this.requestId = problem.request_id
    this.errors = problem.errors ?? []
    this.remedy = this.code === 'unknown-problem' ? null : problems[this.code].remedy
    this.retryable = isTransient(this)
  }
}

/** A response that is not from the service: a proxy's page, a redirect, or incomplete JSON. */
export class UnreadableAnswer extends LanewiseError {
  override readonly name = 'UnreadableAnswer'
  readonly code = 'not-json'
  override readonly status: number
  override readonly requestId: string | null
  override readonly retryAfterSeconds: number | null

  constructor(status: number, headers: Headers, retryAfterSeconds: number | null) {
    const type = headers.get('Content-Type')?.split(';', 1)[0] ?? 'no content type'
    super(
      status >= 300 && status < 400
        ? `The address returned a redirect (status ${status}), which the client does not follow with a token. Check the base URL.`
        : `The response (status ${status}, ${type}) is not from Lanewise. Check the base URL and any proxy in between.`,
    )
    this.status = status
    this.requestId = headers.get('Request-Id')
    this.retryAfterSeconds = retryAfterSeconds
    this.retryable = isTransient(this)
  }
}

/** No response arrived: the connection failed, the call timed out, or the caller aborted it. See `cause`. */
export class NoAnswer extends LanewiseError {
  override readonly name = 'NoAnswer'
  readonly code: 'network' | 'timeout' | 'aborted'
  override readonly status = null

  constructor(code: NoAnswer['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = isTransient(this)
  }
}

/**
 * A failure that the client detected before it sent the request.
 * - `invalid-argument`: a value that a request cannot contain, such as NaN, or an operation that does not exist.
 * - `invalid-configuration`: an option or a credential of the client is missing or wrong.
 * - `credential-unavailable`: the function that provides a credential failed; the cause is its error.
 * - `unexpected`: any other error; the cause is that error.
 */
export class ClientError extends LanewiseError {
  override readonly name = 'ClientError'
  readonly code: 'invalid-argument' | 'invalid-configuration' | 'credential-unavailable' | 'unexpected'
  override readonly status = null

  constructor(code: ClientError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Every failure of a call: switch on its `code`. */
export type LanewiseFailure = ServiceProblem | UnreadableAnswer | NoAnswer | ClientError

/** @example try { await lanewise.markup(offer) } catch (error) { if (isLanewiseFailure(error)) switch (error.code) {} } */
export function isLanewiseFailure(error: unknown): error is LanewiseFailure {
  return error instanceof LanewiseError
}

/** Converts any thrown value to a failure of this package. */
export function asFailure(thrown: unknown): LanewiseFailure {
  if (isLanewiseFailure(thrown)) return thrown
  return new ClientError('unexpected', thrown instanceof Error ? thrown.message : String(thrown), thrown)
}

/** The problem code: the last part of the type's URI, if this package knows it. */
function codeOf(type: string): ProblemCode | 'unknown-problem' {
  const name = type.split(/[/#]/).at(-1) ?? ''
  return Object.hasOwn(problems, name) ? (name as ProblemCode) : 'unknown-problem'
}

const transientStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Whether a retry with the same bytes may succeed, because the network or the service was busy or down. An invalid
 * request would fail again.
 */
export function isTransient(failure: LanewiseFailure): boolean {
  if (failure.status !== null)
    return failure.code === 'request-in-progress' || transientStatus.has(failure.status)
  return failure.code === 'network' || failure.code === 'timeout'
}

/**
 * Whether the service rejected the request before it did anything, so that even a non-idempotent call can be
 * repeated.
 */
export function wasRejectedUnprocessed(failure: LanewiseFailure): boolean {
  return failure.status === 429
}

/** True for the body of a problem, as opposed to other JSON with an error status. */
export function isProblemBody(body: unknown): body is ProblemBody {
  const { type, detail } = (body ?? {}) as { type?: unknown; detail?: unknown }
  return typeof type === 'string' && typeof detail === 'string'
}
