import type { TenantId } from '../database/session/index.ts'

const seconds = 60
/** Above this number of tenants, idle ones are removed. A tenant takes about one kilobyte. */
const tenantsBeforeSweep = 10_000

interface Minute {
  /** The second that each slot counts. A slot with an older second is expired. */
  readonly secondOf: Float64Array
  readonly requests: Uint32Array
  readonly refused: Uint32Array
}

/** Counts of each tenant's calls and refused calls over the last 60 seconds. */
export interface LastMinute {
  count(tenant: TenantId, refused: boolean, now: number): void
  countsOf(tenant: TenantId, now: number): { requests: number; refused: number }
}

/**
 * Creates empty counts. Times are epoch milliseconds.
 *
 * @example
 * const minute = lastMinute()
 * minute.count(tenant, true, 0)
 * minute.countsOf(tenant, 59_000) // { requests: 1, refused: 1 }
 * minute.countsOf(tenant, 60_000) // { requests: 0, refused: 0 }
 */
export function lastMinute(): LastMinute {
  const tenants = new Map<TenantId, Minute>()
  let sweepAt = tenantsBeforeSweep

  function sum({ secondOf, requests, refused }: Minute, second: number) {
    const total = { requests: 0, refused: 0 }
    for (let slot = 0; slot < seconds; slot++) {
      const age = second - (secondOf[slot] ?? Number.NEGATIVE_INFINITY)
      if (age < 0 || age >= seconds) continue
      total.requests += requests[slot] ?? 0
      total.refused += refused[slot] ?? 0
    }
    return total
  }

  function sweep(second: number): void {
    for (const [tenant, minute] of tenants) {
      if (sum(minute, second).requests === 0) tenants.delete(tenant)
    }
    sweepAt = Math.max(tenantsBeforeSweep, tenants.size * 2)
  }

  return {
    count(tenant, isRefused, now) {
      const second = Math.floor(now / 1000)
      let minute = tenants.get(tenant)
      if (minute === undefined) {
        if (tenants.size >= sweepAt) sweep(second)
        minute = {
          secondOf: new Float64Array(seconds).fill(Number.NEGATIVE_INFINITY),
          requests: new Uint32Array(seconds),
          refused: new Uint32Array(seconds),
        }
        tenants.set(tenant, minute)
      }
      const slot = second % seconds
      if (minute.secondOf[slot] !== second) {
        minute.secondOf[slot] = second
        minute.requests[slot] = 0
        minute.refused[slot] = 0
      }
      minute.requests[slot] = (minute.requests[slot] ?? 0) + 1
      if (isRefused) minute.refused[slot] = (minute.refused[slot] ?? 0) + 1
    },
    countsOf(tenant, now) {
      const minute = tenants.get(tenant)
      return minute === undefined ? { requests: 0, refused: 0 } : sum(minute, Math.floor(now / 1000))
    },
  }
}
