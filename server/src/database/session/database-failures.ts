import { isDeadlineSpentByProcess, type Loop } from './request-deadline.ts'

/** The database is unreachable, too slow, full, or shutting down. Never thrown for a problem with the data. */
export class DatabaseUnavailable extends Error {
  /** True if the connection was lost during the commit: the change may or may not have been made. */
  readonly outcomeUnknown: boolean
  constructor(cause: unknown, outcomeUnknown = false, message = 'The database cannot answer.') {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.outcomeUnknown = outcomeUnknown
  }
}

/**
 * One brokerage has reached its limit of running and waiting transactions. The database works, and other brokerages are
 * served. The client can retry the same request.
 */
export class BrokerageBusy extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, false, 'The brokerage has too many transactions running and waiting.')
    this.name = 'BrokerageBusy'
  }
}

/**
 * The rows of the brokerage are being moved to another worker of Citus, and its writes wait until the move is complete. This
 * takes seconds; other brokerages are served. The client can retry the same request.
 */
export class BrokerageMoving extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, false, 'The rows of the brokerage are being moved to another worker.')
    this.name = 'BrokerageMoving'
  }
}

const processWords = {
  busy: 'The service is busy and could not answer in time.',
  joining: 'The service joins its other instances and answers in a few seconds.',
  stopping: 'This node is stopping. Use another one.',
} as const

/** This process could not answer, but the database works. The client can retry the same request. */
export class ProcessUnavailable extends DatabaseUnavailable {
  readonly words: string
  /** @param why 'busy': the process was occupied or stopped, or has more requests than connections */
  constructor(why: keyof typeof processWords, cause: unknown, outcomeUnknown = false) {
    super(cause, outcomeUnknown, processWords[why])
    this.name = 'ProcessUnavailable'
    this.words = processWords[why]
  }
}

/** A row lock timed out: another transaction is changing the same row. */
export class LockTimeout extends Error {
  constructor(cause: unknown) {
    super('Another transaction is changing the same row.', { cause })
    this.name = 'LockTimeout'
  }
}

/** SQLSTATE classes for faults of the database, not the request: connection, resources, operator intervention, system. */
const unavailableClasses = new Set(['08', '53', '57', '58', 'XX'])
/**
 * Serialization failure and deadlock (a retry succeeds), read-only transaction (a replica or a failover), idle-in-transaction
 * timeout, unknown database, and failed authentication.
 */
const unavailableStates = new Set(['40001', '40P01', '25006', '25P03', '3D000', '28P01', '28000'])
const networkErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'NO_PRIMARY',
])

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/**
 * Why the database refused a write although it answers reads: it is read-only (25006), or its disk is full or fails (53100,
 * 58030). Null for other errors.
 */
export function writeRefusal(error: unknown): 'read-only' | 'no-space' | null {
  const code = sqlState(error instanceof DatabaseUnavailable ? error.cause : error)
  if (code === '25006') return 'read-only'
  return code === '53100' || code === '58030' ? 'no-space' : null
}

/**
 * Whether the session does not have the named statement (26000), or has it already without our knowledge (42P05): a pooler has given
 * the connection another session.
 */
export function isStatementUnknown(error: unknown): boolean {
  return ['26000', '42P05'].includes(sqlState(error) ?? '')
}

/** Whether a write failed because another row, which the person may not see, already has its unique key. */
export function isDuplicateKey(error: unknown): boolean {
  return sqlState(error) === '23505'
}

export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error)
  // Check this before SQLSTATEs: EPIPE has five letters, too.
  if (code !== undefined && networkErrors.has(code)) return true
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code.startsWith('08') || code.startsWith('57P')
  const message = error instanceof Error ? error.message : ''
  return /^(Connection terminated|Query read timeout|Client has encountered a connection error|timeout exceeded)/.test(
    message,
  )
}

/** Whether our side stopped waiting for an answer. The statement may still run in the database. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Query read timeout')
}

/** Whether the database was too slow: no connection in time, no answer in time, or a statement over its time limit. */
export function isTimeout(error: unknown): boolean {
  if (isGivenUp(error) || sqlState(error) === '57014') return true
  return (
    error instanceof Error &&
    /^(timeout exceeded when|Connection terminated due to connection timeout)/.test(error.message)
  )
}

/**
 * Whether a lock timeout on Citus was a wait for the move of a shard. Rows of brokerages are locked on the workers, so a lock
 * on the coordinator belongs to a move, unless it is an advisory lock or locks a row of the coordinator's own tables.
 */
function isMove(error: unknown): boolean {
  const { where } = error as { readonly where?: unknown }
  return typeof where !== 'string' || !/while executing command on|advisory_xact_lock|\btuple\b/.test(where)
}

/**
 * Converts a driver error to the error for the caller. `committing`: the transaction may have been committed.
 * `isDistributed`: the database has workers of Citus.
 */
export function translated(error: unknown, committing: boolean, isDistributed: boolean): unknown {
  const code = sqlState(error)
  if (code === '55P03')
    return isDistributed && isMove(error) ? new BrokerageMoving(error) : new LockTimeout(error)
  const unavailable =
    isConnectionLost(error) ||
    (code !== undefined && (unavailableStates.has(code) || unavailableClasses.has(code.slice(0, 2))))
  if (!unavailable) return error
  return isTimeout(error) && isDeadlineSpentByProcess()
    ? new ProcessUnavailable('busy', error, committing)
    : new DatabaseUnavailable(error, committing)
}

/**
 * The error for a wait that takes several messages, and was too long: this process was busy for most of the wait, or the
 * database did not answer.
 *
 * @param since the measurement that started with the wait
 */
export function tooLong(cause: unknown, since: () => Loop): DatabaseUnavailable {
  return isDeadlineSpentByProcess(since())
    ? new ProcessUnavailable('busy', cause)
    : new DatabaseUnavailable(cause)
}

/** Why a request got no answer, in words for its caller. @example 'The database cannot answer right now.' */
export function reasonOf(error: DatabaseUnavailable | LockTimeout): string {
  if (error instanceof LockTimeout) return 'Another request is changing the same record.'
  if (error instanceof BrokerageBusy) return 'Your brokerage has too many requests in progress.'
  if (error instanceof BrokerageMoving) return 'The data of your brokerage is being moved to another server.'
  if (error instanceof ProcessUnavailable) return error.words
  if (sqlState(error.cause) === 'NO_PRIMARY') return 'None of the hosts of the database accepts writes.'
  return isStatementPooling(error)
    ? 'The pooler in front of the database is in statement mode; it must be in transaction mode.'
    : 'The database cannot answer right now.'
}

/** Whether a pooler refused a transaction, because it gives each statement another session. */
export const isStatementPooling = (error: unknown) => /statement pooling/.test(messageOf(error))

/** One line for operators: what failed, why, and where to look. */
export function whyUnavailable(error: DatabaseUnavailable): string {
  return `${error.message} (${messageOf(error)}) npm run doctor looks for the reason.`
}

/** The message of the first cause. A connection that failed at several addresses has none; its first error has one. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  if (error instanceof DatabaseUnavailable && error.cause !== undefined) return messageOf(error.cause)
  return error instanceof Error ? error.message : String(error)
}
