import { setTimeout as delay, setImmediate as nextEvent } from 'node:timers/promises'
import { batchLanesPerRequest, batchSecondsMax, tenantRequestsPerWindowMax } from '#contract/limits.ts'
import type { TenantId } from '../database/session/index.ts'
import type { TenantLimit } from './tenant-limit.ts'

/** Permits that a batch leaves to the other requests of its brokerage: a person may be typing. */
const permitsLeftToOthers = tenantRequestsPerWindowMax / 2
const checkAgainMs = 50

/** Lanes of a batch that are read concurrently: a batch loads the database no more than a few people do. */
const readersMax = 4
/** Lanes that are answered before the batch yields to other requests: about a millisecond of work. */
const lanesPerSlice = 20

interface Limits {
  readonly tenantLimit: TenantLimit
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number
}

/**
 * Waits until the tenant's limit has a permit for the next hundred lanes of a running batch. The batch waits instead of
 * being refused, and yields to other requests. Returns whether it got a permit before `until`, in monotonic milliseconds.
 */
async function nextPermit(
  tenant: TenantId,
  { tenantLimit, monotonic }: Limits,
  until: number,
): Promise<boolean> {
  while (monotonic() < until) {
    if (tenantLimit.remaining(tenant) > permitsLeftToOthers) {
      const { admitted } = await tenantLimit.admit(tenant)
      if (admitted) return true
    }
    await delay(checkAgainMs)
  }
  return false
}

/**
 * Computes a result for each lane of a batch whose request was admitted, and returns the results in the order of the
 * lanes. Each hundred lanes count as one request of the tenant. Lanes not reached in time get `notReached`.
 *
 * @throws what the work throws, for the whole batch
 */
export async function inBatches<Lane, Result>(
  lanes: readonly Lane[],
  work: {
    readonly answer: (lane: Lane, index: number) => Promise<Result>
    readonly notReached: (lane: Lane, index: number) => Result
  },
  tenant: TenantId,
  limits: Limits,
): Promise<Result[]> {
  const until = limits.monotonic() + batchSecondsMax * 1000
  const results: Result[] = []
  for (let from = 0; from < lanes.length; from += batchLanesPerRequest) {
    // The request itself was the permit for the first hundred lanes.
    const hasPermit = from === 0 || (await nextPermit(tenant, limits, until))
    const next = lanes.entries().drop(from).take(batchLanesPerRequest)
    const reader = async () => {
      for (const [index, lane] of next) {
        if (index % lanesPerSlice === 0) await nextEvent()
        const inTime = hasPermit && limits.monotonic() < until
        results[index] = inTime ? await work.answer(lane, index) : work.notReached(lane, index)
      }
    }
    await Promise.all(Array.from({ length: readersMax }, reader))
  }
  return results
}
