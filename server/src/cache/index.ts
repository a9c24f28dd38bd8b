/**
 * The per-tenant cache of a process, and the watch that detects when the database has newer data.
 */
export { type MemoryCounts, type TenantMemory, tenantMemory } from './tenant-memory.ts'
export { type OtherInstances, type TenantWatch, tenantWatch, type WatchCounts } from './tenant-watch.ts'
