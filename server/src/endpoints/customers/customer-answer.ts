import type Type from 'typebox'
import type * as contract from '#contract/customers.ts'
import { customerKey } from '#engine/customer-name.ts'
import { customers, userNames } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

export type CustomerAnswer = Type.Static<typeof contract.Customer>

/** Customers in the form of the API, in the order of `names`. A name of `names` is shown if its customer has no record. */
export async function customerAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly { readonly key: string; readonly name: string }[],
): Promise<CustomerAnswer[]> {
  const records = await customers.customersOfKeys(
    transaction,
    tenant,
    names.map(({ key }) => key),
  )
  const aliases = await customers.aliasesOf(
    transaction,
    tenant,
    records.map(({ customerId }) => customerId),
  )
  const people = await userNames(
    transaction,
    tenant,
    aliases.flatMap(({ mergedBy }) => (mergedBy === null ? [] : [mergedBy])),
  )
  const recordOf = new Map(records.map((record) => [record.key, record]))
  return names.map(({ key, name }) => {
    const record = recordOf.get(key)
    const own = aliases.filter(({ customerId }) => customerId === record?.customerId)
    return {
      name: record?.name ?? name,
      customer_id: record?.customerId ?? null,
      tier: record?.tier ?? null,
      payment_days: record?.paymentDays ?? null,
      aliases: own.map((alias) => ({
        name: alias.name,
        merged_at: alias.mergedAt.toISOString(),
        merged_by: alias.mergedBy === null ? null : (people.get(alias.mergedBy) ?? null),
      })),
    }
  })
}

export async function customerAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { key, name }: { readonly key: string; readonly name: string },
): Promise<CustomerAnswer> {
  const [answer] = await customerAnswers(transaction, tenant, [{ key, name }])
  if (answer === undefined) throw new Error('One answer per customer.')
  return answer
}

/** The record of a customer that certainly has one. Throws if it has none. */
export async function recordOf(transaction: TenantTransaction, tenant: TenantId, name: string) {
  const record = await customers.findCustomer(transaction, tenant, name)
  if (record === null) throw new Error('A customer that was just created has a record.')
  return record
}

/** The customer of a name. If the name was merged, it is the one that it was merged into. */
export async function customerNamed(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<CustomerAnswer> {
  const record = await customers.findCustomer(transaction, tenant, name)
  return customerAnswer(transaction, tenant, record ?? { key: customerKey(name), name: name.trim() })
}
