import { type RawBuilder, sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, currentViewer, type TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'

export interface TeamRow {
  readonly teamId: number
  readonly name: string
  readonly members: readonly { readonly id: number; readonly name: string }[]
  readonly customers: readonly string[]
}

/** All teams by name, with their active members and the names of their customers. */
export async function listTeams(transaction: TenantTransaction, tenant: TenantId): Promise<TeamRow[]> {
  const teams = await transaction
    .selectFrom('teams')
    .select(['team_id', 'name'])
    .where('tenant_id', '=', tenant)
    .orderBy('name')
    .execute()
  const { rows: members } = await sql<{ team_id: number; id: number; name: string }>`
    select team_members.team_id, users.user_id as id, users.name
    from team_members join users on users.tenant_id = ${tenant} and users.user_id = team_members.user_id
    where team_members.tenant_id = ${tenant} and users.status <> 'removed'
    order by users.name, users.user_id
  `.execute(transaction)
  const { rows: customers } = await sql<{ team_id: number; name: string }>`
    select team_customers.team_id, customers.name
    from team_customers
    join customers on customers.tenant_id = ${tenant} and customers.customer_id = team_customers.customer_id
    where team_customers.tenant_id = ${tenant}
    order by customers.name
  `.execute(transaction)
  return teams.map(({ team_id, name }) => ({
    teamId: team_id,
    name,
    members: members.filter((one) => one.team_id === team_id).map((one) => ({ id: one.id, name: one.name })),
    customers: customers.filter((one) => one.team_id === team_id).map((one) => one.name),
  }))
}

/** The teams that a person is in. */
export async function teamsOfPerson(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<number[]> {
  const rows = await transaction
    .selectFrom('team_members')
    .select('team_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
  return rows.map(({ team_id }) => team_id)
}

/** The name of a team; null if there is none. */
export async function teamName(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
): Promise<string | null> {
  const team = await transaction
    .selectFrom('teams')
    .select('name')
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .executeTakeFirst()
  return team?.name ?? null
}

/** Adds a team; null if another team has the name. */
export async function insertTeam(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
  now: Date,
): Promise<number | null> {
  const teamId = await nextTenantNumber(transaction, tenant, 'team')
  const added = await transaction
    .insertInto('teams')
    .values({ tenant_id: tenant, team_id: teamId, name, created_at: now })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .returning('team_id')
    .executeTakeFirst()
  accessChanged(transaction)
  return added?.team_id ?? null
}

export async function renameTeam(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
  name: string,
): Promise<void> {
  await transaction
    .updateTable('teams')
    .set({ name })
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .execute()
}

/**
 * Locks a team until the end of the transaction. Call it first in a transaction that changes a team: two transactions that lock
 * its members, its customers and the team in different orders could deadlock.
 */
export async function lockTeam(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
): Promise<void> {
  await transaction
    .selectFrom('teams')
    .select('team_id')
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .forNoKeyUpdate()
    .execute()
}

/** Replaces the members of a team that is locked. */
export async function setTeamMembers(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
  userIds: readonly number[],
): Promise<void> {
  await transaction
    .deleteFrom('team_members')
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .execute()
  const rows = [...new Set(userIds)].map((user_id) => ({ tenant_id: tenant, team_id: teamId, user_id }))
  if (rows.length > 0) await transaction.insertInto('team_members').values(rows).execute()
  accessChanged(transaction)
}

/** Replaces the customers of a team that is locked. */
export async function setTeamCustomers(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
  customerIds: readonly number[],
): Promise<void> {
  await transaction
    .deleteFrom('team_customers')
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .execute()
  const rows = [...new Set(customerIds)].map((customer_id) => ({
    tenant_id: tenant,
    team_id: teamId,
    customer_id,
  }))
  if (rows.length > 0) await transaction.insertInto('team_customers').values(rows).execute()
  accessChanged(transaction)
}

/** Replaces the teams of a customer with those of another customer. */
export async function copyCustomerTeams(
  transaction: TenantTransaction,
  tenant: TenantId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await transaction
    .deleteFrom('team_customers')
    .where('tenant_id', '=', tenant)
    .where('customer_id', '=', to)
    .execute()
  const found = await transaction
    .selectFrom('team_customers')
    .select('team_id')
    .where('tenant_id', '=', tenant)
    .where('customer_id', '=', from)
    .execute()
  const rows = found.map(({ team_id }) => ({ tenant_id: tenant, team_id, customer_id: to }))
  if (rows.length > 0) await transaction.insertInto('team_customers').values(rows).execute()
  accessChanged(transaction)
}

export async function deleteTeam(
  transaction: TenantTransaction,
  tenant: TenantId,
  teamId: number,
): Promise<void> {
  await setTeamMembers(transaction, tenant, teamId, [])
  await setTeamCustomers(transaction, tenant, teamId, [])
  await transaction
    .deleteFrom('teams')
    .where('tenant_id', '=', tenant)
    .where('team_id', '=', teamId)
    .execute()
}

/**
 * The customers that are hidden from a person: those that have teams, if the person is in none of these teams. With a key, only
 * the customer with this key.
 */
const hiddenCustomers = (tenant: TenantId, userId: number, key?: RawBuilder<unknown>) => sql`
  select from customer_aliases as hidden
  where hidden.tenant_id = ${tenant} ${key === undefined ? sql`` : sql`and hidden.customer_key = ${key}`} and exists (
    select from team_customers as of_team
    where of_team.tenant_id = ${tenant} and of_team.customer_id = hidden.customer_id
  ) and not exists (
    select from team_customers as of_team
    join team_members as mine on mine.tenant_id = ${tenant} and mine.team_id = of_team.team_id
    where of_team.tenant_id = ${tenant} and of_team.customer_id = hidden.customer_id and mine.user_id = ${userId}
  )`

/**
 * True for rows whose customer the current person may see, by the key of the customer. It does not use the session setting of
 * row-level security, so each of the two protects alone. As an anti-join, it looks up the rows of a page one by one, and
 * reads all hidden customers only for many rows.
 */
export function seenByViewer(tenant: TenantId, key: RawBuilder<unknown>): RawBuilder<boolean> {
  const viewer = currentViewer()
  if (viewer === null) return sql<boolean>`true`
  return sql<boolean>`not exists (${hiddenCustomers(tenant, viewer.userId, key)})`
}

/** True for quotes, in a query on `quotes`, if the current person may see the quote's customer and the booking's customer. */
export function quoteSeenByViewer(tenant: TenantId): RawBuilder<boolean> {
  const booked = seenByViewer(tenant, sql`quotes.customer_key`)
  const quoted = seenByViewer(tenant, sql`customer_key(quotes.quoted_customer_name)`)
  return currentViewer() === null
    ? booked
    : sql<boolean>`(${booked} and (quotes.customer_name is null or ${quoted}))`
}

/** Whether the customer of a name is hidden from the current person. */
export async function isHiddenCustomer(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
): Promise<boolean> {
  if (currentViewer() === null) return false
  const { rows } = await sql<{ hidden: boolean }>`
    select not ${seenByViewer(tenant, sql`customer_key(${name})`)} as hidden
  `.execute(transaction)
  return rows[0]?.hidden ?? false
}

/** Whether any customer is hidden from the current person. */
export async function hidesCustomers(transaction: TenantTransaction, tenant: TenantId): Promise<boolean> {
  const viewer = currentViewer()
  if (viewer === null) return false
  const { rows } = await sql<{ hidden: boolean }>`
    select exists (${hiddenCustomers(tenant, viewer.userId)}) as hidden
  `.execute(transaction)
  return rows[0]?.hidden ?? false
}
