import { roleAtLeast } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { secondFactorMinutes } from '#contract/limits.ts'
import {
  confirmSecondFactor,
  getSecondFactor,
  giveSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
  removeSecondFactorOf,
  replaceRecoveryCodes,
} from '#contract/second-factor.ts'
import { type PersonCaller, secondFactorPlace } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { passkeys, people, sandboxOf, secondFactors, sessions } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import {
  factorAddress,
  isPassword,
  loadPasskeys,
  newFactorSecret,
  newRecoveryCodes,
  recoveryCodeHash,
  seal,
} from '../../security/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { attempt } from './accounts.ts'
import { purposes, siteOf } from './passkey-check.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { codeWrong, hasFactor, stepGiven, takeFactor } from './second-factor-codes.ts'
import { refuseAboveOwnRole } from './users.ts'

function noFactor() {
  return problem('state-conflict', 'You have no second factor.')
}

/** A second factor that was tried and is wrong. */
export function wrongFactor(detail: string) {
  return problem('second-factor-wrong', detail)
}

export async function ownRow(transaction: TenantTransaction, { tenant, userId }: PersonCaller) {
  const user = await people.findUser(transaction, tenant, userId)
  if (user === null) throw problem('token-revoked', 'You are no longer a member of this brokerage.')
  return user
}

/**
 * Whoever begins without a password must have come through the company's provider a moment ago.
 *
 * @throws Problem second-factor-again, or a 422 for a person who has a password
 */
function requireRecentCompanySignIn(
  { byCompany, sessionStartedAt }: PersonCaller,
  { password_hash: hash }: people.UserRow,
  now: number,
): void {
  if (byCompany && now - sessionStartedAt.getTime() < secondFactorMinutes * 60_000) return
  if (!byCompany || hash !== null) {
    throw invalid([{ pointer: '/password', code: 'required', detail: 'password is missing.' }])
  }
  throw problem(
    'second-factor-again',
    `Sign in through your company again, and add the second factor within ${secondFactorMinutes} minutes.`,
  )
}

/** Whether the brokerage requires a second factor of a role. */
export async function isRequired(
  transaction: TenantTransaction,
  { tenant, role }: PersonCaller,
): Promise<boolean> {
  const { second_factor_from: from } = await people.tenantOfSession(transaction, tenant)
  return from !== null && roleAtLeast(role, from)
}

/** Makes recovery codes, stores their hashes, and returns the codes. */
export async function makeCodes(transaction: TenantTransaction, tenant: TenantId, userId: number) {
  const codes = newRecoveryCodes()
  await secondFactors.replaceRecoveryCodes(transaction, tenant, userId, codes.map(recoveryCodeHash))
  return { recovery_codes: codes }
}

/** Checks something that somebody could guess, at the pace of sign-in. A wrong guess throws after it was counted. */
export async function guarded<T>(
  call: Pick<Call<typeof giveSecondFactor>, 'caller' | 'now' | 'network' | 'requestId'>,
  parts: Parts,
  check: () => Promise<T | null>,
  wrong: () => Error,
): Promise<T> {
  const { caller, now, network, requestId } = call
  const user = await parts.database.inTenant(caller.tenant, (transaction) => ownRow(transaction, caller))
  const account = people.foldedEmail(user.email)
  const from = { account, network, requestId, now, isSignIn: true, of: [caller] }
  return attempt(parts, from, async (begun) => {
    const result = await check()
    if (result !== null) return result
    begun.failed()
    parts.refusals.signInFailed(caller.tenant, caller.userId, call)
    throw wrong()
  })
}

