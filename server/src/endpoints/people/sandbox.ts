import { problem } from '#contract/errors.ts'
import { sandboxSessionHours } from '#contract/limits.ts'
import { enterSandbox, resetSandbox } from '#contract/sandbox.ts'
import { recordEvent } from '../../audit/index.ts'
import { people, sandboxes } from '../../database/queries/index.ts'
import { runInBackground, type TenantId, tenantId } from '../../database/session/index.ts'
import { ImportConflict, refuseWhileBusy } from '../../imports/index.ts'
import { concurrencyLimit } from '../../runtime/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { startSession } from './sign-in.ts'

/** A reset runs once at a time per brokerage. */
const limited = concurrencyLimit<TenantId>(1)

export const sandboxEndpoints: ServedEndpoint[] = [
  serve(enterSandbox, async (call, parts) => {
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
  }),

  serve(resetSandbox, async (call, { database }) => {
    const { tenant } = call.caller
    await database.inTenant(tenant, async (transaction) => {
      const { sandbox_of } = await people.tenantOfSession(transaction, tenant)
      if (sandbox_of === null) {
        throw problem(
          'state-conflict',
          'This is not a test brokerage, so nothing was erased. Enter it first (POST /api/sandbox/session).',
        )
      }
      await refuseWhileBusy(transaction, tenant).catch((error: unknown) => {
        throw error instanceof ImportConflict ? problem('state-conflict', error.message) : error
      })
    })
    // Many short transactions. One that is interrupted leaves rows for the next reset.
    const erased = await limited(tenant, () =>
      runInBackground(async () => {
        let total = 0
        for (;;) {
          const rows = await database.inTenant(tenant, (transaction) =>
            sandboxes.eraseSandboxRows(transaction, tenant),
          )
          total += rows
          if (rows === 0) return total
        }
      }),
    )
    await database.inTenant(tenant, (transaction) =>
      recordEvent(transaction, call, 'sandbox-reset', { about: { rows: erased } }),
    )
    return { rows_erased: erased }
  }),
]
