import type pg from 'pg'
import { waitWithinDeadline } from './request-deadline.ts'

const statementTimeoutMs = 2_000
/** A stalled network gives no error at all; this ends the wait on our side, after the database had its chance. */
export const answerTimeoutMs = 2_500
/** Waiting for a free connection, or making a new one: a busy machine needs some hundred milliseconds for the latter. */
export const poolWaitMs = 1_000
/** Under the statement time-out, so that a wait for a lock is told apart from a slow statement. */
const lockTimeoutMs = 1_500
const idleTimeoutMs = 10_000
/**
 * Settings that the service's role has for all of its sessions. A call that is one message has no transaction to set
 * them for: PostgreSQL takes the time-out of a statement from the session, before the statement begins.
 */
export const roleTimeouts = [
  { name: 'statement_timeout', value: `${statementTimeoutMs / 1000}s` },
  { name: 'idle_in_transaction_session_timeout', value: `${idleTimeoutMs / 1000}s` },
] as const
/**
 * Set for each transaction, with its wall: a pooler in front hands a connection to somebody else after it, and knows
 * nothing of what a session was started with.
 */
export const timeouts = `set_config('statement_timeout', '${statementTimeoutMs}', true),
  set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)`
/** Opens the wall of the tenant that stands in the text, also on the workers of a distributed database. */
export const entering = (tenant: string) =>
  `enter_tenant(${tenant}, ${statementTimeoutMs}, ${lockTimeoutMs}, ${idleTimeoutMs})`

/** One statement, within what is left of the patience of the request it is for. */
export function ask(
  client: pg.PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  return waitWithinDeadline((leftMs) =>
    client.query({
      text,
      ...(values === undefined ? {} : { values: [...values] }),
      query_timeout: Math.min(answerTimeoutMs, leftMs),
    } as pg.QueryConfig),
  )
}
