import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { findLane, findUser } from '#server/database/queries/index.ts'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import { type Database, type TenantId, tenantId } from '#server/database/session/index.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import type { Method, MethodCall } from './method.ts'
import { idsOf, type Label } from './seeded-ids.ts'
import { type SeededTenants, updateOf } from './seeded-tenants.ts'

/** Thrown to roll a transaction back; carries the result of its work. */
class RolledBack extends Error {
  readonly result: unknown
  constructor(result: unknown) {
    super('rolled back')
    this.result = result
  }
}

/** Runs `work` in a transaction of a tenant, rolls the transaction back, and returns the result of `work`. */
export async function rolledBack<T>(
  database: Database,
  tenant: TenantId,
  work: (transaction: TenantTransaction) => Promise<T>,
): Promise<T> {
  try {
    return await database.inTenant(tenant, async (transaction) => {
      throw new RolledBack(await work(transaction))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T
    throw error
  }
}

/** Returns the arguments that name the records of a seeded tenant, for calls of the functions in `database-methods.ts`. */
export async function recordsOf(
  label: Label,
  app: TestApp,
  tenants: SeededTenants,
): Promise<Omit<MethodCall, 'transaction' | 'tenant'>> {
  const ids = idsOf(label)
  const tenant = tenantId(ids.tenant)
  const { lane, user } = await app.database.inTenant(tenant, async (transaction) => ({
    lane: await findLane(transaction, tenant, ids.laneRef),
    user: await findUser(transaction, tenant, ids.person),
  }))
  if (lane === null || user === null) throw new Error(`Tenant ${label} has not been seeded.`)
  return {
    database: app.database,
    ids,
    lane,
    user,
    requestDigest: createHash('sha256').update(`${tenants.sentAtSeconds}.`).update(updateOf(ids)).digest(),
    fingerprint: createHash('sha256').update(`row of ${label}`).digest(),
    now: new Date(tenants.sentAtSeconds * 1000),
  }
}

/** Sets the status of a tenant's import, if the function needs an import that is not done. */
export async function prepareImport(
  { importStatus }: Method,
  transaction: TenantTransaction,
  label: Label,
): Promise<void> {
  if (importStatus === undefined) return
  // With a recent heartbeat, so that it counts as alive however long the walk took, and a new heartbeat changes it.
  await sql`update imports set status = ${importStatus}, finished_at = null, progress_at = now() - interval '1 second'
            where tenant_id = ${idsOf(label).tenant}`.execute(transaction)
}
