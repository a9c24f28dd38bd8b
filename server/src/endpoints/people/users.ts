import { problem } from '#contract/errors.ts'
import { invitationLifetimeDays, invitationsPerDayMax } from '#contract/limits.ts'
import { inviteUser, listUsers, removeUser, updateUser } from '#contract/users.ts'
import type { PersonCaller } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import {
  dailyCounts,
  handOverTokens,
  liveTokensOf,
  people,
  revokeTokensOf,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { newInvitation, userAnswer } from './sign-in.ts'

/** Locks an active person and all owners, so that concurrent changes of the same people run one after another. */
async function heldUser(transaction: TenantTransaction, tenant: TenantId, userId: number) {
  const owners = await people.lockOwners(transaction, tenant)
  const user = await people.lockUser(transaction, tenant, userId)
  if (user === null || user.status === 'removed') {
    throw problem('not-found', `There is no user ${userId} in this brokerage.`)
  }
  return { user, owners }
}

/** Only owners create, change and remove owners, so that admins cannot raise their own role. */
function refuseAboveOwnRole(caller: PersonCaller, concerns: { role: people.UserRow['role'] } | null): void {
  if (concerns?.role === 'owner' && caller.role !== 'owner') {
    throw problem('role-required', 'Only an owner can add, change or remove an owner.')
  }
}

function refuseLastOwner(user: people.UserRow, owners: readonly number[]): void {
  if (user.role === 'owner' && owners.every((owner) => owner === user.user_id)) {
    throw problem('last-owner', `${user.name} is the only owner. Make another person an owner first.`)
  }
}

function emailTaken({ name }: people.UserRow) {
  return problem('email-taken', `${name} already signs in to this brokerage with this e-mail address.`)
}

/**
 * Counts an invitation. Invitations of one brokerage wait here for each other, so that the same address is not invited twice at once.
 *
 * @throws Problem too-many-attempts
 */
async function countInvitation(transaction: TenantTransaction, tenant: TenantId, now: number): Promise<void> {
  const counted = { counter: 'invitation', max: invitationsPerDayMax, now } as const
  if (await dailyCounts.countToday(transaction, tenant, counted)) return
  throw problem(
    'too-many-attempts',
    `A brokerage may make ${invitationsPerDayMax} invitations per day. Invite this person after midnight UTC.`,
    { headers: { 'Retry-After': String(dailyCounts.secondsLeftOfDay(now)) } },
  )
}

export const userEndpoints: ServedEndpoint[] = [
  serve(listUsers, async ({ caller }, { database }) => ({
    users: (
      await database.inTenant(caller.tenant, (transaction) => people.listUsers(transaction, caller.tenant))
    ).map(userAnswer),
  })),

  serve(inviteUser, async (call, { database }) => {
    const { caller, body, now } = call
    refuseAboveOwnRole(caller, body)
    const expiresAt = new Date(now + invitationLifetimeDays * 86_400_000)
    return database.inTenant(caller.tenant, async (transaction) => {
      const tenant = await people.findTenant(transaction, caller.tenant)
      if (tenant?.sandbox_of != null) {
        throw problem(
          'state-conflict',
          'Nobody is invited to a test brokerage: every admin of the brokerage can enter it.',
        )
      }
      await countInvitation(transaction, caller.tenant, now)
      const folded = people.foldedEmail(body.email)
      const known = (await people.listUsers(transaction, caller.tenant)).find(
        (user) => people.foldedEmail(user.email) === folded,
      )
      const invited =
        known === undefined ? null : await people.lockUser(transaction, caller.tenant, known.user_id)
      if (invited !== null && invited.status !== 'invited') throw emailTaken(invited)
      refuseAboveOwnRole(caller, invited)
      const user =
        invited ??
        (await people.insertUser(transaction, caller.tenant, {
          ...body,
          status: 'invited',
          passwordHash: null,
          invitation: null,
          now: new Date(now),
        }))
      if (user === null) throw new Error('An invited person has no e-mail address to claim yet.')
      const invitation = newInvitation(caller.tenant, user.user_id)
      const updated = await people.updateUser(transaction, caller.tenant, user.user_id, {
        name: body.name,
        role: body.role,
        invitation_hash: invitation.hash,
        invitation_expires_at: expiresAt,
        invited_by: caller.userId,
      })
      await recordEvent(transaction, call, 'person-invited', {
        subject: updated.user_id,
        about: { email: updated.email, role: updated.role },
      })
      return { user: userAnswer(updated), invitation: invitation.text, expires_at: expiresAt.toISOString() }
    })
  }),

  serve(updateUser, async (call, parts) => {
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
      return { updated, hasNewRole }
    })
    if (hasNewRole) await endSandboxSessions(parts, caller.tenant, updated.email, now)
    return userAnswer(updated)
  }),

  serve(removeUser, async (call, parts) => {
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
            `${user.name} holds ${live.length} live service token(s): ${live.map((token) => token.name).join(', ')}. Add tokens=revoke or tokens=hand-over (to you).`,
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
  }),
]
