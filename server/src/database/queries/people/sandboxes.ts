import { sql } from 'kysely'
import type { Role } from '#contract/endpoint.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { type Database, quotesChanged, type TenantId, tenantId } from '../../session/index.ts'
import {
  findTenant,
  foldedEmail,
  insertUser,
  listUsers,
  lockTenant,
  newTenantId,
  type TenantRow,
  tenantOfSession,
  type UserRow,
  updateUser,
} from './people.ts'

/**
 * Test brokerages. A brokerage's row names its test brokerage (sandbox_id), and the row of the test brokerage names the
 * brokerage (sandbox_of). Otherwise it is a brokerage like any other, so tenant isolation separates the two.
 */

/** The test brokerage of a brokerage; null if there is none, or if the two rows do not name each other. */
export async function sandboxOf(database: Database, tenant: TenantId): Promise<TenantRow | null> {
  const owner = await database.inTenant(tenant, (transaction) => findTenant(transaction, tenant))
  if (owner === null || owner.sandbox_id === null) return null
  const sandbox = tenantId(owner.sandbox_id)
  const row = await database.inTenant(sandbox, (transaction) => findTenant(transaction, sandbox))
  return row?.sandbox_of === tenant ? row : null
}

/**
 * The test brokerage of a brokerage, created if missing. First the brokerage names it, then it is created: after a crash in
 * between, the next call continues. A random number that belongs to another brokerage is replaced.
 */
export async function makeSandbox(
  database: Database,
  owner: Pick<TenantRow, 'tenant_id' | 'name' | 'win_probability_method' | 'time_zone' | 'date_order'>,
  now: Date,
): Promise<TenantRow> {
  const tenant = tenantId(owner.tenant_id)
  const named = async (transaction: TenantTransaction, refused: TenantId | null): Promise<TenantId> => {
    await transaction
      .updateTable('tenants')
      .set({ sandbox_id: newTenantId() })
      .where('tenant_id', '=', tenant)
      .where('sandbox_id', refused === null ? 'is' : '=', refused)
      .execute()
    const { sandbox_id } = await tenantOfSession(transaction, tenant)
    if (sandbox_id === null)
      throw new Error('The brokerage does not name the test brokerage that it just named.')
    return tenantId(sandbox_id)
  }
  for (let refused: TenantId | null = null; ; ) {
    const taken: TenantId | null = refused
    const sandbox: TenantId = await database.inTenant(tenant, (transaction) => named(transaction, taken))
    const row = await database.inTenant(sandbox, async (transaction) => {
      await transaction
        .insertInto('tenants')
        .values({
          tenant_id: sandbox,
          name: `${owner.name} (test)`,
          win_probability_method: owner.win_probability_method,
          time_zone: owner.time_zone,
          date_order: owner.date_order,
          sandbox_of: tenant,
          created_at: now,
        })
        .onConflict((conflict) => conflict.column('tenant_id').doNothing())
        .execute()
      return findTenant(transaction, sandbox)
    })
    if (row?.sandbox_of === tenant) return row
    refused = sandbox
  }
}

/**
 * The person of a test brokerage with this e-mail address, created if missing, with the current name and role. The person has no
 * password here, and the address signs in to the real brokerage only.
 */
export async function sandboxPerson(
  transaction: TenantTransaction,
  sandbox: TenantId,
  { name, email, role }: { readonly name: string; readonly email: string; readonly role: Role },
  now: Date,
): Promise<UserRow> {
  // Two sessions at once must not create the person twice.
  await lockTenant(transaction, sandbox)
  const known = (await listUsers(transaction, sandbox)).find(
    (one) => foldedEmail(one.email) === foldedEmail(email),
  )
  // Created as invited, because an invited person claims no address.
  const person =
    known ??
    (await insertUser(transaction, sandbox, {
      name,
      email,
      role,
      status: 'invited',
      passwordHash: null,
      invitation: null,
      now,
    }))
  if (person === null) throw new Error('An invited person has no e-mail address to claim yet.')
  return updateUser(transaction, sandbox, person.user_id, { name, role, status: 'active' })
}

/** Quotes and other rows that one transaction erases: well below the statement timeout. */
const erasedAtOnceMax = 2_000

/**
 * Erases the next rows of a test brokerage.
 *
 * @returns the number of erased rows; 0 when none are left
 */
export async function eraseSandboxRows(transaction: TenantTransaction, sandbox: TenantId): Promise<number> {
  const { rows } = await sql<{ erased: { rows: number; lanes: number[] } }>`
    select erase_sandbox_rows(${sandbox}, ${erasedAtOnceMax}) as erased
  `.execute(transaction)
  const [{ erased } = { erased: { rows: 0, lanes: [] } }] = rows
  quotesChanged(transaction, erased.lanes)
  return erased.rows
}
