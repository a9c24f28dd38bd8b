import { isLanewiseFailure, isPassing, type LanewiseFailure } from '#client/failures.ts'

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
  if (isPassing(failure)) return 5
  if (failure.status === 401 || failure.status === 403) return 3
  return failure.status === 404 ? 4 : 1
}

/** A failure in the words of the service, and what to do about it. */
function shownFailure(failure: LanewiseFailure, url: string): string {
  if (failure.code === 'aborted') return stopped
  const { code, requestId, attempts } = failure
  const lines = addressLines(failure, url) ?? [failure.message]
  if (code === 'unknown-field') {
    lines.push('Correct the name, or use --lenient to send it all the same: the service then ignores it.')
  } else {
    if ('errors' in failure) lines.push(...failure.errors.slice(1).map(({ detail }) => detail))
    if ('remedy' in failure && failure.remedy !== null && !/^(validation-failed|route-not-found)$/.test(code))
      lines.push(failure.remedy)
  }
  const tried = attempts > 1 ? `, tried ${attempts} times` : ''
  lines.push(`(${code}${tried}${requestId === null ? '' : `, request ${requestId}`})`)
  return lines.join('\n')
}

/** One line for a failure that comes of a wrong address; null for every other. */
function addressLines(failure: LanewiseFailure, url: string): string[] | null {
  const check = 'Check --url, LANEWISE_URL or the address of your sign-in.'
  if (failure.code === 'network') return [`${unreached(url, networkCode(failure.cause))} ${check}`]
  if (failure.code === 'not-json' && failure.status < 500) {
    return [
      `${url} is not Lanewise: ${failure.message.replace(/^The (answer|address)/, 'the $1').replace(/ Check .*$/, '')} ${check}`,
    ]
  }
  const { pathname, origin } = new URL(url)
  if (failure.code !== 'route-not-found' || pathname === '/') return null
  return [
    `${url} has the path ${pathname}, where the service has no addresses. Leave it out: --url ${origin}`,
  ]
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

/** What a command that failed exits with, shows to people, and writes as JSON. */
export interface Ended {
  readonly exit: Exit
  readonly message: string
  readonly error: Readonly<Record<string, unknown>>
}

const stopped = 'Stopped.'

/** How a command ended with whatever was thrown. @param url gives the address of the service, for failures of calls */
export function ended(thrown: unknown, url: () => string): Ended {
  const cause = thrown instanceof CommandFailed ? thrown.cause : thrown
  const failure = isLanewiseFailure(cause) ? cause : null
  const { exit, message } =
    failure === null || thrown instanceof CommandFailed
      ? endedByItself(thrown)
      : {
          exit: exitOf(failure),
          message: shownFailure(failure, url()),
        }
  const own = { code: codes[exit], status: null, requestId: null, retryable: exit === 5, attempts: 0 }
  return { exit, message, error: { ...(failure?.toJSON() ?? own), message, exit } }
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
