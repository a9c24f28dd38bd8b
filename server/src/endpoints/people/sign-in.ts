import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import { type AnswerOf, type BodyOf, type Endpoint, roleAtLeast } from '#contract/endpoint.ts'
import { invalid, type Problem, problem } from '#contract/errors.ts'
import { newSignInsMax, sessionTokenLifetimeSeconds, tokenExpiryNoticeDays } from '#contract/limits.ts'
import {
  acceptInvitation,
  changePassword,
  me,
  readInvitation,
  sessionToken,
  signIn,
  signOut,
  signUp,
  type Tenant,
  type User,
  updateTenant,
} from '#contract/sign-in.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import { requireRecentFactor, sessionCookie } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import {
  expiringTokens,
  findSampleImport,
  people,
  revokeTokensOf,
  sandboxOf,
  sessions,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import {
  deviceName,
  hashPassword,
  isGuessable,
  isPassword,
  loadPasskeys,
  type SignInAttempt,
} from '../../security/index.ts'
import { type Call, Reply, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { changeFloors, floorsAnswer } from '../pricing/floors.ts'
import {
  attempt,
  knownSince,
  noteNetwork,
  passwordHolder,
  signInFailed,
  succeeded,
  tooManyAttempts,
} from './accounts.ts'
import { purposes, siteOf } from './passkey-check.ts'
import { companyRequired, passwordRule } from './password-rule.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { hasFactor, takeFactor } from './second-factor-codes.ts'
import { sessionAnswer } from './session-answer.ts'

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

function tenantAnswer(tenant: people.TenantRow): Static<typeof Tenant> {
  return {
    id: tenant.tenant_id,
    name: tenant.name,
    test: tenant.sandbox_of !== null,
    win_probability_method: tenant.win_probability_method,
    floors: floorsAnswer(people.minimumOf(tenant)),
    time_zone: tenant.time_zone,
    quote_expiry: {
      valid_days: tenant.quote_valid_days,
      counts_as: tenant.expired_counts_as_lost ? 'lost' : 'pending',
    },
    default_basis: tenant.default_basis,
    default_rate_type: tenant.default_rate_type,
    integration_pool: tenant.integration_pool,
    market_calls_per_day: tenant.market_calls_per_day,
    stop_fee: { amount: dollarsFromCents(tenant.stop_fee_cents), currency: tenant.stop_fee_currency },
    second_factor_from: tenant.second_factor_from ?? 'nobody',
    session_limits: { hours: tenant.session_hours, idle_minutes: tenant.session_idle_minutes },
    reminders: {
      escalate_after_minutes: tenant.escalate_after_minutes,
      follow_up_after_hours: tenant.follow_up_after_hours,
      follow_up_before_end_minutes: tenant.follow_up_before_end_minutes,
    },
    answer_template: tenant.answer_template,
    created_at: tenant.created_at.toISOString(),
  }
}

/** The reminders of a body as they are stored: 0 turns one off. */
function reminderValues(reminders: BodyOf<typeof updateTenant>['reminders'] = {}) {
  return Object.fromEntries(
    Object.entries(reminders).map(([name, value]) => [name, value === 0 ? null : value]),
  )
}

/** A time zone as it is stored. A zone that the database does not know is an error: it could not compute months. */
async function timeZoneToStore(
  transaction: TenantTransaction,
  name: string | undefined,
): Promise<string | undefined> {
  const zone = name === undefined ? null : timeZoneNamed(name)
  if (zone === null || (await people.isKnownTimeZone(transaction, zone))) return zone ?? undefined
  throw invalid([
    {
      pointer: '/time_zone',
      code: 'unknown',
      detail: `time_zone: this installation does not know ${zone}; send another zone with the same time.`,
    },
  ])
}

/** What a started session says about its sign-in, for the audit log. Empty if the device and the network are known. */
type StartedFrom = Readonly<Record<string, unknown>>

/**
 * Starts a session. The token is valid as long as the session's row: as long as the brokerage permits, or `hoursMax` if that is less.
 *
 * @returns the answer, and what the audit log says about the sign-in
 */
export async function startSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: people.UserRow,
  { tokens }: Pick<Parts, 'tokens'>,
  from: SignInFrom,
  hoursMax = Number.POSITIVE_INFINITY,
): Promise<{ readonly reply: Reply<AnswerOf<typeof signIn>>; readonly about: StartedFrom }> {
  const { now, network } = from
  const row = await people.tenantOfSession(transaction, tenant)
  const sessionId = randomUUID()
  const issuedAt = Math.floor(now / 1000)
  const expiresAtSeconds = issuedAt + Math.min(row.session_hours, hoursMax) * 3600
  const expiresAt = new Date(expiresAtSeconds * 1000)
  const device = deviceName(from.userAgent)
  const { user_id: userId } = user
  const isNew = await sessions.newPlaceOf(transaction, tenant, userId, {
    device,
    network,
    since: knownSince(now),
  })
  await sessions.forgetSessionNetworks(transaction, tenant, userId, knownSince(now))
  await sessions.insertSession(transaction, tenant, {
    ...{ sessionId, userId, expiresAt, device, network, isNew },
    now: new Date(now),
    factorGiven: from.factorGiven === true,
    byCompany: from.byCompany === true,
  })
  const token = tokens.sign('dashboard', {
    tenant_id: tenant,
    user_id: user.user_id,
    role: user.role,
    scope: 'dashboard',
    jti: sessionId,
    iat: issuedAt,
    exp: expiresAtSeconds,
  })
  const reply = new Reply(
    { token, expires_at: expiresAt.toISOString(), user: userAnswer(user), tenant: tenantAnswer(row) },
    { 'Set-Cookie': sessionCookieOf(token, expiresAt) },
  )
  const places = (['device', 'network'] as const).filter((place) => isNew[place])
  return { reply, about: places.length === 0 ? {} : { device, new: places } }
}

