import type { TenantId } from '../database/session/index.ts'

const seconds = 60
/** Above this number of tenants, idle ones are removed. A tenant takes about one kilobyte. */
const tenantsBeforeSweep = 10_000

interface Minute {
  /** The second that each slot counts, so that a slot from a minute ago is recognized. */
  readonly of: Float64Array
  readonly requests: Uint32Array
  readonly refused: Uint32Array
}

/** Counts calls and refusals of each tenant over the last 60 seconds. */
export interface LastMinute {
  count(tenant: TenantId, refused: boolean, now: number): void
  of(tenant: TenantId, now: number): { requests: number; refused: number }
}

/**
 * Times are epoch milliseconds.
 *
 * @example
 * const minute = lastMinute()
 * minute.count(tenant, true, 0)
 * minute.of(tenant, 59_000) // { requests: 1, refused: 1 }
 * minute.of(tenant, 60_000) // { requests: 0, refused: 0 }
 */
export function lastMinute(): LastMinute {
  const tenants = new Map<TenantId, Minute>()
  let sweepAt = tenantsBeforeSweep

  function sum({ of, requests, refused }: Minute, second: number) {
    const total = { requests: 0, refused: 0 }
    for (let slot = 0; slot < seconds; slot++) {
      const age = second - (of[slot] ?? Number.NEGATIVE_INFINITY)
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
          of: new Float64Array(seconds).fill(Number.NEGATIVE_INFINITY),
          requests: new Uint32Array(seconds),
          refused: new Uint32Array(seconds),
        }
        tenants.set(tenant, minute)
      }
      const slot = second % seconds
      if (minute.of[slot] !== second) {
        minute.of[slot] = second
        minute.requests[slot] = 0
        minute.refused[slot] = 0
      }
      minute.requests[slot] = (minute.requests[slot] ?? 0) + 1
      if (isRefused) minute.refused[slot] = (minute.refused[slot] ?? 0) + 1
    },
    of(tenant, now) {
      const minute = tenants.get(tenant)
      return minute === undefined ? { requests: 0, refused: 0 } : sum(minute, Math.floor(now / 1000))
    },
  }
}
