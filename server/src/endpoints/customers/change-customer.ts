import type * as contract from '#contract/customers.ts'
import { recordEvent } from '../../audit/index.ts'
import { customers } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { type CustomerAnswer, customerAnswer, recordOf } from './customer-answer.ts'

/** Sets the tier and the payment terms of a customer. */
export function changeCustomer(
  call: Call<typeof contract.changeCustomer>,
  { database }: Pick<Parts, 'database'>,
): Promise<CustomerAnswer> {
  const { tenant } = call.caller
  const { name, tier = null, payment_days = null } = call.body
  const change = { tier, payment_days }
  return database.inTenant(tenant, async (transaction) => {
    const now = new Date(call.now)
    const id = await customers.ensureCustomer(transaction, tenant, name, now)
    const was = await recordOf(transaction, tenant, name)
    const before = { tier: was.tier, payment_days: was.paymentDays }
    const changed = Object.entries(change).filter(
      ([member, value]) => before[member as keyof typeof before] !== value,
    )
    if (changed.length > 0) {
      await customers.changeCustomer(transaction, tenant, id, change, now)
      await recordEvent(transaction, call, 'customer-changed', {
        about: {
          customer: was.name,
          before: Object.fromEntries(
            changed.map(([member]) => [member, before[member as keyof typeof before]]),
          ),
          after: Object.fromEntries(changed),
        },
      })
    }
    return customerAnswer(transaction, tenant, was)
  })
}
