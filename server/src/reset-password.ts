import { randomBytes } from 'node:crypto'
import { atDatabase, type CommandDatabase, CommandRefused } from './command-database.ts'
import { endSessions, findUser, signInOf, updateUser } from './database/people.ts'
import { hashPassword } from './security/password.ts'

/**
 * Gives a person a new random password and ends all their sessions: the operator's way back in when a password is lost.
 * Whoever can run it can read the database anyway.
 *
 * @throws CommandRefused when nobody signs in with the address
 * @example await resetPassword('owner@sample.example', surroundings, Date.now()) // 'wX3…'
 */
export async function resetPassword(email: string, around: CommandDatabase, now: number): Promise<string> {
  return atDatabase(around, async (database) => {
    const known = await signInOf(database, email)
    if (known === null) throw new CommandRefused(`Nobody signs in with ${email}.`)
    const password = randomBytes(15).toString('base64url')
    const passwordHash = await hashPassword(password)
    await database.inTenant(known.tenant, async (transaction) => {
      const user = await findUser(transaction, known.tenant, known.userId)
      if (user?.status !== 'active') {
        throw new CommandRefused(`${email} is invited and has no password yet: invite the person again.`)
      }
      await updateUser(transaction, known.tenant, known.userId, { password_hash: passwordHash })
      await endSessions(transaction, known.tenant, known.userId, new Date(now))
    })
    return password
  })
}
