import { problem } from '#contract/errors.ts'
import { getLeaving, removeUser, restoreUser, suspendUser } from '#contract/leaving.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { inbox, people, sandboxes, scim, sessions } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { askedBy, type HandedOver, leftBehind, refuseForgottenTokens, settleLeft } from './left-behind.ts'
import { refuseBreakGlass } from './password-rule.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { userAnswer } from './sign-in.ts'
import { heldUser, refuseAboveOwnRole, refuseLastOwner } from './users.ts'

/** Suspends an active or invited person, and settles what they leave. The person and the owners are locked. */
export async function suspendPerson(
  transaction: TenantTransaction,
  doing: Doing,
  handed: HandedOver,
  { config }: Pick<Parts, 'config'>,
): Promise<people.UserRow> {
  const { now } = doing
  const { tenant } = doing.caller
  const { user } = handed
  const left = await settleLeft(transaction, doing.caller, handed, { config, now })
  await sessions.endSessions(transaction, tenant, user.user_id, new Date(now))
  const suspended = await people.updateUser(transaction, tenant, user.user_id, { status: 'suspended' })
  await recordEvent(transaction, doing, 'person-suspended', {
    subject: user.user_id,
    about: { role: user.role, ...left },
  })
  return suspended
}

/** Whether a person has signed in: they accepted an invitation, or came through their company. */
export async function hasSignedIn(
  transaction: TenantTransaction,
  { tenant }: Doing['caller'],
  user: people.UserRow,
): Promise<boolean> {
  if (user.status === 'active' || user.password_hash !== null) return true
  return scim.hasHadSession(transaction, tenant, user.user_id)
}

/** Restores a suspended person, who is locked: somebody who never signed in is invited again. */
export async function restorePerson(
  transaction: TenantTransaction,
  doing: Doing,
  user: people.UserRow,
): Promise<people.UserRow> {
  const { tenant } = doing.caller
  await inbox.giveQuotes(transaction, tenant, user.user_id, null)
  const status = (await hasSignedIn(transaction, doing.caller, user)) ? 'active' : 'invited'
  const restored = await people.updateUser(transaction, tenant, user.user_id, { status })
  await recordEvent(transaction, doing, 'person-restored', {
    subject: user.user_id,
    about: { role: user.role },
  })
  return restored
}

/** Removes a person, and settles what they leave. The person and the owners are locked. */
export async function removePerson(
  transaction: TenantTransaction,
  doing: Doing,
  handed: HandedOver,
  { config }: Pick<Parts, 'config'>,
): Promise<people.UserRow> {
  const { now } = doing
  const { tenant } = doing.caller
  const { user } = handed
  const left = await settleLeft(transaction, doing.caller, handed, { config, now })
  const at = new Date(now)
  await sessions.endSessions(transaction, tenant, user.user_id, at)
  await sessions.forgetSessionNetworks(transaction, tenant, user.user_id, at)
  const gone = await people.removeUser(transaction, tenant, user)
  await recordEvent(transaction, doing, 'person-removed', {
    subject: user.user_id,
    about: { role: user.role, ...left },
  })
  return gone
}

export const leavingEndpoints: ServedEndpoint[] = [
  serve(getLeaving, ({ caller: { tenant }, params, now }, { database }) =>
    database.inTenant(tenant, async (transaction) => {
      const user = await people.findUser(transaction, tenant, params.id)
      if (user === null || user.status === 'removed') {
        throw problem('not-found', `There is no user ${params.id} in this brokerage.`)
      }
      return leftBehind(transaction, tenant, user, now)
    }),
  ),

  serve(suspendUser, async (call, parts) => {
    const { caller, params, body, now } = call
    const { tenant } = caller
    const { to, ...choice } = body
    const { answer, sandbox } = await parts.database.inTenant(tenant, async (transaction) => {
      const asked = await askedBy(transaction, tenant, params.id, now)
      const { user, owners } = await heldUser(transaction, tenant, params.id)
      refuseAboveOwnRole(caller, user)
      refuseLastOwner(user, owners)
      await refuseBreakGlass(transaction, tenant, user)
      if (user.user_id === caller.userId) {
        throw problem('state-conflict', 'You cannot suspend yourself. Another admin or owner can.')
      }
      if (user.status !== 'active') {
        throw problem(
          'state-conflict',
          user.status === 'suspended'
            ? `${user.name} is suspended already. Nothing was changed.`
            : `${user.name} has not accepted the invitation. Remove them instead: the invitation then stops working.`,
        )
      }
      const handed = { user, choice, to, named: { pointer: '/to' }, asked }
      const sandbox = await sandboxes.sandboxOf(transaction, tenant)
      const suspended = await suspendPerson(transaction, call, handed, parts)
      return { answer: userAnswer(suspended), sandbox }
    })
    await endSandboxSessions(parts, { tenant, sandbox, email: answer.email }, now)
    return answer
  }),

  serve(restoreUser, (call, { database }) => {
    const { caller, params } = call
    const { tenant } = caller
    return database.inTenant(tenant, async (transaction) => {
      const { user } = await heldUser(transaction, tenant, params.id)
      refuseAboveOwnRole(caller, user)
      if (user.status !== 'suspended') {
        throw problem('state-conflict', `${user.name} is ${user.status}, not suspended. Nothing was changed.`)
      }
      return userAnswer(await restorePerson(transaction, call, user))
    })
  }),

  serve(removeUser, async (call, parts) => {
    const { caller, params, query, now } = call
    const { tenant } = caller
    const { answer, sandbox } = await parts.database.inTenant(tenant, async (transaction) => {
      const asked = await askedBy(transaction, tenant, params.id, now)
      const { user, owners } = await heldUser(transaction, tenant, params.id)
      refuseAboveOwnRole(caller, user)
      refuseLastOwner(user, owners)
      await refuseBreakGlass(transaction, tenant, user)
      const { to = caller.userId, ...choice } = query
      const isToThemselves = choice.tokens === 'hand-over' && to === user.user_id
      const isSaid = choice.tokens !== undefined && !isToThemselves
      await refuseForgottenTokens(transaction, tenant, user, { isSaid, now })
      if (isToThemselves) delete choice.tokens
      const isHandedOver = query.to !== undefined || Object.values(choice).includes('hand-over')
      const handed = {
        user,
        choice,
        to: isHandedOver ? to : undefined,
        named: { parameter: 'to' },
        asked,
      }
      const sandbox = await sandboxes.sandboxOf(transaction, tenant)
      const gone = await removePerson(transaction, call, handed, parts)
      return { answer: userAnswer(gone), sandbox }
    })
    await endSandboxSessions(parts, { tenant, sandbox, email: answer.email }, now)
    return answer
  }),
]
