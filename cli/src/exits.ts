import { isLanewiseFailure, isTransient, type LanewiseFailure } from '#client/failures.ts'

/** What each exit code means: the help and the documentation list them, and a test compares. */
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

/** The `code` in the JSON error of a command that failed by itself, without a failure of a call. */
const codes: Readonly<Record<Exit, string>> = {
  0: 'done',
  1: 'refused',
  2: 'usage',
  3: 'credentials',
  4: 'not-found',
  5: 'unavailable',
  6: 'rows-refused',
  7: 'signature-wrong',
  130: 'aborted',
}

/** A command that did not do what it was asked; the message is for the person at the terminal. */
export class CommandFailed extends Error {
  readonly exit: Exit

  /** @param cause the failure of a call, whose code and request the JSON error then has */
  constructor(exit: Exit, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exit = exit
  }
}

/** The exit code for a failure of a call. @example exitOf(quotaExceeded) // 5 */
export function exitOf(failure: LanewiseFailure): Exit {
  if (failure.code === 'aborted') return 130
  if (failure.code === 'invalid-argument' || failure.code === 'invalid-configuration') return 2
  if (isTransient(failure)) return 5
  if (failure.status === 401 || failure.status === 403) return 3
  return failure.status === 404 ? 4 : 1
}

/** A failure in the words of the service, and what to do about it. */
function messageOf(failure: LanewiseFailure, url: string): string {
  const { code } = failure
  if (code === 'aborted') return stopped
  const ofAddress = addressMessage(failure, url)
  if (ofAddress !== null) return ofAddress
  if (code === 'unknown-field') {
    return `${failure.message}\nCorrect the name, or use --lenient to send it all the same: the service then ignores it.`
  }
  const details = 'errors' in failure ? failure.errors.slice(1).map(({ detail }) => detail) : []
  const remedy = 'remedy' in failure && code !== 'validation-failed' ? failure.remedy : null
  return [failure.message, ...details, ...(remedy === null ? [] : [remedy])].join('\n')
}

/** What else to know of a failure, for a question about it. @example '(unavailable, tried 5 times, request 4f2a)' */
function traceOf({ code, attempts, requestId }: LanewiseFailure): string {
  const tried = attempts > 1 ? `, tried ${attempts} times` : ''
  return `(${code}${tried}${requestId === null ? '' : `, request ${requestId}`})`
}

/** One line for a failure that a wrong address may cause; null for every other. */
function addressMessage(failure: LanewiseFailure, url: string): string | null {
  const check = 'Check --url, LANEWISE_URL or the address of your sign-in.'
  if (failure.code === 'network') return `${unreached(url, networkCode(failure.cause))} ${check}`
  if (failure.code === 'not-json' && failure.status < 500) {
    return `${url} does not answer as Lanewise does (status ${failure.status}): it is something else, or a proxy in between answers. ${check}`
  }
  const { pathname, origin } = new URL(url)
  if (failure.code !== 'route-not-found' || pathname === '/') return null
  return `The service has no addresses below ${url}. Leave out the path ${pathname}: --url ${origin}`
}

function unreached(url: string, code: string): string {
  const { host, protocol } = new URL(url)
  if (code === 'ECONNREFUSED') return `Nothing listens at ${host}.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The name ${host} is not known.`
  if (protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(code)) {
    return `${host} does not speak HTTPS: is it http://${host}?`
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_/.test(code))
    return `The certificate of ${host} is not trusted (${code}).`
  if (protocol === 'http:' && /^(ECONNRESET|UND_ERR_SOCKET)$/.test(code)) {
    return `${host} cut the connection: is it down, or is it https://${host}?`
  }
  return `${url} cannot be reached${code === '' ? '' : ` (${code})`}.`
}

/** The code of the system or of the TLS library, which a failed fetch holds in its cause. */
function networkCode(cause: unknown): string {
  for (let at = cause; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return ''
}

/** What a command that failed exits with, what people read, and what is written as JSON. */
export interface Ended {
  readonly exit: Exit
  readonly shown: string
  readonly error: Readonly<Record<string, unknown>>
}

const stopped = 'Stopped.'

/** How a command ended with whatever was thrown. @param url gives the address of the service, for failures of calls */
export function ended(thrown: unknown, url: () => string): Ended {
  if (isLanewiseFailure(thrown)) {
    const [exit, message] = [exitOf(thrown), messageOf(thrown, url())]
    const shown =
      thrown.code === 'aborted'
        ? message
        : `${message}${message.includes('\n') ? '\n' : ' '}${traceOf(thrown)}`
    return { exit, shown, error: { ...thrown.toJSON(), message, exit } }
  }
  const { exit, message } = endedByItself(thrown)
  const cause = thrown instanceof CommandFailed ? thrown.cause : undefined
  const own = { code: codes[exit], status: null, requestId: null, retryable: exit === 5, attempts: 0 }
  return {
    exit,
    shown: message,
    error: { ...(isLanewiseFailure(cause) ? cause.toJSON() : own), message, exit },
  }
}

function endedByItself(thrown: unknown): { exit: Exit; message: string } {
  if (thrown instanceof CommandFailed) return { exit: thrown.exit, message: thrown.message }
  if (thrown instanceof Error && thrown.name === 'AbortError') return { exit: 130, message: stopped }
  return {
    exit: 1,
    message: fileTrouble(thrown) ?? `The command failed by a fault of its own: ${String(thrown)}`,
  }
}

/** What is wrong with a file, in a sentence; null for anything that is not an error of the file system. */
export function fileTrouble(error: unknown, name?: string): string | null {
  const { code, path = 'The file', syscall } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' || typeof syscall !== 'string') return null
  return `${name ?? path}: ${fileReasons[code] ?? `the system reports ${code}`}.`
}

const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder, not a file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'you have no permission to read or write it',
  EPERM: 'you have no permission to read or write it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
}
