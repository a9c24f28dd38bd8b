import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import { type AnswerOf, roleAtLeast } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import {
  dashboardTokenLifetimeHours,
  sessionTokenLifetimeSeconds,
  tokenExpiryNoticeDays,
} from '#contract/limits.ts'
import type * as contract from '#contract/sign-in.ts'
import type { User } from '#contract/users.ts'
import { sessionCookie } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { expiringTokens, people, revokeTokensOf } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type Call, Reply } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { tenantAnswer } from './brokerage-settings.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'

/** A person in the form of the API. */
export function userAnswer(user: people.UserRow): Static<typeof User> {
  return {
    id: user.user_id,
    name: user.name,
    email: user.email,
    phone: user.phone,
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
): Promise<Reply<AnswerOf<typeof contract.signIn>>> {
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

/** Ends this session or all sessions of a person, and revokes their service tokens if asked to. */
export async function signOut(
  call: Call<typeof contract.signOut>,
  parts: Pick<Parts, 'database' | 'log'>,
): Promise<Reply<AnswerOf<typeof contract.signOut>>> {
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
}

/** A token of this session that is valid for some minutes. */
export async function sessionToken(
  { caller, now }: Call<typeof contract.sessionToken>,
  { tokens }: Pick<Parts, 'tokens'>,
): Promise<AnswerOf<typeof contract.sessionToken>> {
  const issuedAt = Math.floor(now / 1000)
  // If the request itself has a token of this kind, both expire together, so that a leaked token cannot be renewed.
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
}

/** The signed-in person, the brokerage, and the service tokens that expire soon. */
export async function readMe(
  { caller, now }: Call<typeof contract.me>,
  parts: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.me>> {
  return parts.database.inTenant(caller.tenant, async (transaction) => {
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
  })
}

/** Changes what a person may change of themselves. */
export async function changeMe(
  { caller, body: { phone } }: Call<typeof contract.changeMe>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.changeMe>> {
  return database.inTenant(caller.tenant, async (transaction) =>
    userAnswer(
      await people.updateUser(transaction, caller.tenant, caller.userId, {
        phone: phone === '' ? null : phone,
      }),
    ),
  )
}
