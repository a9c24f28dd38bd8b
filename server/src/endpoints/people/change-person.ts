import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/users.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { heldUser, refuseAboveOwnRole, refuseLastOwner } from './owners.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { userAnswer } from './sessions.ts'

/** Changes the name or the role of a person. A new role ends their sessions. @throws Problem not-found, role-required, last-owner */
export async function changePerson(
  call: Call<typeof contract.updateUser>,
  parts: Pick<Parts, 'database' | 'log'>,
): Promise<AnswerOf<typeof contract.updateUser>> {
  const { caller, params, body, now } = call
  const { updated, hasNewRole } = await parts.database.inTenant(caller.tenant, async (transaction) => {
    const { user, owners } = await heldUser(transaction, caller.tenant, params.id)
    if (body.role !== undefined && body.role !== user.role) {
      refuseAboveOwnRole(caller, user)
      refuseAboveOwnRole(caller, { role: body.role })
      refuseLastOwner(user, owners)
    }
    const updated = await people.updateUser(transaction, caller.tenant, user.user_id, body)
    const hasNewRole = updated.role !== user.role
    // A new role ends the person's sessions, so that none keeps the old role.
    if (hasNewRole && user.user_id !== caller.userId) {
      await people.endSessions(transaction, caller.tenant, user.user_id, new Date(now))
    }
    if (hasNewRole) {
      await recordEvent(transaction, call, 'role-changed', {
        subject: user.user_id,
        about: { from: user.role, to: updated.role },
      })
    }
    if (updated.name !== user.name) {
      await recordEvent(transaction, call, 'settings-changed', {
        subject: user.user_id,
        about: { before: { name_of_person: user.name }, after: { name_of_person: updated.name } },
      })
    }
    return { updated, hasNewRole }
  })
  if (hasNewRole) await endSandboxSessions(parts, caller.tenant, updated.email, now)
  return userAnswer(updated)
}
