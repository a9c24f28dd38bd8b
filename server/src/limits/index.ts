/**
 * The rate limit of each tenant, in one instance or shared by several, its share of an instance for dashboard requests, and the
 * heartbeat that announces an instance.
 */
export { inBatches, inHundreds, permitsLeftByPushes } from './batch-lanes.ts'
export { type DashboardShare, dashboardShare } from './dashboard-share.ts'
export { joinInstances } from './instance-heartbeat.ts'
export { sharedLimit } from './shared-limit.ts'
export {
  ownLimit,
  quotaExceeded,
  retryAfterSeconds,
  type TenantLimit,
  tenantWindow,
} from './tenant-limit.ts'
