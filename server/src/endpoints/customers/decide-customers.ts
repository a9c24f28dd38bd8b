import type * as contract from '#contract/customers.ts'
import { invalid, problem } from '#contract/errors.ts'
import { customerKey } from '#engine/customer-name.ts'
import { recordEvent } from '../../audit/index.ts'
import { customers, people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { type CustomerAnswer, customerNamed, recordOf } from './customer-answer.ts'

type Decided = Call<typeof contract.decideCustomers>

const wrong = (pointer: '/name' | '/other', detail: string) => invalid([{ pointer, code: 'invalid', detail }])

/** Merges the customer of the first name into that of the second. @throws Problem 422 if the first name is already merged */
async function merge(
  transaction: TenantTransaction,
  { caller: { tenant, userId }, body, now: time }: Decided,
): Promise<void> {
  const now = new Date(time)
  await customers.ensureCustomer(transaction, tenant, body.name, now)
  await customers.ensureCustomer(transaction, tenant, body.other, now)
  const from = await recordOf(transaction, tenant, body.name)
  const into = await recordOf(transaction, tenant, body.other)
  const name = body.name.trim()
  if (from.customerId === into.customerId) {
    throw wrong('/name', `${name} already counts for ${into.name}. It must be the name of another customer.`)
  }
  if (from.key !== customerKey(name)) {
    throw wrong(
      '/name',
      `${name} is already merged into ${from.name}. Undo that merge first, or merge ${from.name}.`,
    )
  }
  await customers.mergeCustomer(transaction, tenant, { from, into }, { now, userId })
}

/** Undoes a merge of the two names, and saves or removes the decision that they are different. Returns false if nothing changed. */
async function separate(
  transaction: TenantTransaction,
  { caller: { tenant, userId }, body, now }: Decided,
): Promise<boolean> {
  const pair = [body.name, body.other] as const
  const separated = await customers.separateCustomers(transaction, tenant, pair)
  const stored =
    body.decision === 'different'
      ? await customers.distinguishCustomers(transaction, tenant, pair, { now: new Date(now), userId })
      : await customers.forgetDistinction(transaction, tenant, pair)
  return separated || stored
}

/**
 * Saves whether two names are the same customer. Returns the present customer of the first name.
 *
 * @throws Problem 422 for names that cannot be decided on; not-found if there is no decision to undo
 */
export function decideCustomers(
  call: Decided,
  { database }: Pick<Parts, 'database'>,
): Promise<CustomerAnswer> {
  const { tenant } = call.caller
  const { decision } = call.body
  const [name, other] = [call.body.name.trim(), call.body.other.trim()]
  if (customerKey(name) === customerKey(other)) {
    throw wrong(
      '/other',
      `other must be the name of another customer; ${other} differs from ${name} only in case or spaces.`,
    )
  }
  return database.inTenant(tenant, async (transaction) => {
    await people.lockTenant(transaction, tenant)
    if (decision === 'same') await merge(transaction, call)
    else if (!(await separate(transaction, call))) {
      if (decision === 'open') {
        throw problem('not-found', `${name} and ${other} are neither merged nor marked as different.`)
      }
      return customerNamed(transaction, tenant, name)
    }
    await recordEvent(transaction, call, 'customers-decided', { about: { customer: name, other, decision } })
    return customerNamed(transaction, tenant, name)
  })
}
