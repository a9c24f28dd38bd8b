import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/users.ts'
import { recordEvent } from '../../audit/index.ts'
import { handOverTokens, liveTokensOf, people, revokeTokensOf } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { heldUser, refuseAboveOwnRole, refuseLastOwner } from './owners.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { userAnswer } from './sessions.ts'

/**
 * Removes a person, ends their sessions, and revokes or hands over their service tokens.
 *
 * @throws Problem not-found, role-required, last-owner, tokens-to-hand-over
 */
export async function removePerson(
  call: Call<typeof contract.removeUser>,
  parts: Pick<Parts, 'database' | 'log'>,
): Promise<AnswerOf<typeof contract.removeUser>> {
  const { caller, params, query, now } = call
  const gone = await parts.database.inTenant(caller.tenant, async (transaction) => {
    const { user, owners } = await heldUser(transaction, caller.tenant, params.id)
    refuseAboveOwnRole(caller, user)
    refuseLastOwner(user, owners)
    const at = new Date(now)
    const live = await liveTokensOf(transaction, caller.tenant, user.user_id, at)
    if (live.length > 0) {
      if (query.tokens === undefined || (query.tokens === 'hand-over' && user.user_id === caller.userId)) {
        throw problem(
          'tokens-to-hand-over',
          `${user.name} has ${live.length} live service token(s): ${live.map((token) => token.name).join(', ')}. Add tokens=revoke or tokens=hand-over (to you).`,
        )
      }
      if (query.tokens === 'hand-over') {
        await handOverTokens(transaction, caller.tenant, user.user_id, caller.userId)
      } else {
        await revokeTokensOf(transaction, caller.tenant, user.user_id, at)
      }
    }
    await people.endSessions(transaction, caller.tenant, user.user_id, at)
    const gone = await people.removeUser(transaction, caller.tenant, user)
    await recordEvent(transaction, call, 'person-removed', {
      subject: user.user_id,
      about: {
        role: user.role,
        ...(live.length === 0
          ? {}
          : { tokens: query.tokens, token_ids: live.map(({ token_id }) => token_id) }),
      },
    })
    return gone
  })
  await endSandboxSessions(parts, caller.tenant, gone.email, now)
  return userAnswer(gone)
}
