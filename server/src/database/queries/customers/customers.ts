import { sql } from 'kysely'
import { customerKey } from '#engine/customer-name.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'
import { quoteSeenByViewer, seenByViewer } from './teams.ts'

/** A customer for which a person has entered something, such as a tier or another name. */
export interface CustomerRecord {
  readonly customerId: number
  readonly name: string
  /** The key of its name. Its quotes have it as `customer_key`, except those under merged names. */
  readonly key: string
  readonly tier: string | null
  readonly paymentDays: number | null
}

/** A name that was merged into a customer. */
export interface CustomerAlias {
  readonly name: string
  /** The customer that the name counts for. */
  readonly customerId: number
  readonly mergedAt: Date
  readonly mergedBy: number | null
}

const recordColumns = sql`customers.customer_id as "customerId", customers.name, main.customer_key as key, customers.tier,
  customers.payment_days as "paymentDays"`

/** The record of the customer that a name counts for, in any spelling; null if it has none. */
export async function findCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<CustomerRecord | null> {
  const { rows } = await sql<CustomerRecord>`
    select ${recordColumns}
    from customer_aliases as asked
    join customers on customers.tenant_id = ${tenant} and customers.customer_id = asked.customer_id
    join customer_aliases as main on main.tenant_id = ${tenant} and main.own_id = asked.customer_id
    where asked.tenant_id = ${tenant} and asked.customer_key = customer_key(${name})
      and ${seenByViewer(tenant, sql`asked.customer_key`)}
  `.execute(transaction)
  return rows[0] ?? null
}

/** The records of customers by the keys of their names, without customers that were merged into others. */
export async function customersOfKeys(
  transaction: TenantTransaction,
  tenant: TenantId,
  keys: readonly string[],
): Promise<CustomerRecord[]> {
  const { rows } = await sql<CustomerRecord>`
    select ${recordColumns}
    from customer_aliases as main
    join customers on customers.tenant_id = ${tenant} and customers.customer_id = main.own_id
    where main.tenant_id = ${tenant} and main.customer_key = any (${[...keys]}::text[]) and main.merged_into is null
  `.execute(transaction)
  return rows
}

/** The names that were merged into customers, by name. */
export async function aliasesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerIds: readonly number[],
): Promise<CustomerAlias[]> {
  const { rows } = await sql<CustomerAlias>`
    select name, customer_id as "customerId", merged_at as "mergedAt", merged_by as "mergedBy"
    from customer_aliases
    where tenant_id = ${tenant} and customer_id = any (${[...customerIds]}::integer[]) and merged_into is not null
    order by customer_key
  `.execute(transaction)
  return rows
}

/** The id of the customer that a name counts for. A name without a customer gets one. */
export async function ensureCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
  now: Date,
): Promise<number> {
  const known = await findCustomer(transaction, tenant, name)
  if (known !== null) return known.customerId
  const customerId = await nextTenantNumber(transaction, tenant, 'customer')
  // The row of the counter is locked until the commit, so no other transaction creates a customer of this name in between.
  const made = await findCustomer(transaction, tenant, name)
  if (made !== null) return made.customerId
  await transaction
    .insertInto('customers')
    .values({
      tenant_id: tenant,
      customer_id: customerId,
      name: name.trim(),
      tier: null,
      payment_days: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await sql`
    insert into customer_aliases (tenant_id, customer_key, name, own_id, customer_id, main_key)
    values (${tenant}, customer_key(${name}), ${name.trim()}, ${customerId}, ${customerId}, customer_key(${name}))
  `.execute(transaction)
  return customerId
}

/** Sets the tier and the payment terms of a customer. */
export async function changeCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerId: number,
  change: { readonly tier: string | null; readonly payment_days: number | null },
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('customers')
    .set({ ...change, updated_at: now })
    .where('tenant_id', '=', tenant)
    .where('customer_id', '=', customerId)
    .execute()
  // The tier and the terms are settings that rules read.
  accessChanged(transaction)
}

/**
 * Merges a customer, with the customers merged into it, into another one, for which their quotes then count. Neither of the two
 * may already be merged into a third.
 */
export async function mergeCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { from, into }: { readonly from: CustomerRecord; readonly into: CustomerRecord },
  by: { readonly now: Date; readonly userId: number | null },
): Promise<void> {
  await sql`
    update customer_aliases set customer_id = ${into.customerId}, main_key = ${into.key},
      merged_into = case when own_id = ${from.customerId} then ${into.customerId} else merged_into end,
      merged_at = case when own_id = ${from.customerId} then ${by.now}::timestamptz else merged_at end,
      merged_by = case when own_id = ${from.customerId} then ${by.userId}::integer else merged_by end
    where tenant_id = ${tenant} and customer_id = ${from.customerId}
  `.execute(transaction)
  accessChanged(transaction)
}

