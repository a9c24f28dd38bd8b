import { setTimeout as delay, setImmediate as nextEvent } from 'node:timers/promises'
import { batchLanesPerRequest, batchSecondsMax, tenantRequestsPerWindowMax } from '#contract/limits.ts'
import type { TenantId } from '../database/session/index.ts'
import type { TenantLimit } from './tenant-limit.ts'

/** Permits that a batch leaves to other requests of its brokerage, because a person may be typing. */
const permitsLeftToOthers = tenantRequestsPerWindowMax / 2
/** Permits that a push leaves. If it left half of all, 50,000 bookings would take more than two minutes. */
export const permitsLeftByPushes = 3
const checkAgainMs = 50

/** Lanes of a batch that are read concurrently, so that it loads the database no more than a few people do. */
const readersMax = 4
/** Lanes that are answered before the batch yields to other requests: about a millisecond of work. */
const lanesPerSlice = 20

interface Limits {
  readonly tenantLimit: TenantLimit
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number
}

/**
 * Waits until the tenant's limit has a permit for the next hundred items of a running batch. The batch waits instead of
 * being refused, and yields to other requests. Returns whether it got a permit before `until`, in monotonic milliseconds.
 */
async function nextPermit(
  tenant: TenantId,
  { tenantLimit, monotonic }: Limits,
  until: number,
  leaves: number,
): Promise<boolean> {
  while (monotonic() < until) {
    if (tenantLimit.remaining(tenant) > leaves) {
      const { admitted } = await tenantLimit.admit(tenant)
      if (admitted) return true
    }
    await delay(checkAgainMs)
  }
  return false
}

/**
 * Passes the items of a batch whose request was admitted to `work`, a hundred at a time, and returns the results in the order
 * of the items. Each hundred counts as one request of the tenant. `inTime` tells whether the batch has time left, and is
 * false at once for a hundred that got no permit. The batch leaves `leaves` permits of each second to other requests.
 *
 * @throws what the work throws, for the whole batch
 */
export async function inHundreds<Item, Result>(
  items: readonly Item[],
  work: (hundred: readonly Item[], from: number, inTime: () => boolean) => Promise<readonly Result[]>,
  tenant: TenantId,
  limits: Limits,
  leaves: number = permitsLeftToOthers,
): Promise<Result[]> {
  const until = limits.monotonic() + batchSecondsMax * 1000
  const results: Result[] = []
  for (let from = 0; from < items.length; from += batchLanesPerRequest) {
    // The first hundred needs no permit, because the request has one.
    const hasPermit = from === 0 || (await nextPermit(tenant, limits, until, leaves))
    const inTime = () => hasPermit && limits.monotonic() < until
    results.push(...(await work(items.slice(from, from + batchLanesPerRequest), from, inTime)))
  }
  return results
}

/**
 * Computes a result for each lane of a batch with several readers, and returns the results in the order of the lanes. Lanes
 * not reached in time get `notReached`.
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
  return inHundreds(
    lanes,
    async (hundred, from, inTime) => {
      const results: Result[] = []
      const next = hundred.entries()
      const reader = async () => {
        for (const [place, lane] of next) {
          const index = from + place
          if (index % lanesPerSlice === 0) await nextEvent()
          results[place] = inTime() ? await work.answer(lane, index) : work.notReached(lane, index)
        }
      }
      await Promise.all(Array.from({ length: readersMax }, reader))
      return results
    },
    tenant,
    limits,
  )
}
