import type pg from 'pg'
import { late, orLate } from '../../runtime/index.ts'
import { isConnectionLost, isGivenUp, writeRefusal } from './database-failures.ts'
import type { Deadlines } from './deadlines.ts'
import { deadlineLeftMs, waitWithinDeadline } from './request-deadline.ts'

/** The timeouts of one transaction, in milliseconds. */
export type Timeouts = Pick<Deadlines, 'statementMs' | 'lockMs' | 'idleMs'>

/** The time before the end of a request's deadline at which the database ends a statement. */
const lastAnswerMs = 50

/**
 * The timeouts of a transaction that begins now. The database ends a statement before the request stops waiting for it.
 * Otherwise the statement would hold the slot of its brokerage until it ends.
 */
export function timeoutsNow(deadlines: Timeouts): Timeouts {
  const leftMs = deadlineLeftMs() - lastAnswerMs
  return withStatementMs(deadlines, Math.floor(Math.min(deadlines.statementMs, Math.max(1, leftMs))))
}

/**
 * The timeouts of a call that is a single message. A statement cannot set its own timeout, so that of the role applies.
 *
 * @param roleMs the statement timeout of the role, or 0 if it has none
 */
export const messageTimeouts = (deadlines: Timeouts, roleMs: number): Timeouts =>
  withStatementMs(deadlines, roleMs === 0 ? deadlines.statementMs : roleMs)

/** A lock timeout below the statement timeout tells a lock wait from a slow statement. */
const withStatementMs = ({ lockMs, idleMs }: Timeouts, statementMs: number): Timeouts => ({
  statementMs,
  lockMs: Math.min(lockMs, Math.ceil(statementMs * 0.75)),
  idleMs,
})

/**
 * Set in each transaction, together with the tenant, because a connection pooler passes the connection to another client after
 * the transaction, and does not keep settings of the session.
 */
export const settingTimeouts = ({
  statementMs,
  lockMs,
  idleMs,
}: Timeouts) => `set_config('statement_timeout', '${statementMs}', true),
  set_config('lock_timeout', '${lockMs}', true),
  set_config('idle_in_transaction_session_timeout', '${idleMs}', true)`
/** SQL that gives a transaction access to one tenant's rows, also on the workers of a distributed database. */
export const entering = (tenant: string, { statementMs, lockMs, idleMs }: Timeouts) =>
  `enter_tenant(${tenant}, ${statementMs}, ${lockMs}, ${idleMs})`

/**
 * The columns of a subquery that gives a single statement the same access on one server. Without a function, it takes a third of
 * the time. Timeouts other than the lock timeout are those of the role.
 */
export const enteringStatement = (tenant: string, { lockMs }: Timeouts) =>
  `set_config('app.tenant_id', ${tenant}, true) as tenant, set_config('lock_timeout', '${lockMs}', true)`

const sentAt = new WeakMap<pg.PoolClient, number>()

/**
 * Rolls back the transaction of a connection after a failure. Returns whether the connection can be used again. If the
 * request gave up on a statement, the driver sends the rollback after the answer to that statement. If no
 * answer comes within `answerMs` of the statement, the database does not answer at all. A read-only session, such as that of a
 * former primary, is not used again: the next connection finds the primary.
 */
export async function usableAfterRollback(
  client: pg.PoolClient,
  failure: unknown,
  { answerMs }: Pick<Deadlines, 'answerMs'>,
): Promise<boolean> {
  const gaveUp = isGivenUp(failure)
  const leftMs = answerMs - (gaveUp ? performance.now() - (sentAt.get(client) ?? 0) : 0)
  if (leftMs <= 0 || writeRefusal(failure) === 'read-only' || (isConnectionLost(failure) && !gaveUp))
    return false
  try {
    return (await orLate(client.query('rollback'), leftMs)) !== late
  } catch {
    return false
  }
}

/** Runs one statement within the deadline of the current request. With a name, the session can reuse its plan. */
export function ask(
  client: pg.PoolClient,
  { answerMs }: Pick<Deadlines, 'answerMs'>,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<pg.QueryResult<Record<string, unknown>>> {
  sentAt.set(client, performance.now())
  return waitWithinDeadline((leftMs) =>
    answerIn(
      Math.min(answerMs, leftMs),
      client.query({
        text,
        ...(name === undefined ? {} : { name }),
        ...(values === undefined ? {} : { values: [...values] }),
      }),
    ),
  )
}

/**
 * The answer to a query that was sent. The driver's own time limit is not used, because it gives up before it reads an answer that
 * has arrived while this process was busy.
 *
 * @throws Error for which `isGivenUp` if there is none after `ms`
 */
export async function answerIn<T>(ms: number, going: Promise<T>): Promise<T> {
  const answer = await orLate(going, ms)
  if (answer === late) throw new Error('Query read timeout')
  return answer
}
