/** The database cannot be reached, is too slow, is full or is going down. Never an answer about data. */
export class DatabaseUnavailable extends Error {
  /** True when the connection was lost while committing: the change may or may not have been made. */
  readonly outcomeUnknown: boolean
  constructor(cause: unknown, outcomeUnknown = false) {
    super('The database cannot answer.', { cause })
    this.name = 'DatabaseUnavailable'
    this.outcomeUnknown = outcomeUnknown
  }
}

/**
 * One brokerage has more under way than the service works on at once for it. The database is well, and others are
 * answered; the same request can be sent again.
 */
export class BrokerageBusy extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause)
    this.name = 'BrokerageBusy'
  }
}

/** A row lock was not had in time: somebody else is changing the same thing. */
export class LockTimeout extends Error {
  constructor(cause: unknown) {
    super('Somebody else is changing the same row.', { cause })
    this.name = 'LockTimeout'
  }
}

/** SQLSTATE classes in which the database, not the request, is at fault: connection, resources, intervention, system. */
const unavailableClasses = new Set(['08', '53', '57', '58', 'XX'])
/** Serialization failure and deadlock: the same request sent again will do. Read-only: a replica or a failover. */
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
])

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error)
  // Before the look at SQLSTATEs: EPIPE has five letters, too.
  if (code !== undefined && networkErrors.has(code)) return true
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) return code.startsWith('08') || code.startsWith('57P')
  const message = error instanceof Error ? error.message : ''
  return /^(Connection terminated|Query read timeout|Client has encountered a connection error|timeout exceeded)/.test(
    message,
  )
}

/** What a failure means to whoever asked; `committing` when nobody knows whether a change was made. */
export function translated(error: unknown, committing: boolean): unknown {
  const code = sqlState(error)
  if (code === '55P03') return new LockTimeout(error)
  const unavailable =
    isConnectionLost(error) ||
    (code !== undefined && (unavailableStates.has(code) || unavailableClasses.has(code.slice(0, 2))))
  return unavailable ? new DatabaseUnavailable(error, committing) : error
}
