/**
 * The schema: its migrations, its tables as types, and how tables are distributed over machines.
 */
export {
  DistributionRefused,
  distribute,
  hasWorkers,
  instanceGoneMs,
  notSpread,
  registrationValidMs,
  shardsMax,
  shardsUsual,
  tablesOnCoordinator,
  tablesWithoutTenant,
} from './distribution.ts'
export { EarlierSchema, lastBaselineMigration, lastEarlierMigrations } from './earlier-schema.ts'
export {
  type Migration,
  migrate,
  migrationNames,
  missingMigrations,
  NewerSchema,
  readMigrations,
  unknownMigrations,
} from './migrate.ts'
export { type FieldColumnKind, fieldColumns } from './quote-columns.ts'
export { prepareWorkers, rebalance, type ShardMove } from './rebalance.ts'
export type { ApprovalRow, StoredRule } from './rule-tables.ts'
export type {
  ImportCause,
  ImportNote,
  ImportWord,
  JsonRow,
  NotAppliedValue,
  QuoteRow,
  QuotesTable,
  RowChange,
  RowError,
  StoredQuoteListSettings,
  Tables,
  TenantTransaction,
  UnshownQuoteColumn,
} from './tables.ts'
