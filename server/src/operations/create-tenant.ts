import { randomBytes } from 'node:crypto'
import { shape } from '#contract/shape.ts'
import { signUp } from '#contract/sign-in.ts'
import { byOperator, recordEvent } from '../audit/index.ts'
import { createTenant, newTenantId } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { hashPassword } from '../security/index.ts'
import { atDatabase, type CommandDatabase, CommandRefused } from './command-database.ts'

const signUpBody = shape(signUp.body, 'body')

/**
 * Creates a brokerage and its owner with a random password, like a sign-up. Operators use it where sign-up is off.
 *
 * @throws CommandRefused where a name or the address is not valid, or the address is in use
 * @example (await makeTenant({ company: 'Blue Mesa Logistics', email: 'ana@example.com', name: 'Ana' }, around, Date.now())).password
 */
export async function makeTenant(
  made: { company: string; email: string; name: string },
  around: CommandDatabase,
  now: number,
): Promise<{ tenant: TenantId; password: string }> {
  const password = randomBytes(15).toString('base64url')
  const [wrong] = signUpBody.errors({ ...made, password })
  if (wrong !== undefined) throw new CommandRefused(wrong.detail)
  return atDatabase(around, async (database) => {
    const passwordHash = await hashPassword(password)
    const tenant = newTenantId()
    return database.inTenant(tenant, async (transaction) => {
      const created = await createTenant(transaction, tenant, { ...made, passwordHash, now: new Date(now) })
      if (created === null) throw new CommandRefused(`${made.email} is in use. Nothing was created.`)
      await recordEvent(transaction, byOperator(tenant, now), 'signed-up', { subject: created.user.user_id })
      return { tenant, password }
    })
  })
}
