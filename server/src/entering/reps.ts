import { pushedLanes } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

/**
 * Whom the reps that quotes name are: a function from a name or an e-mail address to the person of the brokerage; null if there is none,
 * or more than one.
 */
export async function repsNamed(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly (string | null | undefined)[],
): Promise<(name: string | null | undefined) => number | null> {
  const people = await pushedLanes.findReps(
    transaction,
    tenant,
    names.flatMap((name) => name ?? []),
  )
  return (name) => people.get(name ?? '') ?? null
}
