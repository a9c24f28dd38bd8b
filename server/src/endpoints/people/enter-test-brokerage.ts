import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { sandboxSessionHours } from '#contract/limits.ts'
import type * as contract from '#contract/sandbox.ts'
import { recordEvent } from '../../audit/index.ts'
import { people, sandboxes } from '../../database/queries/index.ts'
import { tenantId } from '../../database/session/index.ts'
import type { Call, Reply } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { startSession } from './sessions.ts'

/** Enters the test brokerage, and creates it if there is none. @throws Problem state-conflict inside a test brokerage */
export async function enterTestBrokerage(
  call: Call<typeof contract.enterSandbox>,
  parts: Pick<Parts, 'database' | 'tokens'>,
): Promise<Reply<AnswerOf<typeof contract.enterSandbox>>> {
  const { now } = call
  const { tenant, userId } = call.caller
  const { database } = parts
  const { owner, person } = await database.inTenant(tenant, async (transaction) => ({
    owner: await people.tenantOfSession(transaction, tenant),
    person: await people.findUser(transaction, tenant, userId),
  }))
  if (person === null) throw problem('token-revoked', 'You are no longer a member of this brokerage.')
  if (owner.sandbox_of !== null) {
    throw problem('state-conflict', 'You are in the test brokerage already.')
  }
  const row = await sandboxes.makeSandbox(database, owner, new Date(now))
  if (row.status !== 'active') throw problem('state-conflict', 'The test brokerage is suspended.')
  await database.inTenant(tenant, (transaction) => recordEvent(transaction, call, 'sandbox-entered'))
  const sandbox = tenantId(row.tenant_id)
  return database.inTenant(sandbox, async (transaction) => {
    const guest = await sandboxes.sandboxPerson(transaction, sandbox, person, new Date(now))
    const session = await startSession(transaction, sandbox, guest, parts, now, sandboxSessionHours)
    const caller = { tenant: sandbox, userId: guest.user_id }
    await recordEvent(transaction, { ...call, caller }, 'signed-in')
    return session
  })
}
