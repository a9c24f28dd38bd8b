import { setTimeout as delay, setImmediate as othersTurn } from 'node:timers/promises'
import { batchLanesPerRequest, batchSecondsMax, tenantRequestsPerWindowMax } from '#contract/limits.ts'
import type { TenantId } from '../database/session/index.ts'
import type { TenantLimit } from './tenant-limit.ts'

/** Of the limit a batch leaves so much to the others of its brokerage: somebody may be typing. */
const leftToOthers = tenantRequestsPerWindowMax / 2
const lookAgainMs = 50

/** Lanes of a batch that are read at once: it takes no more of the database than a few people do. */
const atOnceMax = 4
/** Lanes that are answered before others have their turn: a millisecond or so. */
const lanesPerTurn = 20

interface Limits {
  readonly tenantLimit: TenantLimit
  /** Milliseconds that never jump. */
  readonly monotonic: () => number
}

/**
 * Waits for a further place in the tenant's limit, for a batch that has begun: it does not push in, and is not refused for
 * a moment's crowd. Answers whether there was one before `until`, a moment of the monotonic clock in milliseconds.
 */
async function furtherPlace(
  tenant: TenantId,
  { tenantLimit, monotonic }: Limits,
  until: number,
): Promise<boolean> {
  while (monotonic() < until) {
    if (tenantLimit.remaining(tenant) > leftToOthers) {
      const { admitted } = await tenantLimit.admit(tenant)
      if (admitted) return true
    }
    await delay(lookAgainMs)
  }
  return false
}

/**
 * Does something for each lane of a batch whose request was admitted, and gives the results in the order of the lanes. Each
 * hundred counts as one request of the tenant. What is not reached in time has the other result.
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
    // The first hundred has its place from the door.
    const isPlaced = from === 0 || (await furtherPlace(tenant, limits, until))
    const next = lanes.entries().drop(from).take(batchLanesPerRequest)
    const reader = async () => {
      for (const [index, lane] of next) {
        if (index % lanesPerTurn === 0) await othersTurn()
        const inTime = isPlaced && limits.monotonic() < until
        results[index] = inTime ? await work.answer(lane, index) : work.notReached(lane, index)
      }
    }
    await Promise.all(Array.from({ length: atOnceMax }, reader))
  }
  return results
}
