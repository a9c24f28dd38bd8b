import { type FieldError, type ProblemBody, type ProblemCode, problems } from '#contract/errors.ts'

/** Why a call failed. One union to switch on. */
export type FailureCode =
  | ServiceProblem['code']
  | UnreadableAnswer['code']
  | NoAnswer['code']
  | ClientError['code']

/** The base class of every failure of this package. `code` is stable; the message is a sentence for a log or a person. */
export abstract class LanewiseError extends Error {
  abstract readonly code: FailureCode
  /** The HTTP status; null where no answer arrived. */
  abstract readonly status: number | null
  /** The id of the answer in the service's log, for a question to its operator. */
  readonly requestId: string | null = null
  /** How long the service, or a proxy in front of it, asks the caller to wait. */
  readonly retryAfterSeconds: number | null = null
  /** True when the same call may be sent again later: it may succeed then, and repeating it does nothing twice. */
  retryable = false
  /** How many requests this call sent before it failed; 0 when none was sent. */
  attempts = 0

  /** The members that a log needs. An error's own members are not all enumerable, so `JSON.stringify` would drop some. */
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

/** A problem that the service answered with (RFC 9457). */
export class ServiceProblem extends LanewiseError {
  override readonly name = 'ServiceProblem'
  /** `unknown-problem`: the service is newer than this package and sent a code that is not in its list; see `problem.type`. */
  readonly code: ProblemCode | 'unknown-problem'
  override readonly status: number
  override readonly requestId: string
  override readonly retryAfterSeconds: number | null
  /** The fields that were wrong; empty where the problem is not about fields. */
  readonly errors: readonly FieldError[]
  /** What to do about it; null for a problem that is not in this package's list. */
  readonly remedy: string | null
  /** The whole body of the answer, with members that only this problem has, such as `server_time`. */
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
    this.retryable = isPassing(this)
  }
}

/** An answer that is not from the service: a page of a proxy, a redirect, or incomplete JSON. */
export class UnreadableAnswer extends LanewiseError {
  override readonly name = 'UnreadableAnswer'
  readonly code = 'not-json'
  override readonly status: number
  override readonly requestId: string | null
  override readonly retryAfterSeconds: number | null

  constructor(status: number, headers: Headers, retryAfterSeconds: number | null) {
    const type = headers.get('Content-Type')?.replace(/;.*$/s, '') ?? 'no content type'
    super(
      status >= 300 && status < 400
        ? `The address answered with a redirect (status ${status}), which the client does not follow with a token. Check the base URL.`
        : `The answer (status ${status}, ${type}) is not from Lanewise. Check the base URL and any proxy in between.`,
    )
    this.status = status
    this.requestId = headers.get('Request-Id')
    this.retryAfterSeconds = retryAfterSeconds
    this.retryable = isPassing(this)
  }
}

/** No answer arrived: the connection failed, the time ran out, or the caller aborted the call. The cause says more. */
export class NoAnswer extends LanewiseError {
  override readonly name = 'NoAnswer'
  readonly code: 'network' | 'timeout' | 'aborted'
  override readonly status = null

  constructor(code: NoAnswer['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = isPassing(this)
  }
}

/**
 * The call cannot be made as it is, and the client found out by itself.
 * - `invalid-argument`: a value that no request can carry, such as NaN, or an operation that does not exist.
 * - `invalid-configuration`: an option or a credential of the client is missing or wrong.
 * - `credential-unavailable`: the function that provides a credential failed; the cause is its error.
 * - `unexpected`: an error that this package did not foresee; the cause is that error.
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

/** Anything that was thrown, as a failure of this package. */
export function asFailure(thrown: unknown): LanewiseFailure {
  if (isLanewiseFailure(thrown)) return thrown
  return new ClientError('unexpected', thrown instanceof Error ? thrown.message : String(thrown), thrown)
}

/** The code is the last part of the type's URI; a name that is not in the list is not taken for one of ours. */
function codeOf(type: string): ProblemCode | 'unknown-problem' {
  const name = type.split(/[/#]/).at(-1) ?? ''
  return Object.hasOwn(problems, name) ? (name as ProblemCode) : 'unknown-problem'
}

const passingStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Worth another try with the same bytes: the network or the service was busy or down. A request that the service found
 * wrong would be wrong again.
 */
export function isPassing(failure: LanewiseFailure): boolean {
  if (failure.status !== null)
    return failure.code === 'request-in-progress' || passingStatus.has(failure.status)
  return failure.code === 'network' || failure.code === 'timeout'
}

/** Refused before anything was done: even a call that must not happen twice may be sent again. */
export function wasCertainlyNotDone(failure: LanewiseFailure): boolean {
  return failure.status === 429
}

/** True for the body of a problem, as opposed to some other JSON that came with a bad status. */
export function isProblemBody(body: unknown): body is ProblemBody {
  const { type, detail } = (body ?? {}) as { type?: unknown; detail?: unknown }
  return typeof type === 'string' && typeof detail === 'string'
}