/**
 * Undoes the merge that lets two names count for one customer: the first name's merge, or else the second name's. The quotes
 * of the restored customer, and those of the customers that had been merged into it, count for it again. Returns false if the
 * names do not count for one customer.
 */
export async function separateCustomers(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly [string, string],
): Promise<boolean> {
  const { rows } = await sql<{ ownId: number; mergedInto: number | null; key: string }>`
    select known.own_id as "ownId", known.merged_into as "mergedInto", known.customer_key as key
    from customer_aliases as asked
    join customer_aliases as known on known.tenant_id = ${tenant} and known.customer_id = asked.customer_id
    where asked.tenant_id = ${tenant} and asked.customer_key = customer_key(${names[0]})
  `.execute(transaction)
  const [first, second] = names.map((name) => rows.find(({ key }) => key === customerKey(name)))
  if (first === undefined || second === undefined) return false
  const withMerged = (id: number) => {
    const ids = [id]
    for (const into of ids) for (const { ownId, mergedInto } of rows) if (mergedInto === into) ids.push(ownId)
    return ids
  }
  // If the second name was merged into the first, separating the first would take both along.
  const own = withMerged(first.ownId).includes(second.ownId) ? second : first
  await sql`
    update customer_aliases set customer_id = ${own.ownId}, main_key = ${own.key},
      merged_into = case when own_id = ${own.ownId} then null else merged_into end,
      merged_at = case when own_id = ${own.ownId} then null else merged_at end,
      merged_by = case when own_id = ${own.ownId} then null else merged_by end
    where tenant_id = ${tenant} and own_id = any (${withMerged(own.ownId)}::integer[])
  `.execute(transaction)
  accessChanged(transaction)
  return true
}

/** Changes the spelling of a customer's name. The key of the name must stay the same. */
export async function respellCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  customerId: number,
  name: string,
): Promise<void> {
  await transaction
    .updateTable('customers')
    .set({ name })
    .where('tenant_id', '=', tenant)
    .where('customer_id', '=', customerId)
    .execute()
  await transaction
    .updateTable('customer_aliases')
    .set({ name })
    .where('tenant_id', '=', tenant)
    .where('own_id', '=', customerId)
    .execute()
  accessChanged(transaction)
}

/** Whether the customer of a name has quotes, other names, a tier, payment terms or teams. */
export async function isCustomerInUse(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<boolean> {
  const { rows } = await sql<{ used: boolean }>`
    select exists (
      select from quotes where tenant_id = ${tenant} and ${ofCustomer(tenant, name)} and ${quoteSeenByViewer(tenant)}
    ) or exists (
      select from customer_aliases as asked
      join customers on customers.tenant_id = ${tenant} and customers.customer_id = asked.customer_id
      where asked.tenant_id = ${tenant} and asked.customer_key = customer_key(${name})
        and (tier is not null or payment_days is not null
          or exists (select from team_customers where tenant_id = ${tenant} and customer_id = asked.customer_id)
          or exists (select from customer_aliases where tenant_id = ${tenant} and customer_id = asked.customer_id
            and merged_into is not null))
    ) as used
  `.execute(transaction)
  return rows[0]?.used ?? false
}

/** Saves that two names are different customers. Returns false if it is saved already. */
export async function distinguishCustomers(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly [string, string],
  by: { readonly now: Date; readonly userId: number | null },
): Promise<boolean> {
  // Ordered by bytes, as a check of the table requires.
  const [one_key = '', other_key = ''] = names
    .map(customerKey)
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  const added = await transaction
    .insertInto('customer_distinctions')
    .values({ tenant_id: tenant, one_key, other_key, made_at: by.now, made_by: by.userId })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'one_key', 'other_key']).doNothing())
    .returning('one_key')
    .executeTakeFirst()
  return added !== undefined
}

