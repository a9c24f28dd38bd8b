import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { invalid, type Problem, problem } from '#contract/errors.ts'
import {
  dashboardTokenLifetimeHours,
  knownNetworkDays,
  knownNetworksMax,
  sessionTokenLifetimeSeconds,
  tokenExpiryNoticeDays,
} from '#contract/limits.ts'
import {
  acceptInvitation,
  changePassword,
  me,
  readInvitation,
  sessionToken,
  signIn,
  signOut,
  signUp,
} from '#contract/sign-in.ts'
import type { User } from '#contract/users.ts'
import { sessionCookie } from '../../access/index.ts'
import { type CameFrom, recordEvent } from '../../audit/index.ts'
import { expiringTokens, people, revokeTokensOf, signInNetworks } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import {
  hashPassword,
  isGuessable,
  isPassword,
  networkHash,
  type SignInAttempt,
} from '../../security/index.ts'
import { Reply, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { tenantAnswer, timeZoneToStore } from './brokerage-settings.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'

/** A person in the form of the API. */
export function userAnswer(user: people.UserRow): Static<typeof User> {
  return {
    id: user.user_id,
    name: user.name,
    email: user.email,
    role: user.role,
    status: user.status,
    created_at: user.created_at.toISOString(),
  }
}

/** Starts a session. The token is valid as long as the session's row. */
export async function startSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: people.UserRow,
  parts: Pick<Parts, 'tokens'>,
  now: number,
  hours: number = dashboardTokenLifetimeHours,
): Promise<Reply<AnswerOf<typeof signIn>>> {
  const sessionId = randomUUID()
  const issuedAt = Math.floor(now / 1000)
  const expiresAtSeconds = issuedAt + hours * 3600
  const expiresAt = new Date(expiresAtSeconds * 1000)
  await people.insertSession(transaction, tenant, {
    sessionId,
    userId: user.user_id,
    now: new Date(now),
    expiresAt,
  })
  const row = await people.tenantOfSession(transaction, tenant)
  const token = parts.tokens.sign('dashboard', {
    tenant_id: tenant,
    user_id: user.user_id,
    role: user.role,
    scope: 'dashboard',
    jti: sessionId,
    iat: issuedAt,
    exp: expiresAtSeconds,
  })
  return new Reply(
    { token, expires_at: expiresAt.toISOString(), user: userAnswer(user), tenant: tenantAnswer(row) },
    { 'Set-Cookie': sessionCookieOf(token, expiresAt) },
  )
}

/** The session cookie: not readable by scripts, not sent over plain HTTP or by other sites. */
function sessionCookieOf(token: string, expires: Date): string {
  return `${sessionCookie}=${token}; Path=/; HttpOnly; Secure; SameSite=Strict; Expires=${expires.toUTCString()}`
}

function refuseGuessable(password: string, ownWords: readonly string[], pointer: string): void {
  if (isGuessable(password, ownWords)) {
    throw invalid([
      {
        pointer,
        code: 'guessable',
        detail: 'The password is easy to guess; use a few unrelated words, without your name or company.',
      },
    ])
  }
}

