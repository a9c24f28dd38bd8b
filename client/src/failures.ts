import { type FieldError, type ProblemBody, type ProblemCode, problems } from '#contract/errors.ts'

/**
 * Why a call has no answer: a problem that the service named, an answer that is none of the service's, or no answer at
 * all. One union to switch on.
 */
export type FailureCode = ServiceProblem['code'] | UnreadableAnswer['code'] | NoAnswer['code']

/** What every failure of this package is. `code` says what happened; the message is a sentence for a log or a person. */
export abstract class LanewiseError extends Error {
  abstract readonly code: FailureCode
  /** The HTTP status, where there was an answer. */
  abstract readonly status: number | null
  /** What the answer is called in the service's log, for a question about it. */
  readonly requestId: string | null = null
  /** How long the service, or what stands before it, asks to wait. */
  readonly retryAfterSeconds: number | null = null
  /** How often the call was sent before this failure was told. */
  attempts = 0
}

/** A problem that the service answered with (RFC 9457). */
export class ServiceProblem extends LanewiseError {
  override readonly name = 'ServiceProblem'
  /** `unknown-problem`: a service newer than this package named one that is not in its list; see `problem.type`. */
  readonly code: ProblemCode | 'unknown-problem'
  override readonly status: number
  override readonly requestId: string
  override readonly retryAfterSeconds: number | null
  /** The fields that were wrong, where it was a matter of fields. */
  readonly errors: readonly FieldError[]
  /** What to do about it; null for a problem that is not in this package's list. */
  readonly remedy: string | null
  /** The whole body of the answer, with members of this problem alone such as `server_time`. */
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
  }
}

/** An answer that is not the service's: a page of a proxy, a redirect, or JSON that was cut off. */
export class UnreadableAnswer extends LanewiseError {
  override readonly name = 'UnreadableAnswer'
  readonly code = 'not-json'
  override readonly status: number
  override readonly retryAfterSeconds: number | null

  constructor(status: number, retryAfterSeconds: number | null) {
    super(
      status >= 300 && status < 400
        ? `The address answered with a redirect (status ${status}). The token is not sent on: check the base URL.`
        : `The answer is not the service's: it has status ${status} and is not the JSON it should be.`,
    )
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Nothing came back: the way was cut, the time ran out, or the caller gave the call up. The cause says more. */
export class NoAnswer extends LanewiseError {
  override readonly name = 'NoAnswer'
  readonly code: 'network' | 'timeout' | 'aborted'
  override readonly status = null

  constructor(code: NoAnswer['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Every failure of a call: switch on its `code`. */
export type LanewiseFailure = ServiceProblem | UnreadableAnswer | NoAnswer

/** @example try { await lanewise.markup(offer) } catch (error) { if (isLanewiseFailure(error)) switch (error.code) {} } */
export function isLanewiseFailure(error: unknown): error is LanewiseFailure {
  return error instanceof LanewiseError
}

/** The code is the last part of the type's URI; a name that is not in the list is not taken for one of ours. */
function codeOf(type: string): ProblemCode | 'unknown-problem' {
  const name = type.split(/[/#]/).at(-1) ?? ''
  return Object.hasOwn(problems, name) ? (name as ProblemCode) : 'unknown-problem'
}

const passingStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/**
 * Worth another try with the same bytes: the way or the service was busy or away. Whatever the service found wrong with
 * the request itself would be wrong again.
 */
export function isPassing(failure: LanewiseFailure): boolean {
  if (failure.status === null) return failure.code !== 'aborted'
  return failure.code === 'request-in-progress' || passingStatus.has(failure.status)
}

/** Refused before anything was done, so that even what must not happen twice may be sent again. */
export function wasCertainlyNotDone(failure: LanewiseFailure): boolean {
  return failure.status === 429
}

/** True for the body of a problem, as opposed to some other JSON that came with a bad status. */
export function isProblemBody(body: unknown): body is ProblemBody {
  const { type, detail } = (body ?? {}) as { type?: unknown; detail?: unknown }
  return typeof type === 'string' && typeof detail === 'string'
}
