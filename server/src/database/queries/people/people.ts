import { randomInt } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Role } from '#contract/endpoint.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import { type MinimumTerms, minimumOfAll } from '#engine/rules/pricing-rules.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type Database, type TenantId, tenantId } from '../../session/index.ts'
import { rulesInForce } from '../pricing/pricing-rules.ts'
import { forgetIdentity } from './company-sign-ins.ts'
import { forgetScimPerson } from './scim.ts'
import { removeSecondFactor } from './second-factors.ts'
import { forgetNetworks } from './sign-in-networks.ts'

export type UserRow = Selectable<Tables['users']>
export type TenantRow = Selectable<Tables['tenants']>

/** The next value of a counter of a tenant, such as user ids: 1, 2, 3 ... */
export async function nextTenantNumber(
  transaction: TenantTransaction,
  tenant: TenantId,
  counter:
    | 'user'
    | 'token'
    | 'secret'
    | 'import'
    | 'audit'
    | 'pilot'
    | 'event-endpoint'
    | 'event-secret'
    | 'customer'
    | 'team'
    | 'pricing-rule'
    | 'approval'
    | 'bid'
    | 'passkey',
  count = 1,
): Promise<number> {
  const { last_number } = await transaction
    .insertInto('tenant_counters')
    .values({ tenant_id: tenant, counter, last_number: count })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'counter'])
        .doUpdateSet({ last_number: sql`tenant_counters.last_number + ${count}` }),
    )
    .returning('last_number')
    .executeTakeFirstOrThrow()
  return last_number
}

/** Email addresses are compared case-insensitively and without surrounding white space. */
export function foldedEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase()
}

/** A person of one brokerage, whom an e-mail address signs in. */
export interface Account {
  readonly tenant: TenantId
  readonly userId: number
}

/** An account with what a sign-in needs to know of it. */
export interface SignInAccount extends Account {
  readonly brokerage: string
  /** Neither the person nor the brokerage is suspended, and the person has accepted the invitation. */
  readonly isOpen: { readonly person: boolean; readonly brokerage: boolean }
  readonly passwordHash: string | null
}

/** The accounts of an e-mail address, one per brokerage; none if it is unknown. Up to four, and none, cause the same work. */
export async function accountsOf(database: Database, email: string): Promise<SignInAccount[]> {
  return database.outsideTenants(async (transaction) => {
    const { rows } = await sql<{
      tenant_id: number
      user_id: number
      user_status: string
      password_hash: string | null
      tenant_name: string
      tenant_status: string
    }>`select * from sign_in_accounts(${foldedEmail(email)})`.execute(transaction)
    return rows.map((row) => ({
      ...{ tenant: tenantId(row.tenant_id), userId: row.user_id, brokerage: row.tenant_name },
      isOpen: { person: row.user_status === 'active', brokerage: row.tenant_status === 'active' },
      passwordHash: row.password_hash,
    }))
  })
}

/** The hash of a password of an address, for `hashPassword`: the accounts of an address share its salt. Null without one. */
export async function hashOfAddress(database: Database, email: string): Promise<string | null> {
  const accounts = await accountsOf(database, email)
  return accounts.map(({ passwordHash }) => passwordHash).find((hash) => hash !== null) ?? null
}

/** Assigns an e-mail address to a person for sign-in. Returns false if it signs in somebody else of the brokerage. */
export async function claimSignIn(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  email: string,
): Promise<boolean> {
  const { rows } = await sql<{ claimed: boolean }>`
    select claim_sign_in(${foldedEmail(email)}, ${tenant}, ${userId}) as claimed
  `.execute(transaction)
  return rows[0]?.claimed === true
}

/** Random, so that a tenant id does not reveal the number of tenants. */
export function newTenantId(): TenantId {
  return tenantId(randomInt(100_000_000, 2_147_483_647))
}

