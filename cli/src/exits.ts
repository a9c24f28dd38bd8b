import { isLanewiseFailure, isTransient, type LanewiseFailure } from '#client/failures.ts'

/** The meaning of each exit code. A test compares the help and the documentation with this table. */
export const exits = {
  0: 'done',
  1: 'rejected: invalid because of a value or the current state',
  2: 'invalid command line',
  3: 'credentials are missing, expired or insufficient',
  4: 'quote or other record not found',
  5: 'no response, or too many requests: the same command may succeed later',
  6: 'done, but some rows of the file had errors',
  7: 'the signature is not correct',
  130: 'stopped by Ctrl-C',
} as const

export type Exit = keyof typeof exits

/** The `code` in the JSON error of a command that failed without a failed API call. */
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

/** An error that ends a command. The message is shown to the person at the terminal. */
export class CommandFailed extends Error {
  readonly exit: Exit

  /** @param cause the failure of an API call, whose code and request id are included in the JSON error */
  constructor(exit: Exit, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exit = exit
  }
}

/** The exit code for a failed API call. @example exitOf(quotaExceeded) // 5 */
export function exitOf(failure: LanewiseFailure): Exit {
  if (failure.code === 'aborted') return 130
  if (failure.code === 'invalid-argument' || failure.code === 'invalid-configuration') return 2
  if (isTransient(failure)) return 5
  if (failure.status === 401 || failure.status === 403) return 3
  return failure.status === 404 ? 4 : 1
}

/** The message of a failed API call, with its remedy. */
function messageOf(failure: LanewiseFailure, url: string): string {
  const { code } = failure
  if (code === 'aborted') return stopped
  const ofAddress = addressMessage(failure, url)
  if (ofAddress !== null) return ofAddress
  if (code === 'unknown-field') {
    return `${failure.message}\nCorrect the name, or use --lenient: the service then ignores the field.`
  }
  const details = 'errors' in failure ? failure.errors.slice(1).map(({ detail }) => detail) : []
  const remedy = 'remedy' in failure && code !== 'validation-failed' ? failure.remedy : null
  return [failure.message, ...details, ...(remedy === null ? [] : [remedy])].join('\n')
}

/** Details of a failure, for support requests. @example '(unavailable, tried 5 times, request 4f2a)' */
function traceOf({ code, attempts, requestId }: LanewiseFailure): string {
  const tried = attempts > 1 ? `, tried ${attempts} times` : ''
  return `(${code}${tried}${requestId === null ? '' : `, request ${requestId}`})`
}

/** A message for failures that a wrong URL may cause; null for any other failure. */
function addressMessage(failure: LanewiseFailure, url: string): string | null {
  const check = 'Check --url or LANEWISE_URL.'
  if (failure.code === 'network') return `${unreached(url, networkCode(failure.cause))} ${check}`
  if (failure.code === 'not-json' && failure.status < 500) {
    return `The response of ${url} is not from Lanewise (status ${failure.status}): it is another service or a proxy. ${check}`
  }
  const { pathname, origin } = new URL(url)
  if (failure.code !== 'route-not-found' || pathname === '/') return null
  return `The service has no addresses under ${url}. Remove the path ${pathname}: --url ${origin}`
}

function unreached(url: string, code: string): string {
  const { host, protocol } = new URL(url)
  if (code === 'ECONNREFUSED') return `Nothing listens at ${host}.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host name ${host} cannot be resolved.`
  if (protocol === 'https:' && /^(EPROTO|ERR_SSL_)/.test(code)) {
    return `${host} does not use HTTPS. Did you mean http://${host}?`
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_/.test(code))
    return `The certificate of ${host} is not trusted (${code}).`
  if (protocol === 'http:' && /^(ECONNRESET|UND_ERR_SOCKET)$/.test(code)) {
    return `${host} closed the connection. The service may be down, or its URL may be https://${host}.`
  }
  return `${url} cannot be reached${code === '' ? '' : ` (${code})`}.`
}

/** The system or TLS error code in the cause chain of a failed fetch, or an empty string. */
function networkCode(cause: unknown): string {
  for (let at = cause; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return ''
}

/** The exit code, the message and the JSON error of a failed command. */
export interface FailureOutput {
  readonly exit: Exit
  readonly shown: string
  readonly error: Readonly<Record<string, unknown>>
}

const stopped = 'Stopped.'

/** Converts a thrown value to the output of the command. @param url returns the URL of the service, for failed calls */
export function failureOutput(thrown: unknown, url: () => string): FailureOutput {
  if (isLanewiseFailure(thrown)) {
    const [exit, message] = [exitOf(thrown), messageOf(thrown, url())]
    const shown =
      thrown.code === 'aborted'
        ? message
        : `${message}${message.includes('\n') ? '\n' : ' '}${traceOf(thrown)}`
    return { exit, shown, error: { ...thrown.toJSON(), message, exit } }
  }
  const { exit, message } = localFailure(thrown)
  const cause = thrown instanceof CommandFailed ? thrown.cause : undefined
  const own = { code: codes[exit], status: null, requestId: null, retryable: exit === 5, attempts: 0 }
  return {
    exit,
    shown: message,
    error: { ...(isLanewiseFailure(cause) ? cause.toJSON() : own), message, exit },
  }
}

function localFailure(thrown: unknown): { exit: Exit; message: string } {
  if (thrown instanceof CommandFailed) return { exit: thrown.exit, message: thrown.message }
  if (thrown instanceof Error && thrown.name === 'AbortError') return { exit: 130, message: stopped }
  return {
    exit: 1,
    message: fileTrouble(thrown) ?? `Internal error: ${String(thrown)}`,
  }
}

/** A message for a file system error; null for any other error. */
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
