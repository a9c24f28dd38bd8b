import { BrokerageBusy, DatabaseUnavailable, LockTimeout } from './database-failures.ts'
import type { Database } from './open-database.ts'

/**
 * What is asked of the database, by its kind: a transaction of one tenant, a function of the schema called for one, a
 * transaction before a tenant is known, whether it answers at all, and which tenants have moved on.
 */
export const transactionKinds = ['tenant', 'function', 'no-tenant', 'ping', 'version-look'] as const
export type TransactionKind = (typeof transactionKinds)[number]

export const databaseFailures = [
  /** No connection was to be had: the database is not there, or all connections are taken for too long. */
  'no-connection',
  /** One brokerage has too much under way at once: the others are answered. */
  'brokerage-busy',
  /** A statement did not end in time. */
  'too-slow',
  'lock-timeout',
  /** The connection was lost while committing. */
  'outcome-unknown',
  /** Anything else that is the database's fault: a lost connection, no space, a restart. */
  'unavailable',
  /** A constraint was violated, which a request may cause. */
  'constraint',
  /** A statement of ours that is wrong. */
  'statement',
] as const
export type DatabaseFailure = (typeof databaseFailures)[number]

/** Told that something begins to be asked; what it answers is told how that ended. */
export type TransactionWatch = (kind: TransactionKind) => (failure: DatabaseFailure | null) => void

/** What the database did wrong when a transaction ended so; null where it did nothing wrong, as when a lane is not there. */
export function databaseFailure(error: unknown): DatabaseFailure | null {
  if (error instanceof LockTimeout) return 'lock-timeout'
  if (error instanceof BrokerageBusy) return 'brokerage-busy'
  if (error instanceof DatabaseUnavailable) {
    const { cause } = error
    if (isTooSlow(cause)) return 'too-slow'
    if (error.outcomeUnknown) return 'outcome-unknown'
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

/** PostgreSQL's own time-out, or ours when it does not even say so. */
const isTooSlow = (error: unknown) =>
  codeOf(error) === '57014' || messageOf(error).startsWith('Query read timeout')

const hasNoConnection = (error: unknown) =>
  messageOf(error).startsWith('timeout exceeded') ||
  /^(ECONNREFUSED|ENOENT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|53300|57P03|28P01|28000|3D000)$/.test(
    codeOf(error) ?? '',
  )

/** The same database, which tells of each transaction. */
export function watchedDatabase(database: Database, watch: TransactionWatch): Database {
  async function watched<T>(kind: TransactionKind, work: () => Promise<T>): Promise<T> {
    const ended = watch(kind)
    try {
      const result = await work()
      ended(null)
      return result
    } catch (error) {
      ended(databaseFailure(error))
      throw error
    }
  }
  return {
    ...database,
    inTenant: (tenant, work) => watched('tenant', () => database.inTenant(tenant, work)),
    callInTenant: (tenant, name, values) =>
      watched('function', () => database.callInTenant(tenant, name, values)),
    outsideTenants: (work) => watched('no-tenant', () => database.outsideTenants(work)),
    ping: () => watched('ping', () => database.ping()),
    changedTenants: (since) => watched('version-look', () => database.changedTenants(since)),
  }
}