/** Creates a brokerage with its owner. */
export async function createTenant(
  transaction: TenantTransaction,
  tenant: TenantId,
  made: {
    company: string
    name: string
    email: string
    passwordHash: string
    timeZone?: string | undefined
    now: Date
  },
): Promise<{ tenant: TenantRow; user: UserRow }> {
  const tenantRow = await transaction
    .insertInto('tenants')
    .values({
      tenant_id: tenant,
      name: made.company,
      created_at: made.now,
      ...(made.timeZone === undefined ? {} : { time_zone: made.timeZone }),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const user = await insertUser(transaction, tenant, {
    ...made,
    role: 'owner',
    status: 'active',
    invitation: null,
  })
  if (user === null) throw new Error('Nobody else is in a new brokerage.')
  return { tenant: tenantRow, user }
}

/**
 * Creates a user. Null if the email address signs in somebody else of the brokerage. That of an invited user is claimed when the
 * invitation is accepted.
 */
export async function insertUser(
  transaction: TenantTransaction,
  tenant: TenantId,
  made: {
    name: string
    email: string
    role: Role
    status: 'active' | 'invited'
    passwordHash: string | null
    invitation: { hash: Buffer; expiresAt: Date } | null
    now: Date
  },
): Promise<UserRow | null> {
  const userId = await nextTenantNumber(transaction, tenant, 'user')
  const isClaimed = made.status === 'invited' || (await claimSignIn(transaction, tenant, userId, made.email))
  if (!isClaimed) return null
  return transaction
    .insertInto('users')
    .values({
      tenant_id: tenant,
      user_id: userId,
      name: made.name,
      email: made.email.trim(),
      role: made.role,
      status: made.status,
      password_hash: made.passwordHash,
      invitation_hash: made.invitation?.hash ?? null,
      invitation_expires_at: made.invitation?.expiresAt ?? null,
      created_at: made.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function findTenant(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<TenantRow | null> {
  return (
    (await transaction
      .selectFrom('tenants')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()) ?? null
  )
}

/** The brokerage of a verified session. @throws Error when it does not exist, which cannot happen while a session does */
export async function tenantOfSession(transaction: TenantTransaction, tenant: TenantId): Promise<TenantRow> {
  const row = await findTenant(transaction, tenant)
  if (row === null) throw new Error('The tenant of a session does not exist.')
  return row
}

export async function updateTenant(
  transaction: TenantTransaction,
  tenant: TenantId,
  values: Partial<
    Pick<
      TenantRow,
      | 'name'
      | 'win_probability_method'
      | 'time_zone'
      | 'quote_valid_days'
      | 'expired_counts_as_lost'
      | 'default_basis'
      | 'default_rate_type'
      | 'integration_pool'
      | 'market_calls_per_day'
      | 'stop_fee_cents'
      | 'stop_fee_currency'
      | 'session_hours'
      | 'session_idle_minutes'
      | 'second_factor_from'
      | 'escalate_after_minutes'
      | 'follow_up_after_hours'
      | 'follow_up_before_end_minutes'
      | 'answer_template'
    >
  >,
): Promise<TenantRow> {
  if (Object.keys(values).length === 0) {
    return transaction
      .selectFrom('tenants')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirstOrThrow()
  }
  accessChanged(transaction)
  return (
    transaction
      .updateTable('tenants')
      // The next weekly report is due by the new clock.
      .set({ ...values, ...(values.time_zone === undefined ? {} : { weekly_report_at: null }) })
      .where('tenant_id', '=', tenant)
      .returningAll()
      .executeTakeFirstOrThrow()
  )
}

/** The time zone in which the brokerage's days and months begin. */
export async function timeZoneOf(transaction: TenantTransaction, tenant: TenantId): Promise<string> {
  const { time_zone } = await transaction
    .selectFrom('tenants')
    .select('time_zone')
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
  return time_zone
}

/** Makes transactions of one brokerage that depend on each other run one after the other. Call it before they read. */
export async function lockTenant(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenant)
    .forNoKeyUpdate()
    .execute()
}

/** What is assumed of a quote that does not say its basis and its rate type. */
export async function defaultsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly basis: RateBasis; readonly rateType: RateType }> {
  return transaction
    .selectFrom('tenants')
    .select(['default_basis as basis', 'default_rate_type as rateType'])
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
}

/** The fee for each stop of a load with stops, in whole cents of its currency. */
export async function stopFeeOf(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly cents: number; readonly currency: Currency }> {
  return transaction
    .selectFrom('tenants')
    .select(['stop_fee_cents as cents', 'stop_fee_currency as currency'])
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
}

/** What an amount of the brokerage includes if nobody said it, and the basis in which amounts are compared. */
export async function defaultBasisOf(transaction: TenantTransaction, tenant: TenantId): Promise<RateBasis> {
  const { default_basis } = await transaction
    .selectFrom('tenants')
    .select('default_basis')
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
  return default_basis
}

/** Whether the database can compute days and months in a time zone. Names of a newer release may be missing. */
export async function isKnownTimeZone(transaction: TenantTransaction, timeZone: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select exists (select from pg_timezone_names where name = ${timeZone}) as known
  `.execute(transaction)
  return rows[0]?.known === true
}

/** Suspends or resumes a brokerage. Returns false if nothing changed. */
export async function setTenantStatus(
  transaction: TenantTransaction,
  tenant: TenantId,
  status: TenantRow['status'],
): Promise<boolean> {
  accessChanged(transaction)
  const { numUpdatedRows } = await transaction
    .updateTable('tenants')
    .set({ status })
    .where('tenant_id', '=', tenant)
    .where('status', '<>', status)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

function userNumbered(transaction: TenantTransaction, tenant: TenantId, userId: number) {
  return transaction
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
}

export async function findUser(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<UserRow | null> {
  return (await userNumbered(transaction, tenant, userId).executeTakeFirst()) ?? null
}

/**
 * Like `findUser`, and locks the row until the end of the transaction, so that a decision based on it stays valid. If you
 * also lock the owners, lock them first, to avoid deadlocks.
 */
export async function lockUser(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<UserRow | null> {
  return (await userNumbered(transaction, tenant, userId).forNoKeyUpdate().executeTakeFirst()) ?? null
}

/** Locks all owners until the end of the transaction, so that two owners cannot both give up the role concurrently. */
export async function lockOwners(transaction: TenantTransaction, tenant: TenantId): Promise<number[]> {
  const rows = await transaction
    .selectFrom('users')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('role', '=', 'owner')
    .where('status', '=', 'active')
    .orderBy('user_id')
    .forUpdate()
    .execute()
  return rows.map((row) => row.user_id)
}

/** The names of all people of the brokerage, also of removed ones. */
export async function namesOfUsers(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<Map<number, string>> {
  const rows = await transaction
    .selectFrom('users')
    .select(['user_id', 'name'])
    .where('tenant_id', '=', tenant)
    .execute()
  return new Map(rows.map(({ user_id, name }) => [user_id, name]))
}

export async function listUsers(transaction: TenantTransaction, tenant: TenantId): Promise<UserRow[]> {
  return transaction
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('status', '<>', 'removed')
    .orderBy('user_id')
    .execute()
}

export async function updateUser(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  values: Partial<
    Pick<UserRow, 'name' | 'role' | 'status' | 'password_hash' | 'invitation_hash' | 'invited_by'> & {
      invitation_expires_at: Date | null
    }
  >,
): Promise<UserRow> {
  accessChanged(transaction)
  return transaction
    .updateTable('users')
    .set(values)
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Removes a user: they cannot sign in, and their email address is free again. The row stays for the audit trail. */
export async function removeUser(
  transaction: TenantTransaction,
  tenant: TenantId,
  user: UserRow,
): Promise<UserRow> {
  await sql`select release_sign_in(${foldedEmail(user.email)}, ${tenant}, ${user.user_id})`.execute(
    transaction,
  )
  await forgetNetworks(transaction, tenant, user.user_id)
  await removeSecondFactor(transaction, tenant, user.user_id)
  await forgetIdentity(transaction, tenant, user.user_id)
  await forgetScimPerson(transaction, tenant, user.user_id)
  return updateUser(transaction, tenant, user.user_id, {
    status: 'removed',
    password_hash: null,
    invitation_hash: null,
    invitation_expires_at: null,
  })
}

/** The minimum of the brokerage's rule for all quotes. */
export function minimumOf(tenant: Pick<TenantRow, 'pricing_rules'>): MinimumTerms {
  return minimumOfAll(rulesInForce(tenant.pricing_rules))
}
