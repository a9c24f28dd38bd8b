import { sql } from 'kysely'
import { notSpread, type TenantTransaction } from '../schema/index.ts'
import { roleTimeouts } from './connection.ts'
import type { Database } from './open-database.ts'
import { rowLevelSecurityGaps } from './row-level-security-gaps.ts'

/** The longest session timeout that is still useful for a waiting caller, in milliseconds. */
const roleTimeoutMsMax = 60_000

/** Settings that make acknowledged changes durable. */
const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/**
 * The reasons why this database is not safe to serve from, as sentences for an operator; empty if it is safe. Checked once
 * at start. Row-level security does not restrict a superuser, a role with BYPASSRLS, or the owner of a table. A database
 * without fsync loses acknowledged changes. Without timeouts of the role, a call that is a single message may never end.
 */
export async function databaseSafetyFaults(database: Database): Promise<string[]> {
  return database.outsideTenants(async (transaction) => {
    const { rows: settings } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')
    `.execute(transaction)
    const { rows: roles } = await sql<{
      role: string
      superuser: boolean
      bypasses: boolean
      owner: boolean
    }>`
      select rolname as role, rolsuper as superuser, rolbypassrls as bypasses,
             exists (select 1 from pg_class c where c.relowner = r.oid and c.relname = 'lanes') as owner
      from pg_roles r where rolname = current_user
    `.execute(transaction)
    // Row-level security does not restrict such a role at all, so report only that.
    const isUnrestricted = roles.some(({ superuser, bypasses, owner }) => superuser || bypasses || owner)
    const off = durable.filter((name) => settings.find((setting) => setting.name === name)?.setting === 'off')
    return [
      ...off.map(
        (name) => `PostgreSQL runs with ${name} = off: acknowledged changes could be lost. Set it to on.`,
      ),
      ...roles.flatMap(({ role, superuser, bypasses, owner }) => [
        ...(superuser
          ? [
              `The role ${role} is a superuser, which row-level security does not restrict. Connect as lanewise_service.`,
            ]
          : []),
        ...(bypasses ? [`The role ${role} has BYPASSRLS. Revoke it: alter role ${role} nobypassrls.`] : []),
        ...(owner
          ? [
              `The role ${role} owns the tables. Connect as lanewise_service, and run migrations as the owner.`,
            ]
          : []),
      ]),
      ...(isUnrestricted ? [] : await missingTimeouts(transaction)),
      ...(isUnrestricted ? [] : await rowLevelSecurityGaps(transaction)),
      ...((await notSpread(transaction)) ?? []).map(
        (table) =>
          `The table ${table} is not distributed over the workers like the others. Run npm run distribute.`,
      ),
    ]
  })
}

/** The timeouts that new sessions of this role do not have. Settings of this transaction do not count. */
async function missingTimeouts(transaction: TenantTransaction): Promise<string[]> {
  const { rows } = await sql<{ role: string; name: string; ms: number }>`
    select current_user as role, name, reset_val::bigint as ms from pg_settings
    where name = any (${roleTimeouts.map(({ name }) => name)})
  `.execute(transaction)
  return roleTimeouts.flatMap(({ name, value }) => {
    const { role, ms } = rows.find((row) => row.name === name) ?? { role: 'lanewise_service', ms: 0 }
    if (ms > 0 && ms <= roleTimeoutMsMax) return []
    return [
      `Sessions of the role ${role} have ${ms === 0 ? 'no' : 'too long a'} ${name}. Run as a superuser: alter role ${role} set ${name} = '${value}'; then restart the connections of any pooler.`,
    ]
  })
}
