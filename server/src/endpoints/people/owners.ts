import { problem } from '#contract/errors.ts'
import type { PersonCaller } from '../../access/index.ts'
import { people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/** Locks an active person and all owners, so that concurrent changes of the same people run one after another. */
export async function heldUser(transaction: TenantTransaction, tenant: TenantId, userId: number) {
  const owners = await people.lockOwners(transaction, tenant)
  const user = await people.lockUser(transaction, tenant, userId)
  if (user === null || user.status === 'removed') {
    throw problem('not-found', `There is no user ${userId} in this brokerage.`)
  }
  return { user, owners }
}

/** Refuses to create, change or remove an owner, unless the caller is one, so that admins cannot raise their own role. */
export function refuseAboveOwnRole(
  caller: PersonCaller,
  concerns: { role: people.UserRow['role'] } | null,
): void {
  if (concerns?.role === 'owner' && caller.role !== 'owner') {
    throw problem('role-required', 'Only an owner can add, change or remove an owner.')
  }
}

/** @throws Problem last-owner */
export function refuseLastOwner(user: people.UserRow, owners: readonly number[]): void {
  if (user.role === 'owner' && owners.every((owner) => owner === user.user_id)) {
    throw problem('last-owner', `${user.name} is the only owner. Make another person an owner first.`)
  }
}