export const secondFactorEndpoints: ServedEndpoint[] = [
  serve(getSecondFactor, ({ caller, now }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const { tenant, userId } = caller
      const { givenAt, setAt } = caller.secondFactor
      const app = await secondFactors.lockSecondFactor(transaction, tenant, userId)
      return {
        set_at: setAt?.toISOString() ?? null,
        app: app?.confirmed_at != null,
        passkeys: (await passkeys.listPasskeys(transaction, tenant, userId)).length,
        recovery_codes_left: await secondFactors.countRecoveryCodes(transaction, tenant, userId),
        required: await isRequired(transaction, caller),
        recent:
          setAt === null || (givenAt !== null && now - givenAt.getTime() < secondFactorMinutes * 60_000),
      }
    }),
  ),

  serve(offerSecondFactor, async (call, parts) => {
    const { caller, body, now } = call
    const { tenant, userId } = caller
    const user = await parts.database.inTenant(tenant, (transaction) => ownRow(transaction, caller))
    const { password } = body
    if (password === undefined) requireRecentCompanySignIn(caller, user, now)
    else {
      await guarded(
        call,
        parts,
        async () => ((await isPassword(user.password_hash, password)) ? true : null),
        () => problem('sign-in-failed', 'The password is wrong.'),
      )
    }
    const secret = newFactorSecret()
    const sealed = seal(parts.secretKeys[0], secondFactorPlace(tenant, userId), secret)
    return parts.database.inTenant(tenant, async (transaction) => {
      const offered = { userId, sealed, now: new Date(now) }
      if (!(await secondFactors.offerSecondFactor(transaction, tenant, offered))) {
        throw problem('state-conflict', 'You have an authenticator app already. Remove it first.')
      }
      const { name } = await people.tenantOfSession(transaction, tenant)
      return { secret, address: factorAddress(secret, { brokerage: name, email: user.email }) }
    })
  }),

  serve(confirmSecondFactor, (call, parts) => {
    const { caller, body, now } = call
    const { tenant, userId, sessionId } = caller
    const at = new Date(now)
    return guarded(
      call,
      parts,
      () =>
        parts.database.inTenant(tenant, async (transaction) => {
          const factor = await secondFactors.lockSecondFactor(transaction, tenant, userId)
          if (factor === null || factor.confirmed_at !== null) {
            throw problem('state-conflict', 'There is no second factor to confirm. Begin to add one.')
          }
          const step = stepGiven(factor, body.code, parts, now)
          if (step === null) return null
          await secondFactors.useFactorStep(transaction, tenant, { userId, step, confirmedAt: at })
          await secondFactors.noteFactorGiven(transaction, tenant, sessionId, at)
          // Whoever is signed in elsewhere has not given it.
          await sessions.endSessions(transaction, tenant, userId, at, { except: sessionId })
          const codes = await makeCodes(transaction, tenant, userId)
          await recordEvent(transaction, call, 'second-factor-added')
          return codes
        }),
      () => wrongFactor(codeWrong),
    )
  }),

  serve(giveSecondFactor, async (call, parts) => {
    const { caller, body, now } = call
    const { tenant, userId, sessionId } = caller
    if (caller.secondFactor.setAt === null) throw noFactor()
    if (body.code === undefined && body.passkey === undefined) {
      throw invalid([{ pointer: '/code', code: 'required', detail: 'Send a code or a passkey.' }])
    }
    if (body.passkey !== undefined) await loadPasskeys()
    const sent = { ...body, purpose: purposes.give(caller), site: () => siteOf(call.origin, parts) }
    let wrong = ''
    return guarded(
      call,
      parts,
      () =>
        parts.database.inTenant(tenant, async (transaction) => {
          const given = await takeFactor(transaction, { tenant, userId }, sent, parts, now)
          if ('wrong' in given) {
            wrong = given.wrong
            return null
          }
          await secondFactors.noteFactorGiven(transaction, tenant, sessionId, new Date(now))
          await recordEvent(transaction, call, 'second-factor-given', { about: { by: given.by } })
          return { status: 'ok' as const }
        }),
      () => wrongFactor(wrong),
    )
  }),

  serve(replaceRecoveryCodes, (call, { database }) => {
    const { caller } = call
    if (caller.secondFactor.setAt === null) throw noFactor()
    return database.inTenant(caller.tenant, async (transaction) => {
      const codes = await makeCodes(transaction, caller.tenant, caller.userId)
      await recordEvent(transaction, call, 'recovery-codes-replaced')
      return codes
    })
  }),

  serve(removeSecondFactor, (call, { database }) => {
    const { caller } = call
    const { tenant, userId } = caller
    return database.inTenant(tenant, async (transaction) => {
      // Two factors that are removed at once are removed one after the other, so that the last one stays.
      await people.lockUser(transaction, tenant, userId)
      if (!(await secondFactors.removeApp(transaction, tenant, userId))) {
        throw problem('state-conflict', 'You have no authenticator app.')
      }
      if (!(await hasFactor(transaction, tenant, userId))) {
        if (await isRequired(transaction, caller)) {
          throw problem('state-conflict', 'Your brokerage requires a second factor for your role.')
        }
        await secondFactors.removeRecoveryCodes(transaction, tenant, userId)
      }
      await recordEvent(transaction, call, 'second-factor-removed', { subject: userId })
      return { status: 'ok' as const }
    })
  }),

  serve(removeSecondFactorOf, async (call, parts) => {
    const { caller, params, now } = call
    const { tenant } = caller
    const { sandbox, email } = await parts.database.inTenant(tenant, async (transaction) => {
      const user = await people.lockUser(transaction, tenant, params.id)
      if (user === null || user.status === 'removed') {
        throw problem('not-found', `There is no user ${params.id} in this brokerage.`)
      }
      refuseAboveOwnRole(caller, user)
      if (!(await secondFactors.removeSecondFactor(transaction, tenant, user.user_id))) {
        throw problem('state-conflict', `${user.name} has no second factor.`)
      }
      await sessions.endSessions(transaction, tenant, user.user_id, new Date(now), {
        except: caller.sessionId,
      })
      const sandbox = await sandboxOf(transaction, tenant)
      await recordEvent(transaction, call, 'second-factor-removed', { subject: user.user_id })
      return { sandbox, email: user.email }
    })
    await endSandboxSessions(parts, { tenant, sandbox, email }, now)
    return { status: 'ok' as const }
  }),
]
