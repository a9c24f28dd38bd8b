/**
 * Connections and transactions: each transaction sees one tenant only and has a deadline, and the pool is shared fairly.
 */
export type { ChangedTenants } from './changed-tenants.ts'
export {
  BrokerageBusy,
  BrokerageMoving,
  DatabaseUnavailable,
  isDuplicateKey,
  isStatementPooling,
  LockTimeout,
  ProcessUnavailable,
  reasonOf,
  tooLong,
  whyUnavailable,
} from './database-failures.ts'
export { type Deadlines, deadlinesTimes, roleTimeouts, startFactor } from './deadlines.ts'
export type { Identifiers } from './identifiers.ts'
export { type Connections, type Database, openDatabase } from './open-database.ts'
export {
  deadlineLeftMs,
  deadlineWaitedMs,
  isDeadlineSpentByProcess,
  loopSince,
  RequestDeadline,
  runInBackground,
  waitWithinDeadline,
  withDeadline,
} from './request-deadline.ts'
export { databaseSafety, databaseSafetyFaults } from './row-level-security.ts'
export { rowLevelSecurityGaps } from './row-level-security-gaps.ts'
export { type TenantId, type TenantVersions, tenantId, type VersionsListener } from './tenant.ts'
export {
  accessChanged,
  auditMoved,
  isDistributedTransaction,
  quotesChanged,
  quotesMade,
} from './transaction-changes.ts'
export {
  databaseFailure,
  databaseFailures,
  type TransactionWatch,
  transactionKinds,
  watchedDatabase,
} from './transaction-watch.ts'
export { asCurrentViewer, currentViewer, forBrokerage, type TeamViewer, withViewer } from './viewer.ts'
export { transferFaults, type Worker, workersAway } from './workers.ts'
