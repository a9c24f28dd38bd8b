/**
 * The limits of each tenant: integration requests per second over all instances, and dashboard requests and the reading of files in
 * one instance. And the heartbeat that announces an instance.
 */
export { inBatches, inHundreds, permitsLeftByPushes } from './batch-lanes.ts'
export { type DashboardShare, dashboardShare } from './dashboard-share.ts'
export { type FileTurns, fileTurns } from './file-turns.ts'
export { joinInstances } from './instance-heartbeat.ts'
export { sharedLimit } from './shared-limit.ts'
export {
  ownLimit,
  quotaExceeded,
  retryAfterSeconds,
  type TenantLimit,
  tenantWindow,
} from './tenant-limit.ts'
