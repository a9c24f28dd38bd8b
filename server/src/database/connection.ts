import type pg from 'pg'
import { DatabaseUnavailable } from './database-failures.ts'
import { spendPatience } from './patience.ts'

const statementTimeoutMs = 2_000
/** A stalled network gives no error at all; this ends the wait on our side, after the database had its chance. */
export const answerTimeoutMs = 2_500
/** Waiting for a free connection, or making a new one: a busy machine needs some hundred milliseconds for the latter. */
export const poolWaitMs = 1_000
/** Under the statement time-out, so that a wait for a lock is told apart from a slow statement. */
const lockTimeoutMs = 1_500
const idleTimeoutMs = 10_000
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

/**
 * A connection of the pool, within a patience that may be shorter than the pool's own.
 *
 * @throws DatabaseUnavailable
 */
export async function connection(pool: pg.Pool): Promise<pg.PoolClient> {
  return spendPatience((leftMs) => connected(pool, leftMs)).catch((error: unknown) => {
    throw new DatabaseUnavailable(error)
  })
}

async function connected(pool: pg.Pool, leftMs: number): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  if (leftMs >= poolWaitMs) return connecting
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('timeout exceeded when trying to connect')), leftMs)
  try {
    return await Promise.race([connecting, late])
  } catch (error) {
    // One that comes after all is for somebody else.
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** One statement, within what is left of the patience of the request it is for. */
export function ask(
  client: pg.PoolClient,
  text: string,
  values?: readonly unknown[],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  return spendPatience((leftMs) =>
    client.query({
      text,
      ...(values === undefined ? {} : { values: [...values] }),
      query_timeout: Math.min(answerTimeoutMs, leftMs),
    } as pg.QueryConfig),
  )
}
