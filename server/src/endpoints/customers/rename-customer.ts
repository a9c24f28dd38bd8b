import type * as contract from '#contract/customers.ts'
import { customerKey } from '#engine/customer-name.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { customers, people, teams } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Call } from '../endpoint-call.ts'
import { copyFuelSchedule } from '../market/fuel-schedule.ts'
import type { Parts } from '../parts.ts'
import { type CustomerAnswer, customerAnswer, recordOf } from './customer-answer.ts'

/**
 * Renames a customer by merging it into the new name. A name that no other customer has first gets this customer's settings and fuel
 * schedule. An alias keeps its own fuel schedule. If the new name is only another spelling, nothing is merged: it replaces the name.
 */
async function renamed(
  transaction: TenantTransaction,
  doing: Doing,
  { before, newName }: { readonly before: customers.CustomerRecord; readonly newName: string },
): Promise<customers.CustomerRecord> {
  const { tenant, userId } = doing.caller
  const now = new Date(doing.now)
  if (customerKey(newName) === before.key) {
    if (newName !== before.name) {
      await customers.respellCustomer(transaction, tenant, before.customerId, newName)
    }
    return recordOf(transaction, tenant, newName)
  }
  // If the new name is an alias, it first becomes a customer again, so that the present name can be merged into it.
  const isAlias = await customers.separateCustomers(transaction, tenant, [newName, before.name])
  const isFree = isAlias || !(await customers.isCustomerInUse(transaction, tenant, newName))
  const to = await customers.ensureCustomer(transaction, tenant, newName, now)
  if (isFree) {
    const settings = { tier: before.tier, payment_days: before.paymentDays }
    await customers.changeCustomer(transaction, tenant, to, settings, now)
    await teams.copyCustomerTeams(transaction, tenant, { from: before.customerId, to })
  }
  const into = await recordOf(transaction, tenant, newName)
  await customers.mergeCustomer(transaction, tenant, { from: before, into }, { now, userId })
  if (isFree && !isAlias) await copyFuelSchedule(transaction, doing, { from: before.name, to: newName })
  return into
}

/** Renames a customer, or merges it into the customer that has the new name. */
export function renameCustomer(
  call: Call<typeof contract.renameCustomer>,
  { database }: Pick<Parts, 'database'>,
): Promise<CustomerAnswer> {
  return database.inTenant(call.caller.tenant, async (transaction) => {
    const { tenant } = call.caller
    const { name, new_name } = call.body
    await people.lockTenant(transaction, tenant)
    await customers.ensureCustomer(transaction, tenant, name, new Date(call.now))
    const before = await recordOf(transaction, tenant, name)
    const after = await renamed(transaction, call, { before, newName: new_name.trim() })
    if (after.name !== before.name) {
      await recordEvent(transaction, call, 'customer-renamed', {
        about: { customer: before.name, to: after.name },
      })
    }
    return customerAnswer(transaction, tenant, after)
  })
}