/** The request that signs in. */
type SignInFrom = Pick<Call<Endpoint>, 'now' | 'network' | 'userAgent'> & {
  readonly factorGiven?: boolean
  readonly byCompany?: boolean
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
    return attempt(parts, { account, network, requestId, now }, async () => {
      parts.signInAttempts.passwordSet(account, now)
      const passwordHash = await hashPassword(
        body.password,
        await people.hashOfAddress(parts.database, body.email),
      )
      const tenant = people.newTenantId()
      return parts.database.inTenant(tenant, async (transaction) => {
        const made = await people.createTenant(transaction, tenant, {
          ...body,
          passwordHash,
          timeZone: await timeZoneToStore(transaction, body.time_zone),
          now: new Date(now),
        })
        const { reply } = await startSession(transaction, tenant, made.user, parts, call)
        await noteNetwork(transaction, { tenant, userId: made.user.user_id }, call, parts)
        await recordEvent(
          transaction,
          { ...call, caller: { tenant, userId: made.user.user_id } },
          'signed-up',
        )
        return reply
      })
    })
  }),

  serve(signIn, async (call, parts) => {
    const { body, now, network, requestId } = call
    const account = people.foldedEmail(body.email)
    return attempt(parts, { account, network, requestId, now, isSignIn: true }, async (begun) => {
      const holder = await passwordHolder(call, body, parts, begun)
      const { known } = holder
      if (body.passkey !== undefined) await loadPasskeys()
      const signedIn = await parts.database.inTenant(known.tenant, async (transaction) => {
        const tenant = await people.findTenant(transaction, known.tenant)
        // The check took a while. If the password changed meanwhile, all sessions were ended, and this one must not
        // begin.
        const held = await people.lockUser(transaction, known.tenant, known.userId)
        if (tenant?.status !== 'active' || held?.password_hash !== known.passwordHash) {
          parts.refusals.signInFailed(known.tenant, known.userId, call)
          throw signInFailed()
        }
        const rule = await passwordRule(transaction, known.tenant, held, parts)
        if (rule === 'refused') return 'company required'
        const isAsked = await hasFactor(transaction, known.tenant, known.userId)
        if (isAsked && body.code === undefined && body.passkey === undefined) return 'factor missing'
        const purpose = purposes.signIn(known)
        const sent = {
          code: body.code,
          passkey: body.passkey,
          purpose,
          site: () => siteOf(call.origin, parts),
        }
        const given = isAsked ? await takeFactor(transaction, known, sent, parts, now) : null
        if (given !== null && 'wrong' in given) return given
        const from = { ...call, factorGiven: isAsked }
        const { reply, about } = await startSession(transaction, known.tenant, held, parts, from)
        await noteNetwork(transaction, known, call, parts)
        const kind = rule === 'break-glass' ? 'break-glass-used' : 'signed-in'
        await recordEvent(transaction, { ...call, caller: known }, kind, {
          about: { ...about, ...(given === null ? {} : { second_factor: given.by }) },
        })
        return reply
      })
      if (signedIn === 'company required') {
        parts.refusals.companyRefused(known.tenant, { userId: known.userId, reason: 'password' }, call)
        throw companyRequired()
      }
      // The password alone resets no count of failures: codes are guessed at the pace of passwords.
      if (signedIn === 'factor missing') {
        throw problem(
          'second-factor-required',
          'Use a passkey, or enter the code of your authenticator app or a recovery code.',
        )
      }
      if ('wrong' in signedIn) {
        begun.failed()
        parts.refusals.signInFailed(known.tenant, known.userId, call)
        throw problem('second-factor-wrong', signedIn.wrong)
      }
      succeeded(begun, holder)
      return signedIn
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
      parts.signInAttempts.passwordSet(people.foldedEmail(person.email), now)
      const passwordHash = await hashPassword(
        body.password,
        await people.hashOfAddress(parts.database, person.email),
      )
      return parts.database.inTenant(tenant, async (transaction) => {
        if ((await passwordRule(transaction, tenant, person, parts)) === 'refused') throw companyRequired()
        const user = invited(await people.lockUser(transaction, tenant, invitation.userId))
        const isMine = await people.claimSignIn(transaction, tenant, user.user_id, user.email)
        if (!isMine) throw new Error('Nobody else of the brokerage has the address of an invited person.')
        const active = await people.updateUser(transaction, tenant, user.user_id, {
          status: 'active',
          password_hash: passwordHash,
          invitation_hash: null,
          invitation_expires_at: null,
        })
        const { reply } = await startSession(transaction, tenant, active, parts, call)
        const caller = { tenant, userId: active.user_id }
        await noteNetwork(transaction, caller, call, parts)
        await recordEvent(transaction, { ...call, caller }, 'invitation-accepted')
        return reply
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
    const ended = await parts.database.inTenant(caller.tenant, async (transaction) => {
      const revoked =
        body.tokens === 'revoke' ? await revokeTokensOf(transaction, caller.tenant, caller.userId, at) : []
      const which = everywhere ? {} : { only: caller.sessionId }
      await sessions.endSessions(transaction, caller.tenant, caller.userId, at, which)
      const sandbox = everywhere ? await sandboxOf(transaction, caller.tenant) : null
      const person =
        sandbox === null ? null : await people.findUser(transaction, caller.tenant, caller.userId)
      await recordEvent(transaction, call, 'signed-out', {
        about: { everywhere, ...(body.tokens === 'revoke' ? { token_ids: revoked } : {}) },
      })
      return { tenant: caller.tenant, sandbox, email: person?.email ?? '' }
    })
    await endSandboxSessions(parts, ended, now)
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
    const from = { account, network, requestId, now, isSignIn: true, of: [caller] }
    await attempt(parts, from, async (begun) => {
      if (await isPassword(user.password_hash, body.current_password)) return
      begun.failed()
      throw problem('sign-in-failed', 'The current password is wrong.')
    })
    refuseGuessable(body.new_password, [user.name, user.email], '/new_password')
    parts.signInAttempts.passwordSet(account, now)
    const passwordHash = await hashPassword(
      body.new_password,
      await people.hashOfAddress(parts.database, user.email),
    )
    await parts.database.inTenant(caller.tenant, async (transaction) => {
      const held = await people.lockUser(transaction, caller.tenant, caller.userId)
      if (held?.password_hash !== user.password_hash) {
        throw problem('sign-in-failed', 'The password has been changed in the meantime.')
      }
      await people.updateUser(transaction, caller.tenant, caller.userId, { password_hash: passwordHash })
      await sessions.endSessions(transaction, caller.tenant, caller.userId, new Date(now), {
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
      const unconfirmed = await sessions.unconfirmedSignIns(transaction, caller.tenant, {
        userId: caller.userId,
        except: caller.sessionId,
        since: knownSince(now),
      })
      return {
        user: userAnswer(user),
        tenant: tenantAnswer(tenant),
        expires_at: caller.sessionExpiresAt.toISOString(),
        expiring_tokens: expiring.map(({ token_id, name, expires_at }) => ({
          id: token_id,
          name,
          expires_at: expires_at.toISOString(),
        })),
        new_sign_ins: unconfirmed.slice(0, newSignInsMax).map((row) => sessionAnswer(row, caller.sessionId)),
        second_factor: {
          set: caller.secondFactor.setAt !== null,
          missing: caller.secondFactor.isMissing,
        },
        sample_import_id: await findSampleImport(transaction, caller.tenant),
      }
    }),
  ),

  serve(updateTenant, async (call, parts) => {
    const { caller, body } = call
    if (body.session_limits !== undefined || body.second_factor_from !== undefined) {
      requireRecentFactor(caller, call.now)
    }
    // 0 removes the default validity of quotes.
    const validDays = body.quote_expiry?.valid_days
    const idleMinutes = body.session_limits?.idle_minutes
    const values = {
      name: body.name,
      win_probability_method: body.win_probability_method,
      quote_valid_days: validDays === 0 ? null : validDays,
      default_basis: body.default_basis,
      default_rate_type: body.default_rate_type,
      integration_pool: body.integration_pool,
      market_calls_per_day: body.market_calls_per_day,
      stop_fee_cents:
        body.stop_fee?.amount === undefined
          ? undefined
          : (centsFromDollars(body.stop_fee.amount) ?? undefined),
      stop_fee_currency: body.stop_fee?.currency,
      second_factor_from: body.second_factor_from === 'nobody' ? null : body.second_factor_from,
      session_hours: body.session_limits?.hours,
      // 0 removes the limit.
      session_idle_minutes: idleMinutes === 0 ? null : idleMinutes,
      ...reminderValues(body.reminders),
      answer_template: body.answer_template === '' ? null : body.answer_template,
      expired_counts_as_lost:
        body.quote_expiry?.counts_as === undefined ? undefined : body.quote_expiry.counts_as === 'lost',
    }
    return parts.database.inTenant(caller.tenant, async (transaction) => {
      const zone = await timeZoneToStore(transaction, body.time_zone)
      const floors = await changeFloors(transaction, caller.tenant, body.floors, {
        userId: caller.userId,
        now: call.now,
      })
      const given = Object.fromEntries(
        Object.entries({ ...values, time_zone: zone }).filter(([, value]) => value !== undefined),
      )
      const before: Record<string, unknown> = {
        ...(await people.tenantOfSession(transaction, caller.tenant)),
      }
      const updated = await people.updateTenant(transaction, caller.tenant, given)
      const changed = [
        ...Object.entries(given).map(([name, value]) => ({ name, from: before[name], to: value })),
        ...floors,
      ].filter(({ from, to }) => from !== to)
      if (changed.length > 0) {
        await recordEvent(transaction, call, 'settings-changed', {
          about: {
            before: Object.fromEntries(changed.map(({ name, from }) => [name, from])),
            after: Object.fromEntries(changed.map(({ name, to }) => [name, to])),
          },
        })
      }
      return tenantAnswer(updated)
    })
  }),
]
