/**
 * What a process caches of each tenant, and how it learns that the database has moved on.
 */
export { type MemoryCounts, type TenantMemory, tenantMemory } from './tenant-memory.ts'
export { type OtherInstances, type TenantWatch, tenantWatch, type WatchCounts } from './tenant-watch.ts'
