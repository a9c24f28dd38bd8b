import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/sign-in.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import { hashPassword, isPassword } from '../../security/index.ts'
import type { Call } from '../endpoint-call.ts'
import { refuseGuessable } from './new-password.ts'
import { type AttemptParts, attempt } from './sign-in-attempt.ts'

/** Changes the password of a person, and ends their other sessions. @throws Problem sign-in-failed, too-many-attempts */
export async function changePassword(
  call: Call<typeof contract.changePassword>,
  parts: AttemptParts,
): Promise<AnswerOf<typeof contract.changePassword>> {
  const { body, caller, now, network, requestId } = call
  const user = await parts.database.inTenant(caller.tenant, (transaction) =>
    people.findUser(transaction, caller.tenant, caller.userId),
  )
  if (user === null) throw problem('token-revoked', 'You are no longer a member of this brokerage.')
  const account = people.foldedEmail(user.email)
  await attempt(parts, { account, network, requestId, now, isSignIn: true }, async (begun) => {
    if (await isPassword(user.password_hash, body.current_password)) return
    begun.failed()
    throw problem('sign-in-failed', 'The current password is wrong.')
  })
  refuseGuessable(body.new_password, [user.name, user.email], '/new_password')
  const passwordHash = await hashPassword(body.new_password)
  await parts.database.inTenant(caller.tenant, async (transaction) => {
    const held = await people.lockUser(transaction, caller.tenant, caller.userId)
    if (held?.password_hash !== user.password_hash) {
      throw problem('sign-in-failed', 'The password has been changed in the meantime.')
    }
    await people.updateUser(transaction, caller.tenant, caller.userId, { password_hash: passwordHash })
    await people.endSessions(transaction, caller.tenant, caller.userId, new Date(now), {
      except: caller.sessionId,
    })
    await recordEvent(transaction, call, 'password-changed')
  })
  return { status: 'ok' as const }
}
