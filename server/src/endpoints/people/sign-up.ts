import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/sign-in.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import { hashPassword } from '../../security/index.ts'
import type { Call, Reply } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { timeZoneToStore } from './brokerage-settings.ts'
import { refuseGuessable } from './new-password.ts'
import { startSession } from './sessions.ts'
import { type AttemptParts, attempt, noteNetwork, tooManyAttempts } from './sign-in-attempt.ts'

/** Creates a brokerage and its owner, and signs the owner in. @throws Problem sign-up-disabled, email-taken, too-many-attempts */
export async function signUp(
  call: Call<typeof contract.signUp>,
  parts: AttemptParts & Pick<Parts, 'tokens' | 'signUps' | 'config'>,
): Promise<Reply<AnswerOf<typeof contract.signUp>>> {
  const { body, now, network, requestId } = call
  if (!parts.config.allowSignUp)
    throw problem('sign-up-disabled', 'Sign-up is turned off on this installation.')
  const account = people.foldedEmail(body.email)
  refuseGuessable(body.password, [body.company, body.name, body.email], '/password')
  const place = parts.signUps.admit(network, now)
  if (!place.admitted) throw tooManyAttempts('sign-ups', place.retryAfterMs)
  return attempt(parts, { account, network, requestId, now }, async (begun) => {
    const passwordHash = await hashPassword(body.password)
    const tenant = people.newTenantId()
    return parts.database.inTenant(tenant, async (transaction) => {
      const made = await people.createTenant(transaction, tenant, {
        ...body,
        passwordHash,
        timeZone: await timeZoneToStore(transaction, body.time_zone),
        now: new Date(now),
      })
      if (made === null) {
        begun.failed()
        throw problem('email-taken', 'This e-mail address is in use. Sign in, or use another one.')
      }
      const session = await startSession(transaction, tenant, made.user, parts, now)
      await noteNetwork(transaction, { tenant, userId: made.user.user_id }, call, parts)
      await recordEvent(transaction, { ...call, caller: { tenant, userId: made.user.user_id } }, 'signed-up')
      return session
    })
  })
}
