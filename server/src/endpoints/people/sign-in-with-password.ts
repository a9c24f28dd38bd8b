import type { AnswerOf } from '#contract/endpoint.ts'
import { type Problem, problem } from '#contract/errors.ts'
import type * as contract from '#contract/sign-in.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import { isPassword } from '../../security/index.ts'
import type { Call, Reply } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { startSession } from './sessions.ts'
import { type AttemptParts, attempt, nobody, noteNetwork } from './sign-in-attempt.ts'

function signInFailed(): Problem {
  return problem('sign-in-failed', 'The e-mail address or the password is wrong.')
}

/** Signs a person in with a password. @throws Problem sign-in-failed, too-many-attempts */
export async function signIn(
  call: Call<typeof contract.signIn>,
  parts: AttemptParts & Pick<Parts, 'tokens'>,
): Promise<Reply<AnswerOf<typeof contract.signIn>>> {
  const { body, now, network, requestId } = call
  const account = people.foldedEmail(body.email)
  return attempt(parts, { account, network, requestId, now, isSignIn: true }, async (begun) => {
    const known = await people.signInOf(parts.database, body.email)
    // An unknown address costs the same database and hash work, so that the response time reveals no accounts.
    const asked = known ?? nobody
    const user = await parts.database.inTenant(asked.tenant, (transaction) =>
      people.findUser(transaction, asked.tenant, asked.userId),
    )
    const fits = await isPassword(user?.status === 'active' ? user.password_hash : null, body.password)
    if (known === null || user === null || !fits) {
      begun.failed()
      if (known !== null) parts.refusals.signInFailed(known.tenant, known.userId, call)
      throw signInFailed()
    }
    begun.succeeded()
    return parts.database.inTenant(known.tenant, async (transaction) => {
      const tenant = await people.findTenant(transaction, known.tenant)
      // The password may have changed during the check, which ended all sessions. Then this one must not begin.
      const held = await people.lockUser(transaction, known.tenant, known.userId)
      if (tenant?.status !== 'active' || held?.password_hash !== user.password_hash) {
        parts.refusals.signInFailed(known.tenant, known.userId, call)
        throw signInFailed()
      }
      const session = await startSession(transaction, known.tenant, held, parts, now)
      await noteNetwork(transaction, known, call, parts)
      await recordEvent(transaction, { ...call, caller: known }, 'signed-in')
      return session
    })
  })
}
