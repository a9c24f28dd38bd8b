import { sql } from 'kysely'
import type { CustomerRecords } from '#engine/quote-statistics/customer-records.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** All names, tiers and teams of the customers of a brokerage, and the members of its teams. */
export async function readCustomerRecords(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<CustomerRecords> {
  const { rows: names } = await sql<{
    key: string
    customerId: number
    mainKey: string
    tier: string | null
  }>`
    select alias.customer_key as key, alias.customer_id as "customerId", alias.main_key as "mainKey", customers.tier
    from customer_aliases as alias
    join customers on customers.tenant_id = ${tenant} and customers.customer_id = alias.customer_id
    where alias.tenant_id = ${tenant}
  `.execute(transaction)
  const inTeams = await transaction
    .selectFrom('team_customers')
    .select(['customer_id', 'team_id'])
    .where('tenant_id', '=', tenant)
    .execute()
  const members = await transaction
    .selectFrom('team_members')
    .select(['team_id', 'user_id'])
    .where('tenant_id', '=', tenant)
    .execute()
  const teamsOfCustomer = new Map<number, number[]>()
  for (const { customer_id: customer, team_id: team } of inTeams) {
    teamsOfCustomer.set(customer, [...(teamsOfCustomer.get(customer) ?? []), team])
  }
  const membersOfTeam = new Map<number, Set<number>>()
  for (const { team_id: team, user_id: user } of members) {
    membersOfTeam.set(team, (membersOfTeam.get(team) ?? new Set()).add(user))
  }
  return {
    names: new Map(names.map(({ key, ...name }) => [key, name])),
    teamsOfCustomer,
    membersOfTeam,
  }
}
