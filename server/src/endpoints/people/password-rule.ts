import { type Problem, problem } from '#contract/errors.ts'
import { companySignIns, type people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'

/**
 * Whether a person may sign in with the password: `refused` if the brokerage requires its company sign-in; `break-glass` for the owner
 * who may nevertheless. If the operator has turned company sign-in off, everybody may: otherwise nobody could sign in.
 */
export async function passwordRule(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: Pick<people.UserRow, 'user_id' | 'role'>,
  { config }: Pick<Parts, 'config'>,
): Promise<'free' | 'refused' | 'break-glass'> {
  const set = config.company.isOn ? await companySignIns.findCompanySignIn(transaction, tenant) : null
  if (set?.is_required !== true) return 'free'
  return set.break_glass_user_id === user.user_id && user.role === 'owner' ? 'break-glass' : 'refused'
}

export function companyRequired(): Problem {
  return problem(
    'company-sign-in-required',
    'This brokerage refuses passwords. Choose "Continue with your company".',
  )
}

/**
 * Refuses a change that would leave a brokerage that requires company sign-in without its break-glass owner.
 *
 * @throws Problem state-conflict
 */
export async function refuseBreakGlass(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: Pick<people.UserRow, 'user_id' | 'name'>,
): Promise<void> {
  const set = await companySignIns.findCompanySignIn(transaction, tenant)
  if (set?.is_required !== true || set.break_glass_user_id !== user.user_id) return
  throw problem(
    'state-conflict',
    `${user.name} is the owner who may sign in with the password while your company sign-in is required. Choose another owner for that first.`,
  )
}
