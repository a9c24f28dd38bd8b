/**
 * The embedded PostgreSQL, which the service starts if DATABASE_URL is not set: its binaries, folder, account, and process.
 */
export { asAccount, giveTo, postgresAccount } from './account.ts'
export { copyRunningCluster } from './base-backup.ts'
export { postgresBinaries } from './binaries.ts'
export { findPlace, makeFolderFor, makePlace, type Place } from './cluster-location.ts'
export { DataFolderInUse, lockDataFolder, makeFolders, mkdirOrSay } from './data-folder.ts'
export {
  type DatabaseRole,
  databaseName,
  type EmbeddedConnection,
  type EmbeddedPostgres,
  embeddedConnections,
  makeDatabase,
  makeRoles,
  roleNames,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
  stopAbandonedPostgres,
} from './embedded-postgres.ts'
export { clusterIsGone, clusterProcesses, signal } from './postmaster.ts'
