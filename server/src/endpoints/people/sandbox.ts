import type { Static } from 'typebox'
import { problem } from '#contract/errors.ts'
import { sandboxSessionHours } from '#contract/limits.ts'
import { createSandbox, enterSandbox, getSandbox, resetSandbox, type Sandbox } from '#contract/sandbox.ts'
import type { PersonCaller } from '../../access/index.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { people, sandboxes } from '../../database/queries/index.ts'
import { runInBackground, type TenantId } from '../../database/session/index.ts'
import { ImportConflict, refuseWhileBusy } from '../../imports/index.ts'
import { concurrencyLimit } from '../../runtime/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { startSession } from './sign-in.ts'

/** A test brokerage and its row. */
interface Found {
  readonly sandbox: TenantId
  readonly row: people.TenantRow
}

function sandboxAnswer(row: people.TenantRow): Static<typeof Sandbox> {
  return { id: row.tenant_id, name: row.name, test: true, created_at: row.created_at.toISOString() }
}

function tenantRow({ database }: Parts, tenant: TenantId): Promise<people.TenantRow | null> {
  return database.inTenant(tenant, (transaction) => people.findTenant(transaction, tenant))
}

/**
 * The test brokerage of a caller: that of the brokerage, or the one that the caller is in. Null if there is none. Each row is
 * read in a transaction of its own tenant, and the two must name each other.
 */
async function sandboxOfCaller({ tenant }: PersonCaller, parts: Parts): Promise<Found | null> {
  const own = await tenantRow(parts, tenant)
  if (own === null) return null
  if (own.sandbox_of !== null) return { sandbox: tenant, row: own }
  const sandbox = await parts.database.inTenant(tenant, (transaction) =>
    sandboxes.sandboxOf(transaction, tenant),
  )
  const row = sandbox === null ? null : await tenantRow(parts, sandbox)
  return sandbox === null || row?.sandbox_of !== tenant ? null : { sandbox, row }
}

/** @throws Problem not-found */
async function requireSandbox(caller: PersonCaller, parts: Parts): Promise<Found> {
  const found = await sandboxOfCaller(caller, parts)
  if (found !== null) return found
  throw problem('not-found', 'There is no test brokerage yet. Create it with POST /api/sandbox.')
}

/** @throws Problem state-conflict in a test brokerage */
async function refuseInside(caller: PersonCaller, parts: Parts): Promise<people.TenantRow> {
  const own = await tenantRow(parts, caller.tenant)
  if (own === null) throw problem('token-revoked', 'You are no longer a member of this brokerage.')
  if (own.sandbox_of === null) return own
  throw problem('state-conflict', 'You are in the test brokerage already.')
}

/**
 * Creates the test brokerage of a brokerage, or returns it. First the brokerage names it, then it is created: after a crash in
 * between, the next call continues. A random number that belongs to another brokerage is replaced.
 */
async function makeSandbox(
  owner: people.TenantRow,
  call: Doing,
  { database }: Parts,
): Promise<people.TenantRow> {
  const { tenant } = call.caller
  let refused: TenantId | null = null
  for (let tries = 0; tries < 3; tries++) {
    const taken: TenantId | null = refused
    const sandbox: TenantId = await database.inTenant(tenant, async (transaction) => {
      const named = await sandboxes.nameSandbox(transaction, tenant, people.newTenantId(), taken)
      if (named.isNew) {
        await recordEvent(transaction, call, 'sandbox-created', { about: { sandbox_id: named.sandbox } })
      }
      return named.sandbox
    })
    const made = await database.inTenant(sandbox, (transaction) =>
      sandboxes.createSandbox(transaction, sandbox, owner, new Date(call.now)),
    )
    if (made !== null) return made
    refused = sandbox
  }
  throw new Error('No number is free for the test brokerage.')
}

/** A reset runs once at a time per brokerage. */
const limited = concurrencyLimit<TenantId>(1)

export const sandboxEndpoints: ServedEndpoint[] = [
  serve(getSandbox, async ({ caller }, parts) => {
    const found = await sandboxOfCaller(caller, parts)
    return { sandbox: found === null ? null : sandboxAnswer(found.row) }
  }),

  serve(createSandbox, async (call, parts) => {
    const owner = await refuseInside(call.caller, parts)
    return sandboxAnswer(await makeSandbox(owner, call, parts))
  }),

  serve(enterSandbox, async (call, parts) => {
    const { caller, now } = call
    const { tenant, userId } = caller
    await refuseInside(caller, parts)
    const { sandbox, row } = await requireSandbox(caller, parts)
    if (row.status !== 'active') throw problem('state-conflict', 'The test brokerage is suspended.')
    const person = await parts.database.inTenant(tenant, async (transaction) => {
      const user = await people.findUser(transaction, tenant, userId)
      await recordEvent(transaction, call, 'sandbox-entered')
      return user
    })
    if (person === null) throw problem('token-revoked', 'You are no longer a member of this brokerage.')
    return parts.database.inTenant(sandbox, async (transaction) => {
      const guest = await sandboxes.sandboxPerson(transaction, sandbox, person, new Date(now))
      const session = await startSession(transaction, sandbox, guest, parts, now, sandboxSessionHours)
      await recordEvent(
        transaction,
        { ...call, caller: { tenant: sandbox, userId: guest.user_id } },
        'signed-in',
      )
      return session
    })
  }),

  serve(resetSandbox, async (call, parts) => {
    const { caller } = call
    const { sandbox, row } = await requireSandbox(caller, parts)
    const { database } = parts
    await database
      .inTenant(sandbox, (transaction) => refuseWhileBusy(transaction, sandbox))
      .catch((error: unknown) => {
        throw error instanceof ImportConflict ? problem('state-conflict', error.message) : error
      })
    // Many short transactions. One that is interrupted leaves rows for the next reset.
    const erased = await limited(sandbox, () =>
      runInBackground(async () => {
        let total = 0
        for (;;) {
          const rows = await database.inTenant(sandbox, (transaction) =>
            sandboxes.eraseSandboxRows(transaction, sandbox),
          )
          total += rows
          if (rows === 0) return total
        }
      }),
    )
    await database.inTenant(caller.tenant, (transaction) =>
      recordEvent(transaction, call, 'sandbox-reset', { about: { rows: erased } }),
    )
    return { ...sandboxAnswer(row), rows_erased: erased }
  }),
]
