import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { invitationLifetimeDays, invitationsPerDayMax } from '#contract/limits.ts'
import type * as contract from '#contract/users.ts'
import { recordEvent } from '../../audit/index.ts'
import { dailyCounts, people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { newInvitation } from './invitations.ts'
import { refuseAboveOwnRole } from './owners.ts'
import { userAnswer } from './sessions.ts'

function emailTaken({ name }: people.UserRow) {
  return problem('email-taken', `${name} already signs in to this brokerage with this e-mail address.`)
}

/**
 * Counts an invitation, under a lock per brokerage, so that the same address is not invited twice at once.
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

/** Invites a person, or replaces the invitation of an invited one. @throws Problem role-required, email-taken, too-many-attempts */
export async function invitePerson(
  call: Call<typeof contract.inviteUser>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.inviteUser>> {
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
}
