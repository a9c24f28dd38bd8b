import { problem } from '#contract/errors.ts'
import {
  confirmSession,
  endOtherSessions,
  endSession,
  endSessionsOf,
  listSessions,
  listSessionsOf,
} from '#contract/sessions.ts'
import type { PersonCaller } from '../../access/index.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { people, sandboxOf, sessions } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { hasFactor } from './second-factor-codes.ts'
import { sessionAnswer } from './session-answer.ts'
import { refuseAboveOwnRole } from './users.ts'

function noSession() {
  return problem('not-found', 'You have no such session. It may have ended already.')
}

/** @throws Problem not-found */
async function personOf(transaction: TenantTransaction, { tenant }: PersonCaller, userId: number) {
  const user = await people.findUser(transaction, tenant, userId)
  if (user !== null && user.status !== 'removed') return user
  throw problem('not-found', `There is no user ${userId} in this brokerage.`)
}

/** The sessions of a person as the caller sees them. */
async function listOf(transaction: TenantTransaction, caller: PersonCaller, userId: number, now: number) {
  const rows = await sessions.listLiveSessions(transaction, caller.tenant, userId, new Date(now))
  return { sessions: rows.map((row) => sessionAnswer(row, caller.sessionId)) }
}

/** Ends all sessions of a person but the one of the call, also in the test brokerage. Nothing to end is no event. */
async function endAllButThis(
  call: Doing & { readonly caller: PersonCaller },
  parts: Parts,
  find: (transaction: TenantTransaction) => Promise<people.UserRow>,
) {
  const { caller, now } = call
  const { tenant } = caller
  const { ended, sandbox, email } = await parts.database.inTenant(tenant, async (transaction) => {
    const user = await find(transaction)
    const ended = await sessions.endSessions(transaction, tenant, user.user_id, new Date(now), {
      except: caller.sessionId,
    })
    const sandbox = await sandboxOf(transaction, tenant)
    if (ended > 0) {
      await recordEvent(transaction, call, 'sessions-ended', {
        subject: user.user_id,
        about: { sessions: ended },
      })
    }
    return { ended, sandbox, email: user.email }
  })
  await endSandboxSessions(parts, { tenant, sandbox, email }, now)
  return { ended }
}

export const sessionEndpoints: ServedEndpoint[] = [
  serve(listSessions, ({ caller, now }, { database }) =>
    database.inTenant(caller.tenant, (transaction) => listOf(transaction, caller, caller.userId, now)),
  ),

  serve(endSession, (call, { database }) => {
    const { caller, params, now } = call
    const { tenant, userId } = caller
    return database.inTenant(tenant, async (transaction) => {
      const ended = await sessions.endSessions(transaction, tenant, userId, new Date(now), {
        only: params.id,
      })
      if (ended === 0) throw noSession()
      await recordEvent(transaction, call, 'sessions-ended', { subject: userId, about: { sessions: ended } })
      return { ended }
    })
  }),

  serve(endOtherSessions, (call, parts) =>
    endAllButThis(call, parts, (transaction) => personOf(transaction, call.caller, call.caller.userId)),
  ),

  serve(confirmSession, (call, { database }) => {
    const { caller, params, now } = call
    const { tenant, userId } = caller
    if (params.id === caller.sessionId) {
      throw problem('state-conflict', 'A session cannot confirm itself. Confirm it from another session.')
    }
    return database.inTenant(tenant, async (transaction) => {
      const confirmed = { userId, sessionId: params.id, now: new Date(now) }
      if (!(await sessions.confirmSignIn(transaction, tenant, confirmed))) throw noSession()
      await recordEvent(transaction, call, 'sign-in-confirmed')
      return { status: 'ok' as const }
    })
  }),

  serve(listSessionsOf, ({ caller, params, now }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const { user_id } = await personOf(transaction, caller, params.id)
      return {
        ...(await listOf(transaction, caller, user_id, now)),
        second_factor: await hasFactor(transaction, caller.tenant, user_id),
      }
    }),
  ),

  serve(endSessionsOf, (call, parts) =>
    endAllButThis(call, parts, async (transaction) => {
      const user = await personOf(transaction, call.caller, call.params.id)
      refuseAboveOwnRole(call.caller, user)
      return user
    }),
  ),
]
