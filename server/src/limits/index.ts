/**
 * The request limit of each tenant, over one process or several, and the heartbeat by which instances know each other.
 */
export { inBatches } from './batch-lanes.ts'
export { joinInstances } from './instance-heartbeat.ts'
export { sharedRedis } from './shared-redis.ts'
export {
  ownLimit,
  quotaExceeded,
  retryAfterSeconds,
  sharedLimit,
  type TakePermit,
  type TenantLimit,
  tenantWindow,
} from './tenant-limit.ts'
