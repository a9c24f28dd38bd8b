import { randomBytes } from 'node:crypto'
import { byOperator, recordEvent } from '../audit/index.ts'
import {
  endSessions,
  findUser,
  liveTokensOf,
  revokeTokensOf,
  signInOf,
  updateUser,
} from '../database/queries/index.ts'
import { hashPassword } from '../security/index.ts'
import { atDatabase, type CommandDatabase, CommandRefused } from './command-database.ts'

/** A new password, and the person's live service tokens. */
export interface ResetPassword {
  readonly password: string
  readonly tokensRevoked: number
  /** Tokens that stay valid, because machines use them. */
  readonly tokensLeft: readonly string[]
}

/**
 * Sets a new random password for a person and ends all their sessions. Operators use it when a password is lost.
 * `signOutEverywhere` also revokes the person's service tokens, for a compromised account. It grants no new access:
 * anyone who can run it can read the database.
 *
 * @throws CommandRefused when nobody signs in with the address
 * @example (await resetPassword('owner@sample.example', surroundings, Date.now())).password // 'wX3…'
 */
export async function resetPassword(
  email: string,
  around: CommandDatabase,
  now: number,
  { signOutEverywhere = false }: { signOutEverywhere?: boolean } = {},
): Promise<ResetPassword> {
  return atDatabase(around, async (database) => {
    const known = await signInOf(database, email)
    if (known === null) throw new CommandRefused(`No person signs in with ${email}.`)
    const { tenant, userId } = known
    const password = randomBytes(15).toString('base64url')
    const passwordHash = await hashPassword(password)
    const at = new Date(now)
    return database.inTenant(tenant, async (transaction) => {
      const user = await findUser(transaction, tenant, userId)
      if (user?.status !== 'active') {
        throw new CommandRefused(`${email} is invited and has no password yet: invite the person again.`)
      }
      await updateUser(transaction, tenant, userId, { password_hash: passwordHash })
      await endSessions(transaction, tenant, userId, at)
      const revoked = signOutEverywhere ? await revokeTokensOf(transaction, tenant, userId, at) : []
      const left = await liveTokensOf(transaction, tenant, userId, at)
      await recordEvent(transaction, byOperator(tenant, now), 'password-reset', {
        subject: userId,
        about: signOutEverywhere ? { token_ids: revoked } : {},
      })
      return { password, tokensRevoked: revoked.length, tokensLeft: left.map(({ name }) => name) }
    })
  })
}