/** The pairs of customers that a person said are different, by the keys of the customers that the names count for now. */
export async function customerDistinctions(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ one: string; other: string; oneKey: string; otherKey: string }[]> {
  const { rows } = await sql<{ one: string; other: string; oneKey: string; otherKey: string }>`
    select coalesce(first.main_key, kept.one_key) as one, coalesce(second.main_key, kept.other_key) as other,
      kept.one_key as "oneKey", kept.other_key as "otherKey"
    from customer_distinctions as kept
    left join customer_aliases as first on first.tenant_id = ${tenant} and first.customer_key = kept.one_key
    left join customer_aliases as second on second.tenant_id = ${tenant} and second.customer_key = kept.other_key
    where kept.tenant_id = ${tenant} and ${seenByViewer(tenant, sql`kept.one_key`)}
      and ${seenByViewer(tenant, sql`kept.other_key`)}
  `.execute(transaction)
  return rows
}

/** Deletes the records that the customers of two names are different. Returns false if there was none. */
export async function forgetDistinction(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly [string, string],
): Promise<boolean> {
  const keys: string[] = []
  for (const name of names) {
    keys.push((await findCustomer(transaction, tenant, name))?.key ?? customerKey(name))
  }
  const stored = (await customerDistinctions(transaction, tenant)).filter(
    ({ one, other }) => one !== other && keys.includes(one) && keys.includes(other),
  )
  for (const { oneKey, otherKey } of stored) {
    await transaction
      .deleteFrom('customer_distinctions')
      .where('tenant_id', '=', tenant)
      .where('one_key', '=', oneKey)
      .where('other_key', '=', otherKey)
      .execute()
  }
  return stored.length > 0
}

/** A customer as the book has it: the hash of the key of its name, and the hashes of merged names. */
export interface HashedCustomer {
  readonly hash: number
  /** See `mergedHashes`. */
  readonly merged: readonly (readonly [number, number])[]
  /** The name of its record; null without one. */
  readonly name: string | null
  /** Whether it is hidden from the current person. */
  readonly isHidden: boolean
}

/** Pairs: the hash of a merged name of the brokerage, and the hash of the customer that the name counts for. */
export async function mergedHashes(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<HashedCustomer['merged']> {
  const { rows } = await sql<{ merged: HashedCustomer['merged'] }>`
    select coalesce(json_agg(json_build_array(hashtext(customer_key), hashtext(main_key)) order by customer_key), '[]') as merged
    from customer_aliases where tenant_id = ${tenant} and merged_into is not null
  `.execute(transaction)
  return rows[0]?.merged ?? []
}

/** The customer that a name counts for, for estimates from the book. */
export async function hashedCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<HashedCustomer> {
  const { rows } = await sql<HashedCustomer>`
    select hashtext(coalesce(asked.main_key, customer_key(${name}))) as hash, customers.name,
      not ${seenByViewer(tenant, sql`customer_key(${name})`)} as "isHidden",
      (select coalesce(json_agg(json_build_array(hashtext(customer_key), hashtext(main_key)) order by customer_key), '[]')
       from customer_aliases where tenant_id = ${tenant} and merged_into is not null) as merged
    from tenants as one
    left join customer_aliases as asked
      on asked.tenant_id = ${tenant} and asked.customer_key = customer_key(${name})
    left join customers on customers.tenant_id = ${tenant} and customers.customer_id = asked.customer_id
    where one.tenant_id = ${tenant}
  `.execute(transaction)
  const [row] = rows
  if (row === undefined) throw new Error('The tenant of a token does not exist.')
  return row
}

/** True for the quotes of the customer that a name counts for, in any spelling. */
export function ofCustomer(tenant: TenantId, name: string) {
  return sql<boolean>`(quotes.customer_key = customer_key(${name}) or quotes.customer_key in (
    select other.customer_key from customer_aliases as asked
    join customer_aliases as other on other.tenant_id = ${tenant} and other.customer_id = asked.customer_id
    where asked.tenant_id = ${tenant} and asked.customer_key = customer_key(${name})
  ))`
}
