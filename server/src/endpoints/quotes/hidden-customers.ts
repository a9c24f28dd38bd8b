import { type Problem, problem } from '#contract/errors.ts'
import { teams } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { isDuplicateKey, type TenantId } from '../../database/session/index.ts'

/** The error of a quote for a customer that is hidden from the person, who could not see the quote afterwards. */
export function hiddenCustomer(name: string): Problem {
  return problem(
    'customer-hidden',
    `customer_name: ${name.trim()} is a customer of a team that you are not in. Nothing was saved.`,
  )
}

/**
 * Refuses an import to a person from whom a team hides customers.
 */
export async function refuseWithHiddenCustomers(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<void> {
  if (await teams.hidesCustomers(transaction, tenant)) {
    throw problem(
      'customer-hidden',
      'An import shows and changes the quotes of all customers, and a team hides some of them from you. Ask an admin.',
    )
  }
}

/**
 * Handles the error of a write whose key belongs to a row that the person may not see. Throws the error that `refused` returns, which
 * must not reveal the row. Throws other errors unchanged.
 *
 * @example await write().catch(orHidden(() => problem('state-conflict', 'You cannot quote this load again.')))
 */
export function orHidden(refused: () => Problem): (error: unknown) => never {
  return (error) => {
    throw isDuplicateKey(error) ? refused() : error
  }
}
