import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/sandbox.ts'
import { recordEvent } from '../../audit/index.ts'
import { people, sandboxes } from '../../database/queries/index.ts'
import { runInBackground, type TenantId } from '../../database/session/index.ts'
import { ImportConflict, refuseWhileBusy } from '../../imports/index.ts'
import { concurrencyLimit } from '../../runtime/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

/** Resets of one brokerage run one after another. */
const limited = concurrencyLimit<TenantId>(1)

/** Erases the test brokerage that the caller is in. @throws Problem state-conflict in another one, or during an import */
export async function resetTestBrokerage(
  call: Call<typeof contract.resetSandbox>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.resetSandbox>> {
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
}
