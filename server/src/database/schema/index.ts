/**
 * The schema: its migrations, its tables as types, and how tables are distributed over machines.
 */
export type { BidChangeRow, BidColumns, BidLaneRow, BidRow, ChangedCell } from './bid-tables.ts'
export type { CompanyDomainRow, CompanySignInRow } from './company-tables.ts'
export {
  DistributionRefused,
  distribute,
  hasWorkers,
  instanceGoneMs,
  notSpread,
  registrationHoldsMs,
  shardsMax,
  shardsUsual,
  tablesOnCoordinator,
  tablesWithoutTenant,
} from './distribution.ts'
export { EarlierSchema } from './earlier-schema.ts'
export type {
  MailAddressRow,
  MailAttachment,
  MailboxRow,
  MailRow,
  MailServerRow,
  ReceivedMailRow,
  WatchMoveRow,
  WatchRow,
} from './mail-tables.ts'
export {
  MigrationStopped,
  migrate,
  migrationList,
  migrationNames,
  missingMigrations,
  readMigrations,
  unknownMigrations,
} from './migrate.ts'
export type { Migration } from './migration.ts'
export type { StoredExperiment } from './pilot-tables.ts'
export { prepareWorkers, rebalance, type ShardMove } from './rebalance.ts'
export type { ApprovalRow, StoredRule } from './rule-tables.ts'
export type {
  GivenAdvice,
  JsonRow,
  KeptValue,
  LaneRow,
  LanesTable,
  RowChange,
  RowError,
  StoredQuoteListSettings,
  Tables,
  TenantTransaction,
  UnshownLaneColumn,
} from './tables.ts'
