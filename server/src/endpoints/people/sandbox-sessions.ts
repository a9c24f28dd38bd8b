import { people, sandboxes } from '../../database/queries/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'

/**
 * Ends the sessions of a person in the test brokerage, after they lost their role or signed out everywhere. A failure is only logged,
 * because the change in the brokerage is committed, and a session in the test brokerage lasts an hour at most.
 */
export async function endSandboxSessions(
  { database, log }: Pick<Parts, 'database' | 'log'>,
  tenant: TenantId,
  email: string,
  now: number,
): Promise<void> {
  try {
    const row = await sandboxes.sandboxOf(database, tenant)
    if (row === null) return
    const sandbox = tenantId(row.tenant_id)
    await database.inTenant(sandbox, async (transaction) => {
      const folded = people.foldedEmail(email)
      for (const guest of await people.listUsers(transaction, sandbox)) {
        if (people.foldedEmail(guest.email) !== folded) continue
        await people.endSessions(transaction, sandbox, guest.user_id, new Date(now))
      }
    })
  } catch (error) {
    log.warn({ err: error, tenant_id: tenant }, 'sessions in the test brokerage could not be ended')
  }
}
