import { setTimeout as delay } from 'node:timers/promises'
import { tenantRequestsPerWindowMax } from '#contract/limits.ts'
import type { TenantId } from './database/open-database.ts'
import type { Parts } from './endpoints/call.ts'

/** Of the limit a batch leaves so much to the others of its brokerage: somebody may be typing. */
const leftToOthers = tenantRequestsPerWindowMax / 2
const lookAgainMs = 50

/**
 * Waits for a further place in the tenant's limit, for a batch that has begun: it does not push in, and is not refused for
 * a moment's crowd. Answers whether there was one before `until`, a moment of the monotonic clock in milliseconds.
 */
export async function placeForBatch(
  tenant: TenantId,
  { tenantLimit, monotonic }: Pick<Parts, 'tenantLimit' | 'monotonic'>,
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
