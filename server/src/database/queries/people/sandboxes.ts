import { sql } from 'kysely'
import type { Role } from '#contract/endpoint.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, quotesChanged, type TenantId, tenantId } from '../../session/index.ts'
import { findTenant, foldedEmail, nextTenantNumber, type TenantRow, type UserRow } from './people.ts'

/**
 * Test brokerages. A brokerage's row names its test brokerage (sandbox_id), and the row of the test brokerage names the
 * brokerage (sandbox_of). A test brokerage is a tenant like any other, so tenant isolation separates the two.
 */

/** The test brokerage that a brokerage's row names; null if it has none. Its own row may not exist yet. */
export async function sandboxOf(transaction: TenantTransaction, tenant: TenantId): Promise<TenantId | null> {
  const id = (await findTenant(transaction, tenant))?.sandbox_id ?? null
  return id === null ? null : tenantId(id)
}

/**
 * Names the test brokerage of a brokerage, unless it has one. Returns the one that it has now, and whether it is new.
 *
 * @param refused a number that belongs to another brokerage; it is replaced
 */
export async function nameSandbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  sandbox: TenantId,
  refused: TenantId | null,
): Promise<{ readonly sandbox: TenantId; readonly isNew: boolean }> {
  const { numUpdatedRows } = await transaction
    .updateTable('tenants')
    .set({ sandbox_id: sandbox })
    .where('tenant_id', '=', tenant)
    .where('sandbox_id', refused === null ? 'is' : '=', refused)
    .executeTakeFirst()
  return { sandbox: (await sandboxOf(transaction, tenant)) ?? sandbox, isNew: numUpdatedRows > 0n }
}

/**
 * Creates the row of a test brokerage, unless it exists. Null if the number belongs to another brokerage.
 *
 * @param owner the brokerage that it belongs to
 */
export async function createSandbox(
  transaction: TenantTransaction,
  sandbox: TenantId,
  owner: Pick<TenantRow, 'tenant_id' | 'name' | 'win_probability_method' | 'time_zone'>,
  now: Date,
): Promise<TenantRow | null> {
  await transaction
    .insertInto('tenants')
    .values({
      tenant_id: sandbox,
      name: `${owner.name} (test)`,
      win_probability_method: owner.win_probability_method,
      time_zone: owner.time_zone,
      sandbox_of: owner.tenant_id,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('tenant_id').doNothing())
    .execute()
  const row = await findTenant(transaction, sandbox)
  return row?.sandbox_of === owner.tenant_id ? row : null
}

/**
 * The person of a test brokerage with this e-mail address, created if missing, with the name and role of today. It has no
 * password, and its address signs in to the real brokerage only.
 */
export async function sandboxPerson(
  transaction: TenantTransaction,
  sandbox: TenantId,
  person: { readonly name: string; readonly email: string; readonly role: Role },
  now: Date,
): Promise<UserRow> {
  const { name, email, role } = person
  accessChanged(transaction)
  // The row of the brokerage is the lock, so that two sessions at once do not create the person twice.
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', sandbox)
    .forNoKeyUpdate()
    .execute()
  const people = await transaction
    .selectFrom('users')
    .select(['user_id', 'email'])
    .where('tenant_id', '=', sandbox)
    .where('status', '=', 'active')
    .execute()
  const known = people.find((one) => foldedEmail(one.email) === foldedEmail(email))
  if (known !== undefined) {
    return transaction
      .updateTable('users')
      .set({ name, role })
      .where('tenant_id', '=', sandbox)
      .where('user_id', '=', known.user_id)
      .returningAll()
      .executeTakeFirstOrThrow()
  }
  return transaction
    .insertInto('users')
    .values({
      tenant_id: sandbox,
      user_id: await nextTenantNumber(transaction, sandbox, 'user'),
      name,
      email,
      role,
      status: 'active',
      password_hash: null,
      invitation_hash: null,
      invitation_expires_at: null,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Lanes and other rows that one transaction erases: well below the statement timeout. */
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
