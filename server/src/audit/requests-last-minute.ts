import type { TenantId } from '../database/session/index.ts'

const seconds = 60
/** Past this many tenants the idle ones are swept, so that memory (about a kilobyte each) follows those of the moment. */
const tenantsBeforeSweep = 10_000

interface Minute {
  /** The second that each place counts, so that a place of a minute ago is known for what it is. */
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
    for (let place = 0; place < seconds; place++) {
      const age = second - (of[place] ?? Number.NEGATIVE_INFINITY)
      if (age < 0 || age >= seconds) continue
      total.requests += requests[place] ?? 0
      total.refused += refused[place] ?? 0
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
      const place = second % seconds
      if (minute.of[place] !== second) {
        minute.of[place] = second
        minute.requests[place] = 0
        minute.refused[place] = 0
      }
      minute.requests[place] = (minute.requests[place] ?? 0) + 1
      if (isRefused) minute.refused[place] = (minute.refused[place] ?? 0) + 1
    },
    of(tenant, now) {
      const minute = tenants.get(tenant)
      return minute === undefined ? { requests: 0, refused: 0 } : sum(minute, Math.floor(now / 1000))
    },
  }
}
