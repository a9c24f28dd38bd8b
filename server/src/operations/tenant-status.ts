import { byOperator, recordEvent } from '../audit/index.ts'
import { setTenantStatus } from '../database/queries/index.ts'
import { atTenant, type CommandDatabase } from './command-database.ts'

/**
 * Suspends or resumes a brokerage. While it is suspended nobody can sign in, and every token and session of it is
 * rejected from the next request on. Nothing is deleted: after a resume, what has not expired works again. Returns the
 * name of the brokerage, and `changed: false` when the status was already set.
 *
 * @throws CommandRefused when there is no brokerage of the name
 * @example await changeTenantStatus(around, 'Blue Mesa Logistics', 'suspended', Date.now()) // { name: 'Blue ...', changed: true }
 */
export async function changeTenantStatus(
  around: CommandDatabase,
  named: string,
  status: 'active' | 'suspended',
  now: number,
): Promise<{ name: string; changed: boolean }> {
  return atTenant(around, named, (database, { tenant, name }) =>
    database.inTenant(tenant, async (transaction) => {
      const changed = await setTenantStatus(transaction, tenant, status)
      if (changed) {
        const kind = status === 'active' ? 'tenant-resumed' : 'tenant-suspended'
        await recordEvent(transaction, byOperator(tenant, now), kind)
      }
      return { name, changed }
    }),
  )
}
