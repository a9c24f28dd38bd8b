import { createHash, randomBytes } from 'node:crypto'
import type { AnswerOf } from '#contract/endpoint.ts'
import { type Problem, problem } from '#contract/errors.ts'
import type * as contract from '#contract/sign-in.ts'
import { recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import { hashPassword, type SignInAttempt } from '../../security/index.ts'
import type { Call, Reply } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { refuseGuessable } from './new-password.ts'
import { startSession } from './sessions.ts'
import { type AttemptParts, attempt, noteNetwork } from './sign-in-attempt.ts'

/** The stored digest of an invitation. The plaintext is shown once and never stored. */
function invitationHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** An invitation: tenant, person, and a secret. */
export function newInvitation(tenant: TenantId, userId: number): { text: string; hash: Buffer } {
  const secret = randomBytes(24).toString('base64url')
  return { text: `lwinv_${tenant}_${userId}_${secret}`, hash: invitationHash(secret) }
}

interface Invitation {
  readonly tenant: TenantId
  readonly userId: number
  readonly hash: Buffer
}

function noInvitation(): Problem {
  return problem('token-invalid', 'The invitation is not valid, or has been used already.')
}

/**
 * The error if the person belongs to another brokerage. The invitation is kept, and can be accepted once that brokerage has removed
 * the person.
 */
function signsInElsewhere({ email }: people.UserRow): Problem {
  return problem(
    'email-taken',
    `${email} already signs in to another brokerage here, and an address signs in to one brokerage. Ask for an invitation to another address of yours, or have the other brokerage remove you. This invitation stays valid.`,
  )
}

/** The account under which failed attempts with invitations are counted: one per network. */
function invitationAccount(network: string | null): string {
  return `invitation from ${network}`
}

/**
 * Parses an invitation. The tenant's data is neither read out nor changed before the secret is verified.
 *
 * @throws Problem token-invalid
 */
function parseInvitation(text: string): Invitation {
  const match = /^lwinv_([1-9]\d{0,9})_([1-9]\d{0,9})_([A-Za-z0-9_-]{32})$/.exec(text)
  const [tenant, userId] = [Number(match?.[1]), Number(match?.[2])]
  if (match?.[3] === undefined || tenant > 2_147_483_647 || userId > 2_147_483_647) throw noInvitation()
  return { tenant: tenantId(tenant), userId, hash: invitationHash(match[3]) }
}

/** The person of an invitation, after its secret is verified. @throws Problem token-invalid, token-expired */
function invitedPerson(
  user: people.UserRow | null,
  invitation: Invitation,
  begun: SignInAttempt,
  now: number,
): people.UserRow & { readonly invitation_expires_at: Date } {
  if (user?.status !== 'invited' || user.invitation_hash?.equals(invitation.hash) !== true) {
    begun.failed()
    throw noInvitation()
  }
  const { invitation_expires_at: expiresAt } = user
  if (expiresAt === null || expiresAt.getTime() <= now) {
    throw problem('token-expired', 'The invitation has expired. Ask for a new one.')
  }
  return { ...user, invitation_expires_at: expiresAt }
}

/** Who invites whom to which brokerage. @throws Problem token-invalid, token-expired, too-many-attempts */
export async function readInvitation(
  { body, now, network, requestId }: Call<typeof contract.readInvitation>,
  parts: AttemptParts & Pick<Parts, 'tokens'>,
): Promise<AnswerOf<typeof contract.readInvitation>> {
  const account = invitationAccount(network)
  return attempt(parts, { account, network, requestId, now }, async (begun) => {
    const invitation = parseInvitation(body.invitation)
    return parts.database.inTenant(invitation.tenant, async (transaction) => {
      const { tenant, userId } = invitation
      const user = await people.findUser(transaction, tenant, userId)
      const person = invitedPerson(user, invitation, begun, now)
      const row = await people.findTenant(transaction, tenant)
      const { invited_by: by } = person
      const inviter = by === null ? null : await people.findUser(transaction, tenant, by)
      return {
        brokerage: row?.name ?? '',
        invited_by: inviter?.name ?? null,
        name: person.name,
        email: person.email,
        role: person.role,
        expires_at: person.invitation_expires_at.toISOString(),
      }
    })
  })
}

/** Sets the password of an invited person, and signs them in. @throws Problem token-invalid, token-expired, email-taken, too-many-attempts */
export async function acceptInvitation(
  call: Call<typeof contract.acceptInvitation>,
  parts: AttemptParts & Pick<Parts, 'tokens'>,
): Promise<Reply<AnswerOf<typeof contract.acceptInvitation>>> {
  const { body, now, network, requestId } = call
  const account = invitationAccount(network)
  return attempt(parts, { account, network, requestId, now }, async (begun) => {
    const invitation = parseInvitation(body.invitation)
    const { tenant } = invitation
    const invited = (user: people.UserRow | null): people.UserRow => {
      const person = invitedPerson(user, invitation, begun, now)
      refuseGuessable(body.password, [person.name, person.email], '/password')
      return person
    }
    // A rejected request computes no hash, and no row is locked while a hash is computed.
    const person = invited(
      await parts.database.inTenant(tenant, (transaction) =>
        people.findUser(transaction, tenant, invitation.userId),
      ),
    )
    const known = await people.signInOf(parts.database, person.email)
    if (known !== null && !(known.tenant === tenant && known.userId === person.user_id)) {
      throw signsInElsewhere(person)
    }
    const passwordHash = await hashPassword(body.password)
    return parts.database.inTenant(tenant, async (transaction) => {
      const user = invited(await people.lockUser(transaction, tenant, invitation.userId))
      const isMine = await people.claimSignIn(transaction, tenant, user.user_id, user.email)
      if (!isMine) throw signsInElsewhere(user)
      const active = await people.updateUser(transaction, tenant, user.user_id, {
        status: 'active',
        password_hash: passwordHash,
        invitation_hash: null,
        invitation_expires_at: null,
      })
      const session = await startSession(transaction, tenant, active, parts, now)
      const caller = { tenant, userId: active.user_id }
      await noteNetwork(transaction, caller, call, parts)
      await recordEvent(transaction, { ...call, caller }, 'invitation-accepted')
      return session
    })
  })
}
