import { randomInt } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { DateOrder } from '#contract/date-orders.ts'
import type { Role } from '#contract/endpoint.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import { type MinimumTerms, minimumOfAll } from '#engine/rules/pricing-rules.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type Database, type TenantId, tenantId } from '../../session/index.ts'
import { rulesInForce } from '../pricing/pricing-rules.ts'
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
    | 'event-endpoint'
    | 'event-secret'
    | 'customer'
    | 'team'
    | 'pricing-rule'
    | 'approval',
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

/** The tenant and user of an email address; null if it is unknown. */
export async function signInOf(
  database: Database,
  email: string,
): Promise<{ tenant: TenantId; userId: number } | null> {
  return database.outsideTenants(async (transaction) => {
    const { rows } = await sql<{ tenant_id: number; user_id: number }>`
      select tenant_id, user_id from sign_in_of(${foldedEmail(email)})
    `.execute(transaction)
    const row = rows[0]
    return row === undefined ? null : { tenant: tenantId(row.tenant_id), userId: row.user_id }
  })
}

/** Assigns an e-mail address to a person for sign-in. Returns false if another person signs in with it. */
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

/** Creates a brokerage with its owner. Null if the email address is in use. */
export async function createTenant(
  transaction: TenantTransaction,
  tenant: TenantId,
  made: {
    company: string
    name: string
    email: string
    /** Null for an owner who cannot sign in yet. */
    passwordHash: string | null
    timeZone?: string | undefined
    now: Date
  },
): Promise<{ tenant: TenantRow; user: UserRow } | null> {
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
  return user === null ? null : { tenant: tenantRow, user }
}

/**
 * Creates a user. Null if the email address is in use. An invited user claims the address by accepting the invitation; until
 * then, others may use it.
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
      | 'date_order'
      | 'quote_valid_days'
      | 'expired_counts_as_lost'
      | 'default_basis'
      | 'default_rate_type'
      | 'integration_pool'
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
  return transaction
    .updateTable('tenants')
    .set(values)
    .where('tenant_id', '=', tenant)
    .returningAll()
    .executeTakeFirstOrThrow()
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

/** The basis and the rate type of a quote that does not state them. */
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

/** The basis of the brokerage's amounts that do not state one, and the basis on which all amounts are compared. */
export async function defaultBasisOf(transaction: TenantTransaction, tenant: TenantId): Promise<RateBasis> {
  const { default_basis } = await transaction
    .selectFrom('tenants')
    .select('default_basis')
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
  return default_basis
}

/** What amounts and dates of the brokerage's files mean if the file does not state it. `timeZone` is an IANA name. */
export async function fileDefaultsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{
  readonly assumed: RateBasis
  readonly dates: { readonly timeZone: string; readonly order: DateOrder }
}> {
  const row = await transaction
    .selectFrom('tenants')
    .select(['default_basis', 'time_zone', 'date_order'])
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
  return { assumed: row.default_basis, dates: { timeZone: row.time_zone, order: row.date_order } }
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
    Pick<
      UserRow,
      'name' | 'phone' | 'role' | 'status' | 'password_hash' | 'invitation_hash' | 'invited_by'
    > & {
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
  return updateUser(transaction, tenant, user.user_id, {
    status: 'removed',
    password_hash: null,
    invitation_hash: null,
    invitation_expires_at: null,
  })
}

export async function insertSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  session: { sessionId: string; userId: number; now: Date; expiresAt: Date },
): Promise<void> {
  await transaction
    .insertInto('sessions')
    .values({
      tenant_id: tenant,
      session_id: session.sessionId,
      user_id: session.userId,
      created_at: session.now,
      expires_at: session.expiresAt,
    })
    .execute()
}

/** Ends one session of a user, all of them, or all but one. */
export async function endSessions(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  now: Date,
  which: { only?: string; except?: string } = {},
): Promise<void> {
  let query = transaction
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
  if (which.only !== undefined) query = query.where('session_id', '=', which.only)
  if (which.except !== undefined) query = query.where('session_id', '<>', which.except)
  await query.execute()
}

/** A valid session with the current state of its user and tenant; null if there is none. */
export async function findSession(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  now: Date,
) {
  return (
    (await transaction
      .selectFrom('sessions')
      .innerJoin('users', (join) =>
        join
          .onRef('users.tenant_id', '=', 'sessions.tenant_id')
          .onRef('users.user_id', '=', 'sessions.user_id'),
      )
      .innerJoin('tenants', 'tenants.tenant_id', 'sessions.tenant_id')
      .select(['users.user_id', 'users.role', 'sessions.expires_at', 'tenants.sandbox_of'])
      .where('sessions.tenant_id', '=', tenant)
      .where('session_id', '=', sessionId)
      .where('ended_at', 'is', null)
      .where('sessions.expires_at', '>', now)
      .where('users.status', '=', 'active')
      .where('tenants.status', '=', 'active')
      .executeTakeFirst()) ?? null
  )
}

/** The minimum in the brokerage's rule that applies to all quotes. */
export function minimumOf(tenant: Pick<TenantRow, 'pricing_rules'>): MinimumTerms {
  return minimumOfAll(rulesInForce(tenant.pricing_rules))
}
