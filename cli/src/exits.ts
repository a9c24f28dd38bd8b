import { isLanewiseFailure, isPassing, type LanewiseFailure } from '#client/failures.ts'

/** What each exit code means: said in the help and in the documentation, and held by a test. */
export const exits = {
  0: 'done',
  1: 'refused: a value, or the state of things, does not allow it',
  2: 'the command line is not right',
  3: 'credentials are missing, have ended, or do not allow it',
  4: 'there is no such lane, or no such thing',
  5: 'no answer, or too many requests: the same command may work later',
  6: 'done, but some rows of the file were refused',
  7: 'the signature is not right',
  130: 'stopped by Ctrl-C',
} as const

export type Exit = keyof typeof exits

/** A command that did not do what it was asked; the message is for the person at the terminal. */
export class CommandFailed extends Error {
  readonly exit: Exit

  constructor(exit: Exit, message: string) {
    super(message)
    this.exit = exit
  }
}

/** What a failure of a call means for who typed the command. @example exitOf(quotaExceeded) // 5 */
export function exitOf(failure: LanewiseFailure): Exit {
  if (failure.code === 'aborted') return 130
  if (isPassing(failure)) return 5
  if (failure.status === 401 || failure.status === 403) return 3
  return failure.status === 404 ? 4 : 1
}

/** A failure in the words of the service, and what to do about it. */
export function toldFailure(failure: LanewiseFailure): string {
  const { code, requestId, attempts } = failure
  const lines = [failure.message]
  if ('errors' in failure) lines.push(...failure.errors.slice(1).map(({ detail }) => detail))
  if ('remedy' in failure && failure.remedy !== null && code !== 'validation-failed')
    lines.push(failure.remedy)
  const tried = attempts > 1 ? `, tried ${attempts} times` : ''
  lines.push(`(${code}${tried}${requestId === null ? '' : `, request ${requestId}`})`)
  return lines.join('\n')
}

/** The exit of whatever was thrown, and what to say about it. */
export function ended(error: unknown): { exit: Exit; message: string } {
  if (error instanceof CommandFailed) return { exit: error.exit, message: error.message }
  if (isLanewiseFailure(error)) return { exit: exitOf(error), message: toldFailure(error) }
  return { exit: 1, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
