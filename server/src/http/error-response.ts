import type { FastifyRequest } from 'fastify'
import { Problem, problem } from '#contract/errors.ts'
import { DatabaseUnavailable, LockTimeout, reasonOf } from '../database/session/index.ts'
import type { Parts } from '../endpoints/index.ts'
import { recordProblem } from '../watching/index.ts'

const retryAfterSeconds = 2

/**
 * The Problem to answer an error with. The details of an unexpected error are logged, never sent. `isRead`: the request
 * changes nothing, so it has no outcome that could be unknown.
 */
export function asProblem(error: unknown, isRead: boolean): Problem {
  if (error instanceof Problem) return error
  if (error instanceof LockTimeout) {
    return problem(
      'request-in-progress',
      'Another request is changing the same record. Send this request again.',
      {
        headers: { 'Retry-After': '1' },
        cause: error,
      },
    )
  }
  if (error instanceof DatabaseUnavailable) {
    return problem(
      'unavailable',
      error.outcomeUnknown && !isRead
        ? 'The connection was lost while the change was being committed: outcome unknown. Send the same request again; it takes effect once.'
        : `${reasonOf(error)} Nothing was changed. Send this request again in ${retryAfterSeconds} seconds.`,
      { headers: { 'Retry-After': String(retryAfterSeconds) }, cause: error },
    )
  }
  return problem(
    'internal',
    'Something went wrong on our side. It has been recorded under this request_id.',
    {
      cause: error,
    },
  )
}

/** Records a rejected request in the call log, the service log and the metrics. */
export function recordRefusal(
  request: FastifyRequest,
  why: Problem,
  parts: Pick<Parts, 'log' | 'metrics'>,
): void {
  request.record?.call?.refuse(why)
  recordProblem(request, why, parts)
}
