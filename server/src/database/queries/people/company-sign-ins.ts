import { type Insertable, type Selectable, sql } from 'kysely'
import type { CompanyDomainRow, CompanySignInRow, Tables, TenantTransaction } from '../../schema/index.ts'
import { type Database, type TenantId, tenantId } from '../../session/index.ts'

/** The number of a brokerage's provider. It has one. */
export const companySignInNumber = 1

/** The tenants that have proven a domain, in a fixed order. */
export async function companiesOfDomain(database: Database, domain: string): Promise<TenantId[]> {
  return database.outsideTenants(async (transaction) => {
    const { rows } = await sql<{ tenant_id: number }>`
      select companies_of_domain as tenant_id from companies_of_domain(${domain}) order by 1
    `.execute(transaction)
    return rows.map((row) => tenantId(row.tenant_id))
  })
}

export async function findCompanySignIn(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<CompanySignInRow | null> {
  return (
    (await transaction
      .selectFrom('company_sign_ins')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()) ?? null
  )
}

/** Stores the provider of a brokerage, instead of an earlier one. */
export async function putCompanySignIn(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    group_roles,
    ...set
  }: Omit<Insertable<Tables['company_sign_ins']>, 'tenant_id' | 'secret_id' | 'group_roles'> &
    Pick<CompanySignInRow, 'group_roles'>,
): Promise<void> {
  const values = { ...set, group_roles: sql<never>`${JSON.stringify(group_roles)}::jsonb` }
  await transaction
    .insertInto('company_sign_ins')
    .values({ tenant_id: tenant, secret_id: companySignInNumber, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'secret_id']).doUpdateSet(values))
    .execute()
}

/** Records that somebody signed in through the provider. */
export async function noteCompanyWorked(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('company_sign_ins')
    .set({ worked_at: now })
    .where('tenant_id', '=', tenant)
    .execute()
}

/** Deletes the provider of a brokerage. False if it has none. */
export async function deleteCompanySignIn(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('company_sign_ins')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function listCompanyDomains(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<CompanyDomainRow[]> {
  return transaction
    .selectFrom('company_domains')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .orderBy('domain')
    .execute()
}

/** Adds a domain that is not proven yet. False if the brokerage has it. */
export async function addCompanyDomain(
  transaction: TenantTransaction,
  tenant: TenantId,
  { domain, challenge, now }: { readonly domain: string; readonly challenge: string; readonly now: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('company_domains')
    .values({ tenant_id: tenant, domain, challenge, added_at: now })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'domain']).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Records the result of a check. `isProven` null: nobody answered, so what was known stays. */
export async function noteDomainChecked(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    domain,
    now,
    isProven,
  }: { readonly domain: string; readonly now: Date; readonly isProven: boolean | null },
): Promise<void> {
  await transaction
    .updateTable('company_domains')
    .set({
      checked_at: now,
      ...(isProven === null ? {} : { proven_at: isProven ? sql<Date>`coalesce(proven_at, ${now})` : null }),
    })
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .execute()
}

/** Removes a domain. False if the brokerage does not have it. */
export async function removeCompanyDomain(
  transaction: TenantTransaction,
  tenant: TenantId,
  domain: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('company_domains')
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Uses up the state of a sign-in. False if it was used before. Forgets states that have expired. */
export async function useCompanyState(
  transaction: TenantTransaction,
  tenant: TenantId,
  { hash, expiresAt, now }: { readonly hash: Buffer; readonly expiresAt: Date; readonly now: Date },
): Promise<boolean> {
  await transaction
    .deleteFrom('used_company_states')
    .where('tenant_id', '=', tenant)
    .where('expires_at', '<', now)
    .execute()
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('used_company_states')
    .values({ tenant_id: tenant, state_hash: hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'state_hash']).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The person of an account at a provider; null if the account is not known. */
export async function personOfIdentity(
  transaction: TenantTransaction,
  tenant: TenantId,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<number | null> {
  const row = await transaction
    .selectFrom('company_identities')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.user_id ?? null
}

/**
 * Links a person with an account at a provider. False if they are linked with another account of this provider.
 *
 * @param account.groups the person's groups that have a meaning
 */
export async function linkIdentity(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    userId,
    issuer,
    subject,
    groups,
    now,
  }: {
    readonly userId: number
    readonly issuer: string
    readonly subject: string
    readonly groups: readonly string[]
    readonly now: Date
  },
): Promise<boolean> {
  const said = { issuer, subject, groups: JSON.stringify(groups), linked_at: now }
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('company_identities')
    .values({ tenant_id: tenant, user_id: userId, ...said })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'user_id'])
        .doUpdateSet(said)
        // An account of a provider that the brokerage no longer uses makes room.
        .where((identity) =>
          identity.or([
            identity('company_identities.issuer', '<>', issuer),
            identity('company_identities.subject', '=', subject),
          ]),
        ),
    )
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The active people who signed in through a provider, without owners, with the groups that had a meaning at their last sign-in. */
export async function peopleWithGroups(
  transaction: TenantTransaction,
  tenant: TenantId,
  issuer: string,
): Promise<
  {
    readonly user_id: number
    readonly email: string
    readonly role: Selectable<Tables['users']>['role']
    readonly groups: readonly string[]
  }[]
> {
  const rows = await transaction
    .selectFrom('company_identities as identity')
    .innerJoin('users', (join) =>
      join
        .onRef('users.tenant_id', '=', 'identity.tenant_id')
        .onRef('users.user_id', '=', 'identity.user_id'),
    )
    .select(['users.user_id', 'users.email', 'users.role', 'identity.groups'])
    .where('identity.tenant_id', '=', tenant)
    .where('identity.issuer', '=', issuer)
    .where('users.tenant_id', '=', tenant)
    .where('users.status', '=', 'active')
    .where('users.role', '<>', 'owner')
    .orderBy('users.user_id')
    .execute()
  return rows.flatMap(({ groups, ...row }) => (groups === null ? [] : [{ ...row, groups }]))
}

/** Forgets the account of a person at a provider. */
export async function forgetIdentity(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<void> {
  await transaction
    .deleteFrom('company_identities')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** Ends the sessions of a brokerage that began with a password, except one. Returns their number. */
export async function endPasswordSessions(
  transaction: TenantTransaction,
  tenant: TenantId,
  { except, now }: { readonly except: string; readonly now: Date },
): Promise<number> {
  const ended = await transaction
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('tenant_id', '=', tenant)
    .where('by_company', '=', false)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .where('session_id', '<>', except)
    .executeTakeFirst()
  return Number(ended.numUpdatedRows)
}
