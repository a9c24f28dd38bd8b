import {
  BrokerageBusy,
  BrokerageMoving,
  DatabaseUnavailable,
  LockTimeout,
  ProcessUnavailable,
} from './database-failures.ts'
import type { Database } from './open-database.ts'

/**
 * The kinds of database work in metrics and traces: a transaction of one tenant, a function call for one tenant, a
 * transaction before a tenant is known, a ping, and a poll for changed tenants.
 */
export const transactionKinds = ['tenant', 'function', 'no-tenant', 'ping', 'version-look'] as const
export type TransactionKind = (typeof transactionKinds)[number]

export const databaseFailures = [
  /** No connection was available in time: the database is unreachable, or all connections are in use. */
  'no-connection',
  /** One brokerage has too many transactions at once. Other brokerages are served. */
  'brokerage-busy',
  /** A shard of Citus is being moved, and writes to its brokerages wait. */
  'brokerage-moving',
  /** This process was too busy to read answers in time, had more requests than connections, is joining other instances, or stops. */
  'process-unavailable',
  /** A statement timed out. */
  'too-slow',
  'lock-timeout',
  /** The connection was lost during the commit. */
  'outcome-unknown',
  /** Any other fault of the database: a lost connection, a full disk, a restart. */
  'unavailable',
  /** A constraint was violated. A request can cause this. */
  'constraint',
  /** A statement of the service is wrong. */
  'statement',
] as const
export type DatabaseFailure = (typeof databaseFailures)[number]

/** Called when database work begins; the function that it returns is called with the result when the work ends. */
export type TransactionWatch = (kind: TransactionKind) => (failure: DatabaseFailure | null) => void

/** The failure of the database that an error reports; null if the database did not fail, as for a quote not found. */
export function databaseFailure(error: unknown): DatabaseFailure | null {
  if (error instanceof LockTimeout) return 'lock-timeout'
  if (error instanceof BrokerageBusy) return 'brokerage-busy'
  if (error instanceof BrokerageMoving) return 'brokerage-moving'
  if (error instanceof DatabaseUnavailable) {
    const { cause } = error
    if (isTooSlow(cause) && !(error instanceof ProcessUnavailable)) return 'too-slow'
    if (error.outcomeUnknown) return 'outcome-unknown'
    if (error instanceof ProcessUnavailable) return 'process-unavailable'
    return hasNoConnection(cause) ? 'no-connection' : 'unavailable'
  }
  const code = codeOf(error)
  if (code === null || !/^[0-9A-Z]{5}$/.test(code)) return null
  return code.startsWith('23') ? 'constraint' : 'statement'
}

const codeOf = (error: unknown) => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : null
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '')

/** PostgreSQL's statement timeout, or ours if PostgreSQL does not answer at all. */
const isTooSlow = (error: unknown) =>
  codeOf(error) === '57014' || messageOf(error).startsWith('Query read timeout')

const hasNoConnection = (error: unknown) =>
  messageOf(error).startsWith('timeout exceeded') ||
  /^(ECONNREFUSED|ENOENT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|53300|57P03|28P01|28000|3D000)$/.test(
    codeOf(error) ?? '',
  )

/** Wraps a database so that `watch` is called for each transaction. */
export function watchedDatabase(database: Database, watch: TransactionWatch): Database {
  async function watched<T>(kind: TransactionKind, work: () => Promise<T>): Promise<T> {
    const onEnd = watch(kind)
    try {
      const result = await work()
      onEnd(null)
      return result
    } catch (error) {
      onEnd(databaseFailure(error))
      throw error
    }
  }
  return {
    ...database,
    inTenant: (tenant, work) => watched('tenant', () => database.inTenant(tenant, work)),
    callInTenant: (tenant, name, values) =>
      watched('function', () => database.callInTenant(tenant, name, values)),
    outsideTenants: (work) => watched('no-tenant', () => database.outsideTenants(work)),
    acrossTenants: (work) => watched('no-tenant', () => database.acrossTenants(work)),
    ping: () => watched('ping', () => database.ping()),
    changedTenants: (since, tenants) =>
      watched('version-look', () => database.changedTenants(since, tenants)),
    workers: () => watched('no-tenant', () => database.workers()),
  }
}
