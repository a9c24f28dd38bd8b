import type pg from 'pg'
import { isConnectionLost, isGivenUp } from './database-failures.ts'
import { deadlineLeftMs, waitWithinDeadline } from './request-deadline.ts'

const statementTimeoutMs = 2_000
/** A stalled network reports no error. This ends the wait on our side, after the database's own timeout has passed. */
export const answerTimeoutMs = 2_500
/** For a free connection or a new one. Opening a connection takes some hundred milliseconds on a busy machine. */
export const poolWaitMs = 1_000
/** Shorter than the statement timeout, so that a lock wait is distinguishable from a slow statement. */
const lockTimeoutMs = 1_500
const idleTimeoutMs = 10_000
/**
 * Settings that the service's role has for all of its sessions. A call that is a single message has no transaction to
 * set them in: PostgreSQL takes the statement timeout from the session before the statement begins.
 */
export const roleTimeouts = [
  { name: 'statement_timeout', value: `${statementTimeoutMs / 1000}s` },
  { name: 'idle_in_transaction_session_timeout', value: `${idleTimeoutMs / 1000}s` },
] as const
/** The timeouts of one transaction, in milliseconds. */
export interface Timeouts {
  readonly statementMs: number
  readonly lockMs: number
}

const usualTimeouts: Timeouts = { statementMs: statementTimeoutMs, lockMs: lockTimeoutMs }

/** The time before the end of a request's deadline at which the database ends a statement. */
const answerMs = 50

/**
 * The timeouts of a transaction that begins now. The database ends a statement before the request stops waiting for it.
 * Otherwise the statement would keep the slot of its brokerage until it ends.
 */
export function timeoutsNow(): Timeouts {
  const leftMs = deadlineLeftMs() - answerMs
  const statementMs = Math.floor(Math.min(statementTimeoutMs, Math.max(1, leftMs)))
  return { statementMs, lockMs: Math.min(lockTimeoutMs, Math.ceil(statementMs * 0.75)) }
}

/**
 * Set in each transaction, together with the tenant: a connection pooler passes the connection to another client after
 * the transaction, and does not keep settings of the session.
 */
export const settingTimeouts = ({
  statementMs,
  lockMs,
}: Timeouts) => `set_config('statement_timeout', '${statementMs}', true),
  set_config('lock_timeout', '${lockMs}', true),
  set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)`
/** SQL that gives a transaction access to one tenant's rows, also on the workers of a distributed database. */
export const entering = (tenant: string, { statementMs, lockMs } = usualTimeouts) =>
  `enter_tenant(${tenant}, ${statementMs}, ${lockMs}, ${idleTimeoutMs})`

/**
 * The columns of a subquery that does the same for a single statement on one server: without a function, in a third of the time. The
 * other timeouts are those of the role, because this statement has begun already.
 */
export const enteringStatement = (tenant: string) =>
  `set_config('app.tenant_id', ${tenant}, true) as tenant, set_config('lock_timeout', '${lockTimeoutMs}', true)`

const sentAt = new WeakMap<pg.PoolClient, number>()

/**
 * Rolls back the transaction of a connection after a failure. Returns whether the connection can be used again. If the
 * request gave up on a statement, the rollback follows the answer to that statement: the driver sends it then. If no
 * answer comes within `answerTimeoutMs` of the statement, the database does not answer at all.
 */
export async function usableAfterRollback(client: pg.PoolClient, failure: unknown): Promise<boolean> {
  const gaveUp = isGivenUp(failure)
  const leftMs = answerTimeoutMs - (gaveUp ? performance.now() - (sentAt.get(client) ?? 0) : 0)
  if (leftMs <= 0 || (isConnectionLost(failure) && !gaveUp)) return false
  try {
    await client.query({ text: 'rollback', query_timeout: leftMs } as pg.QueryConfig)
    return true
  } catch {
    return false
  }
}

/** Runs one statement within the deadline of the current request. With a name, PostgreSQL keeps its plan for the session. */
export function ask(
  client: pg.PoolClient,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<pg.QueryResult<Record<string, unknown>>> {
  sentAt.set(client, performance.now())
  return waitWithinDeadline((leftMs) =>
    client.query({
      text,
      ...(name === undefined ? {} : { name }),
      ...(values === undefined ? {} : { values: [...values] }),
      query_timeout: Math.min(answerTimeoutMs, leftMs),
    } as pg.QueryConfig),
  )
}
