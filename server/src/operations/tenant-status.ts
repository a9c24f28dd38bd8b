import { byOperator, recordEvent } from '../audit/index.ts'
import { sandboxOf, setTenantStatus } from '../database/queries/index.ts'
import { type TenantId, tenantId } from '../database/session/index.ts'
import { atTenant, type CommandDatabase } from './command-database.ts'

/**
 * Suspends or resumes a brokerage. While it is suspended nobody can sign in, and every token and session of it is
 * rejected from the next request on, and so are those of its test brokerage. Nothing is deleted: after a resume, what has
 * not expired works again. Returns the name of the brokerage, and `changed: false` when the status was already set.
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
  return atTenant(around, named, async (database, { tenant, name }) => {
    const change = (of: TenantId) =>
      database.inTenant(of, async (transaction) => {
        const changed = await setTenantStatus(transaction, of, status)
        if (changed) {
          const kind = status === 'active' ? 'tenant-resumed' : 'tenant-suspended'
          await recordEvent(transaction, byOperator(of, now), kind)
        }
        return changed
      })
    const changed = await change(tenant)
    const sandbox = await sandboxOf(database, tenant)
    if (sandbox !== null) await change(tenantId(sandbox.tenant_id))
    return { name, changed }
  })
}