function tooManyAttempts(what: string, waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return problem('too-many-attempts', `Too many ${what}. Wait ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** A tenant id that does not exist: real ids are far above it. */
const nobody = { tenant: tenantId(1), userId: 1 }

const knownSince = (now: number) => new Date(now - knownNetworkDays * 86_400_000)

/**
 * An attempt that must wait for failures from other networks, as one of a network that the person signed in from: it waits for the
 * failures of its own network only. An unknown address causes the same work.
 */
async function attemptAsKnown(
  parts: Parts,
  { account, network, now }: { account: string; network: string; now: number },
  usual: SignInAttempt,
): Promise<SignInAttempt> {
  const known = parts.signInAttempts.begin(account, network, now, true)
  if (known.waitMs > 0 || !parts.signInAttempts.mayLookUp(network, now)) {
    known.end()
    return usual
  }
  try {
    const { tenant, userId } = (await people.signInOf(parts.database, account)) ?? nobody
    const hashes = parts.secretKeys.map((key) => networkHash(key, `${tenant} ${userId}`, network))
    const isKnown = await parts.database.inTenant(tenant, (transaction) =>
      signInNetworks.isKnownNetwork(transaction, tenant, { userId, hashes }, knownSince(now)),
    )
    if (isKnown) return known
  } catch (error) {
    known.end()
    throw error
  }
  known.end()
  return usual
}

/** Remembers the network that a person has signed in from. */
async function noteNetwork(
  transaction: TenantTransaction,
  { tenant, userId }: { tenant: TenantId; userId: number },
  { network, now }: { network: string; now: number },
  { secretKeys }: Pick<Parts, 'secretKeys'>,
): Promise<void> {
  const hash = networkHash(secretKeys[0], `${tenant} ${userId}`, network)
  const noted = { userId, hash, now: new Date(now) }
  await signInNetworks.noteSignInNetwork(transaction, tenant, noted, knownNetworksMax)
}

/**
 * Checks one attempt at a password or an invitation, unless too many attempts failed before. With `isSignIn`, the
 * account is the e-mail address of the sign-in, and its brokerage is informed of blocked attempts.
 */
async function attempt<T>(
  parts: Parts,
  from: CameFrom & { account: string; now: number; isSignIn?: boolean },
  work: (attempt: SignInAttempt) => Promise<T>,
): Promise<T> {
  const { account, network, now } = from
  const usual = parts.signInAttempts.begin(account, network, now)
  const begun = usual.waitMs > 0 && from.isSignIn === true ? await attemptAsKnown(parts, from, usual) : usual
  const { waitMs } = begun
  if (waitMs > 0) {
    if (from.isSignIn === true) parts.refusals.backedOff(account, from)
    throw tooManyAttempts('failed attempts', waitMs)
  }
  try {
    return await work(begun)
  } finally {
    begun.end()
  }
}

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

function signInFailed(): Problem {
  return problem('sign-in-failed', 'The e-mail address or the password is wrong.')
}

function noInvitation(): Problem {
  return problem('token-invalid', 'The invitation is not valid, or has been used already.')
}

/** The invitation stays as it is: it can be accepted once the other brokerage has removed the person. */
function signsInElsewhere({ email }: people.UserRow): Problem {
  return problem(
    'email-taken',
    `${email} already signs in to another brokerage here, and an address signs in to one brokerage. Ask for an invitation to another address of yours, or have the other brokerage remove you. This invitation stays valid.`,
  )
}

/** Failed attempts with invitations count per network. */
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

export const signInEndpoints: ServedEndpoint[] = [
  serve(signUp, async (call, parts) => {
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
        await recordEvent(
          transaction,
          { ...call, caller: { tenant, userId: made.user.user_id } },
          'signed-up',
        )
        return session
      })
    })
  }),

  serve(signIn, async (call, parts) => {
    const { body, now, network, requestId } = call
    const account = people.foldedEmail(body.email)
    return attempt(parts, { account, network, requestId, now, isSignIn: true }, async (begun) => {
      const known = await people.signInOf(parts.database, body.email)
      // An unknown address costs the same database and hash work, so that the response time does not reveal accounts.
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
        // The check took a while. If the password changed meanwhile, all sessions were ended, and this one must not
        // begin.
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
  }),

  serve(readInvitation, async ({ body, now, network, requestId }, parts) => {
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
  }),

  serve(acceptInvitation, async (call, parts) => {
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
  }),

  serve(signOut, async (call, parts) => {
    const { body, caller, now } = call
    const everywhere = body.everywhere === true
    if (body.tokens !== undefined && !everywhere) {
      throw invalid([
        {
          pointer: '/tokens',
          code: 'invalid',
          detail: 'tokens is only accepted with everywhere=true; remove it.',
        },
      ])
    }
    const at = new Date(now)
    const person = await parts.database.inTenant(caller.tenant, async (transaction) => {
      const revoked =
        body.tokens === 'revoke' ? await revokeTokensOf(transaction, caller.tenant, caller.userId, at) : []
      const which = everywhere ? {} : { only: caller.sessionId }
      await people.endSessions(transaction, caller.tenant, caller.userId, at, which)
      await recordEvent(transaction, call, 'signed-out', {
        about: { everywhere, ...(body.tokens === 'revoke' ? { token_ids: revoked } : {}) },
      })
      return everywhere ? people.findUser(transaction, caller.tenant, caller.userId) : null
    })
    if (person !== null) await endSandboxSessions(parts, caller.tenant, person.email, now)
    return new Reply({ status: 'ok' as const }, { 'Set-Cookie': sessionCookieOf('', new Date(0)) })
  }),

  serve(sessionToken, async ({ caller, now }, { tokens }) => {
    const issuedAt = Math.floor(now / 1000)
    // A token obtained with such a token expires with it, so that a leaked token cannot be renewed.
    const expiresAt = Math.min(issuedAt + sessionTokenLifetimeSeconds, caller.tokenExpiresAtSeconds)
    const token = tokens.sign('dashboard', {
      tenant_id: caller.tenant,
      user_id: caller.userId,
      role: caller.role,
      scope: 'dashboard',
      jti: caller.sessionId,
      iat: issuedAt,
      exp: expiresAt,
    })
    return { token, expires_at: new Date(expiresAt * 1000).toISOString() }
  }),

  serve(changePassword, async (call, parts) => {
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
  }),

  serve(me, async ({ caller, now }, parts) =>
    parts.database.inTenant(caller.tenant, async (transaction) => {
      const user = await people.findUser(transaction, caller.tenant, caller.userId)
      const tenant = await people.findTenant(transaction, caller.tenant)
      if (user === null || tenant === null)
        throw problem('token-revoked', 'You are no longer a member of this brokerage.')
      const until = new Date(now + tokenExpiryNoticeDays * 86_400_000)
      const expiring = roleAtLeast(caller.role, 'admin')
        ? await expiringTokens(transaction, caller.tenant, new Date(now), until)
        : []
      return {
        user: userAnswer(user),
        tenant: tenantAnswer(tenant),
        expires_at: caller.sessionExpiresAt.toISOString(),
        expiring_tokens: expiring.map(({ token_id, name, expires_at }) => ({
          id: token_id,
          name,
          expires_at: expires_at.toISOString(),
        })),
      }
    }),
  ),
]
