import { ConfigError } from './configuration/index.ts'
import { EarlierSchema, NewerSchema } from './database/schema/index.ts'
import { DatabaseUnavailable } from './database/session/index.ts'
import { DataFolderInUse } from './embedded-postgres/index.ts'

/** A reason not to start. Its message is shown to the operator. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartRefused'
  }
}

interface Remedy {
  /** Tested against the messages and codes of an error and its causes. */
  readonly signs: RegExp
  readonly says: (where: string, dataDirectory: string) => string
}

/** Errors of the operating system, SQLite and PostgreSQL, and what the operator can do about them. */
const remedies: readonly Remedy[] = [
  {
    signs: /ENOSPC|EDQUOT|\b53100\b|No space left on device|Disk quota exceeded|disk is full/i,
    says: (where) =>
      `There is no space left on the disk of ${where}: free half a gigabyte and start again. A first start can be repeated.`,
  },
  {
    signs: /\b25006\b|read-only transaction/i,
    says: () =>
      'The database is read-only: DATABASE_URL must name the primary, not a standby, and its transactions must not be read-only by default.',
  },
  {
    signs: /statement pooling/,
    says: () =>
      'The pooler of DATABASE_URL is in statement mode, which has no transactions: set pool_mode = transaction in it, and start again.',
  },
  {
    signs: /EROFS|Read-only file system|readonly database/i,
    says: (where) =>
      `The disk of ${where} is read-only: make it writable, or set DATA_DIR to a folder on another disk.`,
  },
  {
    signs: /EACCES|EPERM|Permission denied|wrong ownership|belongs to user|unable to open database file/i,
    says: (where, dataDirectory) =>
      `This user may not write to ${where}: run the service as the user who owns ${dataDirectory}, or set DATA_DIR to another folder.`,
  },
  {
    signs: /ENOTDIR|EEXIST/,
    says: (where) => `${where} is a file, not a folder: move it away, or set DATA_DIR to another folder.`,
  },
  {
    signs: /ELOOP|ENAMETOOLONG/,
    says: (where) => `${where} is no usable path: set DATA_DIR to another folder.`,
  },
  {
    signs: /EMFILE|ENFILE|Too many open files/i,
    says: () => 'Too many files are open: raise the limit (ulimit -n 4096) and start again.',
  },
  {
    signs: /ENOMEM|Cannot allocate memory|\b53200\b/i,
    says: () => 'There is not enough memory: the service and its database need one gigabyte.',
  },
]

/** The codes for no server, no such database, or a wrong password. */
const connectionFailed = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|\b(28P01|28000|3D000)\b/

/** One line for the operator about a failed start: what is wrong, and what to do. The stack is for `LOG_LEVEL=debug`. */
export function startFailure(error: unknown, dataDirectory: string): string {
  if (
    error instanceof ConfigError ||
    error instanceof StartRefused ||
    error instanceof DataFolderInUse ||
    error instanceof EarlierSchema ||
    error instanceof NewerSchema
  )
    return error.message
  const causes = causesOf(error)
  const text = causes.map(({ code, message }) => `${code ?? ''} ${message}`).join('\n')
  const remedy = remedies.find(({ signs }) => signs.test(text))
  if (remedy !== undefined) {
    return remedy.says(causes.find(({ path }) => path !== undefined)?.path ?? dataDirectory, dataDirectory)
  }
  const last = causes.at(-1)?.message ?? String(error)
  if (error instanceof DatabaseUnavailable || connectionFailed.test(text))
    return `The database cannot be used (${oneLine(last)}): check that it runs and that DATABASE_URL, if set, is right, then start again.`
  const [own] = causes
  // An error without a code is one of our own, and says what to do.
  if (own?.name === 'Error' && own.code === undefined) return oneLine(own.message)
  const reason = [...new Set(causes.map(({ message }) => oneLine(message)))].join(' ')
  return `The start failed: ${reason} Start again. If it fails again, LOG_LEVEL=debug shows where.`
}

interface Cause {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly path?: string
}

function causesOf(error: unknown): Cause[] {
  if (!(error instanceof Error)) return error === undefined ? [] : [{ name: 'Error', message: String(error) }]
  return [error as Cause, ...causesOf(error.cause)]
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

/** An unexpected error, with its stack and its causes. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined
    ? (error.stack ?? error.message)
    : `${error.stack}\ncaused by: ${describe(error.cause)}`
}
