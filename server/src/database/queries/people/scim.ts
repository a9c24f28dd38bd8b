import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** The roles that groups of a directory can give. Nobody becomes an owner by a directory. */
export type GivenRole = 'admin' | 'member' | 'viewer'

/** The names that the directory has for people and groups, by resource such as "user-4". */
export async function externalIds(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<Map<string, string>> {
  const rows = await transaction
    .selectFrom('scim_names')
    .select(['resource', 'external_id'])
    .where('tenant_id', '=', tenant)
    .execute()
  return new Map(rows.map(({ resource, external_id }) => [resource, external_id]))
}

/** Sets the name that the directory has for a resource; undefined removes it. */
export async function setExternalId(
  transaction: TenantTransaction,
  tenant: TenantId,
  resource: string,
  externalId: string | undefined,
): Promise<void> {
  await transaction
    .deleteFrom('scim_names')
    .where('tenant_id', '=', tenant)
    .where('resource', '=', resource)
    .execute()
  if (externalId === undefined) return
  await transaction
    .insertInto('scim_names')
    .values({ tenant_id: tenant, resource, external_id: externalId })
    .execute()
}

/** Who is in the groups of roles. */
export async function roleMembers(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly role: GivenRole; readonly user_id: number }[]> {
  return transaction
    .selectFrom('scim_role_members')
    .select(['role', 'user_id'])
    .where('tenant_id', '=', tenant)
    .orderBy('user_id')
    .execute()
}

/** Replaces who is in the group of a role. */
export async function setRoleMembers(
  transaction: TenantTransaction,
  tenant: TenantId,
  role: GivenRole,
  userIds: readonly number[],
): Promise<void> {
  await transaction
    .deleteFrom('scim_role_members')
    .where('tenant_id', '=', tenant)
    .where('role', '=', role)
    .execute()
  const rows = [...new Set(userIds)].map((user_id) => ({ tenant_id: tenant, role, user_id }))
  if (rows.length > 0) await transaction.insertInto('scim_role_members').values(rows).execute()
}

/** Forgets what the directory says of a person who was removed. */
export async function forgetScimPerson(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<void> {
  await transaction
    .deleteFrom('scim_role_members')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
  await setExternalId(transaction, tenant, `user-${userId}`, undefined)
}

/** Changes the address of a person who has not signed in yet, and so has not claimed it. */
export async function changeUnclaimedEmail(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  email: string,
): Promise<void> {
  await transaction
    .updateTable('users')
    .set({ email })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** Whether a person has begun a session, with a password or through their company. */
export async function hasHadSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('sessions')
    .select('session_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
