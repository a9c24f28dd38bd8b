/** How long the service waits for the database, in milliseconds of wall clock. */
export interface Deadlines {
  /** For one statement; the database ends it then. */
  readonly statementMs: number
  /** For a lock. Shorter than the statement timeout, so that a lock wait is distinguishable from a slow statement. */
  readonly lockMs: number
  /** For the next statement of an open transaction. */
  readonly idleMs: number
  /**
   * For an answer. A stalled network reports no error, so the service ends the wait itself, after the database's own timeout
   * has passed.
   */
  readonly answerMs: number
  /** For a free connection or a new one. Opening a connection takes some hundred milliseconds on a busy machine. */
  readonly connectionMs: number
  /**
   * For all statements of one request. Each statement has its own timeout, but several slow statements in a row add up.
   * Callers get an answer within three seconds; the remaining 500 ms are for the service's own work.
   */
  readonly requestMs: number
  /** For a poll for changed tenants, which takes about a millisecond. */
  readonly pollMs: number
}

const usual: Deadlines = {
  statementMs: 2_000,
  lockMs: 1_500,
  idleMs: 10_000,
  answerMs: 2_500,
  connectionMs: 1_000,
  requestMs: 2_500,
  pollMs: 800,
}

/** The usual deadlines times a factor, for a machine that is slower than usual. */
export function deadlinesTimes(factor: number): Deadlines {
  const deadlines: Record<keyof Deadlines, number> = { ...usual }
  for (const name of Object.keys(deadlines) as (keyof Deadlines)[]) {
    deadlines[name] = Math.round(deadlines[name] * factor)
  }
  return deadlines
}

export const usualDeadlines: Deadlines = deadlinesTimes(1)

/** How many times longer the work of a start may take. No caller waits for a start, and giving up would only repeat its work. */
export const startFactor = 60

/**
 * Settings that the service's role has for all of its sessions. A call that is a single message has no transaction to
 * set them in: PostgreSQL takes the statement timeout from the session before the statement begins.
 */
export const roleTimeouts = [
  { name: 'statement_timeout', value: `${usual.statementMs / 1000}s` },
  { name: 'idle_in_transaction_session_timeout', value: `${usual.idleMs / 1000}s` },
] as const
