import { people } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'

/** A person of a brokerage, and its test brokerage; null if it has none. */
interface PersonWithSandbox {
  readonly tenant: TenantId
  readonly sandbox: TenantId | null
  readonly email: string
}

/**
 * Ends the sessions of a person in the test brokerage, after they lost their role or signed out everywhere. A failure is
 * only logged: the change in the brokerage is already committed, and a session there lasts an hour at most.
 */
export async function endSandboxSessions(
  { database, log }: Pick<Parts, 'database' | 'log'>,
  { tenant, sandbox, email }: PersonWithSandbox,
  now: number,
): Promise<void> {
  if (sandbox === null) return
  try {
    await database.inTenant(sandbox, async (transaction) => {
      const row = await people.findTenant(transaction, sandbox)
      if (row?.sandbox_of !== tenant) return
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
